/* map.c - an array of entries and a table of their places, open addressing; see map.h. */
#include "lake/map.h"

#include "base/alloc.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

void fb_map_init(fb_map *map) { *map = (fb_map){0}; }

void fb_map_clear(fb_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        fb_free(map->entries[i].key);
        fb_free(map->entries[i].text);
    }
    fb_free(map->entries);
    fb_free(map->slots);
    fb_map_init(map);
}

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *key)
{
    uint64_t value = 0xcbf29ce484222325u;
    for (; *key; key++) value = (value ^ (unsigned char)*key) * 0x100000001b3u;
    return value;
}

/* The slot that holds `key`, or the free one where it belongs. */
static size_t seek(const fb_map *map, const char *key)
{
    size_t at = (size_t)hash(key) & (map->slots_count - 1);
    while (map->slots[at] && strcmp(map->entries[map->slots[at] - 1].key, key) != 0)
        at = (at + 1) & (map->slots_count - 1);
    return at;
}

fb_map_entry *fb_map_find(const fb_map *map, const char *key)
{
    if (map->count == 0) return NULL;
    size_t at = seek(map, key);
    if (map->slots[at] == 0) return NULL;
    fb_map_entry *entry = &map->entries[map->slots[at] - 1];
    return entry->is_gone ? NULL : entry;
}

/* Room for one more entry; the table of places is never more than half full. */
static bool grow(fb_map *map)
{
    if (map->count == map->room) {
        size_t        room = map->room ? map->room * 2 : FIRST_SLOTS / 2;
        fb_map_entry *entries = fb_realloc(map->entries, room * sizeof *entries);
        if (!entries) return false;
        map->entries = entries;
        map->room = room;
    }
    if ((map->count + 1) * 2 <= map->slots_count) return true;
    size_t    count = map->slots_count ? map->slots_count * 2 : FIRST_SLOTS;
    uint32_t *slots = fb_alloc(count * sizeof *slots);
    if (!slots) return false;
    fb_free(map->slots);
    map->slots = slots;
    map->slots_count = count;
    for (size_t i = 0; i < map->count; i++)
        slots[seek(map, map->entries[i].key)] = (uint32_t)(i + 1);
    return true;
}

fb_code fb_map_put(fb_map *map, const char *key, fb_map_entry **out, fb_error *err)
{
    if (!grow(map)) return fb_fail_memory(err, "the state of a table");
    size_t at = seek(map, key);
    if (map->slots[at] == 0) {
        char *copy = fb_strdup(key);
        if (!copy) return fb_fail_memory(err, "the state of a table");
        map->entries[map->count++] = (fb_map_entry){.key = copy};
        map->slots[at] = (uint32_t)map->count;
    }
    *out = &map->entries[map->slots[at] - 1];
    (*out)->is_gone = false;
    return FB_OK;
}

fb_code fb_map_set_text(fb_map_entry *entry, const char *text, fb_error *err)
{
    char *copy = text ? fb_strdup(text) : NULL;
    if (text && !copy) return fb_fail_memory(err, "the state of a table");
    fb_free(entry->text);
    entry->text = copy;
    return FB_OK;
}
