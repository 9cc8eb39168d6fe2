/* delta_checkpoint.c - one Parquet file that says what all versions up to it say.
 *
 * PROTOCOL.md, "V1 Checkpoint": one row per action, the columns txn, add, remove,
 * metaData, protocol, domainMetadata.  Losing any of them here would corrupt the table
 * for others, so the file is read back and counted before it gets its name.
 *
 *   make      fb_lake_files (the files) and fb_lake_kept (all else) in the query engine
 *   copy      into a temporary file of the log folder; count it; sync it
 *   rename    to <version>.checkpoint.parquet: readers see it whole or not at all
 *   hint      _last_checkpoint last, so that it never names what is not there
 *
 * A kill anywhere leaves a table as good as before: the commits still say it all.
 */
#include "base/alloc.h"
#include "base/json_memory.h"
#include "base/step.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/delta_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_INTERVAL = 1000000, TURN_MS = 60 * 1000 };

#define TOMBSTONES_KEPT_MS (7 * FB_MS_PER_DAY)

/* One kept action of each kind as from_json() has it, in the order of the columns. */
#define TXN_JSON                                                                         \
    "{\"appId\":\"VARCHAR\",\"version\":\"BIGINT\",\"lastUpdated\":\"BIGINT\"}"
#define META_JSON                                                                        \
    "{\"id\":\"VARCHAR\",\"name\":\"VARCHAR\",\"description\":\"VARCHAR\",\"format\":"   \
    "{\"provider\":\"VARCHAR\",\"options\":\"MAP(VARCHAR,VARCHAR)\"},\"schemaString\":"  \
    "\"VARCHAR\",\"partitionColumns\":[\"VARCHAR\"],\"configuration\":"                  \
    "\"MAP(VARCHAR,VARCHAR)\",\"createdTime\":\"BIGINT\"}"
#define PROTOCOL_JSON                                                                    \
    "{\"minReaderVersion\":\"INTEGER\",\"minWriterVersion\":\"INTEGER\","                \
    "\"readerFeatures\":[\"VARCHAR\"],\"writerFeatures\":[\"VARCHAR\"]}"
#define DOMAIN_JSON                                                                      \
    "{\"domain\":\"VARCHAR\",\"configuration\":\"VARCHAR\",\"removed\":\"BOOLEAN\"}"
#define KEPT_SQL(action, json)                                                           \
    "CASE WHEN action = '" action "' THEN from_json(body, '" json "') END AS \"" action  \
    "\""

/* --- what is not files -------------------------------------------------------------- */

static bool keep(duckdb_appender to, const char *action, const char *body, size_t size)
{
    return body && duckdb_append_varchar(to, action) == DuckDBSuccess &&
           duckdb_append_varchar_length(to, body, size) == DuckDBSuccess &&
           duckdb_appender_end_row(to) == DuckDBSuccess;
}

static bool keep_json(duckdb_appender to, const char *action, yyjson_val *body)
{
    size_t size = 0;
    char  *text = fb_json_write(body, &size);
    bool   ok = keep(to, action, text, size);
    fb_free(text);
    return ok;
}

static bool keep_maps(duckdb_appender to, const fb_delta_state *state, fb_buf *body)
{
    bool ok = true;
    for (size_t i = 0; i < state->txns.count && ok; i++) {
        const fb_map_entry *txn = &state->txns.entries[i];
        fb_buf_reset(body);
        fb_buf_add_text(body, "{\"appId\":");
        fb_buf_add_json_text(body, txn->key);
        fb_buf_printf(body, ",\"version\":%" PRId64, txn->number);
        if (txn->time >= 0) fb_buf_printf(body, ",\"lastUpdated\":%" PRId64, txn->time);
        fb_buf_add_char(body, '}');
        ok = keep(to, "txn", body->data, body->size);
    }
    for (size_t i = 0; i < state->domains.count && ok; i++) {
        const fb_map_entry *domain = &state->domains.entries[i];
        if (domain->is_gone) continue;
        fb_buf_reset(body);
        fb_buf_add_text(body, "{\"domain\":");
        fb_buf_add_json_text(body, domain->key);
        fb_buf_add_text(body, ",\"configuration\":");
        fb_buf_add_json_text(body, domain->text ? domain->text : "");
        fb_buf_add_text(body, ",\"removed\":false}");
        ok = keep(to, "domainMetadata", body->data, body->size);
    }
    return ok && body->failed == FB_R_NONE;
}

static fb_code make_kept(fb_delta *table, fb_error *err)
{
    fb_code         code = FB_OK;
    fb_buf          body;
    duckdb_appender to = NULL;
    fb_buf_init(&body, FB_MAX_LOG_BYTES);
    FB_TRY(fb_engine_exec(table->engine,
                          "DROP TABLE IF EXISTS temp.fb_lake_kept;"
                          "CREATE TEMP TABLE fb_lake_kept(action VARCHAR, body VARCHAR)",
                          err));
    if (duckdb_appender_create_ext(fb_engine_connection(table->engine), "temp", "main",
                                   "fb_lake_kept", &to) != DuckDBSuccess ||
        !keep_json(to, "protocol", fb_delta_state_protocol(&table->state)) ||
        !keep_json(to, "metaData", fb_delta_state_meta(&table->state)) ||
        !keep_maps(to, &table->state, &body) ||
        duckdb_appender_close(to) != DuckDBSuccess)
        code =
            fb_fail(err, Q003, "the query engine did not take the rows of a checkpoint");
out:
    if (to) duckdb_appender_destroy(&to);
    fb_buf_clear(&body);
    return code;
}

/* --- the file ----------------------------------------------------------------------- */

static int64_t tombstone_cutoff(const fb_delta *table)
{
    int64_t     kept_ms = TOMBSTONES_KEPT_MS;
    const char *text = fb_delta_property(table, "delta.deletedFileRetentionDuration");
    if (text && !fb_delta_interval_ms(text, &kept_ms)) kept_ms = TOMBSTONES_KEPT_MS;
    return fb_now_us() / 1000 - kept_ms;
}

static fb_code copy_rows(fb_delta *table, const char *temp, fb_error *err)
{
    static const char *const rows_sql[] = {
        "SELECT " KEPT_SQL("txn", TXN_JSON) ", NULL AS \"add\", NULL AS \"remove\", ",
        KEPT_SQL("metaData", META_JSON) ", " KEPT_SQL("protocol", PROTOCOL_JSON) ", ",
        KEPT_SQL("domainMetadata", DOMAIN_JSON) " FROM temp.fb_lake_kept",
        " UNION ALL SELECT NULL, struct_update(\"add\", \"dataChange\" := false), NULL,",
        " NULL, NULL, NULL FROM temp.fb_lake_files WHERE \"add\" IS NOT NULL",
        " UNION ALL SELECT NULL, NULL,",
        " struct_update(\"remove\", \"dataChange\" := false),",
        " NULL, NULL, NULL FROM temp.fb_lake_files WHERE \"remove\" IS NOT NULL"};
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    fb_buf  sql;
    fb_buf_init(&sql, FB_SQL_BYTES);
    FB_TRY(table->store->ops->locate(table->store, temp, true, path, err));
    fb_buf_add_text(&sql, "COPY (");
    for (size_t i = 0; i < sizeof rows_sql / sizeof *rows_sql; i++)
        fb_buf_add_text(&sql, rows_sql[i]);
    fb_buf_add_text(&sql, ") TO ");
    fb_sql_add_text(&sql, path);
    fb_buf_add_text(&sql, " (FORMAT parquet, COMPRESSION snappy)");
    FB_TRY(fb_buf_check(&sql, "a query", err));
    FB_TRY(fb_engine_exec(table->engine, sql.data, err));
out:
    fb_buf_clear(&sql);
    return code;
}

/* Is all of it in the file: so many rows, so many adds? */
static fb_code verify(fb_delta *table, const char *temp, int64_t rows, int64_t adds,
                      fb_error *err)
{
    fb_code code = FB_OK;
    int64_t is_whole = 0;
    fb_buf  sql;
    fb_buf_init(&sql, FB_SQL_BYTES);
    fb_buf_printf(&sql,
                  "SELECT (count(*) = %" PRId64 " AND count(\"add\".path) = %" PRId64
                  " AND count(protocol.\"minWriterVersion\") = 1"
                  " AND count(\"metaData\".\"schemaString\") = 1"
                  " AND count(txn.\"appId\") = %zu)::BIGINT FROM ",
                  rows, adds, table->state.txns.count);
    FB_TRY(fb_delta_sql_file(table, "read_parquet", temp, &sql, err));
    FB_TRY(fb_buf_check(&sql, "a query", err));
    FB_TRY(fb_delta_query_int(table, sql.data, &is_whole, err));
    if (!is_whole)
        code = fb_fail(err, S004,
                       "the checkpoint of version %" PRId64 " was not written whole",
                       table->state.version);
out:
    fb_buf_clear(&sql);
    return code;
}

/* Say where the newest checkpoint is, unless a newer one is named there already. */
static fb_code write_hint(fb_delta *table, int64_t rows, int64_t adds, int64_t size_bytes,
                          fb_error *err)
{
    fb_code  code = FB_OK;
    fb_error ignored;
    fb_buf   text;
    fb_buf_init(&text, FB_MAX_CONFIG_BYTES);
    if (table->store->ops->get(table->store, FB_LOG_FOLDER "/_last_checkpoint", &text,
                               &ignored) == FB_OK) {
        yyjson_doc *doc = fb_json_read(fb_buf_text(&text), text.size, 0);
        int64_t     named = fb_json_int(yyjson_doc_get_root(doc), "version", -1);
        yyjson_doc_free(doc);
        if (named > table->state.version) goto out;
    }
    fb_buf_reset(&text);
    fb_buf_printf(&text,
                  "{\"version\":%" PRId64 ",\"size\":%" PRId64 ",\"sizeInBytes\":%" PRId64
                  ",\"numOfAddFiles\":%" PRId64 "}",
                  table->state.version, rows, size_bytes, adds);
    FB_TRY(fb_buf_check(&text, "_last_checkpoint", err));
    FB_TRY(table->store->ops->put(table->store, FB_LOG_FOLDER "/_last_checkpoint",
                                  text.data, text.size, err));
    FB_TRY(fb_step_try("delta.checkpoint.last", err));
out:
    fb_buf_clear(&text);
    return code;
}

static fb_code drop_expired(fb_delta *table, fb_error *err)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "DELETE FROM temp.fb_lake_files WHERE \"add\" IS NULL AND "
             "coalesce(\"remove\".\"deletionTimestamp\", 0) <= %" PRId64,
             tombstone_cutoff(table));
    return fb_engine_exec(table->engine, sql, err);
}

static fb_code write_checkpoint(fb_delta *table, fb_error *err)
{
    fb_code   code = FB_OK;
    fb_store *store = table->store;
    fb_uuid   id = fb_uuid_v4();
    char      temp[FB_LOG_KEY], key[FB_LOG_KEY];
    int64_t   rows, adds, kept, size_bytes, modified_ms;
    snprintf(temp, sizeof temp, FB_LOG_FOLDER "/.forebay-%s.tmp", id.text);
    snprintf(key, sizeof key, FB_LOG_FOLDER "/%020" PRId64 ".checkpoint.parquet",
             table->state.version);

    FB_TRY(fb_delta_files_make(table, true, err));
    FB_TRY(drop_expired(table, err));
    FB_TRY(make_kept(table, err));
    FB_TRY(
        fb_delta_query_int(table, "SELECT count(*) FROM temp.fb_lake_files", &rows, err));
    FB_TRY(fb_delta_query_int(table, "SELECT count(\"add\") FROM temp.fb_lake_files",
                              &adds, err));
    FB_TRY(
        fb_delta_query_int(table, "SELECT count(*) FROM temp.fb_lake_kept", &kept, err));
    rows += kept;
    FB_TRY(copy_rows(table, temp, err));
    FB_TRY(fb_step_try("delta.checkpoint.temp", err));
    FB_TRY(verify(table, temp, rows, adds, err));
    FB_TRY(store->ops->size(store, temp, &size_bytes, &modified_ms, err));
    FB_TRY(store->ops->settle(store, temp, err));
    FB_TRY(store->ops->move(store, temp, key, err));
    FB_TRY(fb_step_try("delta.checkpoint.renamed", err));
    table->checkpoint = table->state.version;
    FB_TRY(write_hint(table, rows, adds, size_bytes, err));
out:
    if (code != FB_OK) {
        fb_error ignored;
        (void)store->ops->remove(store, temp, &ignored); // it may not be there yet
    }
    fb_delta_files_drop(table);
    return code;
}

/* --- when --------------------------------------------------------------------------- */

/* Of many writers one makes the checkpoint that follows the last: the one that creates
 * this file, which is in the way of the others for a minute at most. Two checkpoints do
 * no harm but cost. */
static fb_code take_turn(fb_delta *table, const char *key, bool *is_ours, fb_error *err)
{
    fb_store *store = table->store;
    fb_error  ignored;
    int64_t   size, modified_ms;
    fb_code   code = store->ops->put_new(store, key, "", 0, err);
    *is_ours = code == FB_OK || code == FB_EUNKNOWN;
    if (code != FB_ECONFLICT) return *is_ours ? FB_OK : code;
    if (store->ops->size(store, key, &size, &modified_ms, &ignored) == FB_OK &&
        modified_ms < fb_now_us() / 1000 - TURN_MS)
        (void)store->ops->remove(store, key, &ignored); // the next call takes the turn
    return FB_OK;
}

typedef struct leftovers {
    fb_delta *table;
    int64_t   before_ms;
} leftovers;

/* A temporary file of ours that a kill has left, a day old: nobody waits for it. */
static fb_code remove_leftover(void *context, const char *name, fb_error *err)
{
    const leftovers *l = context;
    fb_store        *store = l->table->store;
    char             key[FB_MAX_PATH];
    int64_t          size, modified_ms;
    if (strncmp(name, ".forebay-", 9) != 0 || !fb_text_ends_with(name, ".tmp"))
        return FB_OK;
    snprintf(key, sizeof key, FB_LOG_FOLDER "/%s", name);
    if (store->ops->size(store, key, &size, &modified_ms, err) != FB_OK) return FB_OK;
    return modified_ms < l->before_ms ? store->ops->remove(store, key, err) : FB_OK;
}

static bool is_due(const fb_delta *table)
{
    int64_t     interval = FB_DELTA_CHECKPOINT_INTERVAL;
    int64_t     last = table->checkpoint > 0 ? table->checkpoint : 0;
    const char *text = fb_delta_property(table, "delta.checkpointInterval");
    if (text &&
        (!fb_text_int64(text, &interval) || interval < 1 || interval > MAX_INTERVAL))
        interval = FB_DELTA_CHECKPOINT_INTERVAL;
    return table->state.version - last >= interval;
}

fb_code fb_delta_checkpoint_if_due(fb_delta *table, bool *wrote, fb_error *err)
{
    fb_code        code = FB_OK;
    fb_log_listing listing;
    leftovers      old = {table, fb_now_us() / 1000 - FB_MS_PER_DAY};
    char           turn[FB_LOG_KEY];
    bool           is_ours = false;
    fb_error       ignored;
    if (wrote) *wrote = false;
    if (!fb_delta_exists(table) || !is_due(table)) return FB_OK;
    fb_log_listing_init(&listing);
    FB_TRY(fb_log_list(table->store, 0, &listing, err));
    const fb_checkpoint_name *newest = fb_log_pick_checkpoint(&listing, INT64_MAX);
    if (newest && newest->version > table->checkpoint)
        table->checkpoint = newest->version;
    if (!is_due(table)) goto out;
    snprintf(turn, sizeof turn, FB_LOG_FOLDER "/.forebay-after-%020" PRId64 ".tmp",
             table->checkpoint > 0 ? table->checkpoint : 0);
    FB_TRY(take_turn(table, turn, &is_ours, err));
    if (!is_ours) goto out;
    FB_TRY(write_checkpoint(table, err));
    if (wrote) *wrote = true;
    FB_TRY(table->store->ops->list(table->store, FB_LOG_FOLDER, ".forebay",
                                   remove_leftover, &old, err));
out:
    if (is_ours) (void)table->store->ops->remove(table->store, turn, &ignored);
    fb_log_listing_clear(&listing);
    if (code != FB_OK) fb_error_at(err, "%s", table->name);
    return code;
}
