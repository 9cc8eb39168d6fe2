/** positions.h - what has been kept, and therefore where the next run begins.
 *
 * A position is the next offset to read of one partition.  There are two stores:
 *   target  the positions are txn actions of the table, moved by the very commit that
 *           brings the rows: appId `forebay/<pipeline>/<topic>/<partition>`
 *   file    a JSON document `floe.state.kafka-offset.v1`; the table carries the same txns,
 *           and what the document says of them tells whether it still holds: after a crash,
 *           or when another process has gone on (state_file.c)
 *
 * Threads: one at a time.
 */
#ifndef FB_OFFSETS_POSITIONS_H
#define FB_OFFSETS_POSITIONS_H

#include "batch/books.h"
#include "lake/delta.h"

#include <stdint.h>

enum {
    FB_MAX_SERIES = 600, ///< bytes of an encoded topic, @ and an id, with the NUL
    FB_MAX_APP_ID = 1600
};

typedef struct fb_position {
    int32_t partition;
    int64_t next;     ///< next offset to read; -1: none is kept
    int64_t in_table; ///< the table's txn, what a commit compares with; -1: none
    int64_t lost;     ///< what landed.json knows of a position the table has lost; -1: nothing
} fb_position;

typedef struct fb_positions {
    fb_position *list; ///< owned; ascending by partition
    size_t       count;
    bool         has_any;      ///< the pipeline has read this topic before
    bool         is_recreated; ///< the topic has another id now than when they were kept
    char         topic_id[32]; ///< what the broker says now, "" when it says nothing
    int64_t      id_in_table;  ///< the txn that stands for the topic's id; -1: none
    char         series[FB_MAX_SERIES]; ///< topic part of the appIds: "orders", "orders@<id>"
} fb_positions;

/** Where a pipeline keeps its positions. All borrowed. */
typedef struct fb_positions_place {
    const char *pipeline, *topic;
    const char *state_folder; ///< of this pipeline: <state.path>/<pipeline>; NULL: none
    const char *file;         ///< the document of store `file`; NULL: store `target`
    bool        accepts_loss; ///< to see and move positions: a lost one does not fail, and a
                              ///< broken file is said and left to be written anew
} fb_positions_place;

/** "forebay/<pipeline>/<series>/<partition>", / and % inside a part percent-encoded.
 * @param out  FB_MAX_APP_ID bytes */
FB_MUST_CHECK fb_code fb_positions_app_id(const fb_positions_place *place, const char *series,
                                          int32_t partition, char *out, fb_error *err);

/** Which positions are asked for. */
typedef struct fb_positions_ask {
    const char    *topic_id; ///< what the broker says now, "" when it says nothing
    const int32_t *partitions; ///< ascending
    size_t         count;
} fb_positions_ask;

/** Read the positions asked for.
 *
 * @return FB_EGAP (O004) when rows were landed here before and the table has lost our
 *         position; FB_EDATA (O010) for a state file that is not ours; FB_EIO; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_positions_load(const fb_positions_place *place, const fb_delta *table,
                                        const fb_positions_ask *ask, fb_positions *out,
                                        fb_error *err);
void                  fb_positions_clear(fb_positions *positions); ///< may be called twice

/** Go on with the topic as it is now: no position, a series of its own. */
FB_MUST_CHECK fb_code fb_positions_restart(fb_positions *positions, const char *topic,
                                           fb_error *err);

/** @return the position of `partition`, NULL when it was not loaded */
fb_position *fb_positions_find(const fb_positions *positions, int32_t partition);

/** The txns of a commit: one for each moved partition, and the topic's id. */
typedef struct fb_position_txns {
    fb_arena      arena; ///< owns the texts
    fb_delta_txn *list;
    size_t        count;
} fb_position_txns;

/** Make the txns that move positions to each book's `next`. Every book must have been
 * loaded. @param out  released with fb_position_txns_clear(), also on failure */
FB_MUST_CHECK fb_code fb_position_txns_make(const fb_positions_place *place,
                                            const fb_positions *loaded, const fb_books *moves,
                                            fb_position_txns *out, fb_error *err);
void                  fb_position_txns_clear(fb_position_txns *txns); ///< may be called twice

/** Does the table still hold the positions that were loaded? Refresh it before.
 * @return FB_ECONFLICT (P020) naming the partition that another writer moved */
FB_MUST_CHECK fb_code fb_positions_check(const fb_positions_place *place, const fb_delta *table,
                                         const fb_positions *loaded, fb_error *err);

/** Before a commit: store `file` writes down what the commit will make true. */
FB_MUST_CHECK fb_code fb_positions_intend(const fb_positions_place *place,
                                          const fb_positions *loaded, const fb_books *moves, fb_error *err);

/** After a commit: store `file` moves its positions; both stores note locally that rows
 * were landed in the table called `table_id`. */
FB_MUST_CHECK fb_code fb_positions_kept(const fb_positions_place *place,
                                        const fb_positions *loaded, const fb_books *moves, const char *table_id, fb_error *err);

/** Move positions by hand: `offsets reset`. Only partition and next of a book are used. Of a
 * topic that was made again the others begin anew.
 * @param reason  put into the table's commitInfo
 * @return codes of fb_delta_commit_run() */
FB_MUST_CHECK fb_code fb_positions_move(const fb_positions_place *place, fb_delta *table,
                                        const fb_positions *loaded, const fb_books *moves, const char *reason, fb_error *err);

#endif
