/** vectors.h - the columns of one data chunk, ready to be written row by row.
 *
 * Everything inside is a DuckDB data chunk (docs/explanation/architecture.md); this page
 * is the only one that touches its memory.  Rows are written in ascending order; a row
 * that is given up is written again by the next record, so every column of a row must be
 * set, to a value or to null, before the row counts.
 *
 * Threads: one chunk belongs to one worker.
 */
#ifndef FB_BATCH_VECTORS_H
#define FB_BATCH_VECTORS_H

#include "batch/record.h"

#include <duckdb.h>
#include <stdbool.h>

typedef struct fb_vector {
    duckdb_vector vector;
    void         *data;     ///< fixed-width values
    uint64_t     *validity; ///< NULL while every row so far is set
} fb_vector;

/** Look at column `index` of `chunk`, all rows set. */
void fb_vector_attach(fb_vector *out, duckdb_data_chunk chunk, idx_t index);

void fb_vector_make_validity(fb_vector *v);

static inline void fb_vector_set_null(fb_vector *v, idx_t row)
{
    if (!v->validity) fb_vector_make_validity(v);
    v->validity[row / 64] &= ~(UINT64_C(1) << (row % 64));
}

static inline void fb_vector_set_valid(fb_vector *v, idx_t row)
{
    if (v->validity) v->validity[row / 64] |= UINT64_C(1) << (row % 64);
}

/** Write a fixed-width value of C type T. */
#define FB_VECTOR_PUT(v, T, row, value)                                                  \
    (fb_vector_set_valid((v), (row)), (void)(((T *)(v)->data)[row] = (value)))

/** Write text or bytes; copied. The caller vouches for UTF-8 in a text column. */
void fb_vector_put_text(fb_vector *v, idx_t row, const char *text, size_t size);

#endif
