/* kafka_options.c - the settings of a Kafka connection and of a topic that is read. */
#include "source/kafka_options.h"

#include "base/limits.h"

#include <string.h>

typedef fb_kafka_connection C;
typedef fb_kafka_source     S;

#define PROTOCOLS "security_protocol: SASL_SSL or SASL_PLAINTEXT"

static const char *const protocols[] = {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL",
                                        NULL};
static const char *const mechanisms[] = {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512",
                                         "OAUTHBEARER", NULL};
static const char *const formats[] = {"json", "raw", "text", NULL};
static const char *const later_formats[] = {"avro", "protobuf", "json-schema", NULL};
static const char *const resets[] = {"earliest", "latest", "error", NULL};
static const char *const losses[] = {"stop", "earliest", "latest", NULL};
static const char *const recreated[] = {"stop", "restart", NULL};
static const char *const columns[] = {
    "topic",          "partition", "offset",  "timestamp",
    "timestamp_type", "key",       "headers", NULL};

/* What the promise rests on, and what has a key of its own. */
static const fb_owned_key owned[] = {
    {"bootstrap.servers", "write bootstrap_servers beside options"},
    {"metadata.broker.list", "write bootstrap_servers beside options"},
    {"group.id", "write group_id in the source"},
    {"security.protocol", "write security_protocol beside options"},
    {"sasl.mechanism", "write sasl_mechanism beside options"},
    {"sasl.mechanisms", "write sasl_mechanism beside options"},
    {"sasl.username", "write sasl_username beside options"},
    {"sasl.password", "write sasl_password beside options"},
    {"ssl.ca.location", "write ssl_ca_location beside options"},
    {"ssl.certificate.location", "write ssl_certificate_location beside options"},
    {"ssl.key.location", "write ssl_key_location beside options"},
    {"ssl.key.password", "write ssl_key_password beside options"},
    {"auto.offset.reset", "write auto_offset_reset or on_data_loss in the source"},
    {"fetch.message.max.bytes", "write max_message_bytes in the source"},
    {"max.partition.fetch.bytes", "write max_message_bytes in the source"},
    {"enable.auto.commit", "positions are kept in the target, with the rows"},
    {"auto.commit.enable", "positions are kept in the target, with the rows"},
    {"auto.commit.interval.ms", "positions are kept in the target, with the rows"},
    {"enable.auto.offset.store", "positions are kept in the target, with the rows"},
    {"isolation.level", "forebay reads committed records only"},
    {"enable.partition.eof", "forebay needs it to find the end of a topic"},
    {"check.crcs", "forebay always checks what it reads"},
    {"allow.auto.create.topics", "forebay never creates a topic by reading it"},
    {"plugin.library.paths", "forebay loads no code named by a configuration"},
    {"ssl.engine.location", "forebay loads no code named by a configuration"},
    {"*_cb", "it takes a function of a program"},
    {"opaque", "it takes a pointer of a program"},
    {"interceptors", "it takes functions of a program"},
    {NULL, NULL},
};

static const char *const secret_properties[] = {
    "ssl.key.pem",
    "ssl.keystore.password",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem",
    NULL};

static const fb_option connection_options[] = {
    {FB_TEXT(C, bootstrap_servers),
     .help = "Where to find the cluster: host:port, separated by commas.",
     .example = "broker1:9092,broker2:9092"},

    {FB_CHOICE(C, security_protocol), .choices = protocols,
     .help = "How the connection is protected; PLAINTEXT when left out. What is asked "
             "for is what is used: it is never lowered.",
     .example = "SASL_SSL"},

    {FB_CHOICE(C, sasl_mechanism), .choices = mechanisms,
     .help = "How to log in, with SASL_SSL or SASL_PLAINTEXT. OAUTHBEARER takes the "
             "client's own sasl.oauthbearer properties under options.",
     .example = "SCRAM-SHA-256"},

    {FB_TEXT(C, sasl_username), .help = "Name to log in with, for PLAIN and SCRAM.",
     .example = "loader"},

    {FB_SECRET(C, sasl_password),
     .help = "Password to log in with. Names where it is kept, never the password "
             "itself.",
     .example = "env://KAFKA_PASSWORD"},

    {FB_TEXT(C, ssl_ca_location),
     .help = "File with the certificates of the authorities that the brokers' "
             "certificates must come from; the system's own when left out.",
     .example = "/etc/ssl/certs/ca-certificates.crt"},

    {FB_TEXT(C, ssl_certificate_location),
     .help = "File with our own certificate, PEM, for brokers that ask for one.",
     .example = "/etc/forebay/client.crt"},

    {FB_TEXT(C, ssl_key_location),
     .help = "File with the key of our own certificate, PEM.",
     .example = "/etc/forebay/client.key"},

    {FB_SECRET(C, ssl_key_password),
     .help = "Password of that key. Names where it is kept.",
     .example = "file:///run/secrets/client_key"},

    {FB_PAIRS(C, options), .owned = owned, .secrets = secret_properties,
     .help = "Properties of the Kafka client (librdkafka), passed on as they are. Those "
             "that forebay's promise rests on are refused by name.",
     .example = "{session.timeout.ms: 30000}"},

    FB_RENAMED("bootstrap.servers", "bootstrap_servers"),
    FB_RENAMED("brokers", "bootstrap_servers"),
    FB_RENAMED("security.protocol", "security_protocol"),
    FB_RENAMED("sasl.mechanism", "sasl_mechanism"),
    FB_RENAMED("sasl.mechanisms", "sasl_mechanism"),
    FB_RENAMED("sasl.username", "sasl_username"),
    FB_RENAMED("sasl.password", "sasl_password"),
    FB_RENAMED("username", "sasl_username"),
    FB_RENAMED("password", "sasl_password"),
    FB_RENAMED("ssl.ca.location", "ssl_ca_location"),
    FB_RENAMED("ssl.certificate.location", "ssl_certificate_location"),
    FB_RENAMED("ssl.key.location", "ssl_key_location"),
    FB_RENAMED("ssl.key.password", "ssl_key_password"),
    {.name = NULL},
};

static void fail_rule(fb_reader *reader, const fb_node *node, const char *key,
                      const char *what)
{
    fb_diagnose(reader->found, FB_R_C115, fb_node_name_place(node, key), "\"%s\" %s", key,
                what);
}

/* "key" needs "other": note where the one stands without the other. */
static void need(fb_reader *reader, const fb_node *node, const char *key,
                 const char *other)
{
    if (!fb_node_has(node, key) || fb_node_has(node, other)) return;
    fb_diagnose(reader->found, FB_R_C115, fb_node_name_place(node, key),
                "\"%s\" is set without \"%s\"", key, other);
}

static void check_sasl(fb_reader *reader, const C *c, const fb_node *node)
{
    static const char *const keys[] = {"sasl_mechanism", "sasl_username", "sasl_password",
                                       NULL};
    bool                     is_unread =
        fb_node_has(node, "security_protocol") && c->security_protocol == FB_UNSET;
    bool is_sasl = c->security_protocol == FB_KAFKA_SASL_PLAINTEXT ||
                   c->security_protocol == FB_KAFKA_SASL_SSL;
    need(reader, node, "sasl_username", "sasl_password");
    need(reader, node, "sasl_password", "sasl_username");
    for (const char *const *key = keys; *key && !is_sasl && !is_unread; key++) {
        if (!fb_node_has(node, *key)) continue;
        fail_rule(reader, node, *key, "needs " PROTOCOLS);
        return;
    }
    if (!is_sasl) return;
    if (!fb_node_has(node, "sasl_mechanism"))
        fail_rule(reader, node, "security_protocol",
                  "needs \"sasl_mechanism\" beside it");
    if (c->sasl_mechanism == FB_KAFKA_OAUTHBEARER) {
        if (fb_node_has(node, "sasl_username"))
            fail_rule(reader, node, "sasl_username", "is not for OAUTHBEARER");
    } else if (c->sasl_mechanism != FB_UNSET && !fb_node_has(node, "sasl_username")) {
        fail_rule(reader, node, "sasl_mechanism",
                  "needs \"sasl_username\" and \"sasl_password\" beside it");
    }
    if (c->security_protocol == FB_KAFKA_SASL_PLAINTEXT &&
        c->sasl_mechanism == FB_KAFKA_PLAIN)
        fb_diagnose_warning(
            reader->found, FB_R_C125, fb_node_place(node, "security_protocol"),
            "the password travels in clear with SASL_PLAINTEXT and PLAIN");
}

static void check_ssl(fb_reader *reader, const C *c, const fb_node *node)
{
    static const char *const keys[] = {"ssl_ca_location", "ssl_certificate_location",
                                       "ssl_key_location", "ssl_key_password", NULL};
    bool                     is_unread =
        fb_node_has(node, "security_protocol") && c->security_protocol == FB_UNSET;
    bool is_ssl =
        c->security_protocol == FB_KAFKA_SSL || c->security_protocol == FB_KAFKA_SASL_SSL;
    need(reader, node, "ssl_certificate_location", "ssl_key_location");
    need(reader, node, "ssl_key_location", "ssl_certificate_location");
    need(reader, node, "ssl_key_password", "ssl_key_location");
    for (const char *const *key = keys; *key && !is_ssl && !is_unread; key++) {
        if (!fb_node_has(node, *key)) continue;
        fail_rule(reader, node, *key, "needs security_protocol: SSL or SASL_SSL");
        return;
    }
}

static void check_options(fb_reader *reader, const C *c)
{
    for (size_t i = 0; i < c->options_count; i++) {
        const fb_pair *pair = &c->options[i];
        if (!pair->value) continue;
        bool is_off = strcmp(pair->name, "enable.ssl.certificate.verification") == 0 &&
                      strcmp(pair->value, "false") == 0;
        is_off |= strcmp(pair->name, "ssl.endpoint.identification.algorithm") == 0 &&
                  strcmp(pair->value, "none") == 0;
        if (is_off)
            fb_diagnose_warning(reader->found, FB_R_C125, pair->node->place,
                                "anybody can pose as the broker with %s: %s", pair->name,
                                pair->value);
    }
}

void fb_kafka_connection_check(fb_reader *reader, const fb_kafka_connection *c)
{
    check_sasl(reader, c, c->node);
    check_ssl(reader, c, c->node);
    check_options(reader, c);
}

const fb_option_set fb_kafka_connection_set = {
    .name = "connection",
    .help = "How a Kafka cluster is reached.",
    .size = sizeof(C),
    .options = connection_options,
};

static const fb_option source_options[] = {
    {FB_TEXT(S, path),
     .help = "The topic and its cluster in one address: "
             "kafka://host:port[,host:port]/topic, the port 9092 when left out. Instead "
             "of connection and topic.",
     .example = "kafka://localhost:9092/orders"},

    {FB_TEXT(S, connection), .help = "Name of the connection to read through.",
     .example = "events"},

    {FB_TEXT(S, topic), .help = "The topic to read.", .example = "orders"},

    {FB_TEXT(S, group_id),
     .help = "Consumer group under which the progress is shown, for lag tools. Restarts "
             "never depend on it: positions are kept with the rows.",
     .example = "forebay-orders"},

    {FB_CHOICE(S, message_format), .fallback = "json", .choices = formats,
     .later = later_formats,
     .help = "What a message holds. json: an object, whose members become "
             "schema.columns. raw and text: anything, which becomes the one column "
             "value, as bytes or as UTF-8.",
     .example = "json"},

    {FB_BOOL(S, include_metadata), .fallback = "false",
     .help = "Add the columns _kafka_topic, _kafka_partition, _kafka_offset, "
             "_kafka_timestamp and _kafka_key.",
     .example = "true"},

    {FB_FLAGS(S, metadata), .choices = columns,
     .help = "Add the named ones of the columns _kafka_topic, _kafka_partition, "
             "_kafka_offset, _kafka_timestamp, _kafka_timestamp_type, _kafka_key and "
             "_kafka_headers.",
     .example = "[partition, offset, timestamp]"},

    {FB_COUNT(S, max_messages), .fallback = "0", .max = INT64_C(1000000000000),
     .help = "Messages that one run reads at most, over all partitions; 0 reads to the "
             "end.",
     .example = "50000"},

    {FB_COUNT(S, timeout_ms), .fallback = "30000", .min = 1, .max = 86400000,
     .help = "Milliseconds after which a run gives up on brokers that do not answer.",
     .example = "30000"},

    {FB_COUNT(S, max_wait_ms), .fallback = "5000", .min = 1, .max = 86400000,
     .help = "Milliseconds without a new message after which a run ends early.",
     .example = "5000"},

    {FB_CHOICE(S, auto_offset_reset), .fallback = "earliest", .choices = resets,
     .help = "Where a partition begins that has no stored position. Asked at a first "
             "start only; a position that is lost later is on_data_loss.",
     .example = "earliest"},

    {FB_CHOICE(S, on_data_loss), .fallback = "stop", .choices = losses,
     .help = "What to do when messages that must be read are gone from the topic. "
             "Anything but stop goes on without them, and the report counts the gap.",
     .example = "stop"},

    {FB_CHOICE(S, on_recreated), .fallback = "stop", .choices = recreated,
     .help = "What to do when the topic was deleted and made again under its name. "
             "restart reads the new one from its start.",
     .example = "stop"},

    {FB_TEXT(S, partitions),
     .help = "Partitions to read, numbers and ranges; all when left out.",
     .example = "0,2-5"},

    {FB_COUNT(S, max_depth), .fallback = "128", .min = 1, .max = FB_MAX_DEPTH,
     .help = "How deep a JSON message may be nested; deeper ones are rejected.",
     .example = "128"},

    {FB_COUNT(S, max_message_bytes), .fallback = "104857600", .min = 1000,
     .max = 1000000000, .help = "Largest message that is fetched, in bytes.",
     .example = "104857600"},

    {FB_INLINE(S, own, fb_kafka_connection, &fb_kafka_connection_set)},

    FB_RENAMED("group.id", "group_id"),
    FB_RENAMED("max_records", "max_messages"),
    FB_RENAMED("auto.offset.reset", "auto_offset_reset"),
    {.name = NULL},
};

/* The keys of the connection that the source writes itself. */
static void check_own(fb_reader *reader, const S *s)
{
    for (const fb_option *row = connection_options; row->name; row++) {
        if (row->type == FB_OPT_RENAMED || !fb_node_has(s->node, row->name)) continue;
        if (row->type == FB_OPT_PAIRS) continue;
        fb_diagnose(reader->found, FB_R_C115, fb_node_name_place(s->node, row->name),
                    "\"%s\" belongs into the connection \"%s\"", row->name,
                    s->connection ? s->connection : "");
    }
}

/* path, or connection and topic, or bootstrap_servers and topic. */
static void check_place(fb_reader *reader, const S *s)
{
    const fb_node *node = s->node;
    if (fb_node_has(node, "path")) {
        static const char *const others[] = {"connection", "topic", "bootstrap_servers",
                                             NULL};
        for (const char *const *other = others; *other; other++)
            if (fb_node_has(node, *other))
                fail_rule(reader, node, *other,
                          "and \"path\" say the same; take one out");
        return;
    }
    bool has_cluster =
        fb_node_has(node, "connection") || fb_node_has(node, "bootstrap_servers");
    if (has_cluster && fb_node_has(node, "topic")) return;
    fb_diagnose(reader->found, FB_R_C106, fb_node_name_place(node, "topic"),
                "\"%s\" is missing in \"source\"",
                has_cluster                  ? "topic"
                : fb_node_has(node, "topic") ? "connection"
                                             : "path");
    fb_diagnose_hint(reader->found,
                     "write path: kafka://localhost:9092/orders, or connection "
                     "and topic");
}

static fb_code read_address(fb_reader *reader, S *s, fb_error *err)
{
    fb_error         why;
    fb_kafka_address address;
    if (!s->path) return FB_OK;
    fb_code code = fb_kafka_address_parse(s->path, reader->arena, &address, &why);
    if (code == FB_EMEMORY) return fb_fail_memory(err, "the configuration");
    if (code == FB_OK) {
        s->own.bootstrap_servers = address.brokers;
        s->topic = address.topic;
        return FB_OK;
    }
    if (strchr(s->path, '@'))
        fb_diagnostics_hide(reader->found, fb_node_place(s->node, "path"));
    fb_diagnose_error(reader->found, fb_node_place(s->node, "path"), &why);
    return FB_OK;
}

static fb_code read_partitions(fb_reader *reader, S *s, fb_error *err)
{
    fb_error why;
    if (!s->partitions) return FB_OK;
    fb_code code = fb_kafka_partitions_parse(
        s->partitions, reader->arena, &s->partition_list, &s->partition_count, &why);
    if (code == FB_EMEMORY) return fb_fail_memory(err, "the configuration");
    if (code != FB_OK)
        fb_diagnose_error(reader->found, fb_node_place(s->node, "partitions"), &why);
    return FB_OK;
}

static fb_code check_source(fb_reader *reader, void *values, fb_error *err)
{
    fb_code code = FB_OK;
    S      *s = values;
    check_place(reader, s);
    if (s->topic && !fb_kafka_topic_is_valid(s->topic))
        fb_diagnose(reader->found, FB_R_C114, fb_node_place(s->node, "topic"),
                    "\"topic\" must be 1 to 249 letters, digits, dots, _ or -");
    FB_TRY(read_address(reader, s, err));
    FB_TRY(read_partitions(reader, s, err));
    if (fb_node_has(s->node, "connection")) {
        check_own(reader, s);
    } else {
        fb_kafka_connection_check(reader, &s->own);
        s->use = &s->own;
    }
    if (s->include_metadata) s->metadata |= FB_META_COMMON;
out:
    return code;
}

const fb_option_set fb_kafka_source_set = {
    .name = "source",
    .help = "Which topic is read and how. The keys of a connection may stand here as "
            "well, beside path or bootstrap_servers; beside connection only options "
            "may.",
    .size = sizeof(S),
    .options = source_options,
    .check = check_source,
};
