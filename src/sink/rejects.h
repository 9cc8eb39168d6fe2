/** rejects.h - where rejected rows are kept: a Delta table, or a folder of NDJSON files.
 *
 * Both take the rows of a relation of the query engine (check/keeper.h has its columns),
 * before the positions move, and take a repeat without harm: the Delta table has positions
 * of its own, a file is named after the partition and the offset its window begins at, so
 * that a second try replaces it.  A file could be replaced by a process that has been
 * overtaken, so a folder of files is locked from opening to closing; whoever has it looks
 * at the positions before it writes.
 *
 * Threads: one at a time.
 */
#ifndef FB_SINK_REJECTS_H
#define FB_SINK_REJECTS_H

#include "batch/books.h"
#include "lake/delta.h"
#include "sink/sink_options.h"

typedef struct fb_rejects fb_rejects;

/** @param options  borrowed, must outlive the sink  @param engine  borrowed as well
 * @return FB_EBUSY (L001) when another process keeps rejected rows there for 90 seconds */
FB_MUST_CHECK fb_code fb_rejects_open(const fb_rejected_options *options, fb_engine *engine,
                                      fb_rejects **out, fb_error *err);
void                  fb_rejects_close(fb_rejects *rejects); ///< NULL is allowed

/** The Delta table, to look up its positions; NULL for NDJSON. */
fb_delta *fb_rejects_table(fb_rejects *rejects);

typedef struct fb_rejects_batch {
    const char         *relation; ///< a table or a query in parentheses
    const fb_schema    *schema;   ///< of the relation
    const char         *prefix; ///< NDJSON: how files are named, before -<partition>-<first>
    const char         *repeat; ///< NDJSON: the run id of a second reading; NULL: the first
    const fb_books     *books;  ///< which partitions, from which offset: the window's
    const fb_delta_txn *txns;  ///< Delta only
    size_t              txns_count;
    const char         *about; ///< JSON for commitInfo
} fb_rejects_batch;

/** Keep the rows. On FB_OK they are durable.
 * @return codes of fb_delta_commit_run(); FB_EIO */
FB_MUST_CHECK fb_code fb_rejects_write(fb_rejects *rejects, const fb_rejects_batch *batch,
                                       fb_error *err);

#endif
