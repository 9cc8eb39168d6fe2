/* kafka_address.c - see kafka_address.h. */
#include "source/kafka_address.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PORT = 9092, MAX_TOPIC_BYTES = 249 };

bool fb_kafka_topic_is_valid(const char *topic)
{
    size_t size = strlen(topic);
    if (size == 0 || size > MAX_TOPIC_BYTES) return false;
    if (strcmp(topic, ".") == 0 || strcmp(topic, "..") == 0) return false;
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)topic[i]) && !strchr("._-", topic[i])) return false;
    return true;
}

static fb_code fail_address(const char *why, fb_error *err)
{
    fb_code code = fb_fail(err, C114, "the address %s", why);
    fb_error_hint(
        err, "write kafka://host:9092/topic; several brokers are separated by commas");
    return code;
}

/* Check one host[:port] and add it to the list. @return what is wrong, or NULL */
static const char *add_broker(const char *host, size_t size, fb_buf *brokers)
{
    const char *end = host + size, *stop = end;
    int64_t     port = DEFAULT_PORT;
    char        digits[8] = "";
    if (host[0] == '[') {
        stop = memchr(host, ']', size);
        if (!stop) return "has a [ without ]";
        if (stop == host + 1) return "has an empty host";
        if (strspn(host + 1, "0123456789abcdefABCDEF:.") != (size_t)(stop - host - 1))
            return "has something in [ ] that is no IPv6 address";
        stop++;
        if (stop < end && *stop != ':') return "has something between ] and the port";
    } else {
        stop = memchr(host, ':', size);
        if (!stop) stop = end;
        if (stop == host) return "has an empty host";
        for (const char *c = host; c < stop; c++)
            if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
                return "has a host with a character that cannot be in one";
    }
    if (stop < end) {
        size_t length = (size_t)(end - stop) - 1;
        if (length > 0 && length < sizeof digits) memcpy(digits, stop + 1, length);
        if (strspn(digits, "0123456789") != length || !fb_text_int64(digits, &port) ||
            port < 1 || port > 65535)
            return "has a port that is not 1 to 65535";
    }
    if (brokers->size) fb_buf_add_char(brokers, ',');
    fb_buf_add(brokers, host, (size_t)(stop - host));
    fb_buf_printf(brokers, ":%d", (int)port);
    return NULL;
}

fb_code fb_kafka_address_parse(const char *text, fb_arena *arena, fb_kafka_address *out,
                               fb_error *err)
{
    fb_code     code = FB_OK;
    fb_buf      brokers;
    const char *host = text + strlen("kafka://"), *slash, *why = NULL;

    if (strncmp(text, "kafka://", strlen("kafka://")) != 0)
        return fail_address("does not begin with kafka://", err);
    if (strchr(text, '@'))
        return fail_address("holds a user or password; use sasl_username and "
                            "sasl_password",
                            err);
    slash = strchr(host, '/');
    if (!slash || !slash[1]) return fail_address("names no topic", err);
    if (slash == host) return fail_address("names no host", err);
    if (strpbrk(slash + 1, "/,")) return fail_address("must name one topic", err);
    if (!fb_kafka_topic_is_valid(slash + 1))
        return fail_address(
            "has a topic that is not 1 to 249 letters, digits, dots, _ or -", err);

    fb_buf_init(&brokers, FB_MAX_CONFIG_BYTES);
    for (const char *end; !why && host < slash; host = end + 1) {
        end = memchr(host, ',', (size_t)(slash - host));
        if (!end) end = slash;
        why = end == host ? "has an empty host"
                          : add_broker(host, (size_t)(end - host), &brokers);
        if (end + 1 == slash) why = "has an empty host";
    }
    if (why) code = fail_address(why, err);
    if (code == FB_OK) code = fb_buf_check(&brokers, "the address", err);
    if (code == FB_OK) {
        out->brokers = fb_arena_strndup(arena, fb_buf_text(&brokers), brokers.size);
        out->topic = fb_arena_strndup(arena, slash + 1, strlen(slash + 1));
        if (!out->brokers || !out->topic) code = fb_fail_memory(err, "the address");
    }
    fb_buf_clear(&brokers);
    return code;
}

static int compare_partitions(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return left < right ? -1 : left > right;
}

/* Read "N" or "N-M" and move past it. */
static bool read_range(const char **text, int32_t *first, int32_t *last)
{
    int64_t numbers[2];
    int     count = 0;
    for (;;) {
        char   digits[12] = "";
        size_t size = strspn(*text, "0123456789");
        if (size == 0 || size >= sizeof digits) return false;
        memcpy(digits, *text, size);
        *text += size;
        if (!fb_text_int64(digits, &numbers[count]) || numbers[count] > INT32_MAX)
            return false;
        if (++count == 2 || **text != '-') break;
        ++*text;
    }
    *first = (int32_t)numbers[0];
    *last = (int32_t)numbers[count - 1];
    return *first <= *last;
}

fb_code fb_kafka_partitions_parse(const char *text, fb_arena *arena, int32_t **list,
                                  size_t *count, fb_error *err)
{
    int32_t *numbers = fb_arena_alloc(arena, FB_MAX_PARTITIONS * sizeof *numbers);
    size_t   used = 0;
    if (!numbers) return fb_fail_memory(err, "the list of partitions");
    for (const char *at = text;; at++) {
        int32_t first, last;
        at += strspn(at, " ");
        if (!read_range(&at, &first, &last))
            return fb_fail(err, C114, "partitions are written as 0,2-5");
        if ((size_t)last - (size_t)first >= FB_MAX_PARTITIONS - used)
            return fb_fail(err, C114, "more than %d partitions are named",
                           FB_MAX_PARTITIONS);
        for (int64_t p = first; p <= last; p++) numbers[used++] = (int32_t)p;
        at += strspn(at, " ");
        if (*at == '\0') break;
        if (*at != ',') return fb_fail(err, C114, "partitions are written as 0,2-5");
    }
    qsort(numbers, used, sizeof *numbers, compare_partitions);
    for (size_t i = 1; i < used; i++)
        if (numbers[i] == numbers[i - 1])
            return fb_fail(err, C114, "partition %d is named twice", (int)numbers[i]);
    *list = numbers;
    *count = used;
    return FB_OK;
}
