/** delta_stats.h - the statistics of a data file, as an add has them.
 *
 * PROTOCOL.md, "Per-file Statistics". Readers skip files by these bounds: one that is too
 * narrow loses rows in other engines' queries. Each bound here is exact or lies outside,
 * and is left out where neither can be said.
 *
 * What COPY ... RETURN_STATS of DuckDB 1.5 gives, by experiment and from its source:
 *   text     min and max as bytes; a value above 256 bytes is cut to a prefix (min) or
 *            to a prefix whose last ASCII character is raised by one (max); neither when
 *            that cannot be done
 *   numbers  decimals with all digits of their scale, floats in the fewest digits that
 *            read back, "inf"; NaN is left out of both
 *   times    "2024-01-01 12:34:56.123456[+00]", without the fraction when it is zero;
 *            "infinity", "0045-03-15 (BC)" and five-digit years beyond the calendar
 *   none     when one row group has none, for instance because it is all null
 *   has_nan  what the LAST row group had: not to be relied on, see delta_add.c
 *   -0.0     either zero may be either bound
 *   nulls    of lists and maps: of the elements, so of no use here
 *
 * Threads: any.
 */
#ifndef FB_LAKE_DELTA_STATS_H
#define FB_LAKE_DELTA_STATS_H

#include "engine/engine.h"
#include "lake/map.h"
#include "schema/type.h"

/** One leaf column, as the engine words it. */
typedef struct fb_column_stats {
    fb_cell min, max;           ///< is_null: not known
    int64_t null_count, values; ///< -1: not known; `values` counts nulls too
    bool    has_nan;
} fb_column_stats;

typedef struct fb_stats_input {
    fb_map                 paths;    ///< "\"a\".\"b\"": number = place in `columns`
    fb_map                 doubtful; ///< "a, b": a column that may hold NaN
    const fb_column_stats *columns;
    int64_t                rows;
    int64_t                indexed;  ///< so many leaf columns get statistics; -1: all
    const char            *only;     ///< "a, b.c": these and no others; NULL: not set
    bool                   is_tight; ///< say that the bounds are those of the live rows
} fb_stats_input;

/** Write the statistics of a file with the columns of `schema`, whose order counts. */
void fb_delta_stats_write(const fb_stats_input *input, const fb_schema *schema,
                          fb_buf *out);

/** Write one bound as JSON. @return false when the type has none, or this one cannot be
 * said; nothing is written then */
bool fb_delta_stats_bound(const fb_type *type, fb_cell value, bool is_max, fb_buf *out);

#endif
