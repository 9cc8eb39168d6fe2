/** logical.h - our types as the query engine's type objects.
 *
 * Threads: any.
 */
#ifndef FB_SCHEMA_LOGICAL_H
#define FB_SCHEMA_LOGICAL_H

#include "schema/type.h"

#include <duckdb.h>

/** The engine's type for `type`. The caller releases it with duckdb_destroy_logical_type();
 * NULL when memory ran out. */
duckdb_logical_type fb_type_logical(const fb_type *type);

#endif
