/* text_test.c - questions about text. */
#include "base/text.h"
#include "tests/check.h"

#include <string.h>

static size_t length(const char *text) { return fb_utf8_length(text, strlen(text)); }

TEST(a_character_of_utf8_has_one_to_four_bytes)
{
    CHECK_INT(length("a"), 1);
    CHECK_INT(length("\x7f"), 1);
    CHECK_INT(length("\xc2\x80"), 2);
    CHECK_INT(length("\xdf\xbf"), 2);
    CHECK_INT(length("\xe0\xa0\x80"), 3);
    CHECK_INT(length("\xed\x9f\xbf"), 3);
    CHECK_INT(length("\xee\x80\x80"), 3);
    CHECK_INT(length("\xef\xbf\xbf"), 3);
    CHECK_INT(length("\xf0\x90\x80\x80"), 4);
    CHECK_INT(length("\xf4\x8f\xbf\xbf"), 4);
    CHECK_INT(fb_utf8_length("\0", 1), 1);
}

TEST(overlong_forms_surrogates_and_cut_characters_are_none)
{
    static const char *const none[] = {"\x80",
                                       "\xbf",
                                       "\xc0\x80",
                                       "\xc1\xbf",
                                       "\xc2",
                                       "\xc2\x41",
                                       "\xe0\x80\x80",
                                       "\xe0\x9f\xbf",
                                       "\xe2\x82",
                                       "\xed\xa0\x80",
                                       "\xed\xbf\xbf",
                                       "\xf0\x80\x80\x80",
                                       "\xf0\x8f\xbf\xbf",
                                       "\xf4\x90\x80\x80",
                                       "\xf5\x80\x80\x80",
                                       "\xff",
                                       "\xe2\x82\x41",
                                       "\xf0\x90\x80\x41"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check_int(CHECK_SITE(none[i]), (int64_t)length(none[i]), 0);
    CHECK_INT(fb_utf8_length("a", 0), 0);
    CHECK_INT(fb_utf8_length("\xe2\x82\xac", 2), 0);
}

TEST(text_is_valid_utf8_when_every_character_is)
{
    char text[64];
    CHECK(fb_utf8_valid("", 0));
    CHECK(fb_utf8_valid("a\0b", 3));
    CHECK(fb_utf8_valid("\xe2\x82\xac uro, sixteen ascii bytes", 28));
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof text; i++) { // a bad byte is seen wherever it stands
        text[i] = '\xff';
        CHECK(!fb_utf8_valid(text, sizeof text));
        CHECK(fb_utf8_valid(text, i));
        text[i] = 'a';
    }
    CHECK(!fb_utf8_valid("aaaaaaaa\xe2\x82", 10));
}

TEST(what_remains_whole_of_a_text_ends_with_a_character)
{
    CHECK_INT(fb_utf8_whole("abc", 3), 3);
    CHECK_INT(fb_utf8_whole("", 0), 0);
    CHECK_INT(fb_utf8_whole("a\xe2\x82\xac", 4), 4);
    CHECK_INT(fb_utf8_whole("a\xe2\x82\xac", 3), 1);
    CHECK_INT(fb_utf8_whole("a\xe2\x82\xac", 2), 1);
    CHECK_INT(fb_utf8_whole("\xf0\x9f\x98\x80", 3), 0);
    CHECK_INT(fb_utf8_whole("\xf0\x9f\x98\x80", 4), 4);
    CHECK_INT(fb_utf8_whole("\x80\x80\x80\x80\x80", 5), 5); // broken before it was cut
}

TEST(edits_are_counted_and_a_swap_is_one)
{
    CHECK_INT(fb_text_edits("", ""), 0);
    CHECK_INT(fb_text_edits("abc", ""), 3);
    CHECK_INT(fb_text_edits("orders", "orders"), 0);
    CHECK_INT(fb_text_edits("orders", "oders"), 1);
    CHECK_INT(fb_text_edits("orders", "ordres"), 1);
    CHECK_INT(fb_text_edits("kitten", "sitting"), 3);
    CHECK_INT(fb_text_edits("ca", "abc"), 3);
}

TEST(the_nearest_name_is_offered_only_when_it_reads_as_a_typo)
{
    fb_nearest nearest;
    fb_nearest_init(&nearest, "max_mesages");
    fb_nearest_offer(&nearest, "topic");
    CHECK(nearest.best == NULL);
    fb_nearest_offer(&nearest, "max_message_bytes");
    fb_nearest_offer(&nearest, "max_messages");
    fb_nearest_offer(&nearest, "max_wait");
    CHECK_TEXT(nearest.best, "max_messages");
}

TEST(nothing_is_near_to_a_name_of_two_hundred_bytes)
{
    char       wanted[250];
    fb_nearest nearest;
    memset(wanted, 'x', sizeof wanted);
    wanted[249] = '\0';
    fb_nearest_init(&nearest, wanted);
    fb_nearest_offer(&nearest, "orders");
    CHECK(nearest.best == NULL);
    fb_nearest_init(&nearest, "");
    fb_nearest_offer(&nearest, "a");
    CHECK(nearest.best == NULL);
}

TEST(numbers_are_shown_with_commas)
{
    char out[32];
    CHECK_TEXT(fb_text_count(0, out), "0");
    CHECK_TEXT(fb_text_count(999, out), "999");
    CHECK_TEXT(fb_text_count(1000, out), "1,000");
    CHECK_TEXT(fb_text_count(1234567, out), "1,234,567");
    CHECK_TEXT(fb_text_count(-123, out), "-123");
    CHECK_TEXT(fb_text_count(-1000, out), "-1,000");
    CHECK_TEXT(fb_text_count(INT64_MAX, out), "9,223,372,036,854,775,807");
    CHECK_TEXT(fb_text_count(INT64_MIN, out), "-9,223,372,036,854,775,808");
}

TEST(a_whole_number_is_read_whole_or_not_at_all)
{
    static const char *const none[] = {"",
                                       "-",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "1.0",
                                       "0x1",
                                       "- 1",
                                       "--1",
                                       "a",
                                       "1a",
                                       "9223372036854775808",
                                       "-9223372036854775809"};
    int64_t                  n;
    CHECK(fb_text_int64("0", &n) && n == 0);
    CHECK(fb_text_int64("-7", &n) && n == -7);
    CHECK(fb_text_int64("9223372036854775807", &n) && n == INT64_MAX);
    CHECK(fb_text_int64("-9223372036854775808", &n) && n == INT64_MIN);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check_int(CHECK_SITE(none[i]), fb_text_int64(none[i], &n), false);
}

TEST(texts_are_compared_without_case_and_by_their_ends)
{
    CHECK(fb_text_equal_nocase("Orders", "oRDERS"));
    CHECK(!fb_text_equal_nocase("Orders", "Order"));
    CHECK(fb_text_ends_with("orders.yml", ".yml"));
    CHECK(fb_text_ends_with("x", ""));
    CHECK(!fb_text_ends_with("yml", ".yml"));
}
