/** books.h - the account of a window, one line per partition.
 *
 * A span is half open: [first, next), offsets as the broker counts them.  `next` is what
 * is kept after a commit and read first after a restart.  For every partition of a commit
 *
 *     next - first = delivered + gaps
 *     delivered    = written + rejected + filtered
 *
 * where gaps are offsets for which the broker has no record (compaction, transaction
 * markers, aborted records).  fb_books_check() holds both; nothing is committed unless it
 * passes.
 *
 * Threads: plain values; the owner guards them.
 */
#ifndef FB_BATCH_BOOKS_H
#define FB_BATCH_BOOKS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

typedef struct fb_book {
    int32_t partition;
    int64_t first; ///< where the read was asked to begin
    int64_t next;  ///< offset after the last one looked at; >= first
    int64_t delivered, gaps;
    int64_t written, rejected, filtered;
} fb_book;

typedef struct fb_books {
    fb_book *list; ///< owned; by partition, ascending, each at most once
    size_t   count;
} fb_books;

/** Room for `count` partitions, zeroed. @return FB_EMEMORY */
FB_MUST_CHECK fb_code fb_books_reserve(fb_books *books, size_t count, fb_error *err);
void                  fb_books_clear(fb_books *books); ///< may be called twice

/** The sum of all partitions; partition is -1, first and next are sums as well. */
fb_book fb_books_total(const fb_books *books);

/** @return FB_EBUG (Z002) naming the first partition whose sums do not add up, that has a
 *         part below zero, or that stands twice or out of order */
FB_MUST_CHECK fb_code fb_books_check(const fb_books *books, const char *topic, fb_error *err);

/** Write the partitions as a JSON array of objects. */
void fb_books_print_json(const fb_books *books, fb_buf *out);

#endif
