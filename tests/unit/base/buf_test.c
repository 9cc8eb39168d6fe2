/* buf_test.c - memory: the door to the heap, arenas, growing buffers, JSON's memory. */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/json_memory.h"
#include "tests/check.h"

#include <string.h>

TEST(memory_from_the_door_is_zeroed_and_may_be_of_no_bytes)
{
    char *memory = fb_alloc(100), *none = fb_alloc(0);
    REQUIRE(memory && none);
    for (size_t i = 0; i < 100; i++) CHECK(memory[i] == 0);
    memory = fb_realloc(memory, 1000);
    CHECK(memory != NULL);
    fb_free(memory);
    fb_free(none);
    fb_free(NULL);
    char *copy = fb_strndup("abc", 2);
    CHECK_TEXT(copy, "ab");
    fb_free(copy);
}

TEST(the_nth_allocation_fails_once_and_is_counted)
{
    fb_alloc_fail_at(2);
    void *one = fb_alloc(1), *two = fb_alloc(1), *three = fb_alloc(1);
    CHECK(one && !two && three);
    CHECK_INT(fb_alloc_fail_at(1), 1);
    CHECK(fb_realloc(one, 100) == NULL); // and `one` is as it was
    CHECK_INT(fb_alloc_fail_at(0), 1);
    CHECK_INT(fb_alloc_fail_at(0), 0);
    fb_free(one);
    fb_free(three);
}

TEST(an_arena_gives_out_zeroed_memory_on_sixteen_bytes)
{
    fb_arena arena;
    fb_arena_init(&arena, 1 << 20);
    for (int round = 0; round < 2; round++) {
        for (size_t size = 1; size < 300; size += 7) {
            char *memory = fb_arena_alloc(&arena, size);
            REQUIRE(memory != NULL);
            CHECK_INT((uintptr_t)memory % 16, 0);
            for (size_t i = 0; i < size; i++)
                if (memory[i] != 0) check_failed(CHECK_SITE("a byte"), "is not zero");
            memset(memory, 0xff, size);
        }
        fb_arena_reset(&arena);
    }
    CHECK_TEXT(fb_arena_strndup(&arena, "abcdef", 3), "abc");
    fb_arena_clear(&arena);
    fb_arena_clear(&arena);
}

TEST(an_arena_stops_at_its_ceiling)
{
    fb_arena arena;
    fb_arena_init(&arena, 100000);
    CHECK(fb_arena_alloc(&arena, 100001) == NULL);
    CHECK(fb_arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(fb_arena_alloc(&arena, 99984) != NULL);
    CHECK(fb_arena_alloc(&arena, 16) != NULL);
    CHECK(fb_arena_alloc(&arena, 1) == NULL);
    fb_arena_reset(&arena);
    CHECK(fb_arena_alloc(&arena, 100000) != NULL);
    fb_arena_clear(&arena);
}

TEST(an_arena_without_memory_gives_none_and_stays_usable)
{
    fb_arena arena;
    fb_arena_init(&arena, 1 << 20);
    fb_alloc_fail_at(1);
    CHECK(fb_arena_alloc(&arena, 10) == NULL);
    CHECK(fb_arena_alloc(&arena, 10) != NULL);
    fb_alloc_fail_at(1);
    CHECK(fb_arena_alloc(&arena, 100000) == NULL);
    fb_alloc_fail_at(0);
    CHECK(fb_arena_alloc(&arena, 100000) != NULL);
    fb_arena_reset(&arena);
    CHECK(fb_arena_alloc(&arena, 10) != NULL);
    fb_arena_clear(&arena);
    fb_arena_reset(&arena); // with nothing to keep
}

TEST(a_buffer_grows_and_always_ends_in_nul)
{
    fb_buf   buf;
    fb_error err;
    fb_buf_init(&buf, 10000);
    CHECK_TEXT(fb_buf_text(&buf), "");
    fb_buf_add_text(&buf, "ab");
    fb_buf_add_char(&buf, 'c');
    fb_buf_printf(&buf, "%d%s", 42, "x");
    fb_buf_add(&buf, "\0y", 2);
    CHECK_BYTES(buf.data, buf.size + 1, "abc42x\0y", 9);
    for (int i = 0; i < 1000; i++) fb_buf_add_text(&buf, "12345");
    CHECK_INT(buf.size, 5008);
    CHECK_INT(buf.data[buf.size], 0);
    CHECK_CODE(fb_buf_check(&buf, "it", &err), FB_OK, &err);
    fb_buf_reset(&buf);
    CHECK_TEXT(fb_buf_text(&buf), "");
    fb_buf_clear(&buf);
    fb_buf_clear(&buf);
    CHECK_TEXT(fb_buf_text(&buf), "");
}

TEST(a_buffer_fails_at_its_ceiling_and_says_so_at_the_end)
{
    fb_buf   buf;
    fb_error err;
    fb_buf_init(&buf, 4);
    fb_buf_add_text(&buf, "abcd");
    CHECK_CODE(fb_buf_check(&buf, "it", &err), FB_OK, &err);
    fb_buf_add_char(&buf, 'e');
    fb_buf_reset(&buf);
    fb_buf_add_text(&buf, "abcde");
    fb_buf_add_text(&buf, "a"); // nothing is added behind what is missing
    CHECK_TEXT(fb_buf_text(&buf), "");
    CHECK(fb_buf_check(&buf, "it", &err) == FB_EMEMORY);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-M002");
    CHECK_TEXT(err.what, "it is larger than 4 bytes");
    fb_buf_clear(&buf);
    fb_buf_init(&buf, 100);
    fb_alloc_fail_at(1);
    fb_buf_add_text(&buf, "a");
    fb_alloc_fail_at(0);
    CHECK(fb_buf_check(&buf, "it", &err) == FB_EMEMORY);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-M001");
    fb_buf_clear(&buf);
}

static const char *as_json(fb_buf *buf, const char *text, size_t size)
{
    fb_buf_reset(buf);
    fb_buf_add_json(buf, text, size);
    return fb_buf_text(buf);
}

TEST(a_text_becomes_a_json_string_whatever_it_holds)
{
    fb_buf buf;
    fb_buf_init(&buf, 1000);
    CHECK_TEXT(as_json(&buf, "", 0), "\"\"");
    CHECK_TEXT(as_json(&buf, "a\"\\/", 4), "\"a\\\"\\\\/\"");
    CHECK_TEXT(as_json(&buf, "\n\t\0\x1f\x7f", 5),
               "\"\\u000a\\u0009\\u0000\\u001f\\u007f\"");
    CHECK_TEXT(as_json(&buf, "\xc3\xa9\xf0\x9f\x98\x80", 6),
               "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    CHECK_TEXT(as_json(&buf, "\xff\xc3", 2), "\"\\ufffd\\ufffd\"");
    CHECK_TEXT(as_json(&buf, "\xc2\x9b\xc2\xa0", 4),
               "\"\\u009b\xc2\xa0\""); // CSI, and a blank
    fb_buf_reset(&buf);
    fb_buf_add_json_text(&buf, NULL);
    fb_buf_add_json_text(&buf, "x");
    CHECK_TEXT(fb_buf_text(&buf), "null\"x\"");
    fb_buf_clear(&buf);
}

TEST(json_is_read_and_written_in_memory_that_can_fail)
{
    const char *text = "{\"a\":[1,\"x\"]}";
    size_t      size;
    yyjson_doc *doc = fb_json_read(text, strlen(text), 0);
    REQUIRE(doc != NULL);
    char *written = fb_json_write(yyjson_doc_get_root(doc), &size);
    CHECK_TEXT(written, text);
    CHECK_INT(size, strlen(text));
    fb_free(written);
    fb_alloc_fail_at(1);
    CHECK(fb_json_write(yyjson_doc_get_root(doc), &size) == NULL);
    yyjson_doc_free(doc);
    fb_alloc_fail_at(1);
    CHECK(fb_json_read(text, strlen(text), 0) == NULL);
    CHECK_INT(fb_alloc_fail_at(0), 1);
}
