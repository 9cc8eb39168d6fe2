/* bare.c - the yardstick: read a topic from its start to its end and do nothing with it.
 *
 *   bare BROKERS TOPIC
 *
 * One librdkafka client, batches of 10,000 messages, settings that make it as quick as it
 * gets: what any consumer in C must pay.  Prints the number of messages and of bytes.
 */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PARTITIONS = 1024, BATCH = 10000, WAIT_MS = 10000 };

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bare: %s\n", what);
    exit(1);
}

static rd_kafka_t *connect_to(const char *brokers)
{
    const char *const settings[][2] = {{"bootstrap.servers", brokers},
                                       {"group.id", "forebay-bare"},
                                       {"enable.auto.commit", "false"},
                                       {"queued.min.messages", "2000000"},
                                       {"queued.max.messages.kbytes", "262144"},
                                       {"fetch.message.max.bytes", "8388608"},
                                       {"fetch.max.bytes", "67108864"},
                                       {"receive.message.max.bytes", "100000000"},
                                       {"fetch.wait.max.ms", "50"},
                                       {"fetch.error.backoff.ms", "5"}};
    char             said[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], said, sizeof said)) die(said);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, said, sizeof said);
    if (!client) die(said);
    return client;
}

int main(int argc, char **argv)
{
    static int64_t                  ends[MAX_PARTITIONS];
    static rd_kafka_message_t      *batch[BATCH];
    const struct rd_kafka_metadata *metadata;
    int64_t                         messages = 0, bytes = 0, start;
    int                             open = 0;
    if (argc < 3) die("usage: bare BROKERS TOPIC");
    rd_kafka_t       *client = connect_to(argv[1]);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, argv[2], NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    if (rd_kafka_metadata(client, 0, topic, &metadata, WAIT_MS)) die("no answer from the brokers");
    int count = metadata->topics[0].partition_cnt;
    if (count < 1 || count > MAX_PARTITIONS) die("no such topic");
    for (int p = 0; p < count; p++) {
        if (rd_kafka_query_watermark_offsets(client, argv[2], p, &start, &ends[p], WAIT_MS))
            die("no offsets");
        if (start == ends[p]) continue;
        open++;
        if (rd_kafka_consume_start_queue(topic, p, start, queue)) die("cannot begin to read");
    }
    while (open > 0) {
        ssize_t got = rd_kafka_consume_batch_queue(queue, 100, batch, BATCH);
        for (ssize_t i = 0; i < got; i++) {
            if (batch[i]->err) die(rd_kafka_message_errstr(batch[i]));
            messages++;
            bytes += (int64_t)batch[i]->len;
            open -= batch[i]->offset == ends[batch[i]->partition] - 1;
            rd_kafka_message_destroy(batch[i]);
        }
    }
    for (int p = 0; p < count; p++)
        rd_kafka_consume_stop(topic, p);
    printf("%" PRId64 " messages, %" PRId64 " bytes\n", messages, bytes);
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_queue_destroy(queue);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(client);
    return 0;
}
