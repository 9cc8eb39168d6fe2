/** delta_schema.h - a table's columns: from its schemaString and into a new one.
 *
 * A field's metadata object is kept as its JSON text, unchanged. Types of other writers
 * that we have no word for and that may be left out of a file (void, variant) become
 * FB_KIND_VOID; only fb_delta_is_variant() tells them apart.
 *
 * Threads: any.
 */
#ifndef FB_LAKE_DELTA_SCHEMA_H
#define FB_LAKE_DELTA_SCHEMA_H

#include "schema/type.h"

#include <stddef.h>

/** Read a schemaString. `out` is one that was init'ed.
 * @return FB_EDATA (P009) for what is no schema, or an unknown type; FB_EMEMORY (M002)
 * beyond FB_MAX_COLUMNS fields or FB_MAX_SCHEMA_DEPTH */
FB_MUST_CHECK fb_code fb_delta_schema_parse(const char *text, fb_schema *out,
                                            fb_error *err);

/** Write the schemaString of a new table. */
void fb_delta_schema_print(const fb_schema *schema, fb_buf *out);

/** Are the names unique ignoring case, in depth? If not, the failure is `reason`. */
FB_MUST_CHECK fb_code fb_delta_schema_check_names(const fb_column *columns, size_t count,
                                                  fb_reason reason, fb_error *err);

/** May a new table have these columns? Names: unique ignoring case, none of the
 * characters that Parquet readers of Delta refuse. @return FB_ESCHEMA (P014) */
FB_MUST_CHECK fb_code fb_delta_schema_check_new(const fb_schema *schema, fb_error *err);

/** Do the rows of `rows` fit the table, column by column and in depth?
 * @return FB_ESCHEMA P011 (a column the table lacks), P012 (another type), P013 (the
 * table requires a column that the rows lack, or a nested one that may be null in them).
 * The nulls of flat columns are not judged here: see fb_delta_schema_required(). */
FB_MUST_CHECK fb_code fb_delta_schema_fits(const fb_schema *table, const fb_schema *rows,
                                           fb_error *err);

/** Is it a column that the table requires and that the rows may leave null? Then the
 * statistics of a file must show that there is no null. */
bool fb_delta_schema_required(const fb_column *table, const fb_schema *rows);

/** The kind that a Delta table keeps a kind as: UUID is STRING, UINT8 is INT16, ... */
fb_kind fb_delta_kind(fb_kind kind);

/** Does any field, in depth, hold what `test` looks for? */
bool fb_delta_schema_any(const fb_column *columns, size_t count,
                         bool (*test)(const fb_column *column));

bool fb_delta_is_variant(const fb_column *column);

/** Does a field's metadata have the key? (Or a value of the same text, at any depth.) */
bool fb_delta_column_has(const fb_column *column, const char *key);

#endif
