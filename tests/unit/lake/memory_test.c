/* memory_test.c - any allocation of lake/ may fail: the right code, no leak, no harm. */
#include "fixture.h"

#include "base/alloc.h"

enum { MAX_ALLOCATIONS = 2000 };

/* Open the table, append a row, and write a checkpoint. */
static fb_code work(fixture *f, int64_t expected, bool *committed)
{
    fb_code       code;
    fb_delta     *table = NULL;
    fb_column     id = {.name = "id", .nullable = true, .type = {.kind = FB_KIND_INT64}};
    fb_schema     schema = {.columns = &id, .count = 1};
    fb_delta_txn  txn = {.app_id = "app", .expected = expected, .next = expected + 1};
    fb_delta_adds adds;
    fb_delta_commit commit = {
        .schema = &schema, .adds = &adds, .txns = &txn, .txns_count = 1};
    fb_delta_result result;
    fb_buf          sql;
    duckdb_result   rows = {0};
    fb_delta_files  files;
    char            path[FB_MAX_PATH];
    *committed = false;
    fb_delta_adds_init(&adds);
    fb_delta_files_init(&files);
    fb_buf_init(&sql, 1 << 20);
    FB_TRY(fb_delta_open(f->path, f->engine, &table, &f->err));
    FB_TRY(fb_delta_check_append(table, &schema, &f->err));
    FB_TRY(fb_delta_copy_sql(table, &schema, "(SELECT 1 AS id)", &sql, path, &f->err));
    FB_TRY(fb_engine_query(f->engine, sql.data, &rows, &f->err));
    FB_TRY(fb_delta_adds_from_copy(table, &schema, &rows, &adds, &f->err));
    FB_TRY(fb_delta_commit_run(table, &commit, &result, &f->err));
    *committed = true;
    FB_TRY(fb_delta_checkpoint_if_due(table, NULL, &f->err));
    FB_TRY(fb_delta_files_list(table, &files, &f->err));
out:
    duckdb_destroy_result(&rows);
    fb_buf_clear(&sql);
    fb_delta_files_clear(&files);
    fb_delta_adds_clear(&adds);
    fb_delta_close(table);
    return code;
}

TEST(any_allocation_may_fail_and_the_table_is_unharmed)
{
    fixture f = fixture_open();
    int64_t next = 1, failed = 1;
    fixture_commit(
        &f, 0,
        PROTOCOL_1_2
        "{\"metaData\":{\"id\":\"m\",\"format\":{},\"schemaString\":\"{\\\"type\\\":"
        "\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":"
        "\\\"long\\\","
        "\\\"nullable\\\":true,\\\"metadata\\\":{\\\"c\\\":1}}]}\",\"partitionColumns\":["
        "],"
        "\"configuration\":{\"delta.checkpointInterval\":\"1\"}}}\n"
        "{\"txn\":{\"appId\":\"app\",\"version\":1}}\n"
        "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"\",\"removed\":false}}"
        "\n");
    /* Every allocation takes 15 seconds: the long tests do that. */
    int stride = getenv("FOREBAY_TESTS_LONG") ? 1 : 11;
    for (int nth = 1; failed > 0 && nth < MAX_ALLOCATIONS; nth += stride) {
        bool committed;
        fb_alloc_fail_at(nth);
        fb_code code = work(&f, next, &committed);
        failed = fb_alloc_fail_at(0);
        if (failed > 0 && code != FB_OK) CHECK_CODE(code, FB_EMEMORY, &f.err);
        if (failed == 0) CHECK_CODE(code, FB_OK, &f.err);
        next += committed;
        if (code != FB_OK && code != FB_EMEMORY) printf("  allocation %d\n", nth);
        if (!committed || code == FB_OK) continue;
        CHECK_CODE(work(&f, next, &committed), FB_OK,
                   &f.err); // so that the log stays short
        next += committed;
    }
    CHECK(failed == 0);
    CHECK_INT(fixture_rows(&f), next - 1);
    fixture_close(&f);
}
