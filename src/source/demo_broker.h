/** demo_broker.h - a Kafka broker inside this process, with made-up orders.
 *
 * It is librdkafka's mock cluster: one broker on 127.0.0.1, all in memory, gone with the
 * process.  It speaks the protocol to any client, but it is for demos and tests: it keeps
 * the newest 5 MiB or 100,000 batches of a partition and drops older ones without a word,
 * which fb_demo_broker_produce() checks has not happened.
 *
 * The topic "orders" has FB_DEMO_PARTITIONS partitions of JSON like
 *   {"order_id":"o-0000042","customer":"c-0137","status":"paid","amount":12.5,
 *    "ts":"2026-11-29T14:31:07.120Z"}
 *
 * Threads: one at a time; the broker has its own.
 */
#ifndef FB_SOURCE_DEMO_BROKER_H
#define FB_SOURCE_DEMO_BROKER_H

#include "base/error.h"

#include <stdint.h>

#define FB_DEMO_TOPIC "orders"

enum {
    FB_DEMO_PARTITIONS = 3,
    FB_DEMO_NOT_JSON = 3, ///< of the broken orders of one call
    FB_DEMO_RULES = 9,    ///< which break a rule: no amount, an amount in words, no id
    FB_DEMO_BROKEN = FB_DEMO_NOT_JSON + FB_DEMO_RULES,
    FB_DEMO_LEAST = 100,   ///< orders, so that the broken ones are apart
    FB_DEMO_MOST = 600000, ///< more would not fit
};

typedef struct fb_demo_broker fb_demo_broker;

/** Start the broker and make the topic. @return FB_EUNREACHABLE (I003) */
FB_MUST_CHECK fb_code fb_demo_broker_open(fb_demo_broker **out, fb_error *err);
void                  fb_demo_broker_close(fb_demo_broker *broker); ///< NULL is allowed

const char *fb_demo_broker_address(const fb_demo_broker *broker); ///< "127.0.0.1:42713"

/** Produce `count` orders more and see that the topic holds every one produced so far.
 * @param broken  how many of them are broken on purpose: 0, or FB_DEMO_BROKEN
 * @return FB_EUNREACHABLE (I003) when the broker refused or dropped some */
FB_MUST_CHECK fb_code fb_demo_broker_produce(fb_demo_broker *broker, int64_t count,
                                             int64_t broken, fb_error *err);

#endif
