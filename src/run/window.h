/** window.h - one window of a run: read, judge, keep, commit.
 *
 * Threads: one at a time, in the run's thread.
 */
#ifndef FB_RUN_WINDOW_H
#define FB_RUN_WINDOW_H

#include "run/run.h"

typedef struct fb_window_request {
    fb_session           *session;
    const fb_plan        *plan;
    const fb_run_options *options;
    const atomic_bool    *stop;
} fb_window_request;

/** Carry out a plan that has something to read or to keep.  On FB_OK rows, rejected rows and positions
 * are kept and the report's numbers are set; on failure nothing of it is, and
 * `err->state` says so.
 * @return FB_ECONFLICT when another writer moved a position meanwhile: plan again
 *         FB_EUNREACHABLE (K006) after a commit: the brokers went away before the end
 *         FB_EDATA (V010, V012) the policy stopped it; codes of reading and committing */
FB_MUST_CHECK fb_code fb_window_run(const fb_window_request *request, fb_report *report,
                                    fb_error *err);

#endif
