/* time.c - see time.h.  The calendar arithmetic is Howard Hinnant's "chrono-compatible
 * low-level date algorithms": days counted from 0000-03-01, so that leap days end a year. */
#include "base/time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t fb_now_us(void) { return read_clock(CLOCK_REALTIME); }

int64_t fb_mono_us(void) { return read_clock(CLOCK_MONOTONIC); }

int64_t fb_mono_ms(void) { return fb_mono_us() / 1000; }

void fb_sleep_ms(int64_t ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    while (ms > 0 && nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

int64_t fb_days_from_civil(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t  era = (year >= 0 ? year : year - 399) / 400;
    unsigned year_of_era = (unsigned)(year - era * 400);
    unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + (int64_t)day_of_era - 719468;
}

void fb_civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    days += 719468;
    int64_t  era = (days >= 0 ? days : days - 146096) / 146097;
    unsigned day_of_era = (unsigned)(days - era * 146097);
    unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned shifted = (5 * day_of_year + 2) / 153;
    *day = day_of_year - (153 * shifted + 2) / 5 + 1;
    *month = shifted < 10 ? shifted + 3 : shifted - 9;
    *year = (int64_t)year_of_era + era * 400 + (*month <= 2);
}

bool fb_civil_valid(int64_t year, unsigned month, unsigned day)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1) return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (unsigned)(month == 2 && leap);
}

/* Exactly `digits` decimal digits. */
static bool take(const char *text, size_t digits, unsigned *out)
{
    unsigned value = 0;
    for (size_t i = 0; i < digits; i++) {
        unsigned d = (unsigned)(unsigned char)text[i] - '0';
        if (d > 9) return false;
        value = value * 10 + d;
    }
    *out = value;
    return true;
}

bool fb_parse_date(const char *text, size_t size, int32_t *days)
{
    unsigned year, month, day;
    if (size != 10 || text[4] != '-' || text[7] != '-') return false;
    if (!take(text, 4, &year) || !take(text + 5, 2, &month) || !take(text + 8, 2, &day))
        return false;
    if (!fb_civil_valid(year, month, day)) return false;
    *days = (int32_t)fb_days_from_civil(year, month, day);
    return true;
}

/* ".123456" at `text`: digits after the point, at most `most`, those past six zeros.
 * @return bytes used, 0 when it is none */
static size_t take_fraction(const char *text, size_t size, size_t most, int64_t *us)
{
    size_t  i = 1;
    int64_t scale = 100000;
    *us = 0;
    if (size < 2 || text[0] != '.') return 0;
    for (; i < size && text[i] >= '0' && text[i] <= '9'; i++, scale /= 10) {
        if (i > most) return 0;
        if (scale == 0 && text[i] != '0') return 0;
        *us += (text[i] - '0') * scale;
    }
    return i > 1 ? i : 0;
}

/* HH:MM[:SS[.f]]. @return bytes used, 0 when it is none */
static size_t take_clock(const char *text, size_t size, size_t most, int64_t *us,
                         bool *has_seconds)
{
    unsigned hour, minute, second = 0;
    int64_t  fraction = 0;
    size_t   used = 5;
    if (size < 5 || text[2] != ':' || !take(text, 2, &hour) || !take(text + 3, 2, &minute))
        return 0;
    *has_seconds = size >= 8 && text[5] == ':' && take(text + 6, 2, &second);
    if (*has_seconds) {
        used = 8;
        if (size > 8 && text[8] == '.') {
            size_t more = take_fraction(text + 8, size - 8, most, &fraction);
            if (more == 0) return 0;
            used += more;
        }
    }
    if (hour > 23 || minute > 59 || second > 59) return 0;
    *us = ((int64_t)hour * 3600 + minute * 60 + second) * 1000000 + fraction;
    return used;
}

bool fb_parse_time(const char *text, size_t size, int64_t *us_of_day)
{
    bool   has_seconds;
    size_t used = take_clock(text, size, 6, us_of_day, &has_seconds);
    return used != 0 && used == size && has_seconds;
}

/* Z, ±hh, ±hhmm or ±hh:mm, up to 18 hours as ISO 8601 profiles have it. */
static bool take_zone(const char *text, size_t size, int64_t *offset_us)
{
    unsigned hours, minutes = 0;
    *offset_us = 0;
    if (size == 1) return text[0] == 'Z';
    if ((text[0] != '+' && text[0] != '-') || size < 3 || !take(text + 1, 2, &hours)) return false;
    if (size == 5 && !take(text + 3, 2, &minutes)) return false;
    if (size == 6 && (text[3] != ':' || !take(text + 4, 2, &minutes))) return false;
    if (size != 3 && size != 5 && size != 6) return false;
    if (minutes > 59 || hours * 60 + minutes > 18 * 60) return false;
    *offset_us = ((int64_t)hours * 60 + minutes) * 60000000 * (text[0] == '-' ? -1 : 1);
    return true;
}

bool fb_parse_timestamp(const char *text, size_t size, fb_parsed_time *out)
{
    int32_t days;
    int64_t clock_us, offset_us = 0;
    if (size < 16 || !fb_parse_date(text, 10, &days)) return false;
    if (text[10] != 'T' && text[10] != ' ') return false;
    size_t used = take_clock(text + 11, size - 11, 9, &clock_us, &out->has_seconds);
    if (used == 0) return false;
    used += 11;
    out->has_space = text[10] == ' ';
    out->has_zone = used < size;
    if (out->has_zone && !take_zone(text + used, size - used, &offset_us)) return false;
    out->us = (int64_t)days * FB_US_PER_DAY + clock_us - offset_us;
    return true;
}

static void split(int64_t us, int64_t *year, unsigned *month, unsigned *day, int64_t *rest)
{
    int64_t days = us / FB_US_PER_DAY;
    *rest = us % FB_US_PER_DAY;
    if (*rest < 0) {
        *rest += FB_US_PER_DAY;
        days--;
    }
    fb_civil_from_days(days, year, month, day);
}

static const char *format_time(int64_t us, int64_t per_digit, int digits, char out[40])
{
    int64_t  year, rest;
    unsigned month, day;
    split(us, &year, &month, &day, &rest);
    int64_t seconds = rest / 1000000;
    snprintf(out, 40, "%04" PRId64 "-%02u-%02uT%02d:%02d:%02d.%0*" PRId64 "Z", year, month, day,
             (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60), digits,
             rest % 1000000 / per_digit);
    return out;
}

const char *fb_format_time_ms(int64_t us, char out[40]) { return format_time(us, 1000, 3, out); }

const char *fb_format_time_us(int64_t us, char out[40]) { return format_time(us, 1, 6, out); }

const char *fb_format_date(int64_t days, char out[24])
{
    int64_t  year;
    unsigned month, day;
    fb_civil_from_days(days, &year, &month, &day);
    snprintf(out, 24, "%04" PRId64 "-%02u-%02u", year, month, day);
    return out;
}
