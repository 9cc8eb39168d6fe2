/** stages.h - the stages of a record's way, each a small struct of functions.
 *
 *     source ── slice ──> decoder ── row ──> (check) ──> engine ──> sink
 *                            └── refused ──> fb_refuser (refusal.h)
 *
 * `run/` joins them; no stage knows another.  Adding a source or a format is one
 * implementation of a struct below and one row in a table of `run/`.
 */
#ifndef FB_BATCH_STAGES_H
#define FB_BATCH_STAGES_H

#include "batch/books.h"
#include "batch/record.h"
#include "batch/refusal.h"
#include "batch/vectors.h"

enum { FB_SLICE_MAX = 2048 }; ///< records of one slice, as many as a chunk has rows

/** A handful of records taken off the source by one worker. */
typedef struct fb_slice {
    fb_record records[FB_SLICE_MAX];
    size_t    count;
    void     *handle; ///< the source's own
} fb_slice;

/** An open window over a source: which offsets, until when. */
typedef struct fb_source {
    void *self;

    /** Take the next records; waits until there are some. `slice` is empty when the
     * window is closed.  Threads: any number of workers at once.
     * @return FB_OK, or the failure that ended the window (every worker gets it) */
    fb_code (*take)(void *self, fb_slice *slice, fb_error *err);

    /** Give a slice's memory back. Its records are void from here on. */
    void (*release)(void *self, fb_slice *slice);

    /** The header of a record at `index`. @return false behind the last one */
    bool (*header)(void *self, const fb_record *record, size_t index, fb_header *out);
} fb_source;

/** What a decoder found for a column. */
typedef enum fb_cell_state { FB_CELL_MISSING, FB_CELL_NULL, FB_CELL_VALUE, FB_CELL_BAD } fb_cell_state;

/** A row under work: the schema's columns in order. */
typedef struct fb_row {
    fb_vector     *columns; ///< one that no query asked for has no vector
    unsigned char *states;  ///< fb_cell_state of each column
    idx_t          index;   ///< the row's number in the chunk
} fb_row;

/** Bytes become a row.  `begin` is called per worker; the worker's state is its own. */
typedef struct fb_decoder {
    void *self;
    fb_code (*begin)(void *self, void **worker, fb_error *err);
    void (*end)(void *self, void *worker);

    /** Write the value's columns and their states. Every fault is noted in `refusals`; when
     * there is one, the row does not count.  A tombstone is a row of missing columns.
     * @return FB_OK also for a refused record; FB_EMEMORY */
    fb_code (*decode)(void *self, void *worker, const fb_record *record, fb_row *row,
                      fb_refusals *refusals, fb_error *err);
} fb_decoder;

#endif
