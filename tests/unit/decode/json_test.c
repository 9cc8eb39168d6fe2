/* json_test.c - messages as a whole: what is an object, its keys, its depth. */
#include "tests/unit/decode/rows.h"

static fb_json_options with_duplicates(fb_duplicate_keys policy)
{
    fb_json_options options = plain_options;
    options.duplicate_keys = policy;
    return options;
}

/* `message` is refused with `word` by a decoder of these columns, and makes no row. */
static void refuses(const char *columns, const char *message, const char *word)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, columns, &plain_options) == FB_OK);
    check_text(CHECK_SITE(message), rows_read(r, message), word);
    CHECK(r->refusals.is_undecodable);
    rows_close(r);
}

TEST(what_is_no_object_has_its_own_reason)
{
    refuses("id int64", "", "empty_value");
    refuses("id int64", " ", "empty_value");
    refuses("id int64", " \r\n\t", "empty_value");
    refuses("id int64", "null", "not_object");
    refuses("id int64", "\"\"", "not_object");
    refuses("id int64", "[]", "not_object");
    refuses("id int64", "7", "not_object");
    refuses("id int64", "true", "not_object");
    refuses("id int64", "[{\"id\":1}]", "not_object");
    refuses("id int64", "x", "bad_json");
}

TEST(broken_json_is_refused_and_the_next_message_lands)
{
    static const char *const broken[] = {"{\"d\":\"\\u12\"}",
                                         "{\"a\":1",
                                         "{\"a\":1}{\"a\":2}",
                                         "{\"a\":1} x",
                                         "{'a':1}",
                                         "{\"a\":1,}",
                                         "{,}",
                                         "{\"a\"}",
                                         "{\"a\":}",
                                         "{a:1}",
                                         "{\"a\":01}",
                                         "{\"a\":+1}",
                                         "{\"a\":.5}",
                                         "{\"a\":5.}",
                                         "{\"a\":0x10}",
                                         "{\"a\":NaN}",
                                         "{\"a\":Infinity}",
                                         "{\"a\":-Infinity}",
                                         "{\"a\":tru}",
                                         "{\"a\":\"\t\"}",
                                         "{\"a\":\"x}",
                                         "{\"a\":1}/**/",
                                         "//\n{\"a\":1}",
                                         "{\"a\":[1,]}",
                                         "{\"a\":1 \"b\":2}",
                                         "{\"a\":\"\\x41\"}",
                                         "{\"a\":1}\x01"};
    rows                    *r = &(rows){0};
    REQUIRE(rows_open(r, "a json", &plain_options) == FB_OK);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        check_text(CHECK_SITE(broken[i]), rows_read(r, broken[i]), "bad_json");
        CHECK_TEXT(rows_read(r, "{\"a\":1}"), "");
    }
    CHECK_INT(r->row.index, sizeof broken / sizeof *broken);
    rows_close(r);
}

TEST(white_space_around_an_object_is_fine)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, " \r\n\t{ \"a\" : 7 } \n"), "");
    CHECK_TEXT(rows_cell(r, 0), "7");
    rows_close(r);
}

TEST(one_byte_order_mark_before_the_object_is_passed_over)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "\xef\xbb\xbf{\"a\":\"\xef\xbb\xbfx\"}"), "");
    CHECK_TEXT(rows_cell(r, 0), "\xef\xbb\xbfx");
    CHECK_TEXT(rows_read(r, "\xef\xbb\xbf\xef\xbb\xbf{\"a\":1}"), "bad_json");
    CHECK_TEXT(rows_read(r, "\xef\xbb\xbf"), "empty_value");
    CHECK_TEXT(rows_read(r, "\xef\xbb"), "bad_utf8");
    rows_close(r);
}

TEST(bytes_that_are_not_utf8_are_refused_wherever_they_stand)
{
    refuses("a string", "{\"a\":\"\xff\xfe\"}", "bad_utf8");
    refuses("a string", "{\"b\":\"\xc0\x80\"}", "bad_utf8");
    refuses("a string", "{\"\xed\xa0\x80\":1}", "bad_utf8");
    refuses("a string", "{\"a\":\"\xe2\x82\"}", "bad_utf8");
    refuses("a string", "{\"a\":\"\xf4\x90\x80\x80\"}", "bad_utf8");
    refuses("a string", "\x80", "bad_utf8");
}

TEST(half_of_a_surrogate_pair_is_refused_and_a_pair_is_one_character)
{
    rows *r = &(rows){0};
    refuses("s string", "{\"s\":\"\\ud83d\"}", "bad_surrogate");
    refuses("s string", "{\"s\":\"\\ude00\"}", "bad_surrogate");
    refuses("s string", "{\"s\":\"\\ud83dx\"}", "bad_surrogate");
    refuses("s string", "{\"s\":\"\\ud83d\\u0041\"}", "bad_surrogate");
    refuses("s string", "{\"s\":\"\\ud83d\\ud83d\\ude00\"}", "bad_surrogate");
    refuses("s string", "{\"\\ud83d\":1}", "bad_surrogate");
    refuses("s string", "{\"s\":\"\\\\\\ude00\"}", "bad_surrogate");
    REQUIRE(rows_open(r, "s string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"s\":\"\\ud83d\\ude00\"}"), "");
    CHECK_TEXT(rows_cell(r, 0), "\xf0\x9f\x98\x80");
    CHECK_TEXT(rows_read(r, "{\"s\":\"\\\\ud83d\"}"), ""); // no escape at all
    CHECK_TEXT(rows_cell(r, 0), "\\ud83d");
    rows_close(r);
}

TEST(a_nul_inside_a_string_is_data)
{
    size_t size;
    rows  *r = &(rows){0};
    REQUIRE(rows_open(r, "s string; j json", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"s\":\"ab\\u0000cd\",\"j\":\"\\u0000\"}"), "");
    const char *bytes = rows_bytes(r, 0, &size);
    CHECK_BYTES(bytes, size, "ab\0cd", 5);
    bytes = rows_bytes(r, 1, &size);
    CHECK_BYTES(bytes, size, "\"\\u0000\"", 8);
    CHECK_TEXT(rows_read(r, "{\"s\\u0000\":\"x\",\"s\":\"y\"}"),
               ""); // another key than s
    CHECK_TEXT(rows_cell(r, 0), "y");
    CHECK_TEXT(rows_read_bytes(r, "{\"s\":\"a\0b\"}", 11), "bad_json");
    CHECK_TEXT(rows_read_bytes(r, "\0{\"s\":1}", 8), "bad_json");
    rows_close(r);
}

TEST(a_tombstone_is_a_row_of_missing_columns)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a int64; b string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"a\":1,\"b\":\"x\"}"), "");
    CHECK_TEXT(rows_read_bytes(r, NULL, 0), "");
    CHECK_TEXT(rows_cell(r, 0), "NULL");
    CHECK_TEXT(rows_cell(r, 1), "NULL");
    CHECK_INT(r->states[0], FB_CELL_MISSING);
    rows_close(r);
}

TEST(missing_and_null_are_both_null_but_not_the_same_state)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a int64; b int64; c int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"c\":0,\"b\":null}"), "");
    CHECK_TEXT(rows_cell(r, 0), "NULL");
    CHECK_TEXT(rows_cell(r, 1), "NULL");
    CHECK_TEXT(rows_cell(r, 2), "0");
    CHECK_INT(r->states[0], FB_CELL_MISSING);
    CHECK_INT(r->states[1], FB_CELL_NULL);
    CHECK_INT(r->states[2], FB_CELL_VALUE);
    rows_close(r);
}

TEST(a_key_matches_its_column_without_regard_to_ascii_case)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "userid int64; \xc3\x89t\xc3\xa9 int64", &plain_options) ==
            FB_OK);
    CHECK_TEXT(rows_read(r, "{\"USERID\":7}"), "");
    CHECK_TEXT(rows_cell(r, 0), "7");
    CHECK_TEXT(rows_read(r, "{\"uSerId\":8,\"\xc3\x89T\xc3\xa9\":9}"), "");
    CHECK_TEXT(rows_cell(r, 0), "8");
    CHECK_TEXT(rows_cell(r, 1), "9");
    CHECK_TEXT(rows_read(r, "{\"user\\u0049d\":10}"), "");
    CHECK_TEXT(rows_cell(r, 0), "10");
    CHECK_TEXT(rows_read(r, "{\"user id\":10,\"useri\":1,\"useridx\":1}"), "");
    CHECK_TEXT(rows_cell(r, 0), "NULL");
    rows_close(r);
}

TEST(two_keys_of_one_column_that_differ_in_case_are_refused_under_any_policy)
{
    for (int policy = FB_DUPLICATE_REJECT; policy <= FB_DUPLICATE_LAST; policy++) {
        fb_json_options options = with_duplicates((fb_duplicate_keys)policy);
        rows           *r = &(rows){0};
        REQUIRE(rows_open(r, "id int64", &options) == FB_OK);
        CHECK_TEXT(rows_read(r, "{\"id\":1,\"ID\":2}"), "ambiguous_field");
        CHECK(r->refusals.is_undecodable);
        CHECK_TEXT(r->refusals.list[0].column, "id");
        CHECK_TEXT(rows_read(r, "{\"ID\":1,\"id\":2}"), "ambiguous_field");
        CHECK_TEXT(rows_read(r, "{\"ID\":1,\"Id\":1}"), "ambiguous_field");
        CHECK_TEXT(rows_read(r, "{\"id\":null,\"ID\":2}"), "ambiguous_field");
        CHECK_TEXT(rows_read(r, "{\"id\":1,\"x\":2,\"X\":3}"),
                   ""); // no column is doubted
        rows_close(r);
    }
}

TEST(a_key_that_stands_twice_is_refused_at_every_level_and_for_keys_that_are_no_columns)
{
    refuses("a int64", "{\"a\":1,\"a\":2}", "duplicate_key");
    refuses("a int64", "{\"a\":1,\"a\":1}", "duplicate_key");
    refuses("a int64", "{\"a\":null,\"a\":1}", "duplicate_key");
    refuses("a int64", "{\"A\":1,\"A\":2}", "duplicate_key");
    refuses("a int64", "{\"a\":1,\"\\u0061\":2}", "duplicate_key");
    refuses("a int64", "{\"x\":1,\"x\":2}", "duplicate_key");
    refuses("a int64", "{\"a\":1,\"\":1,\"\":2}", "duplicate_key");
    refuses("a json", "{\"a\":{\"k\":1,\"k\":1}}", "duplicate_key");
    refuses("a json", "{\"o\":{\"k\":1,\"k\":1}}", "duplicate_key");
    refuses("a json", "{\"a\":[1,[{\"b\":[{\"k\":1,\"l\":2,\"k\":1}]}]]}",
            "duplicate_key");
    refuses("a json", "{\"a\":[],\"a\":[]}", "duplicate_key");
}

TEST(the_same_key_in_different_objects_is_no_duplicate)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a json; k int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"a\":[{\"k\":1,\"a\":1},{\"k\":1,\"a\":2}],\"k\":3}"), "");
    CHECK_TEXT(rows_cell(r, 1), "3");
    rows_close(r);
}

TEST(with_first_the_first_of_two_keys_counts_and_the_others_are_not_judged)
{
    fb_json_options options = with_duplicates(FB_DUPLICATE_FIRST);
    rows           *r = &(rows){0};
    REQUIRE(rows_open(r, "a int64; j json", &options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"a\":1,\"a\":2,\"a\":\"x\"}"), "");
    CHECK_TEXT(rows_cell(r, 0), "1");
    CHECK_TEXT(rows_read(r, "{\"a\":null,\"a\":2}"), "");
    CHECK_TEXT(rows_cell(r, 0), "NULL");
    CHECK_TEXT(rows_read(r, "{\"a\":\"x\",\"a\":2}"), "cast_error");
    CHECK_TEXT(rows_read(r, "{\"A\":3,\"A\":2}"), "");
    CHECK_TEXT(rows_cell(r, 0), "3");
    CHECK_TEXT(rows_read(r, "{\"x\":1,\"x\":2,\"j\":{\"k\":1,\"k\":2}}"), "");
    CHECK_TEXT(rows_cell(r, 1), "{\"k\":1,\"k\":2}");
    rows_close(r);
}

TEST(with_last_the_last_of_two_keys_counts_and_the_others_are_not_judged)
{
    fb_json_options options = with_duplicates(FB_DUPLICATE_LAST);
    rows           *r = &(rows){0};
    REQUIRE(rows_open(r, "a int64; j json", &options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"a\":\"x\",\"a\":1,\"a\":2}"), "");
    CHECK_TEXT(rows_cell(r, 0), "2");
    CHECK_TEXT(rows_read(r, "{\"a\":2,\"a\":null}"), "");
    CHECK_TEXT(rows_cell(r, 0), "NULL");
    CHECK_TEXT(rows_read(r, "{\"a\":2,\"a\":\"x\"}"), "cast_error");
    CHECK_TEXT(rows_read(r, "{\"A\":3,\"A\":4}"), "");
    CHECK_TEXT(rows_cell(r, 0), "4");
    CHECK_TEXT(rows_read(r, "{\"x\":1,\"a\":5,\"x\":2}"), "");
    CHECK_TEXT(rows_cell(r, 0), "5");
    rows_close(r);
}

/* {"a":{"a":...1...}} of this depth. */
static void nest(char *out, int depth, const char *open, const char *close)
{
    *out = '\0';
    for (int i = 0; i < depth; i++) out += sprintf(out, "%s", open);
    *out++ = '1';
    *out = '\0';
    for (int i = 0; i < depth; i++) out += sprintf(out, "%s", close);
}

TEST(a_message_may_be_as_deep_as_the_limit_and_no_deeper)
{
    static const int limits[] = {1, 2, 3, 128, 512};
    static char      text[8000], message[8100];
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fb_json_options options = plain_options;
        rows           *r = &(rows){0};
        options.max_depth = limits[i];
        REQUIRE(rows_open(r, "a json; n int64", &options) == FB_OK);
        nest(text, limits[i], "{\"a\":", "}");
        CHECK_TEXT(rows_read(r, text), "");
        nest(text, limits[i] + 1, "{\"a\":", "}");
        CHECK_TEXT(rows_read(r, text), "depth");
        nest(text, limits[i] - 1, "[", "]"); // the message itself is one more
        snprintf(message, sizeof message, "{\"x\":%s}", text);
        CHECK_TEXT(rows_read(r, message), "");
        nest(text, limits[i], "[", "]");
        snprintf(message, sizeof message, "{\"x\":%s}", text);
        CHECK_TEXT(rows_read(r, message), "depth");
        CHECK(r->refusals.is_undecodable);
        rows_close(r);
    }
}

TEST(an_empty_container_counts_as_deep_as_a_full_one)
{
    fb_json_options options = plain_options;
    rows           *r = &(rows){0};
    options.max_depth = 1;
    REQUIRE(rows_open(r, "a json", &options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{}"), "");
    CHECK_TEXT(rows_read(r, "{\"a\":1}"), "");
    CHECK_TEXT(rows_read(r, "{\"a\":{}}"), "depth");
    CHECK_TEXT(rows_read(r, "{\"a\":[]}"), "depth");
    CHECK_TEXT(rows_read(r, "{\"b\":[]}"), "depth");
    rows_close(r);
}

TEST(a_message_above_the_size_limit_is_refused_unread)
{
    fb_json_options options = plain_options;
    rows           *r = &(rows){0};
    options.max_message_bytes = 8;
    REQUIRE(rows_open(r, "a int64", &options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"a\":12}"), "");
    CHECK_TEXT(rows_read(r, "{\"a\":123}"), "too_large");
    CHECK(r->refusals.is_undecodable);
    rows_close(r);
}

TEST(every_fault_of_a_message_is_noted_with_its_column)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a int8; b bool; c string; d date", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"d\":\"x\",\"a\":300,\"c\":\"ok\",\"b\":7}"),
               "cast_error");
    REQUIRE(r->refusals.count == 3);
    CHECK(!r->refusals.is_undecodable);
    CHECK_TEXT(r->refusals.list[0].column, "d");
    CHECK_TEXT(fb_refusal_word(r->refusals.list[1].id), "out_of_range");
    CHECK_TEXT(r->refusals.list[1].column, "a");
    CHECK_TEXT(r->refusals.list[1].raw, "300");
    CHECK_TEXT(r->refusals.list[2].column, "b");
    CHECK_INT(r->states[0], FB_CELL_BAD);
    CHECK_INT(r->states[2], FB_CELL_VALUE);
    rows_close(r);
}

TEST(a_mismatch_is_refused_where_the_policy_says_so)
{
    fb_json_options options = plain_options;
    rows           *r = &(rows){0};
    options.reject_missing = options.reject_extra = true;
    REQUIRE(rows_open(r, "a int64; b int64", &options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"a\":1,\"b\":null}"), "");
    CHECK_TEXT(rows_read(r, "{\"a\":1}"), "missing_column");
    CHECK_TEXT(r->refusals.list[0].column, "b");
    CHECK_TEXT(rows_read(r, "{\"a\":1,\"b\":2,\"x y\":{}}"), "extra_column");
    CHECK_TEXT(r->refusals.list[0].raw, "x y");
    CHECK(!r->refusals.is_undecodable);
    CHECK_TEXT(rows_read(r, "{}"), "missing_column");
    CHECK_INT(r->refusals.count, 2);
    rows_close(r);
}

TEST(keys_that_are_no_columns_are_passed_over_without_a_policy)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"x\":{\"deep\":[1,2,{}]},\"a\":1,\"\":2}"), "");
    CHECK_TEXT(rows_cell(r, 0), "1");
    rows_close(r);
}

TEST(messages_whose_keys_change_their_order_land_in_the_right_columns)
{
    static const char *const orders[] = {
        "{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"b\":2,\"a\":1}",
        "{\"b\":2,\"x\":9,\"a\":1,\"c\":3}", "{\"x\":0,\"A\":1,\"c\":3,\"b\":2}",
        "{\"a\":1,\"b\":2,\"c\":3}"};
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a int64; b int64; c int64", &plain_options) == FB_OK);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        CHECK_TEXT(rows_read(r, orders[i]), "");
        CHECK_TEXT(rows_cell(r, 0), "1");
        CHECK_TEXT(rows_cell(r, 1), "2");
        CHECK_TEXT(rows_cell(r, 2), "3");
    }
    rows_close(r);
}

TEST(a_row_that_was_given_up_leaves_nothing_in_the_next_one)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a string; b int64", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"a\":null,\"b\":\"bad\"}"), "cast_error");
    CHECK_TEXT(rows_read(r, "{\"a\":\"kept\",\"b\":1}"), "");
    CHECK_TEXT(rows_cell(r, 0), "kept");
    CHECK_TEXT(rows_read(r, "{\"a\":\"gone\",\"b\":\"bad\"}"), "cast_error");
    CHECK_TEXT(rows_read(r, "{\"b\":2}"), "");
    CHECK_TEXT(rows_cell(r, 0), "NULL");
    rows_close(r);
}

TEST(columns_that_nobody_asked_for_are_judged_but_not_written)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a string; b int64; j json", &plain_options) == FB_OK);
    for (size_t i = 0; i < 3; i++) r->vectors[i] = (fb_vector){0};
    CHECK_TEXT(rows_read(r, "{\"a\":\"x\",\"b\":1,\"j\":{}}"), "");
    CHECK_TEXT(rows_read(r, "{\"a\":null}"), "");
    CHECK_TEXT(rows_read_bytes(r, NULL, 0), "");
    CHECK_TEXT(rows_read(r, "{\"b\":\"x\"}"), "cast_error");
    rows_close(r);
}

TEST(a_full_chunk_of_rows_keeps_every_cell_of_every_row)
{
    rows *r = &(rows){0};
    char  message[100], want[40];
    REQUIRE(rows_open(r, "n int64; s string", &plain_options) == FB_OK);
    for (int i = 0; i < FB_SLICE_MAX; i++) {
        snprintf(message, sizeof message,
                 i % 3 ? "{\"n\":%d,\"s\":\"row number %d\"}" : "{\"n\":%d}", i, i);
        CHECK_TEXT(rows_read(r, message), "");
    }
    for (int i = 0; i < FB_SLICE_MAX; i++) {
        r->row.index = (idx_t)i + 1;
        snprintf(want, sizeof want, "%d", i);
        CHECK_TEXT(rows_cell(r, 0), want);
        snprintf(want, sizeof want, i % 3 ? "row number %d" : "NULL", i);
        CHECK_TEXT(rows_cell(r, 1), want);
    }
    rows_close(r);
}

TEST(two_columns_that_differ_only_in_case_cannot_be_opened)
{
    rows *r = &(rows){0};
    CHECK(rows_open(r, "id int64; name string; ID int64", &plain_options) == FB_ESCHEMA);
    CHECK_TEXT(fb_reason_name(r->err.reason), "FB-C131");
    CHECK_TEXT(r->err.what, "columns \"id\" and \"ID\" differ only in case");
    CHECK(r->decoder.self == NULL);
    rows_close(r);
}
