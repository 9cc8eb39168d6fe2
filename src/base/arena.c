/* arena.c - a chain of blocks, each at least as large as what is asked; see arena.h. */
#include "base/arena.h"

#include "base/alloc.h"

#include <string.h>

enum { BLOCK_BYTES = 16 * 1024, ALIGN = 16 };

typedef struct fb_arena_block {
    struct fb_arena_block *next;
    size_t                 size, used;
    _Alignas(16) char      bytes[];
} fb_arena_block;

void fb_arena_init(fb_arena *arena, size_t max_bytes)
{
    *arena = (fb_arena){.max = max_bytes};
}

static fb_arena_block *block_add(fb_arena *arena, size_t size)
{
    if (size < BLOCK_BYTES) size = BLOCK_BYTES;
    fb_arena_block *block = fb_alloc(sizeof *block + size);
    if (!block) return NULL;
    block->size = size;
    if (arena->now) {
        block->next = arena->now->next;
        arena->now->next = block;
    } else {
        arena->first = block;
    }
    arena->now = block;
    return block;
}

void *fb_arena_alloc(fb_arena *arena, size_t size)
{
    if (size > arena->max || arena->used > arena->max - size) return NULL;
    size_t          room = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    fb_arena_block *block = arena->now;
    if (!block || block->size - block->used < room) block = block_add(arena, room);
    if (!block) return NULL;
    void *memory = block->bytes + block->used;
    block->used += room;
    arena->used += room;
    return memset(memory, 0, size);
}

char *fb_arena_strndup(fb_arena *arena, const char *text, size_t size)
{
    char *copy = fb_arena_alloc(arena, size + 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

static void free_chain(fb_arena_block *block)
{
    while (block) {
        fb_arena_block *next = block->next;
        fb_free(block);
        block = next;
    }
}

void fb_arena_reset(fb_arena *arena)
{
    if (!arena->first) return;
    free_chain(arena->first->next);
    arena->first->next = NULL;
    arena->first->used = 0;
    arena->now = arena->first;
    arena->used = 0;
}

void fb_arena_clear(fb_arena *arena)
{
    free_chain(arena->first);
    arena->first = arena->now = NULL;
    arena->used = 0;
}
