/* option_sets.c - the document's set is the root of all others; see option_sets.h. */
#include "run/option_sets.h"

#include "base/text.h"
#include "config/describe.h"
#include "run/document.h"

#include <string.h>

/* The section called by `size` bytes of `name`, here or, with `is_deep`, below. */
static const fb_option_set *find_below(const fb_option_set *set, const char *name,
                                       size_t size, bool is_deep, fb_nearest *near)
{
    for (const fb_option *row = set->options; row->name; row++) {
        bool is_section = row->type == FB_OPT_SECTION || row->type == FB_OPT_LIST ||
                          row->type == FB_OPT_MAP;
        if (!is_section) continue;
        if (strlen(row->name) == size && memcmp(row->name, name, size) == 0)
            return row->section;
        fb_nearest_offer(near, row->name);
    }
    for (const fb_option *row = set->options; is_deep && row->name; row++) {
        if (!row->section || row->type == FB_OPT_INLINE) continue;
        const fb_option_set *found = find_below(row->section, name, size, true, near);
        if (found) return found;
    }
    return NULL;
}

const fb_option_set *fb_option_set_find(const char *path, const char **nearest)
{
    const fb_option_set *set = &fb_document_set;
    bool                 is_deep = true;
    fb_nearest           near;
    fb_nearest_init(&near, path);
    while (set && *path) {
        size_t size = strcspn(path, ".");
        set = find_below(set, path, size, is_deep, &near);
        is_deep = false;
        path += size + (path[size] == '.');
    }
    if (nearest) *nearest = set ? NULL : near.best;
    return set;
}

fb_code fb_config_print_help(const char *path, FILE *to, fb_error *err)
{
    const char          *nearest;
    const fb_option_set *set = fb_option_set_find(path ? path : "", &nearest);
    if (set) {
        fb_options_print_help(set, to);
        return FB_OK;
    }
    fb_code code = fb_fail(err, C001, "a configuration has no section \"%s\"", path);
    if (nearest) fb_error_hint(err, "Did you mean \"%s\"?", nearest);
    return code;
}

void fb_config_write_reference(FILE *to)
{
    fputs(
        "# Configuration\n\n"
        "<!-- Made by `forebay help --reference config` from the tables the program "
        "reads; do "
        "not edit. -->\n\n"
        "A key that is not on this page is refused. Every single value may hold "
        "`${NAME}`, "
        "`${NAME:-default}` or\n`${NAME:?message}` for an environment variable, and `$$` "
        "for a "
        "dollar sign. A secret names where it is kept:\n`env://NAME`, `file:///path`, or "
        "`${NAME}` alone.\n\n",
        to);
    fb_options_print_reference(&fb_document_set, to);
}

void fb_config_write_schema(FILE *to)
{
    fb_options_print_schema(&fb_document_set, "forebay configuration", to);
}
