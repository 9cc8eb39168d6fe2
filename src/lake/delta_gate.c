/* delta_gate.c - may this table be read, and may rows be appended?
 *
 * PROTOCOL.md, "Requirements for Readers" and "Requirements for Writers": reading is
 * judged by the reader version and the reader features alone; a writer must know every
 * feature by its name.  Each name we know is one row of `features`, which says whether a
 * plain append honours it, and if not, when the table really uses it: a feature that is
 * only listed (or implied by a writer version below 7) binds nobody.
 */
#include "base/json_memory.h"
#include "base/limits.h"
#include "lake/delta_schema.h"
#include "lake/delta_table.h"

#include <inttypes.h>
#include <string.h>

enum { NEWEST_READER = 3, NEWEST_WRITER = 7, WITH_LISTS = 7 };

typedef enum verdict {
    HONOURED,  ///< an append of whole columns does all that is asked
    WHEN_USED, ///< refused when `is_used`
    NEVER,     ///< refused
} verdict;

typedef struct feature {
    const char *name;
    int         writer_version; ///< the lowest version that implies it; 0: none does
    bool        for_readers, can_read;
    verdict     verdict;
    bool (*is_used)(const fb_delta_state *state);
    const char *advice;
} feature;

static bool is_true(const fb_delta_state *state, const char *key)
{
    const char *value = fb_delta_state_property(state, key);
    return value && strcmp(value, "true") == 0;
}

static bool any_column(const fb_delta_state *state, bool (*test)(const fb_column *))
{
    return fb_delta_schema_any(state->schema.columns, state->schema.count, test);
}

static bool has_invariant(const fb_column *c)
{
    return fb_delta_column_has(c, "delta.invariants");
}

static bool is_generated(const fb_column *c)
{
    return fb_delta_column_has(c, "delta.generationExpression");
}

static bool is_identity(const fb_column *c)
{
    return fb_delta_column_has(c, "delta.identity.start") ||
           fb_delta_column_has(c, "delta.identity.step");
}

static bool uses_invariants(const fb_delta_state *s)
{
    return any_column(s, has_invariant);
}
static bool uses_generated(const fb_delta_state *s)
{
    return any_column(s, is_generated);
}
static bool uses_identity(const fb_delta_state *s) { return any_column(s, is_identity); }

static bool uses_checks(const fb_delta_state *state)
{
    size_t      i, count;
    yyjson_val *key, *value;
    yyjson_val *all = yyjson_obj_get(fb_delta_state_meta(state), "configuration");
    yyjson_obj_foreach(all, i, count, key, value)
    {
        if (strncmp(yyjson_get_str(key), "delta.constraints.", 18) == 0) return true;
    }
    return false;
}

static bool uses_mapping(const fb_delta_state *state)
{
    const char *mode = fb_delta_state_property(state, "delta.columnMapping.mode");
    return mode && strcmp(mode, "none") != 0;
}

/* Row ids are owed as soon as the feature is listed, not only when it is enabled. */
static bool uses_row_ids(const fb_delta_state *state)
{
    return !is_true(state, "delta.rowTrackingSuspended");
}

static bool uses_clustering(const fb_delta_state *state)
{
    const fb_map_entry *domain = fb_map_find(&state->domains, "delta.clustering");
    if (!domain || !domain->text) return false;
    yyjson_doc *doc = fb_json_read(domain->text, strlen(domain->text), 0);
    yyjson_val *columns = yyjson_obj_get(yyjson_doc_get_root(doc), "clusteringColumns");
    bool        used = !doc || yyjson_arr_size(columns) > 0;
    yyjson_doc_free(doc);
    return used;
}

static bool uses_iceberg_1(const fb_delta_state *s)
{
    return is_true(s, "delta.enableIcebergCompatV1");
}

static bool uses_iceberg_2(const fb_delta_state *s)
{
    return is_true(s, "delta.enableIcebergCompatV2");
}

static const char by_catalog[] =
    "It may be written only through its catalog, which this version "
    "does not do.";
static const char other_engine[] = "Write it with the engine that set the feature.";

static const feature features[] = {
    {"appendOnly", 2, false, true, HONOURED, NULL, NULL},
    {"invariants", 2, false, true, WHEN_USED, uses_invariants,
     "Drop the invariant from the column; a rule of `checks` does the same here."},
    {"checkConstraints", 3, false, true, WHEN_USED, uses_checks,
     "Drop the constraint (ALTER TABLE ... DROP CONSTRAINT); `checks` does the same "
     "here."},
    {"changeDataFeed", 4, false, true, HONOURED, NULL, NULL},
    {"generatedColumns", 4, false, true, WHEN_USED, uses_generated, other_engine},
    {"columnMapping", 5, true, true, WHEN_USED, uses_mapping, other_engine},
    {"identityColumns", 6, false, true, WHEN_USED, uses_identity,
     "Drop the identity column, or fill it with the engine that made the table."},
    {"allowColumnDefaults", 0, false, true, HONOURED, NULL, NULL},
    {"deletionVectors", 0, true, true, HONOURED, NULL, NULL},
    {"timestampNtz", 0, true, true, HONOURED, NULL, NULL},
    {"timestampWithoutTimezone", 0, true, true, HONOURED, NULL, NULL},
    {"typeWidening", 0, true, true, HONOURED, NULL, NULL},
    {"typeWidening-preview", 0, true, true, HONOURED, NULL, NULL},
    {"v2Checkpoint", 0, true, true, HONOURED, NULL, NULL},
    {"vacuumProtocolCheck", 0, true, true, HONOURED, NULL, NULL},
    {"domainMetadata", 0, false, true, HONOURED, NULL, NULL},
    {"inCommitTimestamp", 0, false, true, HONOURED, NULL, NULL},
    {"inCommitTimestamp-preview", 0, false, true, HONOURED, NULL, NULL},
    {"variantType", 0, true, true, HONOURED, NULL, NULL},
    {"variantType-preview", 0, true, true, HONOURED, NULL, NULL},
    {"variantShredding", 0, true, true, HONOURED, NULL, NULL},
    {"variantShredding-preview", 0, true, true, HONOURED, NULL, NULL},
    {"rowTracking", 0, false, true, WHEN_USED, uses_row_ids,
     "Set delta.rowTrackingSuspended, or drop the feature."},
    {"clustering", 0, false, true, WHEN_USED, uses_clustering,
     "ALTER TABLE ... CLUSTER BY NONE lets others write it."},
    {"icebergCompatV1", 0, false, true, WHEN_USED, uses_iceberg_1, other_engine},
    {"icebergCompatV2", 0, false, true, WHEN_USED, uses_iceberg_2, other_engine},
    {"icebergCompatV3", 0, false, true, NEVER, NULL, other_engine},
    {"icebergWriterCompatV1", 0, false, true, NEVER, NULL, other_engine},
    {"materializePartitionColumns", 0, false, true, NEVER, NULL, other_engine},
    {"checkpointProtection", 0, false, true, NEVER, NULL, other_engine},
    {"collations", 0, false, true, NEVER, NULL, other_engine},
    {"collations-preview", 0, false, true, NEVER, NULL, other_engine},
    {"adaptiveMetadata-preview", 0, true, false, NEVER, NULL, other_engine},
    {"geospatial", 0, true, false, NEVER, NULL, other_engine},
    {"catalogManaged", 0, true, false, NEVER, NULL, by_catalog},
    {"catalogOwned-preview", 0, true, false, NEVER, NULL, by_catalog},
};

static const feature *find_feature(const char *name)
{
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (strcmp(features[i].name, name) == 0) return &features[i];
    return NULL;
}

static bool list_has(yyjson_val *list, const char *name)
{
    size_t      i, count;
    yyjson_val *one;
    yyjson_arr_foreach(list, i, count, one)
    {
        if (yyjson_equals_str(one, name)) return true;
    }
    return false;
}

bool fb_gate_has(const fb_delta_state *state, const char *name)
{
    yyjson_val    *protocol = fb_delta_state_protocol(state);
    int64_t        writer = fb_json_int(protocol, "minWriterVersion", 0);
    const feature *known = find_feature(name);
    if (writer < WITH_LISTS)
        return known && known->writer_version > 0 && writer >= known->writer_version;
    return list_has(yyjson_obj_get(protocol, "writerFeatures"), name);
}

bool fb_delta_has_commit_time(const fb_delta_state *state)
{
    return (fb_gate_has(state, "inCommitTimestamp") ||
            fb_gate_has(state, "inCommitTimestamp-preview")) &&
           is_true(state, "delta.enableInCommitTimestamps");
}

/* --- reading ------------------------------------------------------------------------ */

static fb_code fail_feature(const char *name, const char *what, fb_error *err)
{
    const feature *known = find_feature(name);
    if (!known)
        return fb_fail(err, P002, "the table has the feature \"%s\", which is not known",
                       name);
    fb_error_set(err, FB_R_P003, "the table has the feature \"%s\" and cannot be %s",
                 name, what);
    if (known->advice) fb_error_hint(err, "%s", known->advice);
    return FB_EUNSUPPORTED;
}

/* What must be true of the lists for a reader; a writer's concerns are not judged. */
static fb_code check_reader_list(yyjson_val *protocol, int64_t reader, fb_error *err)
{
    size_t      i, count;
    yyjson_val *one;
    yyjson_val *for_readers = yyjson_obj_get(protocol, "readerFeatures");
    yyjson_val *for_writers = yyjson_obj_get(protocol, "writerFeatures");
    if (reader < NEWEST_READER && yyjson_is_arr(for_readers))
        return fb_fail(err, P004, "reader version %" PRId64 " has a list readerFeatures",
                       reader);
    if (reader < NEWEST_READER) return FB_OK;
    if (fb_json_int(protocol, "minWriterVersion", 0) < WITH_LISTS)
        return fb_fail(err, P004, "reader version 3 goes with writer version 7");
    if (!yyjson_is_arr(for_readers))
        return fb_fail(err, P004, "reader version 3 has no list readerFeatures");
    yyjson_arr_foreach(for_readers, i, count, one)
    {
        if (yyjson_is_str(one) && list_has(for_writers, yyjson_get_str(one))) continue;
        return fb_fail(err, P004,
                       "the reader feature \"%s\" is not among the writer features",
                       yyjson_is_str(one) ? yyjson_get_str(one) : "?");
    }
    return FB_OK;
}

fb_code fb_gate_read(const fb_delta_state *state, fb_error *err)
{
    fb_code     code = FB_OK;
    size_t      i, count;
    yyjson_val *one, *protocol = fb_delta_state_protocol(state);
    int64_t     reader = fb_json_int(protocol, "minReaderVersion", 0);
    int64_t     writer = fb_json_int(protocol, "minWriterVersion", 0);
    if (reader < 1 || writer < 1)
        return fb_fail(err, P004,
                       "the versions %" PRId64 " (reader) and %" PRId64 " (writer) of "
                       "the table's protocol cannot be",
                       reader, writer);
    if (reader > NEWEST_READER)
        return fb_fail(err, P001,
                       "the table needs reader version %" PRId64 "; the newest known "
                       "is %d",
                       reader, NEWEST_READER);
    FB_TRY(check_reader_list(protocol, reader, err));
    yyjson_arr_foreach(yyjson_obj_get(protocol, "readerFeatures"), i, count, one)
    {
        const feature *known = find_feature(yyjson_get_str(one));
        if (!known || !known->can_read)
            return fail_feature(yyjson_get_str(one), "read", err);
    }
out:
    return code;
}

/* --- appending ---------------------------------------------------------------------- */

static fb_code check_feature(const fb_delta_state *state, const char *name, fb_error *err)
{
    const feature *known = find_feature(name);
    if (!known || known->verdict == NEVER) return fail_feature(name, "appended to", err);
    if (known->verdict == WHEN_USED && known->is_used(state))
        return fail_feature(name, "appended to", err);
    return FB_OK;
}

static fb_code check_features(const fb_delta_state *state, fb_error *err)
{
    fb_code     code = FB_OK;
    size_t      i, count;
    yyjson_val *one, *protocol = fb_delta_state_protocol(state);
    yyjson_val *for_readers = yyjson_obj_get(protocol, "readerFeatures");
    yyjson_val *for_writers = yyjson_obj_get(protocol, "writerFeatures");
    int64_t     writer = fb_json_int(protocol, "minWriterVersion", 0);
    if (writer > NEWEST_WRITER)
        return fb_fail(err, P001,
                       "the table needs writer version %" PRId64 "; the newest known "
                       "is %d",
                       writer, NEWEST_WRITER);
    if (yyjson_is_arr(for_writers) != (writer == WITH_LISTS))
        return fb_fail(err, P004, "writer version %" PRId64 " has %s list writerFeatures",
                       writer, yyjson_is_arr(for_writers) ? "a" : "no");
    if (writer < WITH_LISTS) {
        for (i = 0; i < sizeof features / sizeof *features; i++)
            if (fb_gate_has(state, features[i].name))
                FB_TRY(check_feature(state, features[i].name, err));
        return FB_OK;
    }
    yyjson_arr_foreach(for_writers, i, count, one)
    {
        if (!yyjson_is_str(one))
            FB_TRY(fb_fail(err, P004, "a writer feature has no name"));
        const char *name = yyjson_get_str(one);
        FB_TRY(check_feature(state, name, err));
        if (yyjson_is_arr(for_readers) && find_feature(name)->for_readers &&
            !list_has(for_readers, name))
            FB_TRY(fb_fail(err, P004,
                           "\"%s\" is among the writer features and must be among the "
                           "reader features too",
                           name));
    }
out:
    return code;
}

static bool is_ntz(const fb_column *c) { return c->type.kind == FB_KIND_TIMESTAMP_NTZ; }

static bool is_void(const fb_column *c)
{
    return c->type.kind == FB_KIND_VOID && !fb_delta_is_variant(c);
}

/* A void in a list or a map cannot be left out of a file, nor can a struct of voids. */
static bool holds_void(const fb_column *c)
{
    size_t voids = 0;
    for (size_t i = 0; i < c->type.fields_count; i++)
        voids += is_void(&c->type.fields[i]);
    return voids > 0 && (c->type.kind != FB_KIND_STRUCT || voids == c->type.fields_count);
}

static bool is_feed_name(const char *name)
{
    return strcmp(name, "_change_type") == 0 || strcmp(name, "_commit_version") == 0 ||
           strcmp(name, "_commit_timestamp") == 0;
}

static fb_code check_columns(const fb_delta_state *state, fb_error *err)
{
    const fb_schema *schema = &state->schema;
    size_t           voids = 0;
    if (state->partitions_count > 0)
        return fb_fail(err, P003,
                       "the table is partitioned (by \"%s\") and cannot be appended to",
                       state->partitions[0]);
    if (any_column(state, is_ntz) && !fb_gate_has(state, "timestampNtz") &&
        !fb_gate_has(state, "timestampWithoutTimezone"))
        return fb_fail(err, P004,
                       "the table has a column of type timestamp_ntz and not the feature "
                       "timestampNtz");
    if (any_column(state, holds_void))
        return fb_fail(err, P003,
                       "the table has a column whose type holds void and cannot be "
                       "appended to");
    for (size_t i = 0; i < schema->count; i++) {
        const char *name = schema->columns[i].name;
        voids += schema->columns[i].type.kind == FB_KIND_VOID;
        if (is_true(state, "delta.enableChangeDataFeed") && is_feed_name(name))
            return fb_fail(err, P003,
                           "the table has the feature \"changeDataFeed\" and a column "
                           "\"%s\", a name that it reserves",
                           name);
    }
    if (voids == schema->count)
        return fb_fail(err, P003, "the table has no column that could be written");
    return FB_OK;
}

/* A column that the rows do not give would take its default; we write none. */
static fb_code check_defaults(const fb_delta_state *state, const fb_schema *rows,
                              fb_error *err)
{
    if (!fb_gate_has(state, "allowColumnDefaults")) return FB_OK;
    for (size_t i = 0; i < state->schema.count; i++) {
        const fb_column *column = &state->schema.columns[i];
        if (!fb_delta_column_has(column, "CURRENT_DEFAULT")) continue;
        if (rows && fb_schema_find(rows, column->name)) continue;
        fb_error_set(err, FB_R_P003,
                     "the table has the feature \"allowColumnDefaults\": column "
                     "\"%s\" has a default, and the rows do not give it",
                     column->name);
        fb_error_hint(err, "Add the column to the rows, or drop its default.");
        return FB_EUNSUPPORTED;
    }
    return FB_OK;
}

static fb_code check_retention(const fb_delta_state *state, fb_error *err)
{
    int64_t     ms;
    const char *text =
        fb_delta_state_property(state, "delta.setTransactionRetentionDuration");
    if (!text) return FB_OK;
    if (fb_delta_interval_ms(text, &ms) && ms >= FB_MS_PER_DAY) return FB_OK;
    return fb_fail(err, P016,
                   "delta.setTransactionRetentionDuration of the table is \"%s\"; "
                   "positions must be kept for a day at least",
                   text);
}

fb_code fb_gate_append(const fb_delta_state *state, const fb_schema *schema,
                       fb_error *err)
{
    fb_code code = FB_OK;
    FB_TRY(check_features(state, err));
    FB_TRY(check_columns(state, err));
    FB_TRY(fb_delta_schema_check_names(state->schema.columns, state->schema.count,
                                       FB_R_P009, err));
    FB_TRY(check_retention(state, err));
    if (!schema) return FB_OK;
    FB_TRY(check_defaults(state, schema, err));
    FB_TRY(fb_delta_schema_fits(&state->schema, schema, err));
out:
    return code;
}

fb_code fb_delta_check_append(fb_delta *table, const fb_schema *schema, fb_error *err)
{
    fb_code code = fb_delta_exists(table) ? fb_gate_append(&table->state, schema, err)
                                          : fb_delta_schema_check_new(schema, err);
    if (code != FB_OK) fb_error_at(err, "%s", table->name);
    return code;
}
