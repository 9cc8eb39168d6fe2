/* delta_checkpoint_test.c - when one is due, what is in it, and what a crash leaves. */
#include "fixture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

static void append(fixture *f, fb_delta *table, int times)
{
    fb_delta_result result;
    for (int i = 0; i < times; i++)
        CHECK_CODE(fixture_append(f, table, 2, STAY, &result), FB_OK, &f->err);
}

static bool checkpoint(fixture *f, fb_delta *table)
{
    bool wrote = false;
    CHECK_CODE(fb_delta_checkpoint_if_due(table, &wrote, &f->err), FB_OK, &f->err);
    return wrote;
}

static bool has_checkpoint(fixture *f, int64_t version)
{
    char key[FB_LOG_KEY];
    snprintf(key, sizeof key, "_delta_log/%020" PRId64 ".checkpoint.parquet", version);
    return fixture_has(f, key);
}

TEST(a_checkpoint_is_due_every_ten_versions)
{
    fixture   f = fixture_open();
    fb_delta *table = fixture_table(&f);
    CHECK(!checkpoint(&f, table));
    append(&f, table, 10);
    CHECK(!checkpoint(&f, table));
    append(&f, table, 1);
    CHECK(checkpoint(&f, table));
    CHECK(has_checkpoint(&f, 10));
    CHECK(!checkpoint(&f, table));
    fb_buf hint = fixture_get(&f, "_delta_log/_last_checkpoint");
    CHECK_HAS(hint.data, "{\"version\":10,\"size\":13,");
    CHECK_HAS(hint.data, "\"numOfAddFiles\":11}");
    fb_buf_clear(&hint);
    append(&f, table, 9);
    CHECK(!checkpoint(&f, table));
    append(&f, table, 1);
    CHECK(checkpoint(&f, table));
    CHECK(has_checkpoint(&f, 20));
    fb_delta_close(table);
    CHECK_INT(fixture_rows(&f), 42);
    fixture_close(&f);
}

TEST(a_checkpoint_that_a_crash_prevented_is_written_after_the_next_commit)
{
    fixture   f = fixture_open();
    fb_delta *table = fixture_table(&f);
    append(&f, table, 11);
    fb_delta_close(table); // killed here
    table = fixture_table(&f);
    append(&f, table, 1);
    CHECK(checkpoint(&f, table));
    CHECK(has_checkpoint(&f, 11));
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(a_failing_checkpoint_leaves_the_table_as_good_as_before)
{
    static const char *const points[] = {
        "delta.checkpoint.temp:error=EIO", "store.settle.written:error=EIO",
        "store.move.renamed:error=EIO",    "delta.checkpoint.renamed:error=EIO",
        "store.put.temp:error=ENOSPC",     "store.put.renamed:error=EIO",
        "delta.checkpoint.last:error=EIO"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        fixture   f = fixture_open();
        fb_delta *table = fixture_table(&f);
        bool      wrote = true;
        append(&f, table, 11);
        fixture_arm(points[i]);
        CHECK_CODE(fb_delta_checkpoint_if_due(table, &wrote, &f.err), FB_EIO, &f.err);
        fixture_arm(NULL);
        CHECK(!wrote);
        append(&f, table, 10);
        CHECK(checkpoint(&f, table));
        fb_delta_close(table);
        CHECK_INT(fixture_rows(&f), 42);
        fixture_close(&f);
    }
}

TEST(a_kill_in_a_checkpoint_leaves_the_table_as_good_as_before)
{
    static const char *const points[] = {
        "delta.checkpoint.temp:kill", "store.move.renamed:kill",
        "delta.checkpoint.renamed:kill", "store.put.temp:torn",
        "delta.checkpoint.last:kill"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        fixture           f = {.folder = "/tmp/fb_lake_XXXXXX"};
        fb_engine_options options = {.memory_bytes = 256 << 20, .threads = 1};
        CHECK(mkdtemp(f.folder) != NULL);
        snprintf(f.path, sizeof f.path, "%s/t", f.folder);
        fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
        for (int64_t v = 1; v <= 10; v++)
            fixture_commit(&f, v, "{\"txn\":{\"appId\":\"a\",\"version\":1}}\n");
        pid_t child = fork();
        if (child == 0) {
            if (fb_engine_open(&options, &f.engine, &f.err) != FB_OK) _exit(1);
            fb_delta *table = fixture_table(&f);
            fixture_arm(points[i]);
            _exit(fb_delta_checkpoint_if_due(table, NULL, &f.err) == FB_OK ? 2 : 3);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        CHECK_CODE(fb_engine_open(&options, &f.engine, &f.err), FB_OK, &f.err);
        fb_delta *table = fixture_table(&f);
        CHECK_INT(fb_delta_version(table), 10);
        append(&f, table, 1);
        fb_delta_close(table);
        CHECK_INT(fixture_rows(&f), 2);
        fixture_close(&f);
    }
}

TEST(one_of_many_writers_makes_the_checkpoint)
{
    fixture   f = fixture_open();
    fb_delta *table = fixture_table(&f);
    char      turn[160];
    append(&f, table, 11);
    fixture_put(&f, "_delta_log/.forebay-after-00000000000000000000.tmp", "");
    CHECK(!checkpoint(&f, table)); // another one is at it
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    snprintf(turn, sizeof turn, "%s/_delta_log/.forebay-after-00000000000000000000.tmp",
             f.path);
    CHECK(utimensat(AT_FDCWD, turn, old, 0) == 0);
    CHECK(!checkpoint(&f, table)); // it was, long ago: the file is taken away
    CHECK(checkpoint(&f, table));
    CHECK(!fb_file_exists(turn));
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(leftovers_of_kills_are_removed_when_they_are_a_day_old)
{
    fixture   f = fixture_open();
    fb_delta *table = fixture_table(&f);
    char      path[160];
    append(&f, table, 11);
    fixture_put(&f, "_delta_log/.forebay-x.tmp", "");
    fixture_put(&f, "_delta_log/.forebay-y.tmp", "");
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    snprintf(path, sizeof path, "%s/_delta_log/.forebay-x.tmp", f.path);
    CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
    CHECK(checkpoint(&f, table));
    CHECK(!fixture_has(&f, "_delta_log/.forebay-x.tmp"));
    CHECK(fixture_has(&f, "_delta_log/.forebay-y.tmp"));
    fb_delta_close(table);
    fixture_close(&f);
}

/* What the checkpoint of version 1 says, asked of the Parquet file itself. */
static void check_sql(fixture *f, fb_delta *table, const char *expression, int64_t want)
{
    char    sql[1000];
    int64_t got = -1;
    snprintf(sql, sizeof sql,
             "SELECT (%s)::BIGINT FROM read_parquet('%s/_delta_log/"
             "00000000000000000001.checkpoint.parquet')",
             expression, f->path);
    CHECK_CODE(fb_delta_query_int(table, sql, &got, &f->err), FB_OK, &f->err);
    CHECK_INT(got, want);
    if (got != want) printf("  %s\n", expression);
}

/* Two versions with an action of each kind. */
static void write_all_kinds(fixture *f)
{
    char    log[3000];
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    fixture_commit(
        f, 0,
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":"
        "[\"deletionVectors\"],\"writerFeatures\":[\"deletionVectors\","
        "\"domainMetadata\"]}}\n"
        "{\"metaData\":{\"id\":\"m\",\"name\":\"n\",\"description\":\"d\",\"format\":"
        "{\"provider\":\"parquet\",\"options\":{\"o\":\"1\"}},\"schemaString\":\"{"
        "\\\"type\\\":"
        "\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":"
        "{\"delta.checkpointInterval\":\"1\",\"k\":\"v\"},\"createdTime\":77}}\n"
        "{\"txn\":{\"appId\":\"a\",\"version\":5,\"lastUpdated\":99}}\n"
        "{\"txn\":{\"appId\":\"b\",\"version\":6}}\n"
        "{\"domainMetadata\":{\"domain\":\"x\",\"configuration\":\"{}\",\"removed\":"
        "false}}\n"
        "{\"domainMetadata\":{\"domain\":\"y\",\"configuration\":\"\",\"removed\":true}}"
        "\n"
        "{\"add\":{\"path\":\"old\",\"partitionValues\":{},\"size\":1,"
        "\"modificationTime\":1,"
        "\"dataChange\":true}}\n"
        "{\"add\":{\"path\":\"gone\",\"partitionValues\":{},\"size\":1,"
        "\"modificationTime\":1,"
        "\"dataChange\":true}}\n");
    snprintf(
        log, sizeof log,
        "{\"remove\":{\"path\":\"old\",\"deletionTimestamp\":1,\"dataChange\":true}}\n"
        "{\"remove\":{\"path\":\"gone\",\"deletionTimestamp\":%" PRId64
        ",\"dataChange\":true,"
        "\"extendedFileMetadata\":true,\"partitionValues\":{},\"size\":1,\"stats\":\"x\"}"
        "}\n"
        "{\"add\":{\"path\":\"new\",\"partitionValues\":{\"p\":null,\"q\":\"1\"},"
        "\"size\":"
        "9007199254740993,\"modificationTime\":2,\"dataChange\":true,\"stats\":\"{"
        "\\\"n\\\":1}\","
        "\"tags\":{\"t\":\"1\"},\"deletionVector\":{\"storageType\":\"u\","
        "\"pathOrInlineDv\":"
        "\"ab\",\"offset\":4,\"sizeInBytes\":40,\"cardinality\":6},\"baseRowId\":11,"
        "\"defaultRowCommitVersion\":1,\"clusteringProvider\":\"c\"}}\n",
        now_ms);
    fixture_commit(f, 1, log);
}

TEST(a_checkpoint_says_all_that_the_commits_say)
{
    fixture f = fixture_open();
    write_all_kinds(&f);
    fb_delta *table = fixture_table(&f);
    CHECK(checkpoint(&f, table));
    check_sql(&f, table, "count(*)", 7);
    check_sql(&f, table, "count(add)", 1);
    check_sql(&f, table, "count(remove)", 1);
    check_sql(&f, table, "count(txn)", 2);
    check_sql(&f, table, "max(txn.lastUpdated)", 99);
    check_sql(&f, table, "count(*) FILTER (domainMetadata.domain = 'x')", 1);
    check_sql(&f, table, "count(domainMetadata)", 1);
    check_sql(&f, table,
              "count(*) FILTER (protocol.readerFeatures = ['deletionVectors'] AND "
              "protocol.writerFeatures = ['deletionVectors', 'domainMetadata'])",
              1);
    check_sql(&f, table,
              "count(*) FILTER (metaData.id = 'm' AND metaData.name = 'n' AND "
              "metaData.description = 'd' AND metaData.format.options['o'] = '1' AND "
              "metaData.configuration['k'] = 'v' AND metaData.createdTime = 77 AND "
              "len(metaData.partitionColumns) = 0)",
              1);
    check_sql(
        &f, table,
        "count(*) FILTER (add.path = 'new' AND add.size = 9007199254740993 AND "
        "NOT add.dataChange AND add.stats = '{\"n\":1}' AND add.tags['t'] = '1' AND "
        "add.partitionValues['q'] = '1' AND add.partitionValues['p'] IS NULL AND "
        "cardinality(add.partitionValues) = 2)",
        1);
    check_sql(
        &f, table,
        "count(*) FILTER (add.deletionVector.storageType = 'u' AND "
        "add.deletionVector.pathOrInlineDv = 'ab' AND "
        "add.deletionVector.\"offset\" = 4 AND add.deletionVector.sizeInBytes = 40 AND "
        "add.deletionVector.cardinality = 6 AND add.baseRowId = 11 AND "
        "add.defaultRowCommitVersion = 1 AND add.clusteringProvider = 'c')",
        1);
    check_sql(&f, table,
              "count(*) FILTER (remove.path = 'gone' AND remove.size = 1 AND "
              "remove.extendedFileMetadata)",
              1);
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(a_checkpoint_made_from_a_checkpoint_loses_nothing)
{
    fixture f = fixture_open();
    char    from[200], to[200];
    write_all_kinds(&f);
    fb_delta *table = fixture_table(&f);
    CHECK(checkpoint(&f, table));
    fb_delta_close(table);
    fixture_commit(&f, 2, "{\"txn\":{\"appId\":\"c\",\"version\":1}}\n");
    fixture_remove(&f, "_delta_log/00000000000000000000.json");
    fixture_remove(&f, "_delta_log/00000000000000000001.json");
    table = fixture_table(&f);
    CHECK(checkpoint(&f, table));
    snprintf(from, sizeof from, "%s/_delta_log/00000000000000000002.checkpoint.parquet",
             f.path);
    snprintf(to, sizeof to, "%s/_delta_log/00000000000000000001.checkpoint.parquet",
             f.path);
    CHECK(rename(from, to) == 0);
    check_sql(&f, table, "count(*)", 8);
    check_sql(
        &f, table,
        "count(*) FILTER (add.deletionVector.\"offset\" = 4 AND add.baseRowId = 11 AND "
        "add.tags['t'] = '1' AND add.partitionValues['q'] = '1')",
        1);
    check_sql(&f, table, "count(*) FILTER (remove.path = 'gone')", 1);
    check_sql(&f, table, "count(txn)", 3);
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(protocols_without_lists_have_none_in_the_checkpoint)
{
    fixture f = fixture_open();
    fixture_commit(
        &f, 0,
        PROTOCOL_1_2
        "{\"metaData\":{\"id\":\"m\",\"format\":{},\"schemaString\":\"{\\\"type\\\":"
        "\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":"
        "{\"delta.checkpointInterval\":\"1\"}}}\n");
    fixture_commit(&f, 1, "");
    fb_delta *table = fixture_table(&f);
    CHECK(checkpoint(&f, table));
    check_sql(&f, table,
              "count(*) FILTER (protocol.minWriterVersion = 2 AND "
              "protocol.readerFeatures IS NULL AND protocol.writerFeatures IS NULL)",
              1);
    fb_delta_close(table);
    fixture_close(&f);
}

/* Make a V2 checkpoint of version 1 with two sidecars, its own rows in JSON or Parquet.
 */
static void make_v2(fixture *f, bool is_json)
{
    static const char uuid[] = "80a083e8-7026-4e79-81be-64bd76c43a11";
    static const char own[] =
        "SELECT {minReaderVersion: 1, minWriterVersion: 2} AS protocol, NULL AS "
        "metaData, "
        "NULL AS txn, NULL AS sidecar UNION ALL SELECT NULL, {id: 'm', schemaString: "
        "'{\"type\":\"struct\",\"fields\":[]}', partitionColumns: []::VARCHAR[]}, NULL, "
        "NULL "
        "UNION ALL SELECT NULL, NULL, {appId: 'a', version: 3::BIGINT}, NULL "
        "UNION ALL SELECT NULL, NULL, NULL, {path: unnest(['s%201.parquet', "
        "'s2.parquet'])}";
    fb_buf sql;
    char   key[200];
    fb_buf_init(&sql, 1 << 20);
    fixture_put(f, "_delta_log/_sidecars/x", "");
    for (int i = 1; i <= 2; i++)
        fb_buf_printf(
            &sql,
            "COPY (SELECT {path: 'f%d', partitionValues: MAP{}::MAP(VARCHAR, VARCHAR),"
            " size: %d::BIGINT, modificationTime: 1::BIGINT, dataChange: false, "
            "stats_parsed: {numRecords: 5::BIGINT, minValues: {x: 1}}} AS add) TO "
            "'%s/_delta_log/_sidecars/s%s%d.parquet' (FORMAT parquet);",
            i, i, f->path, i == 1 ? " " : "", i);
    snprintf(key, sizeof key, "_delta_log/%020d.checkpoint.%s.json", 1, uuid);
    if (is_json)
        fixture_put(
            f, key,
            "{\"checkpointMetadata\":{\"version\":1}}\n" PROTOCOL_1_2
            "{\"metaData\":{\"id\":\"m\",\"schemaString\":\"{\\\"type\\\":\\\"struct\\\","
            "\\\"fields\\\":[]}\",\"partitionColumns\":[]}}\n"
            "{\"txn\":{\"appId\":\"a\",\"version\":3}}\n"
            "{\"sidecar\":{\"path\":\"s%201.parquet\"}}\n{\"sidecar\":{\"path\":\"s2."
            "parquet\"}}\n");
    else
        fb_buf_printf(
            &sql,
            "COPY (%s) TO '%s/_delta_log/%020d.checkpoint.%s.parquet' (FORMAT parquet)",
            own, f->path, 1, uuid);
    CHECK_CODE(fb_engine_exec(f->engine, sql.data, &f->err), FB_OK, &f->err);
    fb_buf_clear(&sql);
}

TEST(v2_checkpoints_are_read_with_their_sidecars)
{
    for (int is_json = 0; is_json < 2; is_json++) {
        fixture        f = fixture_open();
        int64_t        version = 0;
        fb_delta_files files;
        make_v2(&f, is_json);
        fixture_commit(&f, 2,
                       "{\"remove\":{\"path\":\"f1\",\"deletionTimestamp\":1,"
                       "\"dataChange\":true}}\n");
        fb_delta *table = fixture_table(&f);
        REQUIRE(table != NULL);
        CHECK_INT(fb_delta_version(table), 2);
        CHECK(fb_delta_txn_find(table, "a", &version, NULL) && version == 3);
        fb_delta_files_init(&files);
        CHECK_CODE(fb_delta_files_list(table, &files, &f.err), FB_OK, &f.err);
        REQUIRE(files.count == 1);
        CHECK_HAS(files.paths[0], "/f2");
        CHECK_INT(files.size_bytes, 2);
        fb_delta_files_clear(&files);
        CHECK_CODE(fb_delta_files_make(table, false, &f.err), FB_OK, &f.err);
        CHECK_CODE(
            fb_delta_query_int(table,
                               "SELECT count(*) FROM temp.fb_lake_files WHERE add.stats "
                               "= '{\"numRecords\":5,\"minValues\":{\"x\":1}}'",
                               &version, &f.err),
            FB_OK, &f.err);
        CHECK_INT(version, 1); // statistics that were a struct only are kept
        fb_delta_files_drop(table);
        fb_delta_close(table);
        fixture_remove(&f, "_delta_log/_sidecars/s2.parquet");
        CHECK_CODE(fb_delta_open(f.path, f.engine, &table, &f.err), FB_EDATA, &f.err);
        CHECK(f.err.reason == FB_R_P010);
        fixture_close(&f);
    }
}
