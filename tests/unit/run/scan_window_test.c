/* scan_window_test.c - a topic of the mock cluster as rows of a query: the whole way of a
 * record up to the table, with two workers, and its books. */
#include "decode/json.h"
#include "run/scan.h"
#include "tests/unit/source/batch.h"

#include <stdatomic.h>

typedef struct way {
    mock                   m;
    fb_schema              decoded, schema;
    unsigned               metadata[2];
    fb_engine             *engine;
    fb_kafka_window       *window;
    fb_window_scan_options options;
    fb_window_scan        *scan;
    atomic_long            refused;
    fb_books               books;
    fb_error               err;
} way;

static fb_code count_refused(void *self, const fb_record *record,
                             const fb_refusals *refusals, fb_error *err)
{
    (void)record;
    (void)refusals;
    (void)err;
    atomic_fetch_add((atomic_long *)self, 1);
    return FB_OK;
}

/* From the ranges of the topic to a scan that is ready to be asked. */
static bool open_way(way *w, const fb_kafka_window_options *window)
{
    const fb_json_options   json = {.max_depth = 128, .max_message_bytes = 1 << 20};
    const fb_engine_options engine = {256 << 20, 2, NULL};
    fb_code                 code = FB_OK;
    if (!mock_connect(&w->m)) return false;
    fb_schema_init(&w->decoded);
    fb_schema_init(&w->schema);
    FB_TRY(fb_schema_reserve(&w->decoded, 1, &w->err));
    FB_TRY(fb_schema_reserve(&w->schema, 3, &w->err));
    w->decoded.columns[0] = w->schema.columns[0] =
        (fb_column){.name = "n", .type = {.kind = FB_KIND_INT64}};
    w->schema.columns[1] = (fb_column){.name = "p", .type = {.kind = FB_KIND_INT32}};
    w->schema.columns[2] = (fb_column){.name = "o", .type = {.kind = FB_KIND_INT64}};
    w->metadata[0] = FB_META_PARTITION;
    w->metadata[1] = FB_META_OFFSET;
    FB_TRY(fb_kafka_window_open(w->m.kafka, window, &w->window, &w->err));
    w->options = (fb_window_scan_options){.schema = &w->schema,
                                          .decoded = &w->decoded,
                                          .metadata = w->metadata,
                                          .topic = "orders",
                                          .source = fb_kafka_window_source(w->window),
                                          .refuser = {&w->refused, count_refused},
                                          .workers = 2,
                                          .partitions_max = MOCK_PARTITIONS};
    FB_TRY(fb_json_open(&w->decoded, &json, &w->options.decoder, &w->err));
    FB_TRY(fb_engine_open(&engine, &w->engine, &w->err));
    FB_TRY(fb_window_scan_open(&w->options, w->engine, &w->scan, &w->err));
out:
    CHECK_CODE(code, FB_OK, &w->err);
    return code == FB_OK;
}

/* Run a query of one number; then balance the books. */
static int64_t ask_number(way *w, const char *sql)
{
    duckdb_result result;
    int64_t       n = -1;
    fb_code       code = fb_engine_query_scan(w->engine, sql, &result, &w->err);
    CHECK_CODE(code, FB_OK, &w->err);
    if (code == FB_OK) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        n = *(int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
        duckdb_destroy_data_chunk(&chunk);
        duckdb_destroy_result(&result);
    }
    CHECK_CODE(fb_kafka_window_books(w->window, &w->books, &w->err), FB_OK, &w->err);
    fb_window_scan_count(w->scan, &w->books);
    CHECK_CODE(fb_books_check(&w->books, "orders", &w->err), FB_OK, &w->err);
    return n;
}

static void close_way(way *w)
{
    fb_engine_close(w->engine);
    fb_window_scan_free(w->scan);
    fb_json_close(&w->options.decoder);
    fb_kafka_window_close(w->window);
    fb_schema_clear(&w->decoded);
    fb_schema_clear(&w->schema);
    fb_books_clear(&w->books);
    mock_close(&w->m);
}

TEST(two_workers_turn_a_topic_into_rows_and_the_books_balance)
{
    enum { EACH = 30000 };
    static way     w;
    fb_kafka_range ranges[] = {{0, 0, EACH}, {1, 0, EACH}, {2, 0, EACH}, {3, 0, EACH}};
    mock_open(&w.m, 1, 4);
    for (int32_t p = 0; p < 4; p++) mock_fill(&w.m, p, EACH);
    fb_kafka_window_options options =
        mock_options(ranges, 4); // two lanes: it is a backlog
    REQUIRE(open_way(&w, &options));
    CHECK_INT(ask_number(&w, "SELECT sum(n)::BIGINT FROM fb_window() WHERE n = o"),
              INT64_C(4) * EACH * (EACH - 1) / 2);
    CHECK_INT(fb_books_total(&w.books).written, 4 * EACH);
    CHECK_INT(w.refused, 0);
    close_way(&w);
}

TEST(refused_records_gaps_and_the_cut_by_max_messages_are_in_the_books)
{
    static way       w;
    static const int left[] = {0, 3, 4, 9, 10};
    fb_kafka_range   ranges[] = {{0, 0, 11}, {1, 0, 3000}};
    mock_open(&w.m, 1, 2);
    mock_append(&w.m, 0, &(batch){.deltas = left, .count = 5, .last_delta = 10});
    for (int i = 0; i < 3000; i++) {
        const char *value = i % 10 ? "{\"n\":1}" : "{\"n\":\"x\"}";
        mock_send(&w.m,
                  (sent){.partition = 1, .value = value, .value_size = strlen(value)});
    }
    mock_flush(&w.m);
    fb_kafka_window_options options = mock_options(ranges, 2);
    options.max_messages = 3004;
    REQUIRE(open_way(&w, &options));
    CHECK_INT(ask_number(&w, "SELECT count(DISTINCT p * 1000000 + o) FROM fb_window()"),
              2704);
    fb_book total = fb_books_total(&w.books);
    CHECK_INT(total.delivered, 3004);
    CHECK_INT(total.rejected, 300);
    CHECK_INT(w.refused, 300);
    close_way(&w);
}
