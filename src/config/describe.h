/** describe.h - what the option tables say, for people and for editors.
 *
 * Threads: any.
 */
#ifndef FB_CONFIG_DESCRIBE_H
#define FB_CONFIG_DESCRIBE_H

#include "config/option.h"

/** One section as `forebay help config SECTION` shows it; those below are named only. */
void fb_options_print_help(const fb_option_set *set, FILE *to);

/** A set and all below it as Markdown, one heading a section, one entry a key. */
void fb_options_print_reference(const fb_option_set *set, FILE *to);

/** JSON Schema 2020-12 of `set` and all below it. */
void fb_options_print_schema(const fb_option_set *set, const char *title, FILE *to);

#endif
