/** mock.h - a Kafka cluster inside the test (librdkafka's mock), and a topic on it. */
#ifndef FB_TESTS_MOCK_H
#define FB_TESTS_MOCK_H

#include "base/error.h"
#include "source/kafka.h"
#include "tests/check.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the requests whose answers can be made errors. */
enum { API_PRODUCE = 0, API_FETCH = 1, API_LIST_OFFSETS = 2 };

typedef struct mock {
    rd_kafka_t              *producer; ///< the cluster lives in it
    rd_kafka_mock_cluster_t *cluster;
    fb_kafka_source          source; ///< to be opened with fb_kafka_open()
    fb_kafka                *kafka;  ///< opened by mock_connect()
    fb_error                 err;
} mock;

static inline void mock_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char said[200] = "";
    if (rd_kafka_conf_set(conf, name, value, said, sizeof said) != RD_KAFKA_CONF_OK)
        check_failed(CHECK_SITE(name), "%s", said);
}

/* A cluster of `brokers`, and on it the topic "orders" of so many partitions. */
static inline void mock_open(mock *m, int brokers, int partitions)
{
    char             text[16], said[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    memset(m, 0, sizeof *m);
    snprintf(text, sizeof text, "%d", brokers);
    mock_set(conf, "test.mock.num.brokers", text);
    mock_set(conf, "linger.ms", "0");
    mock_set(conf, "log_level", "0");
    mock_set(conf, "batch.num.messages", "10000");
    mock_set(conf, "queue.buffering.max.messages", "1000000");
    m->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, said, sizeof said);
    if (!m->producer) check_failed(CHECK_SITE("the mock cluster"), "%s", said);
    m->cluster = rd_kafka_handle_mock_cluster(m->producer);
    rd_kafka_mock_set_controller_id(m->cluster, 1);
    CHECK(rd_kafka_mock_topic_create(m->cluster, "orders", partitions, 1) ==
          RD_KAFKA_RESP_ERR_NO_ERROR);
    m->source.topic = "orders";
    m->source.own.bootstrap_servers = rd_kafka_mock_cluster_bootstraps(m->cluster);
    m->source.own.security_protocol = m->source.own.sasl_mechanism = FB_UNSET;
    m->source.use = &m->source.own;
}

static inline bool mock_connect(mock *m)
{
    fb_code code = fb_kafka_open(&m->source, "test", 5000, &m->kafka, &m->err);
    CHECK_CODE(code, FB_OK, &m->err);
    return code == FB_OK;
}

static inline void mock_close(mock *m)
{
    fb_kafka_close(m->kafka);
    rd_kafka_flush(m->producer, 5000);
    rd_kafka_destroy(m->producer);
}

/* A record to be produced; any of key, value and headers may be NULL. */
typedef struct sent {
    int32_t             partition;
    const char         *key, *value;
    size_t              key_size, value_size;
    int64_t             timestamp_ms; ///< 0: now
    rd_kafka_headers_t *headers;      ///< the producer's from here on
} sent;

/* Hand one record to the producer. */
static inline void mock_send(mock *m, sent r)
{
    rd_kafka_vu_t what[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = "orders"},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = r.partition},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)(uintptr_t)r.key, r.key_size}},
        {.vtype = RD_KAFKA_VTYPE_VALUE,
         .u.mem = {(void *)(uintptr_t)r.value, r.value_size}},
        {.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = r.timestamp_ms},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = r.headers}};
    size_t            count = sizeof what / sizeof *what - (r.headers ? 0 : 1);
    rd_kafka_error_t *refused;
    while ((refused = rd_kafka_produceva(m->producer, what, count))) {
        bool is_full = rd_kafka_error_code(refused) == RD_KAFKA_RESP_ERR__QUEUE_FULL;
        if (!is_full)
            check_failed(CHECK_SITE("produce"), "%s", rd_kafka_error_string(refused));
        rd_kafka_error_destroy(refused);
        if (!is_full) return;
        rd_kafka_poll(m->producer, 10);
    }
}

static inline void mock_flush(mock *m)
{
    CHECK(rd_kafka_flush(m->producer, 10000) == RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* Put the records {"n":0} to {"n":count-1} into a partition, and see them kept. */
static inline void mock_fill(mock *m, int32_t partition, int count)
{
    char value[40];
    for (int i = 0; i < count; i++) {
        int size = snprintf(value, sizeof value, "{\"n\":%d}", i);
        mock_send(
            m,
            (sent){.partition = partition, .value = value, .value_size = (size_t)size});
    }
    mock_flush(m);
}

/* --- windows ---------------------------------------------------------------------- */

/* A window as the tests mostly want it: it ends soon when nothing comes. */
static inline fb_kafka_window_options mock_options(const fb_kafka_range *ranges,
                                                   size_t                count)
{
    return (fb_kafka_window_options){.ranges = ranges,
                                     .count = count,
                                     .max_wait_ms = 2000,
                                     .timeout_ms = 5000,
                                     .queue_bytes = 16 << 20};
}

/* What came out of a window. */
typedef struct drained {
    fb_code       code;
    fb_error      err;
    fb_window_end why;
    int64_t       records;
    bool          in_order; ///< of each partition, without a repeat
    fb_books      books;
} drained;

enum { MOCK_PARTITIONS = 16 };

/* Take all there is, by this one thread, and close. `books` is to be cleared. */
static inline void mock_drain(mock *m, const fb_kafka_window_options *options,
                              drained *out)
{
    static fb_slice  slice;
    fb_kafka_window *window = NULL;
    int64_t          last[MOCK_PARTITIONS];
    memset(out, 0, sizeof *out);
    out->in_order = true;
    for (int i = 0; i < MOCK_PARTITIONS; i++) last[i] = -1;
    out->code = fb_kafka_window_open(m->kafka, options, &window, &out->err);
    CHECK_CODE(out->code, FB_OK, &out->err);
    if (out->code != FB_OK) return;
    fb_source source = fb_kafka_window_source(window);
    while ((out->code = source.take(source.self, &slice, &out->err)) == FB_OK &&
           slice.count > 0) {
        out->records += (int64_t)slice.count;
        for (size_t i = 0; i < slice.count; i++) {
            const fb_record *r = &slice.records[i];
            if (r->offset <= last[r->partition]) out->in_order = false;
            last[r->partition] = r->offset;
        }
        source.release(source.self, &slice);
    }
    out->why = fb_kafka_window_why(window);
    CHECK_CODE(fb_kafka_window_books(window, &out->books, &out->err), FB_OK, &out->err);
    CHECK_INT(fb_kafka_window_delivered(window), fb_books_total(&out->books).delivered);
    fb_kafka_window_close(window);
}

/* As mock_drain(), where all goes well; the window closed for the reason `why`. */
static inline void mock_reads(mock *m, const fb_kafka_window_options *options,
                              fb_window_end why, drained *out)
{
    mock_drain(m, options, out);
    CHECK_CODE(out->code, FB_OK, &out->err);
    CHECK_TEXT(fb_window_end_name(out->why), fb_window_end_name(why));
    CHECK(out->in_order);
    for (size_t i = 0; i < out->books.count; i++) {
        fb_book *b = &out->books.list[i];
        b->written = b->delivered; // that part of the books is not the source's
    }
    CHECK_CODE(fb_books_check(&out->books, "orders", &out->err), FB_OK, &out->err);
}

#endif
