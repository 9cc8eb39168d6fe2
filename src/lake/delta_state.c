/* delta_state.c - PROTOCOL.md, "Action Reconciliation": the newest of each kind counts.
 * Files are no part of a state; delta_files.c reconciles them when they are asked for. */
#include "lake/delta_state.h"

#include "base/alloc.h"
#include "base/json_memory.h"
#include "lake/delta_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void fb_delta_state_init(fb_delta_state *state)
{
    *state = (fb_delta_state){.version = -1, .commit_time_ms = -1};
    fb_schema_init(&state->schema);
    fb_map_init(&state->txns);
    fb_map_init(&state->domains);
}

void fb_delta_state_clear(fb_delta_state *state)
{
    yyjson_doc_free(state->protocol);
    yyjson_doc_free(state->meta);
    fb_schema_clear(&state->schema);
    fb_free(state->partitions);
    fb_map_clear(&state->txns);
    fb_map_clear(&state->domains);
    fb_delta_state_init(state);
}

void fb_delta_batch_init(fb_delta_batch *batch, const char *key)
{
    *batch = (fb_delta_batch){.key = key, .commit_time_ms = -1};
}

void fb_delta_batch_clear(fb_delta_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) yyjson_doc_free(batch->docs[i]);
    fb_free(batch->docs);
    *batch = (fb_delta_batch){0};
}

/* --- judging and keeping ------------------------------------------------------------ */

enum { TEXT = 't', NUMBER = 'n', OBJECT = 'o', BOOLEAN = 'b' };

/* What each action must say, as PROTOCOL.md "Actions" has it. */
static const struct {
    const char *action;
    bool        is_kept;
    struct {
        const char *name;
        int         type;
    } fields[6];
} actions[] = {
    {"protocol", true, {{"minReaderVersion", NUMBER}, {"minWriterVersion", NUMBER}}},
    {"metaData", true, {{"id", TEXT}, {"schemaString", TEXT}}},
    {"txn", true, {{"appId", TEXT}, {"version", NUMBER}}},
    {"domainMetadata", true, {{"domain", TEXT}}},
    {"add",
     false,
     {{"path", TEXT},
      {"partitionValues", OBJECT},
      {"size", NUMBER},
      {"modificationTime", NUMBER},
      {"dataChange", BOOLEAN}}},
    {"remove", false, {{"path", TEXT}}},
};

static bool has_type(yyjson_val *value, int type)
{
    switch (type) {
    case TEXT:
        return yyjson_is_str(value) &&
               strlen(yyjson_get_str(value)) == yyjson_get_len(value);
    case NUMBER: return yyjson_is_int(value);
    case OBJECT: return yyjson_is_obj(value);
    default: return yyjson_is_bool(value);
    }
}

/* Keep {"action": body} as a document of its own. */
static fb_code keep(fb_delta_batch *batch, const char *action, yyjson_val *body,
                    fb_error *err)
{
    yyjson_mut_doc *copy = yyjson_mut_doc_new(&fb_json_memory);
    yyjson_mut_val *root = copy ? yyjson_mut_obj(copy) : NULL;
    yyjson_mut_val *value = copy ? yyjson_val_mut_copy(copy, body) : NULL;
    yyjson_doc     *doc = NULL;
    if (root && value && yyjson_mut_obj_add_val(copy, root, action, value))
        doc = yyjson_mut_val_imut_copy(root, &fb_json_memory);
    yyjson_mut_doc_free(copy);
    if (doc && batch->count == batch->room) {
        size_t       room = batch->room ? batch->room * 2 : 16;
        yyjson_doc **docs = fb_realloc(batch->docs, room * sizeof(*docs));
        if (docs) {
            batch->docs = docs;
            batch->room = room;
        } else {
            yyjson_doc_free(doc);
            doc = NULL;
        }
    }
    if (!doc) return fb_fail_memory(err, "the actions of a table's log");
    batch->docs[batch->count++] = doc;
    return FB_OK;
}

static fb_code judge(const fb_delta_batch *batch, size_t kind, yyjson_val *body,
                     fb_error *err)
{
    for (size_t i = 0; i < 6 && actions[kind].fields[i].name; i++) {
        const char *name = actions[kind].fields[i].name;
        yyjson_val *value = yyjson_obj_get(body, name);
        if (has_type(value, actions[kind].fields[i].type)) continue;
        return fb_fail(err, P007, "%s: %s \"%s\" of the action \"%s\"", batch->key,
                       value ? "unexpected type of" : "there is no", name,
                       actions[kind].action);
    }
    return FB_OK;
}

fb_code fb_delta_batch_add(void *context, const char *action, yyjson_val *body,
                           fb_error *err)
{
    fb_code         code = FB_OK;
    fb_delta_batch *batch = context;
    if (strcmp(action, "commitInfo") == 0) {
        batch->commit_time_ms = fb_json_int(body, "inCommitTimestamp", -1);
        const char *id = fb_json_text(body, "txnId");
        if (id) snprintf(batch->txn_id.text, sizeof batch->txn_id.text, "%s", id);
        return FB_OK;
    }
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].action, action) != 0) continue;
        FB_TRY(judge(batch, i, body, err));
        if (actions[i].is_kept) FB_TRY(keep(batch, action, body, err));
        break;
    }
out:
    return code;
}

/* --- applying ----------------------------------------------------------------------- */

yyjson_val *fb_delta_state_protocol(const fb_delta_state *state)
{
    return yyjson_obj_get(yyjson_doc_get_root(state->protocol), "protocol");
}

yyjson_val *fb_delta_state_meta(const fb_delta_state *state)
{
    return yyjson_obj_get(yyjson_doc_get_root(state->meta), "metaData");
}

static void replace_doc(yyjson_doc **kept, yyjson_doc **taken)
{
    yyjson_doc_free(*kept);
    *kept = *taken;
    *taken = NULL;
}

/* Columns are read before anything is replaced: they alone can be unsound. */
static fb_code apply_meta(fb_delta_state *state, yyjson_doc **doc, fb_error *err)
{
    fb_code      code = FB_OK;
    size_t       i, count;
    yyjson_val  *name, *body = yyjson_obj_get(yyjson_doc_get_root(*doc), "metaData");
    yyjson_val  *names = yyjson_obj_get(body, "partitionColumns");
    const char **partitions = fb_alloc((yyjson_arr_size(names) + 1) * sizeof *partitions);
    fb_schema    schema;

    fb_schema_init(&schema);
    if (!partitions) FB_TRY(fb_fail_memory(err, "the columns of a table"));
    FB_TRY(fb_delta_schema_parse(fb_json_text(body, "schemaString"), &schema, err));
    yyjson_arr_foreach(names, i, count, name)
    {
        if (!yyjson_is_str(name))
            FB_TRY(fb_fail(err, P007, "a partition column of the table has no name"));
        partitions[i] = yyjson_get_str(name);
    }
    fb_schema_clear(&state->schema);
    state->schema = schema;
    fb_schema_init(&schema);
    fb_free(state->partitions);
    state->partitions = partitions;
    state->partitions_count = yyjson_arr_size(names);
    partitions = NULL;
    replace_doc(&state->meta, doc);
out:
    fb_free(partitions);
    fb_schema_clear(&schema);
    return code;
}

static fb_code apply_one(fb_delta_state *state, yyjson_doc **doc, fb_error *err)
{
    fb_code       code = FB_OK;
    yyjson_val   *root = yyjson_doc_get_root(*doc), *body;
    fb_map_entry *entry;
    if (yyjson_obj_get(root, "protocol")) {
        replace_doc(&state->protocol, doc);
    } else if ((body = yyjson_obj_get(root, "txn"))) {
        FB_TRY(fb_map_put(&state->txns, fb_json_text(body, "appId"), &entry, err));
        entry->number = fb_json_int(body, "version", -1);
        entry->time = fb_json_int(body, "lastUpdated", -1);
    } else if ((body = yyjson_obj_get(root, "domainMetadata"))) {
        FB_TRY(fb_map_put(&state->domains, fb_json_text(body, "domain"), &entry, err));
        FB_TRY(fb_map_set_text(entry, fb_json_text(body, "configuration"), err));
        entry->is_gone = yyjson_is_true(yyjson_obj_get(body, "removed"));
    }
out:
    return code;
}

fb_code fb_delta_state_apply(fb_delta_state *state, fb_delta_batch *batch,
                             int64_t version, fb_error *err)
{
    fb_code code = FB_OK;
    for (size_t i = 0; i < batch->count; i++)
        if (yyjson_obj_get(yyjson_doc_get_root(batch->docs[i]), "metaData"))
            FB_TRY(apply_meta(state, &batch->docs[i], err));
    for (size_t i = 0; i < batch->count; i++)
        if (batch->docs[i]) FB_TRY(apply_one(state, &batch->docs[i], err));
    state->version = version;
    state->commit_time_ms = batch->commit_time_ms;
out:
    fb_delta_batch_clear(batch);
    return code;
}

fb_code fb_delta_state_check(const fb_delta_state *state, fb_error *err)
{
    if (!state->protocol)
        return fb_fail(err, P008,
                       "the log of the table has no protocol up to version %" PRId64,
                       state->version);
    if (!state->meta)
        return fb_fail(err, P008,
                       "the log of the table has no metaData up to version %" PRId64,
                       state->version);
    return FB_OK;
}

const char *fb_delta_state_property(const fb_delta_state *state, const char *key)
{
    return fb_json_text(yyjson_obj_get(fb_delta_state_meta(state), "configuration"), key);
}

bool fb_delta_interval_ms(const char *text, int64_t *out_ms)
{
    static const struct {
        const char *unit;
        int64_t     ms;
    } units[] = {{"week", 604800000}, {"day", 86400000}, {"hour", 3600000},
                 {"minute", 60000},   {"second", 1000},  {"millisecond", 1},
                 {"microsecond", 0},  {"month", -1},     {"year", -1}};
    int64_t total = 0, number;
    char    word[24];
    int     used, parts = 0;
    if (strncasecmp(text, "interval ", 9) == 0) text += 9;
    for (; sscanf(text, " %" SCNd64 " %23[a-zA-Z]%n", &number, word, &used) == 2;
         text += used) {
        size_t i = 0, count = sizeof units / sizeof *units, size = strlen(word);
        if (size > 1 && (word[size - 1] == 's' || word[size - 1] == 'S'))
            word[size - 1] = '\0';
        while (i < count && strcasecmp(units[i].unit, word) != 0) i++;
        if (i == count || units[i].ms < 0) return false; // months have no fixed length
        if (__builtin_mul_overflow(number, units[i].ms, &number)) return false;
        if (__builtin_add_overflow(total, number, &total)) return false;
        parts++;
    }
    *out_ms = total;
    return parts > 0 && text[strspn(text, " ")] == '\0';
}
