/* sink_options_test.c - paths of tables, and where rejected rows go by default. */
#include "sink/sink_options.h"
#include "tests/unit/config/reading.h"

static void sink_of(reading *r, const char *sink)
{
    char text[600];
    snprintf(text, sizeof text,
             "pipelines:\n  p:\n    source: {path: 'kafka://h/t', message_format: raw}\n"
             "    sink: %s\n",
             sink);
    reading_of(r, text);
}

static void has_paths(const char *sink, const char *accepted, const char *rejected)
{
    reading r;
    sink_of(&r, sink);
    CHECK_TEXT(r.shown, "");
    CHECK_TEXT(r.document.pipelines[0].sink.accepted.path, accepted);
    CHECK_TEXT(r.document.pipelines[0].sink.rejected.path, rejected);
    reading_end(&r);
}

static void says(const char *sink, const char *words)
{
    reading r;
    sink_of(&r, sink);
    CHECK(r.code == FB_ECONFIG);
    CHECK_HAS(r.shown, words);
    reading_end(&r);
}

TEST(rejected_rows_go_beside_the_table_unless_it_is_said)
{
    has_paths("{accepted: {path: ./lake/orders}}", "./lake/orders",
              "./lake/orders_rejected");
    has_paths("{accepted: {path: ./lake/orders//}}", "./lake/orders",
              "./lake/orders_rejected");
    has_paths("{accepted: {path: 'file:///lake/o'}}", "/lake/o", "/lake/o_rejected");
    has_paths("{accepted: {path: a}, rejected: {format: ndjson}}", "a", "a_rejected");
    has_paths("{accepted: {path: a}, rejected: {path: b/}}", "a", "b");
    has_paths("{accepted: {path: /}, rejected: {path: b}}", "/", "b");
}

TEST(a_sink_of_another_version_is_refused_as_such)
{
    says("{accepted: {format: parquet, path: a}}",
         "\"format\" must be delta in this version, not \"parquet\" [FB-C111]");
    says("{write_mode: overwrite, accepted: {path: a}}",
         "\"write_mode\" must be append in this version, not \"overwrite\" [FB-C111]");
    says("{accepted: {path: 's3://bucket/a'}}",
         "\"path\" must be a local folder in this version [FB-C111]");
    says("{accepted: {path: a}, rejected: {format: csv, path: b}}",
         "\"format\" must be delta or ndjson in this version, not \"csv\"");
}

TEST(a_sink_needs_a_table_and_not_the_same_one_twice)
{
    says("{write_mode: append}", "\"accepted\" is missing in \"sink\" [FB-C106]");
    says("{accepted: {format: delta}}", "\"path\" is missing in \"accepted\" [FB-C106]");
    says("{accepted: {path: a}, rejected: {path: a/}}",
         "rejected rows cannot go where accepted ones go [FB-C115]");
}

TEST(data_files_are_compressed_with_zstd_unless_it_is_said)
{
    reading r;
    sink_of(&r, "{accepted: {path: a}}");
    CHECK_INT(r.document.pipelines[0].sink.accepted.delta.compression, FB_COMPRESS_ZSTD);
    CHECK_INT(r.document.pipelines[0].sink.accepted.delta.row_group_size, 122880);
    reading_end(&r);
    sink_of(&r, "{accepted: {path: a, delta: {compression: uncompressed, row_group_size: "
                "4096}}}");
    CHECK_INT(r.document.pipelines[0].sink.accepted.delta.compression, FB_COMPRESS_NONE);
    CHECK_INT(r.document.pipelines[0].sink.accepted.delta.row_group_size, 4096);
    reading_end(&r);
}
