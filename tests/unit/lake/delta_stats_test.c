/* delta_stats_test.c - bounds that are exact or outside, for every type, from real
 * files. */
#include "lake/delta_stats.h"

#include "fixture.h"

static void check_bound(const char *type, bool is_max, const char *value,
                        const char *want)
{
    fb_column column = column_of("a", type);
    fb_cell   cell = {value, strlen(value), false};
    fb_buf    out;
    fb_buf_init(&out, 1000);
    bool has = fb_delta_stats_bound(&column.type, cell, is_max, &out);
    CHECK(has == (want != NULL));
    CHECK_TEXT(fb_buf_text(&out), want ? want : "");
    fb_buf_clear(&out);
}

TEST(strings_are_cut_to_32_characters_and_a_maximum_stays_above)
{
    static const char exact[] = "abcdefghijklmnopqrstuvwxyz012345";
    check_bound("string", false, "", "\"\"");
    check_bound("string", false, exact, "\"abcdefghijklmnopqrstuvwxyz012345\"");
    check_bound("string", true, exact, "\"abcdefghijklmnopqrstuvwxyz012345\"");
    check_bound("string", false, "abcdefghijklmnopqrstuvwxyz012345Z",
                "\"abcdefghijklmnopqrstuvwxyz012345\"");
    check_bound("string", true, "abcdefghijklmnopqrstuvwxyz012345Z",
                "\"abcdefghijklmnopqrstuvwxyz012345\\u007f\"");
    check_bound("string", true, "abcdefghijklmnopqrstuvwxyz012345\x7f",
                "\"abcdefghijklmnopqrstuvwxyz012345\xf4\x8f\xbf\xbf\"");
    check_bound("string", true, "abcdefghijklmnopqrstuvwxyz012345\xc3\xa9",
                "\"abcdefghijklmnopqrstuvwxyz012345\xf4\x8f\xbf\xbf\"");
    check_bound("string", true, "abcdefghijklmnopqrstuvwxyz012345\xf4\x8f\xbf\xbfq",
                "\"abcdefghijklmnopqrstuvwxyz012345\xf4\x8f\xbf\xbf\\u007f\"");
    check_bound("string", true, "abcdefghijklmnopqrstuvwxyz012345\xf4\x8f\xbf\xbf",
                "\"abcdefghijklmnopqrstuvwxyz012345\xf4\x8f\xbf\xbf\"");
    char highest[70 * 4 + 1] = "";
    for (int i = 0; i < 70; i++) memcpy(highest + 4 * i, "\xf4\x8f\xbf\xbf", 5);
    check_bound("string", true, highest, NULL);
    check_bound("uuid", false, "a-1", "\"a-1\"");
    check_bound("json", true, "{\"a\":1}", "\"{\\\"a\\\":1}\"");
}

TEST(times_are_cut_down_for_a_minimum_and_raised_for_a_maximum)
{
    check_bound("timestamp", false, "2024-01-01 12:34:56.123456+00",
                "\"2024-01-01T12:34:56.123Z\"");
    check_bound("timestamp", true, "2024-01-01 12:34:56.123456+00",
                "\"2024-01-01T12:34:56.124Z\"");
    check_bound("timestamp", true, "2024-01-01 12:34:56.123+00",
                "\"2024-01-01T12:34:56.123Z\"");
    check_bound("timestamp", true, "1969-12-31 23:59:59.999999+00",
                "\"1970-01-01T00:00:00.000Z\"");
    check_bound("timestamp", false, "1969-12-31 23:59:59.999999+00",
                "\"1969-12-31T23:59:59.999Z\"");
    check_bound("timestamp_ntz", false, "2024-02-29 00:00:00",
                "\"2024-02-29T00:00:00.000\"");
    check_bound("timestamp_ntz", true, "2024-02-29 00:00:00.000001",
                "\"2024-02-29T00:00:00.001\"");
    check_bound("timestamp", true, "9999-12-31 23:59:59.999999+00", NULL);
    check_bound("timestamp", true, "infinity", NULL);
    check_bound("timestamp", false, "0045-03-15 (BC) 00:00:00+00", NULL);
    check_bound("timestamp_ntz", true, "290000-01-01 00:00:00", NULL);
    check_bound("timestamp", false, "2024-01-01 00:00:00", NULL); // the zone is missing
    check_bound("date", false, "2024-02-29", "\"2024-02-29\"");
    check_bound("date", true, "12345-01-01", NULL);
    check_bound("date", false, "0045-03-15 (BC)", NULL);
}

TEST(numbers_keep_all_their_digits)
{
    check_bound("int64", false, "-9223372036854775808", "-9223372036854775808");
    check_bound("uint64", true, "18446744073709551615", "18446744073709551615");
    check_bound("decimal(38,10)", true, "1234567890123456789012345678.0123456789",
                "1234567890123456789012345678.0123456789");
    check_bound("decimal(18,4)", false, "-0.0500", "-0.0500");
    check_bound("float64", true, "1.7976931348623157e+308", "1.7976931348623157e+308");
    check_bound("float64", false, "0.1", "0.1");
    check_bound("float64", false, "0.0", "-0.0");
    check_bound("float64", true, "-0.0", "0.0");
    check_bound("float64", true, "inf", NULL);
    check_bound("float64", false, "-inf", NULL);
    check_bound("float64", false, "nan", NULL);
    check_bound("float32", true, "0.1", "0.10000000149011612");
    check_bound("float32", false, "3.0", "3.0");
    check_bound("float32", false, "-0.0", "-0.0");
    check_bound("bool", false, "0", NULL);
    check_bound("binary", false, "00FF", NULL);
    check_bound("int32", false, "", NULL);
    check_bound("int32", false, "01", NULL);
}

/* The statistics of a file of one column "a". `more` changes the engine's settings
 * first. */
static void check_file(const char *type, const char *query, const char *want)
{
    fixture       f = fixture_open();
    fb_column     column = column_of("a", type);
    fb_schema     schema = {.columns = &column, .count = 1};
    fb_delta_adds adds;
    fb_delta     *table = fixture_table(&f);
    fb_delta_adds_init(&adds);
    fixture_write(&f, table, &schema, query, &adds);
    if (adds.count == 1)
        CHECK_TEXT(adds.items[0].stats, want);
    else
        CHECK(want == NULL && adds.count == 0);
    fb_delta_adds_clear(&adds);
    fb_delta_close(table);
    fixture_close(&f);
}

#define BOUNDS(rows, min, max, nulls)                                                    \
    "{\"numRecords\":" rows ",\"minValues\":{\"a\":" min "},\"maxValues\":{\"a\":" max   \
    "},\"nullCount\":{\"a\":" nulls "}}"
#define NO_BOUNDS(rows, nulls)                                                           \
    "{\"numRecords\":" rows                                                              \
    ",\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"a\":" nulls "}}"

TEST(every_type_has_its_statistics_from_a_real_file)
{
    check_file("int8", "(SELECT unnest([-128, 127, NULL]) a)",
               BOUNDS("3", "-128", "127", "1"));
    check_file("int16", "(SELECT unnest([-32768, 5]) a)",
               BOUNDS("2", "-32768", "5", "0"));
    check_file("int32", "(SELECT unnest([10, 9, -1]) a)", BOUNDS("3", "-1", "10", "0"));
    check_file("int64", "(SELECT unnest([9223372036854775807, -1]) a)",
               BOUNDS("2", "-1", "9223372036854775807", "0"));
    check_file("uint8", "(SELECT 255::UTINYINT a)", BOUNDS("1", "255", "255", "0"));
    check_file("uint16", "(SELECT 65535::USMALLINT a)",
               BOUNDS("1", "65535", "65535", "0"));
    check_file("uint32", "(SELECT 4294967295::UINTEGER a)",
               BOUNDS("1", "4294967295", "4294967295", "0"));
    check_file("uint64", "(SELECT 18446744073709551615::UBIGINT a)",
               BOUNDS("1", "18446744073709551615", "18446744073709551615", "0"));
    check_file("decimal(38,2)", "(SELECT unnest([-0.05, 12.30]) a)",
               BOUNDS("2", "-0.05", "12.30", "0"));
    check_file("bool", "(SELECT unnest([true, NULL]) a)", NO_BOUNDS("2", "1"));
    check_file("binary", "(SELECT '\\x00\\xff'::BLOB a)", NO_BOUNDS("1", "0"));
    check_file("date", "(SELECT unnest([DATE '1969-12-31', DATE '2024-02-29']) a)",
               BOUNDS("2", "\"1969-12-31\"", "\"2024-02-29\"", "0"));
    check_file(
        "timestamp", "(SELECT TIMESTAMPTZ '2024-01-01 00:00:00.0009+00' a)",
        BOUNDS("1", "\"2024-01-01T00:00:00.000Z\"", "\"2024-01-01T00:00:00.001Z\"", "0"));
    check_file(
        "timestamp_ntz", "(SELECT TIMESTAMP '2024-01-01 00:00:00.0009' a)",
        BOUNDS("1", "\"2024-01-01T00:00:00.000\"", "\"2024-01-01T00:00:00.001\"", "0"));
    check_file("time", "(SELECT TIME '10:00:00' a)",
               BOUNDS("1", "\"10:00:00\"", "\"10:00:00\"", "0"));
    check_file("string", "(SELECT unnest(['', 'z', chr(233), NULL]) a)",
               BOUNDS("4", "\"\"", "\"\xc3\xa9\"", "1"));
    check_file("string", "(SELECT chr(0) || 'x' a)",
               BOUNDS("1", "\"\\u0000x\"", "\"\\u0000x\"", "0"));
    check_file("float32", "(SELECT unnest([0.1, -0.5]) a)",
               BOUNDS("2", "-0.5", "0.10000000149011612", "0"));
    check_file("float64", "(SELECT unnest(['inf'::DOUBLE, 1.5]) a)",
               "{\"numRecords\":2,\"minValues\":{\"a\":1.5},\"maxValues\":{},"
               "\"nullCount\":{\"a\":0}}");
    check_file("string", "(SELECT NULL a)", NO_BOUNDS("1", "1"));
    check_file("int32", "(SELECT 1 a WHERE false)", NULL);
}

TEST(a_long_string_is_bounded_by_what_is_above_it)
{
    check_file("string", "(SELECT repeat('x', 300) a)",
               BOUNDS("1", "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
                      "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\u007f\"", "0"));
    check_file(
        "string", "(SELECT 'a' || repeat(chr(233), 200) a)",
        BOUNDS("1",
               "\"a\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
               "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
               "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
               "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"",
               "\"b\"", "0"));
    check_file("string", "(SELECT repeat(chr(128512), 80) a)", NO_BOUNDS("1", "0"));
}

TEST(a_nan_in_any_row_group_takes_the_bounds_away)
{
    static const char groups[] = "(SELECT CASE WHEN range = %d THEN 'nan'::DOUBLE ELSE "
                                 "range END a FROM range(300000))";
    static const int  rows[] = {5, 150000, 299999};
    char              query[200];
    for (size_t i = 0; i < 3; i++) {
        snprintf(query, sizeof query, groups, rows[i]);
        check_file("float64", query, NO_BOUNDS("300000", "0"));
    }
    check_file("float32", "(SELECT 'nan'::FLOAT a)", NO_BOUNDS("1", "0"));
    snprintf(query, sizeof query, groups, -1);
    check_file("float64", query, BOUNDS("300000", "-0.0", "299999.0", "0"));
}

TEST(bounds_join_those_of_all_row_groups)
{
    check_file("int64",
               "(SELECT (range * 7919 % 300007) - 150000 AS a FROM range(300007))",
               BOUNDS("300007", "-150000", "150006", "0"));
    check_file("decimal(38,2)",
               "(SELECT (range * 7919 % 300007) - 150000 AS a FROM range(300007))",
               BOUNDS("300007", "-150000.00", "150006.00", "0"));
    check_file("int64",
               "(SELECT CASE WHEN range >= 5 THEN range END AS a FROM range(300000))",
               BOUNDS("300000", "5", "299999", "5"));
}

TEST(structs_nest_and_lists_and_maps_have_no_statistics)
{
    fixture   f = fixture_open();
    fb_column inner[] = {column_of("x", "int64"), column_of("y.z", "string")};
    fb_column element = column_of("element", "int64");
    fb_column pair[] = {column_of("key", "string"), column_of("value", "int64")};
    fb_column columns[] = {
        {.name = "s",
         .nullable = true,
         .type = {.kind = FB_KIND_STRUCT, .fields = inner, .fields_count = 2}},
        {.name = "l",
         .nullable = true,
         .type = {.kind = FB_KIND_LIST, .fields = &element, .fields_count = 1}},
        {.name = "m",
         .nullable = true,
         .type = {.kind = FB_KIND_MAP, .fields = pair, .fields_count = 2}},
        column_of("q\"", "int64")};
    fb_schema     schema = {.columns = columns, .count = 4};
    fb_delta_adds adds;
    fb_delta     *table = fixture_table(&f);
    fb_delta_adds_init(&adds);
    fixture_write(&f, table, &schema,
                  "(SELECT {'x': 1, 'y.z': 'b'} AS s, [1, NULL] AS l, MAP {'k': 1} AS m, "
                  "7 AS \"q\"\"\""
                  " UNION ALL SELECT NULL, NULL, NULL, NULL)",
                  &adds);
    REQUIRE(adds.count == 1);
    CHECK_TEXT(
        adds.items[0].stats,
        "{\"numRecords\":2,\"minValues\":{\"s\":{\"x\":1,\"y.z\":\"b\"},\"q\\\"\":7},"
        "\"maxValues\":{\"s\":{\"x\":1,\"y.z\":\"b\"},\"q\\\"\":7},"
        "\"nullCount\":{\"s\":{\"x\":1,\"y.z\":1},\"q\\\"\":1}}");
    fb_delta_adds_clear(&adds);
    fb_delta_close(table);
    fixture_close(&f);
}

/* The statistics of a row 1, 2, ... in columns c0, c1, ... of a table with a property. */
static void check_columns(int count, const char *configuration, const char *protocol,
                          const char *want_min, bool is_tight)
{
    fixture       f = fixture_open();
    fb_column     columns[40];
    char          names[40][16];
    fb_schema     schema = {.columns = columns, .count = (size_t)count};
    fb_buf        query, log;
    fb_delta_adds adds;
    fb_buf_init(&query, 1 << 20);
    fb_buf_init(&log, 1 << 20);
    fb_buf_printf(
        &log,
        "%s{\"metaData\":{\"id\":\"m\",\"format\":{},\"partitionColumns\":[],"
        "\"configuration\":{%s},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\","
        "\\\"fields\\\":[",
        protocol, configuration);
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        columns[i] = column_of(names[i], "int64");
        fb_buf_printf(&query, "%s %d AS c%d", i ? "," : "(SELECT", i + 1, i);
        fb_buf_printf(
            &log,
            "%s{\\\"name\\\":\\\"c%d\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,"
            "\\\"metadata\\\":{}}",
            i ? "," : "", i);
    }
    fb_buf_add_char(&query, ')');
    fb_buf_add_text(&log, "]}\"}}\n");
    fixture_commit(&f, 0, log.data);
    fb_delta *table = fixture_table(&f);
    fb_delta_adds_init(&adds);
    fixture_write(&f, table, &schema, query.data, &adds);
    CHECK_HAS(adds.items[0].stats, want_min);
    CHECK(is_tight == (strstr(adds.items[0].stats, "\"tightBounds\":true") != NULL));
    fb_delta_adds_clear(&adds);
    fb_delta_close(table);
    fb_buf_clear(&query);
    fb_buf_clear(&log);
    fixture_close(&f);
}

TEST(the_table_says_which_columns_get_statistics)
{
    check_columns(33, "", PROTOCOL_1_2, "\"c31\":32},\"maxValues\"", false);
    check_columns(33, "\"delta.dataSkippingNumIndexedCols\":\"-1\"", PROTOCOL_1_2,
                  "\"c32\":33},\"maxValues\"", false);
    check_columns(3, "\"delta.dataSkippingNumIndexedCols\":\"1\"", PROTOCOL_1_2,
                  "\"minValues\":{\"c0\":1},\"maxValues\"", false);
    check_columns(3, "\"delta.dataSkippingNumIndexedCols\":\"0\"", PROTOCOL_1_2,
                  "\"minValues\":{},\"maxValues\"", false);
    check_columns(4, "\"delta.dataSkippingStatsColumns\":\" c1 ,`c3`,c\"", PROTOCOL_1_2,
                  "\"minValues\":{\"c1\":2,\"c3\":4},\"maxValues\"", false);
    check_columns(
        1, "",
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":"
        "[\"deletionVectors\"],\"writerFeatures\":[\"deletionVectors\"]}}\n",
        "\"minValues\":{\"c0\":1}", true);
}
