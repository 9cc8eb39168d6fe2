/* keeper.c - an appender under a lock; see keeper.h.
 *
 * Refused records are few in a healthy topic, so one lock around the whole append costs
 * nothing there; in a sick one the engine's table spills to disk instead of memory.
 */
#include "check/keeper.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/time.h"
#include "schema/logical.h"

#include <pthread.h>
#include <string.h>

enum { MAX_COUNTED = 1024 };

typedef struct counted {
    fb_refusal_id rule;
    const char   *column; ///< the schema's; NULL for a whole record
    int64_t       violations;
} counted;

struct fb_keeper {
    fb_keeper_options   options;
    duckdb_connection   connection;
    duckdb_appender     appender;
    duckdb_logical_type header_type, error_type;
    pthread_mutex_t     lock;
    int64_t             count;
    counted             checks[MAX_COUNTED];
    size_t              checks_count;
    int32_t             first_partition;
    int64_t             first_offset;
    fb_refusal          first_fault;
};

/* --- the table ------------------------------------------------------------------------ */

typedef struct column {
    const char *name;
    fb_kind     kind;
} column;

static const column flat[] = {
    {"_kafka_topic", FB_KIND_STRING},     {"_kafka_partition", FB_KIND_INT32},
    {"_kafka_offset", FB_KIND_INT64},     {"_kafka_timestamp", FB_KIND_INT64},
    {"_kafka_timestamp_type", FB_KIND_STRING}, {"_kafka_key", FB_KIND_BINARY},
    {"_kafka_value", FB_KIND_BINARY},     {"pipeline", FB_KIND_STRING},
    {"run_id", FB_KIND_STRING},           {"rejected_at", FB_KIND_TIMESTAMP},
    {"severity", FB_KIND_STRING}};
static const column of_header[] = {{"key", FB_KIND_STRING}, {"value", FB_KIND_BINARY}};
static const column of_error[] = {{"reason", FB_KIND_STRING}, {"code", FB_KIND_STRING},
                                  {"column", FB_KIND_STRING}, {"path", FB_KIND_STRING},
                                  {"raw", FB_KIND_STRING},    {"message", FB_KIND_STRING}};

enum {
    FLAT = sizeof flat / sizeof *flat,
    HEADER_FIELDS = sizeof of_header / sizeof *of_header,
    ERROR_FIELDS = sizeof of_error / sizeof *of_error,
};

static void set_columns(fb_column *to, const column *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (fb_column){
            .name = from[i].name, .type = {.kind = from[i].kind}, .nullable = true};
}

/* list<struct<fields>> */
static fb_code make_list(fb_schema *schema, const column *fields, size_t count, fb_type *out,
                         fb_error *err)
{
    fb_column *element = fb_arena_alloc(&schema->arena, sizeof *element);
    fb_column *members = fb_arena_alloc(&schema->arena, count * sizeof *members);
    if (!element || !members) return fb_fail_memory(err, "a schema");
    set_columns(members, fields, count);
    *element = (fb_column){
        .name = "element",
        .type = {.kind = FB_KIND_STRUCT, .fields = members, .fields_count = count},
        .nullable = true};
    *out = (fb_type){.kind = FB_KIND_LIST, .fields = element, .fields_count = 1};
    return FB_OK;
}

fb_code fb_keeper_schema(fb_schema *out, fb_error *err)
{
    fb_code code = FB_OK;
    FB_TRY(fb_schema_reserve(out, FLAT + 2, err));
    set_columns(out->columns, flat, FLAT);
    out->columns[FLAT] = (fb_column){.name = "_kafka_headers", .nullable = true};
    out->columns[FLAT + 1] = (fb_column){.name = "errors", .nullable = true};
    FB_TRY(make_list(out, of_header, HEADER_FIELDS, &out->columns[FLAT].type, err));
    FB_TRY(make_list(out, of_error, ERROR_FIELDS, &out->columns[FLAT + 1].type, err));
out:
    return code;
}

static fb_code create_table(fb_engine *engine, const fb_schema *schema, fb_error *err)
{
    fb_buf sql;
    fb_buf_init(&sql, 1 << 16);
    fb_buf_add_text(&sql, "CREATE OR REPLACE TABLE " FB_KEEPER_TABLE "(");
    for (size_t i = 0; i < schema->count; i++) {
        fb_buf_add_text(&sql, i ? ", " : "");
        fb_sql_add_name(&sql, schema->columns[i].name);
        fb_buf_add_char(&sql, ' ');
        fb_type_print_sql(&schema->columns[i].type, false, &sql);
    }
    fb_buf_add_char(&sql, ')');
    fb_code code = fb_buf_check(&sql, "a statement", err);
    if (code == FB_OK) code = fb_engine_exec(engine, fb_buf_text(&sql), err);
    fb_buf_clear(&sql);
    return code;
}

fb_code fb_keeper_open(fb_engine *engine, const fb_keeper_options *options, fb_keeper **out,
                       fb_error *err)
{
    fb_code    code = FB_OK;
    fb_schema  schema;
    fb_keeper *keeper = fb_alloc(sizeof *keeper);
    if (!keeper) return fb_fail_memory(err, "the keeper of rejected rows");
    fb_schema_init(&schema);
    keeper->options = *options;
    pthread_mutex_init(&keeper->lock, NULL);
    FB_TRY(fb_keeper_schema(&schema, err));
    FB_TRY(create_table(engine, &schema, err));
    keeper->header_type = fb_type_logical(&schema.columns[FLAT].type.fields[0].type);
    keeper->error_type = fb_type_logical(&schema.columns[FLAT + 1].type.fields[0].type);
    FB_TRY(fb_engine_connect(engine, &keeper->connection, err));
    if (duckdb_appender_create(keeper->connection, NULL, FB_KEEPER_TABLE, &keeper->appender) !=
        DuckDBSuccess)
        FB_TRY(fb_fail(err, Q001, "the query engine gives no appender"));
    *out = keeper;
    keeper = NULL;
out:
    fb_schema_clear(&schema);
    fb_keeper_free(keeper);
    return code;
}

void fb_keeper_free(fb_keeper *keeper)
{
    if (!keeper) return;
    duckdb_appender_destroy(&keeper->appender);
    duckdb_disconnect(&keeper->connection);
    duckdb_destroy_logical_type(&keeper->header_type);
    duckdb_destroy_logical_type(&keeper->error_type);
    pthread_mutex_destroy(&keeper->lock);
    fb_free(keeper);
}

/* --- one record ----------------------------------------------------------------------- */

static duckdb_value text_value(const char *text, size_t size)
{
    return text ? duckdb_create_varchar_length(text, (idx_t)size) : duckdb_create_null_value();
}

static duckdb_value plain_value(const char *text) { return text_value(text, text ? strlen(text) : 0); }

static duckdb_value bytes_value(const void *bytes, size_t size)
{
    return bytes ? duckdb_create_blob(bytes, (idx_t)size) : duckdb_create_null_value();
}

static duckdb_value struct_of(duckdb_logical_type type, duckdb_value *members, size_t count)
{
    duckdb_value made = duckdb_create_struct_value(type, members);
    for (size_t i = 0; i < count; i++)
        duckdb_destroy_value(&members[i]);
    return made;
}

/* Append a list and release its items. */
static bool append_list(fb_keeper *k, duckdb_logical_type type, duckdb_value *items, size_t count)
{
    duckdb_value list = duckdb_create_list_value(type, items, (idx_t)count);
    bool         ok = list && duckdb_append_value(k->appender, list) == DuckDBSuccess;
    for (size_t i = 0; i < count; i++)
        duckdb_destroy_value(&items[i]);
    duckdb_destroy_value(&list);
    return ok;
}

static size_t count_headers(const fb_source *source, const fb_record *record)
{
    fb_header h;
    size_t    n = 0;
    while (source->header && source->header(source->self, record, n, &h))
        n++;
    return n;
}

static bool append_headers(fb_keeper *k, const fb_record *record)
{
    const fb_source *source = &k->options.source;
    size_t           count = count_headers(source, record), n = 0;
    duckdb_value    *items = fb_alloc((count + 1) * sizeof(duckdb_value));
    fb_header        h;
    if (!items) return false;
    for (; n < count && source->header(source->self, record, n, &h); n++) {
        const char  *name = fb_utf8_valid(h.name, strlen(h.name)) ? h.name : "(not UTF-8)";
        duckdb_value members[HEADER_FIELDS] = {plain_value(name), bytes_value(h.value, h.size)};
        items[n] = struct_of(k->header_type, members, HEADER_FIELDS);
    }
    bool ok = append_list(k, k->header_type, items, n);
    fb_free(items);
    return ok;
}

/* `raw` may have been cut in the middle of a character. */
static size_t whole_characters(const char *text, size_t size)
{
    for (size_t less = 0; less < 4 && less <= size; less++)
        if (fb_utf8_valid(text, size - less)) return size - less;
    return 0;
}

static bool append_errors(fb_keeper *k, const fb_refusals *refusals)
{
    duckdb_value items[FB_MAX_REFUSALS];
    for (size_t i = 0; i < refusals->count; i++) {
        const fb_refusal *r = &refusals->list[i];
        size_t            raw_size = r->raw ? whole_characters(r->raw, r->raw_size) : 0;
        duckdb_value      members[ERROR_FIELDS] = {
            plain_value(fb_refusal_word(r->id)),
            plain_value(fb_reason_name(fb_refusal_reason(r->id))),
            plain_value(r->column),
            plain_value(r->path),
            text_value(r->raw, raw_size),
            plain_value(fb_refusal_message(r->id))};
        items[i] = struct_of(k->error_type, members, ERROR_FIELDS);
    }
    return append_list(k, k->error_type, items, refusals->count);
}

static bool append_text(fb_keeper *k, const char *text)
{
    return duckdb_append_varchar(k->appender, text) == DuckDBSuccess;
}

static bool append_bytes(fb_keeper *k, const char *bytes, size_t size)
{
    if (!bytes) return duckdb_append_null(k->appender) == DuckDBSuccess;
    return duckdb_append_blob(k->appender, bytes, (idx_t)size) == DuckDBSuccess;
}

static bool append_flat(fb_keeper *k, const fb_record *r)
{
    static const char *const types[] = {"none", "create", "append"};
    duckdb_appender          a = k->appender;
    bool                     has_time = r->timestamp_type != FB_TIMESTAMP_NONE;
    return append_text(k, k->options.topic) &&
           duckdb_append_int32(a, r->partition) == DuckDBSuccess &&
           duckdb_append_int64(a, r->offset) == DuckDBSuccess &&
           (has_time ? duckdb_append_int64(a, r->timestamp_ms) : duckdb_append_null(a)) ==
               DuckDBSuccess &&
           append_text(k, types[r->timestamp_type]) && append_bytes(k, r->key, r->key_size) &&
           append_bytes(k, r->value, r->value_size) && append_text(k, k->options.pipeline) &&
           append_text(k, k->options.run_id) &&
           duckdb_append_timestamp(a, (duckdb_timestamp){fb_now_us()}) == DuckDBSuccess &&
           append_text(k, k->options.severity);
}

static void count_check(fb_keeper *k, const fb_refusal *r)
{
    for (size_t i = 0; i < k->checks_count; i++) {
        counted *c = &k->checks[i];
        bool     same = c->column == r->column ||
                    (c->column && r->column && strcmp(c->column, r->column) == 0);
        if (c->rule != r->id || !same) continue;
        c->violations++;
        return;
    }
    if (k->checks_count < MAX_COUNTED)
        k->checks[k->checks_count++] = (counted){r->id, r->column, 1};
}

static void note(fb_keeper *k, const fb_record *record, const fb_refusals *refusals)
{
    bool is_lower = record->partition < k->first_partition ||
                    (record->partition == k->first_partition && record->offset < k->first_offset);
    if (k->count++ == 0 || is_lower) {
        k->first_partition = record->partition;
        k->first_offset = record->offset;
        k->first_fault = (fb_refusal){.id = refusals->list[0].id, .column = refusals->list[0].column};
    }
    for (size_t i = 0; i < refusals->count; i++)
        count_check(k, &refusals->list[i]);
}

static fb_code keep(void *self, const fb_record *record, const fb_refusals *refusals, fb_error *err)
{
    fb_keeper *k = self;
    pthread_mutex_lock(&k->lock);
    bool ok = append_flat(k, record) && append_headers(k, record) && append_errors(k, refusals) &&
              duckdb_appender_end_row(k->appender) == DuckDBSuccess;
    if (ok) note(k, record, refusals);
    pthread_mutex_unlock(&k->lock);
    if (ok) return FB_OK;
    const char *said = duckdb_appender_error(k->appender);
    return fb_fail(err, Q003, "a rejected record could not be kept: %s", said ? said : "no word");
}

fb_refuser fb_keeper_refuser(fb_keeper *keeper) { return (fb_refuser){keeper, keep}; }

fb_code fb_keeper_finish(fb_keeper *keeper, fb_error *err)
{
    if (duckdb_appender_close(keeper->appender) == DuckDBSuccess) return FB_OK;
    const char *said = duckdb_appender_error(keeper->appender);
    return fb_fail(err, Q003, "the rejected records could not be kept: %s", said ? said : "no word");
}

int64_t fb_keeper_count(const fb_keeper *keeper) { return keeper->count; }

void fb_keeper_each_check(const fb_keeper *keeper, fb_keeper_visit visit, void *context)
{
    for (size_t i = 0; i < keeper->checks_count; i++)
        visit(context, keeper->checks[i].rule, keeper->checks[i].column, keeper->checks[i].violations);
}

bool fb_keeper_first(const fb_keeper *keeper, int32_t *partition, int64_t *offset, fb_refusal *fault)
{
    if (keeper->count == 0) return false;
    *partition = keeper->first_partition;
    *offset = keeper->first_offset;
    *fault = keeper->first_fault;
    return true;
}
