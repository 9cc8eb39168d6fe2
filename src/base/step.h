/** step.h - named moments at which a test can make the process die or fail.
 *
 * Each durable step of forebay has a name, `folder.step.moment`.  The steps are compiled
 * in always and cost one predictable branch.  They are armed by
 *   FOREBAY_FAILPOINT=name:action[:nth][%percent][,...]
 * with the actions
 *   kill         SIGKILL to ourselves            exit      _exit(70)
 *   error=EIO    the step reports this errno     sleep=30s wait, then go on
 *   torn         write half, then SIGKILL        unknown   do it, then report a failure
 * nth (1 when left out) is the hit that fires; `*` fires at every hit.  With a percent, a
 * hit that would fire does so by that chance only.
 *
 * Threads: any.
 */
#ifndef FB_BASE_STEP_H
#define FB_BASE_STEP_H

#include "base/error.h"

typedef enum fb_fault {
    FB_FAULT_NONE = 0,
    FB_FAULT_ERROR,   ///< errno is set
    FB_FAULT_TORN,    ///< write half of it, then call fb_step_die()
    FB_FAULT_UNKNOWN, ///< do it, then report failure
} fb_fault;

extern bool fb_steps_armed; ///< set once, before any thread starts

/** Read FOREBAY_FAILPOINT; what was armed before is forgotten.
 * @return FB_ECONFIG (C003) for what cannot be understood; then nothing is armed */
FB_MUST_CHECK fb_code fb_steps_arm(fb_error *err);

fb_fault       fb_step_hit(const char *name);
_Noreturn void fb_step_die(void);

/** Mark a step that does not fail by itself; kill, exit and sleep act inside. */
#define FB_STEP(name) (fb_steps_armed ? fb_step_hit(name) : FB_FAULT_NONE)

/** A step that may be made to fail: FB_TRY(fb_step_try("folder.step.moment", err)). */
FB_MUST_CHECK fb_code fb_step_fail(const char *name, fb_error *err);
#define fb_step_try(name, err) (fb_steps_armed ? fb_step_fail(name, err) : FB_OK)

#endif
