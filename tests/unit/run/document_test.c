/* document_test.c - whole configurations: names between sections, the command line. */
#include "run/document.h"
#include "tests/unit/config/reading.h"

static const char manual[] =
    "version: 1\n"
    "connections:\n"
    "  events: {type: kafka, bootstrap_servers: \"${KAFKA_BROKERS:-localhost:9092}\"}\n"
    "pipelines:\n"
    "  orders:\n"
    "    source: {connection: events, topic: orders, include_metadata: true}\n"
    "    schema:\n"
    "      columns:\n"
    "        - {name: order_id, type: string, nullable: false}\n"
    "        - {name: amount,   type: float64}\n"
    "    sink:\n"
    "      write_mode: append\n"
    "      accepted: {format: delta, path: ./lake/orders}\n"
    "      rejected: {format: delta, path: ./lake/orders_rejected}\n";

TEST(the_sample_of_the_manual_is_read)
{
    reading r;
    unsetenv("KAFKA_BROKERS");
    reading_of(&r, manual);
    CHECK_TEXT(r.shown, "");
    REQUIRE(r.code == FB_OK && r.document.pipelines_count == 1);
    const fb_pipeline *p;
    CHECK_CODE(fb_document_find(&r.document, "orders", &p, &r.err), FB_OK, &r.err);
    CHECK_TEXT(p->source.use->bootstrap_servers, "localhost:9092");
    CHECK_INT(p->source.metadata, FB_META_COMMON);
    CHECK_INT(p->policy.severity, FB_SEVERITY_REJECT);
    CHECK_INT(p->policy.max_rejects, FB_UNSET);
    CHECK_INT(p->incremental_mode, FB_INCREMENTAL_OFFSET);
    CHECK_INT(p->state.store, FB_STORE_TARGET);
    CHECK_TEXT(r.document.state.path, "./.forebay");
    CHECK_TEXT(r.document.report.path, "./reports");
    CHECK_INT(r.document.report.keep, 200);
    CHECK_INT(r.document.memory_bytes, 1 << 30);
    CHECK(fb_document_find(&r.document, "order", &p, &r.err) == FB_ECONFIG);
    CHECK_TEXT(r.err.what, "there is no pipeline \"order\"");
    CHECK_TEXT(r.err.hint, "Did you mean \"orders\"?");
    reading_end(&r);
}

TEST(json_is_read_as_well)
{
    reads_as(
        "{\"version\":\"1\",\"pipelines\":{\"p\":{\"source\":{\"path\":\"kafka://h/t\","
        "\"message_format\":\"text\"},\"sink\":{\"accepted\":{\"path\":\"t\"}}}}}",
        "");
}

TEST(a_connection_that_is_not_declared_leads_to_one_that_is)
{
    reading r;
    reading_begin(&r);
    reading_add(&r, "forebay.yml", manual);
    CHECK_CODE(fb_config_set(&r.document.config,
                             "pipelines.orders.source.connection=event", &r.err),
               FB_OK, &r.err);
    reading_finish(&r, false);
    CHECK_HAS(r.shown,
              "--set: error: there is no connection \"event\", did you mean \"events\"? "
              "[FB-C116]");
    reading_end(&r);
}

TEST(versions_one_and_one_point_something_are_read)
{
    reads_as("version: 1\n", "");
    reads_as("version: \"1.12\"\n", "");
    reads_as("memory: 2GB\n", "");
    is_refused("version: 2\n", "FB-C118",
               "version 2 needs forebay 2.0 or later; this one reads 1 and 1.x");
    is_refused("version: 10.1\n", "FB-C118", "version 10.1 needs forebay 10.0 or later");
    is_refused("version: one\n", "FB-C114", "\"version\" must be 1 or 1.x");
    is_refused("version: \"1.\"\n", "FB-C114", "\"version\" must be 1 or 1.x");
    is_refused("version: 1.x\n", "FB-C114", "\"version\" must be 1 or 1.x");
}

TEST(json_messages_need_columns_and_others_take_none)
{
    is_refused("pipelines:\n  p:\n    source: {path: 'kafka://h/t'}\n"
               "    sink: {accepted: {path: t}}\n",
               "FB-C106", "\"schema.columns\" is missing in \"p\"");
    is_refused(
        "pipelines:\n  p:\n    source: {path: 'kafka://h/t', message_format: raw}\n"
        "    schema: {columns: [{name: a, type: string}]}\n"
        "    sink: {accepted: {path: t}}\n",
        "FB-C115", "\"columns\" is for JSON");
    is_refused("pipelines:\n  p: {schema: {mode: strict}}\n", "FB-C106",
               "\"source\" is missing in \"p\"");
    is_refused("pipelines:\n  p: {source: {path: 'kafka://h/t', message_format: raw}}\n",
               "FB-C106", "\"sink\" is missing in \"p\"");
}

TEST(a_column_cannot_be_called_as_one_that_is_added)
{
    is_refused("pipelines:\n  p:\n    source: {path: 'kafka://h/t', metadata: [offset]}\n"
               "    schema: {columns: [{name: _kafka_offset, type: int64}]}\n"
               "    sink: {accepted: {path: t}}\n",
               "FB-C103",
               "column \"_kafka_offset\" is added by the metadata of the source too");
    reads_as("pipelines:\n  p:\n    source: {path: 'kafka://h/t', metadata: [offset]}\n"
             "    schema: {columns: [{name: _kafka_key, type: string}]}\n"
             "    sink: {accepted: {path: t}}\n",
             "");
}

TEST(the_rules_of_state_and_connections_hold)
{
    is_refused("connections: {e: {type: kafka}}\n", "FB-C106",
               "\"bootstrap_servers\" is missing in \"e\"");
    is_refused("connections: {e: {bootstrap_servers: h}}\n", "FB-C106",
               "\"type\" is missing in \"e\"");
    is_refused("connections: {e: {type: s3}}\n", "FB-C111",
               "\"type\" must be kafka in this version, not \"s3\"");
    is_refused(
        "pipelines:\n  p:\n    source: {path: 'kafka://h/t', message_format: raw}\n"
        "    sink: {accepted: {path: t}}\n    state: {path: x}\n",
        "FB-C115", "\"path\" needs store: file");
    is_refused("include: [x]\n", "FB-C124", "\"include\" is followed in files only");
}

TEST(a_pipeline_is_made_on_the_command_line)
{
    reading r;
    char    name[FB_MAX_NAME];
    reading_begin(&r);
    CHECK_CODE(fb_document_put_pipeline(&r.document, "kafka://localhost/orders.v1",
                                        "./lake/orders", NULL, name, &r.err),
               FB_OK, &r.err);
    CHECK_TEXT(name, "orders.v1");
    CHECK_CODE(fb_document_put(&r.document, name, "source.max_messages", "5",
                               "--max-messages", &r.err),
               FB_OK, &r.err);
    CHECK_CODE(
        fb_document_put_client_option(&r.document, name, "session.timeout.ms=7", &r.err),
        FB_OK, &r.err);
    reading_finish(&r, false);
    CHECK_TEXT(r.shown, "");
    const fb_pipeline *p;
    CHECK_CODE(fb_document_find(&r.document, "orders.v1", &p, &r.err), FB_OK, &r.err);
    CHECK_TEXT(p->source.use->bootstrap_servers, "localhost:9092");
    CHECK_TEXT(p->source.topic, "orders.v1");
    CHECK_INT(p->source.max_messages, 5);
    CHECK_TEXT(p->source.own.options[0].name, "session.timeout.ms");
    CHECK_TEXT(p->source.own.options[0].value, "7");
    CHECK_TEXT(p->sink.rejected.path, "./lake/orders_rejected");
    CHECK_INT(p->schema.columns_count, 0); // they are found by looking at the topic
    reading_end(&r);
}

TEST(a_pipeline_of_the_command_line_takes_no_name_that_is_there)
{
    reading r;
    char    name[FB_MAX_NAME];
    reading_begin(&r);
    reading_add(&r, "forebay.yml", manual);
    CHECK(fb_document_put_pipeline(&r.document, "kafka://h/orders", "t", NULL, name,
                                   &r.err) == FB_ECONFIG);
    CHECK_TEXT(r.err.what, "the configuration has a pipeline \"orders\" already");
    CHECK(fb_document_put_pipeline(&r.document, "kafka://h", "t", NULL, name, &r.err) ==
          FB_ECONFIG);
    CHECK_CODE(fb_document_put_pipeline(&r.document, "kafka://h/orders", "t", "two", name,
                                        &r.err),
               FB_OK, &r.err);
    reading_finish(&r, false);
    CHECK_TEXT(r.shown, "");
    CHECK_INT(r.document.pipelines_count, 2);
    reading_end(&r);
}

TEST(flags_win_over_the_file_and_are_judged_like_it)
{
    reading r;
    reading_begin(&r);
    reading_add(&r, "forebay.yml", manual);
    CHECK_CODE(fb_document_put(&r.document, "orders", "policy.severity", "drop",
                               "--severity", &r.err),
               FB_OK, &r.err);
    CHECK_CODE(fb_document_put_client_option(&r.document, "orders", "group.id=g", &r.err),
               FB_OK, &r.err);
    CHECK_CODE(fb_document_put_client_option(&r.document, "orders", "=g", &r.err), FB_OK,
               &r.err);
    reading_finish(&r, false);
    CHECK_HAS(r.shown,
              "--severity: error: \"severity\" must be warn, reject or abort, not "
              "\"drop\" [FB-C110]\n");
    CHECK_HAS(r.shown,
              "--kafka-option: error: \"group.id\" cannot be set here: write group_id in "
              "the source [FB-C117]\n");
    CHECK_HAS(r.shown, "error: -X takes NAME=VALUE [FB-C119]\n");
    reading_end(&r);
}
