/** delta_table.h - what the files of lake/ share about an open table; for lake/ alone.
 *
 * Threads: as the table's, see delta.h.
 */
#ifndef FB_LAKE_DELTA_TABLE_H
#define FB_LAKE_DELTA_TABLE_H

#include "lake/delta.h"
#include "lake/delta_state.h"
#include "lake/store.h"

#define FB_MS_PER_DAY INT64_C(86400000)

struct fb_delta {
    fb_store      *store;
    fb_engine     *engine;
    char           name[FB_MAX_PATH];
    fb_delta_state state;
    bool           is_stale;   ///< the state is not sound: load it anew
    int64_t        checkpoint; ///< version of the newest checkpoint seen; -1
    uint64_t       random;     ///< for waiting times

    fb_delta_file_options files; ///< for the copies to come
};

/** The files of one checkpoint. */
typedef struct fb_checkpoint {
    fb_arena     arena; ///< owns the keys
    int64_t      version;
    const char **parquet; ///< keys of its own Parquet files, then of its sidecars
    size_t       count, own_count, room;
    const char  *json; ///< key of a V2 checkpoint in JSON; NULL
} fb_checkpoint;

void fb_checkpoint_init(fb_checkpoint *checkpoint);
void fb_checkpoint_clear(fb_checkpoint *checkpoint); ///< may be called twice

/** Read the newest checkpoint at or below `at_most` that can be read: its actions but for
 * those of files go into `batch`, the names of its files into `out`. One that cannot be
 * read is passed over for an older one, whose commits still say it all.
 * @return FB_OK with out->version -1 when there is none and the commits begin at 0;
 * FB_EDATA (P010) when there is none that can be read and they do not */
FB_MUST_CHECK fb_code fb_checkpoint_newest(fb_delta *table, const fb_log_listing *listing,
                                           int64_t at_most, fb_checkpoint *out,
                                           fb_delta_batch *batch, fb_error *err);

/** Read the JSON lines of `key` and call `visit` for their actions. */
FB_MUST_CHECK fb_code fb_delta_walk(fb_delta *table, const char *key,
                                    fb_action_visit visit, void *context, fb_error *err);

/** Decode %XX once. @return false when it is cut, holds a NUL, or has no room */
bool fb_uri_decode(const char *text, char *out, size_t room);

/** The protocol gate, delta_gate.c. */
FB_MUST_CHECK fb_code fb_gate_read(const fb_delta_state *state, fb_error *err);
FB_MUST_CHECK fb_code fb_gate_append(const fb_delta_state *state, const fb_schema *schema,
                                     fb_error *err);
bool                  fb_gate_has(const fb_delta_state *state, const char *feature);

/** Are in-commit timestamps on? Then commitInfo comes first and holds one. */
bool fb_delta_has_commit_time(const fb_delta_state *state);

/** Make the table fb_lake_files(add, remove) of the engine's connection: the live files
 * of the snapshot, and with_tombstones also what was removed. fb_delta_files_drop()
 * takes it away. */
FB_MUST_CHECK fb_code fb_delta_files_make(fb_delta *table, bool with_tombstones,
                                          fb_error *err);
void                  fb_delta_files_drop(fb_delta *table);

/* --- the query engine, delta_sql.c -------------------------------------------------- */

enum { FB_SQL_BYTES = 16 << 20 }; ///< of one statement

/** Write function('path of key'), taken literally where the engine looks for patterns. */
FB_MUST_CHECK fb_code fb_delta_sql_file(fb_delta *table, const char *function,
                                        const char *key, fb_buf *sql, fb_error *err);

typedef fb_code (*fb_row_visit)(void *context, duckdb_data_chunk chunk, idx_t row,
                                fb_error *err);

/** Run SQL and call `visit` for each row. */
FB_MUST_CHECK fb_code fb_delta_each_row(fb_delta *table, const fb_buf *sql,
                                        fb_row_visit visit, void *context, fb_error *err);
fb_cell               fb_row_text(duckdb_data_chunk chunk, idx_t column, idx_t row);
int64_t fb_row_int(duckdb_data_chunk chunk, idx_t column, idx_t row); ///< BIGINT

/** Run SQL that yields one BIGINT. */
FB_MUST_CHECK fb_code fb_delta_query_int(fb_delta *table, const char *sql, int64_t *out,
                                         fb_error *err);

#endif
