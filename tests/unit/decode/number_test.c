/* number_test.c - decimal texts as exact integers, and the look-up of keys. */
#include "decode/keys.h"
#include "decode/number.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static fb_number parse(const char *text, int scale, fb_int128 *out)
{
    *out = -77;
    return fb_number_parse(text, strlen(text), scale, out);
}

static void is_exactly(const char *text, int scale, int64_t want)
{
    fb_int128 got;
    CHECK_INT(parse(text, scale, &got), FB_NUMBER_OK);
    check_int(CHECK_SITE(text), (int64_t)got, want);
}

static void is_refused(const char *text, int scale, fb_number why)
{
    fb_int128 got;
    check_int(CHECK_SITE(text), parse(text, scale, &got), why);
}

TEST(a_number_is_read_at_the_scale_that_is_asked_for)
{
    is_exactly("12.5", 2, 1250);
    is_exactly("12.5", 1, 125);
    is_exactly("-12.50e2", 0, -1250);
    is_exactly("0.00", 0, 0);
    is_exactly("100e-2", 0, 1);
    is_exactly("123456789012345678", 0, INT64_C(123456789012345678));
    is_exactly("1234567890123456789", 0, INT64_C(1234567890123456789));
    is_exactly("0.000001", 6, 1);
    is_refused("12.5", 0, FB_NUMBER_INEXACT);
    is_refused("0.0000001", 6, FB_NUMBER_INEXACT);
    is_refused("1e38", 0, FB_NUMBER_RANGE);
    is_refused("1e37", 1, FB_NUMBER_RANGE);
}

TEST(only_the_grammar_of_json_is_a_number)
{
    static const char *const none[] = {
        "",    "-",  "+1", "01",  "-01", ".5",  "5.", "1e",    "1e+", "e1",   "1.e1",
        "0x1", "1 ", " 1", "1_0", "1,0", "--1", "1-", "1e1.5", "Inf", "1.2.3"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        is_refused(none[i], 0, FB_NUMBER_NONE);
}

TEST(digits_are_an_optional_minus_and_no_needless_zero)
{
    CHECK(fb_number_is_digits("0", 1));
    CHECK(fb_number_is_digits("-0", 2));
    CHECK(fb_number_is_digits("-5", 2));
    CHECK(fb_number_is_digits("10", 2));
    CHECK(!fb_number_is_digits("", 0));
    CHECK(!fb_number_is_digits("-", 1));
    CHECK(!fb_number_is_digits("01", 2));
    CHECK(!fb_number_is_digits("-01", 3));
    CHECK(!fb_number_is_digits("1.", 2));
    CHECK(!fb_number_is_digits("1\0", 2));
}

static fb_code schema_of(fb_schema *schema, const char *const *names, size_t count)
{
    fb_error err;
    fb_schema_init(schema);
    fb_code code = fb_schema_reserve(schema, count, &err);
    for (size_t i = 0; code == FB_OK && i < count; i++)
        schema->columns[i].name = names[i];
    return code;
}

TEST(a_key_finds_its_column_exactly_or_by_case)
{
    const char *const names[] = {"id", "Name", "unit price", "\xc3\xa9"};
    fb_schema         schema;
    fb_error          err;
    fb_keys          *keys = NULL;
    bool              is_exact;
    REQUIRE(schema_of(&schema, names, 4) == FB_OK);
    CHECK_CODE(fb_keys_new(&schema, &keys, &err), FB_OK, &err);
    CHECK_INT(fb_keys_find(keys, "id", 2, &is_exact), 0);
    CHECK(is_exact);
    CHECK_INT(fb_keys_find(keys, "nAME", 4, &is_exact), 1);
    CHECK(!is_exact);
    CHECK_INT(fb_keys_find(keys, "UNIT PRICE", 10, &is_exact), 2);
    CHECK_INT(fb_keys_find(keys, "\xc3\x89", 2, &is_exact), FB_KEY_UNKNOWN);
    CHECK_INT(fb_keys_find(keys, "i", 1, &is_exact), FB_KEY_UNKNOWN);
    CHECK_INT(fb_keys_find(keys, "id\0", 3, &is_exact), FB_KEY_UNKNOWN);
    CHECK_INT(fb_keys_find(keys, "", 0, &is_exact), FB_KEY_UNKNOWN);
    fb_keys_free(keys);
    fb_schema_clear(&schema);
}

TEST(letters_next_to_the_alphabet_are_not_taken_for_another_case)
{
    const char *const names[] = {"a@", "b[", "c{"};
    fb_schema         schema;
    fb_error          err;
    fb_keys          *keys = NULL;
    bool              is_exact;
    REQUIRE(schema_of(&schema, names, 3) == FB_OK);
    CHECK_CODE(fb_keys_new(&schema, &keys, &err), FB_OK, &err);
    CHECK_INT(fb_keys_find(keys, "a`", 2, &is_exact), FB_KEY_UNKNOWN);
    CHECK_INT(fb_keys_find(keys, "b{", 2, &is_exact), FB_KEY_UNKNOWN);
    CHECK_INT(fb_keys_find(keys, "C{", 2, &is_exact), 2);
    fb_keys_free(keys);
    fb_schema_clear(&schema);
}

TEST(a_key_set_forgets_all_when_it_begins_again)
{
    fb_key_set set = {0};
    char       key[16];
    for (int round = 0; round < 3; round++) {
        REQUIRE(fb_key_set_begin(&set, 1000));
        for (int i = 0; i < 1000; i++) {
            size_t      size = (size_t)snprintf(key, sizeof key, "k%d", i);
            static char kept[1000][16];
            memcpy(kept[i], key, size);
            CHECK(!fb_key_set_has(&set, kept[i], size));
            CHECK(fb_key_set_add(&set, kept[i], size));
            CHECK(!fb_key_set_add(&set, kept[i], size));
            CHECK(fb_key_set_has(&set, kept[i], size));
        }
    }
    fb_key_set_clear(&set);
    fb_key_set_clear(&set);
}

TEST(a_key_set_counts_rounds_past_the_end_of_its_counter)
{
    fb_key_set set = {0};
    REQUIRE(fb_key_set_begin(&set, 2));
    CHECK(fb_key_set_add(&set, "a", 1));
    set.round = UINT32_MAX;
    REQUIRE(fb_key_set_begin(&set, 2));
    CHECK_INT(set.round, 1);
    CHECK(fb_key_set_add(&set, "a", 1));
    fb_key_set_clear(&set);
}
