/** spill.h - where the query engine puts what does not fit into memory.
 *
 * Each process has a folder of its own, <state>/spill-<host>-<pid>, which the engine makes
 * when it needs it and removes when it closes.  A process that was killed leaves its folder
 * behind; the next run on the same host removes it.
 *
 * Threads: any.
 */
#ifndef FB_RUN_SPILL_H
#define FB_RUN_SPILL_H

#include "base/error.h"

/** This process's folder below `state`; FB_MAX_PATH bytes. It need not exist. */
FB_MUST_CHECK fb_code fb_spill_path(const char *state, char *out, fb_error *err);

/** Remove the folders of processes of this host that have ended. Best effort. */
void fb_spill_sweep(const char *state);

#endif
