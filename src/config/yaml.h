/** yaml.h - a YAML file becomes a tree in which every node knows its place.
 *
 * What is refused, because it hides more than it helps: tags that make objects, two
 * documents in one file, keys that are not plain text, the same key twice, a NUL in a
 * text.  Aliases are followed by copying; FB_MAX_CONFIG_BYTES, FB_MAX_CONFIG_DEPTH and
 * FB_MAX_CONFIG_NODES bound the result.  JSON is YAML too.
 *
 * Threads: a finished tree is constant.
 */
#ifndef FB_CONFIG_YAML_H
#define FB_CONFIG_YAML_H

#include "config/diagnostic.h"

typedef enum fb_node_kind {
    FB_NODE_NULL, ///< `key:` with nothing behind it, null, ~: as if left out
    FB_NODE_SCALAR,
    FB_NODE_LIST,
    FB_NODE_MAP,
} fb_node_kind;

/** Texts and nodes live as long as the arena they were read into. */
typedef struct fb_node {
    fb_node_kind    kind;
    bool            is_verbatim; ///< a flag's value: ${NAME} and $$ mean themselves
    const char     *name;        ///< the key in the map above; NULL in a list
    const char     *text;        ///< of a scalar, before ${NAME} is replaced; else NULL
    fb_place        name_place, place;
    struct fb_node *first, *last, *next; ///< children in their order; the next sibling
    size_t          count;               ///< children
} fb_node;

/** Where trees are built: shared by all files of one configuration. */
typedef struct fb_tree {
    fb_arena       *arena;
    fb_diagnostics *found;
    size_t          nodes; ///< so far, held to FB_MAX_CONFIG_NODES
} fb_tree;

/** Read `file->text`. Faults are noted in `tree->found` and leave `*out` NULL.
 *
 * @return FB_OK also when faults were noted; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_yaml_read(fb_tree *tree, const fb_config_file *file,
                                   fb_node **out, fb_error *err);

/** A new node. @return FB_ECONFIG (C102) at the ceiling on nodes; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_node_new(fb_tree *tree, fb_node_kind kind, fb_place place,
                                  fb_node **out, fb_error *err);
void                  fb_node_append(fb_node *parent, fb_node *child);

/** @return the child called `name`; NULL when there is none or `map` is NULL */
const fb_node *fb_node_find(const fb_node *map, const char *name);

/** List the children of a map by name, then by place; fb_free() the list. */
FB_MUST_CHECK fb_code fb_node_sort(const fb_node *map, fb_node ***out, fb_error *err);

/** Was `name` given a value?  A null does not count. */
bool fb_node_has(const fb_node *map, const char *name);

/** The place of the value called `name`, else of the map itself: for messages. */
fb_place fb_node_place(const fb_node *map, const char *name);

/** The same for the key instead of its value. */
fb_place fb_node_name_place(const fb_node *map, const char *name);

#endif
