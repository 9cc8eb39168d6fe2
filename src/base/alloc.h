/** alloc.h - the only door to the heap.
 *
 * Threads: any.  The fault injected by fb_alloc_fail_at() belongs to the whole process,
 * so that a test can fail an allocation of any thread.
 */
#ifndef FB_BASE_ALLOC_H
#define FB_BASE_ALLOC_H

#include <stddef.h>

/** Tell the heap how we use it; once, before any thread starts.  Fetched batches and row
 * groups are blocks of megabytes that come and go: given back to the system each time, the
 * pages cost a tenth of a run's CPU to get again. */
void fb_alloc_setup(void);

void *fb_alloc(size_t size);                     ///< zeroed; NULL when none is left
void *fb_realloc(void *memory, size_t size);     ///< NULL leaves `memory` as it was
char *fb_strdup(const char *text);               ///< NULL when none is left
char *fb_strndup(const char *text, size_t size); ///< adds a NUL; NULL when none is left
void  fb_free(void *memory);                     ///< NULL is allowed

/** Let the nth allocation from now fail once; 0 = never.
 * @return how many allocations were made to fail since the last call. */
int fb_alloc_fail_at(int nth);

#endif
