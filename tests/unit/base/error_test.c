/* error_test.c - what an error holds, and the two tables behind it. */
#include "base/alloc.h"
#include "base/error.h"
#include "tests/check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static fb_code fail_here(fb_error *err)
{
    return fb_fail(err, F001, "cannot read %s", "x");
}

TEST(a_failure_is_named_by_its_reason_and_returned_as_its_code)
{
    fb_error err = {.where = "old", .state = "old", .hint = "old"};
    CHECK(fail_here(&err) == FB_EIO);
    CHECK(err.code == FB_EIO && err.reason == FB_R_F001);
    CHECK_TEXT(err.what, "cannot read x");
    CHECK_TEXT(err.where, "");
    CHECK_TEXT(err.state, "");
    CHECK_TEXT(err.hint, "");
}

TEST(the_place_that_was_said_first_stands_and_the_state_said_last)
{
    fb_error err = {0};
    fb_error_set(&err, FB_R_C104, "unknown");
    fb_error_at(&err, "orders.yml:%d", 14);
    fb_error_at(&err, "elsewhere");
    fb_error_state(&err, "one");
    fb_error_state(&err, "two");
    fb_error_hint(&err, "do %s", "it");
    CHECK_TEXT(err.where, "orders.yml:14");
    CHECK_TEXT(err.state, "two");
    CHECK_TEXT(err.hint, "do it");
}

TEST(an_error_can_be_made_of_its_own_texts)
{
    fb_error err = {0};
    fb_error_set(&err, FB_R_F001, "inner");
    fb_error_at(&err, "here");
    fb_error_set(&err, FB_R_F002, "%s: outer of %s", err.where, err.what);
    CHECK_TEXT(err.what, "here: outer of inner");
    CHECK_TEXT(err.where, "");
}

TEST(a_text_that_is_too_long_is_cut_between_two_characters)
{
    fb_error err = {0};
    char     text[1201];
    for (size_t i = 0; i < sizeof text - 1; i += 2) memcpy(text + i, "\xc3\xa9", 2);
    text[1200] = '\0';
    fb_error_set(&err, FB_R_F001, "x%s", text);
    CHECK_INT(strlen(err.what), 599);
    CHECK_BYTES(err.what + 597, 2, "\xc3\xa9", 2);
    fb_error_set(&err, FB_R_F001, "%s", text);
    CHECK_INT(strlen(err.what), 598);
    fb_error_at(&err, "%s", text);
    CHECK_INT(strlen(err.where), 298);
    fb_error_state(&err, "x%s", text);
    CHECK_INT(strlen(err.state), 399);
}

TEST(every_code_has_a_name_a_meaning_and_an_exit_status)
{
    CHECK_TEXT(fb_code_name(FB_OK), "OK");
    CHECK_INT(fb_code_exit_status(FB_OK), 0);
    for (int code = FB_EUSAGE; code <= FB_EBUG; code++) {
        CHECK(fb_code_name((fb_code)code)[0] != '\0');
        CHECK(strlen(fb_code_meaning((fb_code)code)) > 10);
        CHECK(fb_code_exit_status((fb_code)code) > 0);
        CHECK(fb_code_exit_status((fb_code)code) < 256);
    }
    CHECK_INT(fb_code_exit_status(FB_EDATA), 3);
    CHECK_INT(fb_code_exit_status(FB_EUNREACHABLE), 5);
    CHECK_INT(fb_code_exit_status(FB_EBUG), 70);
    CHECK(fb_code_is_retryable(FB_EUNREACHABLE) && fb_code_is_retryable(FB_ECONFLICT));
    CHECK(!fb_code_is_retryable(FB_EDATA) && !fb_code_is_retryable(FB_EUNKNOWN));
}

TEST(every_reason_has_a_name_of_its_own_a_sentence_and_an_advice)
{
    for (int i = FB_R_NONE + 1; i < FB_REASON_COUNT; i++) {
        fb_reason   reason = (fb_reason)i;
        const char *name = fb_reason_name(reason), *what = fb_reason_what(reason);
        CHECK(strncmp(name, "FB-", 3) == 0 && strlen(name) == 7);
        CHECK(fb_reason_find(name) == reason); // the first of that name is this one
        CHECK(what[strlen(what) - 1] == '.');
        CHECK(fb_reason_advice(reason)[strlen(fb_reason_advice(reason)) - 1] == '.');
        CHECK(fb_reason_code(reason) != FB_OK);
    }
    CHECK_TEXT(fb_reason_name(FB_R_NONE), "");
}

TEST(a_reason_is_found_with_or_without_its_prefix_in_any_case)
{
    CHECK(fb_reason_find("FB-C104") == FB_R_C104);
    CHECK(fb_reason_find("fb-c104") == FB_R_C104);
    CHECK(fb_reason_find("c104") == FB_R_C104);
    CHECK(fb_reason_find("C999") == FB_R_NONE);
    CHECK(fb_reason_find("") == FB_R_NONE);
    CHECK(fb_reason_find("FB-") == FB_R_NONE);
}

TEST(a_lack_of_memory_is_said_without_memory)
{
    fb_error err = {0};
    fb_alloc_fail_at(1);
    CHECK(fb_fail_memory(&err, "a thing") == FB_EMEMORY);
    CHECK_INT(fb_alloc_fail_at(0), 0);
    CHECK_TEXT(err.what, "no memory for a thing");
}

TEST(an_assertion_that_fails_ends_the_process_with_70)
{
    int   status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (dup2(open("/dev/null", 1), 2) < 0) _exit(1);
        fb_assert(child != 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 70);
}
