/* cell.c - the conversions of docs/reference/types.md, one function per family of types.
 *
 * strict takes a value of the type's own kind; lenient takes also the texts and forms that
 * lose nothing.  Either way a value that would change is refused.
 */
#include "decode/cell.h"

#include "base/alloc.h"
#include "base/json_memory.h"
#include "base/time.h"
#include "decode/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Put a fixed-width value where a vector is wanted; always the last step of a conversion. */
#define PUT(T, value)                                                                    \
    do {                                                                                 \
        if (out->vector) FB_VECTOR_PUT(out, T, row, value);                              \
        return FB_CELL_OK;                                                               \
    } while (0)

static fb_cell_result put_text(fb_vector *out, idx_t row, const char *text, size_t size)
{
    if (out->vector) fb_vector_put_text(out, row, text, size);
    return FB_CELL_OK;
}

/* The value's own JSON text without blanks: numbers keep their digits, keys their order. */
static fb_cell_result put_json(yyjson_val *value, fb_vector *out, idx_t row)
{
    size_t size;
    char  *text = fb_json_write(value, &size);
    if (!text) return FB_CELL_NO_MEMORY;
    put_text(out, row, text, size);
    fb_free(text);
    return FB_CELL_OK;
}

static fb_cell_result put_string(const fb_column *c, yyjson_val *v, fb_vector *out, idx_t row)
{
    if (yyjson_is_str(v)) return put_text(out, row, yyjson_get_str(v), yyjson_get_len(v));
    if (yyjson_is_raw(v)) return put_text(out, row, yyjson_get_raw(v), yyjson_get_len(v));
    if (yyjson_is_true(v)) return put_text(out, row, "true", 4);
    if (yyjson_is_false(v)) return put_text(out, row, "false", 5);
    return c->is_lenient ? put_json(v, out, row) : FB_CELL_CAST;
}

static bool text_is(yyjson_val *v, const char *word, bool any_case)
{
    size_t size = strlen(word);
    if (yyjson_get_len(v) != size) return false;
    const char *text = yyjson_is_raw(v) ? yyjson_get_raw(v) : yyjson_get_str(v);
    return (any_case ? strncasecmp : strncmp)(text, word, size) == 0;
}

static fb_cell_result put_bool(const fb_column *c, yyjson_val *v, fb_vector *out, idx_t row)
{
    bool lenient = c->is_lenient;
    if (yyjson_is_bool(v)) PUT(bool, yyjson_get_bool(v));
    if (yyjson_is_str(v) || (lenient && yyjson_is_raw(v))) {
        if (yyjson_is_str(v) && text_is(v, "true", lenient)) PUT(bool, true);
        if (yyjson_is_str(v) && text_is(v, "false", lenient)) PUT(bool, false);
        if (lenient && text_is(v, "1", false)) PUT(bool, true);
        if (lenient && text_is(v, "0", false)) PUT(bool, false);
    }
    return FB_CELL_CAST;
}

static fb_cell_result of_number(fb_number found)
{
    return found == FB_NUMBER_RANGE ? FB_CELL_RANGE : FB_CELL_CAST;
}

static fb_cell_result put_integer(const fb_column *c, yyjson_val *v, fb_vector *out, idx_t row)
{
    fb_int128   n;
    const char *text = yyjson_is_raw(v) ? yyjson_get_raw(v) : NULL;
    if (!text) {
        if (!c->is_lenient || !yyjson_is_str(v)) return FB_CELL_CAST;
        text = yyjson_get_str(v);
        if (!fb_number_is_digits(text, yyjson_get_len(v))) return FB_CELL_CAST;
    }
    fb_number found = fb_number_parse(text, yyjson_get_len(v), 0, &n);
    if (found != FB_NUMBER_OK) return of_number(found);
#define FITS(kind, T, low, high)                                                         \
    case kind:                                                                           \
        if (n < (low) || n > (high)) return FB_CELL_RANGE;                               \
        PUT(T, (T)n)
    switch (c->type.kind) {
        FITS(FB_KIND_INT8, int8_t, INT8_MIN, INT8_MAX);
        FITS(FB_KIND_INT16, int16_t, INT16_MIN, INT16_MAX);
        FITS(FB_KIND_INT32, int32_t, INT32_MIN, INT32_MAX);
        FITS(FB_KIND_INT64, int64_t, INT64_MIN, INT64_MAX);
        FITS(FB_KIND_UINT8, uint8_t, 0, UINT8_MAX);
        FITS(FB_KIND_UINT16, uint16_t, 0, UINT16_MAX);
        FITS(FB_KIND_UINT32, uint32_t, 0, UINT32_MAX);
        FITS(FB_KIND_UINT64, uint64_t, 0, UINT64_MAX);
    default: return FB_CELL_CAST;
    }
#undef FITS
}

/* The texts that name what JSON numbers cannot; lenient columns take them. */
static bool nonfinite(yyjson_val *v, double *out)
{
    static const struct {
        const char *word;
        double      value;
    } words[] = {{"nan", NAN}, {"inf", INFINITY}, {"infinity", INFINITY}, {"+inf", INFINITY},
                 {"-inf", -INFINITY}, {"+infinity", INFINITY}, {"-infinity", -INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!text_is(v, words[i].word, true)) continue;
        *out = words[i].value;
        return true;
    }
    return false;
}

/* A program that embeds us may have set another locale, with another decimal point. */
static locale_t       c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static fb_cell_result put_float(const fb_column *c, yyjson_val *v, fb_vector *out, idx_t row)
{
    fb_int128   ignored;
    double      wide;
    bool        is_text = yyjson_is_str(v);
    size_t      size = yyjson_get_len(v);
    const char *text = is_text ? yyjson_get_str(v) : yyjson_get_raw(v); // NUL-terminated
    if (!text || (is_text && !c->is_lenient)) return FB_CELL_CAST;
    if (is_text && nonfinite(v, &wide)) {
        if (c->type.kind == FB_KIND_FLOAT32) PUT(float, (float)wide);
        PUT(double, wide);
    }
    if (is_text && fb_number_parse(text, size, 0, &ignored) == FB_NUMBER_NONE)
        return FB_CELL_CAST;
    pthread_once(&c_locale_once, make_c_locale);
    /* The nearest number that the type has, which is zero for the very small. */
    if (c->type.kind == FB_KIND_FLOAT32) {
        float narrow = strtof_l(text, NULL, c_locale);
        if (isinf(narrow)) return FB_CELL_RANGE;
        PUT(float, narrow);
    }
    if (!fb_number_short_double(text, size, &wide)) wide = strtod_l(text, NULL, c_locale);
    if (isinf(wide)) return FB_CELL_RANGE;
    PUT(double, wide);
}

static fb_cell_result put_decimal(const fb_column *c, yyjson_val *v, fb_vector *out, idx_t row)
{
    fb_int128   n, limit = 1;
    const char *text = yyjson_is_raw(v) ? yyjson_get_raw(v) : yyjson_get_str(v);
    if (!text) return FB_CELL_CAST;
    fb_number found = fb_number_parse(text, yyjson_get_len(v), c->type.scale, &n);
    if (found != FB_NUMBER_OK) return of_number(found);
    for (int i = 0; i < c->type.precision; i++)
        limit *= 10;
    if (n >= limit || n <= -limit) return FB_CELL_RANGE;
    if (c->type.precision <= 4) PUT(int16_t, (int16_t)n);
    if (c->type.precision <= 9) PUT(int32_t, (int32_t)n);
    if (c->type.precision <= 18) PUT(int64_t, (int64_t)n);
    duckdb_hugeint wide = {.lower = (uint64_t)n, .upper = (int64_t)(n >> 64)};
    PUT(duckdb_hugeint, wide);
}

/* The days that readers of tables agree on: 0001-01-01 to 9999-12-31. */
enum { FIRST_DAY = -719162, LAST_DAY = 2932896 };

static fb_cell_result put_date(const fb_column *c, yyjson_val *v, fb_vector *out, idx_t row)
{
    int32_t   days;
    fb_int128 n;
    if (yyjson_is_str(v)) {
        if (!fb_parse_date(yyjson_get_str(v), yyjson_get_len(v), &days)) return FB_CELL_CAST;
        n = days;
    } else {
        if (!c->is_lenient || !yyjson_is_raw(v)) return FB_CELL_CAST;
        fb_number found = fb_number_parse(yyjson_get_raw(v), yyjson_get_len(v), 0, &n);
        if (found != FB_NUMBER_OK) return of_number(found);
    }
    if (n < FIRST_DAY || n > LAST_DAY) return FB_CELL_RANGE;
    PUT(int32_t, (int32_t)n);
}

static fb_cell_result put_time(const fb_column *c, yyjson_val *v, fb_vector *out, idx_t row)
{
    int64_t     us;
    char        padded[9] = "HH:MM:00";
    const char *text = yyjson_get_str(v);
    size_t      size = yyjson_get_len(v);
    if (!text) return FB_CELL_CAST;
    if (c->is_lenient && size == 5) {
        memcpy(padded, text, 5);
        text = padded;
        size = 8;
    }
    if (!fb_parse_time(text, size, &us)) return FB_CELL_CAST;
    PUT(int64_t, us);
}

static fb_cell_result put_timestamp(const fb_column *c, yyjson_val *v, fb_vector *out, idx_t row)
{
    fb_parsed_time t;
    int32_t        days;
    bool           is_instant = c->type.kind == FB_KIND_TIMESTAMP;
    const char    *text = yyjson_get_str(v);
    size_t         size = yyjson_get_len(v);
    if (!text) return FB_CELL_CAST;
    if (c->is_lenient && fb_parse_date(text, size, &days))
        t = (fb_parsed_time){.us = days * FB_US_PER_DAY, .has_seconds = true}; // midnight
    else if (!fb_parse_timestamp(text, size, &t))
        return FB_CELL_CAST;
    /* An offset is never dropped; a reading without one is no instant unless the column
     * is lenient, and then it is read as UTC. */
    if (is_instant && !t.has_zone && !c->is_lenient) return FB_CELL_CAST;
    if (!is_instant && t.has_zone) return FB_CELL_CAST;
    if ((t.has_space || !t.has_seconds) && !c->is_lenient) return FB_CELL_CAST;
    if (t.us < FIRST_DAY * FB_US_PER_DAY || t.us >= (LAST_DAY + 1) * FB_US_PER_DAY)
        return FB_CELL_RANGE;
    PUT(int64_t, t.us);
}

static const signed char *base64_values(void)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static _Thread_local signed char values[256];
    static _Thread_local bool        is_ready;
    if (is_ready) return values;
    memset(values, -1, sizeof values);
    for (int i = 0; i < 64; i++)
        values[(unsigned char)letters[i]] = (signed char)i;
    is_ready = true;
    return values;
}

/* RFC 4648, section 4: padded, no other characters, no stray bits at the end. The bytes
 * take the place of the text, which is the document's own copy, but only once all of it is
 * known to be good: a text that is refused is shown as it came. */
static fb_cell_result put_binary(yyjson_val *v, fb_vector *out, idx_t row)
{
    const signed char *values = base64_values();
    const char        *text = yyjson_get_str(v);
    size_t             size = yyjson_get_len(v), made = 0, pads;
    unsigned           bits = 0;
    if (!text || size % 4 != 0) return FB_CELL_CAST;
    if (size == 0) return put_text(out, row, "", 0);
    pads = text[size - 1] != '=' ? 0 : text[size - 2] != '=' ? 1 : 2;
    size -= pads;
    for (size_t i = 0; i < size; i++)
        if (values[(unsigned char)text[i]] < 0) return FB_CELL_CAST;
    if (values[(unsigned char)text[size - 1]] & ((1 << 2 * pads) - 1)) return FB_CELL_CAST;
    char *bytes = (char *)(uintptr_t)text;
    for (size_t i = 0; i < size; i++) {
        bits = bits << 6 | (unsigned)values[(unsigned char)text[i]];
        if (i % 4 == 0) continue;
        int left = 6 - 2 * (int)(i % 4); // bits that wait for the next character
        bytes[made++] = (char)(bits >> left);
        bits &= (1u << left) - 1;
    }
    return put_text(out, row, bytes, made);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static fb_cell_result put_uuid(yyjson_val *v, fb_vector *out, idx_t row)
{
    const char *text = yyjson_get_str(v);
    uint64_t    bits[2] = {0, 0}; // high, low
    if (!text || yyjson_get_len(v) != 36) return FB_CELL_CAST;
    for (int i = 0; i < 36; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        int  value = is_dash ? 0 : hex_value(text[i]);
        if (value < 0 || (is_dash && text[i] != '-')) return FB_CELL_CAST;
        if (!is_dash) bits[i > 18] = bits[i > 18] << 4 | (unsigned)value;
    }
    /* The engine keeps a UUID as a signed number that sorts like its text. */
    duckdb_hugeint wide = {.lower = bits[1],
                           .upper = (int64_t)(bits[0] ^ (UINT64_C(1) << 63))};
    PUT(duckdb_hugeint, wide);
}

fb_cell_result fb_cell_put(const fb_column *column, yyjson_val *value, fb_vector *out, idx_t row)
{
    switch (column->type.kind) {
    case FB_KIND_STRING: return put_string(column, value, out, row);
    case FB_KIND_BOOL: return put_bool(column, value, out, row);
    case FB_KIND_FLOAT32:
    case FB_KIND_FLOAT64: return put_float(column, value, out, row);
    case FB_KIND_DECIMAL: return put_decimal(column, value, out, row);
    case FB_KIND_DATE: return put_date(column, value, out, row);
    case FB_KIND_TIME: return put_time(column, value, out, row);
    case FB_KIND_TIMESTAMP:
    case FB_KIND_TIMESTAMP_NTZ: return put_timestamp(column, value, out, row);
    case FB_KIND_BINARY: return put_binary(value, out, row);
    case FB_KIND_UUID: return put_uuid(value, out, row);
    case FB_KIND_JSON: return put_json(value, out, row);
    case FB_KIND_LIST:
    case FB_KIND_STRUCT:
    case FB_KIND_MAP:
    case FB_KIND_VOID: return FB_CELL_CAST;
    default: return put_integer(column, value, out, row);
    }
}
