/** time.h - clocks, calendar days and ISO 8601 text.
 *
 * Times are microseconds since 1970-01-01 UTC, days are days since 1970-01-01, both of
 * the proleptic Gregorian calendar.
 *
 * Threads: any.
 */
#ifndef FB_BASE_TIME_H
#define FB_BASE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FB_US_PER_DAY INT64_C(86400000000)

int64_t fb_now_us(void);  ///< the wall clock
int64_t fb_mono_us(void); ///< a clock that never goes back
int64_t fb_mono_ms(void);
void    fb_sleep_ms(int64_t ms); ///< signals do not cut it short; 0 and less is no wait

/** Days of a civil date; month 1..12, day 1..31, not checked. */
int64_t fb_days_from_civil(int64_t year, unsigned month, unsigned day);
void    fb_civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day);
bool    fb_civil_valid(int64_t year, unsigned month, unsigned day);

/** Parse digits exactly in the forms named; `size` bytes, all of them used.
 * @return false when the text has another form or names a time that does not exist */
bool fb_parse_date(const char *text, size_t size, int32_t *days);      ///< YYYY-MM-DD
bool fb_parse_time(const char *text, size_t size, int64_t *us_of_day); ///< HH:MM:SS[.f{1,6}]

typedef struct fb_parsed_time {
    int64_t us;          ///< UTC when has_zone, else the local reading as if it were UTC
    bool    has_zone;    ///< Z or an offset was there
    bool    has_space;   ///< a space stood where ISO 8601 has T
    bool    has_seconds; ///< false for HH:MM, which strict readers refuse
} fb_parsed_time;

/** YYYY-MM-DD(T| )HH:MM[:SS[.f{1,9}]][Z|±hh:mm|±hhmm|±hh].  More than six digits of a
 * second are taken only when the rest are zeros: no digit is dropped in silence. */
bool fb_parse_timestamp(const char *text, size_t size, fb_parsed_time *out);

/** "2026-11-29T14:44:18.120Z", cut down to milliseconds. @return `out` */
const char *fb_format_time_ms(int64_t us, char out[40]);
/** "2026-11-29T14:44:18.120345Z". @return `out` */
const char *fb_format_time_us(int64_t us, char out[40]);
/** "2026-11-29". @return `out` */
const char *fb_format_date(int64_t days, char out[24]);

#endif
