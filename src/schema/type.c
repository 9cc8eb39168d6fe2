/* type.c - the words for types, all from kinds.def; see type.h. */
#include "schema/type.h"

#include "base/limits.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SCHEMA_BYTES = 64 << 20, DECIMAL_DIGITS = 38, MAX_WORD = 32 };

static const struct {
    const char *name, *aliases, *sql, *delta, *cast;
} kinds[] = {
#define FB_TYPE(kind, name, aliases, sql, delta, cast) [FB_KIND_##kind] = {name, aliases, sql, delta, cast},
#include "schema/kinds.def"
#undef FB_TYPE
};

void fb_schema_init(fb_schema *schema)
{
    *schema = (fb_schema){0};
    fb_arena_init(&schema->arena, SCHEMA_BYTES);
}

void fb_schema_clear(fb_schema *schema)
{
    fb_arena_clear(&schema->arena);
    schema->columns = NULL;
    schema->count = 0;
}

fb_code fb_schema_reserve(fb_schema *schema, size_t count, fb_error *err)
{
    if (count > FB_MAX_COLUMNS)
        return fb_fail(err, M002, "a schema has %zu columns, more than %d", count, FB_MAX_COLUMNS);
    schema->columns = fb_arena_alloc(&schema->arena, count * sizeof *schema->columns);
    if (!schema->columns) return fb_fail_memory(err, "a schema");
    schema->count = count;
    return FB_OK;
}

const fb_column *fb_schema_find(const fb_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->columns[i].name, name) == 0) return &schema->columns[i];
    return NULL;
}

/* Lower case without - and _, so that "Timestamp-NTZ" and "timestamp_ntz" are one word.
 * @return what stands behind the word: "" or "(12,2)" */
static const char *fold(const char *text, char word[MAX_WORD])
{
    size_t n = 0;
    for (; *text && *text != '('; text++)
        if (*text != '-' && *text != '_' && *text != ' ' && n + 1 < MAX_WORD)
            word[n++] = (char)tolower((unsigned char)*text);
    word[n] = '\0';
    return text;
}

static bool has_word(const char *list, const char *wanted)
{
    char   word[MAX_WORD], folded[MAX_WORD];
    int    used;
    size_t at = 0, size = strlen(list);
    for (; at < size && sscanf(list + at, "%31s%n", word, &used) == 1; at += (size_t)used) {
        fold(word, folded);
        if (strcmp(folded, wanted) == 0) return true;
    }
    return false;
}

static fb_code fail_type(const char *text, fb_error *err)
{
    fb_error_set(err, FB_R_C130, "there is no type \"%s\"", text);
    fb_error_hint(err, "docs/reference/types.md lists them, for example int64, float64, "
                       "decimal(12,2), string, timestamp.");
    return FB_ECONFIG;
}

/* One or two digits, with blanks around them. @return what follows, NULL when there is none */
static const char *read_digits(const char *text, unsigned *out)
{
    text += strspn(text, " ");
    size_t size = strspn(text, "0123456789");
    if (size < 1 || size > 2) return NULL;
    *out = 0;
    for (size_t i = 0; i < size; i++)
        *out = *out * 10 + (unsigned)(text[i] - '0');
    return text + size + strspn(text + size, " ");
}

static fb_code parse_decimal(const char *text, const char *rest, fb_type *out, fb_error *err)
{
    unsigned    precision = 0, scale = 0;
    const char *at = *rest == '(' ? read_digits(rest + 1, &precision) : NULL;
    if (at) at = *at == ',' ? read_digits(at + 1, &scale) : NULL;
    if (!at || strcmp(at, ")") != 0)
        return fb_fail(err, C130, "\"%s\" is no decimal type; write decimal(12,2)", text);
    if (precision < 1 || precision > DECIMAL_DIGITS || scale > precision)
        return fb_fail(err, C130,
                       "\"%s\" is no decimal type: at most %d digits, and no more behind "
                       "the point than in all", text, DECIMAL_DIGITS);
    out->precision = (uint8_t)precision;
    out->scale = (uint8_t)scale;
    return FB_OK;
}

fb_code fb_type_parse(const char *text, fb_type *out, fb_error *err)
{
    char        word[MAX_WORD];
    const char *rest = fold(text, word);
    *out = (fb_type){0};
    for (int i = 0; i <= FB_KIND_JSON && word[0]; i++) {
        if (!has_word(kinds[i].name, word) && !has_word(kinds[i].aliases, word)) continue;
        out->kind = (fb_kind)i;
        if (i == FB_KIND_DECIMAL) return parse_decimal(text, rest, out, err);
        return *rest == '\0' ? FB_OK : fail_type(text, err);
    }
    return fail_type(text, err);
}

void fb_type_print(const fb_type *type, fb_buf *out)
{
    fb_buf_add_text(out, kinds[type->kind].name);
    if (type->kind == FB_KIND_DECIMAL)
        fb_buf_printf(out, "(%u,%u)", type->precision, type->scale);
    for (size_t i = 0; i < type->fields_count; i++) {
        fb_buf_add_text(out, i ? ", " : "<");
        if (type->kind == FB_KIND_STRUCT) fb_buf_printf(out, "%s: ", type->fields[i].name);
        fb_type_print(&type->fields[i].type, out);
    }
    if (type->fields_count) fb_buf_add_char(out, '>');
}

static void print_delta_fields(const fb_type *type, fb_buf *out)
{
    fb_buf_add_text(out, "{\"type\":\"struct\",\"fields\":[");
    for (size_t i = 0; i < type->fields_count; i++) {
        const fb_column *f = &type->fields[i];
        fb_buf_add_text(out, i ? ",{\"name\":" : "{\"name\":");
        fb_buf_add_json_text(out, f->name);
        fb_buf_add_text(out, ",\"type\":");
        fb_type_print_delta(&f->type, out);
        fb_buf_printf(out, ",\"nullable\":%s,\"metadata\":%s}", f->nullable ? "true" : "false",
                      f->metadata ? f->metadata : "{}");
    }
    fb_buf_add_text(out, "]}");
}

void fb_type_print_delta(const fb_type *type, fb_buf *out)
{
    const fb_column *f = type->fields;
    switch (type->kind) {
    case FB_KIND_STRUCT: print_delta_fields(type, out); return;
    case FB_KIND_LIST:
        fb_buf_add_text(out, "{\"type\":\"array\",\"elementType\":");
        fb_type_print_delta(&f[0].type, out);
        fb_buf_printf(out, ",\"containsNull\":%s}", f[0].nullable ? "true" : "false");
        return;
    case FB_KIND_MAP:
        fb_buf_add_text(out, "{\"type\":\"map\",\"keyType\":");
        fb_type_print_delta(&f[0].type, out);
        fb_buf_add_text(out, ",\"valueType\":");
        fb_type_print_delta(&f[1].type, out);
        fb_buf_printf(out, ",\"valueContainsNull\":%s}", f[1].nullable ? "true" : "false");
        return;
    case FB_KIND_DECIMAL:
        fb_buf_printf(out, "\"decimal(%u,%u)\"", type->precision, type->scale);
        return;
    default: fb_buf_printf(out, "\"%s\"", kinds[type->kind].delta);
    }
}

static void print_sql_struct(const fb_type *type, bool as_delta, fb_buf *out)
{
    fb_buf_add_text(out, "STRUCT(");
    for (size_t i = 0; i < type->fields_count; i++) {
        fb_buf_add_text(out, i ? ", \"" : "\"");
        for (const char *c = type->fields[i].name; *c; c++) {
            if (*c == '"') fb_buf_add_char(out, '"');
            fb_buf_add_char(out, *c);
        }
        fb_buf_add_text(out, "\" ");
        fb_type_print_sql(&type->fields[i].type, as_delta, out);
    }
    fb_buf_add_char(out, ')');
}

void fb_type_print_sql(const fb_type *type, bool as_delta, fb_buf *out)
{
    switch (type->kind) {
    case FB_KIND_STRUCT: print_sql_struct(type, as_delta, out); return;
    case FB_KIND_LIST:
        fb_type_print_sql(&type->fields[0].type, as_delta, out);
        fb_buf_add_text(out, "[]");
        return;
    case FB_KIND_MAP:
        fb_buf_add_text(out, "MAP(");
        fb_type_print_sql(&type->fields[0].type, as_delta, out);
        fb_buf_add_text(out, ", ");
        fb_type_print_sql(&type->fields[1].type, as_delta, out);
        fb_buf_add_char(out, ')');
        return;
    case FB_KIND_DECIMAL:
        fb_buf_printf(out, "DECIMAL(%u,%u)", type->precision, type->scale);
        return;
    default: fb_buf_add_text(out, as_delta ? kinds[type->kind].cast : kinds[type->kind].sql);
    }
}

bool fb_type_equal(const fb_type *a, const fb_type *b)
{
    if (a->kind != b->kind || a->precision != b->precision || a->scale != b->scale) return false;
    if (a->fields_count != b->fields_count) return false;
    for (size_t i = 0; i < a->fields_count; i++) {
        const fb_column *x = &a->fields[i], *y = &b->fields[i];
        if (strcmp(x->name, y->name) != 0 || x->nullable != y->nullable) return false;
        if (!fb_type_equal(&x->type, &y->type)) return false;
    }
    return true;
}

void fb_types_write_reference(fb_buf *out)
{
    fb_buf_add_text(out, "| type | also written | in a Delta table |\n| --- | --- | --- |\n");
    for (int i = 0; i <= FB_KIND_JSON; i++) {
        fb_buf_printf(out, "| `%s%s` | ", kinds[i].name, i == FB_KIND_DECIMAL ? "(p,s)" : "");
        char word[MAX_WORD];
        int  used = 0, first = 1;
        for (const char *a = kinds[i].aliases; sscanf(a, "%31s%n", word, &used) == 1; a += used) {
            fb_buf_printf(out, first ? "`%s`" : ", `%s`", word);
            first = 0;
        }
        fb_buf_printf(out, " | %s%s |\n", kinds[i].delta, i == FB_KIND_DECIMAL ? "(p,s)" : "");
    }
}
