/** cell.h - one JSON value becomes one cell of a column.
 *
 * Threads: a scratch belongs to one worker.
 */
#ifndef FB_DECODE_CELL_H
#define FB_DECODE_CELL_H

#include "batch/vectors.h"
#include "schema/type.h"

#include <yyjson.h>

typedef enum fb_cell_result {
    FB_CELL_OK,
    FB_CELL_CAST,      ///< the value is of another kind
    FB_CELL_RANGE,     ///< the value is of the kind, but too large
    FB_CELL_NO_MEMORY,
} fb_cell_result;

/** Write `value`, which is not null, to `row` of `out`.  Numbers in the document must have
 * been read as raw text.  `out` may have no vector: then the value is only judged. */
fb_cell_result fb_cell_put(const fb_column *column, yyjson_val *value, fb_vector *out, idx_t row);

#endif
