/* load_test.c - several files, includes and overrides become one tree. */
#include "base/alloc.h"
#include "base/file.h"
#include "tests/check.h"
#include "tests/unit/config/reading.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder for one test, gone with it. */
typedef struct folder {
    char path[64];
} folder;

static void folder_make(folder *f)
{
    strcpy(f->path, "/tmp/forebay-load-XXXXXX");
    if (!mkdtemp(f->path)) f->path[0] = '\0';
}

static void folder_write(const folder *f, const char *name, const char *text)
{
    char     path[256];
    fb_error err;
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
    CHECK_CODE(fb_file_replace(path, text, strlen(text), &err), FB_OK, &err);
}

static void folder_remove(const folder *f)
{
    char command[128];
    snprintf(command, sizeof command, "%s/sub", f->path);
    fb_dir_remove(command);
    fb_dir_remove(f->path);
}

static void add(fb_config *config, const folder *f, const char *name)
{
    char     path[256];
    fb_error err;
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    CHECK_CODE(fb_config_add_file(config, path, &err), FB_OK, &err);
}

static const fb_node *at(const fb_config *config, const char *a, const char *b,
                         const char *c)
{
    const fb_node *node = fb_node_find(config->root, a);
    if (b) node = fb_node_find(node, b);
    return c ? fb_node_find(node, c) : node;
}

static const char *first_message(const fb_config *config)
{
    return config->found.count ? config->found.list[0]->message : "";
}

TEST(a_later_file_wins_maps_are_merged_and_lists_replaced)
{
    fb_config config;
    fb_error  err;
    fb_config_init(&config);
    const char one[] = "a: {x: 1, y: [1, 2], z: {k: 1}}\nb: 1\n",
               two[] = "a: {y: [3], z: {l: 2}}\nb:\n";
    CHECK_CODE(fb_config_add_text(&config, "one", one, strlen(one), &err), FB_OK, &err);
    CHECK_CODE(fb_config_add_text(&config, "two", two, strlen(two), &err), FB_OK, &err);
    CHECK_TEXT(at(&config, "a", "x", NULL)->text, "1");
    CHECK_INT(at(&config, "a", "y", NULL)->count, 1);
    CHECK_TEXT(at(&config, "a", "y", NULL)->place.file->name, "two");
    CHECK_TEXT(at(&config, "a", "z", "k")->text, "1");
    CHECK_TEXT(at(&config, "a", "z", "l")->text, "2");
    CHECK(!fb_node_has(config.root, "b"));
    fb_config_clear(&config);
}

TEST(a_file_that_is_not_there_is_said_so)
{
    reading r;
    reading_begin(&r);
    CHECK_CODE(fb_config_add_file(&r.document.config, "/nowhere/forebay.yml", &r.err),
               FB_OK, &r.err);
    reading_finish(&r, false);
    CHECK_TEXT(r.shown,
               "error: cannot read /nowhere/forebay.yml: No such file or directory "
               "[FB-C101]\n1 error; nothing was contacted\n");
    CHECK(r.code == FB_ECONFIG && r.err.reason == FB_R_C101);
    reading_end(&r);
}

TEST(a_file_without_end_is_not_read_to_its_end)
{
    reading r;
    reading_begin(&r);
    CHECK_CODE(fb_config_add_file(&r.document.config, "/dev/zero", &r.err), FB_OK,
               &r.err);
    reading_finish(&r, false);
    CHECK_HAS(r.shown, "/dev/zero:1:1: error: the file is larger than 1 MiB [FB-C102]");
    reading_end(&r);
}

TEST(includes_are_relative_to_their_file_and_make_one_layer)
{
    folder    f;
    fb_config config;
    folder_make(&f);
    folder_write(&f, "main.yml", "include: [sub/*.yml, nothing-*.yml]\na: {x: 1}\n");
    folder_write(&f, "sub/one.yml", "a: {y: 2}\n");
    folder_write(&f, "sub/two.yml", "include: [three.yaml]\nb: 3\n");
    folder_write(&f, "sub/three.yaml", "c: 4\n");
    fb_config_init(&config);
    add(&config, &f, "main.yml");
    CHECK_TEXT(first_message(&config), "");
    CHECK_TEXT(at(&config, "a", "x", NULL)->text, "1");
    CHECK_TEXT(at(&config, "a", "y", NULL)->text, "2");
    CHECK_TEXT(at(&config, "b", NULL, NULL)->text, "3");
    CHECK_TEXT(at(&config, "c", NULL, NULL)->text, "4");
    CHECK(fb_node_find(config.root, "include") == NULL);
    CHECK_HAS(at(&config, "c", NULL, NULL)->place.file->name, "/sub/three.yaml");
    fb_config_clear(&config);
    folder_remove(&f);
}

TEST(two_files_of_one_layer_cannot_say_the_same)
{
    folder    f;
    fb_config config;
    folder_make(&f);
    folder_write(&f, "main.yml", "include: [b.yml]\na: {x: 1}\n");
    folder_write(&f, "b.yml", "a: {x: 2}\n");
    fb_config_init(&config);
    add(&config, &f, "main.yml");
    CHECK_HAS(first_message(&config), "key \"x\" stands in ");
    CHECK_HAS(first_message(&config), "main.yml:2 too");
    fb_config_clear(&config);
    folder_remove(&f);
}

TEST(an_include_that_leads_nowhere_or_back_is_refused)
{
    folder    f;
    fb_config config;
    char      name[32], text[64];
    folder_make(&f);
    folder_write(&f, "missing.yml", "include: [none.yml]\n");
    folder_write(&f, "self.yml", "include: ['*.yml']\n");
    folder_write(&f, "kind.yml", "include: [{a: 1}]\n");
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "deep%d.conf", i);
        snprintf(text, sizeof text, "include: [deep%d.conf]\n", i + 1);
        folder_write(&f, name, i < 11 ? text : "a: 1\n");
    }
    static const char *const wanted[][2] = {{"missing.yml", "there is no file "},
                                            {"self.yml", "self.yml includes itself"},
                                            {"kind.yml", "must be a list of file names"},
                                            {"deep0.conf", "nested deeper than 8"}};
    for (size_t i = 0; i < 4; i++) {
        bool is_said = false;
        fb_config_init(&config);
        add(&config, &f, wanted[i][0]);
        for (size_t k = 0; k < config.found.count; k++)
            is_said |= strstr(config.found.list[k]->message, wanted[i][1]) != NULL;
        if (!is_said) check_failed(CHECK_SITE(wanted[i][0]), "lacks: %s", wanted[i][1]);
        fb_config_clear(&config);
    }
    folder_remove(&f);
}

static void set(fb_config *config, const char *assignment)
{
    fb_error err;
    CHECK_CODE(fb_config_set(config, assignment, &err), FB_OK, &err);
}

TEST(set_takes_yaml_and_makes_maps_on_the_way)
{
    fb_config config;
    fb_config_init(&config);
    set(&config, "a.b.c=value");
    set(&config, "a.b.d=[1, 2]");
    set(&config, "a.\"x.y\".z={k: v=w}");
    set(&config, "a.b.c=");
    CHECK(config.found.errors == 0);
    CHECK(at(&config, "a", "b", "c")->kind == FB_NODE_NULL);
    CHECK_INT(at(&config, "a", "b", "d")->count, 2);
    CHECK_TEXT(at(&config, "a", "x.y", "z")->first->text, "v=w");
    CHECK_TEXT(at(&config, "a", "b", "d")->place.file->name, "--set");
    CHECK_INT(at(&config, "a", "b", "d")->place.line, 0);
    CHECK_INT(at(&config, "a", "b", "d")->first->place.column, 8);
    fb_config_clear(&config);
}

TEST(set_without_a_key_or_into_a_list_is_refused)
{
    static const char *const bad[] = {"a",      "=1",       ".a=1",   "a.=1",
                                      "a..b=1", "\"a=1",    "a\"b=1", "a b",
                                      "\"\"=1", "\"a\"b=1", NULL};
    for (const char *const *one = bad; *one; one++) {
        fb_config config;
        fb_config_init(&config);
        set(&config, *one);
        CHECK_TEXT(first_message(&config), "--set takes KEY=VALUE");
        fb_config_clear(&config);
    }
    fb_config config;
    fb_config_init(&config);
    set(&config, "a=[1]");
    set(&config, "a.b=2");
    CHECK_TEXT(first_message(&config),
               "\"a\" is a list, which can only be set as a whole");
    fb_config_clear(&config);
}

TEST(a_flag_is_taken_word_for_word)
{
    static const char *const keys[] = {"a", "b.c", NULL};
    fb_config                config;
    fb_error                 err;
    fb_config_init(&config);
    CHECK_CODE(fb_config_put(&config, keys, "${HOME}: [x", "--flag", &err), FB_OK, &err);
    const fb_node *node = at(&config, "a", "b.c", NULL);
    REQUIRE(node != NULL);
    CHECK_TEXT(node->text, "${HOME}: [x");
    CHECK(node->is_verbatim);
    CHECK_TEXT(node->place.file->name, "--flag");
    fb_config_clear(&config);
}

/* Load a file and its include with the nth allocation failing. @return how many failed */
static int load_failing(const char *path, int nth, fb_code *code)
{
    fb_config config;
    fb_error  err;
    fb_config_init(&config);
    fb_alloc_fail_at(nth);
    *code = fb_config_add_file(&config, path, &err);
    if (*code == FB_OK) *code = fb_config_add_file(&config, path, &err);
    if (*code == FB_OK) *code = fb_diagnostics_check(&config.found, &err);
    int failed = fb_alloc_fail_at(0);
    fb_config_clear(&config);
    return failed;
}

TEST(no_allocation_failure_of_a_file_and_its_include_leaks_or_passes)
{
    folder  f;
    char    path[256];
    fb_code code;
    int     nth = 1;
    folder_make(&f);
    folder_write(&f, "main.yml", "include: [sub/one.yml]\na: {x: 1, y: '${HOME}'}\n");
    folder_write(&f, "sub/one.yml", "a: {z: 2}\nb: [1, 2]\n");
    snprintf(path, sizeof path, "%s/main.yml", f.path);
    for (; load_failing(path, nth, &code) > 0; nth++)
        if (code != FB_EMEMORY)
            check_failed(CHECK_SITE("allocation"), "%d failed and the code is %d", nth,
                         (int)code);
    CHECK(nth > 6);
    CHECK_INT(code, FB_OK);
    folder_remove(&f);
}

TEST(a_hundred_thousand_settings_are_merged_at_once)
{
    fb_config config;
    fb_error  err;
    char     *text = malloc(1 << 20);
    REQUIRE(text != NULL);
    fb_config_init(&config);
    for (int layer = 0; layer < 2; layer++) {
        size_t used = 0;
        for (int i = 0; i < 49000; i++)
            used +=
                (size_t)snprintf(text + used, (1 << 20) - used, "k%d_%d: 1\n", layer, i);
        CHECK_CODE(fb_config_add_text(&config, "f", text, used, &err), FB_OK, &err);
    }
    CHECK(config.found.errors == 0);
    CHECK_INT(config.root->count, 98000);
    fb_config_clear(&config);
    free(text);
}
