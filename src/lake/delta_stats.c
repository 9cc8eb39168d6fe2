/* delta_stats.c - see delta_stats.h. */
#include "lake/delta_stats.h"

#include "base/limits.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/delta_schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_CHARACTERS = 32,
    TRIED_CHARACTERS = 64,
    NUMBER_BYTES = 64,
    PATH_BYTES = 1 << 20
};

#define LAST_CHARACTER "\xf4\x8f\xbf\xbf" // U+10FFFF
#define ASCII_LAST "\x7f"
#define YEAR_10000_US INT64_C(253402300800000000)

/* --- one bound ---------------------------------------------------------------------- */

/* Strings longer than 32 characters are cut. A cut minimum lies below by itself; a cut
 * maximum gets a character behind it that is above what was cut off, as Spark does. */
static bool bound_string(fb_cell value, bool is_max, fb_buf *out)
{
    char   text[TRIED_CHARACTERS * 4 + 8];
    size_t at = 0, characters = 0, length;
    for (; at < value.size && characters < KEPT_CHARACTERS; at += length, characters++)
        if ((length = fb_utf8_length(value.data + at, value.size - at)) == 0)
            return false;
    if (at == value.size || !is_max) {
        fb_buf_add_json(out, value.data, at);
        return true;
    }
    while (value.size - at >= 4 && memcmp(value.data + at, LAST_CHARACTER, 4) == 0) {
        if (++characters >= TRIED_CHARACTERS) return false;
        at += 4; // nothing is above this one: keep it, and look at the next
    }
    if (at == value.size) return fb_buf_add_json(out, value.data, at), true;
    memcpy(text, value.data, at);
    const char *above =
        (unsigned char)value.data[at] < 0x7f ? ASCII_LAST : LAST_CHARACTER;
    memcpy(text + at, above, strlen(above));
    fb_buf_add_json(out, text, at + strlen(above));
    return true;
}

/* Digits of a JSON number, all of `text`? */
static bool is_json_number(const char *text)
{
    if (*text == '-') text++;
    size_t whole = strspn(text, "0123456789");
    if (whole == 0 || (whole > 1 && *text == '0')) return false;
    text += whole;
    if (*text == '.') {
        size_t digits = strspn(text + 1, "0123456789");
        if (digits == 0) return false;
        text += 1 + digits;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '+' || *text == '-') text++;
        size_t digits = strspn(text, "0123456789");
        if (digits == 0) return false;
        text += digits;
    }
    return *text == '\0';
}

/* A float32 is written with the digits of the same number as a double, so that a reader
 * that compares doubles skips nothing it should not. Either zero may be either bound. */
static bool bound_float(const char *text, bool is_single, bool is_max, fb_buf *out)
{
    double number = is_single ? (double)strtof(text, NULL) : strtod(text, NULL);
    if (!isfinite(number) || !is_json_number(text)) return false;
    if (number == 0) {
        fb_buf_add_text(out, is_max ? "0.0" : "-0.0");
    } else if (is_single) {
        char digits[NUMBER_BYTES];
        snprintf(digits, sizeof digits, "%.17g", number);
        fb_buf_printf(out, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
    } else {
        fb_buf_add_text(out, text);
    }
    return true;
}

/* Milliseconds: the minimum is cut down, the maximum raised to the next one. */
static bool bound_time(fb_cell value, bool is_max, bool has_zone, fb_buf *out)
{
    char           text[40];
    fb_parsed_time time;
    if (!fb_parse_timestamp(value.data, value.size, &time) || time.has_zone != has_zone)
        return false;
    int64_t us = time.us + (is_max ? 999 : 0);
    if (us >= YEAR_10000_US) return false;
    fb_format_time_ms(us, text);
    size_t size = strlen(text) - (has_zone ? 0 : 1); // without the Z
    fb_buf_add_json(out, text, size);
    return true;
}

bool fb_delta_stats_bound(const fb_type *type, fb_cell value, bool is_max, fb_buf *out)
{
    char    text[NUMBER_BYTES];
    int32_t days;
    fb_kind kind = fb_delta_kind(type->kind);
    if (value.is_null) return false;
    switch (kind) {
    case FB_KIND_STRING: return bound_string(value, is_max, out);
    case FB_KIND_TIMESTAMP: return bound_time(value, is_max, true, out);
    case FB_KIND_TIMESTAMP_NTZ: return bound_time(value, is_max, false, out);
    case FB_KIND_DATE:
        if (!fb_parse_date(value.data, value.size, &days)) return false;
        fb_buf_add_json(out, value.data, value.size);
        return true;
    default: break;
    }
    if (value.size >= sizeof text) return false;
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    switch (kind) {
    case FB_KIND_FLOAT32: return bound_float(text, true, is_max, out);
    case FB_KIND_FLOAT64: return bound_float(text, false, is_max, out);
    case FB_KIND_INT8:
    case FB_KIND_INT16:
    case FB_KIND_INT32:
    case FB_KIND_INT64:
    case FB_KIND_DECIMAL:
        if (!is_json_number(text)) return false;
        fb_buf_add_text(out, text);
        return true;
    default: return false; // booleans and bytes have none, as Spark writes them
    }
}

/* --- a file ------------------------------------------------------------------------- */

typedef enum part { MIN, MAX, NULLS } part;

typedef struct walk {
    const fb_stats_input *input;
    const char           *names[FB_MAX_SCHEMA_DEPTH];
    size_t                depth;
    int64_t               leaves; ///< passed so far
    part                  part;
    fb_buf               *out;
    fb_buf                path;
} walk;

/* The path of the present column: a.b, "a"."b" or "a, b". */
static const char *path_text(walk *w, const char *glue, bool is_quoted)
{
    fb_buf_reset(&w->path);
    for (size_t i = 0; i < w->depth; i++) {
        if (i) fb_buf_add_text(&w->path, glue);
        if (is_quoted)
            fb_sql_add_name(&w->path, w->names[i]);
        else
            fb_buf_add_text(&w->path, w->names[i]);
    }
    return fb_buf_text(&w->path);
}

/* Is `path` what the item names, or inside of it? Backticks around names do not count. */
static bool item_covers(const char *item, size_t size, const char *path)
{
    for (size_t i = 0; i < size; i++) {
        if (item[i] == '`') continue;
        if (*path != item[i]) return false;
        path++;
    }
    return *path == '\0' || *path == '.';
}

/* Is `path` covered by the list "a, `b`.c"? */
static bool is_listed(const char *list, const char *path)
{
    for (; *list; list += *list == ',') {
        list += strspn(list, " ");
        size_t size = strcspn(list, ","), whole = size;
        while (size > 0 && list[size - 1] == ' ') size--;
        if (size > 0 && item_covers(list, size, path)) return true;
        list += whole;
    }
    return false;
}

static bool is_indexed(walk *w)
{
    w->leaves++;
    if (w->input->only) return is_listed(w->input->only, path_text(w, ".", false));
    return w->input->indexed < 0 || w->leaves <= w->input->indexed;
}

static bool write_leaf(walk *w, const fb_column *column)
{
    const fb_map_entry *entry = fb_map_find(&w->input->paths, path_text(w, ".", true));
    if (!entry) return false;
    const fb_column_stats *have = &w->input->columns[entry->number];
    if (have->values != w->input->rows) return false; // a row group went uncounted
    if (w->part == NULLS) {
        if (have->null_count < 0) return false;
        fb_buf_printf(w->out, "%" PRId64, have->null_count);
        return true;
    }
    bool is_float =
        column->type.kind == FB_KIND_FLOAT32 || column->type.kind == FB_KIND_FLOAT64;
    if (is_float && have->has_nan) return false;
    if (is_float && fb_map_find(&w->input->doubtful, path_text(w, ", ", false)))
        return false;
    return fb_delta_stats_bound(&column->type, w->part == MIN ? have->min : have->max,
                                w->part == MAX, w->out);
}

static bool write_columns(walk *w, const fb_column *columns, size_t count);

/* Write "name":value, or take back what was written when there is no value. */
static bool write_column(walk *w, const fb_column *column, bool is_first)
{
    fb_buf *out = w->out;
    size_t  before = out->size;
    bool    wrote = false;
    if (w->depth == FB_MAX_SCHEMA_DEPTH) return false;
    w->names[w->depth++] = column->name;
    if (!is_first) fb_buf_add_char(out, ',');
    fb_buf_add_json_text(out, column->name);
    fb_buf_add_char(out, ':');
    if (column->type.kind == FB_KIND_STRUCT)
        wrote = write_columns(w, column->type.fields, column->type.fields_count);
    else if (is_indexed(w))
        wrote = write_leaf(w, column);
    w->depth--;
    if (!wrote && out->size > before) {
        out->size = before;
        out->data[before] = '\0';
    }
    return wrote;
}

static bool write_columns(walk *w, const fb_column *columns, size_t count)
{
    bool any = false;
    fb_buf_add_char(w->out, '{');
    for (size_t i = 0; i < count; i++) any |= write_column(w, &columns[i], !any);
    fb_buf_add_char(w->out, '}');
    return any;
}

void fb_delta_stats_write(const fb_stats_input *input, const fb_schema *schema,
                          fb_buf *out)
{
    static const char *const titles[] = {
        [MIN] = "minValues", [MAX] = "maxValues", [NULLS] = "nullCount"};
    walk w = {.input = input, .out = out};
    fb_buf_init(&w.path, PATH_BYTES);
    fb_buf_printf(out, "{\"numRecords\":%" PRId64, input->rows);
    for (int i = MIN; i <= NULLS; i++) {
        w.part = (part)i;
        w.leaves = 0;
        fb_buf_printf(out, ",\"%s\":", titles[i]);
        write_columns(&w, schema->columns, schema->count);
    }
    fb_buf_add_text(out, input->is_tight ? ",\"tightBounds\":true}" : "}");
    fb_buf_clear(&w.path);
}
