/* orders.c - fill a topic with made-up orders, the same ones for the same seed.
 *
 *   orders BROKERS TOPIC COUNT [PARTITIONS] [FILE]
 *
 * An order is a JSON object of about 240 bytes with nine columns: a UUID, numbers, short
 * words, an instant, a note (now and then with a quote or an accent) and a flag.  The topic
 * is created with PARTITIONS (4) and without retention; batches are lz4.  With FILE the
 * same bytes also go there, one order a line.
 */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEED = 42, MAX_ORDER = 512, FIRST_SECOND = 1767225600 };

static uint64_t state = SEED;
static int64_t  delivered;

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static unsigned below(unsigned n) { return (unsigned)((next_random() >> 32) * n >> 32); }

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "orders: %s\n", what);
    exit(1);
}

static void make_note(char note[128])
{
    static const char *const words[] = {"please", "leave", "at",    "the",   "door",   "gift",
                                        "wrap",   "call",  "ring",  "twice", "office", "hours",
                                        "only",   "blue",  "second", "floor", "urgent", "thanks"};
    unsigned wanted = 10 + below(70);
    size_t   size = 0;
    while (size < wanted) {
        const char *word = words[below(sizeof words / sizeof *words)];
        size += (size_t)snprintf(note + size, 128 - size, "%s%s", size ? " " : "", word);
    }
    unsigned special = below(100);
    if (special < 4) memcpy(note + size / 2, special < 2 ? "\\\"" : "\xC3\xA9", 2);
}

static size_t make_order(char *out, uint64_t number, int64_t *created_ms)
{
    static const char *const currencies[] = {"EUR", "USD", "GBP", "JPY", "CHF"};
    static const char *const statuses[] = {"NEW",     "PAID",      "PACKED",
                                           "SHIPPED", "DELIVERED", "CANCELLED"};
    char     note[128];
    uint64_t a = next_random(), b = next_random();
    unsigned cents = 100 + below(below(100) < 80 ? 20000 : 2000000);
    int64_t  ms = INT64_C(1000) * FIRST_SECOND + (int64_t)number * 7 + below(5000);
    time_t   seconds = ms / 1000;
    struct tm t;
    gmtime_r(&seconds, &t);
    make_note(note);
    *created_ms = ms;
    return (size_t)snprintf(
        out, MAX_ORDER,
        "{\"order_id\":\"%08x-%04x-4%03x-8%03x-%012" PRIx64 "\",\"customer_id\":%u,"
        "\"amount\":%u.%02u,\"currency\":\"%s\",\"status\":\"%s\",\"created_at\":"
        "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\",\"note\":\"%s\",\"priority\":%u,\"express\":%s}",
        (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
        (unsigned)(b >> 52), b & UINT64_C(0xffffffffffff), 100000 + below(900000), cents / 100,
        cents % 100, currencies[below(5)], statuses[below(6)], t.tm_year + 1900, t.tm_mon + 1,
        t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(ms % 1000), note, below(10),
        below(4) == 0 ? "true" : "false");
}

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque)
{
    (void)client;
    (void)opaque;
    if (message->err) die(rd_kafka_err2str(message->err));
    delivered++;
}

static rd_kafka_t *connect_to(const char *brokers)
{
    const char *const settings[][2] = {{"bootstrap.servers", brokers},
                                       {"compression.type", "lz4"},
                                       {"linger.ms", "100"},
                                       {"queue.buffering.max.messages", "500000"}};
    char             said[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], said, sizeof said)) die(said);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, said, sizeof said);
    if (!client) die(said);
    return client;
}

static void create_topic(rd_kafka_t *client, const char *name, int partitions)
{
    char                 said[256];
    rd_kafka_queue_t    *queue = rd_kafka_queue_new(client);
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, partitions, 1, said, sizeof said);
    if (!topic) die(said);
    rd_kafka_NewTopic_set_config(topic, "retention.ms", "-1");
    rd_kafka_CreateTopics(client, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 30000);
    if (!event) die("no answer from the brokers");
    rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(topic);
    rd_kafka_queue_destroy(queue);
}

static void produce(rd_kafka_t *client, const char *topic, const char *order, size_t size, int64_t ms)
{
    for (;;) {
        rd_kafka_resp_err_t said = rd_kafka_producev(
            client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_VALUE((void *)(uintptr_t)order, size),
            RD_KAFKA_V_TIMESTAMP(ms), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (!said) return;
        if (said != RD_KAFKA_RESP_ERR__QUEUE_FULL) die(rd_kafka_err2str(said));
        rd_kafka_poll(client, 20);
    }
}

int main(int argc, char **argv)
{
    char    order[MAX_ORDER];
    int64_t ms;
    if (argc < 4) die("usage: orders BROKERS TOPIC COUNT [PARTITIONS] [FILE]");
    int64_t     count = strtoll(argv[3], NULL, 10);
    rd_kafka_t *client = connect_to(argv[1]);
    FILE       *copy = argc > 5 ? fopen(argv[5], "w") : NULL;
    if (argc > 5 && !copy) die("the file cannot be written");
    create_topic(client, argv[2], argc > 4 ? (int)strtol(argv[4], NULL, 10) : 4);
    for (int64_t i = 0; i < count; i++) {
        size_t size = make_order(order, (uint64_t)i, &ms);
        if (copy) fprintf(copy, "%s\n", order);
        produce(client, argv[2], order, size, ms);
        if (i % 4096 == 0) rd_kafka_poll(client, 0);
    }
    while (rd_kafka_flush(client, 1000) == RD_KAFKA_RESP_ERR__TIMED_OUT)
        continue;
    if (copy) fclose(copy);
    rd_kafka_destroy(client);
    if (delivered != count) die("some orders were not acknowledged");
    return 0;
}
