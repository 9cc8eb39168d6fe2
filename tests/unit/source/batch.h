/** batch.h - record batches made by hand and put on the mock cluster as they are, for
 * what no producer sends: holes that compaction left, markers of transactions, damage. */
#ifndef FB_TESTS_BATCH_H
#define FB_TESTS_BATCH_H

#include "tests/unit/source/mock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct bytes {
    unsigned char data[4096];
    size_t        size;
} bytes;

/* Add a number of `width` bytes, the highest first. */
static inline void add_number(bytes *b, int64_t n, int width)
{
    for (int i = width - 1; i >= 0; i--)
        b->data[b->size++] = (unsigned char)((uint64_t)n >> (8 * i));
}

static inline void add_bytes(bytes *b, const void *data, size_t size)
{
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void add_name(bytes *b, const char *name)
{
    add_number(b, (int64_t)strlen(name), 2);
    add_bytes(b, name, strlen(name));
}

static inline void add_varint(bytes *b, int64_t n)
{
    uint64_t zigzag = ((uint64_t)n << 1) ^ (uint64_t)(n >> 63);
    for (; zigzag >= 0x80; zigzag >>= 7)
        b->data[b->size++] = (unsigned char)(zigzag | 0x80);
    b->data[b->size++] = (unsigned char)zigzag;
}

/* CRC-32C, bit by bit. */
static inline uint32_t crc32c(const unsigned char *data, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

/* A batch of records at these places behind its first offset. */
typedef struct batch {
    const int *deltas;
    int        count;
    int  last_delta; ///< of the batch; above that of the last record after compaction
    bool is_control; ///< a marker that ends a transaction
    bool is_damaged; ///< its checksum is wrong
} batch;

static inline void add_record(bytes *b, int delta)
{
    bytes record = {.size = 0};
    char  value[32];
    int   size = snprintf(value, sizeof value, "{\"n\":%d}", delta);
    add_number(&record, 0, 1); // attributes
    add_varint(&record, 0);    // behind the batch's time
    add_varint(&record, delta);
    add_varint(&record, 4); // a key, as a marker has one
    add_number(&record, 1, 4);
    add_varint(&record, size);
    add_bytes(&record, value, (size_t)size);
    add_varint(&record, 0); // headers
    add_varint(b, (int64_t)record.size);
    add_bytes(b, record.data, record.size);
}

static inline void add_batch(bytes *b, const batch *what)
{
    bytes body = {.size = 0};
    add_number(&body, what->is_control ? 0x30 : 0, 2);
    add_number(&body, what->last_delta, 4);
    add_number(&body, 1700000000000, 8);
    add_number(&body, 1700000000000, 8);
    add_number(&body, what->is_control ? 1 : -1, 8); // producer, its epoch and sequence
    add_number(&body, what->is_control ? 0 : -1, 2);
    add_number(&body, -1, 4);
    add_number(&body, what->count, 4);
    for (int i = 0; i < what->count; i++) add_record(&body, what->deltas[i]);
    add_number(b, 0, 8); // the broker sets the first offset
    add_number(b, (int64_t)body.size + 9, 4);
    add_number(b, 0, 4);
    add_number(b, 2, 1);
    add_number(b, crc32c(body.data, body.size) ^ (what->is_damaged ? 1u : 0u), 4);
    add_bytes(b, body.data, body.size);
}

/* Send a request to the only broker and wait for its answer. */
static inline void ask_broker(const mock *m, const bytes *request, bytes *answer)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    const char        *bootstrap = rd_kafka_mock_cluster_bootstraps(m->cluster);
    int                fd = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)strtol(strrchr(bootstrap, ':') + 1, NULL, 10));
    CHECK(connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(write(fd, request->data, request->size) == (ssize_t)request->size);
    ssize_t n = recv(fd, answer->data, 4, MSG_WAITALL);
    answer->size = 0;
    if (n == 4) answer->size = (size_t)answer->data[2] << 8 | answer->data[3];
    CHECK(n == 4 &&
          recv(fd, answer->data, answer->size, MSG_WAITALL) == (ssize_t)answer->size);
    close(fd);
}

/* Append a batch to a partition of "orders", just as it is. */
static inline void mock_append(mock *m, int32_t partition, const batch *what)
{
    bytes records = {.size = 0}, body = {.size = 0}, request = {.size = 0}, answer;
    add_batch(&records, what);
    add_number(&body, API_PRODUCE, 2);
    add_number(&body, 3, 2); // version of the request
    add_number(&body, 7, 4);
    add_name(&body, "test");
    add_number(&body, -1, 2); // no transaction
    add_number(&body, 1, 2);  // acks
    add_number(&body, 1000, 4);
    add_number(&body, 1, 4);
    add_name(&body, "orders");
    add_number(&body, 1, 4);
    add_number(&body, partition, 4);
    add_number(&body, (int64_t)records.size, 4);
    add_bytes(&body, records.data, records.size);
    add_number(&request, (int64_t)body.size, 4);
    add_bytes(&request, body.data, body.size);
    ask_broker(m, &request, &answer);
    /* correlation, one topic, its name, one partition, its number: then the error */
    CHECK(answer.size > 26 && answer.data[24] == 0 && answer.data[25] == 0);
}

#endif
