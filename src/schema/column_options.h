/** column_options.h - the columns a message must have, as a configuration declares them.
 *
 * Threads: constant once read.
 */
#ifndef FB_SCHEMA_COLUMN_OPTIONS_H
#define FB_SCHEMA_COLUMN_OPTIONS_H

#include "config/option.h"
#include "schema/type.h"

/** mode */
enum { FB_MODE_STRICT, FB_MODE_LENIENT };

/** duplicate_keys */
enum { FB_DUPLICATES_REJECT, FB_DUPLICATES_FIRST, FB_DUPLICATES_LAST };

/** tombstones */
enum { FB_TOMBSTONES_LAND, FB_TOMBSTONES_SKIP, FB_TOMBSTONES_REJECT };

/** mismatch.missing_columns */
enum { FB_MISSING_FILL_NULLS, FB_MISSING_REJECT };

/** mismatch.extra_columns */
enum { FB_EXTRA_IGNORE, FB_EXTRA_REJECT };

typedef struct fb_column_options {
    const fb_node *node;
    const char    *name;
    const char    *type; ///< as written; fb_type_parse() takes it
    bool           nullable, unique;
    int            mode; ///< FB_MODE_*; that of the schema where the column has none
} fb_column_options;

typedef struct fb_mismatch_options {
    const fb_node *node;
    int            missing_columns, extra_columns;
} fb_mismatch_options;

/** After the reader's rules have passed: names are unique without regard to case (as in
 * Delta), types are known. */
typedef struct fb_schema_options {
    const fb_node      *node;
    fb_column_options  *columns;
    size_t              columns_count;
    int                 mode, duplicate_keys, tombstones;
    fb_mismatch_options mismatch;
} fb_schema_options;

extern const fb_option_set fb_schema_set;

/** Make the schema that `options` declare. `out` is initialised by the caller. */
FB_MUST_CHECK fb_code fb_schema_from_options(const fb_schema_options *options,
                                             fb_schema *out, fb_error *err);

#endif
