/* public_reports_test.c - inputs that have hurt other systems, one test each, named by
 * its id in the log of public reports; records and headers are in scan_test.c. */
#include "base/alloc.h"
#include "tests/unit/decode/rows.h"

#include <stdlib.h>

TEST(l03_null_empty_and_the_word_null_are_told_apart)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "id int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read_bytes(r, NULL, 0),
               ""); // a tombstone: a row, unless policy differs
    CHECK_TEXT(rows_read_bytes(r, "", 0), "empty_value");
    CHECK_TEXT(rows_read(r, "null"), "not_object");
    CHECK_TEXT(rows_read(r, "\"\""), "not_object");
    CHECK_TEXT(rows_read(r, "{}"), "");
    CHECK_TEXT(rows_cell(r, 0), "NULL");
    CHECK_TEXT(rows_read(r, " "), "empty_value");
    rows_close(r);
}

TEST(l04_an_empty_text_stays_empty_and_a_zero_stays_zero)
{
    size_t size = 9;
    rows  *r = &(rows){0};
    REQUIRE(rows_open(r, "id int64; s string; n int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"id\":1,\"s\":\"\",\"n\":null}"), "");
    CHECK_TEXT(rows_cell(r, 1), "");
    rows_bytes(r, 1, &size);
    CHECK_INT(size, 0);
    CHECK_TEXT(rows_cell(r, 2), "NULL");
    CHECK_TEXT(rows_read(r, "{\"id\":2}"), "");
    CHECK_TEXT(rows_cell(r, 1), "NULL");
    CHECK_TEXT(rows_cell(r, 2), "NULL");
    CHECK_TEXT(rows_read(r, "{\"id\":3,\"s\":null,\"n\":0}"), "");
    CHECK_TEXT(rows_cell(r, 1), "NULL");
    CHECK_TEXT(rows_cell(r, 2), "0");
    rows_close(r);
}

TEST(l05_a_declared_column_keeps_its_type_whatever_comes_first)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a json; b json; c string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"a\":{},\"b\":[],\"c\":null}"), "");
    CHECK_TEXT(rows_cell(r, 0), "{}");
    CHECK_TEXT(rows_cell(r, 1), "[]");
    CHECK_TEXT(rows_cell(r, 2), "NULL");
    CHECK_TEXT(rows_read(r, "{\"a\":{\"x\":1},\"b\":[\"t\"],\"c\":\"t\"}"), "");
    CHECK_TEXT(rows_cell(r, 0), "{\"x\":1}");
    CHECK_TEXT(rows_cell(r, 1), "[\"t\"]");
    CHECK_TEXT(rows_cell(r, 2), "t");
    rows_close(r);
}

TEST(l07_a_list_with_null_an_empty_list_and_no_list_are_three_values)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "id int64; tags json", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"id\":1,\"tags\":[\"a\",null,\"b\"]}"), "");
    CHECK_TEXT(rows_cell(r, 1), "[\"a\",null,\"b\"]");
    CHECK_TEXT(rows_read(r, "{\"id\":2,\"tags\":[]}"), "");
    CHECK_TEXT(rows_cell(r, 1), "[]");
    CHECK_TEXT(rows_read(r, "{\"id\":3,\"tags\":null}"), "");
    CHECK_TEXT(rows_cell(r, 1), "NULL");
    rows_close(r);
}

TEST(l10_numbers_are_exact_or_refused)
{
    BECOMES("int64", "7", "7");
    BECOMES("int64", "1.0", "1");
    BECOMES("int64", "1e3", "1000");
    REFUSES("int64", "\"7\"", "cast_error");
    REFUSES("int64", "\"abc\"", "cast_error");
    REFUSES("int64", "1.5", "cast_error");
    REFUSES("int64", "2.5", "cast_error");
    REFUSES("int64", "true", "cast_error");
    REFUSES("int64", "\"\"", "cast_error");
    REFUSES("int64", "\"0x10\"", "cast_error");
    REFUSES("int64", "\" 7\"", "cast_error");
    BECOMES("int64 ~", "\"7\"", "7");
    REFUSES("int64 ~", "\"abc\"", "cast_error");
    REFUSES("int64 ~", "1.5", "cast_error");
    REFUSES("int64 ~", "true", "cast_error");
    REFUSES("int64 ~", "\"\"", "cast_error");
    REFUSES("int64 ~", "\"0x10\"", "cast_error");
    REFUSES("int64 ~", "\" 7\"", "cast_error");
}

TEST(l11_what_is_no_number_lands_only_by_name_and_overflow_is_refused)
{
    REFUSES("float64", "NaN", "bad_json");
    REFUSES("float64 ~", "NaN", "bad_json");
    REFUSES("float64 ~", "-Infinity", "bad_json");
    REFUSES("float64", "\"NaN\"", "cast_error");
    BECOMES("float64 ~", "\"NaN\"", "nan");
    REFUSES("float64", "1e999", "out_of_range");
    REFUSES("float64 ~", "1e999", "out_of_range");
    BECOMES("float64", "-0.0", "-0");
}

TEST(l12_a_decimal_is_never_cut_to_fit)
{
    BECOMES("decimal(10,3)", "3.14", "3.140");
    REFUSES("decimal(3,1)", "3.14", "cast_error");
    REFUSES("decimal(2,2)", "3.14", "out_of_range");
}

TEST(l13_the_largest_unsigned_number_never_becomes_negative)
{
    BECOMES("uint64", "18446744073709551615", "18446744073709551615");
    BECOMES("decimal(20,0)", "18446744073709551615", "18446744073709551615");
    REFUSES("int64", "18446744073709551615", "out_of_range");
}

TEST(l14_a_number_too_wide_for_its_column_is_refused_not_wrapped)
{
    BECOMES("int32", "5", "5");
    REFUSES("int32", "3000000000", "out_of_range");
    BECOMES("int64", "3000000000", "3000000000");
}

TEST(l16_a_nul_inside_a_text_is_kept_with_all_that_follows)
{
    size_t size;
    rows  *r = &(rows){0};
    REQUIRE(rows_open(r, "id int64; s string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"id\":500,\"s\":\"ab\\u0000cd\"}"), "");
    const char *bytes = rows_bytes(r, 1, &size);
    CHECK_BYTES(bytes, size, "ab\0cd", 5);
    rows_close(r);
}

TEST(l17_bad_utf8_is_refused_and_its_neighbours_land)
{
    static const char *const bad[] = {"{\"a\":\"\xff\xfe\"}", "{\"a\":\"\xc0\x80\"}",
                                      "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\xe2\x82\"}"};
    rows                    *r = &(rows){0};
    REQUIRE(rows_open(r, "a string", &plain_options) == FB_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_TEXT(rows_read(r, "{\"a\":\"before\"}"), "");
        CHECK_TEXT(rows_read(r, bad[i]), "bad_utf8");
        CHECK_TEXT(rows_read(r, "{\"a\":\"after\"}"), "");
    }
    rows_close(r);
}

TEST(l18_bytes_that_are_framed_or_binary_are_refused_without_guessing)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read_bytes(r, "\0\0\0\0\x05{}", 7), "bad_json");
    CHECK_HAS(fb_reason_advice(fb_refusal_reason(r->refusals.list[0].id)),
              "schema registry");
    CHECK_TEXT(rows_read_bytes(r, "\0\0\0\0\x05\xff\xfe", 7), "bad_json");
    CHECK_TEXT(rows_read_bytes(r, "22\0\0\0\x01o", 7), "bad_json");
    CHECK_TEXT(rows_read_bytes(r, "{\0\0\0}\0\0\0", 8), "bad_json"); // UTF-32
    CHECK_TEXT(rows_read_bytes(r, "\xff\xfe{\0}\0", 6), "bad_utf8"); // UTF-16
    rows_close(r);
}

TEST(l19_a_lone_surrogate_is_refused_and_a_pair_lands)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "id int64; s string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"id\":1,\"s\":\"\\ud83d\"}"), "bad_surrogate");
    CHECK_TEXT(rows_read(r, "{\"id\":1,\"s\":\"\\ude00\"}"), "bad_surrogate");
    CHECK_TEXT(rows_read(r, "{\"id\":1,\"s\":\"\\ud83d\\ude00\"}"), "");
    CHECK_TEXT(rows_cell(r, 1), "\xf0\x9f\x98\x80");
    rows_close(r);
}

TEST(l20_a_leading_byte_order_mark_is_dropped_and_one_in_a_text_is_kept)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "id int64; s string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "\xef\xbb\xbf{\"id\":1}"), "");
    CHECK_TEXT(rows_cell(r, 0), "1");
    CHECK_TEXT(rows_read(r, "{\"s\":\"a\xef\xbb\xbf\\ufeff\"}"), "");
    CHECK_TEXT(rows_cell(r, 1), "a\xef\xbb\xbf\xef\xbb\xbf");
    rows_close(r);
}

TEST(l21_a_value_is_unescaped_once_and_only_by_the_parser)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "payload json; path string; q string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r,
                         "{\"payload\":{\"foo\":\"a\\\"string\"},\"path\":\"C:\\\\temp\","
                         "\"q\":\"a\\\"string\"}"),
               "");
    CHECK_TEXT(rows_cell(r, 0), "{\"foo\":\"a\\\"string\"}");
    CHECK_TEXT(rows_cell(r, 1), "C:\\temp");
    CHECK_TEXT(rows_cell(r, 2), "a\"string");
    rows_close(r);
}

TEST(l22_one_bad_message_is_refused_once_and_the_next_lands)
{
    static const char *const bad[] = {
        "{\"d\":\"\\u12\"}", "{\"a\":1", "{\"a\":1}{\"a\":2}",
        "{\"a\":1} x",       "{'a':1}",  "{\"a\":1,}"};
    rows *r = &(rows){0};
    char *brackets = fb_alloc(1 << 20);
    REQUIRE(brackets != NULL);
    memset(brackets, '[', 1 << 20);
    REQUIRE(rows_open(r, "a int64", &plain_options) == FB_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_TEXT(rows_read(r, bad[i]), "bad_json");
        CHECK_INT(r->refusals.count, 1);
        CHECK_TEXT(rows_read(r, "{\"a\":1} \r\n\t"), "");
    }
    CHECK_TEXT(rows_read_bytes(r, brackets, 1 << 20), "depth");
    CHECK_TEXT(rows_read(r, "{\"a\":1}"), "");
    fb_free(brackets);
    rows_close(r);
}

TEST(l24_a_key_that_stands_twice_is_refused_unless_a_policy_picks)
{
    static const char *const twice[] = {"{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}"};
    static const char *const want[] = {"", "1", "2"};
    for (int policy = FB_DUPLICATE_REJECT; policy <= FB_DUPLICATE_LAST; policy++) {
        fb_json_options options = plain_options;
        rows           *r = &(rows){0};
        options.duplicate_keys = (fb_duplicate_keys)policy;
        REQUIRE(rows_open(r, "a int64; o json", &options) == FB_OK);
        for (size_t i = 0; i < 2; i++) {
            CHECK_TEXT(rows_read(r, twice[i]), policy ? "" : "duplicate_key");
            if (policy) CHECK_TEXT(rows_cell(r, 0), want[policy]);
        }
        CHECK_TEXT(rows_read(r, "{\"o\":{\"k\":1,\"k\":1}}"),
                   policy ? "" : "duplicate_key");
        rows_close(r);
    }
}

TEST(l25_depth_without_end_is_refused_without_a_crash)
{
    enum { DEPTH = 200000 };
    rows *r = &(rows){0};
    char *text = fb_alloc(DEPTH * 6 + 10), *at = text;
    REQUIRE(text != NULL && rows_open(r, "a json", &plain_options) == FB_OK);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    CHECK_TEXT(rows_read_bytes(r, text, DEPTH * 2), "depth");
    for (int i = 0; i < DEPTH; i++) at += sprintf(at, "{\"a\":");
    *at++ = '1';
    memset(at, '}', DEPTH);
    CHECK_TEXT(rows_read_bytes(r, text, (size_t)(at - text) + DEPTH), "depth");
    CHECK_TEXT(rows_read(r, "{\"a\":[]}"), "");
    fb_free(text);
    rows_close(r);
}

TEST(l30_keys_match_without_case_and_two_of_them_are_refused)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "userid int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"USERID\":7}"), "");
    CHECK_TEXT(rows_cell(r, 0), "7");
    rows_close(r);
    *r = (rows){0};
    REQUIRE(rows_open(r, "id int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"id\":1,\"ID\":2}"), "ambiguous_field");
    rows_close(r);
}

TEST(l31_names_with_blanks_dots_and_semicolons_are_names_and_no_paths)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "x.y int64; Code_r\xc3\xa9gion int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"Code_r\\u00e9gion\":1,\"a;b\":2,\"x.y\":3,\"\":4}"), "");
    CHECK_TEXT(rows_cell(r, 0), "3");
    CHECK_TEXT(rows_cell(r, 1), "1");
    CHECK_TEXT(rows_read(r, "{\"x\":{\"y\":3}}"), "");
    CHECK_TEXT(rows_cell(r, 0), "NULL");
    CHECK_TEXT(rows_read(r, "{\"x.y\":\"z\"}"), "cast_error");
    CHECK_TEXT(r->refusals.list[0].path, "$[\"x.y\"]");
    rows_close(r);
}

TEST(l32_a_new_nested_field_is_kept_in_a_json_column)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "id int64; c json", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"id\":1,\"c\":{\"x\":1}}"), "");
    CHECK_TEXT(rows_read(r, "{\"id\":2,\"c\":{\"x\":1,\"d\":{\"y\":\"k\"}}}"), "");
    CHECK_TEXT(rows_cell(r, 1), "{\"x\":1,\"d\":{\"y\":\"k\"}}");
    CHECK_TEXT(rows_read(r, "{\"id\":3,\"c\":null}"), "");
    CHECK_TEXT(rows_cell(r, 1), "NULL");
    rows_close(r);
}

TEST(l33_a_message_with_one_more_field_in_the_middle_costs_no_row)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a int64; b int64", &plain_options) == FB_OK);
    for (int i = 0; i < 1000; i++)
        CHECK_TEXT(rows_read(r, i == 500 ? "{\"a\":1,\"new\":2,\"b\":3}" : "{\"a\":1}"),
                   "");
    CHECK_INT(r->row.index, 1000);
    r->row.index = 501;
    CHECK_TEXT(rows_cell(r, 1), "3");
    rows_close(r);
}

TEST(l61_a_time_beyond_the_range_is_refused_and_raw_milliseconds_are_kept)
{
    BECOMES("int64", "1782371700000000", "1782371700000000");
    BECOMES("int64", "9223372036854775807", "9223372036854775807");
    BECOMES("timestamp", "\"2262-04-12T00:00:00Z\"", "2262-04-12T00:00:00.000000Z");
    BECOMES("timestamp", "\"2100-01-01T00:00:00Z\"", "2100-01-01T00:00:00.000000Z");
    REFUSES("timestamp", "\"58450-01-01T00:00:00Z\"", "cast_error");
}

TEST(l62_the_ends_of_the_calendar_are_exact)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "t timestamp", &plain_options) == FB_OK);
    const int64_t *us = duckdb_vector_get_data(r->vectors[0].vector);
    CHECK_TEXT(rows_read(r, "{\"t\":\"9999-12-31T23:59:59.999999Z\"}"), "");
    CHECK_TEXT(rows_read(r, "{\"t\":\"1848-03-15T09:23:59.764999Z\"}"), "");
    CHECK_TEXT(rows_read(r, "{\"t\":\"1969-12-31T23:59:59.999999Z\"}"), "");
    CHECK_TEXT(rows_read(r, "{\"t\":\"0001-01-01T00:00:00Z\"}"), "");
    CHECK_INT(us[0], INT64_C(253402300799999999));
    CHECK_INT(us[1], INT64_C(-3843556560235001));
    CHECK_INT(us[2], -1);
    CHECK_INT(us[3], INT64_C(-62135596800000000));
    rows_close(r);
}

TEST(l63_a_local_time_is_no_instant_unless_the_column_says_so)
{
    REFUSES("timestamp", "\"2026-03-29T02:30:00\"", "cast_error");
    REFUSES("timestamp", "\"2026-10-25T02:30:00\"", "cast_error");
    BECOMES("timestamp_ntz", "\"2026-03-29T02:30:00\"", "2026-03-29T02:30:00.000000");
    BECOMES("timestamp ~", "\"2026-10-25T02:30:00\"", "2026-10-25T02:30:00.000000Z");
}
