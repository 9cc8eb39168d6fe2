/** kafka_address.h - where a topic is, as one text, and which of its partitions.
 *
 * Threads: any.
 */
#ifndef FB_SOURCE_KAFKA_ADDRESS_H
#define FB_SOURCE_KAFKA_ADDRESS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

typedef struct fb_kafka_address {
    const char *brokers; ///< "h:p,[::1]:p", a port in each
    const char *topic;
} fb_kafka_address;

/** Read kafka://host[:port][,host[:port]...]/topic into `arena`. The port is 9092 when
 * left out, an IPv6 address stands in brackets.
 * @return FB_OK; FB_ECONFIG (C114) for anything else; credentials in an address are
 *         refused and not repeated; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_kafka_address_parse(const char *text, fb_arena *arena,
                                             fb_kafka_address *out, fb_error *err);

/** May a topic be called so?  1 to 249 of letters, digits, . _ -, not . or .. */
bool fb_kafka_topic_is_valid(const char *topic);

/** Read "0,2-5" into an ascending list in `arena`.
 * @return FB_OK; FB_ECONFIG (C114): not of this form, a partition twice, more than
 *         FB_MAX_PARTITIONS; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_kafka_partitions_parse(const char *text, fb_arena *arena,
                                                int32_t **list, size_t *count,
                                                fb_error *err);

#endif
