/* books_test.c - the account of a window. */
#include "base/alloc.h"
#include "batch/books.h"
#include "tests/check.h"

static fb_book balanced(int32_t partition)
{
    return (fb_book){.partition = partition,
                     .first = 100,
                     .next = 110,
                     .delivered = 8,
                     .gaps = 2,
                     .written = 5,
                     .rejected = 2,
                     .filtered = 1};
}

static fb_code check(fb_book *list, size_t count, fb_error *err)
{
    fb_books books = {list, count};
    return fb_books_check(&books, "orders", err);
}

TEST(books_that_add_up_pass)
{
    fb_error err;
    fb_book  list[] = {balanced(0), balanced(3), {.partition = 7, .first = 5, .next = 5}};
    CHECK_CODE(check(list, 3, &err), FB_OK, &err);
    CHECK_CODE(check(list, 0, &err), FB_OK, &err);
}

TEST(books_that_do_not_add_up_name_their_partition_and_all_sums)
{
    fb_error err;
    fb_book  list[] = {balanced(0), balanced(3)};
    list[1].gaps = 1;
    CHECK(check(list, 2, &err) == FB_EBUG);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-Z002");
    CHECK_TEXT(err.what,
               "the books of orders[3] do not balance: offsets 100 to 110, delivered 8, "
               "gaps 1, written 5, rejected 2, filtered 1");
    list[1] = balanced(3);
    list[1].written--;
    CHECK(check(list, 2, &err) == FB_EBUG);
}

TEST(a_sum_that_is_right_only_by_a_negative_part_does_not_pass)
{
    fb_error err;
    fb_book  read_twice = {
         .first = 0, .next = 10, .delivered = 12, .gaps = -2, .written = 12};
    fb_book backwards = {.first = 10, .next = 8, .gaps = -2};
    fb_book written_twice = {
        .first = 0, .next = 10, .delivered = 10, .written = 11, .rejected = -1};
    fb_book below_zero = {.first = -5, .next = 0, .delivered = 5, .written = 5};
    CHECK(check(&read_twice, 1, &err) == FB_EBUG);
    CHECK(check(&backwards, 1, &err) == FB_EBUG);
    CHECK(check(&written_twice, 1, &err) == FB_EBUG);
    CHECK(check(&below_zero, 1, &err) == FB_EBUG);
}

TEST(a_partition_that_stands_twice_does_not_pass)
{
    fb_error err;
    fb_book  list[] = {balanced(1), balanced(1)}, mixed[] = {balanced(2), balanced(1)};
    CHECK(check(list, 2, &err) == FB_EBUG);
    CHECK(check(mixed, 2, &err) == FB_EBUG);
}

TEST(the_total_is_the_sum_of_all_partitions)
{
    fb_book  list[] = {balanced(0), balanced(1)};
    fb_books books = {list, 2};
    fb_book  total = fb_books_total(&books);
    CHECK_INT(total.partition, -1);
    CHECK_INT(total.first, 200);
    CHECK_INT(total.next, 220);
    CHECK_INT(total.delivered, 16);
    CHECK_INT(total.gaps, 4);
    CHECK_INT(total.written, 10);
    CHECK_INT(total.rejected, 4);
    CHECK_INT(total.filtered, 2);
}

TEST(books_are_written_as_json)
{
    fb_book  list[] = {balanced(0), {.partition = 1, .first = 7, .next = 7}};
    fb_books books = {list, 2}, none = {0};
    fb_buf   out;
    fb_buf_init(&out, 1000);
    fb_books_print_json(&books, &out);
    CHECK_TEXT(fb_buf_text(&out),
               "[{\"partition\":0,\"from\":100,\"to\":110,\"delivered\":8,\"gap\":2,"
               "\"written\":5,"
               "\"rejected\":2,\"filtered\":1},{\"partition\":1,\"from\":7,\"to\":7,"
               "\"delivered\":0,\"gap\":0,\"written\":0,\"rejected\":0,\"filtered\":0}]");
    fb_buf_reset(&out);
    fb_books_print_json(&none, &out);
    CHECK_TEXT(fb_buf_text(&out), "[]");
    fb_buf_clear(&out);
}

TEST(room_for_books_is_zeroed_and_replaces_what_was_there)
{
    fb_books books = {0};
    fb_error err;
    CHECK_CODE(fb_books_reserve(&books, 2, &err), FB_OK, &err);
    CHECK_INT(books.list[1].delivered, 0);
    CHECK_CODE(fb_books_reserve(&books, 0, &err), FB_OK, &err);
    CHECK_INT(books.count, 0);
    fb_alloc_fail_at(1);
    CHECK(fb_books_reserve(&books, 2, &err) == FB_EMEMORY);
    fb_alloc_fail_at(0);
    CHECK_INT(books.count, 0);
    fb_books_clear(&books);
    fb_books_clear(&books);
}
