/* scan_test.c - records become rows of a query: values, metadata, policies, counts. */
#include "base/alloc.h"
#include "base/limits.h"
#include "decode/json.h"
#include "decode/text.h"
#include "run/scan.h"
#include "source/kafka_options.h"
#include "tests/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a source of records made here ------------------------------------------------ */

typedef struct made {
    fb_record        record;
    const fb_header *headers;
    size_t           headers_count;
} made;

/* Gives out `count` records, a slice at a time; record `i` is that of list[i % length]. */
typedef struct maker {
    const made     *list;
    size_t          length;
    int64_t         count, given, fails_at; ///< fails_at: -1 never
    size_t          slice_size;
    pthread_mutex_t lock;
    atomic_int      held; ///< slices that were not given back
} maker;

static fb_code take(void *self, fb_slice *slice, fb_error *err)
{
    maker  *m = self;
    fb_code code = FB_OK;
    slice->count = 0;
    pthread_mutex_lock(&m->lock);
    if (m->fails_at >= 0 && m->given >= m->fails_at)
        code = fb_fail(err, K008, "the source failed");
    while (code == FB_OK && slice->count < m->slice_size && m->given < m->count) {
        fb_record *r = &slice->records[slice->count++];
        *r = m->list[(size_t)m->given % m->length].record;
        r->handle = (void *)(uintptr_t)&m->list[(size_t)m->given % m->length];
        if (r->offset == 0) r->offset = m->given;
        m->given++;
    }
    pthread_mutex_unlock(&m->lock);
    if (slice->count) atomic_fetch_add(&m->held, 1);
    return code;
}

static void release(void *self, fb_slice *slice)
{
    maker *m = self;
    if (slice->count) atomic_fetch_sub(&m->held, 1);
    slice->count = 0;
}

static bool header(void *self, const fb_record *record, size_t index, fb_header *out)
{
    const made *one = record->handle;
    (void)self;
    if (index >= one->headers_count) return false;
    *out = one->headers[index];
    return true;
}

/* --- what is refused -------------------------------------------------------------- */

typedef struct keeper {
    pthread_mutex_t lock;
    int64_t         count;
    char            words[400]; ///< "offset:word,word;" of the first few
} keeper;

static fb_code keep(void *self, const fb_record *record, const fb_refusals *refusals,
                    fb_error *err)
{
    keeper *k = self;
    (void)err;
    pthread_mutex_lock(&k->lock);
    if (k->count++ < 5) {
        size_t used = strlen(k->words);
        used += (size_t)sprintf(k->words + used, "%" PRId64, record->offset);
        for (size_t i = 0; i < refusals->count; i++)
            used += (size_t)sprintf(k->words + used, "%s%s", i ? "," : ":",
                                    fb_refusal_word(refusals->list[i].id));
        strcat(k->words, ";");
    }
    pthread_mutex_unlock(&k->lock);
    return FB_OK;
}

/* --- the whole -------------------------------------------------------------------- */

typedef struct bench {
    maker                  maker;
    keeper                 keeper;
    fb_schema              decoded, schema;
    unsigned               metadata[8];
    fb_engine             *engine;
    fb_window_scan_options options;
    fb_window_scan        *scan;
    fb_error               err;
    char                   answer[1000];
} bench;

static fb_column headers_column(void)
{
    static fb_column members[2] = {
        {.name = "key", .nullable = true},
        {.name = "value", .type = {.kind = FB_KIND_BINARY}, .nullable = true}};
    static fb_column element = {
        .name = "element",
        .type = {.kind = FB_KIND_STRUCT, .fields = members, .fields_count = 2}};
    return (fb_column){
        .name = "_headers",
        .nullable = true,
        .type = {.kind = FB_KIND_LIST, .fields = &element, .fields_count = 1}};
}

/* The columns id int64 (required when `is_strict`), s string, and all metadata. */
static void make_schemas(bench *b, bool is_strict)
{
    static const fb_column flat[] = {
        {.name = "_topic", .type = {.kind = FB_KIND_STRING}, .nullable = true},
        {.name = "_partition", .type = {.kind = FB_KIND_INT32}},
        {.name = "_offset", .type = {.kind = FB_KIND_INT64}},
        {.name = "_timestamp", .type = {.kind = FB_KIND_INT64}, .nullable = true},
        {.name = "_type", .type = {.kind = FB_KIND_STRING}},
        {.name = "_key", .type = {.kind = FB_KIND_BINARY}, .nullable = true}};
    fb_schema_init(&b->decoded);
    fb_schema_init(&b->schema);
    CHECK_CODE(fb_schema_reserve(&b->decoded, 2, &b->err), FB_OK, &b->err);
    CHECK_CODE(fb_schema_reserve(&b->schema, 9, &b->err), FB_OK, &b->err);
    b->decoded.columns[0] = (fb_column){
        .name = "id", .type = {.kind = FB_KIND_INT64}, .nullable = !is_strict};
    b->decoded.columns[1] = (fb_column){.name = "s", .nullable = true};
    memcpy(b->schema.columns, b->decoded.columns, 2 * sizeof(fb_column));
    memcpy(b->schema.columns + 2, flat, sizeof flat);
    b->schema.columns[8] = headers_column();
    for (unsigned i = 0; i < 7; i++)
        b->metadata[i] = 1u << i; // in the order of FB_META_*
}

static void open_bench(bench *b, const made *list, size_t length, int64_t count,
                       bool is_strict)
{
    memset(b, 0, sizeof *b);
    b->maker = (maker){.list = list,
                       .length = length,
                       .count = count,
                       .fails_at = -1,
                       .slice_size = 500};
    pthread_mutex_init(&b->maker.lock, NULL);
    pthread_mutex_init(&b->keeper.lock, NULL);
    make_schemas(b, is_strict);
    b->options = (fb_window_scan_options){.schema = &b->schema,
                                          .decoded = &b->decoded,
                                          .metadata = b->metadata,
                                          .topic = "orders",
                                          .source = {&b->maker, take, release, header},
                                          .refuser = {&b->keeper, keep},
                                          .workers = 2,
                                          .partitions_max = 4};
    const fb_json_options   json = {.max_depth = 128, .max_message_bytes = 1 << 20};
    const fb_engine_options engine = {256 << 20, 2, NULL};
    CHECK_CODE(fb_json_open(&b->decoded, &json, &b->options.decoder, &b->err), FB_OK,
               &b->err);
    CHECK_CODE(fb_engine_open(&engine, &b->engine, &b->err), FB_OK, &b->err);
}

static void start(bench *b)
{
    CHECK_CODE(fb_window_scan_open(&b->options, b->engine, &b->scan, &b->err), FB_OK,
               &b->err);
}

/* The first cell of a query's answer, as text; "!CODE what" when the query fails. */
static const char *ask(bench *b, const char *sql)
{
    duckdb_result result;
    fb_code       code = fb_engine_query_scan(b->engine, sql, &result, &b->err);
    if (code != FB_OK) {
        snprintf(b->answer, sizeof b->answer, "!%s %s", fb_reason_name(b->err.reason),
                 b->err.what);
        return b->answer;
    }
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    snprintf(b->answer, sizeof b->answer, "(no row)");
    if (chunk && duckdb_data_chunk_get_size(chunk) > 0) {
        fb_cell cell = fb_vector_text(duckdb_data_chunk_get_vector(chunk, 0), 0);
        snprintf(b->answer, sizeof b->answer, "%.*s", (int)cell.size,
                 cell.is_null ? "NULL" : cell.data);
        if (cell.is_null) snprintf(b->answer, sizeof b->answer, "NULL");
    }
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    return b->answer;
}

/* What the workers counted for a partition: "written rejected filtered". */
static const char *counted(bench *b, int32_t partition)
{
    fb_book  book = {.partition = partition};
    fb_books books = {&book, 1};
    fb_window_scan_count(b->scan, &books);
    snprintf(b->answer, sizeof b->answer, "%" PRId64 " %" PRId64 " %" PRId64,
             book.written, book.rejected, book.filtered);
    return b->answer;
}

static void close_bench(bench *b)
{
    fb_engine_close(b->engine);
    fb_window_scan_free(b->scan);
    if (b->options.decoder.self) fb_json_close(&b->options.decoder);
    fb_schema_clear(&b->decoded);
    fb_schema_clear(&b->schema);
    CHECK_INT(b->maker.held, 0);
}

#define VALUE(text) .value = text, .value_size = sizeof(text) - 1

TEST(every_record_is_a_row_with_its_place)
{
    static const made list[] = {
        {{VALUE("{\"id\":1,\"s\":\"x\"}"), .partition = 1, .timestamp_ms = 1700000000123,
          .timestamp_type = FB_TIMESTAMP_CREATE, .key = "k", .key_size = 1},
         NULL,
         0},
        {{VALUE("{\"id\":2}"), .partition = 2, .timestamp_ms = 5,
          .timestamp_type = FB_TIMESTAMP_APPEND},
         NULL,
         0}};
    bench b;
    open_bench(&b, list, 2, 10000, false);
    start(&b);
    CHECK_TEXT(
        ask(&b,
            "SELECT count(*) || ' ' || sum(id) || ' ' || count(s) || ' ' || "
            "min(_offset) || ' ' || max(_offset) || ' ' || count(DISTINCT _offset) || "
            "' ' || string_agg(DISTINCT _topic || _partition || _type || _timestamp, ' ' "
            "ORDER BY _topic || _partition || _type || _timestamp) FROM fb_window()"),
        "10000 15000 5000 0 9999 10000 orders1create1700000000123 orders2append5");
    CHECK_TEXT(counted(&b, 1), "5000 0 0");
    CHECK_TEXT(counted(&b, 2), "5000 0 0");
    CHECK_TEXT(counted(&b, 0), "0 0 0");
    close_bench(&b);
}

TEST(l01_a_tombstone_lands_as_a_row_of_nulls_with_its_key)
{
    static const made list[] = {
        {{VALUE("{\"id\":1}"), .key = "31", .key_size = 2}, NULL, 0},
        {{.value = NULL, .key = "31", .key_size = 2}, NULL, 0}};
    bench b;
    open_bench(&b, list, 2, 3, false);
    start(&b);
    CHECK_TEXT(ask(&b,
                   "SELECT string_agg(coalesce(id::VARCHAR, 'null') || '@' || _offset || "
                   "decode(_key), ' ' ORDER BY _offset) FROM fb_window()"),
               "1@031 null@131 1@231");
    CHECK_TEXT(counted(&b, 0), "3 0 0");
    close_bench(&b);
}

TEST(a_tombstone_is_skipped_or_rejected_where_the_policy_says_so)
{
    static const made list[] = {{{VALUE("{\"id\":1}")}, NULL, 0},
                                {{.value = NULL}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 2, 10, false);
    b.options.skips_tombstones = true;
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT count(*)::VARCHAR FROM fb_window()"), "5");
    CHECK_TEXT(counted(&b, 0), "5 0 5");
    CHECK_INT(b.keeper.count, 0);
    close_bench(&b);
    open_bench(&b, list, 2, 4, true);
    b.options.rejects_tombstones = b.options.keeps_faulty_rows = true;
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT count(*)::VARCHAR FROM fb_window()"), "2");
    CHECK_TEXT(b.keeper.words, "1:tombstone;3:tombstone;");
    CHECK_TEXT(counted(&b, 0), "2 2 0");
    close_bench(&b);
}

TEST(a_required_column_that_is_missing_or_null_rejects_the_record)
{
    static const made list[] = {{{VALUE("{\"id\":1}")}, NULL, 0},
                                {{VALUE("{\"s\":\"x\"}")}, NULL, 0},
                                {{VALUE("{\"id\":null}")}, NULL, 0},
                                {{.value = NULL}, NULL, 0},
                                {{VALUE("{\"id\":\"7\",\"s\":[]}")}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 5, 5, true);
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT count(*)::VARCHAR FROM fb_window()"), "1");
    CHECK_TEXT(b.keeper.words,
               "1:not_null;2:not_null;3:tombstone;4:cast_error,cast_error;");
    CHECK_TEXT(counted(&b, 0), "1 4 0");
    CHECK_INT(fb_window_scan_warned(b.scan), 0);
    close_bench(&b);
}

TEST(with_severity_warn_a_faulty_row_is_kept_with_nulls_where_it_was_faulty)
{
    static const made list[] = {{{VALUE("{\"id\":\"x\",\"s\":\"kept\"}")}, NULL, 0},
                                {{VALUE("{\"id\":300,\"s\":{}}")}, NULL, 0},
                                {{VALUE("no json")}, NULL, 0},
                                {{VALUE("{\"id\":1,\"id\":2}")}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 4, 4, false);
    b.options.keeps_faulty_rows = true;
    start(&b);
    CHECK_TEXT(
        ask(&b,
            "SELECT string_agg(coalesce(id::VARCHAR, 'null') || coalesce(s, 'null'), ' ' "
            "ORDER BY _offset) FROM fb_window()"),
        "nullkept 300null");
    CHECK_TEXT(b.keeper.words, "0:cast_error;1:cast_error;2:bad_json;3:duplicate_key;");
    CHECK_TEXT(counted(&b, 0), "2 2 0");
    CHECK_INT(fb_window_scan_warned(b.scan), 2);
    close_bench(&b);
}

TEST(l60_a_record_without_a_time_has_null_and_none)
{
    static const made list[] = {{{VALUE("{}"), .timestamp_ms = -1}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 1, 1, false);
    start(&b);
    CHECK_TEXT(
        ask(&b, "SELECT coalesce(_timestamp::VARCHAR, 'null') || _type FROM fb_window()"),
        "nullnone");
    close_bench(&b);
}

TEST(l66_no_key_an_empty_key_and_other_bytes_are_different_keys)
{
    static const made list[] = {{{VALUE("{}")}, NULL, 0},
                                {{VALUE("{}"), .key = "", .key_size = 0}, NULL, 0},
                                {{VALUE("{}"), .key = "null", .key_size = 4}, NULL, 0},
                                {{VALUE("{}"), .key = "\xff\0", .key_size = 2}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 4, 4, false);
    start(&b);
    CHECK_TEXT(ask(&b,
                   "SELECT string_agg(coalesce(hex(_key), 'none'), ' ' ORDER BY _offset) "
                   "FROM fb_window()"),
               "none  6E756C6C FF00");
    close_bench(&b);
}

TEST(l26_a_key_that_is_not_needed_is_never_read)
{
    static const made list[] = {
        {{VALUE("{\"id\":1}"), .key = "\0\xff", .key_size = 2}, NULL, 0}};
    bench b;
    open_bench(&b, list, 1, 1, false);
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT id::VARCHAR FROM fb_window()"), "1");
    CHECK_TEXT(counted(&b, 0), "1 0 0");
    close_bench(&b);
}

TEST(headers_keep_order_repeats_and_nulls_over_many_chunks)
{
    static const fb_header some[] = {{"t", "1", 1},        {"t", "2", 1},
                                     {"n", NULL, 0},       {"e", "", 0},
                                     {"bin", "\xff\0", 2}, {"bad\xff", "x", 1}};
    static const fb_header nulls[] = {{"n", NULL, 0}, {"n", NULL, 0}, {"n", NULL, 0}};
    static const fb_header values[] = {{"v", "1", 1}, {"v", "1", 1}, {"v", "1", 1}};
    static made            list[6000];
    bench                  b;
    for (int i = 0; i < 6000;
         i++) { // chunks of nulls, then chunks of values in their place
        bool has_nulls = i / 2048 % 2 == 0;
        list[i] = (made){{VALUE("{}")}, has_nulls ? nulls : values, 3};
    }
    list[5998] = (made){{VALUE("{}")}, some, 6};
    list[5999] = (made){{VALUE("{}")}, NULL, 0};
    open_bench(&b, list, 6000, 6000, false);
    b.maker.slice_size = FB_SLICE_MAX;
    b.options.workers = 1;
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT string_agg(r, ' ' ORDER BY r) FROM (SELECT count(*) || "
                       "array_to_string(list_transform(_headers, h -> h.key || "
                       "coalesce(hex(h.value), 'null')), ',') AS r FROM fb_window() "
                       "GROUP BY _headers)"),
               "1 1t31,t32,nnull,e,binFF00,bad\xef\xbf\xbd"
               "78 2048v31,v31,v31 "
               "3950nnull,nnull,nnull");
    close_bench(&b);
}

TEST(only_columns_that_a_query_uses_are_written)
{
    static const fb_header nothing[] = {{"x", "y", 1}};
    static const made      list[] = {{{VALUE("{\"id\":1,\"s\":\"x\"}")}, nothing, 1}};
    bench                  b;
    open_bench(&b, list, 1, 1000, false);
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT count(*)::VARCHAR FROM fb_window()"), "1000");
    b.maker.given = 0;
    CHECK_TEXT(ask(&b, "SELECT max(s) FROM fb_window() WHERE _partition = 0"), "x");
    b.maker.given = 0;
    CHECK_TEXT(ask(&b, "SELECT sum(len(_headers))::VARCHAR FROM fb_window()"), "1000");
    CHECK_TEXT(counted(&b, 0), "3000 0 0");
    close_bench(&b);
}

TEST(columns_that_are_not_read_are_judged_all_the_same)
{
    static const made list[] = {{{VALUE("{\"id\":1,\"s\":5}")}, NULL, 0},
                                {{VALUE("{\"id\":1.5}")}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 2, 100, false);
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT count(*)::VARCHAR FROM fb_window()"), "50");
    CHECK_TEXT(counted(&b, 0), "50 50 0");
    close_bench(&b);
}

TEST(a_long_stretch_of_refused_records_holds_no_memory)
{
    static char text[20000];
    made        list[] = {{{.value = text}, NULL, 0}};
    bench       b;
    int size = snprintf(text, sizeof text, "{\"s\":\"%010000d\",\"id\":\"bad\"}", 7);
    list[0].record.value_size = (size_t)size;
    open_bench(&b, list, 1, 40000, false); // 400 MB of texts under a ceiling of 256
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT count(s)::VARCHAR FROM fb_window()"), "0");
    CHECK_TEXT(counted(&b, 0), "0 40000 0");
    FILE *status = fopen("/proc/self/status", "r");
    char  line[200];
    long  kb = 0;
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1) break;
    if (status) fclose(status);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(kb < 300 << 10);
#endif
    close_bench(&b);
}

TEST(an_engine_out_of_memory_ends_the_query_and_all_records_are_given_back)
{
    static char             text[20000];
    made                    list[] = {{{.value = text}, NULL, 0}};
    const fb_engine_options tiny = {8 << 20, 2, NULL};
    bench                   b;
    int                     size = snprintf(text, sizeof text, "{\"s\":\"%010000d\"}", 7);
    list[0].record.value_size = (size_t)size;
    open_bench(&b, list, 1, 40000, false);
    fb_engine_close(b.engine);
    CHECK_CODE(fb_engine_open(&tiny, &b.engine, &b.err), FB_OK, &b.err);
    b.maker.slice_size = FB_SLICE_MAX;
    start(&b);
    CHECK_HAS(ask(&b, "SELECT count(s)::VARCHAR FROM fb_window()"), "!FB-Q003");
    CHECK_INT(b.maker.held, 0);
    close_bench(&b);
}

TEST(a_failure_of_the_source_ends_the_query_as_it_was_given)
{
    static const made list[] = {{{VALUE("{\"id\":1}")}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 1, 100000, false);
    b.maker.fails_at = 5000;
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT sum(id) FROM fb_window()"), "!FB-K008 the source failed");
    close_bench(&b);
}

static fb_code keep_nothing(void *self, const fb_record *record,
                            const fb_refusals *refusals, fb_error *err)
{
    (void)self;
    (void)record;
    (void)refusals;
    return fb_fail(err, Q003, "there is no room for it");
}

TEST(a_record_that_cannot_be_set_aside_ends_the_query)
{
    static const made list[] = {{{VALUE("no json")}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 1, 10, false);
    b.options.refuser.keep = keep_nothing;
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT sum(id) FROM fb_window()"),
               "!FB-Q003 there is no room for it");
    close_bench(&b);
}

TEST(every_allocation_of_a_scan_may_fail_once)
{
    static const made list[] = {{{VALUE("{\"id\":1,\"s\":\"x\"}")}, NULL, 0},
                                {{VALUE("{\"id\":[1]}")}, NULL, 0}};
    int               fails = 1, n = 0;
    for (; fails > 0 && n < 200; n++) {
        bench b;
        open_bench(&b, list, 2, 100, false);
        b.options.workers = 1;
        fb_alloc_fail_at(n + 1);
        fb_code code = fb_window_scan_open(&b.options, b.engine, &b.scan, &b.err);
        if (code == FB_OK) {
            const char *got = ask(&b, "SELECT count(s)::VARCHAR FROM fb_window()");
            if (strcmp(got, "50") != 0) CHECK_HAS(got, "!FB-M001");
        } else {
            CHECK_TEXT(fb_reason_name(b.err.reason), "FB-M001");
        }
        fails = fb_alloc_fail_at(0);
        close_bench(&b);
    }
    CHECK(n > 10 && n < 200);
}

TEST(raw_values_become_one_column_of_bytes)
{
    static const made list[] = {{{VALUE("\xff\0x")}, NULL, 0},
                                {{.value = NULL}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 2, 2, false);
    fb_json_close(&b.options.decoder);
    b.decoded.count = 1;
    b.decoded.columns[0] = b.schema.columns[0] =
        (fb_column){.name = "value", .type = {.kind = FB_KIND_BINARY}, .nullable = true};
    b.schema.columns[1] = b.schema.columns[4]; // _offset follows at once
    b.schema.count = 2;
    b.metadata[0] = FB_META_OFFSET;
    static const int64_t max_bytes = 1 << 20;
    fb_text_decoder_init(&b.options.decoder, false, &max_bytes);
    start(&b);
    CHECK_TEXT(
        ask(&b, "SELECT string_agg(_offset || coalesce(hex(value), 'none'), ' ' ORDER BY "
                "_offset) FROM fb_window()"),
        "0FF0078 1none");
    b.options.decoder.self = NULL; // there is nothing of JSON to close
    close_bench(&b);
}

TEST(the_value_as_it_came_can_be_a_column)
{
    static const made list[] = {{{VALUE("{\"id\" : 1.0}")}, NULL, 0}};
    bench             b;
    open_bench(&b, list, 1, 1, false);
    b.schema.columns[2] =
        (fb_column){.name = "_value", .type = {.kind = FB_KIND_BINARY}, .nullable = true};
    b.metadata[0] = FB_SCAN_VALUE;
    start(&b);
    CHECK_TEXT(ask(&b, "SELECT decode(_value) || id FROM fb_window()"),
               "{\"id\" : 1.0}1");
    close_bench(&b);
}
