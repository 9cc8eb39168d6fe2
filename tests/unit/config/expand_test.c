/* expand_test.c - variables of the environment in values. */
#include "config/expand.h"
#include "tests/check.h"
#include "tests/unit/config/reading.h"

/* Expand `text`; NULL after a fault, whose message is put into `why`. */
static void expand(const char *text, char out[200], char why[300])
{
    fb_arena       arena;
    fb_diagnostics found;
    fb_error       err;
    const char    *got;
    fb_node        node = {.kind = FB_NODE_SCALAR, .text = text};
    fb_arena_init(&arena, 1 << 22);
    fb_diagnostics_init(&found);
    CHECK_CODE(fb_expand(&node, &arena, &found, &got, &err), FB_OK, &err);
    snprintf(out, 200, "%s", got ? got : "(fault)");
    snprintf(why, 300, "%s", found.count ? found.list[0]->message : "");
    fb_diagnostics_clear(&found);
    fb_arena_clear(&arena);
}

static void becomes(const char *text, const char *want, const char *want_why)
{
    char out[200], why[300];
    expand(text, out, why);
    CHECK_TEXT(out, want);
    CHECK_TEXT(why, want_why);
}

static void set_environment(void)
{
    setenv("FBT_SET", "value", 1);
    setenv("FBT_EMPTY", "", 1);
    setenv("FBT_TRICK", "${FBT_SET} $$ \n- a: {b", 1);
    setenv("FBT_LATIN", "caf\xe9", 1);
    unsetenv("FBT_UNSET");
}

TEST(variables_and_defaults_are_replaced)
{
    set_environment();
    becomes("plain", "plain", "");
    becomes("${FBT_SET}", "value", "");
    becomes("a${FBT_SET}b${FBT_SET}c", "avaluebvaluec", "");
    becomes("${FBT_EMPTY}", "", "");
    becomes("${FBT_EMPTY:-d}", "d", "");
    becomes("${FBT_UNSET:-localhost:9092}", "localhost:9092", "");
    becomes("${FBT_UNSET:-}", "", "");
    becomes("${FBT_UNSET:-${FBT_SET}}!", "value!", "");
    becomes("${FBT_SET:?say so}", "value", "");
}

TEST(two_dollars_are_one_and_a_dollar_alone_is_itself)
{
    set_environment();
    becomes("$$", "$", "");
    becomes("$${FBT_SET}", "${FBT_SET}", "");
    becomes("$FBT_SET costs 5$", "$FBT_SET costs 5$", "");
}

TEST(a_replaced_text_is_not_looked_at_again)
{
    set_environment();
    becomes("${FBT_TRICK}", "${FBT_SET} $$ \n- a: {b", "");
    reading r;
    reading_of(&r,
               PIPELINE_WITH("      path: kafka://h/t\n      group_id: ${FBT_TRICK}\n"));
    CHECK_TEXT(r.shown, "");
    CHECK_TEXT(r.document.pipelines[0].source.group_id, "${FBT_SET} $$ \n- a: {b");
    reading_end(&r);
}

TEST(what_is_missing_is_named_and_never_its_neighbours_value)
{
    set_environment();
    becomes("${FBT_UNSET}", "(fault)", "environment variable FBT_UNSET is not set");
    becomes("${FBT_UNSET:?where the brokers are}", "(fault)",
            "environment variable FBT_UNSET is not set: where the brokers are");
    becomes("${FBT_EMPTY:?needed}", "(fault)",
            "environment variable FBT_EMPTY is not set: needed");
    becomes("${FBT_SET}${FBT_UNSET}", "(fault)",
            "environment variable FBT_UNSET is not set");
    becomes("${FBT_LATIN}", "(fault)", "environment variable FBT_LATIN is not UTF-8");
}

TEST(a_reference_that_is_none_is_refused)
{
    static const char *const bad[] = {"${",     "${}",     "${A",       "${A-b}", "${1A}",
                                      "${A B}", "${A:=x}", "${A:-${B}", "${A.b}", NULL};
    for (const char *const *one = bad; *one; one++)
        becomes(*one, "(fault)", "\"${\" is not followed by NAME}");
    char deep[200] = "", out[200], why[300];
    for (int i = 0; i < 12; i++) strcat(deep, "${FBT_UNSET:-");
    for (int i = 0; i < 12; i++) strcat(deep, "}");
    expand(deep, out, why);
    CHECK_TEXT(out, "(fault)");
}

TEST(an_empty_variable_is_as_if_the_key_were_left_out)
{
    set_environment();
    reading r;
    reading_of(&r, PIPELINE_WITH("      path: kafka://h/t\n      group_id: ${FBT_EMPTY}\n"
                                 "      max_wait_ms: ${FBT_UNSET:-}\n"));
    CHECK_TEXT(r.shown, "");
    CHECK(r.document.pipelines[0].source.group_id == NULL);
    CHECK_INT(r.document.pipelines[0].source.max_wait_ms, 5000);
    reading_end(&r);
}

TEST(a_value_of_the_environment_is_in_no_message)
{
    set_environment();
    reading r;
    reading_of(&r,
               PIPELINE_WITH("      path: kafka://h/t\n      max_messages: ${FBT_SET}\n"
                             "      on_data_loss: ${FBT_SET}\n"
                             "      timeout_ms: ${FBT_UNSET:-0}\n"));
    CHECK_HAS(r.shown,
              "\"max_messages\" must be a whole number, not \"${FBT_SET}\" [FB-C112]");
    CHECK_HAS(r.shown,
              "\"on_data_loss\" must be stop, earliest or latest, not \"${FBT_SET}\"");
    CHECK_HAS(r.shown,
              "\"timeout_ms\" must be 1 to 86400000, not ${FBT_UNSET:-0} [FB-C113]");
    CHECK(strstr(r.shown, "value") == NULL);
    CHECK(strstr(r.json, "value") == NULL);
    reading_end(&r);
}
