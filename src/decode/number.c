/* number.c - see number.h.
 *
 * The text is mantissa digits d1 d2 ... dn, of which `behind` stand behind the point, and
 * an exponent.  Its value in units of 10^-scale is the digits shifted by
 * exponent - behind + scale places: to the left zeros are added, to the right only zeros
 * may be dropped.
 */
#include "decode/number.h"

#include <stdint.h>

enum { FAST_DIGITS = 18 };

/* Above what the digits of the longest message can make up for. */
#define MAX_EXPONENT INT64_C(1000000000000)

bool fb_number_is_digits(const char *text, size_t size)
{
    if (size > 0 && *text == '-') {
        text++;
        size--;
    }
    if (size == 0 || (size > 1 && *text == '0')) return false;
    for (size_t i = 0; i < size; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return true;
}

typedef struct parts {
    const char *mantissa; ///< digits, with at most one point among them
    size_t      size;
    int64_t     behind;   ///< digits behind the point
    int64_t     exponent; ///< cut down to +-10 * MAX_EXPONENT
} parts;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* e[+-]digits at `text`, all of it. */
static bool split_exponent(const char *text, size_t size, int64_t *exponent)
{
    size_t i = 0;
    bool   negative = false;
    if (i < size && (text[i] == '+' || text[i] == '-')) negative = text[i++] == '-';
    if (i == size) return false;
    for (; i < size; i++) {
        if (!is_digit(text[i])) return false;
        if (*exponent < MAX_EXPONENT) *exponent = *exponent * 10 + (text[i] - '0');
    }
    if (negative) *exponent = -*exponent;
    return true;
}

/* Take JSON's number grammar (RFC 8259, section 6) apart; the sign is gone already. */
static bool split(const char *text, size_t size, parts *out)
{
    size_t i = 0;
    *out = (parts){.mantissa = text};
    while (i < size && is_digit(text[i]))
        i++;
    if (i == 0 || (i > 1 && text[0] == '0')) return false;
    if (i < size && text[i] == '.') {
        size_t point = i++;
        while (i < size && is_digit(text[i]))
            i++;
        out->behind = (int64_t)(i - point - 1);
        if (out->behind == 0) return false;
    }
    out->size = i;
    if (i == size) return true;
    if (text[i] != 'e' && text[i] != 'E') return false;
    return split_exponent(text + i + 1, size - i - 1, &out->exponent);
}

/* Multiply by ten and add; the magnitude stays below 10^38. */
static bool push(fb_int128 *value, int digit)
{
    const fb_int128 half = INT64_C(1000000000000000000), limit = half * half * 10; // 10^37
    if (*value >= limit) return false;
    *value = *value * 10 + digit;
    return true;
}

static fb_number shift(const parts *p, int scale, fb_int128 *out)
{
    int64_t   keep = (int64_t)p->size - (p->behind ? 1 : 0); // digits in all
    int64_t   places = p->exponent - p->behind + scale, seen = 0;
    fb_int128 value = 0;
    for (size_t i = 0; i < p->size; i++) {
        if (p->mantissa[i] == '.') continue;
        int digit = p->mantissa[i] - '0';
        if (seen++ < keep + (places < 0 ? places : 0)) {
            if (!push(&value, digit)) return FB_NUMBER_RANGE;
        } else if (digit != 0) {
            return FB_NUMBER_INEXACT;
        }
    }
    for (; places > 0 && value != 0; places--)
        if (!push(&value, 0)) return FB_NUMBER_RANGE;
    *out = value;
    return FB_NUMBER_OK;
}

fb_number fb_number_parse(const char *text, size_t size, int scale, fb_int128 *out)
{
    bool      negative = size > 0 && *text == '-';
    parts     p;
    fb_number found;
    if (negative) {
        text++;
        size--;
    }
    if (scale == 0 && size > 0 && size <= FAST_DIGITS && (text[0] != '0' || size == 1)) {
        int64_t value = 0;
        size_t  i = 0;
        for (; i < size && is_digit(text[i]); i++)
            value = value * 10 + (text[i] - '0');
        if (i == size) {
            *out = negative ? -value : value;
            return FB_NUMBER_OK;
        }
    }
    if (!split(text, size, &p)) return FB_NUMBER_NONE;
    found = shift(&p, scale, out);
    if (found == FB_NUMBER_OK && negative) *out = -*out;
    return found;
}

/* Up to 15 digits are a whole number that a double holds exactly, and so is a power of ten
 * up to 10^15; one division of the two rounds once, as strtod does, at a tenth of its cost
 * (W. D. Clinger, "How to read floating point numbers accurately"). */
bool fb_number_short_double(const char *text, size_t size, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool    negative = size > 0 && text[0] == '-';
    size_t  i = negative ? 1 : 0, digits = 0, behind = 0;
    int64_t whole = 0;
    bool    has_point = false;
    for (; i < size; i++) {
        if (text[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (!is_digit(text[i]) || ++digits > 15) return false;
        whole = whole * 10 + (text[i] - '0');
        behind += has_point;
    }
    if (digits == 0) return false;
    *out = (double)whole / powers[behind];
    if (negative) *out = -*out;
    return true;
}
