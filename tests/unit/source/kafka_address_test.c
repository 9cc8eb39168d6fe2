/* kafka_address_test.c - kafka:// addresses and lists of partitions. */
#include "source/kafka_address.h"
#include "tests/check.h"

#include <string.h>

static void is_read(const char *text, const char *brokers, const char *topic)
{
    fb_arena         arena;
    fb_error         err;
    fb_kafka_address got = {"", ""};
    fb_arena_init(&arena, 1 << 20);
    CHECK_CODE(fb_kafka_address_parse(text, &arena, &got, &err), FB_OK, &err);
    CHECK_TEXT(got.brokers, brokers);
    CHECK_TEXT(got.topic, topic);
    fb_arena_clear(&arena);
}

static void is_refused(const char *text, const char *words)
{
    fb_arena         arena;
    fb_error         err = {0};
    fb_kafka_address got;
    fb_arena_init(&arena, 1 << 20);
    CHECK(fb_kafka_address_parse(text, &arena, &got, &err) == FB_ECONFIG);
    CHECK(err.reason == FB_R_C114);
    CHECK_HAS(err.what, words);
    fb_arena_clear(&arena);
}

TEST(an_address_names_brokers_and_one_topic)
{
    is_read("kafka://localhost:9092/orders", "localhost:9092", "orders");
    is_read("kafka://localhost/orders", "localhost:9092", "orders");
    is_read("kafka://b1,b2:19092,b-3.local/t_1.x", "b1:9092,b2:19092,b-3.local:9092",
            "t_1.x");
    is_read("kafka://[::1]/t", "[::1]:9092", "t");
    is_read("kafka://[fe80::1]:1,[::2]:65535/t", "[fe80::1]:1,[::2]:65535", "t");
}

TEST(what_an_address_lacks_is_named)
{
    is_refused("", "does not begin with kafka://");
    is_refused("http://h/t", "does not begin with kafka://");
    is_refused("kafka://", "names no topic");
    is_refused("kafka://h", "names no topic");
    is_refused("kafka://h/", "names no topic");
    is_refused("kafka:///t", "names no host");
    is_refused("kafka://h/a/b", "must name one topic");
    is_refused("kafka://h/a,b", "must name one topic");
    is_refused("kafka://h/a?b=1", "has a topic that is not");
    is_refused("kafka://h/..", "has a topic that is not");
    is_refused("kafka://,h/t", "has an empty host");
    is_refused("kafka://h,/t", "has an empty host");
    is_refused("kafka://h,,i/t", "has an empty host");
    is_refused("kafka://:9092/t", "has an empty host");
    is_refused("kafka://h i/t", "a character that cannot be in one");
    is_refused("kafka://h:/t", "has a port that is not 1 to 65535");
    is_refused("kafka://h:0/t", "has a port that is not");
    is_refused("kafka://h:65536/t", "has a port that is not");
    is_refused("kafka://h:99999999999999999999/t", "has a port that is not");
    is_refused("kafka://h:9x/t", "has a port that is not");
    is_refused("kafka://::1/t", "has an empty host");
    is_refused("kafka://fe80::1/t", "has a port that is not");
    is_refused("kafka://[::1/t", "has a [ without ]");
    is_refused("kafka://[]/t", "has an empty host");
    is_refused("kafka://[::g]/t", "no IPv6 address");
    is_refused("kafka://[::1]9/t", "between ] and the port");
}

TEST(credentials_in_an_address_are_refused_and_not_repeated)
{
    fb_arena         arena;
    fb_error         err;
    fb_kafka_address got;
    fb_arena_init(&arena, 1 << 20);
    CHECK(fb_kafka_address_parse("kafka://me:pa55@h/t", &arena, &got, &err) ==
          FB_ECONFIG);
    CHECK_TEXT(err.what, "the address holds a user or password; use sasl_username and "
                         "sasl_password");
    CHECK(!strstr(err.what, "pa55") && !strstr(err.hint, "pa55"));
    fb_arena_clear(&arena);
}

TEST(topics_are_named_as_kafka_allows)
{
    char name[251];
    memset(name, 'a', 250);
    name[250] = '\0';
    CHECK(!fb_kafka_topic_is_valid(name));
    name[249] = '\0';
    CHECK(fb_kafka_topic_is_valid(name));
    CHECK(fb_kafka_topic_is_valid("_schemas") && fb_kafka_topic_is_valid("a.b-c_D9"));
    CHECK(!fb_kafka_topic_is_valid("") && !fb_kafka_topic_is_valid("."));
    CHECK(!fb_kafka_topic_is_valid("..") && !fb_kafka_topic_is_valid("a b"));
    CHECK(!fb_kafka_topic_is_valid("a/b") && !fb_kafka_topic_is_valid("caf\xc3\xa9"));
}

static void lists(const char *text, const int32_t *want, size_t want_count)
{
    fb_arena arena;
    fb_error err = {0};
    int32_t *list = NULL;
    size_t   count = 0;
    fb_arena_init(&arena, 1 << 20);
    fb_code code = fb_kafka_partitions_parse(text, &arena, &list, &count, &err);
    if (want) {
        CHECK_CODE(code, FB_OK, &err);
        CHECK_BYTES(list, count * sizeof *list, want, want_count * sizeof *want);
    } else {
        if (code != FB_ECONFIG) check_failed(CHECK_SITE(text), "is accepted");
    }
    fb_arena_clear(&arena);
}

TEST(partitions_are_numbers_and_ranges)
{
    static const char *const bad[] = {"",        ",",   "1,",         "-1",  "1-",
                                      "2-1",     "a",   "1;2",        "1,1", "1-3,2",
                                      "0-10000", "1 2", "4294967296", NULL};
    lists("0", (int32_t[]){0}, 1);
    lists("7,2-5, 0", (int32_t[]){0, 2, 3, 4, 5, 7}, 6);
    lists(" 3 , 4 ", (int32_t[]){3, 4}, 2);
    lists("2147483647", (int32_t[]){2147483647}, 1);
    for (const char *const *text = bad; *text; text++) lists(*text, NULL, 0);
}
