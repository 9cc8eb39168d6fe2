/* delta_schema.c - PROTOCOL.md, "Schema Serialization Format"; see delta_schema.h. */
#include "lake/delta_schema.h"

#include "base/alloc.h"
#include "base/json_memory.h"
#include "base/limits.h"
#include "base/text.h"
#include "lake/map.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <yyjson.h>

/* --- schemaString to columns -------------------------------------------------------- */

typedef struct reader {
    fb_schema *schema;
    size_t     fields_left; ///< a log is input: what it makes us allocate is bounded
    int        depth;
} reader;

enum { VARIANT = 1 }; // the precision of a void that is a variant

static const struct {
    const char *name;
    fb_kind     kind;
} primitives[] = {
    {"string", FB_KIND_STRING},       {"long", FB_KIND_INT64},
    {"integer", FB_KIND_INT32},       {"short", FB_KIND_INT16},
    {"byte", FB_KIND_INT8},           {"float", FB_KIND_FLOAT32},
    {"double", FB_KIND_FLOAT64},      {"boolean", FB_KIND_BOOL},
    {"binary", FB_KIND_BINARY},       {"date", FB_KIND_DATE},
    {"timestamp", FB_KIND_TIMESTAMP}, {"timestamp_ntz", FB_KIND_TIMESTAMP_NTZ},
    {"void", FB_KIND_VOID},           {"null", FB_KIND_VOID},
    {"variant", FB_KIND_VOID},
};

static fb_code read_type(reader *r, yyjson_val *json, fb_type *out, fb_error *err);

static fb_code read_primitive(const char *name, fb_type *out, fb_error *err)
{
    unsigned precision, scale;
    int      used = 0;
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++) {
        if (strcmp(primitives[i].name, name) != 0) continue;
        out->kind = primitives[i].kind;
        out->precision = strcmp(name, "variant") == 0 ? VARIANT : 0;
        return FB_OK;
    }
    if (sscanf(name, "decimal(%2u,%2u)%n", &precision, &scale, &used) == 2 && used > 0 &&
        name[used] == '\0' && precision >= 1 && precision <= 38 && scale <= precision) {
        *out = (fb_type){.kind = FB_KIND_DECIMAL,
                         .precision = (uint8_t)precision,
                         .scale = (uint8_t)scale};
        return FB_OK;
    }
    return fb_fail(err, P009,
                   "the table has a column of type \"%.60s\", which is not known", name);
}

static fb_code add_fields(reader *r, fb_type *type, size_t count, fb_error *err)
{
    if (count > r->fields_left)
        return fb_fail(err, M002,
                       "the table has more than %d columns, nested ones counted",
                       FB_MAX_COLUMNS);
    r->fields_left -= count;
    type->fields = fb_arena_alloc(&r->schema->arena, count * sizeof *type->fields);
    if (!type->fields) return fb_fail_memory(err, "the columns of a table");
    type->fields_count = count;
    return FB_OK;
}

/* The metadata object as it stands, unless it is empty. */
static fb_code read_metadata(reader *r, yyjson_val *json, fb_column *out, fb_error *err)
{
    size_t size;
    if (!yyjson_is_obj(json) || yyjson_obj_size(json) == 0) return FB_OK;
    char *text = fb_json_write(json, &size);
    if (text) out->metadata = fb_arena_strndup(&r->schema->arena, text, size);
    fb_free(text);
    return out->metadata ? FB_OK : fb_fail_memory(err, "the columns of a table");
}

static fb_code read_field(reader *r, yyjson_val *json, fb_column *out, fb_error *err)
{
    fb_code     code = FB_OK;
    yyjson_val *name = yyjson_obj_get(json, "name");
    if (!yyjson_is_str(name) || strlen(yyjson_get_str(name)) != yyjson_get_len(name))
        return fb_fail(err, P009,
                       "a column of the table has no name, or one with a NUL in it");
    out->name =
        fb_arena_strndup(&r->schema->arena, yyjson_get_str(name), yyjson_get_len(name));
    if (!out->name) return fb_fail_memory(err, "the columns of a table");
    out->nullable = !yyjson_is_false(yyjson_obj_get(json, "nullable"));
    FB_TRY(read_type(r, yyjson_obj_get(json, "type"), &out->type, err));
    FB_TRY(read_metadata(r, yyjson_obj_get(json, "metadata"), out, err));
out:
    return code;
}

static fb_code read_struct(reader *r, yyjson_val *json, fb_type *out, fb_error *err)
{
    fb_code     code = FB_OK;
    size_t      i, count;
    yyjson_val *field, *fields = yyjson_obj_get(json, "fields");
    if (!yyjson_is_arr(fields))
        return fb_fail(err, P009, "a struct of the table has no fields");
    out->kind = FB_KIND_STRUCT;
    FB_TRY(add_fields(r, out, yyjson_arr_size(fields), err));
    yyjson_arr_foreach(fields, i, count, field)
    {
        FB_TRY(read_field(r, field, &out->fields[i], err));
    }
out:
    return code;
}

/* The element of a list, or the key or value of a map. */
static fb_code read_inner(reader *r, yyjson_val *json, const char *name, bool nullable,
                          fb_column *out, fb_error *err)
{
    out->name = name;
    out->nullable = nullable;
    return read_type(r, json, &out->type, err);
}

static fb_code read_nested(reader *r, yyjson_val *json, const char *kind, fb_type *out,
                           fb_error *err)
{
    fb_code code = FB_OK;
    if (strcmp(kind, "struct") == 0) return read_struct(r, json, out, err);
    if (strcmp(kind, "array") == 0) {
        out->kind = FB_KIND_LIST;
        FB_TRY(add_fields(r, out, 1, err));
        FB_TRY(read_inner(r, yyjson_obj_get(json, "elementType"), "element",
                          !yyjson_is_false(yyjson_obj_get(json, "containsNull")),
                          &out->fields[0], err));
    } else if (strcmp(kind, "map") == 0) {
        out->kind = FB_KIND_MAP;
        FB_TRY(add_fields(r, out, 2, err));
        FB_TRY(read_inner(r, yyjson_obj_get(json, "keyType"), "key", false,
                          &out->fields[0], err));
        FB_TRY(read_inner(r, yyjson_obj_get(json, "valueType"), "value",
                          !yyjson_is_false(yyjson_obj_get(json, "valueContainsNull")),
                          &out->fields[1], err));
    } else {
        code =
            fb_fail(err, P009,
                    "the table has a column of type \"%.60s\", which is not known", kind);
    }
out:
    return code;
}

static fb_code read_type(reader *r, yyjson_val *json, fb_type *out, fb_error *err)
{
    if (yyjson_is_str(json)) return read_primitive(yyjson_get_str(json), out, err);
    const char *kind = yyjson_get_str(yyjson_obj_get(json, "type"));
    if (!kind) return fb_fail(err, P009, "a column of the table has no type");
    if (++r->depth > FB_MAX_SCHEMA_DEPTH)
        return fb_fail(err, M002, "the columns of the table are nested deeper than %d",
                       FB_MAX_SCHEMA_DEPTH);
    fb_code code = read_nested(r, json, kind, out, err);
    r->depth--;
    return code;
}

fb_code fb_delta_schema_parse(const char *text, fb_schema *out, fb_error *err)
{
    fb_code         code = FB_OK;
    fb_type         root = {0};
    reader          r = {.schema = out, .fields_left = FB_MAX_COLUMNS};
    yyjson_read_err why = {0};
    yyjson_doc     *doc =
        yyjson_read_opts((char *)(uintptr_t)text, strlen(text), 0, &fb_json_memory, &why);
    if (!doc && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return fb_fail_memory(err, "the columns of a table");
    if (!doc)
        return fb_fail(err, P009, "the table's schemaString is no JSON: %s", why.msg);
    FB_TRY(read_type(&r, yyjson_doc_get_root(doc), &root, err));
    if (root.kind != FB_KIND_STRUCT)
        FB_TRY(fb_fail(err, P009, "the table's schemaString is no struct"));
    out->columns = root.fields;
    out->count = root.fields_count;
out:
    yyjson_doc_free(doc);
    return code;
}

/* --- columns to schemaString -------------------------------------------------------- */

void fb_delta_schema_print(const fb_schema *schema, fb_buf *out)
{
    fb_type root = {
        .kind = FB_KIND_STRUCT, .fields = schema->columns, .fields_count = schema->count};
    fb_type_print_delta(&root, out);
}

/* In a map, because a table may have thousands of columns. */
fb_code fb_delta_schema_check_names(const fb_column *columns, size_t count,
                                    fb_reason reason, fb_error *err)
{
    fb_code       code = FB_OK;
    fb_map        seen;
    fb_map_entry *entry;
    char         *folded = NULL;
    fb_map_init(&seen);
    for (size_t i = 0; i < count; i++) {
        if (columns[i].type.kind == FB_KIND_STRUCT)
            FB_TRY(fb_delta_schema_check_names(
                columns[i].type.fields, columns[i].type.fields_count, reason, err));
        fb_free(folded);
        folded = fb_strdup(columns[i].name);
        if (!folded) FB_TRY(fb_fail_memory(err, "the columns of a table"));
        for (char *c = folded; *c; c++) *c = (char)tolower((unsigned char)*c);
        if (fb_map_find(&seen, folded)) {
            fb_error_set(err, reason,
                         "two columns are called \"%s\", letters in either case "
                         "being one",
                         columns[i].name);
            code = fb_reason_code(reason);
            goto out;
        }
        FB_TRY(fb_map_put(&seen, folded, &entry, err));
    }
out:
    fb_free(folded);
    fb_map_clear(&seen);
    return code;
}

static fb_code check_new_fields(const fb_type *type, fb_error *err)
{
    fb_code code = FB_OK;
    for (size_t i = 0; i < type->fields_count; i++) {
        const fb_column *f = &type->fields[i];
        if (type->kind == FB_KIND_STRUCT && f->name[0] == '\0')
            return fb_fail(err, P014, "a column has no name");
        if (type->kind == FB_KIND_STRUCT && strpbrk(f->name, " ,;{}()\n\t="))
            return fb_fail(err, P014,
                           "the name of column \"%s\" has a space or one of ,;{}()= "
                           "in it, which a Delta table cannot have",
                           f->name);
        if (f->type.kind == FB_KIND_VOID)
            return fb_fail(err, P014, "column \"%s\" has no type", f->name);
        FB_TRY(check_new_fields(&f->type, err));
    }
out:
    return code;
}

fb_code fb_delta_schema_check_new(const fb_schema *schema, fb_error *err)
{
    fb_code code = FB_OK;
    fb_type root = {
        .kind = FB_KIND_STRUCT, .fields = schema->columns, .fields_count = schema->count};
    if (schema->count == 0)
        return fb_fail(err, P014, "a table without columns cannot be made");
    FB_TRY(check_new_fields(&root, err));
    FB_TRY(fb_delta_schema_check_names(schema->columns, schema->count, FB_R_P014, err));
out:
    return code;
}

/* --- rows against a table ----------------------------------------------------------- */

fb_kind fb_delta_kind(fb_kind kind)
{
    switch (kind) {
    case FB_KIND_UINT8: return FB_KIND_INT16;
    case FB_KIND_UINT16: return FB_KIND_INT32;
    case FB_KIND_UINT32: return FB_KIND_INT64;
    case FB_KIND_UINT64: return FB_KIND_DECIMAL;
    case FB_KIND_TIME:
    case FB_KIND_UUID:
    case FB_KIND_JSON: return FB_KIND_STRING;
    default: return kind;
    }
}

static fb_code fail_type(const char *name, const fb_type *table, const fb_type *rows,
                         fb_error *err)
{
    fb_buf want, got;
    fb_buf_init(&want, 200);
    fb_buf_init(&got, 200);
    fb_type_print(table, &want);
    fb_type_print(rows, &got);
    fb_error_set(err, FB_R_P012, "column \"%s\" is %s in the table and %s in the rows",
                 name, fb_buf_text(&want), fb_buf_text(&got));
    fb_buf_clear(&want);
    fb_buf_clear(&got);
    return FB_ESCHEMA;
}

static bool same_scalar(const fb_type *table, const fb_type *rows)
{
    if (table->kind != fb_delta_kind(rows->kind)) return false;
    if (table->kind != FB_KIND_DECIMAL) return true;
    if (rows->kind == FB_KIND_UINT64) return table->precision == 20 && table->scale == 0;
    return table->precision == rows->precision && table->scale == rows->scale;
}

static fb_code type_fits(const char *name, const fb_type *table, const fb_type *rows,
                         fb_error *err);

static const fb_column *find_field(const fb_type *type, const char *name)
{
    for (size_t i = 0; i < type->fields_count; i++)
        if (strcmp(type->fields[i].name, name) == 0) return &type->fields[i];
    return NULL;
}

static fb_code fail_nested(const char *name, fb_error *err)
{
    return fb_fail(err, P013,
                   "\"%s\", a nested field, is NOT NULL in the table and may be null "
                   "in the rows",
                   name);
}

static fb_code fields_fit(const fb_type *table, const fb_type *rows, bool nested,
                          fb_error *err)
{
    fb_code code = FB_OK;
    for (size_t i = 0; i < rows->fields_count; i++) {
        const fb_column *have = &rows->fields[i], *want = find_field(table, have->name);
        if (!want || want->type.kind == FB_KIND_VOID)
            return fb_fail(err, P011,
                           "the rows have a column \"%s\", which the table lacks",
                           have->name);
        if (nested && have->nullable && !want->nullable)
            return fail_nested(have->name, err);
        FB_TRY(type_fits(have->name, &want->type, &have->type, err));
    }
    for (size_t i = 0; i < table->fields_count; i++) {
        const fb_column *want = &table->fields[i];
        if (!want->nullable && !find_field(rows, want->name))
            return fb_fail(err, P013,
                           "column \"%s\" is NOT NULL in the table, and the rows do "
                           "not have it",
                           want->name);
    }
out:
    return code;
}

static fb_code type_fits(const char *name, const fb_type *table, const fb_type *rows,
                         fb_error *err)
{
    fb_code code = FB_OK;
    if (table->fields_count == 0 && rows->fields_count == 0)
        return same_scalar(table, rows) ? FB_OK : fail_type(name, table, rows, err);
    if (table->kind != rows->kind) return fail_type(name, table, rows, err);
    if (table->kind == FB_KIND_STRUCT) return fields_fit(table, rows, true, err);
    /* What a list or a map holds has a place, not a name. */
    for (size_t i = 0; i < table->fields_count; i++) {
        const fb_column *want = &table->fields[i], *have = &rows->fields[i];
        if (have->nullable && !want->nullable) return fail_nested(name, err);
        FB_TRY(type_fits(name, &want->type, &have->type, err));
    }
out:
    return code;
}

fb_code fb_delta_schema_fits(const fb_schema *table, const fb_schema *rows, fb_error *err)
{
    fb_type want = {
        .kind = FB_KIND_STRUCT, .fields = table->columns, .fields_count = table->count};
    fb_type have = {
        .kind = FB_KIND_STRUCT, .fields = rows->columns, .fields_count = rows->count};
    return fields_fit(&want, &have, false, err);
}

bool fb_delta_schema_required(const fb_column *table, const fb_schema *rows)
{
    const fb_column *have = fb_schema_find(rows, table->name);
    return !table->nullable && have && have->nullable;
}

bool fb_delta_schema_any(const fb_column *columns, size_t count,
                         bool (*test)(const fb_column *column))
{
    for (size_t i = 0; i < count; i++) {
        if (test(&columns[i])) return true;
        if (fb_delta_schema_any(columns[i].type.fields, columns[i].type.fields_count,
                                test))
            return true;
    }
    return false;
}

bool fb_delta_is_variant(const fb_column *column)
{
    return column->type.kind == FB_KIND_VOID && column->type.precision == VARIANT;
}

bool fb_delta_column_has(const fb_column *column, const char *key)
{
    char quoted[FB_MAX_NAME];
    if (!column->metadata) return false;
    /* In JSON a quote inside a text has a backslash before it, so this finds no text that
     * only speaks of the key. */
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    return strstr(column->metadata, quoted) != NULL;
}
