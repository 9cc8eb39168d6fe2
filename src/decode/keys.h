/** keys.h - from the keys of a JSON object to columns, and keys that stand twice.
 *
 * Threads: fb_keys is constant once built; fb_key_set belongs to one worker.
 */
#ifndef FB_DECODE_KEYS_H
#define FB_DECODE_KEYS_H

#include "schema/type.h"

enum { FB_KEY_UNKNOWN = -1 };

typedef struct fb_keys fb_keys;

/** Build the look-up of `schema`'s names. Names are borrowed.
 * @return FB_EMEMORY; FB_ESCHEMA (C131) when two names differ only in case */
FB_MUST_CHECK fb_code fb_keys_new(const fb_schema *schema, fb_keys **out, fb_error *err);
void                  fb_keys_free(fb_keys *keys);

/** @return the column called `key`, or, without one, the column whose name differs only in
 * the case of ASCII letters (then `is_exact` is false), or FB_KEY_UNKNOWN */
int fb_keys_find(const fb_keys *keys, const char *key, size_t size, bool *is_exact);

/** Texts seen in one object. */
typedef struct fb_key_set {
    struct fb_key_slot *slots; ///< a power of two of them
    size_t              room;
    uint32_t            round; ///< slots of older rounds count as empty
} fb_key_set;

void fb_key_set_clear(fb_key_set *set);

/** Forget all, make room for `most` keys. @return false without memory */
bool fb_key_set_begin(fb_key_set *set, size_t most);

/** Add a key; borrowed until the next begin; at most as many as begin was told.
 * @return false when it is there already */
bool fb_key_set_add(fb_key_set *set, const char *key, size_t size);
bool fb_key_set_has(const fb_key_set *set, const char *key, size_t size);

#endif
