/* unique.c - see unique.h.
 *
 * The way: the engine finds the rows that share a value with another row (few, in a
 * healthy topic); they are walked in order of place, each value is looked up among those
 * of the rows accepted so far, and the losers go into a small table that the final copy
 * leaves out.
 */
#include "run/unique.h"

#include "base/alloc.h"
#include "check/keeper.h"
#include "decode/keys.h"
#include "run/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SQL = 4 << 20, MAX_UNIQUE = 32, MAX_VALUES = 1 << 30 };

typedef struct unique_column {
    const char *name;
    fb_key_set  seen;
    int64_t     violations;
} unique_column;

struct fb_unique {
    const fb_session *session;
    const char       *severity, *run_id;
    fb_schema         schema;
    unsigned          metadata[FB_MAX_METADATA * 2];
    unique_column     columns[MAX_UNIQUE];
    size_t            count;
    fb_buf            relation;
    int64_t          *losers; ///< by partition
    int32_t           partitions_max;
    int64_t           refused;
    bool              warns;
};

typedef struct hidden_column {
    const char *name;
    unsigned    bit;
    fb_kind     kind;
} hidden_column;

static const hidden_column hidden[] = {
    {"__fb_partition", FB_META_PARTITION, FB_KIND_INT32},
    {"__fb_offset", FB_META_OFFSET, FB_KIND_INT64},
    {"__fb_timestamp", FB_META_TIMESTAMP, FB_KIND_INT64},
    {"__fb_timestamp_type", FB_META_TIMESTAMP_TYPE, FB_KIND_STRING},
    {"__fb_key", FB_META_KEY, FB_KIND_BINARY},
    {"__fb_value", FB_SCAN_VALUE, FB_KIND_BINARY},
};

enum { HIDDEN = sizeof hidden / sizeof *hidden };

static fb_code make_schema(fb_unique *u, fb_error *err)
{
    const fb_session *s = u->session;
    size_t            at = s->schema.count;
    fb_code           code = fb_schema_reserve(&u->schema, at + HIDDEN + 1, err);
    if (code != FB_OK) return code;
    memcpy(u->schema.columns, s->schema.columns, at * sizeof *s->schema.columns);
    memcpy(u->metadata, s->metadata, sizeof s->metadata);
    size_t m = at - s->decoded.count;
    for (size_t i = 0; i < HIDDEN; i++) {
        u->schema.columns[at] = (fb_column){.name = hidden[i].name, .nullable = true};
        u->schema.columns[at++].type.kind = hidden[i].kind;
        u->metadata[m++] = hidden[i].bit;
    }
    u->schema.columns[at] = (fb_column){.name = "__fb_headers", .nullable = true};
    u->metadata[m] = FB_META_HEADERS;
    return fb_headers_type(&u->schema.arena, &u->schema.columns[at].type, err);
}

fb_code fb_unique_open(const fb_session *session, const char *severity, const char *run_id,
                       fb_unique **out, fb_error *err)
{
    fb_code    code = FB_OK;
    fb_unique *u = fb_alloc(sizeof *u);
    *out = NULL;
    if (!u) return fb_fail_memory(err, "unique columns");
    u->session = session;
    u->severity = severity;
    u->run_id = run_id;
    u->warns = session->pipeline->policy.severity == FB_SEVERITY_WARN;
    fb_schema_init(&u->schema);
    fb_buf_init(&u->relation, MAX_SQL);
    for (size_t i = 0; i < session->decoded.count; i++) {
        if (!session->decoded.columns[i].unique) continue;
        if (u->count == MAX_UNIQUE) {
            code = fb_fail(err, M002, "more than %d columns are unique", MAX_UNIQUE);
            goto out;
        }
        u->columns[u->count++].name = session->decoded.columns[i].name;
    }
    if (u->count == 0) goto out;
    u->partitions_max = session->positions.list[session->positions.count - 1].partition + 1;
    u->losers = fb_alloc((size_t)u->partitions_max * sizeof *u->losers);
    if (!u->losers) FB_TRY(fb_fail_memory(err, "unique columns"));
    FB_TRY(make_schema(u, err));
    *out = u;
    u = NULL;
out:
    fb_unique_free(u);
    return code;
}

void fb_unique_free(fb_unique *unique)
{
    if (!unique) return;
    for (size_t i = 0; i < unique->count; i++)
        fb_key_set_clear(&unique->columns[i].seen);
    fb_schema_clear(&unique->schema);
    fb_buf_clear(&unique->relation);
    fb_free(unique->losers);
    fb_free(unique);
}

const fb_schema *fb_unique_schema(const fb_unique *unique) { return &unique->schema; }

const unsigned *fb_unique_metadata(const fb_unique *unique) { return unique->metadata; }

const char *fb_unique_relation(const fb_unique *unique) { return fb_buf_text(&unique->relation); }

int64_t fb_unique_refused(const fb_unique *unique) { return unique->refused; }

int64_t fb_unique_warned(const fb_unique *unique) { return unique->warns ? unique->refused : 0; }

void fb_unique_count(const fb_unique *unique, fb_books *books)
{
    for (size_t i = 0; i < books->count && !unique->warns; i++) {
        int64_t losers = unique->losers[books->list[i].partition];
        books->list[i].written -= losers;
        books->list[i].rejected += losers;
    }
}

void fb_unique_each_check(const fb_unique *unique,
                          void (*visit)(void *context, fb_refusal_id rule, const char *column,
                                        int64_t violations),
                          void *context)
{
    for (size_t i = 0; i < unique->count; i++)
        if (unique->columns[i].violations > 0)
            visit(context, FB_REFUSAL_UNIQUE, unique->columns[i].name, unique->columns[i].violations);
}

static fb_code exec(fb_unique *u, fb_buf *sql, fb_error *err)
{
    fb_code code = fb_buf_check(sql, "a statement", err);
    if (code == FB_OK) code = fb_engine_exec(u->session->engine, fb_buf_text(sql), err);
    fb_buf_reset(sql);
    return code;
}

/* Rows that share a value with another row, with their values as text. */
static void add_candidates(const fb_unique *u, fb_buf *sql)
{
    fb_buf_add_text(sql, "CREATE OR REPLACE TABLE fb_candidates AS SELECT __fb_partition, "
                         "__fb_offset");
    for (size_t i = 0; i < u->count; i++) {
        fb_buf_add_text(sql, ", CAST(");
        fb_sql_add_name(sql, u->columns[i].name);
        fb_buf_printf(sql, " AS VARCHAR) AS value%zu", i);
    }
    fb_buf_add_text(sql, " FROM fb_rows WHERE false");
    for (size_t i = 0; i < u->count; i++) {
        fb_buf_add_text(sql, " OR ");
        fb_sql_add_name(sql, u->columns[i].name);
        fb_buf_add_text(sql, " IN (SELECT ");
        fb_sql_add_name(sql, u->columns[i].name);
        fb_buf_add_text(sql, " FROM fb_rows GROUP BY 1 HAVING count(*) > 1)");
    }
}

static fb_code begin_sets(fb_unique *u, fb_error *err)
{
    duckdb_result result;
    fb_code code = fb_engine_query(u->session->engine, "SELECT count(*) FROM fb_candidates", &result,
                                   err);
    if (code != FB_OK) return code;
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    int64_t count = *(int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    for (size_t i = 0; i < u->count; i++)
        if (!fb_key_set_begin(&u->columns[i].seen, (size_t)count))
            return fb_fail_memory(err, "unique columns");
    return FB_OK;
}

/* One candidate: note its faults, or count its values as seen. */
static fb_code judge_row(fb_unique *u, duckdb_data_chunk chunk, idx_t row, fb_arena *texts,
                         duckdb_appender faults, fb_error *err)
{
    int32_t partition =
        ((int32_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0)))[row];
    int64_t offset = ((int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 1)))[row];
    bool    has_lost = false;
    for (size_t i = 0; i < u->count; i++) {
        fb_cell cell = fb_vector_text(duckdb_data_chunk_get_vector(chunk, 2 + i), row);
        if (cell.is_null || !fb_key_set_has(&u->columns[i].seen, cell.data, cell.size)) continue;
        has_lost = true;
        u->columns[i].violations++;
        duckdb_append_int32(faults, partition);
        duckdb_append_int64(faults, offset);
        duckdb_append_varchar(faults, u->columns[i].name);
        duckdb_append_varchar_length(faults, cell.data, cell.size);
        if (duckdb_appender_end_row(faults) != DuckDBSuccess)
            return fb_fail(err, Q003, "rows that repeat a value could not be kept");
    }
    if (has_lost) {
        u->refused++;
        u->losers[partition]++;
        return FB_OK;
    }
    for (size_t i = 0; i < u->count; i++) {
        fb_cell cell = fb_vector_text(duckdb_data_chunk_get_vector(chunk, 2 + i), row);
        if (cell.is_null) continue;
        char *copy = fb_arena_strndup(texts, cell.data, cell.size);
        if (!copy) return fb_fail_memory(err, "unique columns");
        fb_key_set_add(&u->columns[i].seen, copy, cell.size);
    }
    return FB_OK;
}

static fb_code walk_candidates(fb_unique *u, fb_error *err)
{
    fb_code           code = FB_OK;
    duckdb_result     result = {0};
    duckdb_connection connection = NULL;
    duckdb_appender   faults = NULL;
    fb_arena          texts;
    fb_arena_init(&texts, MAX_VALUES);
    FB_TRY(fb_engine_connect(u->session->engine, &connection, err));
    if (duckdb_appender_create(connection, NULL, "fb_losers", &faults) != DuckDBSuccess)
        FB_TRY(fb_fail(err, Q001, "the query engine gives no appender"));
    FB_TRY(fb_engine_query(u->session->engine,
                           "SELECT * FROM fb_candidates ORDER BY __fb_partition, __fb_offset",
                           &result, err));
    for (duckdb_data_chunk chunk; (chunk = duckdb_fetch_chunk(result));) {
        for (idx_t i = 0; code == FB_OK && i < duckdb_data_chunk_get_size(chunk); i++)
            code = judge_row(u, chunk, i, &texts, faults, err);
        duckdb_destroy_data_chunk(&chunk);
        if (code != FB_OK) goto out;
    }
    if (duckdb_appender_close(faults) != DuckDBSuccess)
        code = fb_fail(err, Q003, "rows that repeat a value could not be kept");
out:
    duckdb_destroy_result(&result);
    duckdb_appender_destroy(&faults);
    duckdb_disconnect(&connection);
    fb_arena_clear(&texts);
    return code;
}

/* The refused rows get what the keeper's own rows have (check/keeper.c). */
static fb_code refuse_losers(fb_unique *u, fb_buf *sql, fb_error *err)
{
    const fb_pipeline *p = u->session->pipeline;
    fb_buf_add_text(sql, "INSERT INTO " FB_KEEPER_TABLE " BY NAME SELECT ");
    fb_sql_add_text(sql, p->source.topic);
    fb_buf_add_text(sql, " AS _kafka_topic, __fb_partition AS _kafka_partition, __fb_offset AS "
                         "_kafka_offset, __fb_timestamp AS _kafka_timestamp, __fb_timestamp_type "
                         "AS _kafka_timestamp_type, __fb_key AS _kafka_key, __fb_value AS "
                         "_kafka_value, ");
    fb_sql_add_text(sql, p->name);
    fb_buf_add_text(sql, " AS pipeline, ");
    fb_sql_add_text(sql, u->run_id);
    fb_buf_add_text(sql, " AS run_id, now() AS rejected_at, ");
    fb_sql_add_text(sql, u->severity);
    fb_buf_printf(sql,
                  " AS severity, __fb_headers AS _kafka_headers, lost.errors FROM fb_rows JOIN (SELECT "
                  "place_partition, place_offset, list({'reason': '%s', 'code': '%s', 'column': "
                  "\"column\", 'path': '$.' || \"column\", 'raw': raw, 'message': '%s'}) AS errors "
                  "FROM fb_losers GROUP BY 1, 2) lost ON __fb_partition = lost.place_partition "
                  "AND __fb_offset = lost.place_offset",
                  fb_refusal_word(FB_REFUSAL_UNIQUE),
                  fb_reason_name(fb_refusal_reason(FB_REFUSAL_UNIQUE)),
                  fb_refusal_message(FB_REFUSAL_UNIQUE));
    return exec(u, sql, err);
}

static fb_code make_relation(fb_unique *u, fb_error *err)
{
    fb_buf *out = &u->relation;
    fb_buf_add_text(out, "(SELECT ");
    for (size_t i = 0; i < u->session->schema.count; i++) {
        if (i) fb_buf_add_text(out, ", ");
        fb_sql_add_name(out, u->session->schema.columns[i].name);
    }
    fb_buf_add_text(out, " FROM fb_rows");
    if (!u->warns)
        fb_buf_add_text(out, " ANTI JOIN fb_losers lost ON __fb_partition = lost.place_partition "
                             "AND __fb_offset = lost.place_offset");
    fb_buf_add_char(out, ')');
    return fb_buf_check(out, "a statement", err);
}

fb_code fb_unique_judge(fb_unique *unique, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  sql;
    fb_buf_init(&sql, MAX_SQL);
    fb_buf_add_text(&sql, "CREATE OR REPLACE TABLE fb_losers(place_partition INTEGER, place_offset "
                          "BIGINT, \"column\" VARCHAR, raw VARCHAR)");
    FB_TRY(exec(unique, &sql, err));
    add_candidates(unique, &sql);
    FB_TRY(exec(unique, &sql, err));
    FB_TRY(begin_sets(unique, err));
    FB_TRY(walk_candidates(unique, err));
    if (unique->refused > 0) FB_TRY(refuse_losers(unique, &sql, err));
    FB_TRY(make_relation(unique, err));
out:
    fb_buf_clear(&sql);
    return code;
}
