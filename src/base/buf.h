/** buf.h - bytes that grow, under a ceiling.
 *
 * A failure to grow (no memory, ceiling) is kept in the buffer and later additions do
 * nothing, so that a writer of many pieces asks once, at its end: fb_buf_check().
 * `data` always has a NUL behind its last byte, which `size` does not count.
 *
 * Threads: one at a time.
 */
#ifndef FB_BASE_BUF_H
#define FB_BASE_BUF_H

#include "base/error.h"

#include <stdint.h>

typedef struct fb_buf {
    char     *data; ///< NULL until the first addition
    size_t    size, room, max;
    fb_reason failed; ///< FB_R_NONE, FB_R_M001 or FB_R_M002
} fb_buf;

void fb_buf_init(fb_buf *buf, size_t max_bytes);
void fb_buf_clear(fb_buf *buf); ///< may be called twice
void fb_buf_reset(fb_buf *buf); ///< empty again, memory kept

/** The text so far, "" when there is none. Borrowed until the next addition. */
const char *fb_buf_text(const fb_buf *buf);

void fb_buf_add(fb_buf *buf, const void *data, size_t size);
void fb_buf_add_text(fb_buf *buf, const char *text);
void fb_buf_add_char(fb_buf *buf, char c);
void fb_buf_printf(fb_buf *buf, const char *fmt, ...) FB_PRINTF(2, 3);

/** Add `size` bytes as a JSON string with its quotes.  Control characters are escaped;
 * bytes that are not UTF-8 become U+FFFD. */
void fb_buf_add_json(fb_buf *buf, const char *text, size_t size);
void fb_buf_add_json_text(fb_buf *buf, const char *text); ///< null for NULL

/** @return FB_OK, or the failure that stopped the buffer from growing. `what` names it. */
FB_MUST_CHECK fb_code fb_buf_check(const fb_buf *buf, const char *what, fb_error *err);

#endif
