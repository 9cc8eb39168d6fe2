/** text.h - questions about text.
 *
 * Threads: any.
 */
#ifndef FB_BASE_TEXT_H
#define FB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Length in bytes of the UTF-8 character at `text`, 1 to 4; 0 when it is none (also for
 * overlong forms, surrogates, and characters cut by `size`). */
size_t fb_utf8_length(const char *text, size_t size);
bool   fb_utf8_valid(const char *text, size_t size);

/** How many of `size` bytes remain when a character that was cut at their end is left out. */
size_t fb_utf8_whole(const char *text, size_t size);

/** How many single-letter edits lie between two names, swaps counting as one.  Names
 * longer than 64 bytes count as far apart (64). */
size_t fb_text_edits(const char *a, const char *b);

/** A running search for the known name nearest to a misspelled one. */
typedef struct fb_nearest {
    const char *wanted, *best; ///< best: NULL while nothing is near enough
    size_t      edits;
} fb_nearest;

void fb_nearest_init(fb_nearest *nearest, const char *wanted);
void fb_nearest_offer(fb_nearest *nearest, const char *known); ///< keeps the pointer

/** Write `n` with commas, "1,234,567". @return `out` */
const char *fb_text_count(int64_t n, char out[32]);

/** Parse a whole decimal number, all of it. @return false when it is none or too large */
bool fb_text_int64(const char *text, int64_t *out);

bool fb_text_equal_nocase(const char *a, const char *b); ///< ASCII letters only
bool fb_text_ends_with(const char *text, const char *end);

#endif
