/* sink_options.c - the settings under `sink`. */
#include "sink/sink_options.h"

#include <string.h>

typedef fb_delta_options    D;
typedef fb_accepted_options A;
typedef fb_rejected_options R;
typedef fb_sink_options     S;

static const char *const write_modes[] = {"append", NULL};
static const char *const later_modes[] = {"overwrite",  "ignore",     "error_if_exists",
                                          "merge_scd1", "merge_scd2", NULL};
static const char *const formats[] = {"delta", NULL};
static const char *const later_formats[] = {"parquet", "postgres", "duckdb", "iceberg",
                                            NULL};
static const char *const reject_formats[] = {"delta", "ndjson", NULL};
static const char *const later_reject_formats[] = {"csv", "parquet", "postgres", "duckdb",
                                                   NULL};
static const char *const compressions[] = {"zstd", "snappy", "gzip", "uncompressed",
                                           NULL};

const char *fb_compression_name(int compression) { return compressions[compression]; }

static const fb_option delta_options[] = {
    {FB_CHOICE(D, compression), .fallback = "zstd", .choices = compressions,
     .help = "How the data files are compressed.", .example = "snappy"},

    {FB_COUNT(D, row_group_size), .fallback = "122880", .min = 2048, .max = 100000000,
     .help = "Rows of one row group of a data file. Larger groups compress better and "
             "take more memory to write.",
     .example = "122880"},

    {.name = NULL},
};

static const fb_option_set delta_set = {
    .name = "delta",
    .help = "How a Delta table's data files are written.",
    .size = sizeof(D),
    .options = delta_options,
};

static const fb_option accepted_options[] = {
    {FB_CHOICE(A, format), .fallback = "delta", .choices = formats,
     .later = later_formats, .help = "Format of the table.", .example = "delta"},

    {FB_TEXT(A, path), .flags = FB_OPT_REQUIRED,
     .help = "Folder of the table, created when it is not there.",
     .example = "./lake/orders"},

    {FB_SECTION(A, delta, D, &delta_set),
     .help = "How a Delta table's data files are written.",
     .example = "{compression: zstd}"},

    {.name = NULL},
};

static const fb_option_set accepted_set = {
    .name = "accepted",
    .help = "Where accepted rows go.",
    .size = sizeof(A),
    .options = accepted_options,
};

static const fb_option rejected_options[] = {
    {FB_CHOICE(R, format), .fallback = "delta", .choices = reject_formats,
     .later = later_reject_formats,
     .help = "Format of what is kept of rejected rows: a Delta table or files of JSON "
             "lines.",
     .example = "delta"},

    {FB_TEXT(R, path),
     .help = "Folder of the rejected rows; the accepted path with _rejected behind it "
             "when left out.",
     .example = "./lake/orders_rejected"},

    {.name = NULL},
};

static const fb_option_set rejected_set = {
    .name = "rejected",
    .help = "Where rejected rows go, with their bytes and reasons.",
    .size = sizeof(R),
    .options = rejected_options,
};

static const fb_option sink_options[] = {
    {FB_CHOICE(S, write_mode), .fallback = "append", .choices = write_modes,
     .later = later_modes, .help = "How rows meet those that are there.",
     .example = "append"},

    {FB_SECTION(S, accepted, A, &accepted_set), .flags = FB_OPT_REQUIRED,
     .help = "Where accepted rows go.",
     .example = "{format: delta, path: ./lake/orders}"},

    {FB_SECTION(S, rejected, R, &rejected_set),
     .help = "Where rejected rows go, with their bytes and reasons.",
     .example = "{format: delta, path: ./lake/orders_rejected}"},

    {.name = NULL},
};

/* Bring a path to the form that sink_options.h promises. */
static fb_code take_path(fb_reader *reader, const fb_node *node, const char **path,
                         fb_error *err)
{
    const char *text = *path;
    if (!text) return FB_OK;
    if (strncmp(text, "file://", 7) == 0) text += 7;
    if (strstr(text, "://")) {
        fb_diagnose(reader->found, FB_R_C111, fb_node_place(node, "path"),
                    "\"path\" must be a local folder in this version");
        *path = NULL;
        return FB_OK;
    }
    size_t size = strlen(text);
    while (size > 1 && text[size - 1] == '/') size--;
    *path = fb_arena_strndup(reader->arena, text, size);
    return *path ? FB_OK : fb_fail_memory(err, "the configuration");
}

static fb_code check_sink(fb_reader *reader, void *values, fb_error *err)
{
    static const char behind[] = "_rejected";
    fb_code           code = FB_OK;
    S                *s = values;
    FB_TRY(take_path(reader, s->accepted.node, &s->accepted.path, err));
    FB_TRY(take_path(reader, s->rejected.node, &s->rejected.path, err));
    if (!s->accepted.path) return FB_OK;
    if (!s->rejected.path) {
        size_t size = strlen(s->accepted.path);
        char  *path = fb_arena_alloc(reader->arena, size + sizeof behind);
        if (!path) return fb_fail_memory(err, "the configuration");
        memcpy(path, s->accepted.path, size);
        memcpy(path + size, behind, sizeof behind);
        s->rejected.path = path;
    } else if (strcmp(s->rejected.path, s->accepted.path) == 0) {
        fb_diagnose(reader->found, FB_R_C115, fb_node_place(s->rejected.node, "path"),
                    "rejected rows cannot go where accepted ones go");
    }
out:
    return code;
}

const fb_option_set fb_sink_set = {
    .name = "sink",
    .help = "Where rows go, and where rejected ones go.",
    .size = sizeof(S),
    .options = sink_options,
    .check = check_sink,
};
