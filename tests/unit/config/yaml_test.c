/* yaml_test.c - files as trees: what is read, what is refused, and with which place. */
#include "base/limits.h"
#include "config/load.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

typedef struct parsed {
    fb_config config;
    fb_node  *root;
    fb_error  err;
    fb_code   code;
} parsed;

static void parse(parsed *p, const char *text, size_t size)
{
    static fb_config_file file;
    memset(p, 0, sizeof *p);
    fb_config_init(&p->config);
    file =
        (fb_config_file){.name = "f.yml", .text = (char *)(uintptr_t)text, .size = size};
    p->code = fb_yaml_read(&p->config.tree, &file, &p->root, &p->err);
}

static void parse_text(parsed *p, const char *text) { parse(p, text, strlen(text)); }

static void refuses(const char *text, size_t size, const char *words, int line,
                    int column)
{
    parsed p;
    parse(&p, text, size);
    CHECK_CODE(p.code, FB_OK, &p.err);
    CHECK(p.config.found.errors == 1);
    if (p.config.found.errors) {
        const fb_diagnostic *it = p.config.found.list[0];
        CHECK_HAS(it->message, words);
        CHECK_INT(it->place.line, line);
        CHECK_INT(it->place.column, column);
    }
    fb_config_clear(&p.config);
}

static void refuses_text(const char *text, const char *words, int line, int column)
{
    refuses(text, strlen(text), words, line, column);
}

TEST(every_node_knows_its_place)
{
    parsed p;
    parse_text(&p, "a: one\nb:\n  - \xc3\xa9: [x, \"two\"]\nc:\n");
    REQUIRE(p.root && p.root->kind == FB_NODE_MAP && p.root->count == 3);
    const fb_node *a = fb_node_find(p.root, "a"), *b = fb_node_find(p.root, "b");
    const fb_node *list = b->first->first, *c = fb_node_find(p.root, "c");
    CHECK_TEXT(a->text, "one");
    CHECK_INT(a->place.line, 1);
    CHECK_INT(a->place.column, 4);
    CHECK_INT(a->place.length, 3);
    CHECK_INT(a->name_place.column, 1);
    CHECK_TEXT(list->name, "\xc3\xa9");
    CHECK_INT(list->place.line, 3);
    CHECK_INT(list->place.column, 8); // characters, not bytes
    CHECK_TEXT(list->last->text, "two");
    CHECK_INT(list->last->place.column, 13);
    CHECK(c->kind == FB_NODE_NULL && c->place.line == 4);
    CHECK(!fb_node_has(p.root, "c") && fb_node_has(p.root, "a"));
    CHECK(fb_node_find(p.root, "d") == NULL && fb_node_find(NULL, "d") == NULL);
    fb_config_clear(&p.config);
}

TEST(an_alias_is_a_copy_of_what_it_stands_for)
{
    parsed p;
    parse_text(&p, "a: &x {k: 1}\nb: *x\nc: [*x, *x]\n");
    REQUIRE(p.root && p.config.found.errors == 0);
    CHECK_TEXT(fb_node_find(p.root, "b")->first->text, "1");
    CHECK_INT(fb_node_find(p.root, "c")->count, 2);
    CHECK_INT(p.config.tree.nodes, 10);
    fb_config_clear(&p.config);
}

TEST(what_means_nothing_is_as_if_left_out_but_in_quotes_it_is_a_text)
{
    parsed p;
    parse_text(&p, "a: null\nb: ~\nc: \"\"\nd: 'null'\ne: !!str null\n");
    REQUIRE(p.root != NULL);
    CHECK(!fb_node_has(p.root, "a") && !fb_node_has(p.root, "b"));
    CHECK(fb_node_has(p.root, "c") && fb_node_has(p.root, "d") &&
          fb_node_has(p.root, "e"));
    fb_config_clear(&p.config);
}

TEST(a_fault_of_the_syntax_names_its_place)
{
    refuses_text("a: 1\n b: 2\n", "this cannot be read as YAML: ", 1, 4);
    refuses_text("a: \"x\n", "closing quote", 1, 5);
    refuses_text("a: {b: ${X}}\n", "missing comma in flow mapping", 1, 9);
    refuses_text("--- |0\n", "this cannot be read as YAML", 1, 1);
    refuses_text("a: *x\n", "there is no anchor &x above this alias", 1, 5);
}

TEST(bytes_that_are_no_text_are_refused_and_not_taken_for_the_end)
{
    refuses("a: 1\nb: \xff\n", 10, "the byte 0xFF here is not UTF-8", 2, 4);
    refuses("a: 1\0b", 6, "the control character 0x00 cannot stand in YAML", 1, 5);
    refuses("a: \x1b[31m\n", 9, "the control character 0x1B", 1, 4);
    refuses("\xff\xfe"
            "a\0",
            4, "not UTF-8", 1, 1);
    refuses_text("a: \"x\\0y\"\n", "a text cannot hold a NUL", 1, 5);
}

TEST(parts_of_yaml_that_hide_something_are_refused)
{
    refuses_text("a: !!python/object/apply:os.system [echo]\n", "makes an object", 1, 36);
    refuses_text("a: !<tag:yaml.org,2002:binary> aGk=\n", "makes an object", 1, 32);
    refuses_text("a: 1\n---\nb: 2\n", "a second document", 2, 1);
    refuses_text("? [a]\n: 1\n", "a key must be a plain text", 1, 3);
    refuses_text("a: &k b\n*k : 1\n", "a key must be a plain text", 2, 2);
}

TEST(a_key_that_stands_twice_is_refused_with_both_places)
{
    refuses_text("a: 1\nb: 2\na: 3\n",
                 "key \"a\" stands twice in this map, first on line 1", 3, 1);
    refuses_text("x: {a: 1, 'a': 2}\n", "key \"a\" stands twice", 1, 12);
}

TEST(a_file_of_one_mib_is_read_and_one_byte_more_is_not)
{
    char  *text = malloc(FB_MAX_CONFIG_BYTES + 1);
    parsed p;
    REQUIRE(text != NULL);
    memset(text, ' ', FB_MAX_CONFIG_BYTES + 1);
    memcpy(text, "a: 1\n#", 6);
    parse(&p, text, FB_MAX_CONFIG_BYTES);
    CHECK(p.root && p.config.found.errors == 0);
    fb_config_clear(&p.config);
    refuses(text, FB_MAX_CONFIG_BYTES + 1, "the file is larger than 1 MiB", 1, 1);
    free(text);
}

TEST(sixty_four_levels_are_read_and_one_more_is_not)
{
    char   text[2 * FB_MAX_CONFIG_DEPTH + 3] = "";
    parsed p;
    memset(text, '[', FB_MAX_CONFIG_DEPTH);
    memset(text + FB_MAX_CONFIG_DEPTH, ']', FB_MAX_CONFIG_DEPTH);
    parse_text(&p, text);
    CHECK(p.root && p.config.found.errors == 0);
    fb_config_clear(&p.config);
    memset(text, '[', FB_MAX_CONFIG_DEPTH + 1);
    refuses_text(text, "nested deeper than 64 levels", 1, 65);
}

TEST(an_alias_cannot_make_a_tree_deeper_than_its_file_may_be)
{
    char text[400] = "a: &a ";
    memset(text + 6, '[', 40);
    memset(text + 46, ']', 40);
    strcpy(text + 86,
           "\nb: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ *a ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n");
    refuses_text(text, "nested deeper than 64 levels", 2, 36);
}

TEST(an_alias_bomb_is_refused_at_once)
{
    char   text[4000] = "a0: &a0 x\n";
    size_t used = strlen(text);
    for (int i = 1; i < 30; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i,
                             i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    refuses_text(text, "more than 100000 values", 7, 15);
    refuses_text("a: &a [*a]\n", "the alias *a stands inside what it stands for", 1, 9);
}

TEST(a_thousand_anchors_are_enough)
{
    char  *text = malloc(64000);
    size_t used = 0;
    REQUIRE(text != NULL);
    for (int i = 0; i <= 1000; i++)
        used += (size_t)snprintf(text + used, 64000 - used, "k%d: &a%d v\n", i, i);
    refuses_text(text, "more than 1000 anchors", 1001, 15);
    free(text);
}

TEST(an_empty_file_is_an_empty_map)
{
    fb_config config;
    fb_error  err;
    fb_config_init(&config);
    CHECK_CODE(fb_config_add_text(&config, "f", "# nothing\n", 10, &err), FB_OK, &err);
    CHECK(config.root && config.root->kind == FB_NODE_MAP && config.root->count == 0);
    CHECK_CODE(fb_config_add_text(&config, "g", "", 0, &err), FB_OK, &err);
    CHECK(config.found.errors == 0);
    CHECK_CODE(fb_config_add_text(&config, "h", "[1]", 3, &err), FB_OK, &err);
    CHECK(config.found.errors == 1 && config.is_incomplete);
    fb_config_clear(&config);
}

/* Is the tree what the suite says in JSON?  Single values are texts to us. */
static bool is_same(const fb_node *node, yyjson_val *json)
{
    size_t      index, count;
    yyjson_val *key, *item;
    if (yyjson_is_null(json)) return node->kind == FB_NODE_NULL;
    if (yyjson_is_obj(json)) {
        if (node->kind != FB_NODE_MAP || node->count != yyjson_obj_size(json))
            return false;
        yyjson_obj_foreach(json, index, count, key, item)
        {
            const fb_node *child = fb_node_find(node, yyjson_get_str(key));
            if (!child || !is_same(child, item)) return false;
        }
        return true;
    }
    if (yyjson_is_arr(json)) {
        const fb_node *child = node->first;
        if (node->kind != FB_NODE_LIST || node->count != yyjson_arr_size(json))
            return false;
        yyjson_arr_foreach(json, index, count, item)
        {
            if (!is_same(child, item)) return false;
            child = child->next;
        }
        return true;
    }
    if (node->kind != FB_NODE_SCALAR) return false;
    if (yyjson_is_str(json)) return strcmp(node->text, yyjson_get_str(json)) == 0;
    if (yyjson_is_raw(json)) return strcmp(node->text, yyjson_get_raw(json)) == 0;
    return yyjson_is_bool(json) && (node->text[0] == 't') == yyjson_get_bool(json);
}

/* How one case of the suite came out. */
typedef struct tally {
    int refused_rightly, refused, same, unjudged;
} tally;

static void run_case(yyjson_val *one, tally *count)
{
    const char *yaml = yyjson_get_str(yyjson_obj_get(one, "yaml"));
    const char *json = yyjson_get_str(yyjson_obj_get(one, "json"));
    const char *id = yyjson_get_str(yyjson_obj_get(one, "id"));
    bool        must_fail = yyjson_get_bool(yyjson_obj_get(one, "fail"));
    parsed      p;
    parse(&p, yaml, yyjson_get_len(yyjson_obj_get(one, "yaml")));
    CHECK_CODE(p.code, FB_OK, &p.err);
    yyjson_doc *want =
        json ? yyjson_read(json, strlen(json), YYJSON_READ_NUMBER_AS_RAW) : NULL;
    if (must_fail) {
        if (p.config.found.errors == 0)
            check_failed(CHECK_SITE(id), "is invalid and was read");
        count->refused_rightly++;
    } else if (p.config.found.errors) {
        count->refused++;
    } else if (!want || !p.root) {
        count->unjudged++;
    } else {
        if (!is_same(p.root, yyjson_doc_get_root(want)))
            check_failed(CHECK_SITE(id), "differs");
        count->same++;
    }
    yyjson_doc_free(want);
    fb_config_clear(&p.config);
}

TEST(the_yaml_test_suite_is_read_as_it_says_or_refused)
{
    const char *folder = getenv("FOREBAY_CASES");
    char        path[FB_MAX_PATH], *line = NULL;
    size_t      room = 0;
    ssize_t     size;
    tally       count = {0};
    snprintf(path, sizeof path, "%s/inputs/yaml/cases.jsonl", folder ? folder : "");
    FILE *file = folder ? fopen(path, "r") : NULL;
    if (!file) SKIP("FOREBAY_CASES has no inputs/yaml/cases.jsonl");
    while ((size = getline(&line, &room, file)) > 0) {
        yyjson_doc *doc = yyjson_read(line, (size_t)size, 0);
        REQUIRE(doc != NULL);
        run_case(yyjson_doc_get_root(doc), &count);
        yyjson_doc_free(doc);
    }
    free(line);
    fclose(file);
    CHECK_INT(count.refused_rightly, 94);
    CHECK_INT(count.same, 235);
    CHECK_INT(count.refused, 61); // several documents, keys that are no text, tags
    CHECK_INT(count.unjudged, 15);
}
