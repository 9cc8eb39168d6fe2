/** type.h - what a column is: name, type, nullability.
 *
 * One description serves the JSON decoder, the query engine and the table formats; each
 * of them translates from here and to here (schema/type.c holds all the words).
 *
 * Threads: a schema that is complete is constant and may be read by any thread.
 */
#ifndef FB_SCHEMA_TYPE_H
#define FB_SCHEMA_TYPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

typedef enum fb_kind {
    FB_KIND_STRING,
    FB_KIND_BOOL,
    FB_KIND_INT8,
    FB_KIND_INT16,
    FB_KIND_INT32,
    FB_KIND_INT64,
    FB_KIND_UINT8,
    FB_KIND_UINT16,
    FB_KIND_UINT32,
    FB_KIND_UINT64,
    FB_KIND_FLOAT32,
    FB_KIND_FLOAT64,
    FB_KIND_DECIMAL, ///< precision 1..38, scale 0..precision
    FB_KIND_DATE,
    FB_KIND_TIME,          ///< microseconds of a day
    FB_KIND_TIMESTAMP,     ///< an instant, microseconds, UTC
    FB_KIND_TIMESTAMP_NTZ, ///< a local reading without a zone, microseconds
    FB_KIND_BINARY,
    FB_KIND_UUID,
    FB_KIND_JSON,   ///< any JSON value, kept as its text
    FB_KIND_LIST,   ///< fields[0] is the element
    FB_KIND_STRUCT, ///< fields
    FB_KIND_MAP,    ///< fields[0] is the key, fields[1] the value
    FB_KIND_VOID,   ///< only ever null; met in foreign Delta tables
    FB_KIND_COUNT
} fb_kind;

typedef struct fb_type {
    fb_kind           kind;
    uint8_t           precision, scale; ///< of a decimal
    struct fb_column *fields;           ///< owned by the schema's arena
    size_t            fields_count;
} fb_type;

typedef struct fb_column {
    const char *name; ///< UTF-8, owned by the schema's arena
    fb_type     type;
    bool        nullable;
    bool        unique;     ///< a rule of ours: checked within a run
    bool        is_lenient; ///< exact digit strings and the like are taken, FEATURES 6.5
    const char *metadata;   ///< a Delta field's metadata object as JSON text, or NULL
} fb_column;

typedef struct fb_schema {
    fb_arena   arena; ///< owns all names and nested fields
    fb_column *columns;
    size_t     count;
} fb_schema;

void fb_schema_init(fb_schema *schema);
void fb_schema_clear(fb_schema *schema); ///< may be called twice

/** Room for `count` columns, zeroed; names and types are set by the caller with memory of
 * the schema's arena. */
FB_MUST_CHECK fb_code fb_schema_reserve(fb_schema *schema, size_t count, fb_error *err);

/** @return the column called `name`, letters compared exactly; NULL when there is none */
const fb_column *fb_schema_find(const fb_schema *schema, const char *name);

/** Read a flat type as users write it: "int64", "decimal(12,2)", "Timestamp", with the
 * aliases of docs/reference/types.md; case, - and _ do not matter.
 * @return FB_ECONFIG (C130) naming the text */
FB_MUST_CHECK fb_code fb_type_parse(const char *text, fb_type *out, fb_error *err);

/** Write the type in our own words: "decimal(12,2)", "list<int64>". */
void fb_type_print(const fb_type *type, fb_buf *out);

/** Write the type as Delta keeps it in a schemaString: "\"long\"" or a JSON object.
 * Types Delta lacks take the nearest that loses nothing: time, uuid, json are strings,
 * uint8 short, uint16 integer, uint32 long, uint64 decimal(20,0). */
void fb_type_print_delta(const fb_type *type, fb_buf *out);

/** Write the type in the query engine's words. With `as_delta`, the type the value must
 * be cast to before it is written to a Delta table's data file. */
void fb_type_print_sql(const fb_type *type, bool as_delta, fb_buf *out);

bool fb_type_equal(const fb_type *a, const fb_type *b); ///< names and nullability included

/** Write docs/reference/types.md: every type with its aliases and its table types. */
void fb_types_write_reference(fb_buf *out);

#endif
