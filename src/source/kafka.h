/** kafka.h - one cluster, one topic: what is there, and records of it in order.
 *
 * A client is opened for a source of the configuration.  A window is one bounded read:
 * for each partition the offsets [first, end), closed by the ends, by a number of records,
 * by silence or by a stop.  librdkafka does the talking; its own log lines go through
 * base/log.h and its errors are quoted behind ours.
 *
 * The reader is read_committed, never resets an offset by itself, and never commits one
 * unless fb_kafka_group_commit() is called.
 *
 * Threads: a client belongs to one thread; the source of a window may be taken from by any
 * number of threads at once.
 */
#ifndef FB_SOURCE_KAFKA_H
#define FB_SOURCE_KAFKA_H

#include "batch/stages.h"
#include "source/kafka_options.h"

#include <stdatomic.h>

typedef struct fb_kafka fb_kafka;

/** Make a client and wait until a broker has answered for the topic.
 *
 * @param group       consumer group of the client; shown by brokers, also when no offset
 *                    is ever committed
 * @param timeout_ms  how long to wait for the first answer
 * @return FB_EUNREACHABLE (K001) naming each broker's trouble; FB_EAUTH (K002 credentials,
 *         K003 certificates, K005 rights); FB_EMISSING (K004) with the nearest topic;
 *         FB_EUNSUPPORTED (K009) when a broker refuses a request for good;
 *         FB_ECONFIG for a property the client refuses or a secret that is not there */
FB_MUST_CHECK fb_code fb_kafka_open(const fb_kafka_source *source, const char *group,
                                    int64_t timeout_ms, fb_kafka **out, fb_error *err);
void                  fb_kafka_close(fb_kafka *kafka); ///< NULL is allowed

/** From now on a set flag ends every wait for brokers (FB_ECANCELED, I002). Borrowed for
 * good; before any client is opened. */
void fb_kafka_heed(const atomic_bool *stop);

typedef struct fb_kafka_partition {
    int32_t id;
    int64_t low;  ///< the first offset still kept
    int64_t end;  ///< what a read_committed reader can reach now (the last stable offset)
    int64_t high; ///< the high watermark; above `end` while a transaction is open
} fb_kafka_partition;

typedef struct fb_kafka_topic {
    fb_kafka_partition *partitions; ///< owned; ascending by id
    size_t              count;
    char                id[32]; ///< the topic's id, "" where brokers give none
} fb_kafka_topic;

/** Ask for the partitions, their offsets and the topic's id.
 * @param out  zeroed by the caller; released with fb_kafka_topic_clear() */
FB_MUST_CHECK fb_code fb_kafka_describe(fb_kafka *kafka, int64_t timeout_ms, fb_kafka_topic *out,
                                        fb_error *err);
void                  fb_kafka_topic_clear(fb_kafka_topic *topic);

/** For each partition the first offset whose record is not older than `time_ms`, else its
 * end. @param offsets  one for each of `topic->partitions` */
FB_MUST_CHECK fb_code fb_kafka_offsets_at(fb_kafka *kafka, const fb_kafka_topic *topic,
                                          int64_t time_ms, int64_t timeout_ms, int64_t *offsets,
                                          fb_error *err);

typedef struct fb_kafka_range {
    int32_t partition;
    int64_t first, end; ///< [first, end)
} fb_kafka_range;

/** The timestamp of the first record of each range, or -1: how old what waits is. Best
 * effort within `timeout_ms`. */
FB_MUST_CHECK fb_code fb_kafka_timestamps_at(fb_kafka *kafka, const fb_kafka_range *ranges,
                                             size_t count, int64_t timeout_ms,
                                             int64_t *timestamps_ms, fb_error *err);

/** "3 brokers, SASL_SSL, cluster 9Xw...": for `check`. */
void fb_kafka_print_about(fb_kafka *kafka, fb_buf *out);

/** Show positions to tools that look at the group: never read back by forebay. */
FB_MUST_CHECK fb_code fb_kafka_group_commit(fb_kafka *kafka, const fb_books *books,
                                            int64_t timeout_ms, fb_error *err);

/* --- windows -------------------------------------------------------------------------- */

typedef enum fb_window_end {
    FB_WINDOW_OPEN,
    FB_WINDOW_AT_END,       ///< every partition reached its end
    FB_WINDOW_MAX_MESSAGES, ///< the limit was reached exactly
    FB_WINDOW_MAX_WAIT,     ///< nothing came for max_wait_ms
    FB_WINDOW_TIMEOUT,      ///< brokers were away for timeout_ms
    FB_WINDOW_STOPPED,      ///< a stop was asked for
    FB_WINDOW_FAILED,
} fb_window_end;

const char *fb_window_end_name(fb_window_end end); ///< "end", "max_messages", ...

typedef struct fb_kafka_window_options {
    const fb_kafka_range *ranges; ///< borrowed for the call
    size_t                count;
    int64_t               max_messages; ///< 0: no limit
    int64_t               max_wait_ms, timeout_ms;
    const atomic_bool    *stop;         ///< borrowed; set: close the window
    int64_t               queue_bytes;  ///< ceiling of what is fetched ahead
} fb_kafka_window_options;

typedef struct fb_kafka_window fb_kafka_window;

FB_MUST_CHECK fb_code fb_kafka_window_open(fb_kafka *kafka, const fb_kafka_window_options *options,
                                           fb_kafka_window **out, fb_error *err);

/** The window as a stage. Lives as long as the window. */
fb_source fb_kafka_window_source(fb_kafka_window *window);

/** Records taken so far, over all partitions. Any thread. */
int64_t fb_kafka_window_delivered(const fb_kafka_window *window);

/** What was looked at: first, next, delivered and gaps of each partition, in the order of
 * the ranges. Only after every worker has let go. */
FB_MUST_CHECK fb_code fb_kafka_window_books(fb_kafka_window *window, fb_books *books,
                                            fb_error *err);
fb_window_end         fb_kafka_window_why(const fb_kafka_window *window);
void                  fb_kafka_window_close(fb_kafka_window *window); ///< NULL is allowed

#endif
