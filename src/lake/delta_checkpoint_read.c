/* delta_checkpoint_read.c - a checkpoint's own actions, and which files hold the rest.
 *
 * PROTOCOL.md, "Checkpoints": V1 in one Parquet file or in parts; V2 in Parquet or JSON
 * lines with the actions of files inline or in sidecars; a V2 checkpoint may also have
 * the classic name.  The Parquet files are read by the query engine: each action comes
 * out as JSON and goes the way of a commit's line.
 */
#include "base/alloc.h"
#include "base/json_memory.h"
#include "lake/delta_table.h"

#include <stdio.h>
#include <string.h>

enum { KEYS_BYTES = 64 << 20 };

static const char *const kept_actions[] = {"protocol", "metaData", "txn",
                                           "domainMetadata", "sidecar"};
enum { KEPT_ACTIONS = 5 };

void fb_checkpoint_init(fb_checkpoint *checkpoint)
{
    *checkpoint = (fb_checkpoint){.version = -1};
    fb_arena_init(&checkpoint->arena, KEYS_BYTES);
}

void fb_checkpoint_clear(fb_checkpoint *checkpoint)
{
    fb_arena_clear(&checkpoint->arena);
    fb_free(checkpoint->parquet);
    fb_checkpoint_init(checkpoint);
}

static fb_code add_parquet(fb_checkpoint *out, const char *key, fb_error *err)
{
    if (out->count == out->room) {
        size_t       room = out->room ? out->room * 2 : 16;
        const char **moved = fb_realloc(out->parquet, room * sizeof(*moved));
        if (!moved) return fb_fail_memory(err, "the files of a checkpoint");
        out->parquet = moved;
        out->room = room;
    }
    char *copy = fb_arena_strndup(&out->arena, key, strlen(key));
    if (!copy) return fb_fail_memory(err, "the files of a checkpoint");
    out->parquet[out->count++] = copy;
    return FB_OK;
}

/* The path is URI-encoded and a name in _sidecars; a whole URI ends in one. */
static fb_code add_sidecar(fb_checkpoint *out, const char *path, fb_error *err)
{
    char        name[FB_MAX_PATH], key[FB_MAX_PATH];
    const char *last = path ? strrchr(path, '/') : NULL;
    if (!path || !fb_uri_decode(last ? last + 1 : path, name, sizeof name) ||
        strchr(name, '/'))
        return fb_fail(err, P007, "a checkpoint names a sidecar \"%.100s\"",
                       path ? path : "");
    if (snprintf(key, sizeof key, FB_LOG_FOLDER "/_sidecars/%s", name) >= (int)sizeof key)
        return fb_fail(err, M002, "a path is longer than %zu bytes", sizeof key - 1);
    return add_parquet(out, key, err);
}

typedef struct collector {
    fb_checkpoint  *checkpoint;
    fb_delta_batch *batch;
} collector;

static fb_code collect(void *context, const char *action, yyjson_val *body, fb_error *err)
{
    collector *to = context;
    if (strcmp(action, "sidecar") == 0)
        return add_sidecar(to->checkpoint, fb_json_text(body, "path"), err);
    return fb_delta_batch_add(to->batch, action, body, err);
}

/* --- Parquet ------------------------------------------------------------------------ */

/* A row of DESCRIBE: is it the column of a kept action? */
static fb_code find_column(void *context, duckdb_data_chunk chunk, idx_t row,
                           fb_error *err)
{
    bool   *found = context;
    fb_cell name = fb_row_text(chunk, 0, row);
    (void)err;
    for (int i = 0; i < KEPT_ACTIONS; i++)
        if (strlen(kept_actions[i]) == name.size &&
            memcmp(kept_actions[i], name.data, name.size) == 0)
            found[i] = true;
    return FB_OK;
}

/* A row with one action, as JSON in the column of its kind. */
static fb_code collect_row(void *to, duckdb_data_chunk chunk, idx_t row, fb_error *err)
{
    fb_code code = FB_OK;
    for (idx_t i = 0; i < KEPT_ACTIONS && code == FB_OK; i++) {
        fb_cell cell = fb_row_text(chunk, i, row);
        if (cell.is_null) continue;
        yyjson_doc *doc = fb_json_read(cell.data, cell.size, 0);
        code =
            doc ? collect(to, kept_actions[i], yyjson_doc_get_root(doc), err)
                : fb_fail_memory(err, "a row of a checkpoint"); // the engine wrote JSON
        yyjson_doc_free(doc);
    }
    return code;
}

static fb_code read_parquet(fb_delta *table, const char *key, collector *to,
                            fb_error *err)
{
    fb_code     code = FB_OK;
    bool        found[KEPT_ACTIONS] = {false};
    const char *glue = " WHERE ";
    fb_buf      sql;
    fb_buf_init(&sql, FB_SQL_BYTES);
    fb_buf_add_text(&sql, "DESCRIBE SELECT * FROM ");
    FB_TRY(fb_delta_sql_file(table, "read_parquet", key, &sql, err));
    FB_TRY(fb_delta_each_row(table, &sql, find_column, found, err));
    fb_buf_reset(&sql);
    for (int i = 0; i < KEPT_ACTIONS; i++) {
        fb_buf_add_text(&sql, i ? ", " : "SELECT ");
        if (found[i])
            fb_buf_printf(&sql, "to_json(\"%s\")::VARCHAR", kept_actions[i]);
        else
            fb_buf_add_text(&sql, "NULL::VARCHAR");
    }
    fb_buf_add_text(&sql, " FROM ");
    FB_TRY(fb_delta_sql_file(table, "read_parquet", key, &sql, err));
    for (int i = 0; i < KEPT_ACTIONS; i++) {
        if (!found[i]) continue;
        fb_buf_printf(&sql, "%s\"%s\" IS NOT NULL", glue, kept_actions[i]);
        glue = " OR ";
    }
    FB_TRY(fb_delta_each_row(table, &sql, collect_row, to, err));
out:
    fb_buf_clear(&sql);
    return code;
}

/* --- the newest that can be read ---------------------------------------------------- */

static fb_code read_one(fb_delta *table, const fb_log_listing *listing,
                        const fb_checkpoint_name *head, collector *to, fb_error *err)
{
    fb_code        code = FB_OK;
    fb_checkpoint *out = to->checkpoint;
    int64_t        size, modified_ms;
    out->version = head->version;
    if (head->is_json) {
        FB_TRY(fb_delta_walk(table, head->key, collect, to, err));
        out->json = fb_arena_strndup(&out->arena, head->key, strlen(head->key));
        if (!out->json) FB_TRY(fb_fail_memory(err, "the files of a checkpoint"));
    } else {
        for (size_t i = 0; i < listing->checkpoints_count; i++)
            if (fb_log_same_checkpoint(head, &listing->checkpoints[i]))
                FB_TRY(add_parquet(out, listing->checkpoints[i].key, err));
        out->own_count = out->count;
        for (size_t i = 0; i < out->own_count; i++)
            FB_TRY(read_parquet(table, out->parquet[i], to, err));
    }
    for (size_t i = out->own_count; i < out->count; i++)
        FB_TRY(table->store->ops->size(table->store, out->parquet[i], &size, &modified_ms,
                                       err));
out:
    return code;
}

fb_code fb_checkpoint_newest(fb_delta *table, const fb_log_listing *listing,
                             int64_t at_most, fb_checkpoint *out, fb_delta_batch *batch,
                             fb_error *err)
{
    fb_code                   code = FB_OK;
    fb_error                  cause = {0};
    collector                 to = {out, batch};
    const fb_checkpoint_name *head;
    while ((head = fb_log_pick_checkpoint(listing, at_most))) {
        batch->key = head->key;
        code = read_one(table, listing, head, &to, &cause);
        if (code == FB_OK) return FB_OK;
        fb_checkpoint_clear(out);
        fb_delta_batch_clear(batch);
        fb_delta_batch_init(batch, "a checkpoint");
        if (code == FB_EMEMORY || code == FB_ECANCELED) {
            *err = cause;
            return code;
        }
        at_most = head->version - 1;
    }
    if (code == FB_OK || (listing->commits_count > 0 && listing->commits[0] == 0))
        return FB_OK;
    return fb_fail(err, P010, "no checkpoint of table \"%s\" can be read: %s",
                   table->name, cause.what);
}
