/** option_sets.h - what is printed about the sections of a configuration.
 *
 * Threads: any.
 */
#ifndef FB_RUN_OPTION_SETS_H
#define FB_RUN_OPTION_SETS_H

#include "config/option.h"

/** The section at a dotted path ("pipelines.source") or of a name ("source"); "" is the
 * whole.
 * @return NULL when there is none; `*nearest` is the name next to it then, or NULL */
const fb_option_set *fb_option_set_find(const char *path, const char **nearest);

/** Help on one section. @return FB_EUSAGE (C001) with the nearest name */
FB_MUST_CHECK fb_code fb_config_print_help(const char *path, FILE *to, fb_error *err);

void fb_config_write_reference(FILE *to); ///< docs/reference/config.md
void fb_config_write_schema(FILE *to);    ///< `forebay schema config`

#endif
