/* delta_add_test.c - the file behind an add: its name, its codec, its types, its checks.
 */
#include "fixture.h"

static void write_one(fixture *f, const char *configuration, fb_delta_adds *adds)
{
    fb_column id = column_of("id", "int64");
    fb_schema schema = {.columns = &id, .count = 1};
    char      log[1000];
    snprintf(
        log, sizeof log,
        "%s{\"metaData\":{\"id\":\"m\",\"format\":{},\"schemaString\":\"{\\\"type\\\":"
        "\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{%"
        "s}}}\n",
        PROTOCOL_1_2, configuration);
    fixture_commit(f, 0, log);
    fb_delta *table = fixture_table(f);
    fb_delta_adds_init(adds);
    fixture_write(f, table, &schema, "(SELECT 1 AS id)", adds);
    fb_delta_close(table);
}

TEST(the_table_chooses_codec_and_format)
{
    static const struct {
        const char *configuration, *suffix, *codec;
    } kinds[] = {
        {"", ".c000.zstd.parquet", "ZSTD"},
        {"\"delta.parquet.compression.codec\":\"SNAPPY\"", ".c000.snappy.parquet",
         "SNAPPY"},
        {"\"delta.parquet.compression.codec\":\"none\"", ".c000.parquet", "UNCOMPRESSED"},
        {"\"delta.parquet.compression.codec\":\"lzo\"", ".c000.zstd.parquet", "ZSTD"},
        {"\"delta.parquet.format.version\":\"2.12.0\"", ".c000.zstd.parquet", "ZSTD"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        fixture       f = fixture_open();
        fb_delta_adds adds;
        char          sql[500];
        int64_t       is_so = 0;
        write_one(&f, kinds[i].configuration, &adds);
        REQUIRE(adds.count == 1);
        CHECK_HAS(adds.items[0].path, kinds[i].suffix);
        CHECK_INT(adds.items[0].rows, 1);
        CHECK(adds.items[0].size_bytes > 50 && adds.items[0].modified_ms > 0);
        fb_delta *table = fixture_table(&f);
        snprintf(sql, sizeof sql,
                 "SELECT (compression = '%s')::BIGINT FROM parquet_metadata('%s/%s')",
                 kinds[i].codec, f.path, adds.items[0].path);
        CHECK_CODE(fb_delta_query_int(table, sql, &is_so, &f.err), FB_OK, &f.err);
        CHECK(is_so);
        fb_delta_close(table);
        fb_delta_adds_clear(&adds);
        fixture_close(&f);
    }
}

TEST(a_file_that_changed_after_it_was_written_is_refused)
{
    fixture       f = fixture_open();
    fb_column     id = column_of("id", "int64");
    fb_schema     schema = {.columns = &id, .count = 1};
    fb_delta     *table = fixture_table(&f);
    fb_delta_adds adds;
    fb_buf        sql;
    duckdb_result result;
    char          path[FB_MAX_PATH];
    fb_delta_adds_init(&adds);
    fb_buf_init(&sql, 1 << 20);
    CHECK_CODE(fb_delta_copy_sql(table, &schema, "(SELECT 1 AS id)", &sql, path, &f.err),
               FB_OK, &f.err);
    CHECK_CODE(fb_engine_query(f.engine, fb_buf_text(&sql), &result, &f.err), FB_OK,
               &f.err);
    CHECK(truncate(path, 60) == 0);
    CHECK_CODE(fb_delta_adds_from_copy(table, &schema, &result, &adds, &f.err), FB_EIO,
               &f.err);
    CHECK(f.err.reason == FB_R_S004);
    CHECK_INT(adds.count, 0);
    duckdb_destroy_result(&result);
    fb_buf_clear(&sql);
    fb_delta_adds_clear(&adds);
    fb_delta_close(table);
    fixture_close(&f);
}
