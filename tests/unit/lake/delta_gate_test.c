/* delta_gate_test.c - protocols, features and properties against reading and appending.
 */
#include "fixture.h"

#define FIELDS(fields) "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[" fields "]}"
#define FIELD(name, type, metadata)                                                      \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":" type                                  \
    ",\\\"nullable\\\":true,\\\"metadata\\\":{" metadata "}}"
#define TEXT(text) "\\\"" text "\\\""
#define ID FIELD("id", TEXT("long"), "")

static const char *table_log(const char *protocol, const char *fields,
                             const char *configuration, const char *partitions)
{
    static char text[4000];
    snprintf(
        text, sizeof text,
        "{\"protocol\":{%s}}\n{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":"
        "\"parquet\",\"options\":{}},\"schemaString\":\"%s\",\"partitionColumns\":[%s],"
        "\"configuration\":{%s},\"createdTime\":1}}\n",
        protocol, fields, partitions, configuration);
    return text;
}

/* Open a table with this log, and append to it rows of one column "id". */
static void check(const char *log, fb_reason read, fb_reason append, const char *words)
{
    fixture   f = fixture_open();
    fb_column id = column_of("id", "int64");
    fb_schema rows = {.columns = &id, .count = 1};
    fb_delta *table = NULL;
    fixture_commit(&f, 0, log);
    f.err = (fb_error){0};
    fb_code code = fb_delta_open(f.path, f.engine, &table, &f.err);
    CHECK_TEXT(fb_reason_name(code == FB_OK ? FB_R_NONE : f.err.reason),
               fb_reason_name(read));
    if (table) {
        code = fb_delta_check_append(table, &rows, &f.err);
        CHECK_TEXT(fb_reason_name(code == FB_OK ? FB_R_NONE : f.err.reason),
                   fb_reason_name(append));
    }
    if (words) CHECK_HAS(f.err.what, words);
    fb_delta_close(table);
    fixture_close(&f);
}

static void check_protocol(const char *protocol, fb_reason read, fb_reason append,
                           const char *words)
{
    check(table_log(protocol, FIELDS(ID), "", ""), read, append, words);
}

#define READERS(r, w) "\"minReaderVersion\":" r ",\"minWriterVersion\":" w
#define LISTS(readers, writers)                                                          \
    READERS("3", "7") ",\"readerFeatures\":[" readers "],\"writerFeatures\":[" writers "]"
#define WRITERS(writers) READERS("1", "7") ",\"writerFeatures\":[" writers "]"

TEST(reading_is_judged_by_the_reader_part_of_the_protocol)
{
    check_protocol(READERS("1", "1"), FB_R_NONE, FB_R_NONE, NULL);
    check_protocol(READERS("2", "6"), FB_R_NONE, FB_R_NONE, NULL);
    check_protocol(READERS("4", "7"), FB_R_P001, FB_R_NONE, "reader version 4");
    check_protocol(READERS("1", "8"), FB_R_NONE, FB_R_P001, "writer version 8");
    check_protocol(READERS("0", "2"), FB_R_P004, FB_R_NONE, NULL);
    check_protocol(READERS("3", "7"), FB_R_P004, FB_R_NONE, "no list readerFeatures");
    check_protocol(READERS("3", "5") ",\"readerFeatures\":[],\"writerFeatures\":[]",
                   FB_R_P004, FB_R_NONE, "writer version 7");
    check_protocol(READERS("1", "2") ",\"readerFeatures\":[]", FB_R_P004, FB_R_NONE,
                   "has a list");
    check_protocol(READERS("1", "2") ",\"writerFeatures\":[]", FB_R_NONE, FB_R_P004,
                   "has a list");
    check_protocol(READERS("1", "7"), FB_R_NONE, FB_R_P004, "has no list");
    check_protocol(LISTS("", ""), FB_R_NONE, FB_R_NONE, NULL);
    check_protocol(LISTS("\"deletionVectors\"", ""), FB_R_P004, FB_R_NONE,
                   "\"deletionVectors\"");
    check_protocol(LISTS("", "\"deletionVectors\""), FB_R_NONE, FB_R_P004,
                   "\"deletionVectors\"");
    check_protocol(LISTS("\"deletionVectors\"", "\"deletionVectors\""), FB_R_NONE,
                   FB_R_NONE, NULL);
}

TEST(a_feature_that_is_not_known_is_named)
{
    check_protocol(LISTS("\"fooX\"", "\"fooX\""), FB_R_P002, FB_R_NONE, "\"fooX\"");
    check_protocol(WRITERS("\"fooX\""), FB_R_NONE, FB_R_P002, "\"fooX\"");
    check_protocol(LISTS("\"catalogManaged\"", "\"catalogManaged\""), FB_R_P003,
                   FB_R_NONE, "\"catalogManaged\"");
    check_protocol(WRITERS("\"checkpointProtection\""), FB_R_NONE, FB_R_P003,
                   "\"checkpointProtection\"");
}

TEST(a_feature_that_is_listed_and_not_used_binds_nobody)
{
    check_protocol(
        WRITERS("\"appendOnly\",\"invariants\",\"checkConstraints\",\"changeDataFeed\","
                "\"generatedColumns\",\"identityColumns\",\"allowColumnDefaults\","
                "\"domainMetadata\",\"inCommitTimestamp\",\"clustering\","
                "\"icebergCompatV1\",\"icebergCompatV2\""),
        FB_R_NONE, FB_R_NONE, NULL);
    check_protocol(
        LISTS("\"timestampNtz\",\"typeWidening\",\"v2Checkpoint\",\"columnMapping\","
              "\"vacuumProtocolCheck\",\"variantType\"",
              "\"timestampNtz\",\"typeWidening\",\"v2Checkpoint\",\"columnMapping\","
              "\"vacuumProtocolCheck\",\"variantType\""),
        FB_R_NONE, FB_R_NONE, NULL);
    check(table_log(WRITERS("\"rowTracking\",\"domainMetadata\""), FIELDS(ID),
                    "\"delta.rowTrackingSuspended\":\"true\"", ""),
          FB_R_NONE, FB_R_NONE, NULL);
}

TEST(a_feature_in_use_that_we_cannot_honour_is_refused_by_its_name)
{
    static const char v6[] = READERS("2", "6");
    check(table_log(v6, FIELDS(ID), "\"delta.constraints.pos\":\"id > 0\"", ""),
          FB_R_NONE, FB_R_P003, "\"checkConstraints\"");
    check(table_log(v6, FIELDS(ID), "\"delta.columnMapping.mode\":\"name\"", ""),
          FB_R_NONE, FB_R_P003, "\"columnMapping\"");
    check(table_log(v6, FIELDS(ID), "\"delta.columnMapping.mode\":\"none\"", ""),
          FB_R_NONE, FB_R_NONE, NULL);
    check(table_log(v6,
                    FIELDS(FIELD("id", TEXT("long"), TEXT("delta.identity.start") ":1")),
                    "", ""),
          FB_R_NONE, FB_R_P003, "\"identityColumns\"");
    check(table_log(
              v6,
              FIELDS(ID "," FIELD("g", TEXT("long"),
                                  TEXT("delta.generationExpression") ":" TEXT("id * 2"))),
              "", ""),
          FB_R_NONE, FB_R_P003, "\"generatedColumns\"");
    check(table_log(
              v6,
              FIELDS(FIELD("id", TEXT("long"), TEXT("delta.invariants") ":" TEXT("{}"))),
              "", ""),
          FB_R_NONE, FB_R_P003, "\"invariants\"");
    check(table_log(v6, FIELDS(ID "," FIELD("p", TEXT("string"), "")), "", "\"p\""),
          FB_R_NONE, FB_R_P003, "partitioned (by \"p\")");
    check_protocol(WRITERS("\"rowTracking\",\"domainMetadata\""), FB_R_NONE, FB_R_P003,
                   "\"rowTracking\"");
    check(table_log(WRITERS("\"icebergCompatV2\""), FIELDS(ID),
                    "\"delta.enableIcebergCompatV2\":\"true\"", ""),
          FB_R_NONE, FB_R_P003, "\"icebergCompatV2\"");
    check(table_log(WRITERS("\"icebergCompatV1\""), FIELDS(ID),
                    "\"delta.enableIcebergCompatV1\":\"true\"", ""),
          FB_R_NONE, FB_R_P003, "\"icebergCompatV1\"");
}

TEST(clustering_is_refused_when_columns_are_clustered)
{
    char log[5000];
    for (int used = 0; used < 2; used++) {
        snprintf(
            log, sizeof log,
            "%s{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":"
            "\"{\\\"clusteringColumns\\\":[%s]}\",\"removed\":false}}\n",
            table_log(WRITERS("\"clustering\",\"domainMetadata\""), FIELDS(ID), "", ""),
            used ? "[\\\"id\\\"]" : "");
        check(log, FB_R_NONE, used ? FB_R_P003 : FB_R_NONE,
              used ? "\"clustering\"" : NULL);
    }
}

TEST(a_column_with_a_default_must_be_given)
{
    char fields[600];
    snprintf(fields, sizeof fields, FIELDS(ID ",%s"),
             FIELD("d", TEXT("long"), TEXT("CURRENT_DEFAULT") ":" TEXT("42")));
    check(table_log(WRITERS("\"allowColumnDefaults\""), fields, "", ""), FB_R_NONE,
          FB_R_P003, "\"allowColumnDefaults\"");
    check(table_log(
              WRITERS("\"allowColumnDefaults\""),
              FIELDS(FIELD("id", TEXT("long"), TEXT("CURRENT_DEFAULT") ":" TEXT("42"))),
              "", ""),
          FB_R_NONE, FB_R_NONE, NULL);
}

TEST(columns_that_a_writer_must_not_meet_are_refused)
{
    static const char feed[] = "\"delta.enableChangeDataFeed\":\"true\"";
    static const char v4[] = READERS("1", "4");
    check(
        table_log(v4, FIELDS(ID "," FIELD("_change_type", TEXT("string"), "")), feed, ""),
        FB_R_NONE, FB_R_P003, "\"_change_type\"");
    check(table_log(v4, FIELDS(ID "," FIELD("_change_type", TEXT("string"), "")), "", ""),
          FB_R_NONE, FB_R_NONE, NULL);
    check(table_log(v4, FIELDS(ID), feed, ""), FB_R_NONE, FB_R_NONE, NULL);
    check(table_log(v4, FIELDS(ID "," FIELD("ID", TEXT("long"), "")), "", ""), FB_R_NONE,
          FB_R_P009, "\"ID\"");
    check(table_log(v4, FIELDS(ID "," FIELD("n", TEXT("timestamp_ntz"), "")), "", ""),
          FB_R_NONE, FB_R_P004, "timestampNtz");
    check(table_log(v4, FIELDS(FIELD("id", TEXT("void"), "")), "", ""), FB_R_NONE,
          FB_R_P003, "no column");
    check(table_log(v4, FIELDS(ID "," FIELD("v", TEXT("void"), "")), "", ""), FB_R_NONE,
          FB_R_NONE, NULL);
    check(
        table_log(v4,
                  FIELDS(ID "," FIELD(
                      "a",
                      "{" TEXT("type") ":" TEXT("array") "," TEXT("elementType") ":" TEXT(
                          "void") "," TEXT("containsNull") ":true}",
                      "")),
                  "", ""),
        FB_R_NONE, FB_R_P003, "void");
}

TEST(a_table_that_forgets_positions_within_a_day_is_refused)
{
    static const char v2[] = READERS("1", "2");
    check(table_log(v2, FIELDS(ID),
                    "\"delta.setTransactionRetentionDuration\":"
                    "\"interval 23 hours\"",
                    ""),
          FB_R_NONE, FB_R_P016, "interval 23 hours");
    check(table_log(v2, FIELDS(ID), "\"delta.setTransactionRetentionDuration\":\"soon\"",
                    ""),
          FB_R_NONE, FB_R_P016, "soon");
    check(table_log(v2, FIELDS(ID),
                    "\"delta.setTransactionRetentionDuration\":"
                    "\"interval 1 day\"",
                    ""),
          FB_R_NONE, FB_R_NONE, NULL);
}
