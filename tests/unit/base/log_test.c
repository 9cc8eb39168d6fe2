/* log_test.c - what is written to stderr, caught in a file. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "tests/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int  real_stderr;
static char caught[1 << 17];

/* From here on stderr goes into a file. */
static void begin(fb_log_level least, bool as_json)
{
    FILE *file = tmpfile();
    fflush(stderr);
    real_stderr = dup(2);
    CHECK(file && dup2(fileno(file), 2) == 2);
    fclose(file);
    fb_log_setup(least, as_json);
}

/* @return all that was written since begin() */
static const char *end(void)
{
    fflush(stderr);
    ssize_t size = pread(2, caught, sizeof caught - 1, 0);
    caught[size > 0 ? size : 0] = '\0';
    dup2(real_stderr, 2);
    close(real_stderr);
    fb_log_setup(FB_LOG_INFO, false);
    fb_log_context(NULL, NULL);
    return caught;
}

TEST(a_text_line_has_its_level_only_when_something_is_wrong)
{
    begin(FB_LOG_DEBUG, false);
    fb_log(FB_LOG_DEBUG, "d", "a %d", 1);
    fb_log(FB_LOG_INFO, "i", "b");
    fb_log(FB_LOG_WARN, "w", "c");
    fb_log(FB_LOG_ERROR, "e", "d");
    CHECK_TEXT(end(), "a 1\nb\nwarning: c\nerror: d\n");
}

TEST(lines_below_the_level_are_not_written)
{
    begin(FB_LOG_WARN, false);
    fb_log(FB_LOG_INFO, "i", "no");
    fb_log_plain("no");
    fb_log_status("no");
    fb_log(FB_LOG_WARN, "w", "yes");
    CHECK(!fb_log_shows(FB_LOG_INFO) && fb_log_shows(FB_LOG_WARN));
    CHECK_TEXT(end(), "warning: yes\n");
}

TEST(a_message_can_forge_no_line_and_drive_no_terminal)
{
    begin(FB_LOG_INFO, false);
    fb_log(FB_LOG_INFO, "i", "%s", "a\nerror: forged\r\033[31m\a\t\x7f");
    fb_log(FB_LOG_INFO, "i", "%s",
           "\xc2\x9b[2J\x9b[2J\xc2\x85\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6|");
    fb_log(FB_LOG_INFO, "i", "%s", "caf\xc3\xa9 \xf0\x9f\x98\x80 \xc3");
    CHECK_TEXT(end(), "a\\x0aerror: forged\\x0d\\x1b[31m\\x07\\x09\\x7f\n"
                      "\\u009b[2J\\x9b[2J\\u0085\\u2028\\u202e\\u2066|\n"
                      "caf\xc3\xa9 \xf0\x9f\x98\x80 \\xc3\n");
}

TEST(an_error_is_printed_with_place_code_state_and_advice)
{
    fb_error err = {0};
    fb_error_set(&err, FB_R_F001, "cannot read \"x\"");
    begin(FB_LOG_INFO, false);
    fb_log_error(&err);
    fb_error_at(&err, "orders.yml:14:9");
    fb_error_state(&err, "nothing was read");
    fb_error_hint(&err, "check it");
    fb_log_error(&err);
    CHECK_TEXT(end(), "error: cannot read \"x\" [FB-F001]\n"
                      "orders.yml:14:9: error: cannot read \"x\" [FB-F001]\n"
                      "  state: nothing was read\n"
                      "  do: check it\n");
}

TEST(no_part_of_an_error_can_forge_a_line)
{
    fb_error err = {0};
    fb_error_set(&err, FB_R_F001, "a\nerror: b");
    fb_error_at(&err, "c\nd");
    fb_error_state(&err, "e\n  do: f");
    fb_error_hint(&err, "one line\nerror: another [FB-F001]");
    begin(FB_LOG_INFO, false);
    fb_log_error(&err);
    CHECK_TEXT(end(),
               "c\\x0ad: error: a\\x0aerror: b [FB-F001]\n"
               "  state: e\\x0a  do: f\n"
               "  do: one line\n"
               "      error: another [FB-F001]\n"); // stands under it, not beside it
}

TEST(the_level_of_a_line_may_be_colored)
{
    fb_error err = {0};
    fb_error_set(&err, FB_R_F001, "x");
    begin(FB_LOG_INFO, false);
    fb_log_use_color(true);
    fb_log(FB_LOG_INFO, "i", "plain");
    fb_log(FB_LOG_WARN, "w", "y");
    fb_log_error(&err);
    fb_log_use_color(false);
    CHECK_TEXT(end(), "plain\n\033[1;33mwarning:\033[0m y\n"
                      "\033[1;31merror:\033[0m x [FB-F001]\n");
}

TEST(a_json_line_carries_event_context_fields_and_text)
{
    const fb_log_field fields[] = {FB_INT("n", -5), FB_STR("s", "a\"b\n"),
                                   FB_RAW("r", "[1]"), FB_STR("none", NULL),
                                   FB_INT("zero", 0)};
    begin(FB_LOG_INFO, true);
    CHECK(fb_log_is_json());
    fb_log_context("run-1", "orders");
    fb_log_fields(FB_LOG_WARN, "kept", fields, 5, "%s", "");
    fb_log_context(NULL, NULL);
    fb_log(FB_LOG_INFO, "said", "a \"%s\"\n", "word");
    const char *lines = end();
    CHECK(strncmp(lines, "{\"ts\":\"20", 9) == 0);
    CHECK_HAS(lines, "Z\",\"level\":\"warning\",\"event\":\"kept\",\"run_id\":\"run-1\","
                     "\"pipeline\":\"orders\",\"n\":-5,\"s\":\"a\\\"b\\u000a\",\"r\":[1],"
                     "\"none\":null,\"zero\":0}\n");
    CHECK_HAS(
        lines,
        "\"level\":\"info\",\"event\":\"said\",\"msg\":\"a \\\"word\\\"\\u000a\"}\n");
}

TEST(an_error_in_json_has_its_parts_as_fields)
{
    fb_error err = {0};
    fb_error_set(&err, FB_R_K001, "no answer");
    fb_error_hint(&err, "look\nthere");
    begin(FB_LOG_INFO, true);
    fb_log_error(&err);
    fb_log_plain("not in json");
    fb_log_status("not in json");
    const char *lines = end();
    CHECK_HAS(
        lines,
        "\"level\":\"error\",\"event\":\"error\",\"code\":\"FB-K001\",\"where\":\"\","
        "\"state\":\"\",\"do\":\"look\\u000athere\",\"msg\":\"no answer\"}\n");
    CHECK(strstr(lines, "not in json") == NULL);
}

TEST(a_line_that_is_too_long_still_ends_and_is_still_json)
{
    static char long_text[40000];
    memset(long_text, 'x', sizeof long_text - 1);
    const fb_log_field field = FB_STR("long", long_text);
    begin(FB_LOG_INFO, true);
    fb_log_fields(FB_LOG_INFO, "big", &field, 1, "kept");
    fb_log(FB_LOG_INFO, "next", "next");
    const char *lines = end();
    CHECK_HAS(lines, "\"event\":\"big\",\"cut\":true,\"msg\":\"kept\"}\n{");
    begin(FB_LOG_INFO, false);
    memset(long_text, '\x01', sizeof long_text - 1); // four bytes each
    fb_log(FB_LOG_INFO, "big", "%s", long_text);
    fb_log_plain("%s", long_text);
    fb_log(FB_LOG_INFO, "next", "next");
    lines = end();
    CHECK_HAS(lines, "\\x01\nnext\n");
}

TEST(an_error_is_printed_also_when_no_memory_is_left)
{
    fb_error err = {0};
    begin(FB_LOG_INFO, false);
    fb_alloc_fail_at(1);
    CHECK(fb_fail_memory(&err, "anything") == FB_EMEMORY);
    fb_log_error(&err);
    CHECK_INT(fb_alloc_fail_at(0), 0); // none was asked for
    CHECK_TEXT(end(), "error: no memory for anything [FB-M001]\n");
}

TEST(a_status_line_is_drawn_over_and_cleared_before_other_lines)
{
    begin(FB_LOG_INFO, false);
    fb_log_status("10 %");
    fb_log_status("20 %\nerror: forged\033[2J");
    fb_log(FB_LOG_INFO, "i", "a line");
    fb_log(FB_LOG_INFO, "i", "another");
    fb_log_status("30 %");
    fb_log_status("");
    fb_log_status("");
    CHECK_TEXT(end(), "\r\033[K10 %\r\033[K20 %\\x0aerror: forged\\x1b[2J"
                      "\r\033[Ka line\nanother\n\r\033[K30 %\r\033[K");
}

TEST(plain_text_may_have_several_lines)
{
    begin(FB_LOG_INFO, false);
    fb_log_plain("one\n  two\t%s", "\033[0m");
    CHECK_TEXT(end(), "one\n  two\\x09\\x1b[0m\n");
}

static void *write_lines(void *text)
{
    for (int i = 0; i < 200; i++) fb_log(FB_LOG_INFO, "i", "%s", (const char *)text);
    return NULL;
}

TEST(lines_of_many_threads_are_written_whole)
{
    static const char *const words[] = {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
                                        "cccccccccccccccccccccccccccccc"};
    pthread_t                threads[3];
    int                      count = 0;
    char                    *rest, *line;
    begin(FB_LOG_INFO, false);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, write_lines,
                             (void *)(uintptr_t)words[i]) == 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    end();
    for (rest = caught; (line = strsep(&rest, "\n")) && *line; count++)
        CHECK(strcmp(line, words[0]) == 0 || strcmp(line, words[1]) == 0 ||
              strcmp(line, words[2]) == 0);
    CHECK_INT(count, 600);
}
