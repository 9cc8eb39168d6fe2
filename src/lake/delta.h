/** delta.h - a Delta table: what it says now, and one more version of it.
 *
 * The only header of lake/ that other folders include.  A table is opened by its path; a
 * table that is not there yet is no error, the first commit makes it.  What the calls
 * below answer is the snapshot of the last fb_delta_refresh() or commit, until the next.
 *
 * A commit makes rows and positions visible at once, or nothing: see lake/README.md for
 * what holds at every moment.  Times are milliseconds since 1970-01-01 UTC, as in Delta.
 *
 * Errors: FB_EIO (S0xx, F0xx) from the store, FB_EDATA or FB_EUNSUPPORTED (P0xx) for a
 * log that breaks the protocol or uses what this version cannot do, FB_EMEMORY.
 *
 * Threads: a table, and the engine it was opened with, belong to one thread at a time.
 */
#ifndef FB_LAKE_DELTA_H
#define FB_LAKE_DELTA_H

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/uuid.h"
#include "engine/engine.h"
#include "schema/type.h"

#include <duckdb.h>
#include <stdint.h>

typedef struct fb_delta fb_delta;
struct fb_store;

enum {
    FB_DELTA_DEADLINE_MS = 5 * 60 * 1000, ///< for a commit that names no deadline
    FB_DELTA_CHECKPOINT_INTERVAL = 10,    ///< where the table sets none
};

/* --- opening and reading ------------------------------------------------------------ */

/** Open the table at `path` (a folder, or file:///...) and read its newest snapshot. Each
 * reader rule of the protocol is checked: a table that cannot be read right is refused.
 * @param engine  borrowed; reads and writes checkpoints. Must outlive the table. */
FB_MUST_CHECK fb_code fb_delta_open(const char *path, fb_engine *engine, fb_delta **out,
                                    fb_error *err);

/** The same on a store of the caller's.  @param take  closed with the table, also when
 * this call fails  @param name  what messages call the table */
FB_MUST_CHECK fb_code fb_delta_open_on(struct fb_store *take, const char *name,
                                       fb_engine *engine, fb_delta **out, fb_error *err);

void fb_delta_close(fb_delta *table); ///< NULL is allowed

/** Read the versions that came since. On failure the snapshot is at a whole version
 * still, or, after FB_EMEMORY, is loaded anew by the next call. */
FB_MUST_CHECK fb_code fb_delta_refresh(fb_delta *table, fb_error *err);

bool             fb_delta_exists(const fb_delta *table);
int64_t          fb_delta_version(const fb_delta *table); ///< -1 while it does not exist
const char      *fb_delta_name(const fb_delta *table);    ///< the path it was opened with
const char      *fb_delta_id(const fb_delta *table);      ///< metaData.id; ""
const fb_schema *fb_delta_schema(const fb_delta *table);  ///< no columns while absent

/** @return the names of the partition columns, `count` of them */
const char *const *fb_delta_partition_columns(const fb_delta *table, size_t *count);

/** @return a value of metaData.configuration; NULL when it is not set */
const char *fb_delta_property(const fb_delta *table, const char *key);

/** Is the feature in the table's lists, or implied by its writer version? */
bool fb_delta_has_feature(const fb_delta *table, const char *name);

/** @return the configuration text of a metadata domain; NULL when there is none */
const char *fb_delta_domain(const fb_delta *table, const char *domain);

/* --- positions ---------------------------------------------------------------------- */

/** Look up the txn of `app_id`. @return false when the table has none
 * @param version          the `next` of the commit that wrote it
 * @param last_updated_ms  -1 when its writer gave no time; may be NULL */
bool fb_delta_txn_find(const fb_delta *table, const char *app_id, int64_t *version,
                       int64_t *last_updated_ms);

/** How long other writers' checkpoints keep a txn after its last_updated_ms; -1: for
 * ever. Positions of idle partitions are committed anew before that. */
int64_t fb_delta_txn_retention_ms(const fb_delta *table);

/** Does the table hold any data file? With txn_find: "position missing, rows there". */
FB_MUST_CHECK fb_code fb_delta_has_files(fb_delta *table, bool *out, fb_error *err);

/* --- writing ------------------------------------------------------------------------ */

/** May rows of `schema` be appended? All of the gate: protocol, features by name,
 * columns, types, NOT NULL. A table that does not exist takes any schema it can hold.
 * @return FB_EUNSUPPORTED (P0xx) naming the feature, FB_ESCHEMA naming the column */
FB_MUST_CHECK fb_code fb_delta_check_append(fb_delta *table, const fb_schema *schema,
                                            fb_error *err);

/** A data file that a commit will name. */
typedef struct fb_delta_add {
    char    path[FB_MAX_NAME]; ///< relative to the table, URI-encoded once
    int64_t size_bytes, modified_ms, rows;
    char   *stats; ///< JSON text; owned
} fb_delta_add;

typedef struct fb_delta_adds {
    fb_delta_add *items;
    size_t        count, room;
} fb_delta_adds;

void fb_delta_adds_init(fb_delta_adds *adds);
void fb_delta_adds_clear(fb_delta_adds *adds); ///< may be called twice; files stay

/** How data files are written, where the table itself does not say. */
typedef struct fb_delta_file_options {
    const char *codec;          ///< zstd, snappy, gzip, uncompressed; NULL: zstd
    int64_t     row_group_rows; ///< 0: the engine's own size
    bool        is_plain;       ///< no dictionaries: for a file that has -0.0
} fb_delta_file_options;

/** Set them for the copies to come; the text is borrowed as long as the table is open. */
void fb_delta_set_file_options(fb_delta *table, const fb_delta_file_options *options);

/** Write the SQL that copies `relation` (a table name or a query in parentheses, whose
 * columns include those of `schema` by name) into a new data file of this table: casts,
 * codec, options, RETURN_STATS.  `path` gets the file's absolute path, FB_MAX_PATH bytes.
 * The table's folder is created. */
FB_MUST_CHECK fb_code fb_delta_copy_sql(fb_delta *table, const fb_schema *schema,
                                        const char *relation, fb_buf *sql, char *path,
                                        fb_error *err);

/** Take the result of that SQL: one add per file with its exact statistics, each file
 * verified (size, footer) and synced. A file without rows is removed and gives no add.
 * @param result  borrowed; its chunks are consumed
 * @return FB_EIO when a file is not what the engine said it wrote */
FB_MUST_CHECK fb_code fb_delta_adds_from_copy(fb_delta *table, const fb_schema *schema,
                                              duckdb_result *result, fb_delta_adds *adds,
                                              fb_error *err);

/** Remove the files of `adds` from the store: only after a commit that surely failed. */
void fb_delta_adds_discard(fb_delta *table, const fb_delta_adds *adds);

/** One position to move, as a compare-and-set. */
typedef struct fb_delta_txn {
    const char *app_id;
    const char *label; ///< for messages: "partition 3 of topic \"orders\""; NULL: app_id
    int64_t     expected; ///< what the table must hold now; -1: it must hold none
    int64_t     next;
} fb_delta_txn;

typedef struct fb_delta_pair {
    const char *key, *value;
} fb_delta_pair;

/** What one commit says. All borrowed; zeros and NULLs are defaults. */
typedef struct fb_delta_commit {
    const fb_schema *schema; ///< of the data files; needed when there are adds or the
                             ///< table may have to be created
    const fb_delta_adds *adds;
    const fb_delta_txn  *txns; ///< each app_id once
    size_t               txns_count;
    const char          *operation;   ///< NULL: "STREAMING UPDATE"
    const char          *engine_info; ///< NULL: "forebay/0.1.0"
    const char          *books;       ///< JSON value of commitInfo.forebay
    const char *domain, *domain_text; ///< written only where the table has domainMetadata
    const char *created_name;         ///< metaData.name of a table this commit creates
    const fb_delta_pair *created_properties; ///< its configuration
    size_t               created_properties_count;
    int64_t              deadline_ms; ///< length of time; 0: FB_DELTA_DEADLINE_MS
} fb_delta_commit;

typedef struct fb_delta_result {
    int64_t version, timestamp_ms;
    int     attempts;    ///< versions tried; above 1: other writers were there
    bool    created;     ///< the table is new
    bool    was_unknown; ///< an answer was lost; the version was read back and is ours
    fb_uuid txn_id;      ///< commitInfo.txnId
} fb_delta_result;

/** Make rows and positions visible in one new version, or nothing at all.
 *
 * A version that others took is read and the next one tried with the same files, until
 * the deadline. The snapshot is at the new version afterwards.
 * @return FB_OK          committed
 *         FB_ECONFLICT   (P020) a position is not what was expected: another writer owns
 *                        the partition; nothing is written
 *         FB_EBUSY       (P021) the deadline passed; nothing is written
 *         FB_ESCHEMA, FB_EUNSUPPORTED  the table changed and does not take these files
 *         FB_EUNKNOWN    (S010) sent, and it cannot be read back either: before a new try
 *                        refresh and compare the positions; keep the data files */
FB_MUST_CHECK fb_code fb_delta_commit_run(fb_delta *table, const fb_delta_commit *commit,
                                          fb_delta_result *result, fb_error *err);

/** Write a checkpoint when `version - last checkpoint` has reached the table's interval.
 * Best effort: on failure the table is as good as before, the next call tries again.
 * @param wrote  may be NULL */
FB_MUST_CHECK fb_code fb_delta_checkpoint_if_due(fb_delta *table, bool *wrote,
                                                 fb_error *err);

/* --- reading rows ------------------------------------------------------------------- */

typedef struct fb_delta_files {
    fb_arena     arena; ///< owns the paths
    const char **paths; ///< absolute
    size_t       count;
    int64_t      size_bytes;
} fb_delta_files;

void fb_delta_files_init(fb_delta_files *files);
void fb_delta_files_clear(fb_delta_files *files); ///< may be called twice

/** List the live data files, for read_parquet([...], union_by_name = true). No files is
 * no error.
 * @return FB_EUNSUPPORTED (P0xx) for a table whose rows are not just those of its files:
 * deletion vectors, column mapping, partition columns, variants; FB_EDATA for a path
 * outside the table */
FB_MUST_CHECK fb_code fb_delta_files_list(fb_delta *table, fb_delta_files *out,
                                          fb_error *err);

#endif
