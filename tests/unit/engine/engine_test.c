/* engine_test.c - SQL in, rows out, and what the query engine may not do. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/time.h"
#include "engine/engine.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fb_engine_options small = {64 << 20, 2, NULL};

static fb_engine *opened(const fb_engine_options *options)
{
    fb_engine *engine = NULL;
    fb_error   err;
    CHECK_CODE(fb_engine_open(options, &engine, &err), FB_OK, &err);
    return engine;
}

/* The one cell of a query's answer, as text. */
static void answers(fb_engine *engine, const char *sql, const char *want)
{
    duckdb_result result;
    fb_error      err;
    CHECK_CODE(fb_engine_query(engine, sql, &result, &err), FB_OK, &err);
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    REQUIRE(chunk != NULL);
    fb_cell cell = fb_vector_text(duckdb_data_chunk_get_vector(chunk, 0), 0);
    check_bytes(CHECK_SITE(sql), cell.data, cell.size, want, strlen(want));
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
}

static void fails(fb_engine *engine, const char *sql, fb_code code, const char *reason,
                  const char *words)
{
    fb_error err = {0};
    check_int(CHECK_SITE(sql), fb_engine_exec(engine, sql, &err), code);
    check_text(CHECK_SITE(sql), fb_reason_name(err.reason), reason);
    check_has(CHECK_SITE(sql), err.what, words);
}

TEST(sql_runs_and_its_rows_come_back)
{
    fb_engine *engine = opened(&small);
    fb_error   err;
    REQUIRE(engine != NULL);
    CHECK_CODE(fb_engine_exec(engine, "CREATE TABLE t (s VARCHAR)", &err), FB_OK, &err);
    CHECK_CODE(fb_engine_exec(engine, "INSERT INTO t VALUES ('x'), (NULL)", &err), FB_OK,
               &err);
    answers(engine, "SELECT s FROM t WHERE s IS NOT NULL", "x");
    answers(engine, "SELECT count(*)::VARCHAR FROM t", "2");
    CHECK(fb_engine_connection(engine) != NULL);
    fb_engine_close(engine);
    fb_engine_close(NULL);
}

TEST(the_failures_of_the_engine_have_their_own_reasons)
{
    fb_engine *engine = opened(&small);
    REQUIRE(engine != NULL);
    fails(engine, "SELEC 1", FB_EBUG, "FB-Q001", "SELEC");
    fails(engine, "SELECT * FROM no_such_table", FB_EBUG, "FB-Q001", "no_such_table");
    fails(engine, "COPY (SELECT 1) TO '/no/such/folder/x.parquet'", FB_EIO, "FB-Q002",
          "/no/such/folder");
    fails(engine, "SELECT * FROM read_parquet('/no/such/file.parquet')", FB_EIO,
          "FB-Q002", "/no/such/file");
    answers(engine, "SELECT 'still there'", "still there");
    fb_engine_close(engine);
}

TEST(a_query_that_needs_too_much_memory_says_so)
{
    const fb_engine_options tiny = {8 << 20, 1, NULL};
    fb_engine              *engine = opened(&tiny);
    REQUIRE(engine != NULL);
    fails(engine, "CREATE TABLE t AS SELECT hash(i) AS h FROM range(3000000) r(i)",
          FB_EMEMORY, "FB-Q003", "");
    answers(engine, "SELECT 'still there'", "still there");
    fb_engine_close(engine);
}

static void *interrupt_soon(void *engine)
{
    fb_sleep_ms(50);
    fb_engine_interrupt(engine);
    return NULL;
}

TEST(a_query_can_be_interrupted_from_another_thread)
{
    fb_engine *engine = opened(&small);
    pthread_t  other;
    REQUIRE(engine != NULL);
    CHECK(pthread_create(&other, NULL, interrupt_soon, engine) == 0);
    fails(engine, "SELECT count(*) FROM range(100000000000) WHERE hash(range) = 1",
          FB_ECANCELED, "FB-I002", "");
    pthread_join(other, NULL);
    answers(engine, "SELECT 'still there'", "still there");
    fb_engine_close(engine);
}

TEST(the_engine_loads_no_extension_and_reaches_no_network)
{
    fb_engine *engine = opened(&small);
    fb_error   err;
    REQUIRE(engine != NULL);
    CHECK(fb_engine_exec(engine, "SELECT * FROM 'http://127.0.0.1:1/x.parquet'", &err) !=
          FB_OK);
    CHECK(fb_engine_exec(engine, "LOAD httpfs", &err) != FB_OK);
    answers(engine, "SELECT current_setting('autoload_known_extensions')::VARCHAR",
            "false");
    answers(engine, "SELECT current_setting('autoinstall_known_extensions')::VARCHAR",
            "false");
    answers(engine, "SELECT current_setting('allow_community_extensions')::VARCHAR",
            "false");
    answers(engine, "SELECT current_setting('threads')::VARCHAR", "2");
    fb_engine_close(engine);
}

TEST(two_engines_know_nothing_of_each_other)
{
    fb_engine *one = opened(&small), *two = opened(&small);
    fb_error   err;
    REQUIRE(one && two);
    CHECK_CODE(fb_engine_exec(one, "CREATE TABLE t AS SELECT 1", &err), FB_OK, &err);
    fails(two, "SELECT * FROM t", FB_EBUG, "FB-Q001", "t");
    fb_engine_close(one);
    fb_engine_close(two);
}

TEST(an_engine_is_not_opened_without_memory)
{
    fb_engine *engine = NULL;
    fb_error   err;
    fb_alloc_fail_at(1);
    CHECK(fb_engine_open(&small, &engine, &err) == FB_EMEMORY);
    CHECK_INT(fb_alloc_fail_at(0), 1);
    CHECK(engine == NULL);
}

TEST(texts_and_names_are_quoted_for_sql)
{
    fb_engine *engine = opened(&small);
    fb_buf     sql;
    REQUIRE(engine != NULL);
    fb_buf_init(&sql, 1000);
    fb_buf_add_text(&sql, "SELECT ");
    fb_sql_add_text(&sql, "it's \"one\" \\ -- \n; \xc3\xa9");
    fb_buf_add_text(&sql, " AS ");
    fb_sql_add_name(&sql, "a\"b'c -- ");
    answers(engine, fb_buf_text(&sql), "it's \"one\" \\ -- \n; \xc3\xa9");
    fb_buf_clear(&sql);
    fb_engine_close(engine);
}

TEST(cells_are_read_with_all_their_bytes_and_nulls)
{
    fb_engine    *engine = opened(&small);
    duckdb_result result;
    fb_error      err;
    REQUIRE(engine != NULL);
    CHECK_CODE(fb_engine_query(engine,
                               "SELECT * FROM (VALUES ('a', 0), (NULL, 1), ('', 2), "
                               "('longer than twelve bytes' || chr(0) || 'x', 3)) "
                               "t(s, n) ORDER BY n",
                               &result, &err),
               FB_OK, &err);
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    REQUIRE(chunk != NULL);
    duckdb_vector v = duckdb_data_chunk_get_vector(chunk, 0);
    CHECK_BYTES(fb_vector_text(v, 0).data, fb_vector_text(v, 0).size, "a", 1);
    CHECK(fb_vector_text(v, 1).is_null && fb_vector_is_null(v, 1));
    CHECK(!fb_vector_text(v, 2).is_null);
    CHECK_INT(fb_vector_text(v, 2).size, 0);
    CHECK_BYTES(fb_vector_text(v, 3).data, fb_vector_text(v, 3).size,
                "longer than twelve bytes\0x", 26);
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    fb_engine_close(engine);
}
