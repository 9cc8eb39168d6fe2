/* text_test.c - messages that become one column as they are. */
#include "decode/text.h"
#include "schema/logical.h"
#include "tests/check.h"

#include <string.h>

typedef struct one_column {
    fb_decoder        decoder;
    duckdb_data_chunk chunk;
    fb_vector         vector;
    unsigned char     state;
    fb_refusals       refusals;
} one_column;

static void open_column(one_column *c, bool as_text)
{
    duckdb_logical_type type =
        duckdb_create_logical_type(as_text ? DUCKDB_TYPE_VARCHAR : DUCKDB_TYPE_BLOB);
    static const int64_t max_bytes = 1000;
    fb_text_decoder_init(&c->decoder, as_text, &max_bytes);
    c->chunk = duckdb_create_data_chunk(&type, 1);
    fb_vector_attach(&c->vector, c->chunk, 0);
    duckdb_destroy_logical_type(&type);
    fb_refusals_init(&c->refusals);
}

static void close_column(one_column *c)
{
    fb_refusals_clear(&c->refusals);
    duckdb_destroy_data_chunk(&c->chunk);
}

static fb_code decode(one_column *c, idx_t row, const char *value, size_t size)
{
    fb_record record = {.value = value, .value_size = size};
    fb_row    place = {&c->vector, &c->state, row};
    fb_error  err;
    void     *worker;
    fb_code   code = c->decoder.begin(c->decoder.self, &worker, &err);
    if (code == FB_OK)
        code = c->decoder.decode(c->decoder.self, worker, &record, &place, &c->refusals,
                                 &err);
    c->decoder.end(c->decoder.self, worker);
    return code;
}

static void holds(const one_column *c, idx_t row, const char *want, size_t size)
{
    duckdb_string_t *cell =
        (duckdb_string_t *)duckdb_vector_get_data(c->vector.vector) + row;
    CHECK_BYTES(duckdb_string_t_data(cell), duckdb_string_t_length(*cell), want, size);
}

TEST(raw_keeps_any_bytes_and_tells_none_from_empty)
{
    one_column c;
    open_column(&c, false);
    CHECK(decode(&c, 0, "\0\xff\xfe", 3) == FB_OK);
    holds(&c, 0, "\0\xff\xfe", 3);
    CHECK(decode(&c, 1, "", 0) == FB_OK);
    holds(&c, 1, "", 0);
    CHECK_INT(c.state, FB_CELL_VALUE);
    CHECK(decode(&c, 2, NULL, 0) == FB_OK);
    CHECK_INT(c.state, FB_CELL_MISSING);
    CHECK(!duckdb_validity_row_is_valid(duckdb_vector_get_validity(c.vector.vector), 2));
    CHECK(duckdb_validity_row_is_valid(duckdb_vector_get_validity(c.vector.vector), 1));
    CHECK_INT(c.refusals.count, 0);
    close_column(&c);
}

TEST(text_takes_utf8_as_it_is_and_refuses_anything_else)
{
    one_column c;
    open_column(&c, true);
    CHECK(decode(&c, 0, "a\0\xc3\xa9", 4) == FB_OK);
    holds(&c, 0, "a\0\xc3\xa9", 4);
    CHECK(decode(&c, 1, "\xef\xbb\xbfx", 4) == FB_OK);
    holds(&c, 1, "\xef\xbb\xbfx", 4);
    CHECK_INT(c.refusals.count, 0);
    CHECK(decode(&c, 2, "\xff", 1) == FB_OK);
    REQUIRE(c.refusals.count == 1);
    CHECK_TEXT(fb_refusal_word(c.refusals.list[0].id), "bad_utf8");
    CHECK(c.refusals.is_undecodable);
    CHECK_INT(c.state, FB_CELL_BAD);
    close_column(&c);
}

TEST(a_text_column_that_nobody_asked_for_is_judged_but_not_written)
{
    one_column c;
    open_column(&c, true);
    c.vector = (fb_vector){0};
    CHECK(decode(&c, 0, "x", 1) == FB_OK);
    CHECK(decode(&c, 0, NULL, 0) == FB_OK);
    CHECK_INT(c.refusals.count, 0);
    CHECK(decode(&c, 0, "\x80", 1) == FB_OK);
    CHECK_INT(c.refusals.count, 1);
    close_column(&c);
}

TEST(a_value_above_max_message_bytes_is_refused_as_text_and_as_raw)
{
    static char large[1001];
    memset(large, 'x', sizeof large);
    for (int as_text = 0; as_text < 2; as_text++) {
        one_column c;
        open_column(&c, as_text);
        CHECK(decode(&c, 0, large, sizeof large - 1) == FB_OK);
        CHECK_INT(c.refusals.count, 0);
        CHECK(decode(&c, 1, large, sizeof large) == FB_OK);
        REQUIRE(c.refusals.count == 1);
        CHECK_TEXT(fb_refusal_word(c.refusals.list[0].id), "too_large");
        close_column(&c);
    }
}
