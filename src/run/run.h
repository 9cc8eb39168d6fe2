/** run.h - a bounded run: read what waits, keep it, move the positions, stop.
 *
 * See run/README.md for the order of its steps and what holds between them.
 *
 * Threads: one run at a time in a process; fb_run_stop() from a signal handler.
 */
#ifndef FB_RUN_RUN_H
#define FB_RUN_RUN_H

#include "run/plan.h"
#include "run/report.h"

typedef enum fb_progress { FB_PROGRESS_AUTO, FB_PROGRESS_BAR, FB_PROGRESS_LINES, FB_PROGRESS_NONE } fb_progress;

typedef struct fb_run_options {
    const char *run_id; ///< NULL: a new one
    fb_where    from, to;
    bool        is_dry;       ///< read and check, write nothing
    bool        keeps_stored; ///< write, but leave the positions where they are
    bool        takes_lock;
    int64_t     wait_lock_ms;
    int64_t     fail_on_reject; ///< exit with 3 above this many rejected rows; -1: never
    fb_progress progress;
} fb_run_options;

void fb_run_options_init(fb_run_options *options);

/** Run a pipeline of the document once.
 *
 * @param report  filled in any case; released with fb_report_clear()
 * @return FB_OK; FB_EDATA when the policy stopped it (V010) or more than fail_on_reject
 *         rows were rejected (V011, after the commit); FB_EBUSY (L001); codes of the plan,
 *         of reading and of the commit. `err->state` says where table and positions are. */
FB_MUST_CHECK fb_code fb_run(const fb_document *document, const fb_pipeline *pipeline,
                             const fb_run_options *options, fb_report *report, fb_error *err);

/** Ask the run to commit what it has read and end; async-signal-safe. */
void fb_run_stop(void);
bool fb_run_is_stopping(void);

/** The flag behind the two, for those who wait elsewhere. */
const atomic_bool *fb_run_stop_flag(void);

#endif
