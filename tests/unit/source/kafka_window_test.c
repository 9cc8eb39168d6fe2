/* kafka_window_test.c - bounded reads of a topic on a mock cluster. */
#include "base/time.h"
#include "source/kafka_cursor.h"
#include "tests/unit/source/mock.h"

#include <pthread.h>

/* --- the cursor of a partition ---------------------------------------------------- */

TEST(a_cursor_counts_records_and_gaps_up_to_its_end)
{
    fb_cursor c = fb_cursor_at(3, 100, 110);
    CHECK(fb_cursor_take(&c, 100));
    CHECK(fb_cursor_take(&c, 103)); // 101 and 102 are not there any more
    CHECK(!fb_cursor_is_done(&c));
    CHECK(fb_cursor_take(&c, 109));
    CHECK(fb_cursor_is_done(&c));
    CHECK(c.book.delivered == 3 && c.book.gaps == 7 && c.book.next == 110);
}

TEST(a_record_below_the_cursor_is_dropped)
{
    fb_cursor c = fb_cursor_at(0, 100, 110);
    CHECK(!fb_cursor_take(&c, 99));
    CHECK(fb_cursor_take(&c, 105));
    CHECK(!fb_cursor_take(&c, 105));
    CHECK(!fb_cursor_take(&c, 101));
    CHECK(c.book.delivered == 1 && c.book.gaps == 5 && c.book.next == 106);
}

TEST(a_record_past_the_end_closes_the_partition_and_is_dropped)
{
    fb_cursor c = fb_cursor_at(0, 100, 110);
    CHECK(fb_cursor_take(&c, 104));
    CHECK(!fb_cursor_take(&c, 110));
    CHECK(fb_cursor_is_done(&c));
    CHECK(c.book.delivered == 1 && c.book.gaps == 9 && c.book.next == 110);
    CHECK(!fb_cursor_take(&c, 104) && !fb_cursor_take(&c, 111));
    CHECK(c.book.delivered == 1 && c.book.gaps == 9);
}

TEST(the_brokers_word_closes_a_partition_only_at_its_end)
{
    fb_cursor c = fb_cursor_at(0, 0, 5);
    fb_cursor_reach(&c, 3); // it may still grow up to our end
    CHECK(!fb_cursor_is_done(&c) && c.book.gaps == 0);
    CHECK(fb_cursor_take(&c, 2));
    fb_cursor_reach(&c, 5);
    CHECK(fb_cursor_is_done(&c));
    CHECK(c.book.delivered == 1 && c.book.gaps == 4 && c.book.next == 5);
    fb_cursor_reach(&c, 9);
    CHECK(c.book.gaps == 4);
}

TEST(an_empty_range_is_done_before_it_begins)
{
    fb_cursor c = fb_cursor_at(0, 7, 7);
    CHECK(fb_cursor_is_done(&c));
    CHECK(!fb_cursor_take(&c, 7));
    CHECK(c.book.next == 7 && c.book.gaps == 0);
}

/* --- how windows close ------------------------------------------------------------ */

TEST(a_window_ends_exactly_at_its_ends)
{
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 0, 300}, {1, 10, 200}, {2, 5, 5}};
    mock_open(&m, 1, 3);
    for (int32_t p = 0; p < 3; p++) mock_fill(&m, p, 300);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 3);
    int64_t                 before = fb_mono_ms();
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK(fb_mono_ms() - before < 2000); // and does not wait for silence
    CHECK_INT(d.records, 300 + 190);
    CHECK_INT(d.books.list[0].next, 300);
    CHECK_INT(d.books.list[1].next, 200);
    CHECK_INT(d.books.list[2].next, 5);
    CHECK_INT(fb_books_total(&d.books).gaps, 0);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(a_window_over_an_empty_topic_ends_at_once)
{
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 0, 0}, {1, 0, 0}};
    mock_open(&m, 1, 2);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 2);
    int64_t                 before = fb_mono_ms();
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK(fb_mono_ms() - before < 500);
    CHECK_INT(d.records, 0);
    CHECK_INT(d.books.count, 2);
    fb_books_clear(&d.books);
    options.count = 0;
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(max_messages_cuts_exactly_over_several_partitions)
{
    static const int64_t limits[] = {1, 99, 100, 101, 299};
    mock                 m;
    drained              d;
    fb_kafka_range       ranges[] = {{0, 0, 100}, {1, 0, 100}, {2, 0, 100}};
    mock_open(&m, 1, 3);
    for (int32_t p = 0; p < 3; p++) mock_fill(&m, p, 100);
    REQUIRE(mock_connect(&m));
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fb_kafka_window_options options = mock_options(ranges, 3);
        options.max_messages = limits[i];
        mock_reads(&m, &options, FB_WINDOW_MAX_MESSAGES, &d);
        CHECK_INT(d.records, limits[i]);
        CHECK_INT(fb_books_total(&d.books).next, limits[i]);
        fb_books_clear(&d.books);
    }
    mock_close(&m);
}

TEST(max_messages_that_is_not_reached_does_not_hold_up_the_end)
{
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 0, 50}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 50);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    options.max_messages = 51;
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK_INT(d.records, 50);
    fb_books_clear(&d.books);
    options.max_messages = 50; // both at once: the end is named, as all is read
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK_INT(d.records, 50);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(silence_closes_a_window_before_its_end)
{
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 0, 100}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 40);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    options.max_wait_ms = 400;
    int64_t before = fb_mono_ms();
    mock_reads(&m, &options, FB_WINDOW_MAX_WAIT, &d);
    CHECK(fb_mono_ms() - before >= 400 && fb_mono_ms() - before < 1500);
    CHECK_INT(d.records, 40);
    CHECK_INT(d.books.list[0].next, 40);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(a_long_silence_that_is_allowed_is_not_cut_by_the_timeout_for_brokers)
{
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 0, 2}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 1);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    options.timeout_ms = 100;
    options.max_wait_ms = 500;
    int64_t before = fb_mono_ms();
    mock_reads(&m, &options, FB_WINDOW_MAX_WAIT, &d);
    CHECK(fb_mono_ms() - before >= 500);
    CHECK_INT(d.records, 1);
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(a_stop_closes_a_window_and_what_was_taken_counts)
{
    mock             m;
    atomic_bool      stop = false;
    static fb_slice  slice;
    fb_kafka_range   ranges[] = {{0, 0, 10000}};
    fb_kafka_window *window;
    fb_books         books = {0};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 3000);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    options.stop = &stop;
    CHECK_CODE(fb_kafka_window_open(m.kafka, &options, &window, &m.err), FB_OK, &m.err);
    fb_source source = fb_kafka_window_source(window);
    CHECK_CODE(source.take(source.self, &slice, &m.err), FB_OK, &m.err);
    int64_t taken = (int64_t)slice.count;
    CHECK(taken > 0);
    source.release(source.self, &slice);
    atomic_store(&stop, true);
    int64_t before = fb_mono_ms();
    while (source.take(source.self, &slice, &m.err) == FB_OK && slice.count > 0) {
        taken += (int64_t)slice.count;
        source.release(source.self, &slice);
    }
    CHECK(fb_mono_ms() - before < 500);
    CHECK_TEXT(fb_window_end_name(fb_kafka_window_why(window)), "stop");
    CHECK_CODE(fb_kafka_window_books(window, &books, &m.err), FB_OK, &m.err);
    CHECK_INT(books.list[0].delivered, taken);
    CHECK_INT(books.list[0].next, taken);
    fb_books_clear(&books);
    fb_kafka_window_close(window);
    mock_close(&m);
}

TEST(brokers_that_are_away_close_a_window_after_the_timeout)
{
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 0, 100}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 10);
    REQUIRE(mock_connect(&m));
    CHECK(rd_kafka_mock_broker_set_down(m.cluster, 1) == RD_KAFKA_RESP_ERR_NO_ERROR);
    fb_kafka_window_options options = mock_options(ranges, 1);
    options.max_wait_ms = 300;
    options.timeout_ms = 600;
    int64_t before = fb_mono_ms();
    mock_reads(&m, &options, FB_WINDOW_TIMEOUT, &d);
    CHECK(fb_mono_ms() - before >= 600);
    CHECK_INT(d.records, 0);
    fb_books_clear(&d.books);
    rd_kafka_mock_broker_set_up(m.cluster, 1);
    mock_close(&m);
}

static void *restart_broker(void *context)
{
    mock *m = context;
    fb_sleep_ms(600);
    rd_kafka_mock_broker_set_up(m->cluster, 1);
    return NULL;
}

TEST(a_broker_that_comes_back_in_time_is_read_to_the_end)
{
    mock           m;
    drained        d;
    pthread_t      other;
    fb_kafka_range ranges[] = {{0, 0, 10}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 10);
    REQUIRE(mock_connect(&m));
    rd_kafka_mock_broker_set_down(m.cluster, 1);
    CHECK(pthread_create(&other, NULL, restart_broker, &m) == 0);
    fb_kafka_window_options options = mock_options(ranges, 1);
    options.max_wait_ms = 300; // shorter than the broker is away
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK_INT(d.records, 10);
    fb_books_clear(&d.books);
    pthread_join(other, NULL);
    mock_close(&m);
}

/* --- errors of the brokers -------------------------------------------------------- */

/* A window is read to its end although the broker answers with each error first. */
static void waits_out(const rd_kafka_resp_err_t *errors, int count)
{
    mock           m;
    drained        d;
    size_t         left = 9;
    fb_kafka_range ranges[] = {{0, 0, 10}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 10);
    REQUIRE(mock_connect(&m));
    for (int i = 0; i < count; i++)
        rd_kafka_mock_broker_push_request_error_rtts(m.cluster, 1, API_FETCH, 1,
                                                     errors[i], 0);
    fb_kafka_window_options options = mock_options(ranges, 1);
    mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
    CHECK_INT(d.records, 10);
    rd_kafka_mock_broker_error_stack_cnt(m.cluster, 1, API_FETCH, &left);
    CHECK_INT(left, 0); // all of them were met
    fb_books_clear(&d.books);
    mock_close(&m);
}

TEST(leaders_that_are_not_where_they_were_are_waited_for)
{
    static const rd_kafka_resp_err_t errors[] = {
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
        RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE};
    waits_out(errors, 4);
}

TEST(brokers_that_are_busy_or_starting_are_waited_for)
{
    static const rd_kafka_resp_err_t errors[] = {
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
        RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
        RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE};
    waits_out(errors, 4);
}

TEST(errors_that_stay_end_a_window_and_name_partition_and_offset)
{
    static const struct {
        rd_kafka_resp_err_t said;
        fb_code             code;
        const char         *reason, *words;
    } cases[] = {{RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, FB_EAUTH, "FB-K005",
                  "read the topic"},
                 {RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, FB_EGAP, "FB-O001",
                  "offset 3 of orders[0]"},
                 {RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, FB_EUNREACHABLE, "FB-K008",
                  "orders[0] cannot be read from offset 3"}};
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 3, 10}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 10);
    REQUIRE(mock_connect(&m));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int n = 0; n < 5; n++)
            rd_kafka_mock_push_request_errors(m.cluster, API_FETCH, 1, cases[i].said);
        fb_kafka_window_options options = mock_options(ranges, 1);
        mock_drain(&m, &options, &d);
        check_int(CHECK_SITE(cases[i].reason), d.code, cases[i].code);
        CHECK_TEXT(fb_reason_name(d.err.reason), cases[i].reason);
        CHECK_HAS(d.err.what, cases[i].words);
        CHECK_TEXT(fb_window_end_name(d.why), "failure");
        fb_books_clear(&d.books);
        rd_kafka_mock_clear_request_errors(m.cluster, API_FETCH);
    }
    mock_close(&m);
}

TEST(trouble_without_an_answer_does_not_keep_a_window_open)
{
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 0, 10}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 10);
    REQUIRE(mock_connect(&m));
    for (int n = 0; n < 200; n++) // one kind after the other, so that each is told again
        rd_kafka_mock_push_request_errors(m.cluster, API_FETCH, 2,
                                          RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
                                          RD_KAFKA_RESP_ERR_INVALID_REQUEST);
    fb_kafka_window_options options = mock_options(ranges, 1);
    options.max_wait_ms = 500;
    int64_t before = fb_mono_ms();
    mock_reads(&m, &options, FB_WINDOW_MAX_WAIT, &d);
    CHECK(fb_mono_ms() - before < 1000);
    CHECK_INT(d.records, 0);
    fb_books_clear(&d.books);
    rd_kafka_mock_clear_request_errors(m.cluster, API_FETCH);
    mock_close(&m);
}

TEST(a_failure_of_one_partition_is_given_to_every_worker)
{
    mock             m;
    static fb_slice  slice;
    fb_error         err;
    fb_kafka_window *window;
    fb_kafka_range   ranges[] = {{0, 50, 100}};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 10);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 1);
    CHECK_CODE(fb_kafka_window_open(m.kafka, &options, &window, &m.err), FB_OK, &m.err);
    fb_source source = fb_kafka_window_source(window);
    for (int i = 0; i < 3; i++) {
        CHECK(source.take(source.self, &slice, &err) == FB_EGAP);
        CHECK_TEXT(fb_reason_name(err.reason), "FB-O001");
        CHECK_INT(slice.count, 0);
    }
    fb_kafka_window_close(window);
    mock_close(&m);
}

TEST(leaders_that_move_while_we_read_cost_no_record_and_repeat_none)
{
    mock           m;
    drained        d;
    fb_kafka_range ranges[] = {{0, 0, 2000}, {1, 0, 2000}};
    mock_open(&m, 3, 2);
    mock_fill(&m, 0, 2000);
    mock_fill(&m, 1, 2000);
    REQUIRE(mock_connect(&m));
    for (int i = 0; i < 3; i++)
        rd_kafka_mock_push_request_errors(m.cluster, API_FETCH, 1,
                                          RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
    for (int32_t broker = 2; broker <= 3; broker++) {
        rd_kafka_mock_partition_set_leader(m.cluster, "orders", 0, broker);
        fb_kafka_window_options options = mock_options(ranges, 2);
        mock_reads(&m, &options, FB_WINDOW_AT_END, &d);
        CHECK_INT(d.records, 4000);
        CHECK_INT(fb_books_total(&d.books).gaps, 0);
        fb_books_clear(&d.books);
    }
    mock_close(&m);
}

/* A request to the client that is under way when it is destroyed must not hold it up: a
 * window is closed right after one of its partitions has ended. */
TEST(a_window_closes_at_once_behind_the_end_of_a_partition)
{
    mock           m;
    fb_kafka_range ranges[] = {{0, 0, 20}, {1, 0, 1000}};
    mock_open(&m, 1, 2);
    mock_fill(&m, 0, 20);
    mock_fill(&m, 1, 10);
    REQUIRE(mock_connect(&m));
    fb_kafka_window_options options = mock_options(ranges, 2);
    for (int i = 0; i < 10; i++) {
        static fb_slice  slice;
        fb_kafka_window *window;
        int64_t          taken = 0;
        CHECK_CODE(fb_kafka_window_open(m.kafka, &options, &window, &m.err), FB_OK, &m.err);
        fb_source source = fb_kafka_window_source(window);
        while (taken < 20) {
            REQUIRE(source.take(source.self, &slice, &m.err) == FB_OK && slice.count > 0);
            for (size_t j = 0; j < slice.count; j++)
                taken += slice.records[j].partition == 0;
            source.release(source.self, &slice);
        }
        fb_kafka_window_close(window);
    }
    mock_close(&m);
}
