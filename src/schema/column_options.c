/* column_options.c - the settings under `schema`. */
#include "schema/column_options.h"

#include "base/limits.h"
#include "base/text.h"

#include <string.h>

typedef fb_column_options   C;
typedef fb_mismatch_options M;
typedef fb_schema_options   S;

static const char *const modes[] = {"strict", "lenient", NULL};
static const char *const duplicates[] = {"reject", "first", "last", NULL};
static const char *const tombstones[] = {"land", "skip", "reject", NULL};
static const char *const missing[] = {"fill_nulls", "reject", NULL};
static const char *const extra[] = {"ignore", "reject", NULL};

static const fb_option column_options[] = {
    {FB_TEXT(C, name), .flags = FB_OPT_REQUIRED,
     .help = "Name of the column, and of the member of the message that it is read from.",
     .example = "order_id"},

    {FB_TEXT(C, type), .flags = FB_OPT_REQUIRED,
     .help = "Type of the column: string, boolean, int8 to int64, uint8 to uint64, "
             "float32, float64, decimal(P,S), date, time, timestamp, timestamp_ntz, "
             "binary, uuid or json.",
     .example = "int64"},

    {FB_BOOL(C, nullable), .fallback = "true",
     .help = "Whether the column may be null; rows that have none are rejected when it "
             "is false.",
     .example = "false"},

    {FB_BOOL(C, unique), .fallback = "false",
     .help = "Reject rows whose value stood in an earlier row of the run; nulls are not "
             "compared.",
     .example = "true"},

    {FB_CHOICE(C, mode), .choices = modes,
     .help = "How exact a value must be, for this column; that of the schema when left "
             "out.",
     .example = "lenient"},

    {.name = NULL},
};

static fb_code check_column(fb_reader *reader, void *values, fb_error *err)
{
    const C *c = values;
    fb_error why;
    fb_type  type;
    (void)err;
    if (c->name && strlen(c->name) >= FB_MAX_NAME)
        fb_diagnose(reader->found, FB_R_C114, fb_node_place(c->node, "name"),
                    "\"name\" has more than %d bytes", FB_MAX_NAME - 1);
    if (c->type && fb_type_parse(c->type, &type, &why) != FB_OK)
        fb_diagnose_error(reader->found, fb_node_place(c->node, "type"), &why);
    return FB_OK;
}

static const fb_option_set column_set = {
    .name = "column",
    .help = "One column of the table.",
    .size = sizeof(C),
    .options = column_options,
    .check = check_column,
};

static const fb_option mismatch_options[] = {
    {FB_CHOICE(M, missing_columns), .fallback = "fill_nulls", .choices = missing,
     .help = "What to do with a message that lacks a column: write null there, which a "
             "column that is not nullable rejects, or reject the message.",
     .example = "reject"},

    {FB_CHOICE(M, extra_columns), .fallback = "ignore", .choices = extra,
     .help = "What to do with a message that has members which are no columns.",
     .example = "reject"},

    {.name = NULL},
};

static const fb_option_set mismatch_set = {
    .name = "mismatch",
    .help = "Messages whose members are not exactly the columns.",
    .size = sizeof(M),
    .options = mismatch_options,
};

static const fb_option schema_options[] = {
    {FB_LIST(S, columns, C, &column_set),
     .help = "The columns, in the order they have in the table.",
     .example = "[{name: order_id, type: string, nullable: false}]"},

    {FB_CHOICE(S, mode), .fallback = "strict", .choices = modes,
     .help = "How exact a value must be. strict: \"7\" is no number; lenient: texts that "
             "are exactly a number, date or boolean are taken. Neither rounds or cuts.",
     .example = "strict"},

    {FB_CHOICE(S, duplicate_keys), .fallback = "reject", .choices = duplicates,
     .help = "What to do with a message that has a member twice: reject it, or take the "
             "first or last of them.",
     .example = "reject"},

    {FB_CHOICE(S, tombstones), .fallback = "land", .choices = tombstones,
     .help = "What to do with a message that has a key and no value: a row with nulls, "
             "nothing (counted as filtered), or a rejected one.",
     .example = "skip"},

    {FB_SECTION(S, mismatch, M, &mismatch_set),
     .help = "Messages whose members are not exactly the columns.",
     .example = "{missing_columns: reject}"},

    {.name = NULL},
};

static fb_code check_schema(fb_reader *reader, void *values, fb_error *err)
{
    S *s = values;
    (void)err;
    if (s->columns_count > FB_MAX_COLUMNS)
        fb_diagnose(reader->found, FB_R_C102, fb_node_place(s->node, "columns"),
                    "there are more than %d columns", FB_MAX_COLUMNS);
    for (size_t i = 0; i < s->columns_count && i < FB_MAX_COLUMNS; i++) {
        C *c = &s->columns[i];
        if (c->mode == FB_UNSET) c->mode = s->mode;
        for (size_t j = 0; j < i; j++) {
            const C *before = &s->columns[j];
            if (!c->name || !before->name || !fb_text_equal_nocase(c->name, before->name))
                continue;
            fb_diagnose(reader->found, FB_R_C103, fb_node_place(c->node, "name"),
                        "column \"%s\" is declared twice, first on line %d", c->name,
                        before->node->place.line);
            fb_diagnose_hint(reader->found,
                             "tables do not tell capital letters from small ones");
            break;
        }
    }
    return FB_OK;
}

const fb_option_set fb_schema_set = {
    .name = "schema",
    .help = "The columns a message must have, and what happens to messages that differ.",
    .size = sizeof(S),
    .options = schema_options,
    .check = check_schema,
};

fb_code fb_schema_from_options(const fb_schema_options *options, fb_schema *out,
                               fb_error *err)
{
    fb_code code = FB_OK;
    FB_TRY(fb_schema_reserve(out, options->columns_count, err));
    for (size_t i = 0; i < options->columns_count; i++) {
        const C   *from = &options->columns[i];
        fb_column *to = &out->columns[i];
        FB_TRY(fb_type_parse(from->type, &to->type, err));
        to->name = fb_arena_strndup(&out->arena, from->name, strlen(from->name));
        if (!to->name) return fb_fail_memory(err, "the schema");
        to->nullable = from->nullable;
        to->unique = from->unique;
        to->is_lenient = from->mode == FB_MODE_LENIENT;
    }
out:
    return code;
}
