/* time_test.c - clocks, calendar days and the texts of times. */
#include "base/time.h"
#include "tests/check.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

TEST(days_and_dates_agree_from_the_year_1_to_9999)
{
    int64_t  year, days = fb_days_from_civil(1, 1, 1);
    unsigned month, day, months_length = 0;
    CHECK_INT(days, -719162);
    CHECK_INT(fb_days_from_civil(1970, 1, 1), 0);
    CHECK_INT(fb_days_from_civil(9999, 12, 31), 2932896);
    for (int64_t want_year = 1, d = days; d <= 2932896;
         d += 97) { // every kind of day is met
        fb_civil_from_days(d, &year, &month, &day);
        if (fb_days_from_civil(year, month, day) != d ||
            !fb_civil_valid(year, month, day) || year < want_year)
            check_failed(CHECK_SITE("a day"), "is not itself: %d", (int)d);
        want_year = year;
        months_length += day;
    }
    CHECK(months_length > 0);
}

TEST(years_before_the_first_are_counted_on)
{
    int64_t  year;
    unsigned month, day;
    fb_civil_from_days(-719163, &year, &month, &day);
    CHECK(year == 0 && month == 12 && day == 31);
    fb_civil_from_days(fb_days_from_civil(-4713, 11, 24), &year, &month, &day);
    CHECK(year == -4713 && month == 11 && day == 24);
}

TEST(leap_days_are_every_four_years_but_for_centuries)
{
    CHECK(fb_civil_valid(2024, 2, 29) && fb_civil_valid(2000, 2, 29));
    CHECK(!fb_civil_valid(2023, 2, 29) && !fb_civil_valid(1900, 2, 29));
    CHECK(!fb_civil_valid(2024, 2, 30) && !fb_civil_valid(2024, 4, 31));
    CHECK(!fb_civil_valid(2024, 0, 1) && !fb_civil_valid(2024, 13, 1));
    CHECK(!fb_civil_valid(2024, 1, 0) && !fb_civil_valid(2024, 1, 32));
}

static bool date(const char *text, int32_t *days)
{
    return fb_parse_date(text, strlen(text), days);
}

TEST(a_date_has_exactly_one_form)
{
    int32_t days;
    CHECK(date("1970-01-02", &days) && days == 1);
    CHECK(date("0001-01-01", &days) && days == -719162);
    CHECK(date("9999-12-31", &days) && days == 2932896);
    CHECK(!date("1970-1-2", &days) && !date("19700102", &days) && !date("", &days));
    CHECK(!date("1970-01-02 ", &days) && !date("1970/01/02", &days));
    CHECK(!date("+970-01-02", &days) && !date("-001-01-02", &days));
    CHECK(!date("1970-02-29", &days) && !date("1970-01-0a", &days));
    CHECK(!fb_parse_date("1970-01\0002", 10, &days));
}

static bool clock_of(const char *text, int64_t *us)
{
    return fb_parse_time(text, strlen(text), us);
}

TEST(a_time_of_day_has_seconds_and_at_most_six_digits_behind_them)
{
    int64_t us;
    CHECK(clock_of("00:00:00", &us) && us == 0);
    CHECK(clock_of("23:59:59.999999", &us) && us == FB_US_PER_DAY - 1);
    CHECK(clock_of("00:00:01.5", &us) && us == 1500000);
    CHECK(clock_of("00:00:00.000001", &us) && us == 1);
    CHECK(!clock_of("24:00:00", &us) && !clock_of("23:60:00", &us));
    CHECK(!clock_of("23:59:60", &us) && !clock_of("23:59", &us));
    CHECK(!clock_of("00:00:00.", &us) && !clock_of("00:00:00.0000000", &us));
    CHECK(!clock_of("00:00:00,5", &us) && !clock_of("0:00:00", &us) &&
          !clock_of("", &us));
}

static int64_t instant(const char *text, fb_parsed_time *t)
{
    return fb_parse_timestamp(text, strlen(text), t) ? t->us : INT64_MIN;
}

TEST(an_offset_moves_a_timestamp_to_utc)
{
    fb_parsed_time t;
    CHECK_INT(instant("1970-01-01T00:00:00Z", &t), 0);
    CHECK(t.has_zone && t.has_seconds && !t.has_space);
    CHECK_INT(instant("1970-01-01T02:00:00+02:00", &t), 0);
    CHECK_INT(instant("1970-01-01T02:00:00+0200", &t), 0);
    CHECK_INT(instant("1970-01-01T02:00:00+02", &t), 0);
    CHECK_INT(instant("1969-12-31T23:29:00-00:31", &t), 0);
    CHECK_INT(instant("1970-01-01T00:00:00-00:00", &t), 0);
    CHECK_INT(instant("1970-01-01T18:00:00+18:00", &t), 0);
    CHECK_INT(instant("1970-01-01T00:00:00.123456789Z", &t), INT64_MIN);
    CHECK_INT(instant("1970-01-01T00:00:00.123456000Z", &t), 123456);
    CHECK_INT(instant("0001-01-01T00:00:00Z", &t), INT64_C(-62135596800000000));
    CHECK_INT(instant("9999-12-31T23:59:59.999999Z", &t), INT64_C(253402300799999999));
}

TEST(a_timestamp_says_what_it_lacked)
{
    fb_parsed_time t;
    CHECK_INT(instant("1970-01-01T00:01", &t), 60000000);
    CHECK(!t.has_zone && !t.has_seconds && !t.has_space);
    CHECK_INT(instant("1970-01-01 00:00:00.5", &t), 500000);
    CHECK(!t.has_zone && t.has_seconds && t.has_space);
    CHECK_INT(instant("1970-01-01 00:01Z", &t), 60000000);
    CHECK(t.has_zone && !t.has_seconds && t.has_space);
}

TEST(a_timestamp_of_any_other_form_is_none)
{
    static const char *const none[] = {"",
                                       "1970-01-01",
                                       "1970-01-01T",
                                       "1970-01-01T00",
                                       "1970-01-01T00:00:0",
                                       "1970-01-01_00:00",
                                       "1970-01-01T00:00:00 Z",
                                       "1970-01-01T00:00:00+",
                                       "1970-01-01T00:00:00+2",
                                       "1970-01-01T00:00:00+020",
                                       "1970-01-01T00:00:00+02:0",
                                       "1970-01-01T00:00:00+02-00",
                                       "1970-01-01T00:00:00+18:01",
                                       "1970-01-01T00:00:00-19",
                                       "1970-01-01T00:00:00+01:60",
                                       "1970-01-01T00:00:00.Z",
                                       "1970-01-01T00:00.5Z",
                                       "1970-01-01T24:00:00Z",
                                       "1970-13-01T00:00Z",
                                       "1970-01-01T00:00:00ZZ",
                                       "1970-01-01T00:00:00z",
                                       "10000-01-01T00:00:00Z",
                                       "1970-01-01T00:00:00.0000000000Z"};
    fb_parsed_time           t;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check_int(CHECK_SITE(none[i]), instant(none[i], &t), INT64_MIN);
}

TEST(times_are_written_with_all_their_digits)
{
    char out[40];
    CHECK_TEXT(fb_format_time_us(0, out), "1970-01-01T00:00:00.000000Z");
    CHECK_TEXT(fb_format_time_us(-1, out), "1969-12-31T23:59:59.999999Z");
    CHECK_TEXT(fb_format_time_us(INT64_C(253402300799999999), out),
               "9999-12-31T23:59:59.999999Z");
    CHECK_TEXT(fb_format_time_us(INT64_C(-62135596800000000), out),
               "0001-01-01T00:00:00.000000Z");
    CHECK_TEXT(fb_format_time_ms(1999, out), "1970-01-01T00:00:00.001Z");
    CHECK_TEXT(fb_format_time_ms(-1, out), "1969-12-31T23:59:59.999Z");
    CHECK_TEXT(fb_format_date(19782, out), "2024-02-29");
    CHECK_TEXT(fb_format_date(-719162, out), "0001-01-01");
    CHECK(strlen(fb_format_time_us(INT64_MAX, out)) < 40);
    CHECK(strlen(fb_format_time_us(INT64_MIN, out)) < 40);
}

TEST(the_steady_clock_goes_on_while_we_sleep)
{
    int64_t before = fb_mono_us();
    fb_sleep_ms(3);
    CHECK(fb_mono_us() - before >= 3000);
    CHECK(fb_mono_ms() >= before / 1000);
    CHECK(fb_now_us() > INT64_C(1700000000000000));
}

static void on_alarm(int number) { (void)number; }

TEST(a_signal_does_not_cut_a_sleep_short)
{
    struct sigaction old, action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    int64_t          before = fb_mono_us();
    sigaction(SIGALRM, &action, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    fb_sleep_ms(20);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    CHECK(fb_mono_us() - before >= 20000);
}

TEST(a_sleep_of_nothing_or_less_returns_at_once)
{
    int64_t before = fb_mono_us();
    fb_sleep_ms(0);
    fb_sleep_ms(-1);
    fb_sleep_ms(INT64_MIN);
    CHECK(fb_mono_us() - before < 500000);
}
