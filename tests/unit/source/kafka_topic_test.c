/* kafka_topic_test.c - questions to a mock cluster, and its refusals. */
#include "base/time.h"
#include "tests/unit/source/mock.h"

#include <pthread.h>

/* Let the broker answer a kind of request with each of these errors, one after the other. */
static void push(mock *m, int16_t api, const rd_kafka_resp_err_t *errors, int count)
{
    for (int i = 0; i < count; i++)
        rd_kafka_mock_broker_push_request_error_rtts(m->cluster, 1, api, 1, errors[i], 0);
}

static void were_all_met(mock *m, int16_t api)
{
    size_t left = 99;
    rd_kafka_mock_broker_error_stack_cnt(m->cluster, 1, api, &left);
    CHECK_INT(left, 0);
}

/* --- opening ---------------------------------------------------------------------- */

TEST(a_topic_that_is_there_is_opened_at_once)
{
    mock    m;
    int64_t before = fb_mono_ms();
    mock_open(&m, 1, 1);
    REQUIRE(mock_connect(&m));
    CHECK(fb_mono_ms() - before < 500);
    mock_close(&m);
    fb_kafka_close(NULL);
}

TEST(a_topic_that_is_not_there_is_named_with_the_nearest_that_is)
{
    mock    m;
    int64_t before = fb_mono_ms();
    mock_open(&m, 1, 1);
    rd_kafka_mock_topic_create(m.cluster, "customers", 1, 1);
    m.source.topic = "ordres";
    CHECK(fb_kafka_open(&m.source, "test", 5000, &m.kafka, &m.err) == FB_EMISSING);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K004");
    CHECK_HAS(m.err.what, "topic \"ordres\" does not exist on ");
    CHECK_TEXT(m.err.hint, "did you mean \"orders\"?");
    CHECK(m.kafka == NULL);
    m.source.topic = "telemetry";
    CHECK(fb_kafka_open(&m.source, "test", 2000, &m.kafka, &m.err) == FB_EMISSING);
    CHECK_TEXT(m.err.hint, "create it, or correct the name; the cluster has 2 topics");
    CHECK(fb_mono_ms() - before < 2000);
    mock_close(&m);
}

static void *know_topic_soon(void *context)
{
    mock *m = context;
    fb_sleep_ms(150);
    rd_kafka_mock_topic_set_error(m->cluster, "orders", RD_KAFKA_RESP_ERR_NO_ERROR);
    return NULL;
}

/* The broker answers with `error` for the topic, and a little later with the topic. */
static void is_asked_again(rd_kafka_resp_err_t error)
{
    mock      m;
    pthread_t other;
    int64_t   before;
    mock_open(&m, 1, 1);
    rd_kafka_mock_topic_set_error(m.cluster, "orders", error);
    CHECK(pthread_create(&other, NULL, know_topic_soon, &m) == 0);
    before = fb_mono_ms();
    mock_connect(&m);
    CHECK(fb_mono_ms() - before >= 100);
    pthread_join(other, NULL);
    mock_close(&m);
}

TEST(a_topic_that_a_starting_broker_does_not_know_yet_is_asked_for_again)
{
    is_asked_again(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    is_asked_again(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
}

TEST(a_cluster_that_does_not_answer_is_given_up_at_the_deadline)
{
    mock    m;
    int64_t before;
    mock_open(&m, 1, 1);
    rd_kafka_mock_broker_set_down(m.cluster, 1);
    before = fb_mono_ms();
    CHECK(fb_kafka_open(&m.source, "test", 500, &m.kafka, &m.err) == FB_EUNREACHABLE);
    CHECK(fb_mono_ms() - before >= 500 && fb_mono_ms() - before < 1200);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K001");
    CHECK_HAS(m.err.what, m.source.own.bootstrap_servers);
    CHECK_HAS(m.err.what, "Connection refused");
    rd_kafka_mock_broker_set_up(m.cluster, 1);
    mock_close(&m);
}

TEST(a_broker_far_away_is_waited_for_longer_than_one_turn)
{
    mock m;
    mock_open(&m, 1, 1);
    rd_kafka_mock_broker_set_rtt(m.cluster, 1, 120);
    CHECK_CODE(fb_kafka_open(&m.source, "test", 5000, &m.kafka, &m.err), FB_OK, &m.err);
    rd_kafka_mock_broker_set_rtt(m.cluster, 1, 0);
    mock_close(&m);
}

TEST(a_topic_that_may_not_be_read_names_what_the_principal_lacks)
{
    static const rd_kafka_resp_err_t refused[] = {
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED};
    mock m;
    mock_open(&m, 1, 1);
    m.source.own.sasl_username = "loader"; // without SASL it is only a name
    rd_kafka_mock_topic_set_error(m.cluster, "orders", refused[0]);
    CHECK(fb_kafka_open(&m.source, "test", 5000, &m.kafka, &m.err) == FB_EAUTH);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K005");
    CHECK_HAS(m.err.what, "Topic authorization failed");
    CHECK_TEXT(m.err.hint,
               "give the principal loader READ and DESCRIBE on topic \"orders\"");
    rd_kafka_mock_topic_set_error(m.cluster, "orders", RD_KAFKA_RESP_ERR_NO_ERROR);
    mock_close(&m);
}

TEST(a_port_that_speaks_no_tls_is_told_from_one_that_does_not_answer)
{
    mock m;
    mock_open(&m, 1, 1);
    m.source.own.security_protocol = FB_KAFKA_SSL;
    CHECK(fb_kafka_open(&m.source, "test", 500, &m.kafka, &m.err) == FB_EAUTH);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K003");
    CHECK_HAS(m.err.what, "no TLS connection to ");
    mock_close(&m);
}

TEST(a_request_that_a_broker_does_not_know_is_quoted)
{
    mock m;
    mock_open(&m, 1, 1);
    rd_kafka_mock_topic_set_error(m.cluster, "orders",
                                  RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION);
    CHECK(fb_kafka_open(&m.source, "test", 5000, &m.kafka, &m.err) == FB_EUNSUPPORTED);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K009");
    CHECK_HAS(m.err.what, "cannot describe the topic");
    mock_close(&m);
}

TEST(a_property_that_the_client_refuses_is_named)
{
    mock    m;
    fb_pair pair = {.name = "fetch.wait.max.ms", .value = "soon"};
    mock_open(&m, 1, 1);
    m.source.own.options = &pair;
    m.source.own.options_count = 1;
    CHECK(fb_kafka_open(&m.source, "test", 500, &m.kafka, &m.err) == FB_ECONFIG);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K010");
    CHECK_HAS(m.err.what, "fetch.wait.max.ms");
    pair = (fb_pair){.name = "no.such.property", .value = "1"};
    CHECK(fb_kafka_open(&m.source, "test", 500, &m.kafka, &m.err) == FB_ECONFIG);
    CHECK_HAS(m.err.what, "no.such.property");
    m.source.own.options_count = 0;
    mock_close(&m);
}

/* --- describing ------------------------------------------------------------------- */

TEST(a_topic_is_described_with_the_offsets_of_each_partition)
{
    mock           m;
    fb_kafka_topic topic = {0};
    mock_open(&m, 1, 3);
    mock_fill(&m, 0, 10);
    mock_fill(&m, 2, 5);
    rd_kafka_mock_partition_delete_records(m.cluster, "orders", 0, 4);
    REQUIRE(mock_connect(&m));
    CHECK_CODE(fb_kafka_describe(m.kafka, 5000, &topic, &m.err), FB_OK, &m.err);
    REQUIRE(topic.count == 3);
    for (int i = 0; i < 3; i++) CHECK_INT(topic.partitions[i].id, i);
    CHECK_INT(topic.partitions[0].low, 4);
    CHECK_INT(topic.partitions[0].end, 10);
    CHECK_INT(topic.partitions[0].high, 10);
    CHECK_INT(topic.partitions[1].low, 0);
    CHECK_INT(topic.partitions[1].end, 0);
    CHECK_INT(topic.partitions[2].end, 5);
    CHECK_INT(strlen(topic.id), 22); // 16 bytes in base64
    fb_kafka_topic_clear(&topic);
    fb_kafka_topic_clear(&topic);
    mock_close(&m);
}

TEST(a_topic_that_was_made_again_has_another_id)
{
    mock           m;
    fb_kafka_topic first = {0}, second = {0};
    mock_open(&m, 1, 1);
    REQUIRE(mock_connect(&m));
    CHECK_CODE(fb_kafka_describe(m.kafka, 5000, &first, &m.err), FB_OK, &m.err);
    CHECK(rd_kafka_mock_topic_delete(m.cluster, "orders") == RD_KAFKA_RESP_ERR_NO_ERROR);
    CHECK(rd_kafka_mock_topic_create(m.cluster, "orders", 1, 1) ==
          RD_KAFKA_RESP_ERR_NO_ERROR);
    CHECK_CODE(fb_kafka_describe(m.kafka, 5000, &second, &m.err), FB_OK, &m.err);
    CHECK(first.id[0] && second.id[0] && strcmp(first.id, second.id) != 0);
    fb_kafka_topic_clear(&first);
    fb_kafka_topic_clear(&second);
    mock_close(&m);
}

TEST(a_cluster_that_gives_no_topic_id_is_described_without_one)
{
    mock           m;
    fb_kafka_topic topic = {0};
    mock_open(&m, 1, 1);
    mock_fill(&m, 0, 3);
    rd_kafka_mock_set_controller_id(m.cluster, -1); // who could tell it
    REQUIRE(mock_connect(&m));
    CHECK_CODE(fb_kafka_describe(m.kafka, 500, &topic, &m.err), FB_OK, &m.err);
    CHECK_TEXT(topic.id, "");
    REQUIRE(topic.count == 1);
    CHECK_INT(topic.partitions[0].end, 3);
    fb_kafka_topic_clear(&topic);
    mock_close(&m);
}

TEST(passing_trouble_with_offsets_is_asked_again)
{
    static const rd_kafka_resp_err_t passing[] = {
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE};
    mock           m;
    fb_kafka_topic topic = {0};
    mock_open(&m, 1, 2);
    mock_fill(&m, 1, 7);
    REQUIRE(mock_connect(&m));
    push(&m, API_LIST_OFFSETS, passing, 5);
    CHECK_CODE(fb_kafka_describe(m.kafka, 5000, &topic, &m.err), FB_OK, &m.err);
    were_all_met(&m, API_LIST_OFFSETS);
    REQUIRE(topic.count == 2);
    CHECK_INT(topic.partitions[1].end, 7);
    fb_kafka_topic_clear(&topic);
    mock_close(&m);
}

TEST(offsets_that_may_not_be_asked_for_stop_at_once)
{
    mock           m;
    fb_kafka_topic topic = {0};
    mock_open(&m, 1, 1);
    REQUIRE(mock_connect(&m));
    for (int i = 0; i < 3; i++)
        rd_kafka_mock_push_request_errors(m.cluster, API_LIST_OFFSETS, 1,
                                          RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    int64_t before = fb_mono_ms();
    CHECK(fb_kafka_describe(m.kafka, 5000, &topic, &m.err) == FB_EAUTH);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K005");
    CHECK(fb_mono_ms() - before < 1000);
    CHECK(topic.partitions == NULL && topic.count == 0);
    mock_close(&m);
}

TEST(a_broker_without_levels_of_isolation_is_asked_partition_by_partition)
{
    mock           m;
    fb_kafka_topic topic = {0};
    mock_open(&m, 1, 2);
    mock_fill(&m, 0, 10);
    mock_fill(&m, 1, 3);
    rd_kafka_mock_partition_delete_records(m.cluster, "orders", 0, 4);
    rd_kafka_mock_set_apiversion(m.cluster, API_LIST_OFFSETS, 0, 1);
    REQUIRE(mock_connect(&m));
    CHECK_CODE(fb_kafka_describe(m.kafka, 5000, &topic, &m.err), FB_OK, &m.err);
    REQUIRE(topic.count == 2);
    CHECK_INT(topic.partitions[0].low, 4);
    CHECK_INT(topic.partitions[0].end, 10);
    CHECK_INT(topic.partitions[0].high, 10);
    CHECK_INT(topic.partitions[1].end, 3);
    fb_kafka_topic_clear(&topic);
    mock_close(&m);
}

TEST(a_description_that_gets_no_answer_ends_at_its_deadline)
{
    mock           m;
    fb_kafka_topic topic = {0};
    mock_open(&m, 1, 1);
    REQUIRE(mock_connect(&m));
    rd_kafka_mock_broker_set_down(m.cluster, 1);
    int64_t before = fb_mono_ms();
    CHECK(fb_kafka_describe(m.kafka, 400, &topic, &m.err) == FB_EUNREACHABLE);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K001");
    CHECK(fb_mono_ms() - before < 1200);
    rd_kafka_mock_broker_set_up(m.cluster, 1);
    mock_close(&m);
}

TEST(a_cluster_is_shown_in_one_line)
{
    mock   m;
    fb_buf out;
    mock_open(&m, 3, 1);
    REQUIRE(mock_connect(&m));
    fb_buf_init(&out, 1000);
    fb_kafka_print_about(m.kafka, &out);
    CHECK_HAS(fb_buf_text(&out), "3 brokers, PLAINTEXT, cluster mockCluster");
    fb_buf_clear(&out);
    mock_close(&m);
}

/* --- times ------------------------------------------------------------------------ */

TEST(the_offsets_of_a_time_are_within_what_can_be_read)
{
    mock           m;
    fb_kafka_topic topic = {0};
    int64_t        offsets[2] = {-7, -7};
    mock_open(&m, 1, 2);
    mock_fill(&m, 0, 10);
    REQUIRE(mock_connect(&m));
    CHECK_CODE(fb_kafka_describe(m.kafka, 5000, &topic, &m.err), FB_OK, &m.err);
    CHECK_CODE(fb_kafka_offsets_at(m.kafka, &topic, 1, 5000, offsets, &m.err), FB_OK,
               &m.err);
    CHECK(offsets[0] >= 0 && offsets[0] <= 10);
    CHECK_INT(offsets[1], 0);
    fb_kafka_topic_clear(&topic);
    mock_close(&m);
}

TEST(passing_trouble_with_a_time_is_asked_again)
{
    static const rd_kafka_resp_err_t passing[] = {
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE};
    mock           m;
    fb_kafka_topic topic = {0};
    int64_t        offsets[1] = {-7};
    mock_open(&m, 1, 1);
    REQUIRE(mock_connect(&m));
    CHECK_CODE(fb_kafka_describe(m.kafka, 5000, &topic, &m.err), FB_OK, &m.err);
    push(&m, API_LIST_OFFSETS, passing, 2);
    CHECK_CODE(fb_kafka_offsets_at(m.kafka, &topic, 1, 5000, offsets, &m.err), FB_OK,
               &m.err);
    CHECK_INT(offsets[0], 0);
    were_all_met(&m, API_LIST_OFFSETS);
    fb_kafka_topic_clear(&topic);
    mock_close(&m);
}

TEST(the_time_of_the_record_that_waits_is_found_or_is_none)
{
    mock           m;
    int64_t        times[3] = {0, 0, 0};
    fb_kafka_range ranges[] = {{0, 1, 3}, {1, 0, 1}, {2, 0, 0}};
    mock_open(&m, 1, 3);
    for (int i = 0; i < 3; i++)
        mock_send(
            &m, (sent){.value = "v", .value_size = 1, .timestamp_ms = 1700000000000 + i});
    mock_send(&m,
              (sent){.partition = 1, .value = "v", .value_size = 1, .timestamp_ms = -1});
    mock_flush(&m);
    REQUIRE(mock_connect(&m));
    CHECK_CODE(fb_kafka_timestamps_at(m.kafka, ranges, 3, 3000, times, &m.err), FB_OK,
               &m.err);
    CHECK_INT(times[0], 1700000000001);
    CHECK_INT(times[1], -1);
    CHECK_INT(times[2], -1);
    rd_kafka_mock_broker_set_down(m.cluster, 1);
    int64_t before = fb_mono_ms();
    CHECK_CODE(fb_kafka_timestamps_at(m.kafka, ranges, 1, 300, times, &m.err), FB_OK,
               &m.err);
    CHECK_INT(times[0], -1);
    CHECK(fb_mono_ms() - before < 1000);
    rd_kafka_mock_broker_set_up(m.cluster, 1);
    mock_close(&m);
}

/* --- the group's mirror ----------------------------------------------------------- */

/* What others see as the position of the group "test" in a partition of "orders". */
static int64_t seen_in_group(mock *m, int32_t partition)
{
    char             said[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int64_t          offset = -7;
    mock_set(conf, "bootstrap.servers", m->source.own.bootstrap_servers);
    mock_set(conf, "group.id", "test");
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, said, sizeof said);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, "orders", partition);
    CHECK(rd_kafka_committed(client, list, 5000) == RD_KAFKA_RESP_ERR_NO_ERROR);
    offset = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
    return offset;
}

TEST(positions_are_shown_in_the_group)
{
    mock     m;
    fb_book  list[] = {{.partition = 0, .next = 42}, {.partition = 1, .next = 7}};
    fb_books books = {list, 2};
    mock_open(&m, 1, 2);
    REQUIRE(mock_connect(&m));
    CHECK_CODE(fb_kafka_group_commit(m.kafka, &books, 5000, &m.err), FB_OK, &m.err);
    CHECK_INT(seen_in_group(&m, 0), 42);
    CHECK_INT(seen_in_group(&m, 1), 7);
    mock_close(&m);
}

TEST(a_group_that_cannot_be_reached_is_a_warning_within_its_time)
{
    mock     m;
    fb_book  list[] = {{.partition = 0, .next = 42}};
    fb_books books = {list, 1};
    mock_open(&m, 1, 1);
    REQUIRE(mock_connect(&m));
    rd_kafka_mock_broker_set_down(m.cluster, 1);
    int64_t before = fb_mono_ms();
    CHECK(fb_kafka_group_commit(m.kafka, &books, 100, &m.err) == FB_EUNREACHABLE);
    CHECK_TEXT(fb_reason_name(m.err.reason), "FB-K020");
    CHECK_HAS(m.err.what, "group test");
    CHECK(fb_mono_ms() - before < 700);
    fb_kafka_close(m.kafka); // does not wait much longer for the commit
    m.kafka = NULL;
    CHECK(fb_mono_ms() - before < 2000);
    rd_kafka_mock_broker_set_up(m.cluster, 1);
    mock_close(&m);
}
