/* delta_state_test.c - lengths of time as Spark writes them. */
#include "lake/delta_state.h"

#include "tests/check.h"

TEST(lengths_of_time_are_read_as_spark_writes_them)
{
    static const struct {
        const char *text;
        int64_t     ms;
    } good[] = {{"interval 30 days", INT64_C(2592000000)},
                {"7 day", 604800000},
                {"INTERVAL 1 week", 604800000},
                {"interval 1 day 12 hours 3 seconds", 129603000},
                {"interval 500 milliseconds", 500},
                {"interval 2 minutes 1 microsecond", 120000}};
    static const char *const bad[] = {"",
                                      "interval",
                                      "30",
                                      "days",
                                      "interval 1 month",
                                      "1 year",
                                      "1 day x",
                                      "99999999999999999 weeks",
                                      "1 fortnight"};
    int64_t                  ms;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(fb_delta_interval_ms(good[i].text, &ms));
        CHECK_INT(ms, good[i].ms);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!fb_delta_interval_ms(bad[i], &ms));
}
