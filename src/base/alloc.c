/* alloc.c - malloc with a fault to inject; see alloc.h. */
#include "base/alloc.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int fail_in;
static atomic_int failed;

void fb_alloc_setup(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 16 << 20);
}

int fb_alloc_fail_at(int nth)
{
    int before = atomic_exchange(&failed, 0);
    atomic_store(&fail_in, nth);
    return before;
}

static int must_fail(void)
{
    if (atomic_load_explicit(&fail_in, memory_order_relaxed) <= 0) return 0;
    if (atomic_fetch_sub(&fail_in, 1) != 1) return 0;
    atomic_fetch_add(&failed, 1);
    return 1;
}

void *fb_alloc(size_t size) { return must_fail() ? NULL : calloc(1, size ? size : 1); }

void *fb_realloc(void *memory, size_t size)
{
    return must_fail() ? NULL : realloc(memory, size ? size : 1);
}

char *fb_strdup(const char *text) { return fb_strndup(text, strlen(text)); }

char *fb_strndup(const char *text, size_t size)
{
    char *copy = fb_alloc(size + 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

void fb_free(void *memory) { free(memory); }
