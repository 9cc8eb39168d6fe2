/** engine.h - one DuckDB instance: SQL in, rows out.
 *
 * Each engine has its own worker threads and memory ceiling.  It reaches no network and
 * loads no extension; what it may read and write on disk is what our own SQL names.
 *
 * Threads: an engine belongs to one thread at a time; its workers are its own.
 */
#ifndef FB_ENGINE_ENGINE_H
#define FB_ENGINE_ENGINE_H

#include "base/buf.h"
#include "base/error.h"

#include <duckdb.h>
#include <stdint.h>

typedef struct fb_engine fb_engine;

typedef struct fb_engine_options {
    int64_t     memory_bytes; ///< ceiling of the instance
    int         threads;      ///< 0: as many as there are cores
    const char *spill_folder; ///< where it may put what does not fit; NULL: nowhere
} fb_engine_options;

FB_MUST_CHECK fb_code fb_engine_open(const fb_engine_options *options, fb_engine **out,
                                     fb_error *err);
void                  fb_engine_close(fb_engine *engine); ///< NULL is allowed

/** The connection all calls here use. Borrowed; lives as long as the engine. */
duckdb_connection fb_engine_connection(fb_engine *engine);

/** A second connection, for work beside the query of the first. The caller releases it with
 * duckdb_disconnect() before the engine closes. */
FB_MUST_CHECK fb_code fb_engine_connect(fb_engine *engine, duckdb_connection *out, fb_error *err);

/** Run SQL whose rows nobody wants. @return FB_EBUG (Q001) for SQL of ours that fails;
 * FB_EIO (Q002), FB_EMEMORY (Q003) or FB_ECANCELED (I002) where the engine says so */
FB_MUST_CHECK fb_code fb_engine_exec(fb_engine *engine, const char *sql, fb_error *err);

/** Run SQL. On FB_OK the caller releases `out` with duckdb_destroy_result(). */
FB_MUST_CHECK fb_code fb_engine_query(fb_engine *engine, const char *sql, duckdb_result *out,
                                      fb_error *err);

/** Stop what the engine is doing now, from any thread; the call under way fails. */
void fb_engine_interrupt(fb_engine *engine);

/** Write an SQL string literal ('it''s') or a quoted identifier ("a""b"). */
void fb_sql_add_text(fb_buf *sql, const char *text);
void fb_sql_add_name(fb_buf *sql, const char *name);

/** A text cell of a fetched chunk: pointer into it and its size. */
typedef struct fb_cell {
    const char *data;
    size_t      size;
    bool        is_null;
} fb_cell;

/** Read a VARCHAR or BLOB cell of a vector. Borrowed while the chunk lives. */
fb_cell fb_vector_text(duckdb_vector vector, idx_t row);
bool    fb_vector_is_null(duckdb_vector vector, idx_t row);

#endif
