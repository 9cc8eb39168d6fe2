/* vectors.c - see vectors.h. */
#include "batch/vectors.h"

void fb_vector_attach(fb_vector *out, duckdb_data_chunk chunk, idx_t index)
{
    out->vector = duckdb_data_chunk_get_vector(chunk, index);
    out->data = duckdb_vector_get_data(out->vector);
    out->validity = NULL;
}

void fb_vector_make_validity(fb_vector *v)
{
    duckdb_vector_ensure_validity_writable(v->vector);
    v->validity = duckdb_vector_get_validity(v->vector);
}

void fb_vector_put_text(fb_vector *v, idx_t row, const char *text, size_t size)
{
    fb_vector_set_valid(v, row);
    duckdb_unsafe_vector_assign_string_element_len(v->vector, row, text, (idx_t)size);
}
