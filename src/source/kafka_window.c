/* kafka_window.c - one bounded read of a topic, taken from by many workers.
 *
 * Partitions are dealt to lanes, each a client of its own: a client serves a broker
 * connection with one thread, so a second lane brings the second core.  A lane is taken
 * from under its lock, which is what keeps each partition's records in order while they
 * are counted; decoding happens outside.
 *
 * Under a lane's lock its cursors hold what kafka_cursor.h says, and `open` is how many of
 * them are not done.  A record that a worker was given is in the books: when the window
 * fails, the books are void and nothing is committed.
 */
#include "source/kafka_client.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/time.h"
#include "source/kafka_cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LANES = 2, MANY_RECORDS = 100000, IDLE_MS = 20 };

typedef struct cursor {
    fb_cursor at;
    int       lane;
} cursor;

typedef struct lane {
    pthread_mutex_t   lock;
    rd_kafka_t       *client;
    rd_kafka_queue_t *queue;
    fb_kafka_trouble  trouble;
    size_t            open; ///< partitions that have not reached their end
} lane;

struct fb_kafka_window {
    fb_kafka            *kafka;
    cursor              *cursors; ///< ascending by partition
    size_t               count;
    lane                 lanes[MAX_LANES];
    size_t               lanes_count;
    int64_t              max_messages, max_wait_ms, timeout_ms;
    const atomic_bool   *stop;
    atomic_size_t        turn;       ///< deals workers to lanes
    atomic_size_t        open;       ///< partitions of all lanes
    atomic_int_least64_t delivered;  ///< records handed out
    atomic_int_least64_t reserved;   ///< of max_messages: handed out or about to be
    atomic_int_least64_t last_ms;    ///< when something last came
    atomic_int           why;        ///< fb_window_end
    pthread_mutex_t      error_lock;
    fb_error             error; ///< of FB_WINDOW_FAILED
};

static const char *const end_names[] = {
    [FB_WINDOW_OPEN] = "open",         [FB_WINDOW_AT_END] = "end",
    [FB_WINDOW_MAX_MESSAGES] = "max_messages", [FB_WINDOW_MAX_WAIT] = "max_wait",
    [FB_WINDOW_TIMEOUT] = "timeout",   [FB_WINDOW_STOPPED] = "stop",
    [FB_WINDOW_FAILED] = "failure",
};

const char *fb_window_end_name(fb_window_end end) { return end_names[end]; }

/* The first reason to close stands. */
static void shut(fb_kafka_window *w, fb_window_end why)
{
    int open = FB_WINDOW_OPEN;
    atomic_compare_exchange_strong(&w->why, &open, (int)why);
}

static fb_code shut_failed(fb_kafka_window *w, const fb_error *err)
{
    pthread_mutex_lock(&w->error_lock);
    if (atomic_load(&w->why) == FB_WINDOW_OPEN) w->error = *err;
    shut(w, FB_WINDOW_FAILED);
    pthread_mutex_unlock(&w->error_lock);
    return err->code;
}

static fb_cursor *find_cursor(fb_kafka_window *w, int32_t partition)
{
    size_t low = 0, high = w->count;
    if ((size_t)partition < w->count && w->cursors[partition].at.book.partition == partition)
        return &w->cursors[partition].at;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (w->cursors[middle].at.book.partition < partition)
            low = middle + 1;
        else
            high = middle;
    }
    fb_assert(low < w->count && w->cursors[low].at.book.partition == partition);
    return &w->cursors[low].at;
}

/* A cursor that was not done before has moved: see whether it is done now.
 *
 * A partition that is done goes on being fetched, and what comes is dropped.  Pausing it
 * would spare that, but a pause under way when its client is destroyed makes librdkafka
 * 2.15 wait for ever: the request holds its partition, which holds the request. */
static void settle(fb_kafka_window *w, lane *l, const fb_cursor *c)
{
    if (!fb_cursor_is_done(c)) return;
    l->open--;
    if (atomic_fetch_sub(&w->open, 1) == 1) shut(w, FB_WINDOW_AT_END);
}

/* Take a record into the slice, or drop it. */
static void take_record(fb_kafka_window *w, lane *l, rd_kafka_message_t *m, fb_slice *slice)
{
    fb_cursor *c = find_cursor(w, m->partition);
    bool       was_done = fb_cursor_is_done(c), counts = fb_cursor_take(c, m->offset);
    if (!was_done) settle(w, l, c);
    if (!counts) {
        rd_kafka_message_destroy(m);
        return;
    }
    rd_kafka_timestamp_type_t type;
    fb_record                *r = &slice->records[slice->count++];
    *r = (fb_record){.value = m->payload,
                     .key = m->key,
                     .value_size = m->len,
                     .key_size = m->key_len,
                     .offset = m->offset,
                     .partition = m->partition,
                     .handle = m};
    r->timestamp_ms = rd_kafka_message_timestamp(m, &type);
    if (r->timestamp_ms >= 0 && type == RD_KAFKA_TIMESTAMP_CREATE_TIME)
        r->timestamp_type = FB_TIMESTAMP_CREATE;
    if (r->timestamp_ms >= 0 && type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME)
        r->timestamp_type = FB_TIMESTAMP_APPEND;
}

static fb_code fail_partition(const fb_kafka_window *w, const rd_kafka_message_t *m,
                              const fb_cursor *c, fb_error *err)
{
    const char *topic = w->kafka->source->topic;
    const char *said = rd_kafka_message_errstr(m);
    switch (m->err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        fb_error_set(err, FB_R_O001, "offset %" PRId64 " of %s[%" PRId32
                     "] left the topic while it was read: %s", c->book.next, topic, m->partition, said);
        fb_error_hint(err, "run again: the start says how many are gone and how to go on");
        return FB_EGAP;
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
        return fb_fail(err, K007, "%s[%" PRId32 "] cannot be read from offset %" PRId64 ": %s",
                       topic, m->partition, c->book.next, said);
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return fb_kafka_fail(w->kafka, m->err, "read the topic", err);
    default:
        return fb_fail(err, K008, "%s[%" PRId32 "] cannot be read from offset %" PRId64 ": %s",
                       topic, m->partition, c->book.next, said);
    }
}

static bool ends_window(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__FATAL: return true;
    default: return false;
    }
}

/* An event in a record's clothes: the end of a partition, or trouble with it.  Of a
 * partition that is done nothing matters any more. */
static fb_code take_event(fb_kafka_window *w, lane *l, rd_kafka_message_t *m, fb_error *err)
{
    fb_code    code = FB_OK;
    fb_cursor *c = m->rkt ? find_cursor(w, m->partition) : NULL;
    if (c && !fb_cursor_is_done(c) && m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        fb_cursor_reach(c, m->offset);
        settle(w, l, c);
    } else if (c && !fb_cursor_is_done(c) && ends_window(m->err)) {
        code = fail_partition(w, m, c, err);
    } else {
        fb_log(FB_LOG_DEBUG, "kafka_event", "%s", rd_kafka_message_errstr(m));
    }
    rd_kafka_message_destroy(m);
    return code;
}

/* Of max_messages, how many may this worker take now? */
static size_t reserve(fb_kafka_window *w)
{
    if (w->max_messages == 0) return FB_SLICE_MAX;
    int64_t before = atomic_fetch_add(&w->reserved, FB_SLICE_MAX);
    int64_t left = w->max_messages - before;
    size_t  got = left <= 0 ? 0 : left < FB_SLICE_MAX ? (size_t)left : FB_SLICE_MAX;
    atomic_fetch_sub(&w->reserved, FB_SLICE_MAX - (int64_t)got);
    return got;
}

/* Take up to `most` records off a lane. `wait_ms` is how long to wait for the first. */
static fb_code take_from(fb_kafka_window *w, lane *l, size_t most, int wait_ms, fb_slice *slice,
                         fb_error *err)
{
    rd_kafka_message_t *messages[FB_SLICE_MAX];
    fb_code             code = FB_OK;
    /* A batch call waits until it is full, so waiting is done for one record only. */
    ssize_t n = rd_kafka_consume_batch_queue(l->queue, 0, messages, most);
    if (n == 0 && wait_ms > 0)
        n = rd_kafka_consume_batch_queue(l->queue, wait_ms, messages, 1);
    bool is_alive = false; // the broker has answered; trouble is no answer
    for (ssize_t i = 0; i < n; i++) {
        is_alive = is_alive || !messages[i]->err ||
                   messages[i]->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (!messages[i]->err)
            take_record(w, l, messages[i], slice);
        else if (code == FB_OK)
            code = take_event(w, l, messages[i], err);
        else
            rd_kafka_message_destroy(messages[i]);
    }
    if (is_alive) {
        atomic_store(&w->last_ms, fb_mono_ms());
        fb_kafka_trouble_reset(&l->trouble);
    }
    return code;
}

/* Look at the clock and at the stop flag when nothing came. */
static void look_around(fb_kafka_window *w)
{
    int64_t silent_ms = fb_mono_ms() - atomic_load(&w->last_ms);
    bool    away = false;
    if (w->stop && atomic_load(w->stop)) shut(w, FB_WINDOW_STOPPED);
    for (size_t i = 0; i < w->lanes_count; i++)
        away = away || fb_kafka_trouble_all_down(&w->lanes[i].trouble);
    if (away && silent_ms >= w->timeout_ms) shut(w, FB_WINDOW_TIMEOUT);
    if (!away && silent_ms >= w->max_wait_ms) shut(w, FB_WINDOW_MAX_WAIT);
}

static void release(void *self, fb_slice *slice)
{
    (void)self;
    for (size_t i = 0; i < slice->count; i++)
        rd_kafka_message_destroy(slice->records[i].handle);
    slice->count = 0;
}

static fb_code take(void *self, fb_slice *slice, fb_error *err)
{
    fb_kafka_window *w = self;
    fb_code          code = FB_OK;
    slice->count = 0;
    slice->handle = NULL;
    while (code == FB_OK && slice->count == 0 && atomic_load(&w->why) == FB_WINDOW_OPEN) {
        lane  *l = &w->lanes[atomic_fetch_add(&w->turn, 1) % w->lanes_count];
        size_t most = reserve(w);
        if (most == 0) {
            if (atomic_load(&w->delivered) >= w->max_messages) shut(w, FB_WINDOW_MAX_MESSAGES);
            fb_sleep_ms(1);
        } else {
            pthread_mutex_lock(&l->lock);
            if (l->open > 0) code = take_from(w, l, most, IDLE_MS, slice, err);
            pthread_mutex_unlock(&l->lock);
            atomic_fetch_sub(&w->reserved, (int64_t)(most - slice->count));
            atomic_fetch_add(&w->delivered, (int64_t)slice->count);
        }
        if (code == FB_OK && slice->count == 0) look_around(w);
    }
    if (code != FB_OK) {
        release(w, slice); // what came before the trouble: the window is void
        return shut_failed(w, err);
    }
    if (slice->count == 0 && atomic_load(&w->why) == FB_WINDOW_FAILED) {
        *err = w->error;
        return err->code;
    }
    if (w->stop && atomic_load(w->stop)) shut(w, FB_WINDOW_STOPPED);
    return FB_OK;
}

static bool header(void *self, const fb_record *record, size_t index, fb_header *out)
{
    rd_kafka_headers_t *headers;
    (void)self;
    if (rd_kafka_message_headers(record->handle, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    return rd_kafka_header_get_all(headers, index, &out->name, &out->value, &out->size) ==
           RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* --- opening and closing -------------------------------------------------------------- */

static int64_t backlog(const fb_kafka_window_options *o)
{
    int64_t n = 0;
    for (size_t i = 0; i < o->count; i++)
        n += o->ranges[i].end - o->ranges[i].first;
    return n;
}

static void deal_partitions(fb_kafka_window *w, const fb_kafka_window_options *o)
{
    size_t next = 0;
    for (size_t i = 0; i < o->count; i++) {
        cursor *c = &w->cursors[i];
        c->at = fb_cursor_at(o->ranges[i].partition, o->ranges[i].first, o->ranges[i].end);
        if (fb_cursor_is_done(&c->at)) continue;
        c->lane = (int)(next++ % w->lanes_count);
        w->lanes[c->lane].open++;
    }
    atomic_store(&w->open, next);
    if (next == 0) shut(w, FB_WINDOW_AT_END);
}

static fb_code open_lane(fb_kafka_window *w, size_t index, int64_t queue_bytes, fb_error *err)
{
    lane   *l = &w->lanes[index];
    fb_code code = FB_OK;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)w->count);

    FB_TRY(fb_kafka_client_new(w->kafka, &l->trouble, queue_bytes, &l->client, err));
    l->queue = rd_kafka_queue_get_consumer(l->client);
    for (size_t i = 0; i < w->count; i++) {
        const cursor *c = &w->cursors[i];
        if (c->lane != (int)index || fb_cursor_is_done(&c->at)) continue;
        rd_kafka_topic_partition_list_add(list, w->kafka->source->topic, c->at.book.partition)
            ->offset = c->at.book.first;
    }
    rd_kafka_resp_err_t said = rd_kafka_assign(l->client, list);
    if (said) code = fb_kafka_fail(w->kafka, said, "begin to read", err);
out:
    rd_kafka_topic_partition_list_destroy(list);
    return code;
}

fb_code fb_kafka_window_open(fb_kafka *kafka, const fb_kafka_window_options *o,
                             fb_kafka_window **out, fb_error *err)
{
    fb_code          code = FB_OK;
    fb_kafka_window *w = fb_alloc(sizeof *w);
    if (w) w->cursors = fb_alloc(o->count * sizeof *w->cursors);
    if (!w || !w->cursors) {
        fb_free(w);
        return fb_fail_memory(err, "a window");
    }
    w->kafka = kafka;
    w->count = o->count;
    w->max_messages = o->max_messages;
    w->max_wait_ms = o->max_wait_ms;
    w->timeout_ms = o->timeout_ms;
    w->stop = o->stop;
    pthread_mutex_init(&w->error_lock, NULL);
    w->lanes_count = o->count > 1 && backlog(o) > MANY_RECORDS ? MAX_LANES : 1;
    for (size_t i = 0; i < w->lanes_count; i++) {
        pthread_mutex_init(&w->lanes[i].lock, NULL);
        fb_kafka_trouble_init(&w->lanes[i].trouble);
    }
    deal_partitions(w, o);
    atomic_store(&w->last_ms, fb_mono_ms());
    for (size_t i = 0; i < w->lanes_count; i++)
        if (w->lanes[i].open > 0)
            FB_TRY(open_lane(w, i, o->queue_bytes / (int64_t)w->lanes_count, err));
    *out = w;
    w = NULL;
out:
    fb_kafka_window_close(w);
    return code;
}

fb_source fb_kafka_window_source(fb_kafka_window *window)
{
    return (fb_source){window, take, release, header};
}

int64_t fb_kafka_window_delivered(const fb_kafka_window *window)
{
    return atomic_load(&window->delivered);
}

fb_code fb_kafka_window_books(fb_kafka_window *window, fb_books *books, fb_error *err)
{
    fb_code code = fb_books_reserve(books, window->count, err);
    for (size_t i = 0; code == FB_OK && i < window->count; i++)
        books->list[i] = window->cursors[i].at.book;
    return code;
}

fb_window_end fb_kafka_window_why(const fb_kafka_window *window)
{
    return (fb_window_end)atomic_load(&window->why);
}

void fb_kafka_window_close(fb_kafka_window *window)
{
    if (!window) return;
    for (size_t i = 0; i < window->lanes_count; i++) {
        lane *l = &window->lanes[i];
        if (l->queue) rd_kafka_queue_destroy(l->queue);
        if (l->client) rd_kafka_destroy_flags(l->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
        fb_kafka_trouble_clear(&l->trouble);
        pthread_mutex_destroy(&l->lock);
    }
    pthread_mutex_destroy(&window->error_lock);
    fb_free(window->cursors);
    fb_free(window);
}
