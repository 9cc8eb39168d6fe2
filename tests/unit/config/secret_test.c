/* secret_test.c - secrets are named, looked up late, and shown nowhere. */
#include "config/secret.h"
#include "base/file.h"
#include "base/log.h"
#include "tests/check.h"
#include "tests/unit/config/reading.h"

#include <sys/stat.h>
#include <unistd.h>

#define CANARY "s3cr3t-CANARY-41"

static fb_secret parse(const char *text, fb_arena *arena)
{
    fb_secret out;
    fb_error  err;
    CHECK_CODE(fb_secret_parse(text, arena, &out, &err), FB_OK, &err);
    return out;
}

TEST(a_reference_is_told_from_a_literal)
{
    fb_arena arena;
    fb_arena_init(&arena, 1 << 16);
    static const struct {
        const char    *text;
        fb_secret_kind kind;
        const char    *kept;
    } wanted[] = {
        {"env://KAFKA_PASSWORD", FB_SECRET_ENV, "KAFKA_PASSWORD"},
        {"${KAFKA_PASSWORD}", FB_SECRET_ENV, "KAFKA_PASSWORD"},
        {"file:///run/secrets/kafka", FB_SECRET_FILE, "/run/secrets/kafka"},
        {"env://", FB_SECRET_NONE, NULL},
        {"env://A B", FB_SECRET_NONE, NULL},
        {"file://relative", FB_SECRET_NONE, NULL},
        {"file:///", FB_SECRET_NONE, NULL},
        {"hunter2", FB_SECRET_LITERAL, "hunter2"},
        {"x${A}", FB_SECRET_LITERAL, "x${A}"},
        {"${A}${B}", FB_SECRET_LITERAL, "${A}${B}"},
        {"${A:-b}", FB_SECRET_LITERAL, "${A:-b}"},
        {"${}", FB_SECRET_LITERAL, "${}"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        fb_secret got = parse(wanted[i].text, &arena);
        CHECK_INT(got.kind, wanted[i].kind);
        CHECK_TEXT(got.text, wanted[i].kept);
    }
    fb_arena_clear(&arena);
}

TEST(a_variable_is_looked_up_late_and_named_when_it_is_missing)
{
    char      value[64];
    fb_error  err;
    fb_secret secret = {FB_SECRET_ENV, "FBT_SECRET"};
    setenv("FBT_SECRET", CANARY, 1);
    CHECK_CODE(fb_secret_reveal(&secret, value, sizeof value, &err), FB_OK, &err);
    CHECK_TEXT(value, CANARY);
    fb_secret_wipe(value, sizeof value);
    for (size_t i = 0; i < sizeof value; i++) CHECK(value[i] == 0);

    CHECK(fb_secret_reveal(&secret, value, 8, &err) == FB_ECONFIG);
    CHECK_TEXT(err.what, "a secret is longer than 7 bytes");
    unsetenv("FBT_SECRET");
    CHECK(fb_secret_reveal(&secret, value, sizeof value, &err) == FB_ECONFIG);
    CHECK_TEXT(err.what, "environment variable FBT_SECRET is not set");
    CHECK(err.reason == FB_R_C120);
    setenv("FBT_SECRET", "", 1);
    CHECK(fb_secret_reveal(&secret, value, sizeof value, &err) == FB_ECONFIG);
    CHECK_TEXT(err.what, "environment variable FBT_SECRET is empty");
    fb_secret none = {0};
    CHECK_CODE(fb_secret_reveal(&none, value, sizeof value, &err), FB_OK, &err);
    CHECK_TEXT(value, "");
}

static void reveals_file(const void *bytes, size_t size, const char *want)
{
    char      path[] = "/tmp/forebay-secret-XXXXXX", value[64];
    fb_error  err;
    int       fd = mkstemp(path);
    fb_secret secret = {FB_SECRET_FILE, path};
    REQUIRE(fd >= 0);
    REQUIRE(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    fb_code code = fb_secret_reveal(&secret, value, sizeof value, &err);
    if (want[0] == '!') {
        CHECK(code == FB_ECONFIG && err.reason == FB_R_C123);
        CHECK_HAS(err.what, want + 1);
        CHECK_HAS(err.what, path);
        CHECK_TEXT(value, "");
    } else {
        CHECK_CODE(code, FB_OK, &err);
        CHECK_TEXT(value, want);
    }
    unlink(path);
}

TEST(one_newline_at_the_end_of_a_file_is_cut)
{
    reveals_file("pw", 2, "pw");
    reveals_file("pw\n", 3, "pw");
    reveals_file("pw\r\n", 4, "pw");
    reveals_file("pw\n\n", 4, "pw\n");
    reveals_file(" p w ", 5, " p w ");
    reveals_file("", 0, "!is empty");
    reveals_file("\n", 1, "!is empty");
    reveals_file("a\0b", 3, "!holds a NUL");
    reveals_file("0123456789012345678901234567890123456789012345678901234567890123456789",
                 70, "!is too large");
    fb_secret missing = {FB_SECRET_FILE, "/nowhere/pw"},
              folder = {FB_SECRET_FILE, "/tmp"};
    char     value[64];
    fb_error err;
    CHECK(fb_secret_reveal(&missing, value, sizeof value, &err) == FB_ECONFIG);
    CHECK_TEXT(err.what, "cannot read /nowhere/pw: No such file or directory");
    CHECK(fb_secret_reveal(&folder, value, sizeof value, &err) == FB_ECONFIG);
    CHECK_HAS(err.what, "Is a directory");
}

TEST(a_file_that_others_may_read_is_warned_of)
{
    char      path[] = "/tmp/forebay-secret-XXXXXX", value[64], said[400] = "";
    fb_error  err;
    int       fd = mkstemp(path), saved = dup(2), pipes[2];
    fb_secret secret = {FB_SECRET_FILE, path};
    REQUIRE(fd >= 0 && pipe(pipes) == 0);
    REQUIRE(write(fd, CANARY, strlen(CANARY)) > 0 && fchmod(fd, 0644) == 0);
    dup2(pipes[1], 2);
    fb_code code = fb_secret_reveal(&secret, value, sizeof value, &err);
    fflush(stderr);
    dup2(saved, 2);
    close(pipes[1]);
    ssize_t size = read(pipes[0], said, sizeof said - 1);
    said[size > 0 ? size : 0] = '\0';
    CHECK_CODE(code, FB_OK, &err);
    CHECK_HAS(said, "can be read by others (mode 0644)");
    CHECK(strstr(said, CANARY) == NULL);
    close(pipes[0]);
    close(saved);
    close(fd);
    unlink(path);
}

/* A file has a canary where a secret belongs, or nearly: it must be in no output. */
static void hides(const char *text, const char *words)
{
    reading r;
    reading_of(&r, text);
    CHECK(r.code == FB_ECONFIG);
    CHECK_HAS(r.shown, words);
    CHECK_HAS(r.shown, "***");
    if (strstr(r.shown, "CANARY") || strstr(r.json, "CANARY") ||
        strstr(r.err.what, "CANARY"))
        check_failed(CHECK_SITE("canary"), "was shown:\n%s%s", r.shown, r.json);
    reading_end(&r);
}

TEST(a_literal_secret_is_refused_and_not_shown)
{
    reading r;
    reading_of(&r, "connections:\n  e:\n    type: kafka\n    bootstrap_servers: h\n"
                   "    security_protocol: SASL_SSL\n    sasl_mechanism: PLAIN\n"
                   "    sasl_username: u\n    sasl_password: " CANARY " # mine\n");
    CHECK_TEXT(
        r.shown,
        "forebay.yml:8:20: error: \"sasl_password\" holds the secret itself [FB-C122]\n"
        "    8 |     sasl_password: ***\n"
        "      |                    ^^^\n"
        "  write where it is kept, env://NAME or file:///path, or give "
        "--allow-inline-secrets\n"
        "1 error in forebay.yml; nothing was contacted\n");
    reading_end(&r);
}

#define HEAD "connections:\n  e: "

TEST(a_secret_is_hidden_whatever_else_is_wrong_with_its_line)
{
    hides(HEAD "{type: kafka, sasl_password: " CANARY ", bootstrap_server: h}\n",
          "unknown key \"bootstrap_server\"");
    hides(HEAD "{type: kafka, sasl_pasword: " CANARY "}\n",
          "unknown key \"sasl_pasword\"");
    hides(HEAD "{type: kafka, password: " CANARY "}\n",
          "is called \"sasl_password\" here");
    hides(HEAD "{type: kafka, options: {sasl.password: " CANARY "}}\n",
          "\"sasl.password\" cannot");
    hides(HEAD "{type: kafka, options: {ssl.key.pem: " CANARY "}}\n",
          "holds the secret itself");
    hides(HEAD "{type: kafka, bootstrap_servers: h, ssl_key_password: \"" CANARY "\"}\n",
          "\"ssl_key_password\"");
    hides(HEAD "{type: kafka, sasl_password: 'x" CANARY "${HOME}'}\n",
          "holds the secret itself");
    hides(HEAD "{type: kafka, sasl_password: \"${FBT_NO:-" CANARY "}\"}\n",
          "holds the secret itself");
}

TEST(a_secret_is_hidden_in_a_line_that_is_no_yaml)
{
    hides(HEAD "{type: kafka, sasl_password: " CANARY ", x: ${y}}\n",
          "cannot be read as YAML");
    hides("{a: ${X}, sasl_password: \"" CANARY "\"\n", "cannot be read as YAML");
    hides("{sasl_password: " CANARY " \x01}\n", "control character");
    hides("sasl_password: " CANARY "\xff\n", "not UTF-8");
    hides("{a: http://user:" CANARY "@host/, b: [}\n", "cannot be read as YAML");
}

TEST(a_secret_in_an_address_is_hidden)
{
    hides(PIPELINE_WITH("      path: kafka://user:" CANARY "@h:9092/t\n"),
          "the address holds a user or password");
}

TEST(a_secret_on_the_command_line_is_hidden)
{
    reading r;
    reading_begin(&r);
    CHECK_CODE(
        fb_config_set(&r.document.config, "connections.e.sasl_password=" CANARY, &r.err),
        FB_OK, &r.err);
    CHECK_CODE(
        fb_config_set(&r.document.config, "connections.e.sasl_pasword=" CANARY, &r.err),
        FB_OK, &r.err);
    CHECK_CODE(fb_config_set(&r.document.config, "connections.e.token:=[" CANARY, &r.err),
               FB_OK, &r.err);
    reading_finish(&r, false);
    CHECK_HAS(r.shown, "  connections.e.sasl_password=***\n");
    CHECK(strstr(r.shown, "CANARY") == NULL && strstr(r.json, "CANARY") == NULL);
    reading_end(&r);
}

TEST(a_secret_of_several_lines_is_hidden_whole)
{
    hides("connections:\n  e:\n    type: kafka\n    bootstrap_servers: h\n    "
          "ssl_key_password: |\n"
          "      " CANARY "\n      " CANARY "\n",
          "holds the secret itself");
}

TEST(an_inline_secret_is_taken_when_it_is_allowed)
{
    reading r;
    char    value[64];
    reading_begin(&r);
    reading_add(&r, "f",
                "connections:\n  e: {type: kafka, bootstrap_servers: h, "
                "security_protocol: SASL_SSL, sasl_mechanism: PLAIN, sasl_username: u, "
                "sasl_password: pa$$word}\n");
    reading_finish(&r, true);
    CHECK_TEXT(r.shown, "");
    const fb_secret *secret = &r.document.connections[0].kafka.sasl_password;
    CHECK_INT(secret->kind, FB_SECRET_LITERAL);
    CHECK_CODE(fb_secret_reveal(secret, value, sizeof value, &r.err), FB_OK, &r.err);
    CHECK_TEXT(value, "pa$word");
    reading_end(&r);
}

TEST(a_reference_that_cannot_be_one_is_refused)
{
    is_refused(HEAD "{type: kafka, bootstrap_servers: h, sasl_username: u, "
                    "security_protocol: SASL_SSL, sasl_mechanism: PLAIN, "
                    "sasl_password: file://relative}\n",
               "FB-C114", "\"sasl_password\" must be env://NAME or file:///path");
}
