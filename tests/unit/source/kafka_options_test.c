/* kafka_options_test.c - the rules between the settings of connections and sources. */
#include "source/kafka_options.h"
#include "tests/unit/config/reading.h"

#define CONNECTION(lines)                                                                \
    "connections:\n  e:\n    type: kafka\n    bootstrap_servers: h:1\n" lines

TEST(a_login_is_complete_or_refused)
{
    is_refused(CONNECTION("    security_protocol: SASL_SSL\n    sasl_mechanism: PLAIN\n"
                          "    sasl_username: u\n"),
               "FB-C115",
               "forebay.yml:7:5: error: \"sasl_username\" is set without "
               "\"sasl_password\"");
    is_refused(CONNECTION("    security_protocol: SASL_SSL\n    sasl_mechanism: PLAIN\n"
                          "    sasl_password: env://P\n"),
               "FB-C115", "\"sasl_password\" is set without \"sasl_username\"");
    is_refused(CONNECTION("    sasl_username: u\n    sasl_password: env://P\n"),
               "FB-C115",
               "\"sasl_username\" needs security_protocol: SASL_SSL or SASL_PLAINTEXT");
    is_refused(CONNECTION("    security_protocol: SSL\n    sasl_mechanism: PLAIN\n"),
               "FB-C115",
               "\"sasl_mechanism\" needs security_protocol: SASL_SSL or SASL_PLAINTEXT");
    is_refused(CONNECTION("    security_protocol: SASL_SSL\n"), "FB-C115",
               "\"security_protocol\" needs \"sasl_mechanism\" beside it");
    is_refused(CONNECTION("    security_protocol: SASL_SSL\n    sasl_mechanism: PLAIN\n"),
               "FB-C115",
               "\"sasl_mechanism\" needs \"sasl_username\" and \"sasl_password\"");
    is_refused(
        CONNECTION("    security_protocol: SASL_SSL\n    sasl_mechanism: OAUTHBEARER\n"
                   "    sasl_username: u\n    sasl_password: env://P\n"),
        "FB-C115", "\"sasl_username\" is not for OAUTHBEARER");
    reads_as(
        CONNECTION("    security_protocol: SASL_SSL\n    sasl_mechanism: OAUTHBEARER\n"
                   "    options: {sasl.oauthbearer.method: oidc, "
                   "sasl.oauthbearer.client.secret: env://S}\n"),
        "");
}

TEST(a_protocol_that_is_misspelled_is_the_only_fault)
{
    reads_as(CONNECTION("    security_protocol: SASL_TLS\n    sasl_mechanism: PLAIN\n"
                        "    sasl_username: u\n    sasl_password: env://P\n"),
             "forebay.yml:5:24: error: \"security_protocol\" must be PLAINTEXT, SSL, "
             "SASL_PLAINTEXT or SASL_SSL, not \"SASL_TLS\", did you mean \"SASL_SSL\"? "
             "[FB-C110]\n"
             "    5 |     security_protocol: SASL_TLS\n"
             "      |                        ^^^^^^^^\n"
             "1 error in forebay.yml; nothing was contacted\n");
}

TEST(a_certificate_comes_with_its_key_and_a_protocol)
{
    is_refused(
        CONNECTION("    security_protocol: SSL\n    ssl_certificate_location: /c\n"),
        "FB-C115", "\"ssl_certificate_location\" is set without \"ssl_key_location\"");
    is_refused(CONNECTION("    security_protocol: SSL\n    ssl_key_location: /k\n"),
               "FB-C115",
               "\"ssl_key_location\" is set without \"ssl_certificate_location\"");
    is_refused(CONNECTION("    security_protocol: SSL\n    ssl_key_password: env://K\n"),
               "FB-C115", "\"ssl_key_password\" is set without \"ssl_key_location\"");
    is_refused(CONNECTION("    ssl_ca_location: /ca\n"), "FB-C115",
               "\"ssl_ca_location\" needs security_protocol: SSL or SASL_SSL");
    reads_as(CONNECTION("    security_protocol: SSL\n    ssl_ca_location: /ca\n"
                        "    ssl_certificate_location: /c\n    ssl_key_location: /k\n"
                        "    ssl_key_password: file:///k.pw\n"),
             "");
}

TEST(a_password_in_clear_is_warned_of)
{
    reading r;
    reading_of(
        &r,
        CONNECTION("    security_protocol: SASL_PLAINTEXT\n    sasl_mechanism: PLAIN\n"
                   "    sasl_username: u\n    sasl_password: env://P\n"));
    CHECK(r.code == FB_OK);
    CHECK_HAS(r.shown, "warning: the password travels in clear");
    reading_end(&r);
}

TEST(what_forebay_owns_is_refused_by_name)
{
    static const char *const properties[] = {"enable.auto.commit",
                                             "enable.auto.offset.store",
                                             "auto.offset.reset",
                                             "group.id",
                                             "bootstrap.servers",
                                             "enable.partition.eof",
                                             "isolation.level",
                                             "sasl.password",
                                             "ssl.key.password",
                                             "rebalance_cb",
                                             "log_cb",
                                             "security.protocol",
                                             "check.crcs",
                                             "plugin.library.paths",
                                             NULL};
    for (const char *const *name = properties; *name; name++) {
        char text[300], words[100];
        snprintf(text, sizeof text, CONNECTION("    options: {%s: x}\n"), *name);
        snprintf(words, sizeof words, "\"%s\" cannot be set here: ", *name);
        is_refused(text, "FB-C117", words);
    }
    reads_as(
        CONNECTION(
            "    options: {session.timeout.ms: 30000, client.rack: a, debug: fetch}\n"),
        "");
}

TEST(names_of_the_client_lead_to_ours)
{
    is_refused("connections:\n  e:\n    type: kafka\n    bootstrap.servers: h:1\n",
               "FB-C106",
               "\"bootstrap.servers\" is called \"bootstrap_servers\" here [FB-C105]");
    is_refused(PIPELINE_WITH("      path: kafka://h/t\n      group.id: g\n"), "FB-C105",
               "\"group.id\" is called \"group_id\" here");
}

TEST(a_source_has_one_place_to_read_from)
{
    is_refused(PIPELINE_WITH("      max_messages: 1\n"), "FB-C106",
               "\"path\" is missing in \"source\"");
    is_refused(PIPELINE_WITH("      topic: t\n"), "FB-C106",
               "\"connection\" is missing in \"source\"");
    is_refused(PIPELINE_WITH("      connection: e\n"), "FB-C106",
               "\"topic\" is missing in \"source\"");
    is_refused(PIPELINE_WITH("      path: kafka://h/t\n      topic: t\n"), "FB-C115",
               "\"topic\" and \"path\" say the same; take one out");
    is_refused(PIPELINE_WITH("      path: kafka://h/t\n      bootstrap_servers: h\n"),
               "FB-C115", "\"bootstrap_servers\" and \"path\" say the same");
    is_refused(PIPELINE_WITH("      path: kafka://h\n"), "FB-C114",
               "forebay.yml:5:13: error: the address names no topic [FB-C114]");
    is_refused(PIPELINE_WITH("      bootstrap_servers: h\n      topic: a/b\n"), "FB-C114",
               "\"topic\" must be 1 to 249 letters, digits, dots, _ or -");
    is_refused(PIPELINE_WITH("      path: kafka://h/t\n      partitions: 0,2-\n"),
               "FB-C114",
               "forebay.yml:6:19: error: partitions are written as 0,2-5 [FB-C114]");
}

TEST(a_source_with_a_connection_adds_options_only)
{
    is_refused(CONNECTION("") PIPELINE_WITH("      connection: e\n      topic: t\n"
                                            "      sasl_mechanism: PLAIN\n"),
               "FB-C115", "\"sasl_mechanism\" belongs into the connection \"e\"");
    reading r;
    reading_of(&r, CONNECTION("    options: {a: 1}\n") PIPELINE_WITH(
                       "      connection: e\n      topic: t\n      options: {a: 2}\n"));
    CHECK_TEXT(r.shown, "");
    const fb_kafka_source *source = &r.document.pipelines[0].source;
    CHECK(source->use == &r.document.connections[0].kafka);
    CHECK_TEXT(source->use->options[0].value, "1");
    CHECK_TEXT(source->own.options[0].value, "2");
    reading_end(&r);
}

TEST(a_source_may_carry_its_connection)
{
    reading r;
    reading_of(&r, PIPELINE_WITH(
                       "      path: kafka://h,[::1]:7/t\n"
                       "      security_protocol: SASL_SSL\n      sasl_mechanism: PLAIN\n"
                       "      sasl_username: u\n      sasl_password: ${P}\n"));
    CHECK_TEXT(r.shown, "");
    const fb_kafka_source *source = &r.document.pipelines[0].source;
    REQUIRE(source->use == &source->own);
    CHECK_TEXT(source->own.bootstrap_servers, "h:9092,[::1]:7");
    CHECK_TEXT(source->topic, "t");
    CHECK_INT(source->own.security_protocol, FB_KAFKA_SASL_SSL);
    CHECK_TEXT(source->own.sasl_password.text, "P");
    reading_end(&r);
    is_refused(PIPELINE_WITH("      path: kafka://h/t\n      sasl_username: u\n"),
               "FB-C115", "\"sasl_username\" is set without \"sasl_password\"");
}

TEST(metadata_columns_are_picked_or_taken_in_the_common_set)
{
    reading r;
    reading_of(&r, PIPELINE_WITH("      path: kafka://h/t\n      include_metadata: true\n"
                                 "      metadata: [headers, timestamp_type]\n"
                                 "      partitions: 3,0-1\n"));
    const fb_kafka_source *source = &r.document.pipelines[0].source;
    CHECK_INT(source->metadata,
              FB_META_COMMON | FB_META_HEADERS | FB_META_TIMESTAMP_TYPE);
    CHECK_INT(source->partition_count, 3);
    CHECK_INT(source->partition_list[2], 3);
    reading_end(&r);
    reading_of(&r, PIPELINE_WITH(
                       "      path: kafka://h/t\n      metadata: [partition, offset]\n"));
    CHECK_INT(r.document.pipelines[0].source.metadata,
              FB_META_PARTITION | FB_META_OFFSET);
    reading_end(&r);
}

TEST(a_source_reads_to_the_end_unless_it_says_otherwise)
{
    reading r;
    reading_of(&r, PIPELINE_WITH("      path: kafka://h/t\n"));
    const fb_kafka_source *s = &r.document.pipelines[0].source;
    CHECK(s->max_messages == 0 && s->timeout_ms == 30000 && s->max_wait_ms == 5000);
    CHECK(s->auto_offset_reset == FB_RESET_EARLIEST && s->on_data_loss == FB_LOSS_STOP);
    CHECK(s->on_recreated == FB_RECREATED_STOP && s->max_depth == 128);
    CHECK(s->metadata == 0 && !s->partitions && !s->group_id);
    CHECK(s->own.security_protocol == FB_UNSET && s->own.sasl_mechanism == FB_UNSET);
    reading_end(&r);
}
