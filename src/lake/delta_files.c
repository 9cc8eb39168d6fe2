/* delta_files.c - which data files are live: a part of a snapshot, made on demand.
 *
 * The way to the table fb_lake_files, all inside the query engine, which may spill:
 *   base      the newest checkpoint at or below the snapshot, read where it lies
 *   actions   add and remove of the commits behind it, as JSON, fed by an appender
 *   newest    of each file (path and deletion vector) the newest action counts; what the
 *             base says of such a file does not
 * PROTOCOL.md, "Action Reconciliation". Within one commit no file is named twice.
 */
#include "base/alloc.h"
#include "base/json_memory.h"
#include "lake/delta_schema.h"
#include "lake/delta_table.h"

#include <inttypes.h>
#include <string.h>

enum { PATHS_BYTES = 1 << 30 };

/* The structs as the engine's from_json() has them; no other members are carried over. */
#define DV_JSON                                                                          \
    "\"deletionVector\":{\"storageType\":\"VARCHAR\",\"pathOrInlineDv\":\"VARCHAR\","    \
    "\"offset\":\"INTEGER\",\"sizeInBytes\":\"INTEGER\",\"cardinality\":\"BIGINT\","     \
    "\"maxRowIndex\":\"BIGINT\"},"
#define IDS_JSON "\"baseRowId\":\"BIGINT\",\"defaultRowCommitVersion\":\"BIGINT\""
#define ADD_JSON                                                                         \
    "{\"path\":\"VARCHAR\",\"partitionValues\":\"MAP(VARCHAR,VARCHAR)\","                \
    "\"size\":\"BIGINT\",\"modificationTime\":\"BIGINT\",\"dataChange\":\"BOOLEAN\","    \
    "\"stats\":\"VARCHAR\",\"tags\":\"MAP(VARCHAR,VARCHAR)\"," DV_JSON IDS_JSON          \
    ",\"clusteringProvider\":\"VARCHAR\"}"
#define REMOVE_JSON                                                                      \
    "{\"path\":\"VARCHAR\",\"deletionTimestamp\":\"BIGINT\",\"dataChange\":\"BOOLEAN\"," \
    "\"extendedFileMetadata\":\"BOOLEAN\",\"partitionValues\":\"MAP(VARCHAR,VARCHAR)\"," \
    "\"size\":\"BIGINT\"," DV_JSON IDS_JSON "}"

/* What makes a file the same: its path, where file:/a, file:///a and /a are one, and its
 * deletion vector. `f` is an add or a remove. */
#define KEY_SQL(f)                                                                       \
    "regexp_replace(" f ".path, '^file:(//)?/', '/') || chr(0) || coalesce(" f           \
    ".deletionVector.storageType || " f                                                  \
    ".deletionVector.pathOrInlineDv || coalesce('@' "                                    \
    "|| " f ".deletionVector.\"offset\", ''), '')"

#define DROP_ALL                                                                         \
    "DROP TABLE IF EXISTS temp.fb_lake_actions; DROP TABLE IF EXISTS "                   \
    "temp.fb_lake_newest;"                                                               \
    "DROP TABLE IF EXISTS temp.fb_lake_files; DROP TABLE IF EXISTS temp.fb_lake_kept"

void fb_delta_files_drop(fb_delta *table)
{
    fb_error ignored; // the next call makes them anew whether this works or not
    if (fb_engine_exec(table->engine, DROP_ALL, &ignored) != FB_OK) return;
}

/* --- actions of commits ------------------------------------------------------------- */

typedef struct feed {
    duckdb_appender appender;
    int64_t         version;
} feed;

static fb_code feed_action(void *context, const char *action, yyjson_val *body,
                           fb_error *err)
{
    feed  *to = context;
    size_t size;
    bool   is_add = strcmp(action, "add") == 0;
    if (!is_add && strcmp(action, "remove") != 0) return FB_OK;
    char *text = fb_json_write(body, &size);
    if (!text) return fb_fail_memory(err, "the actions of a table's log");
    bool ok = duckdb_append_int64(to->appender, to->version) == DuckDBSuccess &&
              duckdb_append_bool(to->appender, is_add) == DuckDBSuccess &&
              duckdb_append_varchar_length(to->appender, text, size) == DuckDBSuccess &&
              duckdb_appender_end_row(to->appender) == DuckDBSuccess;
    fb_free(text);
    return ok ? FB_OK
              : fb_fail(err, Q003, "the query engine took no more actions of a log");
}

static fb_code feed_all(fb_delta *table, const fb_checkpoint *base, fb_error *err)
{
    fb_code           code = FB_OK;
    feed              to = {NULL, base->version};
    char              key[FB_LOG_KEY];
    duckdb_connection connection = fb_engine_connection(table->engine);
    if (duckdb_appender_create_ext(connection, "temp", "main", "fb_lake_actions",
                                   &to.appender) != DuckDBSuccess)
        FB_TRY(fb_fail(err, Q001, "%s", duckdb_appender_error(to.appender)));
    if (base->json) FB_TRY(fb_delta_walk(table, base->json, feed_action, &to, err));
    for (to.version = base->version + 1; to.version <= table->state.version; to.version++)
        FB_TRY(fb_delta_walk(table, fb_log_commit_key(to.version, key), feed_action, &to,
                             err));
    if (duckdb_appender_close(to.appender) != DuckDBSuccess)
        FB_TRY(fb_fail(err, Q003, "%s", duckdb_appender_error(to.appender)));
out:
    duckdb_appender_destroy(&to.appender);
    return code;
}

/* --- the base ----------------------------------------------------------------------- */

/* What a checkpoint's file has of adds: not there, without and with statistics as JSON,
 * or with statistics as a struct only. */
typedef struct file_shape {
    bool has_add, has_remove, has_stats, has_parsed, has_odd_bounds;
} file_shape;

static bool cell_has(fb_cell cell, const char *text)
{
    return memmem(cell.data, cell.size, text, strlen(text)) != NULL;
}

/* A row of DESCRIBE. */
static fb_code read_shape(void *context, duckdb_data_chunk chunk, idx_t row,
                          fb_error *err)
{
    file_shape *shape = context;
    fb_cell     name = fb_row_text(chunk, 0, row), type = fb_row_text(chunk, 1, row);
    (void)err;
    if (name.size == 6 && memcmp(name.data, "remove", 6) == 0) shape->has_remove = true;
    if (name.size != 3 || memcmp(name.data, "add", 3) != 0) return FB_OK;
    shape->has_add = true;
    shape->has_stats = cell_has(type, " stats VARCHAR");
    shape->has_parsed = cell_has(type, "stats_parsed STRUCT(numRecords ");
    shape->has_odd_bounds = cell_has(type, " TIMESTAMP") || cell_has(type, " DOUBLE") ||
                            cell_has(type, " FLOAT") || cell_has(type, " BLOB");
    return FB_OK;
}

/* The add as it is; where its statistics are a struct only, they become JSON. Bounds that
 * JSON would have in another form than Delta's are left out, which is lawful. */
static void add_expression(const file_shape *shape, fb_buf *sql)
{
    if (!shape->has_parsed) {
        fb_buf_add_text(sql, "\"add\"");
        return;
    }
    fb_buf_printf(sql, "struct_update(\"add\", stats := coalesce(%s, %s))",
                  shape->has_stats ? "\"add\".stats" : "NULL::VARCHAR",
                  shape->has_odd_bounds
                      ? "to_json({numRecords: \"add\".stats_parsed.numRecords})::VARCHAR"
                      : "to_json(\"add\".stats_parsed)::VARCHAR");
}

static fb_code insert_base(fb_delta *table, const char *key, bool with_tombstones,
                           fb_error *err)
{
    fb_code    code = FB_OK;
    file_shape shape = {0};
    fb_buf     sql;
    fb_buf_init(&sql, FB_SQL_BYTES);
    fb_buf_add_text(&sql, "DESCRIBE SELECT * FROM ");
    FB_TRY(fb_delta_sql_file(table, "read_parquet", key, &sql, err));
    FB_TRY(fb_delta_each_row(table, &sql, read_shape, &shape, err));
    for (int removes = 0; removes < 2; removes++) {
        const char *f = removes ? "remove" : "add";
        if (removes ? !shape.has_remove || !with_tombstones : !shape.has_add) continue;
        fb_buf_reset(&sql);
        fb_buf_add_text(&sql, "INSERT INTO temp.fb_lake_files BY NAME SELECT ");
        if (removes)
            fb_buf_add_text(&sql, "\"remove\"");
        else
            add_expression(&shape, &sql);
        fb_buf_printf(&sql, " AS \"%s\" FROM ", f);
        FB_TRY(fb_delta_sql_file(table, "read_parquet", key, &sql, err));
        fb_buf_printf(&sql, " WHERE \"%s\" IS NOT NULL", f);
        FB_TRY(fb_buf_check(&sql, "a query", err));
        FB_TRY(fb_engine_exec(table->engine, sql.data, err));
    }
out:
    fb_buf_clear(&sql);
    return code;
}

fb_code fb_delta_files_make(fb_delta *table, bool with_tombstones, fb_error *err)
{
    static const char make_sql[] = DROP_ALL
        "; CREATE TEMP TABLE fb_lake_actions(version BIGINT, is_add BOOLEAN, body "
        "VARCHAR);"
        "CREATE TEMP TABLE fb_lake_files AS SELECT from_json(x, '" ADD_JSON
        "') AS \"add\","
        " from_json(x, '" REMOVE_JSON "') AS \"remove\" FROM (SELECT '{}' AS x) LIMIT 0";
    static const char newest_sql[] =
        "CREATE TEMP TABLE fb_lake_newest AS SELECT *, CASE WHEN is_add THEN " KEY_SQL(
            "a") " ELSE " KEY_SQL("r") " END AS key FROM (SELECT version, is_add,"
                                       " CASE WHEN is_add THEN from_json(body, '" ADD_JSON
                                       "') END AS a,"
                                       " CASE WHEN NOT is_add THEN from_json(body, "
                                       "'" REMOVE_JSON "') END AS r"
                                       " FROM temp.fb_lake_actions)"
                                       " QUALIFY row_number() OVER (PARTITION BY key "
                                       "ORDER BY version DESC, is_add DESC) = 1;"
                                       "DELETE FROM temp.fb_lake_files WHERE "
                                       "coalesce(" KEY_SQL("\"add\"") ", " KEY_SQL(
                                           "\"remove\"") ") IN (SELECT key FROM "
                                                         "temp.fb_lake_newest);"
                                                         "INSERT INTO temp.fb_lake_files "
                                                         "SELECT a, r FROM "
                                                         "temp.fb_lake_newest";
    fb_code        code = FB_OK;
    fb_log_listing listing;
    fb_checkpoint  base;
    fb_delta_batch batch;
    fb_log_listing_init(&listing);
    fb_checkpoint_init(&base);
    fb_delta_batch_init(&batch, "a checkpoint");

    FB_TRY(fb_log_list(table->store, 0, &listing, err));
    FB_TRY(
        fb_checkpoint_newest(table, &listing, table->state.version, &base, &batch, err));
    FB_TRY(fb_engine_exec(table->engine, make_sql, err));
    for (size_t i = 0; i < base.count; i++)
        FB_TRY(insert_base(table, base.parquet[i], with_tombstones, err));
    FB_TRY(feed_all(table, &base, err));
    FB_TRY(fb_engine_exec(table->engine, newest_sql, err));
    if (!with_tombstones)
        FB_TRY(fb_engine_exec(
            table->engine, "DELETE FROM temp.fb_lake_files WHERE \"add\" IS NULL", err));
out:
    fb_delta_batch_clear(&batch);
    fb_checkpoint_clear(&base);
    fb_log_listing_clear(&listing);
    if (code != FB_OK) {
        fb_error_at(err, "%s", table->name);
        fb_delta_files_drop(table);
    }
    return code;
}

fb_code fb_delta_has_files(fb_delta *table, bool *out, fb_error *err)
{
    fb_code code = FB_OK;
    int64_t count = 0;
    *out = false;
    if (!fb_delta_exists(table)) return FB_OK;
    FB_TRY(fb_delta_files_make(table, false, err));
    FB_TRY(fb_delta_query_int(table, "SELECT count(*) FROM temp.fb_lake_files", &count,
                              err));
    *out = count > 0;
out:
    fb_delta_files_drop(table);
    return code;
}

/* --- the list for readers ----------------------------------------------------------- */

void fb_delta_files_init(fb_delta_files *files)
{
    *files = (fb_delta_files){0};
    fb_arena_init(&files->arena, PATHS_BYTES);
}

void fb_delta_files_clear(fb_delta_files *files)
{
    fb_arena_clear(&files->arena);
    fb_free(files->paths);
    fb_delta_files_init(files);
}

static bool is_left_out(const fb_column *c) { return c->type.kind == FB_KIND_VOID; }

/* Are the table's rows just those of its files, column by column? */
static fb_code check_readable(fb_delta *table, fb_error *err)
{
    int64_t     vectors;
    fb_code     code = FB_OK;
    const char *mode = fb_delta_property(table, "delta.columnMapping.mode");
    if (mode && strcmp(mode, "none") != 0)
        return fb_fail(err, P018,
                       "the table has the feature \"columnMapping\": its files call the "
                       "columns by other names");
    if (table->state.partitions_count > 0)
        return fb_fail(err, P018,
                       "the table is partitioned: its files lack the column \"%s\"",
                       table->state.partitions[0]);
    if (fb_delta_schema_any(table->state.schema.columns, table->state.schema.count,
                            is_left_out))
        return fb_fail(err, P018, "the table has a column of type variant or void");
    FB_TRY(fb_delta_query_int(table,
                              "SELECT count(*) FROM temp.fb_lake_files WHERE "
                              "\"add\".deletionVector.storageType IS NOT NULL",
                              &vectors, err));
    if (vectors > 0)
        code = fb_fail(err, P018,
                       "the table has the feature \"deletionVectors\", and %" PRId64
                       " of its files have rows that were deleted",
                       vectors);
out:
    return code;
}

typedef struct lister {
    fb_delta       *table;
    fb_delta_files *out;
    size_t          room;
} lister;

static fb_code add_path(lister *l, const char *path, fb_error *err)
{
    fb_delta_files *out = l->out;
    if (out->count == l->room) {
        size_t       room = l->room ? l->room * 2 : 256;
        const char **moved = fb_realloc(out->paths, room * sizeof(*moved));
        if (!moved) return fb_fail_memory(err, "the files of a table");
        out->paths = moved;
        l->room = room;
    }
    out->paths[out->count] = fb_arena_strndup(&out->arena, path, strlen(path));
    if (!out->paths[out->count]) return fb_fail_memory(err, "the files of a table");
    out->count++;
    return FB_OK;
}

/* The path of an add is URI-encoded, and below the table's folder or nowhere. */
static fb_code list_row(void *context, duckdb_data_chunk chunk, idx_t row, fb_error *err)
{
    fb_code code = FB_OK;
    lister *l = context;
    fb_cell path = fb_row_text(chunk, 0, row);
    char    text[FB_MAX_PATH], key[FB_MAX_PATH], full[FB_MAX_PATH];
    if (path.size >= sizeof text || memchr(path.data, '\0', path.size))
        return fb_fail(err, P017, "the log names a file by %zu bytes", path.size);
    memcpy(text, path.data, path.size);
    text[path.size] = '\0';
    if (!fb_uri_decode(text, key, sizeof key) || strstr(key, ":/") ||
        !fb_store_key_is_safe(key))
        return fb_fail(err, P017,
                       "the log names the file \"%.200s\", which is not below the "
                       "table's folder",
                       text);
    FB_TRY(l->table->store->ops->locate(l->table->store, key, false, full, err));
    FB_TRY(add_path(l, full, err));
    l->out->size_bytes += fb_row_int(chunk, 1, row);
out:
    return code;
}

fb_code fb_delta_files_list(fb_delta *table, fb_delta_files *out, fb_error *err)
{
    fb_code code = FB_OK;
    lister  l = {table, out, out->count};
    fb_buf  sql;
    if (!fb_delta_exists(table)) return FB_OK;
    fb_buf_init(&sql, FB_SQL_BYTES);
    fb_buf_add_text(&sql, "SELECT \"add\".path, \"add\".size FROM temp.fb_lake_files "
                          "ORDER BY \"add\".\"modificationTime\", \"add\".path");
    FB_TRY(fb_delta_files_make(table, false, err));
    FB_TRY(check_readable(table, err));
    FB_TRY(fb_delta_each_row(table, &sql, list_row, &l, err));
out:
    fb_buf_clear(&sql);
    fb_delta_files_drop(table);
    if (code != FB_OK) fb_error_at(err, "%s", table->name);
    return code;
}
