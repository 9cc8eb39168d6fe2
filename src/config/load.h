/** load.h - files, includes and overrides become one tree.
 *
 * Files given by -c are laid over each other: maps are merged, everything else is
 * replaced by the later file.  `include`, a list of patterns at the top of a file and
 * relative to it, splits one layer over several files: a setting may stand in one of them
 * only.  Overrides of the command line come last.
 *
 * Faults are noted in `config->found`; a function here fails only without memory.
 *
 * Threads: one at a time; constant after the last change.
 */
#ifndef FB_CONFIG_LOAD_H
#define FB_CONFIG_LOAD_H

#include "config/yaml.h"

typedef struct fb_config {
    fb_arena        arena; ///< owns nodes and texts, also those read from them
    fb_diagnostics  found;
    fb_tree         tree;
    fb_node        *root;  ///< a map; NULL before the first file
    fb_config_file *files; ///< in the order they were read
    int             files_count;
    bool            is_incomplete; ///< a file could not be read: rules would mislead
} fb_config;

void fb_config_init(fb_config *config);
void fb_config_clear(fb_config *config); ///< zeroes the texts; may be called twice

/** Lay a file (`-c`) over what is there. */
FB_MUST_CHECK fb_code fb_config_add_file(fb_config *config, const char *path,
                                         fb_error *err);

/** Lay a document in memory over what is there; `name` stands for it in messages.
 * `include` is not followed. */
FB_MUST_CHECK fb_code fb_config_add_text(fb_config *config, const char *name,
                                         const char *text, size_t size, fb_error *err);

/** `--set KEY=VALUE`: KEY is a path with dots, a part with dots in quotes
 * (pipelines."a.b".source); VALUE is YAML and may be empty. */
FB_MUST_CHECK fb_code fb_config_set(fb_config *config, const char *assignment,
                                    fb_error *err);

/** Set one scalar for a command-line flag.
 *
 * @param keys   the path, ends in NULL
 * @param value  taken as it is, ${NAME} is not looked for
 * @param flag   "--max-messages": stands for the place in messages */
FB_MUST_CHECK fb_code fb_config_put(fb_config *config, const char *const *keys,
                                    const char *value, const char *flag, fb_error *err);

#endif
