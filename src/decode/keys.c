/* keys.c - two small hash tables; see keys.h.
 *
 * Foreign keys are hashed with a seed of this process, so that nobody can send keys that
 * all fall into one slot.
 */
#include "decode/keys.h"

#include "base/alloc.h"

#include <string.h>
#include <sys/random.h>

typedef struct slot {
    const char *name;
    size_t      size;
    int         column;
} slot;

struct fb_keys {
    slot  *slots;
    size_t room;
};

typedef struct fb_key_slot {
    const char *key;
    size_t      size;
    uint32_t    round;
} fb_key_slot;

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* FNV-1a; `fold` makes it the same for names that differ only in case. */
static uint64_t hash(const char *text, size_t size, uint64_t seed, bool fold)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ seed;
    for (size_t i = 0; i < size; i++)
        h = (h ^ (fold ? lower(text[i]) : (unsigned char)text[i])) * UINT64_C(0x100000001b3);
    return h ^ (h >> 29);
}

static uint64_t process_seed(void)
{
    static _Thread_local uint64_t seed;
    if (seed == 0 && getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = 1;
    return seed;
}

/* Not strncasecmp(), which asks the locale of the program that embeds us. */
static bool same(const slot *s, const char *key, size_t size)
{
    if (s->size != size) return false;
    for (size_t i = 0; i < size; i++)
        if (lower(s->name[i]) != lower(key[i])) return false;
    return true;
}

fb_code fb_keys_new(const fb_schema *schema, fb_keys **out, fb_error *err)
{
    fb_keys *keys = fb_alloc(sizeof *keys);
    size_t   room = 16;
    while (room < schema->count * 3)
        room *= 2;
    if (keys) keys->slots = fb_alloc(room * sizeof *keys->slots);
    if (!keys || !keys->slots) {
        fb_keys_free(keys);
        return fb_fail_memory(err, "the names of a schema");
    }
    keys->room = room;
    for (size_t i = 0; i < schema->count; i++) {
        const char *name = schema->columns[i].name;
        size_t      size = strlen(name);
        size_t      at = hash(name, size, 0, true) & (room - 1);
        for (; keys->slots[at].name; at = (at + 1) & (room - 1)) {
            if (!same(&keys->slots[at], name, size)) continue;
            fb_error_set(err, FB_R_C131, "columns \"%s\" and \"%s\" differ only in case",
                         keys->slots[at].name, name);
            fb_keys_free(keys);
            return FB_ESCHEMA;
        }
        keys->slots[at] = (slot){name, size, (int)i};
    }
    *out = keys;
    return FB_OK;
}

void fb_keys_free(fb_keys *keys)
{
    if (!keys) return;
    fb_free(keys->slots);
    fb_free(keys);
}

int fb_keys_find(const fb_keys *keys, const char *key, size_t size, bool *is_exact)
{
    size_t at = hash(key, size, 0, true) & (keys->room - 1);
    for (; keys->slots[at].name; at = (at + 1) & (keys->room - 1)) {
        const slot *s = &keys->slots[at];
        if (!same(s, key, size)) continue;
        *is_exact = memcmp(s->name, key, size) == 0;
        return s->column;
    }
    return FB_KEY_UNKNOWN;
}

void fb_key_set_clear(fb_key_set *set)
{
    fb_free(set->slots);
    *set = (fb_key_set){0};
}

bool fb_key_set_begin(fb_key_set *set, size_t most)
{
    size_t room = 64;
    while (room < most * 2)
        room *= 2;
    if (room > set->room) {
        fb_key_set_clear(set);
        set->slots = fb_alloc(room * sizeof *set->slots);
        if (!set->slots) return false;
        set->room = room;
    }
    if (++set->round == 0) {
        memset(set->slots, 0, set->room * sizeof *set->slots);
        set->round = 1;
    }
    return true;
}

/* The slot that holds the key, or the free one where it would go. */
static fb_key_slot *find_slot(const fb_key_set *set, const char *key, size_t size)
{
    size_t at = hash(key, size, process_seed(), false) & (set->room - 1);
    for (; set->slots[at].round == set->round; at = (at + 1) & (set->room - 1))
        if (set->slots[at].size == size && memcmp(set->slots[at].key, key, size) == 0) break;
    return &set->slots[at];
}

bool fb_key_set_has(const fb_key_set *set, const char *key, size_t size)
{
    return find_slot(set, key, size)->round == set->round;
}

bool fb_key_set_add(fb_key_set *set, const char *key, size_t size)
{
    fb_key_slot *place = find_slot(set, key, size);
    if (place->round == set->round) return false;
    *place = (fb_key_slot){key, size, set->round};
    return true;
}
