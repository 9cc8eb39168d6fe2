/* delta_add.c - new data files: the SQL that writes one, and what it says when done.
 *
 *   copy      the query engine writes <table>/part-<uuid>.c000.<codec>.parquet; nothing
 *             refers to it yet, and a crash leaves it there, which is lawful
 *   verify    its size and its last bytes are what the engine said
 *   settle    file and folder are synced, so that a commit never names what may be lost
 *   describe  RETURN_STATS becomes the statistics of the add
 *
 * COPY options. PARQUET_VERSION V1 (plain and dictionary pages, which every reader
 * knows) unless the table asks for format 2; the types that come out are Delta's as they
 * stand: INT32 with INT(8|16|32), INT64, DECIMAL in INT32, INT64 or 16 bytes,
 * TIMESTAMP(MICROS) in UTC or local, lists and maps in three levels. zstd at level 1
 * where the table names no codec.  A dictionary is given up at 8192 values of a row
 * group: the search for one in columns of unique values took 7 % of a run's CPU, and the
 * files came out the same size.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "lake/delta_schema.h"
#include "lake/delta_stats.h"
#include "lake/delta_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    STATS_BYTES = 16 << 20,
    FOOTER_BYTES = 8,
    INDEXED_DEFAULT = 32,
    DICTIONARY_VALUES = 8192
};

void fb_delta_adds_init(fb_delta_adds *adds) { *adds = (fb_delta_adds){0}; }

void fb_delta_adds_clear(fb_delta_adds *adds)
{
    for (size_t i = 0; i < adds->count; i++) fb_free(adds->items[i].stats);
    fb_free(adds->items);
    fb_delta_adds_init(adds);
}

void fb_delta_adds_discard(fb_delta *table, const fb_delta_adds *adds)
{
    fb_error ignored; // a file that stays is an orphan, which is lawful
    for (size_t i = 0; i < adds->count; i++)
        (void)table->store->ops->remove(table->store, adds->items[i].path, &ignored);
}

/* --- writing ------------------------------------------------------------------------ */

static const struct {
    const char *name, *sql, *suffix;
} codecs[] = {
    {"zstd", "zstd, COMPRESSION_LEVEL 1", "zstd."},
    {"snappy", "snappy", "snappy."},
    {"gzip", "gzip", "gz."},
    {"brotli", "brotli", "br."},
    {"lz4", "lz4", "lz4."},
    {"lz4_raw", "lz4_raw", "lz4raw."},
    {"lz4raw", "lz4_raw", "lz4raw."},
    {"uncompressed", "uncompressed", ""},
    {"none", "uncompressed", ""},
};

void fb_delta_set_file_options(fb_delta *table, const fb_delta_file_options *options)
{
    table->files = *options;
}

/* What the table says goes before what its writer was told. */
static size_t choose_codec(const fb_delta *table)
{
    const char *wanted = fb_delta_property(table, "delta.parquet.compression.codec");
    if (!wanted) wanted = table->files.codec;
    for (size_t i = 0; wanted && i < sizeof codecs / sizeof *codecs; i++)
        if (strcasecmp(codecs[i].name, wanted) == 0) return i;
    return 0;
}

static void add_casts(const fb_schema *schema, fb_buf *sql)
{
    for (size_t i = 0; i < schema->count; i++) {
        fb_buf_add_text(sql, i ? ", CAST(" : "CAST(");
        fb_sql_add_name(sql, schema->columns[i].name);
        fb_buf_add_text(sql, " AS ");
        fb_type_print_sql(&schema->columns[i].type, true, sql);
        fb_buf_add_text(sql, ") AS ");
        fb_sql_add_name(sql, schema->columns[i].name);
    }
}

fb_code fb_delta_copy_sql(fb_delta *table, const fb_schema *schema, const char *relation,
                          fb_buf *sql, char *path, fb_error *err)
{
    fb_code     code = FB_OK;
    char        key[FB_MAX_NAME];
    fb_uuid     id = fb_uuid_v4();
    size_t      codec = choose_codec(table);
    const char *format = fb_delta_property(table, "delta.parquet.format.version");
    snprintf(key, sizeof key, "part-%s.c000.%sparquet", id.text, codecs[codec].suffix);
    FB_TRY(table->store->ops->locate(table->store, key, true, path, err));
    fb_buf_add_text(sql, "COPY (SELECT ");
    add_casts(schema, sql);
    fb_buf_printf(sql, " FROM %s) TO ", relation);
    fb_sql_add_text(sql, path);
    fb_buf_printf(sql, " (FORMAT parquet, COMPRESSION %s, PARQUET_VERSION %s",
                  codecs[codec].sql, format && format[0] == '2' ? "V2" : "V1");
    if (table->files.row_group_rows > 0)
        fb_buf_printf(sql, ", ROW_GROUP_SIZE %" PRId64, table->files.row_group_rows);
    fb_buf_printf(sql, ", DICTIONARY_SIZE_LIMIT %d, WRITE_BLOOM_FILTER false, RETURN_STATS)",
                  table->files.is_plain ? 0 : DICTIONARY_VALUES);
    FB_TRY(fb_buf_check(sql, "a query", err));
out:
    return code;
}

/* --- reading what COPY says --------------------------------------------------------- */

enum { FILENAME, COUNT, SIZE_BYTES, FOOTER_SIZE, STATISTICS, COPY_COLUMNS };

static bool cell_is(fb_cell cell, const char *text)
{
    return cell.size == strlen(text) && memcmp(cell.data, text, cell.size) == 0;
}

static int64_t cell_int(fb_cell cell)
{
    char    text[24];
    int64_t number;
    if (cell.is_null || cell.size >= sizeof text) return -1;
    memcpy(text, cell.data, cell.size);
    text[cell.size] = '\0';
    return fb_text_int64(text, &number) ? number : -1;
}

/* A column's own MAP(VARCHAR, VARCHAR): {'min': ..., 'null_count': ...}. */
static fb_column_stats read_column(duckdb_vector map, duckdb_list_entry entry)
{
    fb_cell         none = {"", 0, true};
    fb_column_stats out = {none, none, -1, -1, false};
    duckdb_vector   pairs = duckdb_list_vector_get_child(map);
    duckdb_vector   keys = duckdb_struct_vector_get_child(pairs, 0);
    duckdb_vector   values = duckdb_struct_vector_get_child(pairs, 1);
    for (idx_t i = entry.offset; i < entry.offset + entry.length; i++) {
        fb_cell key = fb_vector_text(keys, i), value = fb_vector_text(values, i);
        if (cell_is(key, "min"))
            out.min = value;
        else if (cell_is(key, "max"))
            out.max = value;
        else if (cell_is(key, "null_count"))
            out.null_count = cell_int(value);
        else if (cell_is(key, "num_values"))
            out.values = cell_int(value);
        else if (cell_is(key, "has_nan"))
            out.has_nan = cell_is(value, "true");
    }
    return out;
}

static fb_code put_cell(fb_map *map, fb_cell cell, fb_map_entry **entry, fb_error *err)
{
    char   *key = fb_strndup(cell.data, cell.size);
    fb_code code = key ? fb_map_put(map, key, entry, err)
                       : fb_fail_memory(err, "the statistics of a file");
    fb_free(key);
    return code;
}

/* The row's MAP(VARCHAR, MAP(VARCHAR, VARCHAR)): a column's path and what it says. */
static fb_code read_columns(duckdb_vector map, idx_t row, fb_stats_input *input,
                            fb_column_stats **columns, fb_error *err)
{
    fb_code            code = FB_OK;
    duckdb_list_entry  all = ((duckdb_list_entry *)duckdb_vector_get_data(map))[row];
    duckdb_vector      pairs = duckdb_list_vector_get_child(map);
    duckdb_vector      keys = duckdb_struct_vector_get_child(pairs, 0);
    duckdb_vector      values = duckdb_struct_vector_get_child(pairs, 1);
    duckdb_list_entry *entries = duckdb_vector_get_data(values);
    fb_map_entry      *entry;
    *columns = fb_alloc((all.length + 1) * sizeof **columns);
    if (!*columns) return fb_fail_memory(err, "the statistics of a file");
    input->columns = *columns;
    for (idx_t i = 0; i < all.length; i++) {
        FB_TRY(
            put_cell(&input->paths, fb_vector_text(keys, all.offset + i), &entry, err));
        entry->number = (int64_t)i;
        (*columns)[i] = read_column(values, entries[all.offset + i]);
    }
out:
    return code;
}

static bool is_float(const fb_column *c)
{
    return c->type.kind == FB_KIND_FLOAT32 || c->type.kind == FB_KIND_FLOAT64;
}

/* Which float columns may hold NaN? The engine's has_nan tells of the last row group
 * only, but the footer has no bounds for a row group with a NaN: any such column is
 * doubtful. */
static fb_code keep_doubtful(void *doubtful, duckdb_data_chunk chunk, idx_t row,
                             fb_error *err)
{
    fb_map_entry *entry;
    return put_cell(doubtful, fb_row_text(chunk, 0, row), &entry, err);
}

static fb_code find_doubtful(fb_delta *table, const char *key, fb_map *doubtful,
                             fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  sql;
    fb_buf_init(&sql, FB_SQL_BYTES);
    fb_buf_add_text(&sql, "SELECT DISTINCT path_in_schema FROM ");
    FB_TRY(fb_delta_sql_file(table, "parquet_metadata", key, &sql, err));
    fb_buf_add_text(&sql,
                    " WHERE type IN ('FLOAT', 'DOUBLE') AND stats_min_value IS NULL");
    FB_TRY(fb_delta_each_row(table, &sql, keep_doubtful, doubtful, err));
out:
    fb_buf_clear(&sql);
    return code;
}

/* Is the file as long as the engine said, and does it end as Parquet does? Sync it. */
static fb_code verify(fb_delta *table, const char *key, int64_t said_bytes,
                      fb_delta_add *out, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    fb_buf  tail;
    fb_buf_init(&tail, FOOTER_BYTES);
    FB_TRY(table->store->ops->size(table->store, key, &out->size_bytes, &out->modified_ms,
                                   err));
    FB_TRY(table->store->ops->locate(table->store, key, false, path, err));
    FB_TRY(fb_file_read_tail(path, FOOTER_BYTES, &tail, err));
    if (out->size_bytes != said_bytes || tail.size != FOOTER_BYTES ||
        memcmp(tail.data + 4, "PAR1", 4) != 0)
        FB_TRY(fb_fail(err, S004,
                       "%s has %" PRId64 " bytes and should be Parquet of %" PRId64, path,
                       out->size_bytes, said_bytes));
    FB_TRY(table->store->ops->settle(table->store, key, err));
out:
    fb_buf_clear(&tail);
    return code;
}

static fb_code describe(fb_delta *table, const fb_schema *schema, fb_stats_input *input,
                        fb_delta_add *out, fb_error *err)
{
    fb_code          code = FB_OK;
    fb_buf           stats;
    const fb_schema *ordered = fb_delta_exists(table) ? &table->state.schema : schema;
    const char      *count = fb_delta_property(table, "delta.dataSkippingNumIndexedCols");
    fb_buf_init(&stats, STATS_BYTES);
    input->indexed = INDEXED_DEFAULT;
    if (count && (!fb_text_int64(count, &input->indexed) || input->indexed < -1))
        input->indexed = INDEXED_DEFAULT;
    input->only = fb_delta_property(table, "delta.dataSkippingStatsColumns");
    input->is_tight = fb_delta_has_feature(table, "deletionVectors");
    if (fb_delta_schema_any(schema->columns, schema->count, is_float))
        FB_TRY(find_doubtful(table, out->path, &input->doubtful, err));
    fb_delta_stats_write(input, ordered, &stats);
    FB_TRY(fb_buf_check(&stats, "the statistics of a file", err));
    out->stats = fb_strdup(stats.data);
    if (!out->stats) code = fb_fail_memory(err, "the statistics of a file");
out:
    fb_buf_clear(&stats);
    return code;
}

/* The name of the file that the engine says it wrote, which must be one of ours. */
static fb_code read_name(fb_delta *table, fb_cell cell, char name[FB_MAX_NAME],
                         fb_error *err)
{
    fb_code     code = FB_OK;
    char        path[FB_MAX_PATH];
    const char *last = memrchr(cell.data, '/', cell.size);
    size_t      size = last ? (size_t)(cell.data + cell.size - last) - 1 : 0;
    if (size == 0 || size >= FB_MAX_NAME)
        return fb_fail(err, S004, "the query engine wrote a file of another name");
    memcpy(name, last + 1, size);
    name[size] = '\0';
    FB_TRY(table->store->ops->locate(table->store, name, false, path, err));
    if (!cell_is(cell, path))
        code = fb_fail(err, S004, "the query engine wrote a file \"%s\" elsewhere", name);
out:
    return code;
}

static fb_code take_row(fb_delta *table, const fb_schema *schema, duckdb_data_chunk chunk,
                        idx_t row, fb_delta_add *out, fb_error *err)
{
    fb_code          code = FB_OK;
    fb_error         ignored;
    fb_stats_input   input = {0};
    fb_column_stats *columns = NULL;
    duckdb_vector    vectors[COPY_COLUMNS];
    for (idx_t i = 0; i < COPY_COLUMNS; i++)
        vectors[i] = duckdb_data_chunk_get_vector(chunk, i);
    input.rows = out->rows = ((int64_t *)duckdb_vector_get_data(vectors[COUNT]))[row];
    int64_t size_bytes = ((int64_t *)duckdb_vector_get_data(vectors[SIZE_BYTES]))[row];

    FB_TRY(read_name(table, fb_vector_text(vectors[FILENAME], row), out->path, err));
    if (out->rows == 0) {
        (void)table->store->ops->remove(table->store, out->path,
                                        &ignored); // an orphan else
        goto out;
    }
    FB_TRY(verify(table, out->path, size_bytes, out, err));
    FB_TRY(read_columns(vectors[STATISTICS], row, &input, &columns, err));
    FB_TRY(describe(table, schema, &input, out, err));
out:
    fb_map_clear(&input.paths);
    fb_map_clear(&input.doubtful);
    fb_free(columns);
    return code;
}

static fb_code add_room(fb_delta_adds *adds, fb_error *err)
{
    if (adds->count < adds->room) return FB_OK;
    size_t        room = adds->room ? adds->room * 2 : 4;
    fb_delta_add *items = fb_realloc(adds->items, room * sizeof *items);
    if (!items) return fb_fail_memory(err, "the files of a commit");
    adds->items = items;
    adds->room = room;
    return FB_OK;
}

fb_code fb_delta_adds_from_copy(fb_delta *table, const fb_schema *schema,
                                duckdb_result *result, fb_delta_adds *adds, fb_error *err)
{
    fb_code           code = FB_OK;
    duckdb_data_chunk chunk = NULL;
    if (duckdb_column_count(result) < COPY_COLUMNS)
        return fb_fail(err, Z001, "this is not the result of a COPY with RETURN_STATS");
    while (code == FB_OK && (chunk = duckdb_fetch_chunk(*result))) {
        for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk) && code == FB_OK;
             row++) {
            fb_delta_add add = {0};
            code = add_room(adds, err);
            if (code == FB_OK) code = take_row(table, schema, chunk, row, &add, err);
            if (code == FB_OK && add.rows > 0)
                adds->items[adds->count++] = add;
            else
                fb_free(add.stats);
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    return code;
}
