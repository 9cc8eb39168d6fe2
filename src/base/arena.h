/** arena.h - memory that is released all at once.
 *
 * Blocks grow as needed up to a ceiling.  fb_arena_reset() keeps the first block for
 * reuse, so that a loop over records allocates once.
 *
 * Threads: one at a time.
 */
#ifndef FB_BASE_ARENA_H
#define FB_BASE_ARENA_H

#include <stddef.h>

typedef struct fb_arena {
    struct fb_arena_block *first, *now;
    size_t                 used, max;
} fb_arena;

void fb_arena_init(fb_arena *arena, size_t max_bytes);

/** @return 16-byte aligned zeroed memory; NULL when the heap or the ceiling is reached. */
void *fb_arena_alloc(fb_arena *arena, size_t size);
char *fb_arena_strndup(fb_arena *arena, const char *text, size_t size);

void fb_arena_reset(fb_arena *arena); ///< all memory given out is void from here on
void fb_arena_clear(fb_arena *arena); ///< may be called twice

#endif
