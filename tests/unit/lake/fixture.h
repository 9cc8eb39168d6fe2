/** fixture.h - a table in a folder of its own, for the tests of lake/. */
#ifndef FB_TESTS_LAKE_FIXTURE_H
#define FB_TESTS_LAKE_FIXTURE_H

#include "base/error.h"
#include "base/file.h"
#include "base/step.h"
#include "lake/delta.h"
#include "lake/delta_table.h"
#include "lake/store.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct fixture {
    char       folder[64]; ///< /tmp/fb_lake_XXXXXX; the table is its "t"
    char       path[80];
    fb_engine *engine;
    fb_error   err;
} fixture;

__attribute__((unused)) static fixture fixture_open(void)
{
    fixture           f = {.folder = "/tmp/fb_lake_XXXXXX"};
    fb_engine_options options = {.memory_bytes = 256 << 20, .threads = 1};
    CHECK(mkdtemp(f.folder) != NULL);
    snprintf(f.path, sizeof f.path, "%s/t", f.folder);
    CHECK_CODE(fb_engine_open(&options, &f.engine, &f.err), FB_OK, &f.err);
    return f;
}

__attribute__((unused)) static void fixture_close(fixture *f)
{
    char command[128];
    fb_engine_close(f->engine);
    fb_steps_armed = false;
    snprintf(command, sizeof command, "%s/t/_delta_log/_sidecars", f->folder);
    fb_dir_remove(command);
    snprintf(command, sizeof command, "%s/t/_delta_log", f->folder);
    fb_dir_remove(command);
    fb_dir_remove(f->path);
    fb_dir_remove(f->folder);
}

__attribute__((unused)) static fb_delta *fixture_table(fixture *f)
{
    fb_delta *table = NULL;
    CHECK_CODE(fb_delta_open(f->path, f->engine, &table, &f->err), FB_OK, &f->err);
    return table;
}

/** Arm one failpoint; NULL disarms. */
__attribute__((unused)) static void fixture_arm(const char *failpoint)
{
    fb_error err;
    fb_steps_armed = false;
    if (!failpoint) return;
    setenv("FOREBAY_FAILPOINT", failpoint, 1);
    CHECK_CODE(fb_steps_arm(&err), FB_OK, &err);
    unsetenv("FOREBAY_FAILPOINT");
}

/** Put a file of the table, "_delta_log/..." */
__attribute__((unused)) static void fixture_put(fixture *f, const char *key,
                                                const char *text)
{
    fb_store *store;
    CHECK_CODE(fb_store_local_open(f->path, &store, &f->err), FB_OK, &f->err);
    CHECK_CODE(store->ops->put(store, key, text, strlen(text), &f->err), FB_OK, &f->err);
    store->ops->close(store);
}

__attribute__((unused)) static void fixture_commit(fixture *f, int64_t version,
                                                   const char *text)
{
    char key[FB_LOG_KEY];
    fixture_put(f, fb_log_commit_key(version, key), text);
}

/** The text of a file of the table; the caller clears the buffer. */
__attribute__((unused)) static fb_buf fixture_get(fixture *f, const char *key)
{
    fb_buf    text;
    fb_store *store;
    fb_buf_init(&text, 1 << 20);
    CHECK_CODE(fb_store_local_open(f->path, &store, &f->err), FB_OK, &f->err);
    CHECK_CODE(store->ops->get(store, key, &text, &f->err), FB_OK, &f->err);
    store->ops->close(store);
    return text;
}

__attribute__((unused)) static bool fixture_has(fixture *f, const char *key)
{
    char path[FB_MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", f->path, key);
    return fb_file_exists(path);
}

__attribute__((unused)) static void fixture_remove(fixture *f, const char *key)
{
    char path[FB_MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", f->path, key);
    fb_file_remove(path);
}

/** A column of a schema under test. */
__attribute__((unused)) static fb_column column_of(const char *name, const char *type)
{
    fb_error  err;
    fb_column column = {.name = name, .nullable = true};
    CHECK_CODE(fb_type_parse(type, &column.type, &err), FB_OK, &err);
    return column;
}

/** Write the rows of `query` as one data file. */
__attribute__((unused)) static void fixture_write(fixture *f, fb_delta *table,
                                                  const fb_schema *schema,
                                                  const char *query, fb_delta_adds *adds)
{
    fb_buf        sql;
    duckdb_result result;
    char          path[FB_MAX_PATH];
    fb_buf_init(&sql, 1 << 20);
    CHECK_CODE(fb_delta_copy_sql(table, schema, query, &sql, path, &f->err), FB_OK,
               &f->err);
    CHECK_CODE(fb_engine_query(f->engine, fb_buf_text(&sql), &result, &f->err), FB_OK,
               &f->err);
    CHECK_CODE(fb_delta_adds_from_copy(table, schema, &result, adds, &f->err), FB_OK,
               &f->err);
    duckdb_destroy_result(&result);
    fb_buf_clear(&sql);
}

/** A position of fixture_append(); STAY moves none. */
#define MOVE(app, from, to)                                                              \
    ((fb_delta_txn){.app_id = (app), .expected = (from), .next = (to)})
#define STAY ((fb_delta_txn){.app_id = NULL})

/** A table of one column "id" of int64: one more version with `rows` rows, and a position
 * moved. */
__attribute__((unused)) static fb_code fixture_append(fixture *f, fb_delta *table,
                                                      int rows, fb_delta_txn txn,
                                                      fb_delta_result *result)
{
    char            query[80];
    fb_column       id = column_of("id", "int64");
    fb_schema       schema = {.columns = &id, .count = 1};
    fb_delta_adds   adds;
    fb_delta_commit commit = {.schema = &schema,
                              .adds = &adds,
                              .txns = &txn,
                              .txns_count = txn.app_id ? 1 : 0,
                              .deadline_ms = 2000};
    fb_delta_adds_init(&adds);
    snprintf(query, sizeof query, "(SELECT range AS id FROM range(%d))", rows);
    fixture_write(f, table, &schema, query, &adds);
    fb_code code = fb_delta_commit_run(table, &commit, result, &f->err);
    fb_delta_adds_clear(&adds);
    return code;
}

/** How many rows the live files of the table have. */
__attribute__((unused)) static int64_t fixture_rows(fixture *f)
{
    fb_delta      *table = fixture_table(f);
    fb_delta_files files;
    fb_buf         sql;
    int64_t        rows = 0;
    fb_delta_files_init(&files);
    fb_buf_init(&sql, 1 << 20);
    CHECK_CODE(fb_delta_files_list(table, &files, &f->err), FB_OK, &f->err);
    if (files.count > 0) {
        fb_buf_add_text(&sql, "SELECT count(*) FROM read_parquet([");
        for (size_t i = 0; i < files.count; i++) {
            if (i) fb_buf_add_char(&sql, ',');
            fb_sql_add_text(&sql, files.paths[i]);
        }
        fb_buf_add_text(&sql, "])");
        CHECK_CODE(fb_delta_query_int(table, sql.data, &rows, &f->err), FB_OK, &f->err);
    }
    fb_buf_clear(&sql);
    fb_delta_files_clear(&files);
    fb_delta_close(table);
    return rows;
}

#define PROTOCOL_1_2 "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
#define META_ID                                                                          \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},"  \
    "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":"     \
    "\\\"id\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}"  \
    "\","                                                                                \
    "\"partitionColumns\":[],\"configuration\":{},\"createdTime\":1}}\n"

#endif
