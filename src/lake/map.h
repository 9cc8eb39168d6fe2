/** map.h - entries found by their name, kept in the order they came.
 *
 * Threads: one at a time.
 */
#ifndef FB_LAKE_MAP_H
#define FB_LAKE_MAP_H

#include "base/error.h"

#include <stdint.h>

/** What an entry means is its user's: a txn has a version and a time, a metadata domain a
 * text, a column its statistics. */
typedef struct fb_map_entry {
    char   *key, *text; ///< owned; text may be NULL
    int64_t number, time;
    bool    is_gone;
} fb_map_entry;

typedef struct fb_map {
    fb_map_entry *entries; ///< `count` of them; addresses change with fb_map_put()
    size_t        count, room;
    uint32_t     *slots; ///< index of an entry + 1, found by hash; 0: none
    size_t        slots_count;
} fb_map;

void fb_map_init(fb_map *map);
void fb_map_clear(fb_map *map); ///< may be called twice

/** @return NULL when there is none, or when it is gone */
fb_map_entry *fb_map_find(const fb_map *map, const char *key);

/** Find the entry, or add one. `out` is never gone. @return FB_EMEMORY */
FB_MUST_CHECK fb_code fb_map_put(fb_map *map, const char *key, fb_map_entry **out,
                                 fb_error *err);

/** Replace the entry's text; NULL takes it away. @return FB_EMEMORY */
FB_MUST_CHECK fb_code fb_map_set_text(fb_map_entry *entry, const char *text,
                                      fb_error *err);

#endif
