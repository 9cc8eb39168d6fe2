/* demo_broker.c - the mock cluster and the producer that fills it; see demo_broker.h.
 *
 * One librdkafka client is both: made with test.mock.num.brokers it starts the cluster and
 * is connected to it.  Large zstd batches keep 600,000 orders below the cluster's ring.
 * The orders are made from their number alone, so that each demo has the same.
 */
#include "source/demo_broker.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/time.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <string.h>

enum { ANSWER_MS = 10000, FLUSH_MS = 60000, ORDER_BYTES = 200, KEY_BYTES = 24 };

struct fb_demo_broker {
    rd_kafka_t *client;
    int64_t     produced;
    int64_t     refused; ///< counted by the delivery callback
};

static const char *const properties[][2] = {
    {"test.mock.num.brokers", "1"},
    {"client.id", "forebay-demo"},
    {"acks", "1"},
    {"compression.type", "zstd"},
    {"linger.ms", "100"},
    {"batch.num.messages", "20000"},
    {"batch.size", "2000000"},
    {"queue.buffering.max.messages", "200000"},
};

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message,
                        void *opaque)
{
    fb_demo_broker *broker = opaque;
    (void)client;
    if (message->err) broker->refused++;
}

static void on_log(const rd_kafka_t *client, int level, const char *facility,
                   const char *text)
{
    (void)client;
    (void)level;
    fb_log(FB_LOG_DEBUG, "demo_broker", "%s: %s", facility, text);
}

static fb_code make_client(fb_demo_broker *broker, fb_error *err)
{
    char             said[256] = "no word";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_opaque(conf, broker);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_log_cb(conf, on_log);
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        if (rd_kafka_conf_set(conf, properties[i][0], properties[i][1], said,
                              sizeof said) == RD_KAFKA_CONF_OK)
            continue;
        rd_kafka_conf_destroy(conf);
        return fb_fail(err, I003, "cannot set up the built-in broker: %s", said);
    }
    broker->client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, said, sizeof said);
    if (broker->client) return FB_OK;
    rd_kafka_conf_destroy(conf);
    return fb_fail(err, I003, "cannot start the built-in broker: %s", said);
}

fb_code fb_demo_broker_open(fb_demo_broker **out, fb_error *err)
{
    fb_code         code = FB_OK;
    fb_demo_broker *broker = fb_alloc(sizeof *broker);
    if (!broker) return fb_fail_memory(err, "the built-in broker");
    FB_TRY(make_client(broker, err));
    rd_kafka_mock_cluster_t *cluster = rd_kafka_handle_mock_cluster(broker->client);
    rd_kafka_mock_set_controller_id(cluster, 1); // brokers count from 1, it would say 0
    rd_kafka_resp_err_t said =
        rd_kafka_mock_topic_create(cluster, FB_DEMO_TOPIC, FB_DEMO_PARTITIONS, 1);
    if (said)
        FB_TRY(fb_fail(err, I003, "cannot make a topic on the built-in broker: %s",
                       rd_kafka_err2str(said)));
    *out = broker;
    broker = NULL;
out:
    fb_demo_broker_close(broker);
    return code;
}

void fb_demo_broker_close(fb_demo_broker *broker)
{
    if (!broker) return;
    if (broker->client) rd_kafka_destroy(broker->client);
    fb_free(broker);
}

const char *fb_demo_broker_address(const fb_demo_broker *broker)
{
    return rd_kafka_mock_cluster_bootstraps(rd_kafka_handle_mock_cluster(broker->client));
}

/* --- orders --------------------------------------------------------------------------- */

/* A number that looks like chance, from the order's own (splitmix64). */
static uint64_t mix(uint64_t n)
{
    n += UINT64_C(0x9e3779b97f4a7c15);
    n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
    return n ^ n >> 31;
}

/* Which of the `broken` is order `n` of `count`?  They stand evenly apart. -1: none. */
static int64_t broken_index(int64_t n, int64_t count, int64_t broken)
{
    int64_t apart = broken > 0 ? count / broken : 0;
    if (apart == 0 || n % apart != apart / 2 || n / apart >= broken) return -1;
    return n / apart;
}

static int write_order(int64_t number, int64_t kind, int64_t time_us,
                       char out[ORDER_BYTES])
{
    static const char *const statuses[] = {"paid", "open", "refunded"};
    char                     when[40], amount[40], id[40];
    uint64_t                 chance = mix((uint64_t)number);
    unsigned                 share = (unsigned)(chance % 100);
    unsigned                 cents = 100 + (unsigned)(chance >> 8) % 9900;

    snprintf(id, sizeof id, "\"order_id\":\"o-%07" PRId64 "\",", number);
    snprintf(amount, sizeof amount, "%u.%02u", cents / 100, cents % 100);
    if (kind >= 0 && kind % 4 == 0) snprintf(amount, sizeof amount, "null");
    if (kind >= 0 && kind % 4 == 1) snprintf(amount, sizeof amount, "\"twelve\"");
    if (kind >= 0 && kind % 4 == 2) id[0] = '\0';
    if (kind >= 0 && kind % 4 == 3)
        return snprintf(out, ORDER_BYTES, "order o-%07" PRId64 " was here", number);
    return snprintf(
        out, ORDER_BYTES,
        "{%s\"customer\":\"c-%04u\",\"status\":\"%s\",\"amount\":%s,\"ts\":\"%s\"}", id,
        (unsigned)(chance >> 40) % 1000,
        statuses[share < 71   ? 0
                 : share < 91 ? 1
                              : 2],
        amount, fb_format_time_ms(time_us, when));
}

static fb_code produce_one(fb_demo_broker *broker, int64_t kind, int64_t time_us,
                           fb_error *err)
{
    char                value[ORDER_BYTES], key[KEY_BYTES];
    rd_kafka_resp_err_t said;
    int                 size = write_order(broker->produced, kind, time_us, value);
    int     key_size = snprintf(key, sizeof key, "o-%07" PRId64, broker->produced);
    int64_t deadline = fb_mono_ms() + FLUSH_MS;
    do {
        said = rd_kafka_producev(
            broker->client, RD_KAFKA_V_TOPIC(FB_DEMO_TOPIC),
            RD_KAFKA_V_PARTITION((int32_t)(broker->produced % FB_DEMO_PARTITIONS)),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_KEY(key, (size_t)key_size), RD_KAFKA_V_VALUE(value, (size_t)size),
            RD_KAFKA_V_TIMESTAMP(time_us / 1000), RD_KAFKA_V_END);
        if (said == RD_KAFKA_RESP_ERR__QUEUE_FULL) rd_kafka_poll(broker->client, 100);
    } while (said == RD_KAFKA_RESP_ERR__QUEUE_FULL && fb_mono_ms() < deadline);
    if (said)
        return fb_fail(err, I003, "cannot produce to the built-in broker: %s",
                       rd_kafka_err2str(said));
    broker->produced++;
    return FB_OK;
}

/* Does the topic hold all that was produced, from offset 0 on? */
static fb_code count_all(fb_demo_broker *broker, fb_error *err)
{
    int64_t held = 0;
    for (int32_t i = 0; i < FB_DEMO_PARTITIONS; i++) {
        int64_t             low, high;
        rd_kafka_resp_err_t said = rd_kafka_query_watermark_offsets(
            broker->client, FB_DEMO_TOPIC, i, &low, &high, ANSWER_MS);
        if (said)
            return fb_fail(err, I003, "the built-in broker does not answer: %s",
                           rd_kafka_err2str(said));
        held += high - low;
    }
    if (held == broker->produced && broker->refused == 0) return FB_OK;
    return fb_fail(err, I003,
                   "the built-in broker holds %" PRId64 " of %" PRId64
                   " messages: it keeps 5 MiB of a partition",
                   held, broker->produced);
}

fb_code fb_demo_broker_produce(fb_demo_broker *broker, int64_t count, int64_t broken,
                               fb_error *err)
{
    fb_code code = FB_OK;
    int64_t now_us = fb_now_us();
    for (int64_t n = 0; n < count; n++) {
        int64_t time_us = now_us - (count - 1 - n) * 1000; // the last one is written now
        FB_TRY(produce_one(broker, broken_index(n, count, broken), time_us, err));
        if (n % 1000 == 0) rd_kafka_poll(broker->client, 0);
    }
    if (rd_kafka_flush(broker->client, FLUSH_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        FB_TRY(
            fb_fail(err, I003, "the built-in broker did not take all messages in time"));
    FB_TRY(count_all(broker, err));
out:
    return code;
}
