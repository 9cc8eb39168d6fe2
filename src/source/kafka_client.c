/* kafka_client.c - librdkafka set up as forebay needs it, and its words made ours.
 *
 * What holds for every client made here: it commits no offset, stores none, resets none,
 * reads committed records only, checks their CRC, and says when a partition ends.
 */
#include "source/kafka_client.h"

#include "base/log.h"
#include "base/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_QUEUE INT64_C(2097151) // kB, the most that librdkafka takes

enum { SUSPECT_MS = 1500, SHORT_MS = 1000 };

typedef struct property {
    const char *name, *value;
} property;

/* Not to be changed by anybody: what the promise rests on. */
static const property fixed[] = {
    {"enable.auto.commit", "false"},       {"enable.auto.offset.store", "false"},
    {"enable.partition.eof", "true"},      {"auto.offset.reset", "error"},
    {"isolation.level", "read_committed"}, {"check.crcs", "true"},
    {"allow.auto.create.topics", "false"},
};

/* What a user may overrule under `options`. A message larger than a fetch is sent alone,
 * so the response may be as large as the largest message. */
static const property preset[] = {
    {"client.id", "forebay"},
    {"socket.keepalive.enable", "true"},
    {"log.connection.close", "true"}, // note_suspect() learns from it
    {"reconnect.backoff.max.ms", "1000"},
    {"fetch.wait.max.ms", "100"},
    {"fetch.error.backoff.ms", "50"},
    {"fetch.queue.backoff.ms", "5"},
    {"fetch.message.max.bytes", "4194304"},
    {"fetch.max.bytes", "33554432"},
    {"receive.message.max.bytes", "1073741824"},
    {"queued.min.messages", "200000"},
};

void fb_kafka_trouble_init(fb_kafka_trouble *trouble)
{
    *trouble = (fb_kafka_trouble){.worst = RD_KAFKA_RESP_ERR_NO_ERROR};
    pthread_mutex_init(&trouble->lock, NULL);
}

void fb_kafka_trouble_clear(fb_kafka_trouble *trouble)
{
    pthread_mutex_destroy(&trouble->lock);
}

bool fb_kafka_trouble_all_down(fb_kafka_trouble *trouble)
{
    pthread_mutex_lock(&trouble->lock);
    bool down = trouble->all_down;
    pthread_mutex_unlock(&trouble->lock);
    return down;
}

void fb_kafka_trouble_reset(fb_kafka_trouble *trouble)
{
    pthread_mutex_lock(&trouble->lock);
    trouble->all_down = false;
    trouble->worst = trouble->suspect = RD_KAFKA_RESP_ERR_NO_ERROR;
    trouble->text[0] = '\0';
    pthread_mutex_unlock(&trouble->lock);
}

static int weight(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION: return 4;
    case RD_KAFKA_RESP_ERR__SSL: return 3;
    case RD_KAFKA_RESP_ERR__RESOLVE: return 2;
    case RD_KAFKA_RESP_ERR_NO_ERROR:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN: return 0;
    default: return 1;
    }
}

/* "... (after 3ms in state UP)" */
static bool was_up_shortly(const char *reason)
{
    const char *after = strstr(reason, "(after ");
    int         ms;
    return after && sscanf(after, "(after %dms in state UP", &ms) == 1 &&
           strstr(after, "in state UP") && ms < SHORT_MS;
}

/* A port that speaks another protocol than ours ends each connection early, and no broker
 * says why.  A broker that goes down does so, too, but cannot be connected to afterwards. */
static void note_suspect(fb_kafka_trouble *t, const char *reason)
{
    bool is_sasl =
        t->protocol == FB_KAFKA_SASL_PLAINTEXT || t->protocol == FB_KAFKA_SASL_SSL;
    bool is_plain = t->protocol != FB_KAFKA_SSL && t->protocol != FB_KAFKA_SASL_SSL;
    rd_kafka_resp_err_t now = RD_KAFKA_RESP_ERR_NO_ERROR;
    bool                is_gone = strstr(reason, "Connect to") != NULL;
    if (strstr(reason, "PLAINTEXT broker listener"))
        now = RD_KAFKA_RESP_ERR__SSL;
    else if (!strstr(reason, "Disconnected"))
        now = RD_KAFKA_RESP_ERR_NO_ERROR;
    else if (is_plain && strstr(reason, "APIVERSION_QUERY"))
        now = RD_KAFKA_RESP_ERR__SSL;
    else if (!is_sasl && was_up_shortly(reason))
        now = RD_KAFKA_RESP_ERR__AUTHENTICATION;
    pthread_mutex_lock(&t->lock);
    if (is_gone) t->suspect = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (now != RD_KAFKA_RESP_ERR_NO_ERROR && now != t->suspect) {
        t->suspect = now;
        t->suspect_ms = fb_mono_ms();
        snprintf(t->text, sizeof t->text, "%s (%s)", reason,
                 now == RD_KAFKA_RESP_ERR__AUTHENTICATION
                     ? "the port seems to ask for a login"
                 : is_plain ? "the port seems to speak TLS"
                            : "the port seems not to speak TLS");
    }
    pthread_mutex_unlock(&t->lock);
}

static void on_error(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
    fb_kafka_trouble   *trouble = opaque;
    rd_kafka_resp_err_t err = (rd_kafka_resp_err_t)code;
    (void)client;
    pthread_mutex_lock(&trouble->lock);
    if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) trouble->all_down = true;
    if (weight(err) > weight(trouble->worst) ||
        (trouble->text[0] == '\0' && weight(err) > 0)) {
        trouble->worst = err;
        snprintf(trouble->text, sizeof trouble->text, "%s", reason);
    }
    pthread_mutex_unlock(&trouble->lock);
    fb_log(FB_LOG_DEBUG, "kafka_error", "%s: %s", rd_kafka_err2name(err), reason);
}

static void on_log(const rd_kafka_t *client, int level, const char *facility,
                   const char *text)
{
    (void)level; // what matters to a user comes as an error as well, but for this
    const char *behind_thread = strstr(text, "]: ");
    if (client && strcmp(facility, "FAIL") == 0)
        note_suspect(rd_kafka_opaque(client), behind_thread ? behind_thread + 3 : text);
    fb_log(FB_LOG_DEBUG, "kafka_client", "%s: %s", facility, text);
}

static fb_code set(rd_kafka_conf_t *conf, const char *name, const char *value,
                   fb_error *err)
{
    char said[256];
    if (rd_kafka_conf_set(conf, name, value, said, sizeof said) == RD_KAFKA_CONF_OK)
        return FB_OK;
    fb_error_set(err, FB_R_K010, "the Kafka client refuses the property %s: %s", name,
                 said);
    return FB_ECONFIG;
}

static fb_code set_secret(rd_kafka_conf_t *conf, const char *name,
                          const fb_secret *secret, fb_error *err)
{
    char    value[FB_MAX_SECRET_BYTES], said[8];
    fb_code code = fb_secret_reveal(secret, value, sizeof value, err);
    /* The client's own words could repeat the value, so they are not asked for. */
    if (code == FB_OK &&
        rd_kafka_conf_set(conf, name, value, said, sizeof said) != RD_KAFKA_CONF_OK)
        code =
            fb_fail(err, K010, "the Kafka client refuses the secret given for %s", name);
    fb_secret_wipe(value, sizeof value);
    return code;
}

static fb_code set_pairs(rd_kafka_conf_t *conf, const fb_pair *pairs, size_t count,
                         fb_error *err)
{
    fb_code code = FB_OK;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].value)
            FB_TRY(set(conf, pairs[i].name, pairs[i].value, err));
        else
            FB_TRY(set_secret(conf, pairs[i].name, &pairs[i].secret, err));
    }
out:
    return code;
}

static fb_code set_optional(rd_kafka_conf_t *conf, const char *name, const char *value,
                            fb_error *err)
{
    return value ? set(conf, name, value, err) : FB_OK;
}

static fb_code set_connection(rd_kafka_conf_t *conf, const fb_kafka_connection *c,
                              fb_error *err)
{
    static const char *const protocols[] = {"plaintext", "ssl", "sasl_plaintext",
                                            "sasl_ssl"};
    static const char *const mechanisms[] = {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512",
                                             "OAUTHBEARER"};
    fb_code                  code = FB_OK;
    FB_TRY(set(conf, "bootstrap.servers", c->bootstrap_servers, err));
    if (c->security_protocol != FB_UNSET)
        FB_TRY(set(conf, "security.protocol", protocols[c->security_protocol], err));
    if (c->sasl_mechanism != FB_UNSET)
        FB_TRY(set(conf, "sasl.mechanism", mechanisms[c->sasl_mechanism], err));
    FB_TRY(set_optional(conf, "sasl.username", c->sasl_username, err));
    if (fb_secret_is_set(&c->sasl_password))
        FB_TRY(set_secret(conf, "sasl.password", &c->sasl_password, err));
    FB_TRY(set_optional(conf, "ssl.ca.location", c->ssl_ca_location, err));
    FB_TRY(
        set_optional(conf, "ssl.certificate.location", c->ssl_certificate_location, err));
    FB_TRY(set_optional(conf, "ssl.key.location", c->ssl_key_location, err));
    if (fb_secret_is_set(&c->ssl_key_password))
        FB_TRY(set_secret(conf, "ssl.key.password", &c->ssl_key_password, err));
    FB_TRY(set_pairs(conf, c->options, c->options_count, err));
out:
    return code;
}

static fb_code make_conf(const fb_kafka *kafka, int64_t queue_bytes,
                         rd_kafka_conf_t *conf, fb_error *err)
{
    const fb_kafka_source *source = kafka->source;
    fb_code                code = FB_OK;
    char                   kilobytes[24];
    int64_t                wanted = queue_bytes / 1024 + 1;
    snprintf(kilobytes, sizeof kilobytes, "%" PRId64,
             wanted < MAX_QUEUE ? wanted : MAX_QUEUE);
    for (size_t i = 0; i < sizeof preset / sizeof *preset; i++)
        FB_TRY(set(conf, preset[i].name, preset[i].value, err));
    FB_TRY(set(conf, "queued.max.messages.kbytes", kilobytes, err));
    FB_TRY(set_connection(conf, source->use, err));
    if (source->use != &source->own)
        FB_TRY(set_pairs(conf, source->own.options, source->own.options_count, err));
    FB_TRY(set(conf, "group.id", kafka->group, err));
    /* No group is joined, but closing waits this long for a commit without an answer. */
    FB_TRY(set(conf, "session.timeout.ms", "1000", err));
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        FB_TRY(set(conf, fixed[i].name, fixed[i].value, err));
out:
    return code;
}

fb_code fb_kafka_client_new(const fb_kafka *kafka, fb_kafka_trouble *trouble,
                            int64_t queue_bytes, rd_kafka_t **out, fb_error *err)
{
    char             said[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    fb_code          code = make_conf(kafka, queue_bytes, conf, err);
    if (code != FB_OK) {
        rd_kafka_conf_destroy(conf);
        return code;
    }
    trouble->protocol = kafka->source->use->security_protocol;
    rd_kafka_conf_set_opaque(conf, trouble);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    *out = rd_kafka_new(RD_KAFKA_CONSUMER, conf, said, sizeof said);
    if (*out) {
        rd_kafka_poll_set_consumer(*out);
        return FB_OK;
    }
    rd_kafka_conf_destroy(conf);
    return fb_fail(err, K010, "the Kafka client did not start: %s", said);
}

/* "sasl_ssl://host:1/bootstrap: ..." without the thread's name librdkafka puts in front. */
static fb_code fail_trouble(const fb_kafka *kafka, rd_kafka_resp_err_t worst,
                            const char *text, fb_error *err)
{
    const char *brokers = kafka->source->use->bootstrap_servers;
    if (worst == RD_KAFKA_RESP_ERR__AUTHENTICATION) {
        fb_error_set(err, FB_R_K002, "%s refused the credentials: %s", brokers, text);
        fb_error_hint(err,
                      "check security_protocol, sasl_mechanism, sasl_username and what "
                      "sasl_password refers to");
        return FB_EAUTH;
    }
    /* A listener that speaks no TLS hangs up, which librdkafka mostly counts as transport. */
    if (worst == RD_KAFKA_RESP_ERR__SSL || strstr(text, "SSL_HANDSHAKE")) {
        fb_error_set(err, FB_R_K003, "no TLS connection to %s: %s", brokers, text);
        fb_error_hint(err,
                      "check that security_protocol is what the port speaks, that "
                      "ssl_ca_location holds the authority that signed the broker's "
                      "certificate, and that the certificate names the host you wrote");
        return FB_EAUTH;
    }
    fb_error_set(err, FB_R_K001, "no answer from %s: %s", brokers,
                 text[0] ? text : "no word");
    fb_error_hint(err,
                  "check bootstrap_servers, and that the brokers run and can be reached "
                  "from here");
    return FB_EUNREACHABLE;
}

fb_code fb_kafka_check_trouble(fb_kafka *kafka, fb_error *err)
{
    fb_kafka_trouble   *trouble = &kafka->trouble;
    rd_kafka_resp_err_t worst;
    char                text[sizeof trouble->text];
    pthread_mutex_lock(&trouble->lock);
    worst = trouble->worst;
    if (trouble->suspect && weight(worst) < weight(trouble->suspect) &&
        fb_mono_ms() - trouble->suspect_ms >= SUSPECT_MS)
        worst = trouble->suspect;
    memcpy(text, trouble->text, sizeof text);
    pthread_mutex_unlock(&trouble->lock);
    if (weight(worst) < weight(RD_KAFKA_RESP_ERR__SSL)) return FB_OK;
    return fail_trouble(kafka, worst, text, err);
}

fb_code fb_kafka_fail(fb_kafka *kafka, rd_kafka_resp_err_t code, const char *doing,
                      fb_error *err)
{
    const char *topic = kafka->source->topic;
    fb_code     trouble = fb_kafka_check_trouble(kafka, err);
    if (trouble != FB_OK) return trouble;
    switch (code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        fb_error_set(err, FB_R_K005, "cannot %s: %s", doing, rd_kafka_err2str(code));
        fb_error_hint(
            err, "give the principal%s%s READ and DESCRIBE on topic \"%s\"",
            kafka->source->use->sasl_username ? " " : "",
            kafka->source->use->sasl_username ? kafka->source->use->sasl_username : "",
            topic);
        return FB_EAUTH;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_ID:
        return fb_fail(err, K004, "topic \"%s\" does not exist on %s", topic,
                       kafka->source->use->bootstrap_servers);
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION: // "invalid topic"
        return fb_fail(err, K004, "\"%s\" is no name for a topic: %s", topic,
                       rd_kafka_err2str(code));
    default: break;
    }
    if (!fb_kafka_is_passing(code)) {
        fb_error_set(err, FB_R_K009, "cannot %s: %s answered: %s", doing,
                     kafka->source->use->bootstrap_servers, rd_kafka_err2str(code));
        return FB_EUNSUPPORTED;
    }
    pthread_mutex_lock(&kafka->trouble.lock);
    bool is_answer = code > 0 || kafka->trouble.text[0] == '\0';
    trouble = fail_trouble(kafka, kafka->trouble.worst,
                           is_answer ? rd_kafka_err2str(code) : kafka->trouble.text, err);
    pthread_mutex_unlock(&kafka->trouble.lock);
    return trouble;
}

bool fb_kafka_is_passing(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR__PARTIAL:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED: return true;
    default: return false;
    }
}
