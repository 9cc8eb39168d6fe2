/** rejected.h - the rejected rows of a window, kept before the positions pass them.
 *
 * A Delta table of rejected rows has positions of its own, which only ever grow: below them
 * a row may be there already, from a try whose main commit did not happen or from an
 * earlier reading, and is then left out.  A file of JSON lines is written only while the
 * main table's positions are those that the window began at, and while nobody else can.
 *
 * Threads: the run's thread, while no query runs.
 */
#ifndef FB_RUN_REJECTED_H
#define FB_RUN_REJECTED_H

#include "run/plan.h"
#include "sink/rejects.h"

typedef struct fb_rejected {
    fb_session     *session;
    const fb_books *books; ///< the window's
    const char     *run_id;
    const char     *about;        ///< JSON for commitInfo
    bool            keeps_stored; ///< --no-commit: no positions, and nothing is left out
} fb_rejected;

/** Make the rows of FB_KEEPER_TABLE durable.
 * @param out  to be closed after the main commit, with or without success
 * @return FB_ECONFLICT (P020) when another process has gone on meanwhile, FB_EBUSY (L001);
 *         codes of fb_rejects_write() */
FB_MUST_CHECK fb_code fb_rejected_keep(const fb_rejected *rejected, fb_rejects **out,
                                       fb_error *err);

/** Before `offsets reset` moves positions back: files of JSON lines that were committed
 * get another name, so that what is read again from the same offset does not replace them.
 * Harmless when the positions are not moved after all. Nothing for a Delta table.
 * @param moves  partition and next of each book  @param stamp  goes into the names
 * @return FB_EBUSY (L001); FB_EIO */
FB_MUST_CHECK fb_code fb_rejected_set_apart(const fb_session *session,
                                            const fb_books *moves, const char *stamp,
                                            fb_error *err);

#endif
