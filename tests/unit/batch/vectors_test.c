/* vectors_test.c - the columns of a chunk written row by row. */
#include "batch/stages.h"
#include "tests/check.h"

#include <string.h>

static duckdb_data_chunk chunk_of(duckdb_type type)
{
    duckdb_logical_type logical = duckdb_create_logical_type(type);
    duckdb_data_chunk   chunk = duckdb_create_data_chunk(&logical, 1);
    duckdb_destroy_logical_type(&logical);
    return chunk;
}

static bool is_set(const fb_vector *v, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(v->vector);
    return !validity || duckdb_validity_row_is_valid(validity, row);
}

TEST(a_slice_has_as_many_records_as_a_chunk_has_rows)
{
    CHECK_INT(duckdb_vector_size(), FB_SLICE_MAX);
}

TEST(a_row_can_be_set_to_null_and_to_a_value_again)
{
    duckdb_data_chunk chunk = chunk_of(DUCKDB_TYPE_BIGINT);
    fb_vector         v;
    fb_vector_attach(&v, chunk, 0);
    CHECK(v.validity == NULL);
    for (idx_t row = 0; row < FB_SLICE_MAX; row++) {
        fb_vector_set_null(&v, row);
        if (row % 3) FB_VECTOR_PUT(&v, int64_t, row, (int64_t)row * 10);
    }
    for (idx_t row = 0; row < FB_SLICE_MAX; row++) {
        CHECK(is_set(&v, row) == (row % 3 != 0));
        if (row % 3) CHECK_INT(((int64_t *)v.data)[row], row * 10);
    }
    duckdb_destroy_data_chunk(&chunk);
}

TEST(texts_are_copied_with_all_their_bytes)
{
    duckdb_data_chunk chunk = chunk_of(DUCKDB_TYPE_VARCHAR);
    fb_vector         v;
    char              text[] = "more than twelve bytes \0 of text";
    fb_vector_attach(&v, chunk, 0);
    fb_vector_put_text(&v, 0, text, sizeof text - 1);
    fb_vector_set_null(&v, 1);
    fb_vector_put_text(&v, 1, "", 0);
    fb_vector_put_text(&v, 2, text, 4);
    memset(text, 'x', sizeof text);
    duckdb_string_t *cells = v.data;
    CHECK_BYTES(duckdb_string_t_data(&cells[0]), duckdb_string_t_length(cells[0]),
                "more than twelve bytes \0 of text", sizeof text - 1);
    CHECK(is_set(&v, 1));
    CHECK_INT(duckdb_string_t_length(cells[1]), 0);
    CHECK_BYTES(duckdb_string_t_data(&cells[2]), duckdb_string_t_length(cells[2]), "more",
                4);
    duckdb_destroy_data_chunk(&chunk);
}
