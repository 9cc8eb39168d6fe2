/* delta_commit.c - one more version of a table: rows and positions at once, or nothing.
 *
 * The way of a commit, once for every version that is tried:
 *   read      the versions that came since; the first time, too
 *   judge     gate and columns, and the positions: each must be what the caller expects
 *   write     the lines: commitInfo, (protocol, metaData,) txn, domainMetadata, add
 *   claim     <version>.json is created where none may be before
 *   settle    a lost answer, or a version that was taken: its txnId says whose it is
 *
 * What holds at every moment, so that a kill anywhere loses nothing and doubles nothing:
 *   1. A reader sees a version whole or not at all: the claim is one step of the store.
 *   2. Rows and positions are in the same claim.
 *   3. A data file is synced before any version names it (delta_add.c).
 *   4. The next version is tried only when this one is known to be another writer's.
 *   5. Nothing is claimed on positions that are not those of the version before it.
 */
#include "base/json_memory.h"
#include "base/step.h"
#include "base/time.h"
#include "lake/delta_schema.h"
#include "lake/delta_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { READ_BACKS = 5, READ_BACK_WAIT_MS = 200, LEAST_WAIT_MS = 10, MOST_WAIT_MS = 500 };

#define ENGINE_INFO "forebay/0.1.0"

typedef struct attempt {
    fb_delta              *table;
    const fb_delta_commit *commit;
    fb_delta_result       *result;
    int64_t                version; ///< the one that is tried
    fb_buf                 body;
    char                   key[FB_LOG_KEY];
} attempt;

/* --- judging ------------------------------------------------------------------------ */

static fb_code check_positions(const attempt *a, fb_error *err)
{
    for (size_t i = 0; i < a->commit->txns_count; i++) {
        const fb_delta_txn *txn = &a->commit->txns[i];
        const char         *label = txn->label ? txn->label : txn->app_id;
        int64_t             now = -1;
        bool                has = fb_delta_txn_find(a->table, txn->app_id, &now, NULL);
        if (has ? now == txn->expected : txn->expected < 0) continue;
        if (!has)
            return fb_fail(err, P020,
                           "%s has no position in the table, and %" PRId64 " was "
                           "expected",
                           label, txn->expected);
        return fb_fail(err, P020,
                       "%s was committed by another writer up to offset %" PRId64, label,
                       now);
    }
    return FB_OK;
}

/* A NOT NULL column that the rows may leave null: the statistics must show none. */
static fb_code check_nulls(const attempt *a, const char *column, fb_error *err)
{
    for (size_t i = 0; i < a->commit->adds->count; i++) {
        const char *stats = a->commit->adds->items[i].stats;
        yyjson_doc *doc = fb_json_read(stats, strlen(stats), 0);
        yyjson_val *counts = yyjson_obj_get(yyjson_doc_get_root(doc), "nullCount");
        int64_t     nulls = fb_json_int(counts, column, -1);
        yyjson_doc_free(doc);
        if (nulls == 0) continue;
        if (nulls > 0)
            return fb_fail(err, P013,
                           "column \"%s\" is NOT NULL in the table, and %" PRId64
                           " rows have no value",
                           column, nulls);
        return fb_fail(err, P013,
                       "column \"%s\" is NOT NULL in the table, and whether all rows "
                       "have a value is not known",
                       column);
    }
    return FB_OK;
}

static fb_code check_table(const attempt *a, fb_error *err)
{
    fb_code               code = FB_OK;
    const fb_delta_state *state = &a->table->state;
    const fb_schema      *rows = a->commit->schema;
    bool                  has_adds = a->commit->adds && a->commit->adds->count > 0;
    if (state->version < 0) {
        fb_assert(rows != NULL);
        return fb_delta_schema_check_new(rows, err);
    }
    FB_TRY(fb_gate_append(state, has_adds ? rows : NULL, err));
    for (size_t i = 0; has_adds && i < state->schema.count; i++)
        if (fb_delta_schema_required(&state->schema.columns[i], rows))
            FB_TRY(check_nulls(a, state->schema.columns[i].name, err));
out:
    return code;
}

static fb_code check_request(const fb_delta_commit *commit, fb_error *err)
{
    fb_code       code = FB_OK;
    fb_map        seen;
    fb_map_entry *entry;
    fb_map_init(&seen);
    for (size_t i = 0; i < commit->txns_count; i++) {
        fb_assert(!fb_map_find(&seen, commit->txns[i].app_id));
        FB_TRY(fb_map_put(&seen, commit->txns[i].app_id, &entry, err));
    }
    for (size_t i = 0; i < commit->created_properties_count; i++) {
        const char *key = commit->created_properties[i].key;
        if (strncmp(key, "delta.enable", 12) == 0 ||
            strncmp(key, "delta.constraints", 17) == 0 ||
            strncmp(key, "delta.columnMapping", 19) == 0 ||
            strncmp(key, "delta.feature", 13) == 0)
            FB_TRY(fb_fail(err, P015,
                           "the property \"%s\" needs a table feature, and tables are "
                           "created without",
                           key));
    }
out:
    fb_map_clear(&seen);
    return code;
}

/* --- writing ------------------------------------------------------------------------ */

/* The in-commit timestamp of the version before; read from its commit when the snapshot
 * began at its checkpoint. */
static fb_code find_commit_time(attempt *a, int64_t *out, fb_error *err)
{
    fb_delta_batch batch;
    char           key[FB_LOG_KEY];
    *out = a->table->state.commit_time_ms;
    if (*out >= 0) return FB_OK;
    fb_delta_batch_init(&batch, fb_log_commit_key(a->version - 1, key));
    fb_code code = fb_delta_walk(a->table, key, fb_delta_batch_add, &batch, err);
    *out = batch.commit_time_ms;
    fb_delta_batch_clear(&batch);
    if (code == FB_OK && *out < 0)
        code = fb_fail(err, P019, "version %" PRId64 " has no in-commit timestamp",
                       a->version - 1);
    return code;
}

static void write_metrics(const fb_delta_commit *commit, fb_buf *body)
{
    int64_t files = 0, rows = 0, bytes = 0;
    for (size_t i = 0; commit->adds && i < commit->adds->count; i++) {
        files++;
        rows += commit->adds->items[i].rows;
        bytes += commit->adds->items[i].size_bytes;
    }
    fb_buf_printf(body,
                  "\"operationMetrics\":{\"numAddedFiles\":\"%" PRId64
                  "\",\"numOutputRows\":\"%" PRId64 "\",\"numOutputBytes\":\"%" PRId64
                  "\"}",
                  files, rows, bytes);
}

static fb_code write_info(attempt *a, fb_error *err)
{
    fb_code                code = FB_OK;
    fb_buf                *body = &a->body;
    const fb_delta_commit *commit = a->commit;
    int64_t                before, now = fb_now_us() / 1000;
    fb_buf_add_text(body, "{\"commitInfo\":{");
    if (a->version > 0 && fb_delta_has_commit_time(&a->table->state)) {
        FB_TRY(find_commit_time(a, &before, err));
        if (now <= before) now = before + 1;
        fb_buf_printf(body, "\"inCommitTimestamp\":%" PRId64 ",", now);
    }
    a->result->timestamp_ms = now;
    fb_buf_printf(body, "\"timestamp\":%" PRId64 ",\"operation\":", now);
    fb_buf_add_json_text(body,
                         commit->operation ? commit->operation : "STREAMING UPDATE");
    fb_buf_add_text(body, ",\"operationParameters\":{\"outputMode\":\"Append\"},");
    if (a->version > 0)
        fb_buf_printf(body, "\"readVersion\":%" PRId64 ",", a->version - 1);
    fb_buf_printf(body, "\"isBlindAppend\":true,\"engineInfo\":\"%s\",\"txnId\":\"%s\",",
                  ENGINE_INFO, a->result->txn_id.text);
    write_metrics(commit, body);
    if (commit->books) fb_buf_printf(body, ",\"forebay\":%s", commit->books);
    fb_buf_add_text(body, "}}\n");
out:
    return code;
}

static bool is_ntz(const fb_column *c) { return c->type.kind == FB_KIND_TIMESTAMP_NTZ; }

static fb_code write_creation(attempt *a, fb_error *err)
{
    fb_code                code = FB_OK;
    fb_buf                *body = &a->body;
    const fb_delta_commit *commit = a->commit;
    fb_uuid                id = fb_uuid_v4();
    fb_buf                 schema;
    fb_buf_init(&schema, FB_MAX_LOG_BYTES);
    fb_delta_schema_print(commit->schema, &schema);
    FB_TRY(fb_buf_check(&schema, "the columns of a table", err));
    if (fb_delta_schema_any(commit->schema->columns, commit->schema->count, is_ntz))
        fb_buf_add_text(body,
                        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                        "\"readerFeatures\":[\"timestampNtz\"],\"writerFeatures\":["
                        "\"timestampNtz\",\"appendOnly\",\"invariants\"]}}\n");
    else
        fb_buf_add_text(
            body, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n");
    fb_buf_printf(body, "{\"metaData\":{\"id\":\"%s\",", id.text);
    if (commit->created_name) {
        fb_buf_add_text(body, "\"name\":");
        fb_buf_add_json_text(body, commit->created_name);
        fb_buf_add_char(body, ',');
    }
    fb_buf_add_text(
        body, "\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":");
    fb_buf_add_json(body, schema.data, schema.size);
    fb_buf_add_text(body, ",\"partitionColumns\":[],\"configuration\":{");
    for (size_t i = 0; i < commit->created_properties_count; i++) {
        if (i) fb_buf_add_char(body, ',');
        fb_buf_add_json_text(body, commit->created_properties[i].key);
        fb_buf_add_char(body, ':');
        fb_buf_add_json_text(body, commit->created_properties[i].value);
    }
    fb_buf_printf(body, "},\"createdTime\":%" PRId64 "}}\n", a->result->timestamp_ms);
out:
    fb_buf_clear(&schema);
    return code;
}

static void write_actions(attempt *a)
{
    fb_buf                *body = &a->body;
    const fb_delta_commit *commit = a->commit;
    for (size_t i = 0; i < commit->txns_count; i++) {
        fb_buf_add_text(body, "{\"txn\":{\"appId\":");
        fb_buf_add_json_text(body, commit->txns[i].app_id);
        fb_buf_printf(body, ",\"version\":%" PRId64 ",\"lastUpdated\":%" PRId64 "}}\n",
                      commit->txns[i].next, a->result->timestamp_ms);
    }
    if (commit->domain && fb_gate_has(&a->table->state, "domainMetadata")) {
        fb_buf_add_text(body, "{\"domainMetadata\":{\"domain\":");
        fb_buf_add_json_text(body, commit->domain);
        fb_buf_add_text(body, ",\"configuration\":");
        fb_buf_add_json_text(body, commit->domain_text ? commit->domain_text : "");
        fb_buf_add_text(body, ",\"removed\":false}}\n");
    }
    for (size_t i = 0; commit->adds && i < commit->adds->count; i++) {
        const fb_delta_add *add = &commit->adds->items[i];
        fb_buf_add_text(body, "{\"add\":{\"path\":");
        fb_buf_add_json_text(body, add->path);
        fb_buf_printf(body, ",\"partitionValues\":{},\"size\":%" PRId64, add->size_bytes);
        fb_buf_printf(body,
                      ",\"modificationTime\":%" PRId64 ",\"dataChange\":true,\"stats\":",
                      add->modified_ms);
        fb_buf_add_json_text(body, add->stats);
        fb_buf_add_text(body, "}}\n");
    }
}

/* Put the lines together and read them as a reader would: what is broken never leaves. */
static fb_code write_body(attempt *a, fb_delta_batch *batch, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf_reset(&a->body);
    FB_TRY(write_info(a, err));
    if (a->version == 0) FB_TRY(write_creation(a, err));
    write_actions(a);
    FB_TRY(fb_buf_check(&a->body, "a commit", err));
    code =
        fb_log_walk(a->body.data, a->body.size, a->key, fb_delta_batch_add, batch, err);
    if (code != FB_OK && code != FB_EMEMORY) {
        fb_error cause = *err;
        return fb_fail(err, Z001, "a commit of ours cannot be read: %s", cause.what);
    }
out:
    return code;
}

/* --- claiming ----------------------------------------------------------------------- */

/* Try one version. @return FB_ECONFLICT (F005) when it is taken, FB_EUNKNOWN */
static fb_code claim(attempt *a, fb_error *err)
{
    fb_code        code = FB_OK;
    fb_store      *store = a->table->store;
    fb_delta_batch batch;
    a->version = a->table->state.version + 1;
    fb_log_commit_key(a->version, a->key);
    fb_delta_batch_init(&batch, a->key);
    FB_TRY(check_positions(a, err));
    FB_TRY(check_table(a, err));
    FB_TRY(write_body(a, &batch, err));
    FB_TRY(fb_step_try("delta.commit.before", err));
    a->result->attempts++;
    FB_TRY(store->ops->put_new(store, a->key, a->body.data, a->body.size, err));
    if (FB_STEP("delta.commit.written") != FB_FAULT_NONE)
        FB_TRY(fb_fail(err, S010, "failpoint delta.commit.written: outcome unknown"));
    a->result->version = a->version;
    a->result->created = a->version == 0;
    if (fb_delta_state_apply(&a->table->state, &batch, a->version, err) != FB_OK)
        a->table->is_stale = true; // the commit stands; the next refresh reads it
    FB_STEP("delta.commit.after");
out:
    fb_delta_batch_clear(&batch);
    return code;
}

/* Whose commit is the version that we tried? @return FB_OK: it is ours, FB_EMISSING: it
 * is not there, FB_ECONFLICT: another writer's */
static fb_code ask_whose(attempt *a, fb_error *err)
{
    fb_delta_batch batch;
    fb_delta_batch_init(&batch, a->key);
    fb_code code = fb_delta_walk(a->table, a->key, fb_delta_batch_add, &batch, err);
    if (code == FB_OK && strcmp(batch.txn_id.text, a->result->txn_id.text) != 0)
        code = fb_fail(err, F005, "%s is another writer's", a->key);
    fb_delta_batch_clear(&batch);
    return code;
}

/* After a lost answer: read the version back until the store answers. */
static fb_code settle(attempt *a, fb_error *err)
{
    fb_code  code = FB_OK;
    fb_error cause = *err;
    for (int i = 0; i < READ_BACKS; i++) {
        if (i) fb_sleep_ms(READ_BACK_WAIT_MS);
        code = ask_whose(a, &cause);
        if (code == FB_OK || code == FB_ECONFLICT || code == FB_EMISSING) break;
    }
    if (code == FB_EMISSING && fb_delta_refresh(a->table, &cause) == FB_OK &&
        a->table->state.version < a->version)
        return FB_EMISSING; // not there: the same version may be claimed once more
    if (code == FB_ECONFLICT || code == FB_OK) return code;
    fb_error_set(err, FB_R_S010,
                 "whether version %" PRId64 " of table \"%s\" was committed is "
                 "not known: %s",
                 a->version, a->table->name, cause.what);
    return FB_EUNKNOWN;
}

static void wait_a_little(attempt *a)
{
    uint64_t *x = &a->table->random;
    int       tries = a->result->attempts < 5 ? a->result->attempts : 5;
    int64_t   most = (int64_t)20 << tries;
    if (most > MOST_WAIT_MS - LEAST_WAIT_MS) most = MOST_WAIT_MS - LEAST_WAIT_MS;
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    fb_sleep_ms(LEAST_WAIT_MS + (int64_t)(*x >> 33) % most);
}

/* Our own commit, found under the version that we tried: go on as if it had been
 * answered. */
static fb_code finish_found(attempt *a, fb_error *err)
{
    fb_error ignored = *err;
    a->result->version = a->version;
    a->result->created = a->version == 0;
    a->result->was_unknown = true;
    if (fb_delta_refresh(a->table, &ignored) != FB_OK) a->table->is_stale = true;
    return FB_OK;
}

static fb_code run(attempt *a, int64_t deadline_ms, fb_error *err)
{
    fb_code code = FB_OK;
    FB_TRY(fb_delta_refresh(a->table, err));
    for (;;) {
        code = claim(a, err);
        bool is_lost = code == FB_ECONFLICT && err->reason == FB_R_F005;
        if (code != FB_EUNKNOWN && !is_lost) goto out;
        code = code == FB_EUNKNOWN ? settle(a, err) : ask_whose(a, err);
        if (code == FB_OK) return finish_found(a, err);
        if (code != FB_ECONFLICT && code != FB_EMISSING) goto out;
        if (fb_mono_ms() >= deadline_ms) {
            code = fb_fail(err, P021,
                           "table \"%s\" could not be committed to: other writers took "
                           "each of %d versions",
                           a->table->name, a->result->attempts);
            goto out;
        }
        wait_a_little(a);
        FB_TRY(fb_delta_refresh(a->table, err));
    }
out:
    return code;
}

fb_code fb_delta_commit_run(fb_delta *table, const fb_delta_commit *commit,
                            fb_delta_result *result, fb_error *err)
{
    fb_code code = FB_OK;
    attempt a = {.table = table, .commit = commit, .result = result};
    int64_t length_ms =
        commit->deadline_ms > 0 ? commit->deadline_ms : FB_DELTA_DEADLINE_MS;
    *result = (fb_delta_result){.version = -1, .txn_id = fb_uuid_v4()};
    fb_buf_init(&a.body, FB_MAX_LOG_BYTES);
    FB_TRY(check_request(commit, err));
    FB_TRY(run(&a, fb_mono_ms() + length_ms, err));
out:
    if (code != FB_OK) fb_error_at(err, "%s", table->name);
    fb_buf_clear(&a.body);
    return code;
}
