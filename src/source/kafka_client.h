/** kafka_client.h - what the files of the Kafka source share; nobody else includes it. */
#ifndef FB_SOURCE_KAFKA_CLIENT_H
#define FB_SOURCE_KAFKA_CLIENT_H

#include "source/kafka.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>

enum { FB_KAFKA_GROUP_ROOM = 300 };

/** What brokers have said went wrong; filled by callbacks of any thread. */
typedef struct fb_kafka_trouble {
    pthread_mutex_t     lock;
    rd_kafka_resp_err_t worst; ///< AUTHENTICATION, SSL and RESOLVE outweigh the rest
    char                text[512];
    bool                all_down; ///< until a broker answers again
    int                 protocol; ///< security_protocol of the client
    rd_kafka_resp_err_t suspect;  ///< the port seems to speak another protocol: SSL or
                                  ///< AUTHENTICATION, when it goes on from `suspect_ms`
    int64_t             suspect_ms;
} fb_kafka_trouble;

struct fb_kafka {
    const fb_kafka_source *source;
    char                   group[FB_KAFKA_GROUP_ROOM];
    rd_kafka_t            *client;
    fb_kafka_trouble       trouble;
};

/** A new client of the same settings.
 * @param trouble      where its errors are noted
 * @param queue_bytes  0: a client that fetches nothing */
FB_MUST_CHECK fb_code fb_kafka_client_new(const fb_kafka *kafka, fb_kafka_trouble *trouble,
                                          int64_t queue_bytes, rd_kafka_t **out, fb_error *err);

/** Is it trouble that goes away by itself (a leader moves, a broker restarts)? */
bool fb_kafka_is_passing(rd_kafka_resp_err_t code);

/** Turn what librdkafka said into our error; `doing` completes "cannot ...".  What passes
 * is FB_EUNREACHABLE. Any thread. */
FB_MUST_CHECK fb_code fb_kafka_fail(fb_kafka *kafka, rd_kafka_resp_err_t code, const char *doing,
                                    fb_error *err);

/** Has a broker refused us in a way that waiting cannot mend? */
FB_MUST_CHECK fb_code fb_kafka_check_trouble(fb_kafka *kafka, fb_error *err);

void fb_kafka_trouble_init(fb_kafka_trouble *trouble);
void fb_kafka_trouble_clear(fb_kafka_trouble *trouble);
bool fb_kafka_trouble_all_down(fb_kafka_trouble *trouble);
void fb_kafka_trouble_reset(fb_kafka_trouble *trouble); ///< a broker has answered

#endif
