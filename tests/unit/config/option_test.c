/* option_test.c - the reader of option tables, and every row of every table. */
#include "config/option.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "tests/check.h"
#include "tests/unit/config/reading.h"

#include <inttypes.h>

/* A set of our own, so that each type is met. */
typedef struct inner {
    const fb_node *node;
    const char    *name;
    bool           deep;
} inner;

typedef struct sample {
    const fb_node *node;
    const char    *text;
    bool           yes;
    int64_t        count, wait_ms, room_bytes;
    int            choice;
    unsigned       flags;
    const char   **texts;
    size_t         texts_count;
    fb_pair       *pairs;
    size_t         pairs_count;
    inner          section;
    inner         *list, *map;
    size_t         list_count, map_count;
} sample;

static const char *const colours[] = {"red", "green", "BLUE", NULL};
static const char *const later[] = {"black", NULL};

static const fb_owned_key owned[] = {
    {"mine", "it is mine"}, {"*_cb", "no"}, {NULL, NULL}};
static const fb_option     inner_rows[] = {{FB_BOOL(inner, deep), .fallback = "true"},
                                           {.name = NULL}};
static const fb_option_set inner_set = {
    .name = "inner", .size = sizeof(inner), .options = inner_rows};
static const fb_option rows[] = {
    {FB_TEXT(sample, text), .flags = FB_OPT_REQUIRED, .fallback = "first",
     .example = "x"},
    {FB_BOOL(sample, yes), .fallback = "true"},
    {FB_COUNT(sample, count), .max = 10},
    {FB_DURATION(sample, wait), .fallback = "5s", .min = 10, .max = 60000,
     .example = "5s"},
    {FB_BYTES(sample, room), .min = 1 << 20, .max = INT64_C(4) << 30, .example = "64MB"},
    {FB_CHOICE(sample, choice), .choices = colours, .later = later},
    {FB_FLAGS(sample, flags), .choices = colours},
    {FB_TEXTS(sample, texts)},
    {FB_PAIRS(sample, pairs), .owned = owned},
    {FB_SECTION(sample, section, inner, &inner_set)},
    {FB_LIST(sample, list, inner, &inner_set)},
    {FB_MAP(sample, map, inner, &inner_set)},
    FB_RENAMED("old.text", "text"),
    {.name = NULL},
};
static const fb_option_set sample_set = {
    .name = "sample", .size = sizeof(sample), .options = rows};

typedef struct sample_reading {
    fb_config config;
    sample    got;
    char     *shown;
} sample_reading;

static void read_sample(sample_reading *r, const char *text)
{
    fb_error err;
    size_t   size;
    fb_config_init(&r->config);
    fb_reader reader = {&r->config.arena, &r->config.found, false};
    CHECK_CODE(fb_config_add_text(&r->config, "f", text, strlen(text), &err), FB_OK,
               &err);
    CHECK_CODE(fb_options_read(&reader, &sample_set, r->config.root, &r->got, &err),
               FB_OK, &err);
    FILE *to = open_memstream(&r->shown, &size);
    fb_diagnostics_print(&r->config.found, to);
    fclose(to);
}

static void end_sample(sample_reading *r)
{
    fb_config_clear(&r->config);
    free(r->shown);
}

TEST(defaults_fill_what_the_file_leaves_out)
{
    sample_reading r;
    read_sample(&r, "text: t\n");
    CHECK_TEXT(r.shown, "");
    CHECK_TEXT(r.got.text, "t");
    CHECK(r.got.yes && r.got.section.deep && !r.got.section.node);
    CHECK_INT(r.got.count, FB_UNSET);
    CHECK_INT(r.got.choice, FB_UNSET);
    CHECK_INT(r.got.wait_ms, 5000);
    CHECK_INT(r.got.room_bytes, FB_UNSET);
    CHECK(!r.got.texts && !r.got.pairs && !r.got.list && !r.got.map);
    CHECK(r.got.node == r.config.root);
    end_sample(&r);
}

TEST(each_type_is_read)
{
    sample_reading r;
    read_sample(
        &r,
        "text: 12\nyes: false\ncount: 10\nwait: 30 seconds\nroom: 64MB\nchoice: green\n"
        "flags: [red, BLUE]\ntexts: [a, 5]\npairs: {a.b: 1, c: true, d: \"\"}\n"
        "section: {deep: false}\nlist: [{}, {deep: false}]\n"
        "map: {one: {deep: false}, two: {}}\n");
    CHECK_TEXT(r.shown, "");
    CHECK_TEXT(r.got.text, "12");
    CHECK(!r.got.yes && r.got.choice == 1 && r.got.flags == 5);
    CHECK_INT(r.got.wait_ms, 30000);
    CHECK_INT(r.got.room_bytes, 64 << 20);
    CHECK_INT(r.got.texts_count, 2);
    CHECK_TEXT(r.got.texts[1], "5");
    CHECK_INT(r.got.pairs_count, 3);
    CHECK_TEXT(r.got.pairs[0].name, "a.b");
    CHECK_TEXT(r.got.pairs[2].value, "");
    CHECK(!r.got.section.deep && r.got.section.node);
    CHECK(r.got.list_count == 2 && r.got.list[0].deep && !r.got.list[1].deep);
    CHECK(r.got.map_count == 2 && !r.got.map[0].deep && r.got.map[1].deep);
    CHECK_TEXT(r.got.map[1].name, "two");
    CHECK_INT(fb_node_place(r.got.node, "room").line, 5);
    CHECK_INT(fb_node_name_place(r.got.section.node, "deep").column, 11);
    end_sample(&r);
}

static void complains(const char *line, const char *words)
{
    sample_reading r;
    char           text[400];
    snprintf(text, sizeof text, "text: t\n%s\n", line);
    read_sample(&r, text);
    CHECK_HAS(r.shown, words);
    end_sample(&r);
}

TEST(each_type_says_what_it_takes)
{
    complains("yes: yes",
              "f:2:6: error: \"yes\" must be true or false, not \"yes\" [FB-C112]");
    complains("count: ten", "\"count\" must be a whole number, not \"ten\" [FB-C112]");
    complains("count: 1.5", "\"count\" must be a whole number, not \"1.5\"");
    complains("count: 9223372036854775808", "\"count\" must be a whole number");
    complains("count: -1", "\"count\" must be 0 to 10, not -1 [FB-C113]");
    complains("wait: 5000",
              "\"wait\" must be a length of time, not \"5000\" [FB-C112]\n");
    complains("wait: 5000",
              "  write a whole number and ms, s, min or h, for example 5s\n");
    complains("wait: 1h", "\"wait\" must be 10ms to 1min, not 1h [FB-C113]");
    complains("wait: 5  s", "must be a length of time");
    complains("wait: s", "must be a length of time");
    complains("room: 64Mb", "\"room\" must be a size, not \"64Mb\" [FB-C112]\n");
    complains("room: 9223372036854775807GB", "must be a size");
    complains("room: 5GB", "\"room\" must be 1MB to 4GB, not 5GB [FB-C113]");
    complains("choice: gren",
              "\"choice\" must be red, green or BLUE, not \"gren\", did you mean "
              "\"green\"? [FB-C110]");
    complains("choice: blue", "not \"blue\", did you mean \"BLUE\"?");
    complains(
        "choice: black",
        "\"choice\" must be red, green or BLUE in this version, not \"black\" [FB-C111]");
    complains("choice: \"a\\nb\"", "not \"a b\" [FB-C110]");
    complains("flags: [red, rod]",
              "f:2:14: error: \"flags\" must be red, green or BLUE, not "
              "\"rod\", did you mean \"red\"?");
    complains("text2: \"\"", "unknown key \"text2\", did you mean \"text\"?");
    complains("texts: [\"\"]", "\"texts\" is empty [FB-C114]");
}

TEST(a_value_of_the_wrong_kind_is_named)
{
    complains("count: [1]", "\"count\" must be one value, not a list [FB-C107]");
    complains("flags: red", "\"flags\" must be a list, not one value");
    complains("texts: {a: 1}", "\"texts\" must be a list, not a map");
    complains("texts: [~]", "\"texts\" must be one value, not nothing");
    complains("pairs: [a]", "\"pairs\" must be a map, not a list");
    complains("pairs: {a: {b: 1}}", "\"a\" must be one value, not a map");
    complains("section: 1", "\"section\" must be a map, not one value");
    complains("list: {a: 1}", "\"list\" must be a list, not a map");
    complains("list: [1]", "\"inner\" must be a map, not one value");
    complains("map: [1]", "\"map\" must be a map, not a list");
    complains("map: {a: ~}", "\"a\" must be a map, not nothing");
}

TEST(a_key_that_is_not_known_leads_to_the_one_that_is_meant)
{
    complains("cuont: 1",
              "f:2:1: error: unknown key \"cuont\", did you mean \"count\"? [FB-C104]");
    complains("zzzzzz: 1", "unknown key \"zzzzzz\" [FB-C104]\n");
    complains("deep: true", "  \"deep\" belongs into \"section\"\n");
    complains("section: {dep: true}",
              "f:2:11: error: unknown key \"dep\", did you mean \"deep\"?");
    complains("old.text: x", "the key \"old.text\" is called \"text\" here [FB-C105]");
    complains("old.txt: x", "unknown key \"old.txt\" [FB-C104]\n");
    complains("pairs: {mine: 1}", "\"mine\" cannot be set here: it is mine [FB-C117]");
    complains("pairs: {log_cb: 1}", "\"log_cb\" cannot be set here: no");
}

TEST(a_missing_key_comes_with_an_example)
{
    sample_reading r;
    read_sample(&r, "count: 1\n");
    CHECK_HAS(r.shown, "f:1:1: error: \"text\" is missing in \"sample\" [FB-C106]\n");
    CHECK_HAS(r.shown, "  add it, for example `text: x`\n");
    end_sample(&r);
}

TEST(names_that_cannot_be_paths_are_refused)
{
    static const char *const bad[] = {"a/b",  "\"a\\\\b\"", ".", "..",
                                      "\"\"", "\"a\\tb\"",  NULL};
    for (const char *const *name = bad; *name; name++) {
        char line[100];
        snprintf(line, sizeof line, "map: {%s: {}}", *name);
        complains(line, "this name ");
    }
    char line[300] = "map: {", *to = line + strlen(line);
    memset(to, 'n', 201);
    strcpy(to + 201, ": {}}");
    complains(line, "this name must have 1 to 200 bytes");
    memmove(to, to + 1, strlen(to));
    sample_reading r;
    char           text[400];
    snprintf(text, sizeof text, "text: t\n%s\n", line);
    read_sample(&r, text);
    CHECK_TEXT(r.shown, "");
    end_sample(&r);
}

/* Call `visit` for every row of `set` and of all sets below it. */
static void each_row(const fb_option_set *set,
                     void (*visit)(const fb_option_set *, const fb_option *))
{
    for (const fb_option *row = set->options; row->name; row++) {
        visit(set, row);
        if (row->section) each_row(row->section, visit);
    }
}

/* Read one key alone; count the faults that stand at its value. */
static size_t faults_of(const fb_option_set *set, const fb_option *row, const char *value)
{
    fb_config config;
    fb_error  err;
    char      text[600];
    void     *out = malloc(set->size);
    size_t    count = 0;
    snprintf(text, sizeof text, "%s: %s\n", row->name, value);
    fb_config_init(&config);
    fb_reader reader = {&config.arena, &config.found, false};
    CHECK_CODE(fb_config_add_text(&config, "row", text, strlen(text), &err), FB_OK, &err);
    CHECK_CODE(fb_options_read(&reader, set, config.root, out, &err), FB_OK, &err);
    for (size_t i = 0; i < config.found.count; i++) {
        fb_reason reason = config.found.list[i]->reason;
        if (reason == FB_R_C106 || reason == FB_R_C115 || reason == FB_R_C116) continue;
        if (reason == FB_R_C124) continue; // include, which is for files
        count++;
        if (config.found.list[i]->is_warning) count--;
    }
    fb_config_clear(&config);
    free(out);
    return count;
}

static void check_words(const fb_option_set *set, const fb_option *row)
{
    if (row->type == FB_OPT_RENAMED) {
        if (!fb_options_find(set, row->fallback, NULL))
            check_failed(CHECK_SITE(row->name), "leads to no setting");
        return;
    }
    if (row->type == FB_OPT_INLINE) return;
    const char *help = row->help;
    bool is_good = help && *help && help[strlen(help) - 1] == '.' && !strchr(help, '\n');
    for (const char *c = help; is_good && *c; c++) is_good = *c >= ' ' && *c < 127;
    if (!is_good)
        check_failed(CHECK_SITE(row->name), "has no help that ends in a full stop");
    if (!row->example || faults_of(set, row, row->example) != 0)
        check_failed(CHECK_SITE(row->name), "has an example that is not accepted");
    if (row->fallback && faults_of(set, row, row->fallback) != 0)
        check_failed(CHECK_SITE(row->name), "has a default that is not accepted");
}

TEST(every_row_explains_itself_and_its_example_is_accepted)
{
    each_row(&fb_document_set, check_words);
}

static void check_bounds(const fb_option_set *set, const fb_option *row)
{
    static const char *const units[] = {
        [FB_OPT_COUNT] = "", [FB_OPT_DURATION] = "ms", [FB_OPT_BYTES] = "B"};
    const int64_t wanted[][2] = {
        {row->min, 0}, {row->max, 0}, {row->min - 1, 1}, {row->max + 1, 1}};
    char text[40];
    if (row->type != FB_OPT_COUNT && row->type != FB_OPT_DURATION &&
        row->type != FB_OPT_BYTES)
        return;
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "%" PRId64 "%s", wanted[i][0], units[row->type]);
        if (faults_of(set, row, text) != (size_t)wanted[i][1])
            check_failed(CHECK_SITE(row->name), "at %s is %s", text,
                         wanted[i][1] ? "accepted" : "refused");
    }
}

TEST(every_row_accepts_its_bounds_and_refuses_one_beyond)
{
    each_row(&fb_document_set, check_bounds);
}

static void check_choices(const fb_option_set *set, const fb_option *row)
{
    char text[200];
    for (int i = 0; row->choices && row->choices[i]; i++) {
        snprintf(text, sizeof text, row->type == FB_OPT_FLAGS ? "[%s]" : "%s",
                 row->choices[i]);
        if (faults_of(set, row, text))
            check_failed(CHECK_SITE(row->name), "refuses %s", text);
    }
    for (int i = 0; row->later && row->later[i]; i++)
        if (faults_of(set, row, row->later[i]) != 1)
            check_failed(CHECK_SITE(row->name), "takes %s", row->later[i]);
    if (row->choices &&
        faults_of(set, row, row->type == FB_OPT_FLAGS ? "[none-such]" : "none-such") != 1)
        check_failed(CHECK_SITE(row->name), "takes what is no choice");
}

TEST(every_choice_is_accepted_and_no_other) { each_row(&fb_document_set, check_choices); }

static const char whole[] =
    "version: 1\n"
    "connections:\n"
    "  e: {type: kafka, bootstrap_servers: '${FBT_B:-h:1}', security_protocol: "
    "SASL_SSL,\n"
    "      sasl_mechanism: PLAIN, sasl_username: u, sasl_password: env://X,\n"
    "      options: {a: 1, b: 2}}\n"
    "pipelines:\n"
    "  a:\n"
    "    source: {connection: e, topic: t, partitions: '0,2-5', metadata: [key, "
    "offset]}\n"
    "    schema: {columns: [{name: k, type: int64}, {name: v, type: string}]}\n"
    "    sink: {accepted: {path: ./a/}}\n"
    "  b:\n"
    "    source: {path: 'kafka://h/t', message_format: raw}\n"
    "    sink: {accepted: {path: ./b}, rejected: {path: ./r, format: ndjson}}\n"
    "memory: 512MB\n";

/* Load `text` with the nth allocation failing. @return how many failed */
static int load_failing(const char *text, int nth, fb_code *code)
{
    fb_document document;
    fb_error    err;
    fb_document_init(&document);
    fb_alloc_fail_at(nth);
    *code = fb_config_add_text(&document.config, "f", text, strlen(text), &err);
    if (*code == FB_OK)
        *code =
            fb_config_set(&document.config, "pipelines.a.source.max_messages=5", &err);
    if (*code == FB_OK)
        *code = fb_document_put(&document, "b", "source.group_id", "t", "--group", &err);
    if (*code == FB_OK) *code = fb_document_read(&document, false, &err);
    int failed = fb_alloc_fail_at(0);
    fb_document_clear(&document);
    return failed;
}

static void fail_every_allocation(const char *text, fb_code want)
{
    fb_code code;
    int     nth = 1;
    for (; load_failing(text, nth, &code) > 0; nth++)
        if (code != FB_EMEMORY)
            check_failed(CHECK_SITE("allocation"), "%d failed and the code is %d", nth,
                         (int)code);
    CHECK(nth > 4);
    CHECK_INT(code, want);
}

TEST(no_allocation_failure_leaks_or_passes_as_success)
{
    char faulty[1000];
    fail_every_allocation(whole, FB_OK);
    snprintf(faulty, sizeof faulty,
             "%svalue: x\nmemry: 1\nreport: {keep: no, pth: ${FBT_NO}}\n", whole);
    fail_every_allocation(faulty, FB_ECONFIG);
    fail_every_allocation("a: [1", FB_ECONFIG);
}

TEST(a_configuration_of_a_thousand_faults_is_refused_within_its_memory)
{
    char   *text = malloc(300000);
    size_t  used = 0;
    reading r;
    REQUIRE(text != NULL);
    for (int i = 0; i < 5000; i++)
        used += (size_t)snprintf(text + used, 300000 - used,
                                 "unknown_key_%d: {a: [b, c]}\n", i);
    reading_of(&r, text);
    CHECK(r.code == FB_ECONFIG);
    CHECK_HAS(r.shown, "5000 errors in forebay.yml, the first 20 are shown");
    reading_end(&r);
    free(text);
}
