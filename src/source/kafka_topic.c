/* kafka_topic.c - questions to the brokers: topics, offsets, times, and the group's mirror.
 *
 * Every question is asked in short turns until the caller's deadline, so that a refusal by
 * a broker (which arrives by callback) ends the wait at once.
 */
#include "source/kafka_client.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "base/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_TURN_MS = 2000,
    SILENT_MS = 2000,  ///< then somebody who watches is told
    TURN_MS = 100,     ///< of a wait, after which refusals are looked for
    PAUSE_MS = 50,     ///< before the same is asked again
    UNKNOWN_MS = 500,  ///< a topic that a restarted broker does not know may still exist
    ID_MS = 2000,      ///< to ask for the topic's id, which is not needed to read
    MAX_NAMES = 10000,
};

static const atomic_bool *stop_flag;

void fb_kafka_heed(const atomic_bool *stop) { stop_flag = stop; }

/* Serve callbacks and see whether waiting on makes sense. */
static fb_code take_turn(fb_kafka *kafka, fb_error *err)
{
    if (stop_flag && atomic_load(stop_flag))
        return fb_fail(err, I002, "stopped while waiting for %s",
                       kafka->source->use->bootstrap_servers);
    rd_kafka_message_t *message = rd_kafka_consumer_poll(kafka->client, 0);
    if (message) rd_kafka_message_destroy(message);
    return fb_kafka_check_trouble(kafka, err);
}

/* What is left until the deadline, at most `most`, at least 1. */
static int left_ms(int64_t deadline, int64_t most)
{
    int64_t left = deadline - fb_mono_ms();
    return left <= 0 ? 1 : left < most ? (int)left : (int)most;
}

/* Ask once for the topic; on OK the caller destroys `out`. */
static rd_kafka_resp_err_t ask_topic(fb_kafka *kafka, rd_kafka_topic_t *topic, int wait_ms,
                                     const struct rd_kafka_metadata **out)
{
    rd_kafka_resp_err_t said = rd_kafka_metadata(kafka->client, 0, topic, out, wait_ms);
    if (said != RD_KAFKA_RESP_ERR_NO_ERROR) return said;
    said = (*out)->topic_cnt == 1 ? (*out)->topics[0].err : RD_KAFKA_RESP_ERR__PARTIAL;
    if (said == RD_KAFKA_RESP_ERR_NO_ERROR) return said;
    rd_kafka_metadata_destroy(*out);
    *out = NULL; // a caller that fails destroys what it has
    return said;
}

static bool is_unknown(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
           code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC || code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_ID;
}

/* Somebody may be watching: say once what is waited for. */
static void say_waiting(const fb_kafka *kafka, int64_t *told_at)
{
    if (fb_mono_ms() < *told_at) return;
    *told_at = INT64_MAX;
    fb_log(FB_LOG_INFO, "waiting_for_brokers", "waiting for an answer from %s",
           kafka->source->use->bootstrap_servers);
}

/* The topic as the brokers list it; the caller destroys `out`. */
static fb_code fetch_metadata(fb_kafka *kafka, int64_t deadline,
                              const struct rd_kafka_metadata **out, fb_error *err)
{
    fb_code           code = FB_OK;
    int64_t           unknown_until = fb_mono_ms() + UNKNOWN_MS, turn = TURN_MS;
    int64_t           told_at = fb_mono_ms() + SILENT_MS;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(kafka->client, kafka->source->topic, NULL);
    if (!topic)
        return fb_fail(err, K004, "\"%s\" is no name for a topic", kafka->source->topic);
    if (unknown_until > deadline) unknown_until = deadline;
    for (;;) {
        FB_TRY(take_turn(kafka, err));
        rd_kafka_resp_err_t said = ask_topic(kafka, topic, left_ms(deadline, turn), out);
        if (said == RD_KAFKA_RESP_ERR_NO_ERROR) break;
        int64_t until = is_unknown(said) ? unknown_until : deadline;
        if ((!is_unknown(said) && !fb_kafka_is_passing(said)) || fb_mono_ms() >= until) {
            code = fb_kafka_fail(kafka, said, "describe the topic", err);
            goto out;
        }
        say_waiting(kafka, &told_at);
        if (said == RD_KAFKA_RESP_ERR__TIMED_OUT && turn < LONGEST_TURN_MS)
            turn *= 2; // the way to the broker may be longer than a turn
        else
            fb_sleep_ms(left_ms(deadline, PAUSE_MS));
    }
    fb_kafka_trouble_reset(&kafka->trouble);
out:
    rd_kafka_topic_destroy(topic);
    return code;
}

/* "did you mean" for a topic that is not there; best effort. */
static void suggest_topic(fb_kafka *kafka, fb_error *err)
{
    const struct rd_kafka_metadata *all;
    fb_nearest                      nearest;
    if (rd_kafka_metadata(kafka->client, 1, NULL, &all, 2000) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
    fb_nearest_init(&nearest, kafka->source->topic);
    for (int i = 0; i < all->topic_cnt && i < MAX_NAMES; i++)
        fb_nearest_offer(&nearest, all->topics[i].topic);
    if (nearest.best)
        fb_error_hint(err, "did you mean \"%s\"?", nearest.best);
    else
        fb_error_hint(err, "create it, or correct the name; the cluster has %d topics",
                      all->topic_cnt);
    rd_kafka_metadata_destroy(all);
}

fb_code fb_kafka_open(const fb_kafka_source *source, const char *group, int64_t timeout_ms,
                      fb_kafka **out, fb_error *err)
{
    fb_code                         code = FB_OK;
    const struct rd_kafka_metadata *metadata;
    fb_kafka                       *kafka = fb_alloc(sizeof *kafka);
    if (!kafka) return fb_fail_memory(err, "a Kafka client");
    kafka->source = source;
    fb_kafka_trouble_init(&kafka->trouble);
    snprintf(kafka->group, sizeof kafka->group, "%s", group);
    FB_TRY(fb_kafka_client_new(kafka, &kafka->trouble, 0, &kafka->client, err));
    code = fetch_metadata(kafka, fb_mono_ms() + timeout_ms, &metadata, err);
    if (code == FB_EMISSING) suggest_topic(kafka, err);
    if (code != FB_OK) goto out;
    rd_kafka_metadata_destroy(metadata);
    *out = kafka;
    kafka = NULL;
out:
    fb_kafka_close(kafka);
    return code;
}

void fb_kafka_close(fb_kafka *kafka)
{
    if (!kafka) return;
    if (kafka->client) {
        /* There was no group to leave, so nothing is waited for. */
        rd_kafka_destroy_flags(kafka->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
    fb_kafka_trouble_clear(&kafka->trouble);
    fb_free(kafka);
}

void fb_kafka_topic_clear(fb_kafka_topic *topic)
{
    fb_free(topic->partitions);
    *topic = (fb_kafka_topic){0};
}

static int by_id(const void *a, const void *b)
{
    const fb_kafka_partition *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Wait for the answer to an admin request. NULL with an error set. */
static rd_kafka_event_t *wait_event(fb_kafka *kafka, rd_kafka_queue_t *queue, int64_t deadline,
                                    const char *doing, fb_error *err)
{
    rd_kafka_event_t *event = NULL;
    while (!event) {
        if (take_turn(kafka, err) != FB_OK) return NULL;
        event = rd_kafka_queue_poll(queue, left_ms(deadline, TURN_MS));
        if (!event && fb_mono_ms() >= deadline &&
            fb_kafka_fail(kafka, RD_KAFKA_RESP_ERR__TIMED_OUT, doing, err) != FB_OK)
            return NULL;
    }
    return event;
}

static rd_kafka_AdminOptions_t *admin_options(fb_kafka *kafka, rd_kafka_admin_op_t op,
                                              int64_t deadline)
{
    char                     said[128];
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(kafka->client, op);
    rd_kafka_AdminOptions_set_request_timeout(options, left_ms(deadline, INT32_MAX), said,
                                              sizeof said);
    return options;
}

typedef enum answer { LOW, END, HIGH } answer;

static int64_t *place_of(fb_kafka_partition *p, answer which)
{
    return which == LOW ? &p->low : which == END ? &p->end : &p->high;
}

/* Take the answers over. @return what went wrong with one of them, or was missing */
static rd_kafka_resp_err_t take_offsets(const rd_kafka_ListOffsets_result_t *result, answer which,
                                        fb_kafka_topic *topic)
{
    size_t                                   count, found = 0;
    const rd_kafka_ListOffsetsResultInfo_t **infos =
        rd_kafka_ListOffsets_result_infos(result, &count);
    for (size_t i = 0; i < count; i++) {
        const rd_kafka_topic_partition_t *told =
            rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
        fb_kafka_partition  key = {.id = told->partition};
        fb_kafka_partition *p = bsearch(&key, topic->partitions, topic->count, sizeof key, by_id);
        /* The topic is there, so a broker that does not know the partition will. */
        if (is_unknown(told->err)) return RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
        if (told->err) return told->err;
        if (told->offset < 0) return RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE;
        if (p) *place_of(p, which) = told->offset;
        if (p) found++;
    }
    return found == topic->count ? RD_KAFKA_RESP_ERR_NO_ERROR : RD_KAFKA_RESP_ERR__PARTIAL;
}

/* One ListOffsets round for all partitions. `said` is what the brokers answered.
 * @return FB_OK, or what ended the wait for an answer */
static fb_code list_offsets(fb_kafka *kafka, fb_kafka_topic *topic, answer which, int64_t deadline,
                            rd_kafka_resp_err_t *said, fb_error *err)
{
    fb_code                          code = FB_OK;
    rd_kafka_queue_t                *queue = rd_kafka_queue_new(kafka->client);
    rd_kafka_topic_partition_list_t *asked = rd_kafka_topic_partition_list_new((int)topic->count);
    rd_kafka_AdminOptions_t         *options =
        admin_options(kafka, RD_KAFKA_ADMIN_OP_LISTOFFSETS, deadline);

    for (size_t i = 0; i < topic->count; i++)
        rd_kafka_topic_partition_list_add(asked, kafka->source->topic, topic->partitions[i].id)
            ->offset = which == LOW ? RD_KAFKA_OFFSET_SPEC_EARLIEST : RD_KAFKA_OFFSET_SPEC_LATEST;
    rd_kafka_error_t *refused = rd_kafka_AdminOptions_set_isolation_level(
        options, which == HIGH ? RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED
                               : RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED);
    if (refused) rd_kafka_error_destroy(refused);
    rd_kafka_ListOffsets(kafka->client, asked, options, queue);
    rd_kafka_event_t *event = wait_event(kafka, queue, deadline, "ask for offsets", err);
    if (event) {
        *said = rd_kafka_event_error(event);
        if (*said == RD_KAFKA_RESP_ERR_NO_ERROR)
            *said = take_offsets(rd_kafka_event_ListOffsets_result(event), which, topic);
        rd_kafka_event_destroy(event);
    } else {
        code = err->code;
    }
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_topic_partition_list_destroy(asked);
    rd_kafka_queue_destroy(queue);
    return code;
}

/* Partition by partition, for brokers that know no ListOffsets with a level of isolation:
 * then there are no transactions, and what can be read is the high watermark. */
static rd_kafka_resp_err_t query_offsets(fb_kafka *kafka, fb_kafka_topic *topic, int64_t deadline)
{
    for (size_t i = 0; i < topic->count; i++) {
        fb_kafka_partition *p = &topic->partitions[i];
        rd_kafka_resp_err_t said =
            rd_kafka_query_watermark_offsets(kafka->client, kafka->source->topic, p->id, &p->low,
                                             &p->high, left_ms(deadline, INT32_MAX));
        p->end = p->high;
        if (is_unknown(said)) return RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
        if (said != RD_KAFKA_RESP_ERR_NO_ERROR) return said;
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Ask for all offsets of all partitions until the deadline, while trouble passes. */
static fb_code ask_offsets(fb_kafka *kafka, fb_kafka_topic *topic, int64_t deadline, fb_error *err)
{
    for (int which = LOW; which <= HIGH;) {
        rd_kafka_resp_err_t said = RD_KAFKA_RESP_ERR_NO_ERROR;
        fb_code code = list_offsets(kafka, topic, (answer)which, deadline, &said, err);
        if (code != FB_OK) return code;
        if (said == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE) {
            said = query_offsets(kafka, topic, deadline);
            if (said == RD_KAFKA_RESP_ERR_NO_ERROR) return FB_OK;
        }
        if (said == RD_KAFKA_RESP_ERR_NO_ERROR) {
            which++;
            continue;
        }
        if (!fb_kafka_is_passing(said) || fb_mono_ms() + PAUSE_MS >= deadline)
            return fb_kafka_fail(kafka, said, "ask for offsets", err);
        fb_sleep_ms(PAUSE_MS);
    }
    return FB_OK;
}

static void take_topic_id(const rd_kafka_DescribeTopics_result_t *result, fb_kafka_topic *topic)
{
    size_t                              count = 0;
    const rd_kafka_TopicDescription_t **list =
        rd_kafka_DescribeTopics_result_topics(result, &count);
    if (count != 1 || rd_kafka_TopicDescription_error(list[0])) return;
    const rd_kafka_Uuid_t *id = rd_kafka_TopicDescription_topic_id(list[0]);
    if (rd_kafka_Uuid_most_significant_bits(id) || rd_kafka_Uuid_least_significant_bits(id))
        snprintf(topic->id, sizeof topic->id, "%s", rd_kafka_Uuid_base64str(id));
}

/* Ask once for the topic's id. @return whether asking again may help */
static bool ask_id_once(fb_kafka *kafka, int64_t deadline, fb_kafka_topic *topic)
{
    fb_error                    ignored;
    const char                 *name[] = {kafka->source->topic};
    rd_kafka_resp_err_t         said = RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_queue_t           *queue = rd_kafka_queue_new(kafka->client);
    rd_kafka_TopicCollection_t *topics = rd_kafka_TopicCollection_of_topic_names(name, 1);
    rd_kafka_AdminOptions_t    *options =
        admin_options(kafka, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, deadline);
    rd_kafka_DescribeTopics(kafka->client, topics, options, queue);
    rd_kafka_event_t *event = wait_event(kafka, queue, deadline, "describe the topic", &ignored);
    if (event) {
        said = rd_kafka_event_error(event);
        if (!said) take_topic_id(rd_kafka_event_DescribeTopics_result(event), topic);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_TopicCollection_destroy(topics);
    rd_kafka_queue_destroy(queue);
    return event && fb_kafka_is_passing(said);
}

/* The topic's id, where the cluster knows such a thing; older brokers do not.  Reading does
 * not need it, so that nothing fails for want of it. */
static void ask_topic_id(fb_kafka *kafka, int64_t deadline, fb_kafka_topic *topic)
{
    if (deadline > fb_mono_ms() + ID_MS) deadline = fb_mono_ms() + ID_MS;
    while (ask_id_once(kafka, deadline, topic) && fb_mono_ms() + PAUSE_MS < deadline)
        fb_sleep_ms(PAUSE_MS);
}

fb_code fb_kafka_describe(fb_kafka *kafka, int64_t timeout_ms, fb_kafka_topic *out, fb_error *err)
{
    fb_code                         code = FB_OK;
    int64_t                         deadline = fb_mono_ms() + timeout_ms;
    const struct rd_kafka_metadata *metadata = NULL;

    FB_TRY(fetch_metadata(kafka, deadline, &metadata, err));
    int count = metadata->topics[0].partition_cnt;
    if (count > FB_MAX_PARTITIONS) {
        code = fb_fail(err, M002, "topic \"%s\" has %d partitions, more than %d",
                       kafka->source->topic, count, FB_MAX_PARTITIONS);
        goto out;
    }
    out->partitions = fb_alloc((size_t)count * sizeof *out->partitions);
    if (!out->partitions) FB_TRY(fb_fail_memory(err, "a topic's partitions"));
    out->count = (size_t)count;
    for (int i = 0; i < count; i++)
        out->partitions[i].id = metadata->topics[0].partitions[i].id;
    qsort(out->partitions, out->count, sizeof *out->partitions, by_id);
    FB_TRY(ask_offsets(kafka, out, deadline, err));
    ask_topic_id(kafka, deadline, out);
out:
    if (metadata) rd_kafka_metadata_destroy(metadata);
    if (code != FB_OK) fb_kafka_topic_clear(out);
    return code;
}

/* Ask once for the offsets of a time. */
static rd_kafka_resp_err_t ask_time(fb_kafka *kafka, const fb_kafka_topic *topic, int64_t time_ms,
                                    int wait_ms, int64_t *offsets)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)topic->count);
    for (size_t i = 0; i < topic->count; i++)
        rd_kafka_topic_partition_list_add(list, kafka->source->topic, topic->partitions[i].id)
            ->offset = time_ms;
    rd_kafka_resp_err_t said = rd_kafka_offsets_for_times(kafka->client, list, wait_ms);
    for (size_t i = 0; i < topic->count && said == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
        const rd_kafka_topic_partition_t *p = &list->elems[i];
        const fb_kafka_partition         *known = &topic->partitions[i];
        said = is_unknown(p->err) ? RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE : p->err;
        offsets[i] = p->offset < 0 || p->offset > known->end ? known->end : p->offset;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return said;
}

fb_code fb_kafka_offsets_at(fb_kafka *kafka, const fb_kafka_topic *topic, int64_t time_ms,
                            int64_t timeout_ms, int64_t *offsets, fb_error *err)
{
    int64_t deadline = fb_mono_ms() + timeout_ms;
    for (;;) {
        fb_code code = take_turn(kafka, err);
        if (code != FB_OK) return code;
        rd_kafka_resp_err_t said =
            ask_time(kafka, topic, time_ms, left_ms(deadline, INT32_MAX), offsets);
        if (said == RD_KAFKA_RESP_ERR_NO_ERROR) return FB_OK;
        if (!fb_kafka_is_passing(said) || fb_mono_ms() + PAUSE_MS >= deadline)
            return fb_kafka_fail(kafka, said, "ask for the offsets of a time", err);
        fb_sleep_ms(PAUSE_MS);
    }
}

fb_code fb_kafka_timestamps_at(fb_kafka *kafka, const fb_kafka_range *ranges, size_t count,
                               int64_t timeout_ms, int64_t *timestamps_ms, fb_error *err)
{
    fb_code                          code = FB_OK;
    rd_kafka_t                      *client = NULL;
    fb_kafka_trouble                 trouble;
    int64_t                          deadline = fb_mono_ms() + timeout_ms;
    size_t                           found = 0;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);

    fb_kafka_trouble_init(&trouble);
    for (size_t i = 0; i < count; i++) {
        timestamps_ms[i] = -1;
        rd_kafka_topic_partition_list_add(list, kafka->source->topic, ranges[i].partition)->offset =
            ranges[i].first;
    }
    FB_TRY(fb_kafka_client_new(kafka, &trouble, 1 << 20, &client, err));
    rd_kafka_assign(client, list);
    while (found < count && fb_mono_ms() < deadline) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(client, 100);
        if (!m) continue;
        for (size_t i = 0; i < count; i++) {
            if (ranges[i].partition != m->partition || timestamps_ms[i] != -1) continue;
            rd_kafka_timestamp_type_t type;
            int64_t                   at = m->err ? -2 : rd_kafka_message_timestamp(m, &type);
            timestamps_ms[i] = at < 0 ? -2 : at;
            found++;
        }
        rd_kafka_message_destroy(m);
    }
    for (size_t i = 0; i < count; i++)
        if (timestamps_ms[i] < 0) timestamps_ms[i] = -1;
out:
    if (client) rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    fb_kafka_trouble_clear(&trouble);
    rd_kafka_topic_partition_list_destroy(list);
    return code;
}

void fb_kafka_print_about(fb_kafka *kafka, fb_buf *out)
{
    static const char *const protocols[] = {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"};
    const struct rd_kafka_metadata *all;
    int   protocol = kafka->source->use->security_protocol;
    char *cluster = rd_kafka_clusterid(kafka->client, 1000);
    int   brokers = 0;
    if (rd_kafka_metadata(kafka->client, 0, NULL, &all, 2000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        brokers = all->broker_cnt;
        rd_kafka_metadata_destroy(all);
    }
    fb_buf_printf(out, "%d broker%s, %s, cluster %s", brokers, brokers == 1 ? "" : "s",
                  protocols[protocol == FB_UNSET ? FB_KAFKA_PLAINTEXT : protocol],
                  cluster ? cluster : "unknown");
    if (cluster) rd_kafka_mem_free(kafka->client, cluster);
}

fb_code fb_kafka_group_commit(fb_kafka *kafka, const fb_books *books, int64_t timeout_ms,
                              fb_error *err)
{
    fb_code                          code = FB_OK;
    rd_kafka_resp_err_t              said = RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_queue_t                *queue = rd_kafka_queue_new(kafka->client);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)books->count);
    for (size_t i = 0; i < books->count; i++)
        rd_kafka_topic_partition_list_add(list, kafka->source->topic, books->list[i].partition)
            ->offset = books->list[i].next;
    /* The answer comes as an event, so that a broker that is away costs timeout_ms. */
    rd_kafka_resp_err_t sent = rd_kafka_commit_queue(kafka->client, list, queue, NULL, NULL);
    rd_kafka_event_t   *event = sent ? NULL : rd_kafka_queue_poll(queue, (int)timeout_ms);
    if (event) said = rd_kafka_event_error(event);
    if (event) rd_kafka_event_destroy(event);
    if (sent) said = sent;
    if (said) {
        fb_error_set(err, FB_R_K020, "could not show the positions in group %s: %s", kafka->group,
                     rd_kafka_err2str(said));
        code = FB_EUNREACHABLE;
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_queue_destroy(queue);
    return code;
}
