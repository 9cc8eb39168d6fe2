/* scan_test.c - rows of our own as a table function. */
#include "base/alloc.h"
#include "base/time.h"
#include "engine/scan.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 1000 };

/* A scan of the numbers 0 to `total` - 1 in the columns n, twice, text. */
typedef struct numbers {
    fb_scan      scan;
    int64_t      total, fails_at; ///< fails_at: -1 never
    bool         begin_fails;
    atomic_long  next;
    atomic_int   begun, ended, workers_that_gave;
    atomic_ulong asked; ///< bit of each column that was asked for
    int64_t      pause_ms;
} numbers;

typedef struct worker {
    idx_t columns[4], count;
    bool  gave;
} worker;

static fb_code begin(void *context, fb_scan_projection projection, void **out,
                     fb_error *err)
{
    numbers *s = context;
    worker  *w = fb_alloc(sizeof *w);
    if (!w) return fb_fail_memory(err, "a worker");
    *out = w;
    atomic_fetch_add(&s->begun, 1);
    if (s->begin_fails) {
        fb_error_set(err, FB_R_D001, "the worker did not begin");
        fb_error_hint(err, "a hint of its own");
        return FB_EDATA;
    }
    for (idx_t i = 0; i < projection.count && w->count < 4; i++) {
        w->columns[w->count++] = projection.list[i];
        if (projection.list[i] < 3) atomic_fetch_or(&s->asked, 1ul << projection.list[i]);
    }
    return FB_OK;
}

static void put(duckdb_vector vector, idx_t column, idx_t row, int64_t n)
{
    char text[32];
    if (column == 0) ((int64_t *)duckdb_vector_get_data(vector))[row] = n;
    if (column == 1) ((int64_t *)duckdb_vector_get_data(vector))[row] = n * 2;
    if (column != 2) return;
    snprintf(text, sizeof text, "number %d", (int)n);
    duckdb_vector_assign_string_element(vector, row, text);
}

static fb_code fill(void *context, void *memory, duckdb_data_chunk chunk, idx_t *rows,
                    fb_error *err)
{
    numbers *s = context;
    worker  *w = memory;
    int64_t  first = atomic_fetch_add(&s->next, BATCH);
    int64_t  last = first + BATCH < s->total ? first + BATCH : s->total;
    if (s->pause_ms) fb_sleep_ms(s->pause_ms);
    if (s->fails_at >= 0 && first >= s->fails_at) {
        fb_error_set(err, FB_R_K008, "partition 3 cannot be read");
        fb_error_at(err, "orders[3]@17");
        return FB_EUNREACHABLE;
    }
    for (int64_t n = first; n < last; n++)
        for (idx_t i = 0; i < w->count; i++)
            put(duckdb_data_chunk_get_vector(chunk, i), w->columns[i], (idx_t)(n - first),
                n);
    if (last > first && !w->gave) atomic_fetch_add(&s->workers_that_gave, 1);
    w->gave = w->gave || last > first;
    *rows = last > first ? (idx_t)(last - first) : 0;
    return FB_OK;
}

static void end(void *context, void *memory)
{
    numbers *s = context;
    atomic_fetch_add(&s->ended, 1);
    fb_free(memory);
}

/* Open an engine that knows the scan under the name `numbers`. */
static fb_engine *open_numbers(numbers *s, int64_t total)
{
    const fb_engine_options options = {256 << 20, 2, NULL};
    fb_engine              *engine = NULL;
    fb_error                err;
    memset(s, 0, sizeof *s);
    s->total = total;
    s->fails_at = -1;
    s->scan = (fb_scan){"numbers", s, 2, begin, fill, end};
    fb_scan_column columns[] = {
        {"n", duckdb_create_logical_type(DUCKDB_TYPE_BIGINT)},
        {"twice", duckdb_create_logical_type(DUCKDB_TYPE_BIGINT)},
        {"text", duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR)}};
    CHECK_CODE(fb_engine_open(&options, &engine, &err), FB_OK, &err);
    CHECK_CODE(fb_engine_add_scan(engine, &s->scan, columns, 3, &err), FB_OK, &err);
    return engine;
}

static int64_t number_of(fb_engine *engine, const char *sql)
{
    duckdb_result result;
    fb_error      err;
    int64_t       n = -1;
    fb_code       code = fb_engine_query_scan(engine, sql, &result, &err);
    CHECK_CODE(code, FB_OK, &err);
    if (code != FB_OK) return n;
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    if (chunk)
        n = *(int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    return n;
}

TEST(every_row_of_a_scan_arrives_once)
{
    numbers    s;
    fb_engine *engine = open_numbers(&s, 100500);
    CHECK_INT(number_of(engine, "SELECT count(*) FROM numbers()"), 100500);
    s.next = 0;
    CHECK_INT(number_of(engine, "SELECT count(DISTINCT n) FROM numbers()"), 100500);
    s.next = 0;
    CHECK_INT(number_of(engine, "SELECT sum(n)::BIGINT FROM numbers()"),
              INT64_C(100500) * 100499 / 2);
    CHECK_INT(s.begun, s.ended);
    CHECK(s.ended >= 3);
    fb_engine_close(engine);
}

TEST(only_the_columns_that_a_query_uses_are_asked_for)
{
    numbers    s;
    fb_engine *engine = open_numbers(&s, 5000);
    CHECK_INT(number_of(engine, "SELECT sum(twice)::BIGINT FROM numbers()"), 5000 * 4999);
    CHECK_INT(s.asked, 1 << 1);
    s.asked = 0;
    s.next = 0;
    CHECK_INT(
        number_of(engine,
                  "SELECT count(*) FROM numbers() WHERE text = 'number 7' AND n = 7"),
        1);
    CHECK_INT(s.asked, 1 << 0 | 1 << 2);
    s.asked = 0;
    s.next = 0;
    CHECK_INT(number_of(engine, "SELECT count(*) FROM numbers()"), 5000);
    CHECK(s.asked == 0 ||
          s.asked == 1); // a count needs no column; the engine may take one
    fb_engine_close(engine);
}

TEST(columns_come_in_the_order_the_query_names_them)
{
    numbers    s;
    fb_engine *engine = open_numbers(&s, 5000);
    CHECK_INT(number_of(engine,
                        "SELECT count(*) FROM (SELECT text, twice, n FROM numbers()) "
                        "WHERE text = 'number ' || n AND twice = 2 * n"),
              5000);
    fb_engine_close(engine);
}

TEST(two_workers_scan_at_once)
{
    numbers    s;
    fb_engine *engine = open_numbers(&s, 20000);
    s.pause_ms = 2;
    CHECK_INT(number_of(engine, "SELECT sum(n)::BIGINT FROM numbers()"),
              INT64_C(20000) * 19999 / 2);
    CHECK_INT(s.workers_that_gave, 2);
    fb_engine_close(engine);
}

TEST(a_failure_of_a_scan_comes_back_as_it_was_given)
{
    numbers       s;
    duckdb_result result;
    fb_error      err = {0};
    fb_engine    *engine = open_numbers(&s, 100000);
    s.fails_at = 50000;
    CHECK(fb_engine_query_scan(engine, "SELECT sum(n) FROM numbers()", &result, &err) ==
          FB_EUNREACHABLE);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-K008");
    CHECK_TEXT(err.what, "partition 3 cannot be read");
    CHECK_TEXT(err.where, "orders[3]@17");
    CHECK_INT(s.begun, s.ended);
    s.fails_at = -1;
    s.next = 0;
    CHECK_INT(number_of(engine, "SELECT count(*) FROM numbers()"), 100000);
    fb_engine_close(engine);
}

TEST(a_worker_that_does_not_begin_is_ended_and_its_failure_comes_back)
{
    numbers       s;
    duckdb_result result;
    fb_error      err = {0};
    fb_engine    *engine = open_numbers(&s, 10);
    s.begin_fails = true;
    CHECK(fb_engine_query_scan(engine, "SELECT sum(n) FROM numbers()", &result, &err) ==
          FB_EDATA);
    CHECK_TEXT(err.what, "the worker did not begin");
    CHECK_TEXT(err.hint, "a hint of its own");
    CHECK_INT(s.begun, s.ended);
    fb_engine_close(engine);
}

TEST(a_failure_of_the_query_itself_is_not_taken_for_one_of_a_scan)
{
    numbers       s;
    duckdb_result result;
    fb_error      err = {0};
    fb_engine    *engine = open_numbers(&s, 10);
    s.fails_at = 0;
    CHECK(fb_engine_query_scan(engine, "SELECT sum(n) FROM numbers()", &result, &err) ==
          FB_EUNREACHABLE);
    CHECK(fb_engine_query_scan(engine, "SELECT no_such FROM numbers()", &result, &err) ==
          FB_EBUG);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-Q001");
    fb_engine_close(engine);
}

static void *scan_and_fail(void *context)
{
    numbers       s;
    duckdb_result result;
    fb_error      err = {0};
    fb_engine    *engine = open_numbers(&s, 100000);
    bool          should_fail = context != NULL;
    s.fails_at = should_fail ? 5000 : -1;
    for (int i = 0; i < 10; i++) {
        s.next = 0;
        fb_code code =
            fb_engine_query_scan(engine, "SELECT sum(n) FROM numbers()", &result, &err);
        CHECK_INT(code, should_fail ? FB_EUNREACHABLE : FB_OK);
        if (code == FB_OK) duckdb_destroy_result(&result);
    }
    fb_engine_close(engine);
    return NULL;
}

TEST(scans_of_two_engines_at_once_do_not_take_each_others_failures)
{
    pthread_t other;
    CHECK(pthread_create(&other, NULL, scan_and_fail, "fails") == 0);
    scan_and_fail(NULL);
    pthread_join(other, NULL);
}

TEST(a_scan_is_not_made_without_memory_and_its_types_are_released)
{
    numbers    s;
    fb_error   err;
    fb_engine *engine = open_numbers(&s, 10);
    for (int n = 1; n <= 2; n++) {
        fb_scan_column columns[] = {
            {"n", duckdb_create_logical_type(DUCKDB_TYPE_BIGINT)}};
        fb_alloc_fail_at(n);
        CHECK(fb_engine_add_scan(engine, &s.scan, columns, 1, &err) == FB_EMEMORY);
        CHECK_INT(fb_alloc_fail_at(0), 1);
    }
    fb_scan_column columns[] = {{"n", duckdb_create_logical_type(DUCKDB_TYPE_BIGINT)},
                                {"m", NULL}};
    CHECK(fb_engine_add_scan(engine, &s.scan, columns, 2, &err) == FB_EMEMORY);
    fb_engine_close(engine);
}

TEST(a_worker_without_memory_ends_the_query_with_that_reason)
{
    numbers       s;
    duckdb_result result;
    fb_error      err = {0};
    fb_engine    *engine = open_numbers(&s, 10);
    for (int n = 1; n <= 3; n++) { // the state, the list of columns, our worker
        fb_alloc_fail_at(n);
        CHECK(fb_engine_query_scan(engine, "SELECT sum(n) FROM numbers()", &result,
                                   &err) == FB_EMEMORY);
        CHECK_INT(fb_alloc_fail_at(0), 1);
        CHECK_TEXT(fb_reason_name(err.reason), "FB-M001");
        CHECK_INT(s.begun, s.ended);
    }
    fb_engine_close(engine);
}
