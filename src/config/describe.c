/* describe.c - help, reference page and JSON Schema, from the same rows as the reader.
 *
 * Rows are printable ASCII in one line; tests/unit/config/option_test.c looks at each.
 */
#include "config/describe.h"

#include <inttypes.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 6, MAX_PATH_TEXT = 200 };

static bool is_section(const fb_option *row)
{
    return row->type == FB_OPT_SECTION || row->type == FB_OPT_LIST ||
           row->type == FB_OPT_MAP;
}

static void print_range(const fb_option *row, FILE *to)
{
    char low[32], high[32];
    fb_option_show_number(row, row->min, low);
    if (row->max)
        fprintf(to, " from %s to %s", low, fb_option_show_number(row, row->max, high));
    else
        fprintf(to, " of at least %s", low);
}

/* What a row takes: "whole number from 1 to 512", "one of a, b". */
static void print_kind(const fb_option *row, FILE *to)
{
    static const char *const kinds[] = {
        [FB_OPT_TEXT] = "text",
        [FB_OPT_SECRET] = "secret: env://NAME, file:///path or ${NAME}",
        [FB_OPT_BOOL] = "true or false",
        [FB_OPT_COUNT] = "whole number",
        [FB_OPT_DURATION] = "length of time",
        [FB_OPT_BYTES] = "size",
        [FB_OPT_CHOICE] = "one of ",
        [FB_OPT_FLAGS] = "list of ",
        [FB_OPT_TEXTS] = "list of texts",
        [FB_OPT_PAIRS] = "map of properties",
        [FB_OPT_SECTION] = "section",
        [FB_OPT_LIST] = "list of sections",
        [FB_OPT_MAP] = "map of sections by name",
    };
    fputs(kinds[row->type], to);
    if (row->type >= FB_OPT_COUNT && row->type <= FB_OPT_BYTES) print_range(row, to);
    for (int i = 0; row->choices && row->choices[i]; i++)
        fprintf(to, "%s%s", i ? ", " : "", row->choices[i]);
}

/* Call `print` for each row that is a setting, inlined ones in their place. */
static void each_row(const fb_option_set *set, void (*print)(const fb_option *, void *),
                     void                *context)
{
    for (const fb_option *row = set->options; row->name; row++) {
        if (row->type == FB_OPT_INLINE)
            each_row(row->section, print, context);
        else if (row->type != FB_OPT_RENAMED)
            print(row, context);
    }
}

/* Print words, broken into lines. */
static void print_wrapped(const char *text, int indent, FILE *to)
{
    int column = 0;
    for (const char *word = text; *word;) {
        int size = (int)strcspn(word, " ");
        if (column && column + 1 + size > WIDTH) {
            fputc('\n', to);
            column = 0;
        }
        fprintf(to, "%*s%.*s", column ? 1 : indent, "", size, word);
        column += size + (column ? 1 : indent);
        word += size;
        while (*word == ' ') word++;
    }
    fputc('\n', to);
}

static void help_row(const fb_option *row, void *context)
{
    FILE *to = context;
    fprintf(to, "\n  %s: ", row->name);
    print_kind(row, to);
    if (row->flags & FB_OPT_REQUIRED) fputs(" [required]", to);
    if (row->fallback) fprintf(to, " [default: %s]", row->fallback);
    fputc('\n', to);
    print_wrapped(row->help, INDENT, to);
    fprintf(to, "%*sExample: %s: %s\n", INDENT, "", row->name, row->example);
}

void fb_options_print_help(const fb_option_set *set, FILE *to)
{
    fprintf(to, "%s\n", set->name);
    print_wrapped(set->help, 2, to);
    each_row(set, help_row, to);
}

static void reference_row(const fb_option *row, void *context)
{
    FILE *to = context;
    fprintf(to, "- **`%s`** (", row->name);
    print_kind(row, to);
    if (row->flags & FB_OPT_REQUIRED) fputs("; required", to);
    if (row->fallback) fprintf(to, "; default `%s`", row->fallback);
    fprintf(to, "): %s", row->help);
    if (is_section(row))
        fputs(" See below.\n", to);
    else
        fprintf(to, " Example: `%s: %s`\n", row->name, row->example);
}

/* Where a walk over nested sections stands. */
typedef struct walk {
    FILE       *to;
    const char *path; // "pipelines.NAME.source"; "" at the top
    const char *comma;
} walk;

static void print_reference(const fb_option_set *set, const char *path, FILE *to);

static void reference_section(const fb_option *row, void *context)
{
    const walk *above = context;
    char        path[MAX_PATH_TEXT];
    const char *many = row->type == FB_OPT_MAP    ? ".NAME"
                       : row->type == FB_OPT_LIST ? "[]"
                                                  : "";
    if (!is_section(row)) return;
    snprintf(path, sizeof path, "%s%s%s%s", above->path, *above->path ? "." : "",
             row->name, many);
    print_reference(row->section, path, above->to);
}

static void print_reference(const fb_option_set *set, const char *path, FILE *to)
{
    walk here = {to, path, ""};
    if (*path) fprintf(to, "\n## `%s`\n\n", path);
    fprintf(to, "%s\n\n", set->help);
    each_row(set, reference_row, to);
    each_row(set, reference_section, &here);
}

void fb_options_print_reference(const fb_option_set *set, FILE *to)
{
    print_reference(set, "", to);
}

static void print_json(const char *text, FILE *to)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

static void print_json_list(const char *const *texts, FILE *to)
{
    fputc('[', to);
    for (int i = 0; texts[i]; i++) {
        if (i) fputc(',', to);
        print_json(texts[i], to);
    }
    fputc(']', to);
}

static void print_schema_set(const fb_option_set *set, FILE *to);

/* The keys of a map of properties: none of those that are owned. */
static void print_schema_pairs(const fb_option *row, FILE *to)
{
    const char *comma = "";
    fputs("\"type\":\"object\",\"propertyNames\":{\"not\":{\"enum\":[", to);
    for (const fb_owned_key *owned = row->owned; owned && owned->name; owned++) {
        if (owned->name[0] == '*') continue;
        fputs(comma, to);
        print_json(owned->name, to);
        comma = ",";
    }
    fputs("]}},\"additionalProperties\":{\"$ref\":\"#/$defs/text\"}", to);
}

/* What a value may be; all but texts and secrets may be a variable instead. */
static void print_schema_value(const fb_option *row, FILE *to)
{
    static const char variable[] = ",{\"$ref\":\"#/$defs/variable\"}]";
    switch (row->type) {
    case FB_OPT_TEXT: fputs("\"$ref\":\"#/$defs/text\"", to); break;
    case FB_OPT_SECRET: fputs("\"$ref\":\"#/$defs/secret\"", to); break;
    case FB_OPT_BOOL: fprintf(to, "\"anyOf\":[{\"type\":\"boolean\"}%s", variable); break;
    case FB_OPT_COUNT:
        fprintf(to, "\"anyOf\":[{\"type\":\"integer\",\"minimum\":%" PRId64, row->min);
        if (row->max) fprintf(to, ",\"maximum\":%" PRId64, row->max);
        fprintf(to, "}%s", variable);
        break;
    case FB_OPT_DURATION: fputs("\"$ref\":\"#/$defs/duration\"", to); break;
    case FB_OPT_BYTES: fputs("\"$ref\":\"#/$defs/size\"", to); break;
    case FB_OPT_CHOICE:
        fputs("\"anyOf\":[{\"enum\":", to);
        print_json_list(row->choices, to);
        fprintf(to, "}%s", variable);
        break;
    case FB_OPT_FLAGS:
        fputs("\"type\":\"array\",\"items\":{\"enum\":", to);
        print_json_list(row->choices, to);
        fputc('}', to);
        break;
    case FB_OPT_TEXTS:
        fputs("\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/text\"}", to);
        break;
    case FB_OPT_PAIRS: print_schema_pairs(row, to); break;
    case FB_OPT_LIST:
        fputs("\"type\":\"array\",\"items\":{", to);
        print_schema_set(row->section, to);
        fputc('}', to);
        break;
    case FB_OPT_MAP:
        fputs("\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[^/"
              "\\\\\\\\]{1,200}$\"},"
              "\"additionalProperties\":{",
              to);
        print_schema_set(row->section, to);
        fputc('}', to);
        break;
    default: print_schema_set(row->section, to); break;
    }
}

static void schema_row(const fb_option *row, void *context)
{
    walk *w = context;
    FILE *to = w->to;
    bool  is_bare = row->type == FB_OPT_COUNT || row->type == FB_OPT_BOOL;
    fputs(w->comma, to);
    w->comma = ",\n";
    print_json(row->name, to);
    fputs(":{", to);
    print_schema_value(row, to);
    if (row->type != FB_OPT_SECTION) {
        fputs(",\"description\":", to);
        print_json(row->help, to);
    }
    if (row->fallback) fputs(",\"default\":", to);
    if (row->fallback && is_bare)
        fputs(row->fallback, to);
    else if (row->fallback)
        print_json(row->fallback, to);
    fputc('}', to);
}

static void schema_required(const fb_option *row, void *context)
{
    walk *w = context;
    if (!(row->flags & FB_OPT_REQUIRED)) return;
    fputs(w->comma, w->to);
    w->comma = ",";
    print_json(row->name, w->to);
}

/* The members of the object that describes a set. */
static void print_schema_set(const fb_option_set *set, FILE *to)
{
    walk rows = {to, "", ""}, required = rows;
    fputs("\"type\":\"object\",\"description\":", to);
    print_json(set->help, to);
    fputs(",\"additionalProperties\":false,\"properties\":{", to);
    each_row(set, schema_row, &rows);
    fputs("},\"required\":[", to);
    each_row(set, schema_required, &required);
    fputc(']', to);
}

void fb_options_print_schema(const fb_option_set *set, const char *title, FILE *to)
{
    fputs("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":", to);
    print_json(title, to);
    fputs(",\n\"$defs\":{\n"
          "\"variable\":{\"type\":\"string\",\"pattern\":\"\\\\$\\\\{.+\\\\}\"},\n"
          "\"text\":{\"type\":[\"string\",\"number\",\"boolean\"]},\n"
          "\"secret\":{\"type\":\"string\","
          "\"pattern\":\"^(env://|file://|\\\\$\\\\{[A-Za-z_][A-Za-z0-9_]*\\\\}$)\"},\n"
          "\"duration\":{\"type\":\"string\",\"pattern\":\"^[0-9]+ "
          "?[a-z]+$|\\\\$\\\\{\"},\n"
          "\"size\":{\"type\":\"string\",\"pattern\":\"^[0-9]+ "
          "?[kKMGi]*B$|\\\\$\\\\{\"}},\n",
          to);
    print_schema_set(set, to);
    fputs("}\n", to);
}
