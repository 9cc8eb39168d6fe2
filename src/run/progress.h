/** progress.h - how far a window is, said while it is read.
 *
 * On a terminal a bar that is redrawn, elsewhere a line every ten seconds; a thread of its
 * own looks at the window's counter, so the workers never wait for a terminal.
 *
 * Threads: start and stop from the run's thread.
 */
#ifndef FB_RUN_PROGRESS_H
#define FB_RUN_PROGRESS_H

#include "run/run.h"

typedef struct fb_progress_meter fb_progress_meter;

/** @param total  offsets to be read; the bar's whole
 * @return NULL when nothing is to be shown, or there is no thread to show it */
fb_progress_meter *fb_progress_start(fb_progress how, const char *pipeline,
                                     const fb_kafka_window *window, int64_t total);
void               fb_progress_finish(fb_progress_meter *meter); ///< NULL is allowed

#endif
