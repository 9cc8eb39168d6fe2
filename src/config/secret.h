/** secret.h - where a secret is kept, never the secret itself.
 *
 * A setting of this type holds a reference: `env://NAME`, `file:///path`, or a scalar
 * that is wholly one `${NAME}`.  The value is looked up when a connection is made, lives
 * in the caller's buffer and is wiped there.  Whatever prints a setting prints
 * FB_SECRET_SHOWN.  A literal exists only with --allow-inline-secrets.
 *
 * Threads: any, once read.
 */
#ifndef FB_CONFIG_SECRET_H
#define FB_CONFIG_SECRET_H

#include "base/arena.h"
#include "base/error.h"

#define FB_SECRET_SHOWN "***"

enum { FB_MAX_SECRET_BYTES = 16384 }; ///< with its NUL

typedef enum fb_secret_kind {
    FB_SECRET_NONE, ///< the setting was left out
    FB_SECRET_ENV,
    FB_SECRET_FILE,
    FB_SECRET_LITERAL,
} fb_secret_kind;

typedef struct fb_secret {
    fb_secret_kind kind;
    const char    *text; ///< the variable's name, the path, or the literal
} fb_secret;

static inline bool fb_secret_is_set(const fb_secret *secret)
{
    return secret->kind != FB_SECRET_NONE;
}

/** Tell what `text`, which outlives `out`, refers to. What begins as a reference and is
 * none leaves `out` of kind NONE. @return FB_OK; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_secret_parse(const char *text, fb_arena *arena, fb_secret *out,
                                      fb_error *err);

/** Look the secret up now.
 *
 * @param out   the caller's memory, `room` bytes, FB_MAX_SECRET_BYTES always suffice; to
 *              be wiped with fb_secret_wipe() as soon as it has been handed on. A secret
 *              that is not set is "".
 * @return FB_OK; FB_ECONFIG: the variable is not set or empty (C120), the file cannot be
 *         read or holds nothing, a NUL or too much (C123). The error names variable or
 *         file only.
 *
 * One newline at a file's end is cut.  A file that others may read is warned of. */
FB_MUST_CHECK fb_code fb_secret_reveal(const fb_secret *secret, char *out, size_t room,
                                       fb_error *err);

void fb_secret_wipe(char *out, size_t room);

#endif
