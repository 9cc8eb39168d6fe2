/* session.c - engine, table and broker of one pipeline; see plan.h. */
#include "run/plan.h"

#include "base/file.h"
#include "run/run.h"
#include "run/scan.h"
#include "run/spill.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct metadata_column {
    unsigned    bit;
    const char *name;
    fb_kind     kind;
} metadata_column;

static const metadata_column all_metadata[] = {
    {FB_META_TOPIC, "_kafka_topic", FB_KIND_STRING},
    {FB_META_PARTITION, "_kafka_partition", FB_KIND_INT32},
    {FB_META_OFFSET, "_kafka_offset", FB_KIND_INT64},
    {FB_META_TIMESTAMP, "_kafka_timestamp", FB_KIND_INT64},
    {FB_META_TIMESTAMP_TYPE, "_kafka_timestamp_type", FB_KIND_STRING},
    {FB_META_KEY, "_kafka_key", FB_KIND_BINARY},
    {FB_META_HEADERS, "_kafka_headers", FB_KIND_LIST},
};

enum { ALL_METADATA = sizeof all_metadata / sizeof *all_metadata };

fb_code fb_headers_type(fb_arena *arena, fb_type *out, fb_error *err)
{
    fb_column *element = fb_arena_alloc(arena, sizeof *element);
    fb_column *members = fb_arena_alloc(arena, 2 * sizeof *members);
    if (!element || !members) return fb_fail_memory(err, "a schema");
    members[0] = (fb_column){.name = "key", .type = {.kind = FB_KIND_STRING}, .nullable = true};
    members[1] = (fb_column){.name = "value", .type = {.kind = FB_KIND_BINARY}, .nullable = true};
    *element = (fb_column){
        .name = "element",
        .type = {.kind = FB_KIND_STRUCT, .fields = members, .fields_count = 2},
        .nullable = true};
    *out = (fb_type){.kind = FB_KIND_LIST, .fields = element, .fields_count = 1};
    return FB_OK;
}

/* What a message gives: the columns declared, or one column `value`. */
static fb_code make_decoded(const fb_pipeline *pipeline, fb_schema *out, fb_error *err)
{
    int format = pipeline->source.message_format;
    if (format == FB_FORMAT_JSON) return fb_schema_from_options(&pipeline->schema, out, err);
    fb_code code = fb_schema_reserve(out, 1, err);
    if (code != FB_OK) return code;
    out->columns[0] = (fb_column){
        .name = "value",
        .type = {.kind = format == FB_FORMAT_TEXT ? FB_KIND_STRING : FB_KIND_BINARY},
        .nullable = true};
    return FB_OK;
}

static fb_code make_schemas(fb_session *s, fb_error *err)
{
    fb_code  code = FB_OK;
    unsigned wanted = s->pipeline->source.metadata;
    bool     warns = s->pipeline->policy.severity == FB_SEVERITY_WARN;
    FB_TRY(make_decoded(s->pipeline, &s->decoded, err));
    size_t at = s->decoded.count;
    FB_TRY(fb_schema_reserve(&s->schema, at + (size_t)__builtin_popcount(wanted), err));
    for (size_t i = 0; i < at; i++) {
        s->schema.columns[i] = s->decoded.columns[i];
        /* With `warn` a faulty row lands, so its table cannot promise NOT NULL. */
        if (warns) s->schema.columns[i].nullable = true;
    }
    for (size_t m = 0; m < ALL_METADATA; m++) {
        if (!(wanted & all_metadata[m].bit)) continue;
        if (fb_schema_find(&s->decoded, all_metadata[m].name)) {
            code = fb_fail(err, C132, "column \"%s\" is declared and asked for as metadata",
                           all_metadata[m].name);
            goto out;
        }
        s->metadata[at - s->decoded.count] = all_metadata[m].bit;
        fb_column *column = &s->schema.columns[at++];
        *column = (fb_column){.name = all_metadata[m].name, .nullable = true};
        column->type.kind = all_metadata[m].kind;
        if (column->type.kind == FB_KIND_LIST)
            FB_TRY(fb_headers_type(&s->schema.arena, &column->type, err));
    }
out:
    return code;
}

static fb_code name_places(fb_session *s, fb_error *err)
{
    fb_code            code = FB_OK;
    const fb_pipeline *p = s->pipeline;
    char               file[FB_MAX_NAME + 32];
    FB_TRY(fb_path_join(s->state_folder, sizeof s->state_folder, s->document->state.path, p->name,
                        err));
    if (p->state.path) {
        snprintf(s->state_file, sizeof s->state_file, "%s", p->state.path);
    } else {
        snprintf(file, sizeof file, "%s", "offsets.json");
        FB_TRY(fb_path_join(s->state_file, sizeof s->state_file, s->state_folder, file, err));
    }
    if (p->source.group_id)
        snprintf(s->group, sizeof s->group, "%s", p->source.group_id);
    else
        snprintf(s->group, sizeof s->group, "forebay-%s", p->name);
    s->place = (fb_positions_place){
        .pipeline = p->name,
        .topic = p->source.topic,
        .state_folder = s->state_folder,
        .file = p->state.store == FB_STORE_FILE ? s->state_file : NULL};
out:
    return code;
}

/* The engine gets what the client's queue and the slices leave of the ceiling. */
static fb_code open_engine(fb_session *s, fb_error *err)
{
    fb_code code = FB_OK;
    char    spill[FB_MAX_PATH];
    long    cores = sysconf(_SC_NPROCESSORS_ONLN);
    FB_TRY(fb_spill_path(s->state_folder, spill, err));
    fb_spill_sweep(s->state_folder);
    fb_engine_options options = {.memory_bytes = s->document->memory_bytes / 4 * 3,
                                 .threads = cores > 16 ? 16 : (int)cores,
                                 .spill_folder = spill};
    FB_TRY(fb_engine_open(&options, &s->engine, err));
out:
    return code;
}

void fb_session_set_files(fb_session *session, bool is_plain)
{
    const fb_delta_options *wanted = &session->pipeline->sink.accepted.delta;
    fb_delta_file_options   options = {.codec = fb_compression_name(wanted->compression),
                                       .row_group_rows = wanted->row_group_size,
                                       .is_plain = is_plain};
    session->writes_plain = is_plain;
    fb_delta_set_file_options(session->table, &options);
}

fb_code fb_session_open(const fb_document *document, const fb_pipeline *pipeline,
                        int64_t timeout_ms, fb_session *out, fb_error *err)
{
    fb_code code = FB_OK;
    *out = (fb_session){.document = document, .pipeline = pipeline};
    fb_kafka_heed(fb_run_stop_flag());
    fb_schema_init(&out->decoded);
    fb_schema_init(&out->schema);
    FB_TRY(make_schemas(out, err));
    FB_TRY(name_places(out, err));
    FB_TRY(open_engine(out, err));
    FB_TRY(fb_delta_open(pipeline->sink.accepted.path, out->engine, &out->table, err));
    fb_session_set_files(out, false);
    if (timeout_ms > 0)
        FB_TRY(fb_kafka_open(&pipeline->source, out->group, timeout_ms, &out->kafka, err));
out:
    if (code != FB_OK) fb_session_close(out);
    return code;
}

void fb_session_close(fb_session *session)
{
    fb_kafka_close(session->kafka);
    fb_delta_close(session->table);
    fb_engine_close(session->engine);
    fb_window_scan_free(session->scan);
    fb_positions_clear(&session->positions);
    fb_schema_clear(&session->schema);
    fb_schema_clear(&session->decoded);
    session->kafka = NULL;
    session->table = NULL;
    session->engine = NULL;
    session->scan = NULL;
}
