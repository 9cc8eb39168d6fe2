/* buf.c - a doubling byte array; see buf.h. */
#include "base/buf.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

void fb_buf_init(fb_buf *buf, size_t max_bytes) { *buf = (fb_buf){.max = max_bytes}; }

void fb_buf_clear(fb_buf *buf)
{
    fb_free(buf->data);
    *buf = (fb_buf){.max = buf->max};
}

void fb_buf_reset(fb_buf *buf)
{
    buf->size = 0;
    buf->failed = FB_R_NONE;
    if (buf->data) buf->data[0] = '\0';
}

const char *fb_buf_text(const fb_buf *buf) { return buf->data ? buf->data : ""; }

/* Make room for `more` bytes and a NUL. */
static bool grow(fb_buf *buf, size_t more)
{
    if (buf->failed != FB_R_NONE) return false;
    if (more > buf->max || buf->size > buf->max - more) {
        buf->failed = FB_R_M002;
        return false;
    }
    size_t need = buf->size + more + 1;
    if (need <= buf->room) return true;
    size_t room = buf->room ? buf->room : FIRST_ROOM;
    while (room < need)
        room *= 2;
    char *data = fb_realloc(buf->data, room);
    if (!data) {
        buf->failed = FB_R_M001;
        return false;
    }
    buf->data = data;
    buf->room = room;
    return true;
}

void fb_buf_add(fb_buf *buf, const void *data, size_t size)
{
    if (!grow(buf, size)) return;
    if (size) memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void fb_buf_add_text(fb_buf *buf, const char *text) { fb_buf_add(buf, text, strlen(text)); }

void fb_buf_add_char(fb_buf *buf, char c) { fb_buf_add(buf, &c, 1); }

void fb_buf_printf(fb_buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int size = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (size < 0 || !grow(buf, (size_t)size)) return;
    va_start(args, fmt);
    vsnprintf(buf->data + buf->size, (size_t)size + 1, fmt, args);
    va_end(args);
    buf->size += (size_t)size;
}

void fb_buf_add_json(fb_buf *buf, const char *text, size_t size)
{
    fb_buf_add_char(buf, '"');
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        size_t        length = fb_utf8_length(text + i, size - i);
        if (length == 0) {
            fb_buf_add_text(buf, "\\ufffd");
            i++;
            continue;
        }
        if (c == '"' || c == '\\') {
            fb_buf_add_char(buf, '\\');
            fb_buf_add_char(buf, (char)c);
        } else if (c < 0x20 || c == 0x7f) {
            fb_buf_printf(buf, "\\u%04x", c);
        } else if (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0) { // U+0080 to U+009F
            fb_buf_printf(buf, "\\u%04x", (unsigned char)text[i + 1]);
        } else {
            fb_buf_add(buf, text + i, length);
        }
        i += length;
    }
    fb_buf_add_char(buf, '"');
}

void fb_buf_add_json_text(fb_buf *buf, const char *text)
{
    if (text)
        fb_buf_add_json(buf, text, strlen(text));
    else
        fb_buf_add_text(buf, "null");
}

fb_code fb_buf_check(const fb_buf *buf, const char *what, fb_error *err)
{
    if (buf->failed == FB_R_NONE) return FB_OK;
    if (buf->failed == FB_R_M001) return fb_fail_memory(err, what);
    return fb_fail(err, M002, "%s is larger than %zu bytes", what, buf->max);
}
