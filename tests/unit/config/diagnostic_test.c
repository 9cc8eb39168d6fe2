/* diagnostic_test.c - faults as they are shown: order, lines, carets, counts. */
#include "config/diagnostic.h"
#include "tests/check.h"
#include "tests/unit/config/reading.h"

#define HEAD                                                                             \
    "version: 1\n"                                                                       \
    "connections:\n"                                                                     \
    "  events:\n"                                                                        \
    "    type: kafka\n"                                                                  \
    "    bootstrap_servers: localhost:9092\n"                                            \
    "    security_protocol: SASL_SSL\n"                                                  \
    "    sasl_mechanism: SCRAM-SHA-256\n"                                                \
    "    sasl_password: env://KAFKA_PASSWORD\n"                                          \
    "    sasl_username: ${KAFKA_USERNAME}\n"

TEST(all_faults_are_shown_at_once_in_the_words_of_the_manual)
{
    unsetenv("KAFKA_USERNAME");
    reads_as(HEAD "pipelines:\n"
                  "  orders:\n"
                  "    source:\n"
                  "      {connection: events, topic: orders,\n"
                  "      max_mesages: 50000}\n"
                  "    schema:\n"
                  "      columns:\n"
                  "        - {name: order_id, type: string}\n"
                  "    sink:\n"
                  "      accepted:\n"
                  "        path: ./lake/orders\n"
                  "\n"
                  "    policy: {severity: drop}\n",
             "forebay.yml:14:7: error: unknown key \"max_mesages\", did you mean "
             "\"max_messages\"? [FB-C104]\n"
             "   14 |       max_mesages: 50000}\n"
             "      |       ^^^^^^^^^^^\n"
             "forebay.yml:22:24: error: \"severity\" must be warn, reject or abort, not "
             "\"drop\" "
             "[FB-C110]\n"
             "   22 |     policy: {severity: drop}\n"
             "      |                        ^^^^\n"
             "forebay.yml:9:20: error: environment variable KAFKA_USERNAME is not set "
             "[FB-C120]\n"
             "  set it, give a default with ${KAFKA_USERNAME:-name}, or remove the key\n"
             "3 errors in forebay.yml; nothing was contacted\n");
}

TEST(the_json_form_says_the_same)
{
    reading r;
    unsetenv("KAFKA_USERNAME");
    reading_of(&r, HEAD "repord: {path: x}\nmemory: 1\n");
    CHECK_TEXT(
        r.json,
        "[\n {\"file\":\"forebay.yml\",\"line\":10,\"column\":1,\"code\":\"FB-C104\","
        "\"severity\":\"error\",\"message\":\"unknown key \\\"repord\\\"\","
        "\"suggestion\":\"report\"},\n"
        " {\"file\":\"forebay.yml\",\"line\":11,\"column\":9,\"code\":\"FB-C112\","
        "\"severity\":\"error\",\"message\":\"\\\"memory\\\" must be a size, not "
        "\\\"1\\\"\","
        "\"suggestion\":\"write a whole number and B, kB, MB or GB, for example 1GB\"},\n"
        " {\"file\":\"forebay.yml\",\"line\":9,\"column\":20,\"code\":\"FB-C120\","
        "\"severity\":\"error\",\"message\":\"environment variable KAFKA_USERNAME is not "
        "set\",\"suggestion\":\"set it, give a default with ${KAFKA_USERNAME:-name}, or "
        "remove the key\"}\n]\n");
    reading_end(&r);
    reading_of(&r, "version: 1\n");
    CHECK_TEXT(r.json, "[]\n");
    CHECK_TEXT(r.shown, "");
    reading_end(&r);
}

TEST(at_most_twenty_are_shown_and_all_are_counted)
{
    char    text[2000] = "";
    size_t  used = 0;
    reading r;
    for (int i = 0; i < 35; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "key%d: 1\n", i);
    reading_of(&r, text);
    CHECK_HAS(r.shown, "forebay.yml:20:1: error");
    CHECK(strstr(r.shown, "forebay.yml:21:1: error") == NULL);
    CHECK_HAS(
        r.shown,
        "\n35 errors in forebay.yml, the first 20 are shown; nothing was contacted\n");
    CHECK_HAS(r.json, "\"line\":35");
    reading_end(&r);
}

TEST(faults_of_several_files_and_flags_are_counted_together)
{
    reading r;
    reading_begin(&r);
    reading_add(&r, "a.yml", "xa: 1\n");
    reading_add(&r, "b.yml", "xb: 1\n");
    CHECK_CODE(fb_config_set(&r.document.config, "memory=much", &r.err), FB_OK, &r.err);
    reading_finish(&r, false);
    CHECK_HAS(r.shown, "a.yml:1:1: error: unknown key \"xa\" [FB-C104]\n");
    CHECK_HAS(r.shown, "--set: error: \"memory\" must be a size, not \"much\" [FB-C112]\n"
                       "  memory=much\n"
                       "         ^^^^\n");
    CHECK_HAS(r.shown,
              "3 errors in 2 files and on the command line; nothing was contacted\n");
    reading_end(&r);
}

TEST(a_flag_stands_for_its_place)
{
    reading r;
    reading_begin(&r);
    CHECK_CODE(fb_document_put(&r.document, "p", "source.max_messages", "-1",
                               "--max-messages", &r.err),
               FB_OK, &r.err);
    reading_add(&r, "f.yml", PIPELINE_WITH("      path: kafka://h/t\n"));
    reading_finish(&r, false);
    CHECK_TEXT(r.shown,
               "--max-messages: error: \"max_messages\" must be 0 to 1000000000000, not "
               "-1 [FB-C113]\n1 error on the command line; nothing was contacted\n");
    CHECK_TEXT(r.err.where, "--max-messages");
    reading_end(&r);
}

TEST(a_warning_stops_nothing)
{
    reading r;
    reading_of(&r, PIPELINE_WITH("      path: kafka://h/t\n      options:\n"
                                 "        enable.ssl.certificate.verification: false\n"));
    CHECK(r.code == FB_OK);
    CHECK_HAS(r.shown, "forebay.yml:7:46: warning: anybody can pose as the broker with "
                       "enable.ssl.certificate.verification: false [FB-C125]\n");
    CHECK_HAS(r.shown, "\n1 warning in forebay.yml\n");
    CHECK_HAS(r.json, "\"severity\":\"warning\"");
    reading_end(&r);
}

TEST(a_long_line_is_cut_around_its_caret)
{
    char    text[2000] = "{memory: 1GB, report: {path: \"";
    size_t  used = strlen(text);
    reading r;
    for (int i = 0; i < 200; i++)
        used += (size_t)snprintf(text + used, 9, "\xc3\xa4\xe2\x82\xac-");
    snprintf(text + used, sizeof text - used, "\", kep: 5}}\n");
    reading_of(&r, text);
    const char *caret = strstr(r.shown, "      | "), *line = strstr(r.shown, "    1 | ");
    REQUIRE(caret && line);
    CHECK_HAS(r.shown, "kep: 5}}\n");
    CHECK_INT(strspn(caret + 8, " "), 90);
    CHECK_INT(caret - line < 8 + 4 * 150, 1);
    reading_end(&r);
}

TEST(tabs_and_what_a_terminal_would_obey_are_blanks)
{
    reading r;
    reading_of(&r, "{a:\t1,\tmemry: 2}\n");
    CHECK_HAS(r.shown, "    1 | {a: 1, memry: 2}\n      |        ^^^^^\n");
    reading_end(&r);
}

TEST(the_error_of_a_call_is_the_first_that_is_shown)
{
    reading r;
    reading_of(&r, "memory: 1\nversoin: 1\n");
    CHECK_TEXT(r.err.where, "forebay.yml:1:9");
    CHECK_TEXT(r.err.what, "\"memory\" must be a size, not \"1\"");
    reading_end(&r);
    reading_of(&r, "versoin: 1\n");
    CHECK_TEXT(r.err.hint, "Did you mean \"version\"?");
    CHECK(r.err.reason == FB_R_C104);
    reading_end(&r);
}
