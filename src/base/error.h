/** error.h - what went wrong, where, in what state things are, and what to do about it.
 *
 * Every function that can fail returns an fb_code and takes, as its last argument, an
 * fb_error owned by the caller.  The struct holds its own text, so reporting "out of
 * memory" needs no memory.  On FB_OK the error is not touched.
 *
 * A failure is named by its reason, one row of base/reasons.def; the fb_code comes from
 * that row: `return fb_fail(err, C104, "unknown key \"%s\"", name);`
 *
 * Threads: one fb_error belongs to one thread; nothing here is shared.
 */
#ifndef FB_BASE_ERROR_H
#define FB_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#define FB_MUST_CHECK __attribute__((warn_unused_result))
#define FB_PRINTF(f, a) __attribute__((format(printf, f, a)))

typedef enum fb_code {
    FB_OK = 0,
#define FB_CODE(name, number, exit_status, retry, meaning) FB_E##name = number,
#include "base/error_codes.def"
#undef FB_CODE
} fb_code;

/** The exact fault: FB_R_C104 is written "FB-C104". FB_R_NONE is no fault. */
typedef enum fb_reason {
    FB_R_NONE = 0,
#define FB_REASON(id, code, what, advice) FB_R_##id,
#include "base/reasons.def"
#undef FB_REASON
    FB_REASON_COUNT
} fb_reason;

/** FB_RC_C104 is the fb_code of reason C104, as a constant. */
enum {
#define FB_REASON(id, code, what, advice) FB_RC_##id = FB_E##code,
#include "base/reasons.def"
#undef FB_REASON
};

typedef struct fb_error {
    fb_code   code;
    fb_reason reason;
    char      where[300]; ///< "orders.yml:14:9", "orders[3]@90417", or ""
    char      what[600];  ///< one line: what could not be done, and why
    char      state[400]; ///< what is written and where the positions are, or ""
    char      hint[600];  ///< what to do next, or ""
} fb_error;

/** Record a failure; forget any earlier `where`, `state` and `hint`. */
void fb_error_set(fb_error *err, fb_reason reason, const char *fmt, ...) FB_PRINTF(3, 4);

/** Say where it happened, unless a deeper function has said so already. */
void fb_error_at(fb_error *err, const char *fmt, ...) FB_PRINTF(2, 3);

/** Say what is written and where the positions stand; the last caller's word holds. */
void fb_error_state(fb_error *err, const char *fmt, ...) FB_PRINTF(2, 3);

/** Say what the reader can do about it. */
void fb_error_hint(fb_error *err, const char *fmt, ...) FB_PRINTF(2, 3);

/** Record a failure and be its code: `return fb_fail(err, F003, "...");`
 * A macro, so that the compiler's analyzer sees a constant and not a call. */
#define fb_fail(err, id, ...)                                                            \
    (fb_error_set((err), FB_R_##id, __VA_ARGS__), (fb_code)FB_RC_##id)

/** "no memory for WHAT", as a code to return. */
#define fb_fail_memory(err, what) fb_fail(err, M001, "no memory for %s", what)

const char *fb_code_name(fb_code code); ///< "CONFIG"; static text
const char *fb_code_meaning(fb_code code);
int         fb_code_exit_status(fb_code code); ///< 0..255
bool        fb_code_is_retryable(fb_code code);

const char *fb_reason_name(fb_reason reason);   ///< "FB-C104"; "" for none; static text
const char *fb_reason_what(fb_reason reason);   ///< one sentence; static text
const char *fb_reason_advice(fb_reason reason); ///< what to do; static text
fb_code     fb_reason_code(fb_reason reason);

/** Find "FB-C104", "C104" or "c104". @return FB_R_NONE when there is none such. */
fb_reason fb_reason_find(const char *name);

/** Run `call`; on failure leave for `out:` with its code.
 * The one macro in forebay that changes the flow of control: the function declares
 * `fb_code code = FB_OK;` at its top and ends in `out:`. */
#define FB_TRY(call)                                                                     \
    do {                                                                                 \
        code = (call);                                                                   \
        if (code != FB_OK) goto out;                                                     \
    } while (0)

/** What this code itself must have made true; stays on in release builds. */
#define fb_assert(condition)                                                             \
    ((condition) ? (void)0 : fb_assert_failed(#condition, __FILE__, __LINE__))

_Noreturn void fb_assert_failed(const char *condition, const char *file, int line);

#endif
