/** scan.h - our own rows as a table function of the query engine.
 *
 * `SELECT ... FROM fb_window()` asks the functions below for rows, one state per worker
 * thread, only for the columns that the query uses.
 *
 * Threads: register and take the error from the thread that runs the query; the functions
 * are called by the engine's workers, `fill` of one state by one worker at a time.
 */
#ifndef FB_ENGINE_SCAN_H
#define FB_ENGINE_SCAN_H

#include "engine/engine.h"

typedef struct fb_scan_column {
    const char         *name;
    duckdb_logical_type type;
} fb_scan_column;

/** Which columns the query wants: vector i of a chunk is column `list[i]`. */
typedef struct fb_scan_projection {
    const idx_t *list;
    idx_t        count;
} fb_scan_projection;

typedef struct fb_scan {
    const char *name;
    void       *context;
    int         workers_max;

    fb_code (*begin)(void *context, fb_scan_projection projection, void **worker, fb_error *err);

    /** Put up to duckdb_vector_size() rows into `chunk`. No row: this worker is done. */
    fb_code (*fill)(void *context, void *worker, duckdb_data_chunk chunk, idx_t *rows,
                    fb_error *err);
    void (*end)(void *context, void *worker); ///< the query is over, also after a failure
} fb_scan;

/** Make the scan known to the engine under `scan->name`.  `scan` is borrowed until the
 * engine closes; the names are borrowed as long, the types are taken, also on failure.
 * A type that is NULL is one that could not be made. @return FB_EMEMORY */
FB_MUST_CHECK fb_code fb_engine_add_scan(fb_engine *engine, const fb_scan *scan,
                                         const fb_scan_column *columns, size_t count,
                                         fb_error *err);

/** Run a query that uses scans. A failure of a scan comes back as it was given, not as
 * the engine words it. On FB_OK the caller releases `out`. */
FB_MUST_CHECK fb_code fb_engine_query_scan(fb_engine *engine, const char *sql, duckdb_result *out,
                                           fb_error *err);

#endif
