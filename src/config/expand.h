/** expand.h - ${NAME} in a scalar is replaced by an environment variable.
 *
 * `${NAME}` must be set, `${NAME:-default}` may be unset or empty, `${NAME:?message}`
 * fails with the message, `$$` is a dollar sign; any other $ means itself.  A default may
 * hold another `${...}`.  Replaced text is never parsed as YAML, so it can add no key.
 *
 * This and secret.c are the only places that read the environment.
 *
 * Threads: any, while nobody changes the environment.
 */
#ifndef FB_CONFIG_EXPAND_H
#define FB_CONFIG_EXPAND_H

#include "config/yaml.h"

/** The text of a scalar with its variables replaced, in `arena`.
 *
 * @return FB_OK; `*out` is NULL after a fault, which is noted in `found` at the scalar's
 *         place; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_expand(const fb_node *scalar, fb_arena *arena,
                                fb_diagnostics *found, const char **out, fb_error *err);

/** Does the text refer to the environment?  Such a value is not repeated in messages. */
bool fb_expand_is_needed(const fb_node *scalar);

/** One of the program's own variables (FOREBAY_CONFIG, ...), NULL when unset or empty. */
const char *fb_environment(const char *name);

#endif
