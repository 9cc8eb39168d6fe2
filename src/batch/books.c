/* books.c - see books.h. */
#include "batch/books.h"

#include "base/alloc.h"

#include <inttypes.h>

fb_code fb_books_reserve(fb_books *books, size_t count, fb_error *err)
{
    fb_books_clear(books);
    books->list = fb_alloc(count * sizeof *books->list);
    if (!books->list) return fb_fail_memory(err, "the books of a window");
    books->count = count;
    return FB_OK;
}

void fb_books_clear(fb_books *books)
{
    fb_free(books->list);
    *books = (fb_books){0};
}

fb_book fb_books_total(const fb_books *books)
{
    fb_book total = {.partition = -1};
    for (size_t i = 0; i < books->count; i++) {
        const fb_book *b = &books->list[i];
        total.first += b->first;
        total.next += b->next;
        total.delivered += b->delivered;
        total.gaps += b->gaps;
        total.written += b->written;
        total.rejected += b->rejected;
        total.filtered += b->filtered;
    }
    return total;
}

/* Both sums hold and no part of them is below zero, which would hide offsets read twice. */
static bool is_balanced(const fb_book *b)
{
    bool is_sane = b->first >= 0 && b->next >= b->first && b->delivered >= 0 && b->gaps >= 0 &&
                   b->written >= 0 && b->rejected >= 0 && b->filtered >= 0;
    return is_sane && b->next - b->first == b->delivered + b->gaps &&
           b->delivered == b->written + b->rejected + b->filtered;
}

fb_code fb_books_check(const fb_books *books, const char *topic, fb_error *err)
{
    for (size_t i = 0; i < books->count; i++) {
        const fb_book *b = &books->list[i];
        bool is_in_order = i == 0 || books->list[i - 1].partition < b->partition;
        if (is_balanced(b) && is_in_order) continue;
        fb_error_set(err, FB_R_Z002,
                     "the books of %s[%" PRId32 "] do not balance: offsets %" PRId64 " to %" PRId64
                     ", delivered %" PRId64 ", gaps %" PRId64 ", written %" PRId64
                     ", rejected %" PRId64 ", filtered %" PRId64,
                     topic, b->partition, b->first, b->next, b->delivered, b->gaps, b->written,
                     b->rejected, b->filtered);
        return FB_EBUG;
    }
    return FB_OK;
}

void fb_books_print_json(const fb_books *books, fb_buf *out)
{
    fb_buf_add_char(out, '[');
    for (size_t i = 0; i < books->count; i++) {
        const fb_book *b = &books->list[i];
        fb_buf_printf(out,
                      "%s{\"partition\":%" PRId32 ",\"from\":%" PRId64 ",\"to\":%" PRId64
                      ",\"delivered\":%" PRId64 ",\"gap\":%" PRId64 ",\"written\":%" PRId64
                      ",\"rejected\":%" PRId64 ",\"filtered\":%" PRId64 "}",
                      i ? "," : "", b->partition, b->first, b->next, b->delivered, b->gaps,
                      b->written, b->rejected, b->filtered);
    }
    fb_buf_add_char(out, ']');
}
