/** kafka_options.h - how a cluster is reached and how one topic is read.
 *
 * Threads: constant once read.
 */
#ifndef FB_SOURCE_KAFKA_OPTIONS_H
#define FB_SOURCE_KAFKA_OPTIONS_H

#include "config/option.h"
#include "source/kafka_address.h"

/** security_protocol, an index into its choices; FB_UNSET means PLAINTEXT. */
enum {
    FB_KAFKA_PLAINTEXT,
    FB_KAFKA_SSL,
    FB_KAFKA_SASL_PLAINTEXT,
    FB_KAFKA_SASL_SSL,
};

/** sasl_mechanism */
enum {
    FB_KAFKA_PLAIN,
    FB_KAFKA_SCRAM_SHA_256,
    FB_KAFKA_SCRAM_SHA_512,
    FB_KAFKA_OAUTHBEARER,
};

/** message_format */
enum {
    FB_FORMAT_JSON, ///< one JSON object a message; needs schema.columns
    FB_FORMAT_RAW,  ///< one column `value`, binary; takes no schema.columns
    FB_FORMAT_TEXT, ///< one column `value`, string; takes no schema.columns
};

/** auto_offset_reset */
enum { FB_RESET_EARLIEST, FB_RESET_LATEST, FB_RESET_ERROR };

/** on_data_loss */
enum { FB_LOSS_STOP, FB_LOSS_EARLIEST, FB_LOSS_LATEST };

/** on_recreated */
enum { FB_RECREATED_STOP, FB_RECREATED_RESTART };

/** Bits of `metadata`; include_metadata sets those of FB_META_COMMON. */
enum {
    FB_META_TOPIC = 1 << 0,          ///< _kafka_topic
    FB_META_PARTITION = 1 << 1,      ///< _kafka_partition
    FB_META_OFFSET = 1 << 2,         ///< _kafka_offset
    FB_META_TIMESTAMP = 1 << 3,      ///< _kafka_timestamp
    FB_META_TIMESTAMP_TYPE = 1 << 4, ///< _kafka_timestamp_type
    FB_META_KEY = 1 << 5,            ///< _kafka_key
    FB_META_HEADERS = 1 << 6,        ///< _kafka_headers
    FB_META_COMMON = FB_META_TOPIC | FB_META_PARTITION | FB_META_OFFSET |
                     FB_META_TIMESTAMP | FB_META_KEY,
};

/** How a cluster is reached. After the reader's rules have passed:
 * username and password come together and with a SASL protocol and PLAIN or SCRAM;
 * a SASL protocol has a mechanism; ssl_* keys come with SSL or SASL_SSL; certificate and
 * key come together. */
typedef struct fb_kafka_connection {
    const fb_node *node;
    const char    *bootstrap_servers;
    int            security_protocol; ///< FB_KAFKA_*; FB_UNSET when left out
    int            sasl_mechanism;    ///< FB_UNSET when left out
    const char    *sasl_username;
    fb_secret      sasl_password;
    const char    *ssl_ca_location;
    const char    *ssl_certificate_location;
    const char    *ssl_key_location;
    fb_secret      ssl_key_password;
    fb_pair       *options; ///< client properties as they are; none that forebay owns
    size_t         options_count;
} fb_kafka_connection;

/** One topic and how it is read. */
typedef struct fb_kafka_source {
    const fb_node *node;
    const char    *path;       ///< kafka://...; or connection and topic
    const char    *connection; ///< the name of a connection
    const char    *topic;      ///< set also when `path` was given
    const char    *group_id;   ///< NULL: no group shows the progress
    int            message_format;
    bool           include_metadata;
    unsigned       metadata;     ///< FB_META_* bits, those of include_metadata added
    int64_t        max_messages; ///< 0: no limit
    int64_t        timeout_ms, max_wait_ms;
    int            auto_offset_reset, on_data_loss, on_recreated;
    const char    *partitions;     ///< as written; NULL: all
    int32_t       *partition_list; ///< ascending, each once
    size_t         partition_count;
    int64_t        max_depth, max_message_bytes;

    /** Connection keys written in the source itself. With `path` this is the whole
     * connection, bootstrap_servers set; with `connection` only `options` counts and is
     * to be applied after that connection's own. */
    fb_kafka_connection own;

    /** The connection to use: a named one, or &own. Set when the document is read; NULL
     * when the name is unknown. */
    const fb_kafka_connection *use;
} fb_kafka_source;

extern const fb_option_set fb_kafka_connection_set; ///< to be inlined
extern const fb_option_set fb_kafka_source_set;

/** Hold the keys of a connection to each other; for the sets that inline them. */
void fb_kafka_connection_check(fb_reader *reader, const fb_kafka_connection *connection);

#endif
