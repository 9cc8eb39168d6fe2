/** number.h - decimal text becomes exact integers, at any scale.
 *
 * Threads: any.
 */
#ifndef FB_DECODE_NUMBER_H
#define FB_DECODE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

__extension__ typedef __int128 fb_int128; // gcc and clang; not ISO C

typedef enum fb_number {
    FB_NUMBER_OK,
    FB_NUMBER_INEXACT, ///< digits would be cut off behind the point
    FB_NUMBER_RANGE,   ///< more than 38 digits
    FB_NUMBER_NONE,    ///< the text is no JSON number
} fb_number;

/** Read a number in JSON's form, "-12.50e2", as `out` units of 10^-scale, exactly: 12.5 at
 * scale 2 is 1250, at scale 0 it is FB_NUMBER_INEXACT.  All `size` bytes must belong to it. */
fb_number fb_number_parse(const char *text, size_t size, int scale, fb_int128 *out);

/** Read a short number without an exponent, "-12.50", as the double nearest to it.
 * @return false for a longer or another form: then strtod must do it */
bool fb_number_short_double(const char *text, size_t size, double *out);

/** Only an optional minus and digits, without a needless leading zero: "-5", "0". */
bool fb_number_is_digits(const char *text, size_t size);

#endif
