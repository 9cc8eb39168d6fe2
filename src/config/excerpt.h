/** excerpt.h - one line of a file as it may be shown under a message.
 *
 * What is hidden by its place, and what looks like a secret in a line that could not be
 * understood, is shown as ***.  A long line is cut around the caret.
 *
 * Threads: any.
 */
#ifndef FB_CONFIG_EXCERPT_H
#define FB_CONFIG_EXCERPT_H

#include "config/diagnostic.h"

enum { FB_EXCERPT_WIDTH = 150 }; ///< characters

typedef struct fb_excerpt {
    char text[FB_EXCERPT_WIDTH * 4 + 16];
    int  caret;        ///< characters before it
    int  caret_length; ///< 1 or more
} fb_excerpt;

/** @param at  its file has a text. Line 0 stands for the only line of a flag. */
void fb_excerpt_make(fb_excerpt *out, fb_place at, const fb_place *hidden,
                     size_t hidden_count);

#endif
