/* document.c - the sections of a whole configuration, and the names between them. */
#include "run/document.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef fb_connection     C;
typedef fb_pipeline       P;
typedef fb_policy_options Y;
typedef fb_store_options  T;
typedef fb_document       D;

static const char *const types[] = {"kafka", NULL};
static const char *const later_types[] = {"s3", "postgres", "duckdb", NULL};
static const char *const severities[] = {"warn", "reject", "abort", NULL};
static const char *const increments[] = {"offset", "none", NULL};
static const char *const stores[] = {"target", "file", NULL};
static const char *const later_stores[] = {"topic", "group", NULL};

static const fb_option connection_options[] = {
    {FB_CHOICE(C, type), .flags = FB_OPT_REQUIRED, .choices = types, .later = later_types,
     .help = "What is connected to.", .example = "kafka"},

    {FB_INLINE(C, kafka, fb_kafka_connection, &fb_kafka_connection_set)},
    {.name = NULL},
};

static fb_code check_connection(fb_reader *reader, void *values, fb_error *err)
{
    const C *c = values;
    (void)err;
    if (c->type == FB_UNSET) return FB_OK;
    if (!fb_node_has(c->node, "bootstrap_servers")) {
        fb_diagnose(reader->found, FB_R_C106,
                    fb_node_name_place(c->node, "bootstrap_servers"),
                    "\"bootstrap_servers\" is missing in \"%s\"", c->node->name);
        fb_diagnose_hint(reader->found,
                         "add it, for example `bootstrap_servers: localhost:9092`");
    }
    fb_kafka_connection_check(reader, &c->kafka);
    return FB_OK;
}

static const fb_option_set connection_set = {
    .name = "connection",
    .help = "A server that pipelines refer to by name.",
    .size = sizeof(C),
    .options = connection_options,
    .check = check_connection,
};

static const fb_option policy_options[] = {
    {FB_CHOICE(Y, severity), .fallback = "reject", .choices = severities,
     .help = "What a row that breaks a rule leads to: warn writes it and counts it, "
             "reject sets it aside, abort ends the run before anything is written.",
     .example = "reject"},

    {FB_COUNT(Y, max_rejects), .max = INT64_C(1000000000000),
     .help = "Rejected rows that a run may have; with more it ends before anything is "
             "written.",
     .example = "1000"},

    {.name = NULL},
};

static const fb_option_set policy_set = {
    .name = "policy",
    .help = "What happens with rows that break a rule.",
    .size = sizeof(Y),
    .options = policy_options,
};

static const fb_option store_options[] = {
    {FB_CHOICE(T, store), .fallback = "target", .choices = stores, .later = later_stores,
     .help = "Where positions are kept. target: in the commit that has the rows, which "
             "is what makes them exact; file: in a file, for targets that cannot.",
     .example = "target"},

    {FB_TEXT(T, path),
     .help = "The file, with store: file; below the path of the document's state when "
             "left out.",
     .example = "./.forebay/orders/offsets.json"},

    {.name = NULL},
};

static fb_code check_store(fb_reader *reader, void *values, fb_error *err)
{
    const T *t = values;
    (void)err;
    if (t->path && t->store == FB_STORE_TARGET)
        fb_diagnose(reader->found, FB_R_C115, fb_node_name_place(t->node, "path"),
                    "\"path\" needs store: file");
    return FB_OK;
}

static const fb_option_set store_set = {
    .name = "state",
    .help = "Where the positions of a pipeline are kept.",
    .size = sizeof(T),
    .options = store_options,
    .check = check_store,
};

static const fb_option pipeline_options[] = {
    {FB_SECTION(P, source, fb_kafka_source, &fb_kafka_source_set),
     .flags = FB_OPT_REQUIRED, .help = "Which topic is read and how.",
     .example = "{connection: events, topic: orders}"},

    {FB_SECTION(P, schema, fb_schema_options, &fb_schema_set),
     .help = "The columns of a message. JSON messages need it, raw and text ones take "
             "none.",
     .example = "{columns: [{name: order_id, type: string}]}"},

    {FB_SECTION(P, policy, Y, &policy_set),
     .help = "What happens with rows that break a rule.",
     .example = "{severity: reject}"},

    {FB_CHOICE(P, incremental_mode), .fallback = "offset", .choices = increments,
     .help = "Whether a run goes on where the last one ended (offset), or reads the "
             "whole topic every time (none).",
     .example = "offset"},

    {FB_SECTION(P, state, T, &store_set), .help = "Where positions are kept.",
     .example = "{store: target}"},

    {FB_SECTION(P, sink, fb_sink_options, &fb_sink_set), .flags = FB_OPT_REQUIRED,
     .help = "Where rows go.", .example = "{accepted: {path: ./lake/orders}}"},

    {.name = NULL},
};

/* A declared column may not be called as one that forebay adds. */
static void check_metadata(fb_reader *reader, const P *p)
{
    static const char  prefix[] = "_kafka_";
    const char *const *names =
        fb_options_find(&fb_kafka_source_set, "metadata", NULL)->choices;
    for (size_t i = 0; i < p->schema.columns_count; i++) {
        const fb_column_options *column = &p->schema.columns[i];
        if (!column->name || strncmp(column->name, prefix, sizeof prefix - 1) != 0)
            continue;
        for (unsigned bit = 0; names[bit]; bit++)
            if ((p->source.metadata & 1u << bit) &&
                strcmp(column->name + sizeof prefix - 1, names[bit]) == 0)
                fb_diagnose(reader->found, FB_R_C103, fb_node_place(column->node, "name"),
                            "column \"%s\" is added by the metadata of the source too",
                            column->name);
    }
}

/* Where a column is unique, rows pass through a table that has columns of ours besides. */
static void check_unique(fb_reader *reader, const P *p)
{
    static const char ours[] = "__fb_";
    bool              has_unique = false;
    for (size_t i = 0; i < p->schema.columns_count; i++)
        has_unique = has_unique || p->schema.columns[i].unique;
    for (size_t i = 0; has_unique && i < p->schema.columns_count; i++) {
        const fb_column_options *column = &p->schema.columns[i];
        if (column->name && strncasecmp(column->name, ours, sizeof ours - 1) == 0)
            fb_diagnose(reader->found, FB_R_C103, fb_node_place(column->node, "name"),
                        "column \"%s\" cannot begin with %s where a column is unique: such "
                        "names are forebay's own", column->name, ours);
    }
}

static fb_code check_pipeline(fb_reader *reader, void *values, fb_error *err)
{
    const P       *p = values;
    const fb_node *path = fb_node_find(p->source.node, "path");
    bool           has_columns = fb_node_has(p->schema.node, "columns");
    bool is_made_here = path && path->is_verbatim; // its columns are found by looking
    (void)err;
    check_metadata(reader, p);
    check_unique(reader, p);
    if (!fb_node_has(p->node, "source")) return FB_OK;
    if (p->source.message_format == FB_FORMAT_JSON && !has_columns && !is_made_here) {
        fb_diagnose(reader->found, FB_R_C106, fb_node_name_place(p->node, "schema"),
                    "\"schema.columns\" is missing in \"%s\"", p->node->name);
        fb_diagnose_hint(reader->found,
                         "JSON messages need it, for example "
                         "`columns: [{name: order_id, type: string}]`");
    } else if (p->source.message_format > FB_FORMAT_JSON && has_columns) {
        fb_diagnose(
            reader->found, FB_R_C115, fb_node_name_place(p->schema.node, "columns"),
            "\"columns\" is for JSON; raw and text messages have the one column value");
    }
    return FB_OK;
}

static const fb_option_set pipeline_set = {
    .name = "pipeline",
    .help = "One topic, its columns and its table.",
    .size = sizeof(P),
    .options = pipeline_options,
    .check = check_pipeline,
};

static const fb_option state_options[] = {
    {FB_TEXT(fb_state_options, path), .fallback = "./.forebay",
     .help = "Folder for locks, run history and positions kept in files.",
     .example = "./.forebay"},

    {.name = NULL},
};

static const fb_option_set state_set = {
    .name = "state",
    .help = "What forebay keeps on this machine.",
    .size = sizeof(fb_state_options),
    .options = state_options,
};

static const fb_option report_options[] = {
    {FB_TEXT(fb_report_options, path), .fallback = "./reports",
     .help = "Folder for run reports.", .example = "./reports"},

    {FB_COUNT(fb_report_options, keep), .fallback = "200", .max = 1000000,
     .help = "Reports to keep, the oldest go first; 0 keeps all.", .example = "200"},

    {.name = NULL},
};

static const fb_option_set report_set = {
    .name = "report",
    .help = "Where run reports go.",
    .size = sizeof(fb_report_options),
    .options = report_options,
};

static const fb_option document_options[] = {
    {FB_TEXT(D, version), .fallback = "1", .help = "Version of the form of this file.",
     .example = "1"},

    {FB_TEXTS(D, include),
     .help = "Files that hold more of the same, relative to this one. A setting may "
             "stand in one of them only.",
     .example = "[pipelines/*.yml]"},

    {FB_MAP(D, connections, C, &connection_set), .help = "Servers by name.",
     .example = "{events: {type: kafka, bootstrap_servers: \"localhost:9092\"}}"},

    {FB_MAP(D, pipelines, P, &pipeline_set), .help = "Pipelines by name.",
     .example =
         "{clicks: {source: {path: \"kafka://localhost/clicks\", message_format: raw}, "
         "sink: {accepted: {path: ./lake/clicks}}}}"},

    {FB_SECTION(D, state, fb_state_options, &state_set),
     .help = "What forebay keeps on this machine.", .example = "{path: ./.forebay}"},

    {FB_SECTION(D, report, fb_report_options, &report_set),
     .help = "Where run reports go.", .example = "{path: ./reports, keep: 200}"},

    {FB_BYTES(D, memory), .fallback = "1GB", .min = 256 << 20, .max = INT64_C(1) << 40,
     .help = "Memory the process may take for messages on their way and for the query "
             "engine.",
     .example = "1GB"},

    {.name = NULL},
};

/* "1" or "1.x". */
static void check_version(fb_reader *reader, const D *d)
{
    const char *version = d->version;
    size_t      digits = version ? strspn(version, "0123456789") : 0;
    if (!version) return;
    const char *rest = version + digits;
    bool        has_minor =
        rest[0] == '.' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")];
    if (digits == 0 || (*rest && !has_minor)) {
        fb_diagnose(reader->found, FB_R_C114, fb_node_place(d->node, "version"),
                    "\"version\" must be 1 or 1.x");
    } else if (strtol(version, NULL, 10) != 1) {
        fb_diagnose(reader->found, FB_R_C118, fb_node_place(d->node, "version"),
                    "version %s needs forebay %.*s.0 or later; this one reads 1 and 1.x",
                    version, (int)digits, version);
    }
}

/* Tie the source of a pipeline to the connection it names. */
static void resolve_connection(fb_reader *reader, const D *d, P *p)
{
    fb_nearest near;
    if (!p->source.connection) return;
    fb_nearest_init(&near, p->source.connection);
    for (size_t i = 0; i < d->connections_count; i++) {
        if (strcmp(d->connections[i].name, p->source.connection) == 0) {
            p->source.use = &d->connections[i].kafka;
            return;
        }
        fb_nearest_offer(&near, d->connections[i].name);
    }
    fb_diagnose(reader->found, FB_R_C116, fb_node_place(p->source.node, "connection"),
                "there is no connection \"%s\"", p->source.connection);
    fb_diagnose_suggest(reader->found, near.best);
}

static fb_code check_document(fb_reader *reader, void *values, fb_error *err)
{
    D *d = values;
    (void)err;
    check_version(reader, d);
    for (size_t i = 0; i < d->pipelines_count; i++)
        resolve_connection(reader, d, &d->pipelines[i]);
    if (fb_node_has(d->node, "include"))
        fb_diagnose(reader->found, FB_R_C124, fb_node_name_place(d->node, "include"),
                    "\"include\" is followed in files only");
    return FB_OK;
}

const fb_option_set fb_document_set = {
    .name = "configuration",
    .help = "The whole of a configuration.",
    .size = offsetof(D, config),
    .options = document_options,
    .check = check_document,
};

void fb_document_init(fb_document *document)
{
    *document = (fb_document){0};
    fb_config_init(&document->config);
}

void fb_document_clear(fb_document *document) { fb_config_clear(&document->config); }

fb_code fb_document_put(fb_document *document, const char *pipeline, const char *key,
                        const char *value, const char *flag, fb_error *err)
{
    char        path[FB_MAX_NAME];
    const char *keys[16] = {"pipelines", pipeline};
    size_t      count = 2;
    snprintf(path, sizeof path, "%s", key);
    for (char *at = path, *dot; at; at = dot ? dot + 1 : NULL) {
        dot = strchr(at, '.');
        if (dot) *dot = '\0';
        fb_assert(count + 1 < sizeof keys / sizeof *keys);
        keys[count++] = at;
    }
    return fb_config_put(&document->config, keys, value, flag, err);
}

fb_code fb_document_put_client_option(fb_document *document, const char *pipeline,
                                      const char *assignment, fb_error *err)
{
    char        name[FB_MAX_NAME];
    const char *equals = strchr(assignment, '=');
    const char *keys[] = {"pipelines", pipeline, "source", "options", name, NULL};
    if (!equals || equals == assignment || equals - assignment >= FB_MAX_NAME) {
        fb_diagnose(&document->config.found, FB_R_C119, (fb_place){0},
                    "-X takes NAME=VALUE");
        fb_diagnose_hint(&document->config.found,
                         "for example -X session.timeout.ms=30000");
        return FB_OK;
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);
    return fb_config_put(&document->config, keys, equals + 1, "--kafka-option", err);
}

fb_code fb_document_put_pipeline(fb_document *document, const char *source,
                                 const char *target, const char *name,
                                 char pipeline[FB_MAX_NAME], fb_error *err)
{
    fb_code          code = FB_OK;
    fb_kafka_address address;
    fb_config       *config = &document->config;
    FB_TRY(fb_kafka_address_parse(source, &config->arena, &address, err));
    snprintf(pipeline, FB_MAX_NAME, "%s", name ? name : address.topic);
    if (fb_node_has(fb_node_find(config->root, "pipelines"), pipeline)) {
        code = fb_fail(err, C103, "the configuration has a pipeline \"%s\" already",
                       pipeline);
        fb_error_hint(err, "Give this one another name with --name, or run that one.");
        return code;
    }
    FB_TRY(fb_document_put(document, pipeline, "source.path", source, "SOURCE", err));
    if (target)
        FB_TRY(fb_document_put(document, pipeline, "sink.accepted.path", target,
                               "--to-table", err));
out:
    return code;
}

fb_code fb_document_read(fb_document *document, bool allows_inline_secrets, fb_error *err)
{
    fb_code    code = FB_OK;
    fb_config *config = &document->config;
    fb_reader  reader = {&config->arena, &config->found, allows_inline_secrets};
    if (!config->is_incomplete)
        FB_TRY(fb_options_read(&reader, &fb_document_set, config->root, document, err));
    fb_diagnostics_sort(&config->found);
    code = fb_diagnostics_check(&config->found, err);
out:
    return code;
}

fb_code fb_document_find(const fb_document *document, const char *name,
                         const fb_pipeline **out, fb_error *err)
{
    fb_nearest near;
    fb_nearest_init(&near, name);
    for (size_t i = 0; i < document->pipelines_count; i++) {
        *out = &document->pipelines[i];
        if (strcmp((*out)->name, name) == 0) return FB_OK;
        fb_nearest_offer(&near, (*out)->name);
    }
    fb_code code = fb_fail(err, C116, "there is no pipeline \"%s\"", name);
    if (near.best) fb_error_hint(err, "Did you mean \"%s\"?", near.best);
    return code;
}
