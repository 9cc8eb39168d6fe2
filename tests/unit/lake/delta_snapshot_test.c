/* delta_snapshot_test.c - what a log says at its newest version, whatever lies in it. */
#include "fixture.h"

#define TXN(app, version) "{\"txn\":{\"appId\":\"" app "\",\"version\":" version "}}\n"

static void check_refused(fixture *f, fb_reason reason, const char *words)
{
    fb_delta *table = NULL;
    CHECK(fb_delta_open(f->path, f->engine, &table, &f->err) != FB_OK);
    CHECK_TEXT(fb_reason_name(f->err.reason), fb_reason_name(reason));
    CHECK_HAS(f->err.what, words);
    CHECK_HAS(f->err.where, f->path);
    fb_delta_close(table);
}

static void check_version(fixture *f, int64_t version)
{
    fb_delta *table = fixture_table(f);
    REQUIRE(table != NULL);
    CHECK_INT(fb_delta_version(table), version);
    fb_delta_close(table);
}

TEST(a_folder_without_a_log_is_a_table_that_does_not_exist)
{
    fixture   f = fixture_open();
    fb_delta *table = fixture_table(&f);
    bool      has = true;
    CHECK(!fb_delta_exists(table));
    CHECK_INT(fb_delta_version(table), -1);
    CHECK_TEXT(fb_delta_id(table), "");
    CHECK_INT(fb_delta_schema(table)->count, 0);
    CHECK_CODE(fb_delta_has_files(table, &has, &f.err), FB_OK, &f.err);
    CHECK(!has);
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(a_file_url_is_a_path)
{
    fixture   f = fixture_open();
    fb_delta *table = NULL;
    char      url[200];
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    snprintf(url, sizeof url, "file://%s/%%74", f.folder);
    CHECK_CODE(fb_delta_open(url, f.engine, &table, &f.err), FB_OK, &f.err);
    CHECK_INT(fb_delta_version(table), 0);
    CHECK_TEXT(fb_delta_name(table), url);
    fb_delta_close(table);
    table = NULL;
    CHECK_CODE(fb_delta_open("file://host/x", f.engine, &table, &f.err), FB_EDATA,
               &f.err);
    CHECK_CODE(fb_delta_open("file:///x%0", f.engine, &table, &f.err), FB_EDATA, &f.err);
    CHECK_CODE(fb_delta_open("file:///x%00", f.engine, &table, &f.err), FB_EDATA, &f.err);
    fixture_close(&f);
}

TEST(the_newest_of_each_kind_counts)
{
    fixture   f = fixture_open();
    fb_delta *table;
    int64_t   version = 0, updated = 0;
    fixture_commit(&f, 0,
                   PROTOCOL_1_2 META_ID TXN("a", "5")
                       TXN("b", "1") "{\"domainMetadata\":{\"domain\":\"d\","
                                     "\"configuration\":\"1\",\"removed\":false}}\n"
                                     "{\"domainMetadata\":{\"domain\":\"e\","
                                     "\"configuration\":\"2\",\"removed\":false}}\n");
    fixture_commit(&f, 1,
                   "{\"txn\":{\"appId\":\"a\",\"version\":9,\"lastUpdated\":77}}\n"
                   "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"\","
                   "\"removed\":true}}\n");
    table = fixture_table(&f);
    CHECK_INT(fb_delta_version(table), 1);
    CHECK_TEXT(fb_delta_id(table), "m");
    CHECK(fb_delta_txn_find(table, "a", &version, &updated));
    CHECK_INT(version, 9);
    CHECK_INT(updated, 77);
    CHECK(fb_delta_txn_find(table, "b", &version, &updated));
    CHECK_INT(version, 1);
    CHECK_INT(updated, -1);
    CHECK(!fb_delta_txn_find(table, "c", &version, NULL));
    CHECK(fb_delta_domain(table, "d") == NULL);
    CHECK_TEXT(fb_delta_domain(table, "e"), "2");
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(holes_cuts_and_missing_parts_of_a_log_are_refused)
{
    fixture f = fixture_open();
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    fixture_commit(&f, 2, TXN("a", "1"));
    check_refused(&f, FB_R_P005, "version 1");
    fixture_commit(&f, 1, "{\"add\":{\"path\":\"x\"");
    check_refused(&f, FB_R_P006, "line 1");
    fixture_commit(&f, 1, "{\"add\":{\"path\":\"x\"}}");
    check_refused(&f, FB_R_P007, "\"partitionValues\"");
    fixture_commit(&f, 1, "{\"txn\":{\"appId\":\"x\",\"version\":\"1\"}}");
    check_refused(&f, FB_R_P007, "\"version\"");
    fixture_commit(&f, 1, "");
    check_version(&f, 2);
    fixture_remove(&f, "_delta_log/00000000000000000000.json");
    check_refused(&f, FB_R_P005, "version 0");
    fixture_commit(&f, 0, PROTOCOL_1_2);
    check_refused(&f, FB_R_P008, "no metaData");
    fixture_commit(&f, 0, META_ID);
    check_refused(&f, FB_R_P008, "no protocol");
    fixture_close(&f);
}

TEST(unknown_actions_and_fields_blank_lines_and_crlf_are_fine)
{
    fixture f = fixture_open();
    fixture_commit(&f, 0,
                   "{\"strange\":{\"x\":1}}\r\n\r\n" PROTOCOL_1_2 "\n" META_ID
                   "{\"commitInfo\":{\"operationParameters\":[1]}}\r\n"
                   "{\"cdc\":{\"path\":1}}\n");
    check_version(&f, 0);
    fixture_close(&f);
}

TEST(a_wrong_torn_or_missing_hint_is_passed_over)
{
    static const char *const hints[] = {"{\"version\":1",
                                        "",
                                        "{}",
                                        "{\"version\":\"1\"}",
                                        "[1]",
                                        "{\"version\":1}",
                                        "{\"version\":99}",
                                        "{\"version\":-5}"};
    fixture                  f = fixture_open();
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    fixture_commit(&f, 1, TXN("a", "1"));
    fixture_commit(&f, 2, TXN("a", "2"));
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        fixture_put(&f, "_delta_log/_last_checkpoint", hints[i]);
        check_version(&f, 2);
    }
    fixture_close(&f);
}

TEST(a_checkpoint_that_cannot_be_read_is_passed_over_while_the_commits_are_there)
{
    fixture f = fixture_open();
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    fixture_commit(&f, 1, TXN("a", "1"));
    fixture_put(&f, "_delta_log/00000000000000000001.checkpoint.parquet", "PAR1 torn");
    fixture_put(&f, "_delta_log/_last_checkpoint", "{\"version\":1}");
    check_version(&f, 1);
    fixture_remove(&f, "_delta_log/00000000000000000000.json");
    check_refused(&f, FB_R_P010, "no checkpoint");
    fixture_close(&f);
}

TEST(a_table_stands_on_its_checkpoint_when_the_commits_before_it_are_gone)
{
    fixture         f = fixture_open();
    fb_delta_result result;
    int64_t         version = 0;
    fb_delta       *table = fixture_table(&f);
    char            key[FB_LOG_KEY];
    for (int i = 0; i <= 10; i++)
        CHECK_CODE(fixture_append(&f, table, 3, MOVE("app", i ? i : -1, i + 1), &result),
                   FB_OK, &f.err);
    CHECK_CODE(fb_delta_checkpoint_if_due(table, NULL, &f.err), FB_OK, &f.err);
    CHECK_CODE(fixture_append(&f, table, 3, MOVE("app", 11, 12), &result), FB_OK, &f.err);
    fb_delta_close(table);
    for (int i = 0; i <= 10; i++) fixture_remove(&f, fb_log_commit_key(i, key));
    table = fixture_table(&f);
    CHECK_INT(fb_delta_version(table), 11);
    CHECK(fb_delta_txn_find(table, "app", &version, NULL));
    CHECK_INT(version, 12);
    CHECK_CODE(fixture_append(&f, table, 3, MOVE("app", 12, 13), &result), FB_OK, &f.err);
    fb_delta_close(table);
    CHECK_INT(fixture_rows(&f), 39);
    fixture_remove(&f, fb_log_commit_key(11, key));
    check_refused(&f, FB_R_P005, "version 11");
    fixture_close(&f);
}

TEST(a_refresh_reads_what_came_since_and_notices_a_table_made_anew)
{
    fixture f = fixture_open();
    int64_t version = 0;
    char    key[FB_LOG_KEY];
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    fb_delta *table = fixture_table(&f);
    CHECK_CODE(fb_delta_refresh(table, &f.err), FB_OK, &f.err);
    CHECK_INT(fb_delta_version(table), 0);
    fixture_commit(&f, 1, TXN("a", "1"));
    fixture_commit(&f, 2, TXN("a", "2"));
    CHECK_CODE(fb_delta_refresh(table, &f.err), FB_OK, &f.err);
    CHECK_INT(fb_delta_version(table), 2);
    CHECK(fb_delta_txn_find(table, "a", &version, NULL) && version == 2);

    fixture_commit(&f, 3, "{\"txn\":{\"appId\":\"a\"");
    CHECK_CODE(fb_delta_refresh(table, &f.err), FB_EDATA, &f.err);
    CHECK_INT(fb_delta_version(table), 2); // a version is applied whole or not at all
    CHECK(fb_delta_txn_find(table, "a", &version, NULL) && version == 2);

    for (int i = 0; i <= 3; i++) fixture_remove(&f, fb_log_commit_key(i, key));
    CHECK_CODE(fb_delta_refresh(table, &f.err), FB_OK, &f.err);
    CHECK(!fb_delta_exists(table));
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    CHECK_CODE(fb_delta_refresh(table, &f.err), FB_OK, &f.err);
    CHECK(!fb_delta_txn_find(table, "a", &version, NULL));
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(a_hole_that_appears_while_we_sleep_is_refused)
{
    fixture f = fixture_open();
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    fb_delta *table = fixture_table(&f);
    fixture_commit(&f, 2, TXN("a", "2"));
    CHECK_CODE(fb_delta_refresh(table, &f.err), FB_EDATA, &f.err);
    CHECK(f.err.reason == FB_R_P005);
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(properties_and_retention_are_told)
{
    fixture   f = fixture_open();
    fb_delta *table;
    fixture_commit(
        &f, 0,
        PROTOCOL_1_2
        "{\"metaData\":{\"id\":\"m\",\"format\":{},\"schemaString\":\"{\\\"type\\\":"
        "\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":"
        "{\"delta.setTransactionRetentionDuration\":\"interval 2 days\"}}}\n");
    table = fixture_table(&f);
    CHECK_INT(fb_delta_txn_retention_ms(table), 2 * 86400000);
    CHECK(fb_delta_property(table, "delta.other") == NULL);
    CHECK(fb_delta_has_feature(table, "appendOnly"));
    CHECK(!fb_delta_has_feature(table, "changeDataFeed"));
    fb_delta_close(table);
    fixture_close(&f);
}
