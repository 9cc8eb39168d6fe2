/* rejects.c - see rejects.h. */
#include "sink/rejects.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SQL = 1 << 20, LOCK_WAIT_MS = 90000 };

struct fb_rejects {
    const fb_rejected_options *options;
    fb_engine                 *engine;
    fb_delta                  *table; ///< NULL for NDJSON
    fb_lock                    lock;  ///< of the folder of NDJSON files
};

static fb_code lock_folder(fb_rejects *r, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH], owner[40];
    FB_TRY(fb_dir_make(r->options->path, err));
    FB_TRY(fb_path_join(path, sizeof path, r->options->path, ".lock", err));
    snprintf(owner, sizeof owner, "pid %ld", (long)getpid());
    code = fb_lock_take(&r->lock, path, owner, LOCK_WAIT_MS, err);
    if (code != FB_EBUSY) goto out;
    const char *holder = strstr(err->what, "pid ");
    snprintf(owner, sizeof owner, "%s", holder ? holder : "no name");
    fb_error_set(err, FB_R_L001, "another forebay (%s) keeps rejected rows in %s", owner,
                 r->options->path);
    fb_error_hint(err, "it commits or fails soon; when it hangs, end it and run again");
out:
    return code;
}

fb_code fb_rejects_open(const fb_rejected_options *options, fb_engine *engine, fb_rejects **out,
                        fb_error *err)
{
    fb_code     code = FB_OK;
    fb_rejects *rejects = fb_alloc(sizeof *rejects);
    if (!rejects) return fb_fail_memory(err, "the rejected rows");
    rejects->options = options;
    rejects->engine = engine;
    rejects->lock = FB_LOCK_NONE;
    if (options->format == FB_REJECTED_DELTA)
        FB_TRY(fb_delta_open(options->path, engine, &rejects->table, err));
    else
        FB_TRY(lock_folder(rejects, err));
    *out = rejects;
    rejects = NULL;
out:
    fb_rejects_close(rejects);
    return code;
}

void fb_rejects_close(fb_rejects *rejects)
{
    if (!rejects) return;
    fb_delta_close(rejects->table);
    fb_lock_release(&rejects->lock);
    fb_free(rejects);
}

fb_delta *fb_rejects_table(fb_rejects *rejects) { return rejects->table; }

/* --- Delta ---------------------------------------------------------------------------- */

static fb_code write_delta(fb_rejects *r, const fb_rejects_batch *batch, fb_error *err)
{
    fb_code         code = FB_OK;
    char            path[FB_MAX_PATH] = "";
    fb_buf          sql;
    fb_delta_adds   adds;
    fb_delta_result done;
    fb_error        ignored;
    duckdb_result   result;

    fb_buf_init(&sql, MAX_SQL);
    fb_delta_adds_init(&adds);
    FB_TRY(fb_delta_check_append(r->table, batch->schema, err));
    FB_TRY(fb_delta_copy_sql(r->table, batch->schema, batch->relation, &sql, path, err));
    FB_TRY(fb_step_try("sink.rejects.write", err));
    FB_TRY(fb_engine_query(r->engine, fb_buf_text(&sql), &result, err));
    code = fb_delta_adds_from_copy(r->table, batch->schema, &result, &adds, err);
    duckdb_destroy_result(&result);
    if (code != FB_OK || adds.count == 0) goto out; // all of them are there already
    FB_TRY(fb_step_try("sink.rejects.commit", err));
    code = fb_delta_commit_run(r->table,
                               &(fb_delta_commit){.schema = batch->schema,
                                                  .adds = &adds,
                                                  .txns = batch->txns,
                                                  .txns_count = batch->txns_count,
                                                  .books = batch->about},
                               &done, err);
    if (code != FB_OK && code != FB_EUNKNOWN) fb_delta_adds_discard(r->table, &adds);
    if (code == FB_OK && fb_delta_checkpoint_if_due(r->table, NULL, &ignored) != FB_OK)
        code = FB_OK; // the next commit tries again
out:
    if (code != FB_OK && adds.count == 0 && path[0]) fb_file_remove(path); // a part of it
    fb_delta_adds_clear(&adds);
    fb_buf_clear(&sql);
    return code;
}

/* --- NDJSON --------------------------------------------------------------------------- */

/* Bytes are text where they are UTF-8, else base64 under a name of their own. */
static void add_ndjson_query(fb_buf *sql, const fb_rejects_batch *batch, int32_t partition)
{
    fb_buf_add_text(sql, "(SELECT _kafka_topic, _kafka_partition, _kafka_offset, _kafka_timestamp, "
                         "_kafka_timestamp_type");
    static const char *const bytes[] = {"_kafka_key", "_kafka_value"};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        fb_buf_printf(sql,
                      ", TRY(decode(%s)) AS %s, CASE WHEN TRY(decode(%s)) IS NULL THEN "
                      "to_base64(%s) END AS %s_base64",
                      bytes[i], bytes[i], bytes[i], bytes[i], bytes[i]);
    fb_buf_printf(sql,
                  ", list_transform(_kafka_headers, lambda h: {'key': h.key, 'value_base64': "
                  "to_base64(h.value)}) AS _kafka_headers, pipeline, run_id, rejected_at, "
                  "severity, errors FROM %s WHERE _kafka_partition = %" PRId32
                  " ORDER BY _kafka_offset)",
                  batch->relation, partition);
}

static fb_code file_path(const fb_rejects *r, const fb_rejects_batch *batch, const fb_book *book,
                         char path[FB_MAX_PATH], fb_error *err)
{
    char name[FB_MAX_PATH];
    snprintf(name, sizeof name, "%s-%" PRId32 "-%020" PRId64 "%s%s.ndjson", batch->prefix,
             book->partition, book->first, batch->repeat ? "-" : "",
             batch->repeat ? batch->repeat : "");
    return fb_path_join(path, FB_MAX_PATH, r->options->path, name, err);
}

static fb_code write_partition(fb_rejects *r, const fb_rejects_batch *batch, const fb_book *book,
                               const char *path, fb_error *err)
{
    fb_code code = FB_OK;
    char    temp[FB_MAX_PATH + 32];
    fb_buf  sql;
    fb_buf_init(&sql, MAX_SQL);
    snprintf(temp, sizeof temp, "%s.tmp", path); // nobody else writes: the folder is locked
    fb_buf_add_text(&sql, "COPY ");
    add_ndjson_query(&sql, batch, book->partition);
    fb_buf_add_text(&sql, " TO ");
    fb_sql_add_text(&sql, temp);
    fb_buf_add_text(&sql, " (FORMAT json)");
    FB_TRY(fb_buf_check(&sql, "a statement", err));
    FB_TRY(fb_engine_exec(r->engine, fb_buf_text(&sql), err));
    FB_TRY(fb_file_sync(temp, err));
    FB_TRY(fb_step_try("sink.rejects.rename", err));
    FB_TRY(fb_file_rename(temp, path, err));
out:
    if (code != FB_OK) fb_file_remove(temp);
    fb_buf_clear(&sql);
    return code;
}

static fb_code count_rows(fb_rejects *r, const fb_rejects_batch *batch, int32_t partition,
                          int64_t *count, fb_error *err)
{
    fb_buf        sql;
    duckdb_result result;
    fb_buf_init(&sql, MAX_SQL);
    fb_buf_printf(&sql, "SELECT count(*) FROM %s WHERE _kafka_partition = %" PRId32,
                  batch->relation, partition);
    fb_code code = fb_buf_check(&sql, "a statement", err);
    if (code == FB_OK) code = fb_engine_query(r->engine, fb_buf_text(&sql), &result, err);
    if (code == FB_OK) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        *count = *(int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
        duckdb_destroy_data_chunk(&chunk);
        duckdb_destroy_result(&result);
    }
    fb_buf_clear(&sql);
    return code;
}

/* A partition without rejects must not keep those of an earlier try at the same window. */
static fb_code write_ndjson(fb_rejects *r, const fb_rejects_batch *batch, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    for (size_t i = 0; i < batch->books->count; i++) {
        const fb_book *book = &batch->books->list[i];
        int64_t        count = 0;
        if (book->next == book->first) continue;
        FB_TRY(count_rows(r, batch, book->partition, &count, err));
        FB_TRY(file_path(r, batch, book, path, err));
        if (count == 0)
            fb_file_remove(path);
        else
            FB_TRY(write_partition(r, batch, book, path, err));
    }
    FB_TRY(fb_file_sync(r->options->path, err));
out:
    return code;
}

fb_code fb_rejects_write(fb_rejects *rejects, const fb_rejects_batch *batch, fb_error *err)
{
    return rejects->table ? write_delta(rejects, batch, err) : write_ndjson(rejects, batch, err);
}
