/** record.h - one message as bytes, with its place.
 *
 * A record borrows everything from the slice it came in.  Its bytes are foreign: a NUL
 * among them is data.  A missing value (a tombstone) is not an empty one, and a missing
 * key is not an empty key.
 *
 * Threads: plain values.
 */
#ifndef FB_BATCH_RECORD_H
#define FB_BATCH_RECORD_H

#include <stddef.h>
#include <stdint.h>

typedef enum fb_timestamp_type {
    FB_TIMESTAMP_NONE,
    FB_TIMESTAMP_CREATE, ///< set by the producer
    FB_TIMESTAMP_APPEND, ///< set by the broker
} fb_timestamp_type;

typedef struct fb_record {
    const char       *value; ///< NULL: a tombstone
    const char       *key;   ///< NULL: no key
    size_t            value_size, key_size;
    int64_t           offset;
    int64_t           timestamp_ms; ///< since 1970-01-01 UTC; no meaning when type is none
    int32_t           partition;
    fb_timestamp_type timestamp_type;
    void             *handle; ///< the source's own, to find the headers by
} fb_record;

typedef struct fb_header {
    const char *name;
    const void *value; ///< NULL: the header has no value, which is not an empty one
    size_t      size;
} fb_header;

#endif
