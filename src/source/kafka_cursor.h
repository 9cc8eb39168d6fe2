/** kafka_cursor.h - how far one partition of a window has been read.
 *
 * What holds at every moment:
 *   1. next - first = delivered + gaps, and next <= end.
 *   2. A record below `next` (a stale fetch) is dropped; one above it leaves a gap of
 *      offsets for which the broker has no record.
 *   3. The partition is done when next = end; an end is reached by a record, by a record
 *      past it, or by the broker's word that the partition ends here (the last offsets may
 *      be markers that are never delivered).
 *
 * Threads: the owner guards it.
 */
#ifndef FB_SOURCE_KAFKA_CURSOR_H
#define FB_SOURCE_KAFKA_CURSOR_H

#include "batch/books.h"

typedef struct fb_cursor {
    fb_book book;
    int64_t end; ///< read [book.first, end)
} fb_cursor;

static inline fb_cursor fb_cursor_at(int32_t partition, int64_t first, int64_t end)
{
    return (fb_cursor){{.partition = partition, .first = first, .next = first}, end};
}

static inline bool fb_cursor_is_done(const fb_cursor *c)
{
    return c->book.next >= c->end;
}

/** The broker has nothing below `offset` that is still to come. */
static inline void fb_cursor_reach(fb_cursor *c, int64_t offset)
{
    if (offset < c->end || fb_cursor_is_done(c)) return;
    c->book.gaps += c->end - c->book.next;
    c->book.next = c->end;
}

/** A record came. @return whether it counts; else it is to be dropped */
static inline bool fb_cursor_take(fb_cursor *c, int64_t offset)
{
    fb_cursor_reach(c, offset);
    if (offset < c->book.next || fb_cursor_is_done(c)) return false;
    c->book.gaps += offset - c->book.next;
    c->book.next = offset + 1;
    c->book.delivered++;
    return true;
}

#endif
