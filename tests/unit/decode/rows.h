/** rows.h - messages decoded into a real data chunk, and its cells read back as texts. */
#ifndef FB_TESTS_ROWS_H
#define FB_TESTS_ROWS_H

#include "base/limits.h"
#include "base/time.h"
#include "decode/json.h"
#include "decode/number.h"
#include "schema/logical.h"
#include "tests/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_COLUMNS = 600, ROWS_TEXT = 4096 };

static const fb_json_options plain_options = {.duplicate_keys = FB_DUPLICATE_REJECT,
                                              .max_depth = FB_MAX_DEPTH_DEFAULT,
                                              .max_message_bytes = 100 << 20};

typedef struct rows {
    fb_schema         schema;
    fb_json_options   options;
    fb_decoder        decoder;
    void             *worker;
    duckdb_data_chunk chunk;
    fb_vector         vectors[ROWS_COLUMNS];
    unsigned char     states[ROWS_COLUMNS];
    fb_refusals       refusals;
    fb_row            row;
    fb_error          err;
    char              text[ROWS_TEXT]; ///< what rows_cell() gives out
} rows;

/* One column of "name type", "name type ~" being a lenient one. */
static inline fb_code rows_column(rows *r, fb_column *column, char *words)
{
    char *type = strchr(words, ' '), *mark = strrchr(words, '~');
    *type++ = '\0';
    if (mark) mark[-1] = '\0';
    column->is_lenient = mark != NULL;
    column->nullable = true;
    column->name = fb_arena_strndup(&r->schema.arena, words, strlen(words));
    if (!column->name) return fb_fail_memory(&r->err, "a name");
    return fb_type_parse(type, &column->type, &r->err);
}

/* Open a decoder for columns such as "id int64; amount decimal(12,2) ~". */
static inline fb_code rows_open(rows *r, const char *columns,
                                const fb_json_options *options)
{
    fb_code code = FB_OK;
    char   *rest, *one;
    size_t  count = 1;
    memset(r, 0, sizeof *r);
    fb_schema_init(&r->schema);
    fb_refusals_init(&r->refusals);
    r->options = *options;
    for (const char *c = columns; *c; c++) count += *c == ';';
    FB_TRY(fb_schema_reserve(&r->schema, count, &r->err));
    rest = fb_arena_strndup(&r->schema.arena, columns, strlen(columns));
    if (!rest) FB_TRY(fb_fail_memory(&r->err, "the columns"));
    for (size_t i = 0; (one = strsep(&rest, ";")); i++)
        FB_TRY(rows_column(r, &r->schema.columns[i], one + strspn(one, " ")));
    duckdb_logical_type types[ROWS_COLUMNS];
    for (size_t i = 0; i < count; i++)
        types[i] = fb_type_logical(&r->schema.columns[i].type);
    r->chunk = duckdb_create_data_chunk(types, count);
    for (size_t i = 0; i < count; i++) {
        fb_vector_attach(&r->vectors[i], r->chunk, i);
        duckdb_destroy_logical_type(&types[i]);
    }
    r->row = (fb_row){r->vectors, r->states, 0};
    FB_TRY(fb_json_open(&r->schema, &r->options, &r->decoder, &r->err));
    code = r->decoder.begin(r->decoder.self, &r->worker, &r->err);
out:
    return code;
}

static inline void rows_close(rows *r)
{
    if (r->worker) r->decoder.end(r->decoder.self, r->worker);
    fb_json_close(&r->decoder);
    fb_refusals_clear(&r->refusals);
    if (r->chunk) duckdb_destroy_data_chunk(&r->chunk);
    fb_schema_clear(&r->schema);
}

/* Decode bytes into the row after the last one that counted. */
static inline fb_code rows_add(rows *r, const char *value, size_t size)
{
    fb_record record = {.value = value, .value_size = size};
    fb_refusals_reset(&r->refusals);
    fb_code code = r->decoder.decode(r->decoder.self, r->worker, &record, &r->row,
                                     &r->refusals, &r->err);
    if (code == FB_OK && r->refusals.count == 0) r->row.index++;
    return code;
}

/* The word of the first fault of the last message; "" when it had none. */
static inline const char *rows_fault(const rows *r)
{
    return r->refusals.count ? fb_refusal_word(r->refusals.list[0].id) : "";
}

/* Decode a message. @return the word of its first fault, "" when it became a row */
static inline const char *rows_read_bytes(rows *r, const char *value, size_t size)
{
    CHECK_CODE(rows_add(r, value, size), FB_OK, &r->err);
    return rows_fault(r);
}

static inline const char *rows_read(rows *r, const char *value)
{
    return rows_read_bytes(r, value, strlen(value));
}

/* The bytes of a string or binary cell of the last row. */
static inline const char *rows_bytes(rows *r, size_t column, size_t *size)
{
    duckdb_string_t *cell =
        (duckdb_string_t *)duckdb_vector_get_data(r->vectors[column].vector) +
        r->row.index - 1;
    *size = duckdb_string_t_length(*cell);
    return duckdb_string_t_data(cell);
}

static inline void rows_print_decimal(const fb_type *type, const void *data, idx_t row,
                                      char *out)
{
    fb_int128 n = 0;
    char      digits[64];
    size_t    size = 0;
    if (type->precision <= 4)
        n = ((const int16_t *)data)[row];
    else if (type->precision <= 9)
        n = ((const int32_t *)data)[row];
    else if (type->precision <= 18)
        n = ((const int64_t *)data)[row];
    else {
        duckdb_hugeint wide = ((const duckdb_hugeint *)data)[row];
        n = (fb_int128)wide.upper * ((fb_int128)1 << 64) + (fb_int128)wide.lower;
    }
    if (n < 0) *out++ = '-';
    for (; n != 0 || size <= type->scale; n /= 10)
        digits[size++] = (char)('0' + (n < 0 ? -(n % 10) : n % 10));
    while (size > 0) {
        if (size == type->scale) *out++ = '.';
        *out++ = digits[--size];
    }
    *out = '\0';
}

static inline void rows_print_bytes(rows *r, size_t column, char *out)
{
    size_t      size;
    const char *bytes = rows_bytes(r, column, &size);
    for (size_t i = 0; i < size && i < ROWS_TEXT / 2 - 1; i++)
        out += sprintf(out, "%02x", (unsigned char)bytes[i]);
    *out = '\0';
}

static inline void rows_print_uuid(const void *data, idx_t row, char *out)
{
    duckdb_hugeint wide = ((const duckdb_hugeint *)data)[row];
    uint64_t       high = (uint64_t)wide.upper ^ (UINT64_C(1) << 63), low = wide.lower;
    sprintf(out, "%08x-%04x-%04x-%04x-%012" PRIx64, (unsigned)(high >> 32),
            (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xffff),
            (unsigned)(low >> 48), low & 0xffffffffffff);
}

/* The cell of the last row as a text; "NULL" for null. */
static inline const char *rows_cell(rows *r, size_t column)
{
    const fb_type *type = &r->schema.columns[column].type;
    duckdb_vector  vector = r->vectors[column].vector;
    idx_t          row = r->row.index - 1;
    const void    *data = duckdb_vector_get_data(vector);
    uint64_t      *validity = duckdb_vector_get_validity(vector);
    char          *out = r->text;
    size_t         size;
    if (validity && !duckdb_validity_row_is_valid(validity, row)) return "NULL";
    switch (type->kind) {
    case FB_KIND_BOOL: return ((const bool *)data)[row] ? "true" : "false";
    case FB_KIND_INT8: sprintf(out, "%d", ((const int8_t *)data)[row]); break;
    case FB_KIND_INT16: sprintf(out, "%d", ((const int16_t *)data)[row]); break;
    case FB_KIND_INT32: sprintf(out, "%d", ((const int32_t *)data)[row]); break;
    case FB_KIND_INT64: sprintf(out, "%" PRId64, ((const int64_t *)data)[row]); break;
    case FB_KIND_UINT8: sprintf(out, "%u", ((const uint8_t *)data)[row]); break;
    case FB_KIND_UINT16: sprintf(out, "%u", ((const uint16_t *)data)[row]); break;
    case FB_KIND_UINT32: sprintf(out, "%u", ((const uint32_t *)data)[row]); break;
    case FB_KIND_UINT64: sprintf(out, "%" PRIu64, ((const uint64_t *)data)[row]); break;
    case FB_KIND_FLOAT32: sprintf(out, "%.9g", (double)((const float *)data)[row]); break;
    case FB_KIND_FLOAT64: sprintf(out, "%.17g", ((const double *)data)[row]); break;
    case FB_KIND_DECIMAL: rows_print_decimal(type, data, row, out); break;
    case FB_KIND_DATE: fb_format_date(((const int32_t *)data)[row], out); break;
    case FB_KIND_TIME: // the day of the epoch is cut off
        fb_format_time_us(((const int64_t *)data)[row], out);
        memmove(out, out + 11, 15);
        out[15] = '\0';
        break;
    case FB_KIND_TIMESTAMP: fb_format_time_us(((const int64_t *)data)[row], out); break;
    case FB_KIND_TIMESTAMP_NTZ:
        fb_format_time_us(((const int64_t *)data)[row], out);
        out[strlen(out) - 1] = '\0';
        break;
    case FB_KIND_BINARY: rows_print_bytes(r, column, out); break;
    case FB_KIND_UUID: rows_print_uuid(data, row, out); break;
    default: {
        const char *bytes = rows_bytes(r, column, &size);
        snprintf(out, ROWS_TEXT, "%.*s", (int)size, bytes);
    }
    }
    return out;
}

/* What a JSON value becomes in a column of the type: the cell, or the fault's word
 * behind a "!".  The text is good until the next call. */
static inline const char *value_becomes(const char *type, const char *json)
{
    static rows r;
    static char kept[ROWS_TEXT];
    char        columns[100], message[ROWS_TEXT];
    snprintf(columns, sizeof columns, "v %s", type);
    snprintf(message, sizeof message, "{\"v\":%s}", json);
    kept[0] = '\0';
    if (rows_open(&r, columns, &plain_options) != FB_OK) return r.err.what;
    const char *fault = rows_read(&r, message);
    snprintf(kept, sizeof kept, "%s%s", *fault ? "!" : "",
             *fault ? fault : rows_cell(&r, 0));
    rows_close(&r);
    return kept;
}

/** A JSON value becomes a cell of a column of this type: BECOMES("int64", "7", "7"). */
#define BECOMES(type, json, want)                                                        \
    check_text(CHECK_SITE(type " from " json), value_becomes(type, json), (want))

/** As BECOMES, where the cell is refused with this word. */
#define REFUSES(type, json, word)                                                        \
    check_text(CHECK_SITE(type " from " json), value_becomes(type, json), "!" word)

#endif
