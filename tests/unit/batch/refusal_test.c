/* refusal_test.c - why records are set aside. */
#include "base/alloc.h"
#include "batch/refusal.h"
#include "tests/check.h"

#include <string.h>

TEST(every_word_has_a_reason_about_data_and_a_message)
{
    for (int i = 0; i < FB_REFUSAL_COUNT; i++) {
        fb_refusal_id id = (fb_refusal_id)i;
        const char   *word = fb_refusal_word(id);
        CHECK(strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(word) &&
              *word);
        CHECK_INT(fb_refusal_find(word), id); // no other has the word
        CHECK(fb_reason_code(fb_refusal_reason(id)) == FB_EDATA);
        CHECK(strlen(fb_refusal_message(id)) > 5);
        for (int j = 0; j < i; j++)
            CHECK(fb_refusal_reason((fb_refusal_id)j) != fb_refusal_reason(id));
    }
    CHECK_INT(fb_refusal_find("no_such_word"), FB_REFUSAL_COUNT);
    CHECK_INT(fb_refusal_find(""), FB_REFUSAL_COUNT);
    CHECK_TEXT(fb_refusal_message(FB_REFUSAL_NOT_NULL), "required value missing");
    CHECK_TEXT(fb_refusal_message(FB_REFUSAL_CAST_ERROR),
               "invalid value for target type");
}

TEST(a_fault_keeps_a_copy_of_the_raw_value)
{
    fb_refusals r;
    char        raw[] = "a\0b";
    fb_refusals_init(&r);
    fb_refuse(&r, FB_REFUSAL_CAST_ERROR, "amount", raw, 3);
    raw[0] = 'x';
    REQUIRE(r.count == 1);
    CHECK_TEXT(r.list[0].column, "amount");
    CHECK_TEXT(r.list[0].path, "$.amount");
    CHECK_BYTES(r.list[0].raw, r.list[0].raw_size, "a\0b", 3);
    fb_refuse(&r, FB_REFUSAL_BAD_JSON, NULL, NULL, 0);
    CHECK(!r.list[1].column && !r.list[1].path && !r.list[1].raw);
    fb_refuse(&r, FB_REFUSAL_CAST_ERROR, "amount", "", 0);
    CHECK_TEXT(r.list[2].raw, ""); // an empty value is not none
    fb_refusals_clear(&r);
    fb_refusals_clear(&r);
}

TEST(a_name_that_is_no_word_stands_quoted_in_its_path)
{
    static const char *const names[][2] = {{"a_1", "$.a_1"},
                                           {"x.y", "$[\"x.y\"]"},
                                           {"unit price", "$[\"unit price\"]"},
                                           {"1a", "$[\"1a\"]"},
                                           {"", "$[\"\"]"},
                                           {"a\"b\\", "$[\"a\\\"b\\\\\"]"},
                                           {"a\nb", "$[\"a\\u000ab\"]"}};
    fb_refusals              r;
    fb_refusals_init(&r);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fb_refuse(&r, FB_REFUSAL_NOT_NULL, names[i][0], NULL, 0);
        CHECK_TEXT(r.list[i].path, names[i][1]);
    }
    fb_refusals_clear(&r);
}

TEST(sixty_four_faults_of_the_largest_values_are_kept_and_no_more)
{
    fb_refusals r;
    char       *raw = fb_alloc(FB_MAX_REFUSAL_RAW + 10);
    char        name[256];
    REQUIRE(raw != NULL);
    memset(raw, 'x', FB_MAX_REFUSAL_RAW + 10);
    memset(name, '\n', 255); // six bytes each in its path
    name[255] = '\0';
    fb_refusals_init(&r);
    for (int i = 0; i < FB_MAX_REFUSALS + 5; i++)
        fb_refuse(&r, FB_REFUSAL_CAST_ERROR, name, raw, FB_MAX_REFUSAL_RAW + 10);
    CHECK_INT(r.count, FB_MAX_REFUSALS);
    for (size_t i = 0; i < r.count; i++) {
        CHECK_INT(r.list[i].raw_size, FB_MAX_REFUSAL_RAW);
        CHECK(r.list[i].raw && r.list[i].path && strlen(r.list[i].path) == 255 * 6 + 5);
    }
    fb_refusals_clear(&r);
    fb_free(raw);
}

TEST(a_reset_forgets_the_faults_of_the_last_record)
{
    fb_refusals r;
    fb_refusals_init(&r);
    r.is_undecodable = true;
    fb_refusals_reset(&r);
    CHECK(!r.is_undecodable);
    r.is_undecodable = true;
    fb_refuse(&r, FB_REFUSAL_BAD_JSON, "a", "b", 1);
    fb_refusals_reset(&r);
    CHECK(!r.is_undecodable && r.count == 0);
    fb_refusals_clear(&r);
}

TEST(a_fault_is_noted_without_its_value_when_memory_runs_out)
{
    for (int n = 1; n <= 3; n++) {
        fb_refusals r;
        fb_refusals_init(&r);
        fb_alloc_fail_at(n);
        fb_refuse(&r, FB_REFUSAL_CAST_ERROR, "x y", "raw", 3);
        int failed = fb_alloc_fail_at(0);
        CHECK_INT(r.count, 1);
        CHECK_TEXT(r.list[0].column, "x y");
        if (!r.list[0].raw) CHECK_INT(r.list[0].raw_size, 0);
        CHECK(failed || (r.list[0].raw && r.list[0].path));
        fb_refusals_clear(&r);
    }
}
