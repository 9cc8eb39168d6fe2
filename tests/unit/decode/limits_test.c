/* limits_test.c - the decoder against whole suites of good and broken JSON, against
 * bombs, and without memory. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/json_memory.h"
#include "base/text.h"
#include "tests/unit/decode/rows.h"

#include <stdlib.h>

/* Sanitizers hold memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

/* --- the JSON test suite, which lies beside the checkout -------------------------- */

typedef struct suite {
    rows *r;
    char  folder[FB_MAX_PATH];
    int   accepted, refused;
} suite;

static bool find_cases(const char *name, char *out, size_t room)
{
    const char *cases = getenv("FOREBAY_CASES");
    snprintf(out, room, "%s/%s", cases ? cases : "../shared/cases", name);
    return fb_file_exists(out);
}

/* Was it JSON for the parser, whatever the row says about it? */
static bool is_json(const char *word)
{
    static const char *const parsed[] = {"", "not_object", "duplicate_key"};
    for (size_t i = 0; i < sizeof parsed / sizeof *parsed; i++)
        if (strcmp(word, parsed[i]) == 0) return true;
    return false;
}

static fb_code judge_file(void *context, const char *name, fb_error *err)
{
    suite  *s = context;
    char    path[FB_MAX_PATH];
    fb_buf  bytes;
    fb_code code;
    fb_buf_init(&bytes, 1 << 20);
    code = fb_path_join(path, sizeof path, s->folder, name, err);
    if (code == FB_OK) code = fb_file_read(path, &bytes, err);
    if (code == FB_OK) code = rows_add(s->r, fb_buf_text(&bytes), bytes.size);
    const char *word = rows_fault(s->r);
    if (name[0] == 'y') {
        check_int(CHECK_SITE(name), is_json(word), true);
        s->accepted += is_json(word);
    } else if (name[0] == 'n') {
        check_int(CHECK_SITE(name), is_json(word), false);
        s->refused += !is_json(word);
    }
    s->r->row.index = 0;
    fb_buf_clear(&bytes);
    return code;
}

TEST(all_281_cases_of_the_json_test_suite_are_judged_right)
{
    rows *r = &(rows){0};
    suite s = {.r = r};
    if (!find_cases("inputs/json", s.folder, sizeof s.folder)) SKIP("no inputs/json");
    REQUIRE(rows_open(r, "a json; b string ~", &plain_options) == FB_OK);
    CHECK_CODE(fb_dir_list(s.folder, judge_file, &s, &r->err), FB_OK, &r->err);
    CHECK_INT(s.accepted, 95);
    CHECK_INT(s.refused, 186);
    rows_close(r);
}

/* One text of the list, in base64, comes through as a value and as a key exactly as it is. */
static void comes_through(rows *r, const char *base64)
{
    fb_buf message;
    char   bytes[4096];
    size_t size, got_size;
    fb_buf_init(&message, 1 << 20);
    fb_buf_printf(&message, "{\"b\":\"%s\"}", base64);
    REQUIRE(*rows_read(r, fb_buf_text(&message)) == '\0');
    const char *want = rows_bytes(r, 0, &size);
    REQUIRE(size < sizeof bytes);
    memcpy(bytes, want, size);
    fb_buf_reset(&message);
    fb_buf_add_text(&message, "{\"s\":");
    fb_buf_add_json(&message, bytes, size);
    fb_buf_add_text(&message, ",\"j\":{");
    fb_buf_add_json(&message, bytes, size);
    fb_buf_add_text(&message, ":1}}");
    CHECK_TEXT(rows_read_bytes(r, message.data, message.size), "");
    const char *got = rows_bytes(r, 1, &got_size);
    if (fb_utf8_valid(bytes, size)) CHECK_BYTES(got, got_size, bytes, size);
    fb_buf_reset(&message);
    fb_buf_add_text(&message, "{\"s\":\"");
    fb_buf_add(&message, bytes, size); // without escapes
    fb_buf_add_text(&message, "\"}");
    if (!fb_utf8_valid(bytes, size))
        CHECK_TEXT(rows_read_bytes(r, message.data, message.size), "bad_utf8");
    r->row.index = 0;
    fb_buf_clear(&message);
}

TEST(naughty_texts_come_through_as_they_are_or_are_no_text)
{
    rows    *r = &(rows){0};
    char     path[FB_MAX_PATH];
    fb_buf   list;
    fb_error err;
    size_t   i, n;
    if (!find_cases("inputs/naughty/blns.base64.json", path, sizeof path))
        SKIP("no inputs/naughty");
    fb_buf_init(&list, 1 << 20);
    CHECK_CODE(fb_file_read(path, &list, &err), FB_OK, &err);
    yyjson_doc *doc = fb_json_read(fb_buf_text(&list), list.size, 0);
    REQUIRE(doc && rows_open(r, "b binary; s string; j json", &plain_options) == FB_OK);
    yyjson_val *texts = yyjson_doc_get_root(doc), *text;
    CHECK(yyjson_arr_size(texts) > 500);
    yyjson_arr_foreach(texts, i, n, text) { comes_through(r, yyjson_get_str(text)); }
    rows_close(r);
    yyjson_doc_free(doc);
    fb_buf_clear(&list);
}

/* --- bombs ------------------------------------------------------------------------ */

/* The most memory this process has held since the last call of forget_peak(), in kB; 0
 * where it cannot be told. */
static long peak_kb(void)
{
    char  line[200];
    long  kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %ld", &kb) == 1) break;
    if (file) fclose(file);
    return kb;
}

static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
}

/* The message is judged as `word` within a second and 64 MB. */
static void withstands(const char *what, const fb_buf *message, const char *word)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "a json; k int64; s string ~", &plain_options) == FB_OK);
    CHECK_CODE(fb_buf_check(message, what, &r->err), FB_OK, &r->err);
    forget_peak();
    long    before_kb = peak_kb();
    int64_t before_ms = fb_mono_ms();
    check_text(CHECK_SITE(what), rows_read_bytes(r, message->data, message->size), word);
    CHECK_TEXT(rows_read(r, "{\"k\":1}"), "");
    if (fb_mono_ms() - before_ms >= 1000)
        check_failed(CHECK_SITE(what), "takes a second");
    if (!IS_SANITIZED && peak_kb() - before_kb >= 64 << 10)
        check_failed(CHECK_SITE(what), "takes %ld kB", peak_kb() - before_kb);
    rows_close(r);
}

static void repeat(fb_buf *out, const char *text, int times)
{
    for (int i = 0; i < times; i++) fb_buf_add_text(out, text);
}

TEST(nesting_bombs_are_refused_in_time_and_memory)
{
    static const int depths[] = {100, 512, 1024, 10000, 100000, 1000000};
    fb_buf           b;
    fb_buf_init(&b, 64 << 20);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        int d = depths[i];
        fb_buf_reset(&b);
        repeat(&b, "[", d);
        repeat(&b, "]", d);
        withstands("arrays", &b, d <= 128 ? "not_object" : "depth");
        fb_buf_reset(&b);
        repeat(&b, "{\"a\":", d);
        repeat(&b, "1", 1);
        repeat(&b, "}", d);
        withstands("objects", &b, d <= 128 ? "" : "depth");
    }
    fb_buf_clear(&b);
}

TEST(brackets_without_an_end_are_refused_in_time_and_memory)
{
    fb_buf b;
    fb_buf_init(&b, 64 << 20);
    repeat(&b, "[", 100);
    withstands("few open arrays", &b, "bad_json");
    repeat(&b, "[", 1000000);
    withstands("open arrays", &b, "depth");
    fb_buf_reset(&b);
    repeat(&b, "{\"\":", 1000000);
    withstands("open objects", &b, "bad_json");
    fb_buf_reset(&b);
    repeat(&b, "{\"a\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[\",\"b\":", 1);
    repeat(&b, "[", 1000000);
    withstands("brackets in and outside of texts", &b, "depth");
    fb_buf_clear(&b);
}

TEST(many_keys_cost_no_more_than_their_number)
{
    fb_buf b;
    fb_buf_init(&b, 64 << 20);
    for (int i = 0; i < 200000; i++) fb_buf_printf(&b, "%s\"k%d\":1", i ? "," : "{", i);
    fb_buf_add_char(&b, '}');
    withstands("200,000 keys", &b, "");
    fb_buf_reset(&b);
    for (int i = 0; i < 100000; i++) fb_buf_printf(&b, "%s\"k\":%d", i ? "," : "{", i);
    fb_buf_add_char(&b, '}');
    withstands("one key 100,000 times", &b, "duplicate_key");
    fb_buf_reset(&b);
    for (int i = 0; i < 65536; i++) { // equal for the hash of many a language
        fb_buf_add_text(&b, i ? ",\"" : "{\"");
        for (int bit = 0; bit < 16; bit++)
            fb_buf_add_text(&b, i >> bit & 1 ? "Aa" : "BB");
        fb_buf_add_text(&b, "\":1");
    }
    fb_buf_add_char(&b, '}');
    withstands("keys of one hash", &b, "");
    fb_buf_clear(&b);
}

TEST(enormous_numbers_and_texts_cost_no_more_than_their_length)
{
    fb_buf b;
    fb_buf_init(&b, 64 << 20);
    fb_buf_add_text(&b, "{\"k\":");
    repeat(&b, "1", 1000000);
    fb_buf_add_char(&b, '}');
    withstands("a number of a million digits", &b, "out_of_range");
    fb_buf_reset(&b);
    fb_buf_add_text(&b, "{\"k\":1e999999999}");
    withstands("an exponent", &b, "out_of_range");
    fb_buf_reset(&b);
    fb_buf_add_text(&b, "{\"s\":\"");
    repeat(&b, "xxxxxxxxxx", 800000);
    fb_buf_add_text(&b, "\"}");
    withstands("a text of 8 MB", &b, "");
    fb_buf_reset(&b);
    fb_buf_add_text(&b, "{\"s\":\"");
    repeat(&b, "\\\\u0041", 300000);
    fb_buf_add_text(&b, "\"}");
    withstands("escapes", &b, "");
    fb_buf_clear(&b);
}

/* --- no memory -------------------------------------------------------------------- */

/* Messages that reach every allocation of the decoder. */
static void decode_all(rows *r)
{
    static const char *const messages[] = {"{\"a\":{\"b\":[1,2]},\"s\":[1],\"n\":7}",
                                           "{\"n\":{\"x\":1}}",
                                           "{\"n\":\"x\",\"u\":[]}",
                                           "{\"x\":{\"k\":1,\"l\":2}}",
                                           "{\"a\":[{\"k\":1,\"k\":2}]}",
                                           "{\"u\":\"y\"}",
                                           "[]",
                                           ""};
    static char              large[20000];
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        fb_code code = rows_add(r, messages[i], strlen(messages[i]));
        CHECK(code == FB_OK || code == FB_EMEMORY);
        if (code == FB_EMEMORY) CHECK_TEXT(fb_reason_name(r->err.reason), "FB-M001");
    }
    memset(large, ' ', sizeof large);
    memcpy(large, "{\"n\":1}", 7);
    fb_code code = rows_add(r, large, sizeof large);
    CHECK(code == FB_OK || code == FB_EMEMORY);
}

TEST(every_allocation_of_the_decoder_may_fail_once)
{
    int fails = 1, n = 0;
    while (fails > 0 && n < 1000) {
        rows *r = &(rows){0};
        fb_alloc_fail_at(++n);
        fb_code code =
            rows_open(r, "a json; s string ~; n int64; u int64", &plain_options);
        if (code != FB_EMEMORY) CHECK_CODE(code, FB_OK, &r->err);
        if (code == FB_OK) decode_all(r);
        fails = fb_alloc_fail_at(0);
        if (code == FB_OK) { // and the decoder is as good as new
            CHECK_TEXT(rows_read(r, "{\"x\":{\"k\":1,\"l\":2},\"n\":5}"), "");
            CHECK_TEXT(rows_cell(r, 2), "5");
            CHECK_TEXT(rows_read(r, "{\"x\":{\"k\":1,\"k\":2},\"n\":5}"),
                       "duplicate_key");
        }
        rows_close(r);
    }
    CHECK(n > 10 && n < 1000);
}

TEST(a_message_that_cannot_be_judged_for_want_of_memory_is_not_refused)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "n int64", &plain_options) == FB_OK);
    const char *message = "{\"x\":{\"k\":1,\"l\":2},\"n\":5}";
    fb_alloc_fail_at(1); // the set of keys
    CHECK(rows_add(r, message, strlen(message)) == FB_EMEMORY);
    CHECK_INT(fb_alloc_fail_at(0), 1);
    CHECK_INT(r->refusals.count, 0);
    rows_close(r);
}

TEST(a_worker_gives_back_what_a_large_message_took)
{
    if (IS_SANITIZED) SKIP("sanitizers keep what is freed");
    rows *r = &(rows){0};
    char *large = fb_alloc(24 << 20);
    REQUIRE(large && rows_open(r, "n int64", &plain_options) == FB_OK);
    long before_kb = peak_kb();
    memset(large, '1', 24 << 20);
    memcpy(large, "{\"x\":[", 6);
    for (size_t i = 7; i < (24 << 20) - 2; i += 2) large[i] = ',';
    memcpy(large + (24 << 20) - 3, "1]}", 3);
    CHECK_TEXT(rows_read_bytes(r, large, 24 << 20), "");
    CHECK(peak_kb() - before_kb > 100 << 10); // it did take memory
    CHECK_TEXT(rows_read(r, "{\"n\":1}"), "");
    fb_free(large);
    forget_peak();
    CHECK(peak_kb() - before_kb < 40 << 10);
    rows_close(r);
}
