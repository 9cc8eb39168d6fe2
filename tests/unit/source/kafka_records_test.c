/* kafka_records_test.c - what records hold when they come out of a window, holes between
 * them, and many workers at once. */
#include "base/time.h"
#include "tests/unit/source/batch.h"

#include <pthread.h>

/* --- holes ------------------------------------------------------------------------ */

TEST(l50_the_holes_of_a_compacted_topic_are_gaps_and_no_alarm)
{
    static const int left[] = {0, 3, 4, 9, 10};
    mock             m;
    drained          d;
    fb_kafka_range   ranges[] = {{0, 0, 11}};
    mock_open(&m, 1, 1);
    mock_append(&m, 0, &(batch){.deltas = left, .count = 5, .last_delta = 10});
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    int64_t                 before = fb_mono_ms();
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK(fb_mono_ms() - before < 1000);
    CHECK_INT(d.records, 5);
    CHECK_INT(d.books.list[0].next, 11);
    CHECK_INT(d.books.list[0].gaps, 6);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(a_window_begins_in_a_hole_and_ends_in_one)
{
    static const int left[] = {0, 3, 4, 9, 10};
    mock             m;
    drained          d;
    fb_kafka_range   ranges[] = {{0, 1, 8}};
    mock_open(&m, 1, 1);
    mock_append(&m, 0, &(batch){.deltas = left, .count = 5, .last_delta = 10});
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK_INT(d.records, 2);
    CHECK_INT(d.books.list[0].next, 8);
    CHECK_INT(d.books.list[0].gaps, 5);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(l51_markers_at_the_end_of_a_topic_do_not_hold_up_a_window)
{
    static const int three[] = {0, 1, 2}, marker[] = {0};
    mock             m;
    drained          d;
    fb_kafka_range   ranges[] = {{0, 0, 4}};
    mock_open(&m, 1, 1);
    mock_append(&m, 0, &(batch){.deltas = three, .count = 3, .last_delta = 2});
    mock_append(&m, 0, &(batch){.deltas = marker, .count = 1, .is_control = true});
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    int64_t                 before = fb_mono_ms();
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK(fb_mono_ms() - before < 1000);
    CHECK_INT(d.records, 3);
    CHECK_INT(d.books.list[0].next, 4);
    CHECK_INT(d.books.list[0].gaps, 1);
    fb_books_clear(&d.books);
    mock_append(&m, 0, &(batch){.deltas = three, .count = 3, .last_delta = 2});
    ranges[0].end = 7; // and a marker in the middle is a gap as well
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK_INT(d.records, 6);
    CHECK_INT(d.books.list[0].gaps, 1);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(a_batch_whose_checksum_is_wrong_ends_the_window)
{
    static const int three[] = {0, 1, 2};
    mock             m;
    drained          d;
    fb_kafka_range   ranges[] = {{0, 0, 6}};
    mock_open(&m, 1, 1);
    mock_append(&m, 0, &(batch){.deltas = three, .count = 3, .last_delta = 2});
    mock_append(
        &m, 0,
        &(batch){.deltas = three, .count = 3, .last_delta = 2, .is_damaged = true});
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    mock_drain(&m, &options, &d);
    CHECK(d.code == FB_EDATA);
    CHECK_TEXT(fb_reason_name(d.err.reason), "FB-K007");
    CHECK_HAS(d.err.what, "orders[0] cannot be read from offset 3");
    fb_books_clear(&d.books);
    ranges[0].end = 3; // what lies behind the end is not our concern
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK_INT(d.records, 3);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(records_that_come_together_with_a_failure_are_given_back)
{
    static const int three[] = {0, 1, 2};
    mock             m;
    drained          d;
    fb_kafka_range   ranges[] = {{0, 0, 500}, {1, 0, 6}};
    mock_open(&m, 1, 2);
    mock_fill(&m, 0, 500);
    mock_append(
        &m, 1,
        &(batch){.deltas = three, .count = 3, .last_delta = 2, .is_damaged = true});
    REQUIRE(mock_connect(&m));
    fb_kafka_window        *window;
    fb_kafka_window_options options = mock_options(ranges, 2);
    static fb_slice         slice;
    CHECK_CODE(fb_kafka_window_open(m.kafka, &options, &window, &m.err), FB_OK, &m.err);
    fb_sleep_ms(200); // until both wait in the queue
    fb_source source = fb_kafka_window_source(window);
    while (source.take(source.self, &slice, &d.err) == FB_OK && slice.count > 0)
        source.release(source.self, &slice);
    CHECK_TEXT(fb_reason_name(d.err.reason), "FB-K007");
    CHECK_INT(slice.count, 0);
    fb_kafka_window_close(window);
    mock_close(&m);
}

/* --- what a record holds ---------------------------------------------------------- */

/* A window over partition 0 whose records are looked at one by one. */
typedef struct looked {
    fb_kafka_window *window;
    fb_source        source;
    fb_slice         slices[8];
    size_t           slices_count;
    fb_record        records[8]; ///< borrowed from the slices
} looked;

static bool look(mock *m, int64_t count, looked *out)
{
    fb_kafka_range          range = {0, 0, count};
    fb_kafka_window_options options = mock_options(&range, 1);
    int64_t                 found = 0;
    if (!mock_connect(m)) return false;
    fb_code code = fb_kafka_window_open(m->kafka, &options, &out->window, &m->err);
    CHECK_CODE(code, FB_OK, &m->err);
    if (code != FB_OK) return false;
    out->source = fb_kafka_window_source(out->window);
    while (found < count && out->slices_count < 8) {
        fb_slice *slice = &out->slices[out->slices_count++];
        CHECK_CODE(out->source.take(out->source.self, slice, &m->err), FB_OK, &m->err);
        for (size_t i = 0; i < slice->count && found < count; i++)
            out->records[found++] = slice->records[i];
    }
    CHECK_INT(found, count);
    return found == count;
}

static void look_away(mock *m, looked *l)
{
    for (size_t i = 0; i < l->slices_count; i++) {
        l->source.release(l->source.self, &l->slices[i]);
        CHECK_INT(l->slices[i].count, 0);
    }
    fb_kafka_window_close(l->window);
    mock_close(m);
}

TEST(no_key_an_empty_key_and_the_word_null_are_three_keys)
{
    static looked l;
    mock          m;
    mock_open(&m, 1, 1);
    mock_send(&m, (sent){.value = "v", .value_size = 1});
    mock_send(&m, (sent){.key = "", .value = "v", .value_size = 1});
    mock_send(&m, (sent){.key = "null", .key_size = 4, .value = "v", .value_size = 1});
    mock_send(&m, (sent){.key = "\xff\0k", .key_size = 3, .value = "v", .value_size = 1});
    mock_flush(&m);
    REQUIRE(look(&m, 4, &l));
    const fb_record *r = l.records;
    CHECK(r[0].key == NULL);
    CHECK(r[1].key != NULL && r[1].key_size == 0);
    CHECK_BYTES(r[2].key, r[2].key_size, "null", 4);
    CHECK_BYTES(r[3].key, r[3].key_size, "\xff\0k", 3);
    look_away(&m, &l);
}

TEST(a_tombstone_is_not_an_empty_value)
{
    static looked l;
    mock          m;
    mock_open(&m, 1, 1);
    mock_send(&m, (sent){.key = "k", .key_size = 1});
    mock_send(&m, (sent){.key = "k", .key_size = 1, .value = ""});
    mock_send(&m, (sent){.partition = 0});
    mock_send(&m, (sent){.value = "a\0b", .value_size = 3});
    mock_flush(&m);
    REQUIRE(look(&m, 4, &l));
    const fb_record *r = l.records;
    CHECK(r[0].value == NULL);
    CHECK(r[1].value != NULL && r[1].value_size == 0);
    CHECK(r[2].value == NULL && r[2].key == NULL);
    CHECK_BYTES(r[3].value, r[3].value_size, "a\0b", 3);
    for (int i = 0; i < 4; i++) CHECK(r[i].offset == i && r[i].partition == 0);
    look_away(&m, &l);
}

TEST(a_record_without_a_time_has_none_and_others_keep_theirs)
{
    static looked l;
    mock          m;
    mock_open(&m, 1, 1);
    mock_send(&m, (sent){.value = "v", .value_size = 1, .timestamp_ms = -1});
    mock_send(&m, (sent){.value = "v", .value_size = 1, .timestamp_ms = 1700000000123});
    mock_send(&m, (sent){.value = "v",
                         .value_size = 1, // microseconds, by mistake
                         .timestamp_ms = 1782371700000000});
    mock_flush(&m);
    REQUIRE(look(&m, 3, &l));
    const fb_record *r = l.records;
    CHECK_INT(r[0].timestamp_type, FB_TIMESTAMP_NONE);
    CHECK_INT(r[1].timestamp_type, FB_TIMESTAMP_CREATE);
    CHECK_INT(r[1].timestamp_ms, 1700000000123);
    CHECK_INT(r[2].timestamp_ms, 1782371700000000);
    look_away(&m, &l);
}

static void has_header(looked *l, size_t index, const char *name, const char *value,
                       size_t size)
{
    fb_header h;
    REQUIRE(l->source.header(l->source.self, &l->records[0], index, &h));
    CHECK_TEXT(h.name, name);
    CHECK((h.value == NULL) == (value == NULL));
    if (value) CHECK_BYTES(h.value, h.size, value, size);
}

TEST(l65_headers_keep_their_order_their_repeats_and_their_nulls)
{
    static looked       l;
    mock                m;
    fb_header           h;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(8);
    rd_kafka_header_add(headers, "t", -1, "1", 1);
    rd_kafka_header_add(headers, "t", -1, "2", 1);
    rd_kafka_header_add(headers, "n", -1, NULL, 0);
    rd_kafka_header_add(headers, "e", -1, "", 0);
    rd_kafka_header_add(headers, "bin", -1, "\xff\0", 2);
    rd_kafka_header_add(headers, "", -1, "x", 1);
    mock_open(&m, 1, 1);
    mock_send(&m, (sent){.value = "v", .value_size = 1, .headers = headers});
    mock_send(&m, (sent){.value = "v", .value_size = 1});
    mock_flush(&m);
    REQUIRE(look(&m, 2, &l));
    has_header(&l, 0, "t", "1", 1);
    has_header(&l, 1, "t", "2", 1);
    has_header(&l, 2, "n", NULL, 0);
    has_header(&l, 3, "e", "", 0);
    has_header(&l, 4, "bin", "\xff\0", 2);
    has_header(&l, 5, "", "x", 1);
    CHECK(!l.source.header(l.source.self, &l.records[0], 6, &h));
    CHECK(!l.source.header(l.source.self, &l.records[1], 0, &h));
    has_header(&l, 0, "t", "1", 1); // asked again
    look_away(&m, &l);
}

/* --- many workers ----------------------------------------------------------------- */

typedef struct crew {
    fb_source   source;
    atomic_long records;
    atomic_int  failed;
} crew;

static void *work(void *context)
{
    crew     *c = context;
    fb_error  err;
    fb_slice *slice = calloc(1, sizeof *slice);
    while (c->source.take(c->source.self, slice, &err) == FB_OK && slice->count > 0) {
        atomic_fetch_add(&c->records, (long)slice->count);
        c->source.release(c->source.self, slice);
    }
    free(slice);
    return NULL;
}

/* Read by `workers` at once. @return how many records came */
static int64_t read_by_many(mock *m, const fb_kafka_window_options *options, int workers,
                            fb_window_end why, fb_books *books)
{
    crew             c = {.records = 0};
    pthread_t        threads[8];
    fb_kafka_window *window;
    fb_error         err;
    fb_code          code = fb_kafka_window_open(m->kafka, options, &window, &err);
    CHECK_CODE(code, FB_OK, &err);
    if (code != FB_OK) return -1;
    c.source = fb_kafka_window_source(window);
    for (int i = 0; i < workers; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &c) == 0);
    for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
    CHECK_TEXT(fb_window_end_name(fb_kafka_window_why(window)), fb_window_end_name(why));
    CHECK_CODE(fb_kafka_window_books(window, books, &err), FB_OK, &err);
    fb_kafka_window_close(window);
    return c.records;
}

TEST(four_workers_stop_at_exactly_max_messages)
{
    static const int64_t limits[] = {1, 100, 2048, 5000, 5999};
    mock                 m;
    fb_books             books = {0};
    fb_kafka_range       ranges[] = {{0, 0, 2000}, {1, 0, 2000}, {2, 0, 2000}};
    mock_open(&m, 1, 3);
    for (int32_t p = 0; p < 3; p++) mock_fill(&m, p, 2000);
    REQUIRE(mock_connect(&m));
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fb_kafka_window_options options = mock_options(ranges, 3);
        options.max_messages = limits[i];
        CHECK_INT(read_by_many(&m, &options, 4, FB_WINDOW_MAX_MESSAGES, &books),
                  limits[i]);
        CHECK_INT(fb_books_total(&books).delivered, limits[i]);
        CHECK_INT(fb_books_total(&books).next, limits[i]);
    }
    fb_books_clear(&books);
    mock_close(&m);
}

TEST(two_lanes_and_three_workers_read_a_large_backlog_once)
{
    enum { EACH = 60000 };
    mock           m;
    fb_books       books = {0};
    fb_kafka_range ranges[] = {{0, 0, EACH}, {1, 0, EACH}, {2, 7, 7}};
    mock_open(&m, 1, 3);
    for (int32_t p = 0; p < 2; p++)
        for (int i = 0; i < EACH; i++)
            mock_send(&m, (sent){.partition = p, .value = "v", .value_size = 1});
    mock_flush(&m);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 3);
    CHECK_INT(read_by_many(&m, &options, 3, FB_WINDOW_AT_END, &books), 2 * EACH);
    CHECK_INT(books.list[0].delivered, EACH);
    CHECK_INT(books.list[1].delivered, EACH);
    CHECK_INT(books.list[2].next, 7);
    CHECK_INT(fb_books_total(&books).gaps, 0);
    fb_books_clear(&books);
    options.max_messages = 100001; // and the cut is exact over both lanes
    CHECK_INT(read_by_many(&m, &options, 3, FB_WINDOW_MAX_MESSAGES, &books), 100001);
    CHECK_INT(fb_books_total(&books).delivered, 100001);
    fb_books_clear(&books);
    mock_close(&m);
}
