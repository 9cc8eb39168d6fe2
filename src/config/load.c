/* load.c - layers of files, their includes, and overrides on top.
 *
 * The way of a file: load_file() reads it and all it includes into one layer, in which
 * nothing may stand twice; merge() lays the layer over what earlier files said.
 */
#include "config/load.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "config/expand.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARENA_BYTES = 64 << 20, // 100,000 nodes and the texts of their files fit well
    MAX_INCLUDES = 8,       // how deep they nest
    MAX_FILES = 1000,
};

/* The files that include each other down to the one being read. */
typedef struct chain {
    const char         *name;
    char                real[PATH_MAX];
    const struct chain *above;
    int                 depth;
} chain;

void fb_config_init(fb_config *config)
{
    *config = (fb_config){0};
    fb_arena_init(&config->arena, ARENA_BYTES);
    fb_diagnostics_init(&config->found);
    config->tree = (fb_tree){&config->arena, &config->found, 0};
}

void fb_config_clear(fb_config *config)
{
    for (fb_config_file *file = config->files; file; file = file->next) {
        explicit_bzero(file->text, file->size);
        fb_free(file->text);
    }
    config->files = NULL;
    config->root = NULL;
    fb_diagnostics_clear(&config->found);
    fb_arena_clear(&config->arena);
}

/* Keep `text` (owned from here on, also by a failure) under `name`. */
static fb_code keep_file(fb_config *config, const char *name, char *text, size_t size,
                         fb_config_file **out, fb_error *err)
{
    fb_config_file **last = &config->files;
    fb_config_file  *file = fb_arena_alloc(&config->arena, sizeof *file);
    const char      *copy = fb_arena_strndup(&config->arena, name, strlen(name));
    if (!file || !copy || !text) {
        fb_free(text);
        return fb_fail_memory(err, "the configuration");
    }
    *file = (fb_config_file){.name = copy, .text = text, .size = size};
    for (; *last; last = &(*last)->next) file->number++;
    *last = *out = file;
    return FB_OK;
}

static void replace(fb_node *into, const fb_node *from)
{
    fb_node *next = into->next;
    *into = *from;
    into->next = next;
}

static void take_out(fb_node *map, fb_node *child)
{
    fb_node *before = NULL;
    for (fb_node *it = map->first; it != child; it = it->next) before = it;
    if (before)
        before->next = child->next;
    else
        map->first = child->next;
    if (map->last == child) map->last = before;
    map->count--;
}

static int compare_name(const void *name, const void *node)
{
    return strcmp(name, (*(fb_node *const *)node)->name);
}

static void note_conflict(fb_config *config, const fb_node *child, const fb_node *known)
{
    fb_diagnose(&config->found, FB_R_C103, child->name_place,
                "key \"%s\" stands in %s:%d too", child->name,
                known->name_place.file->name, known->name_place.line);
    fb_diagnose_hint(&config->found, "files that include each other are one layer; to "
                                     "override a setting, give both with -c");
}

/* Lay `above` over `below`; its nodes move.  With `is_one_layer`, a setting in both is a
 * fault. */
static fb_code merge(fb_config *config, fb_node *below, fb_node *above, bool is_one_layer,
                     fb_error *err)
{
    fb_code   code = FB_OK;
    size_t    count = below->count;
    fb_node **sorted;
    FB_TRY(fb_node_sort(below, &sorted, err));
    for (fb_node *child = above->first, *next; child && code == FB_OK; child = next) {
        fb_node **at = bsearch(child->name, sorted, count, sizeof *sorted, compare_name);
        fb_node  *known = at ? *at : NULL;
        next = child->next;
        if (is_one_layer && child->kind == FB_NODE_NULL) continue;
        if (!known)
            fb_node_append(below, child);
        else if (known->kind == FB_NODE_MAP && child->kind == FB_NODE_MAP)
            code = merge(config, known, child, is_one_layer, err);
        else if (is_one_layer && known->kind != FB_NODE_NULL)
            note_conflict(config, child, known);
        else
            replace(known, child);
    }
    fb_free(sorted);
out:
    return code;
}

static fb_code load_file(fb_config *config, const char *path, fb_place asked,
                         const chain *above, fb_node **out, fb_error *err);

/* Load every file that `pattern` matches into `layer`. */
static fb_code include_pattern(fb_config *config, fb_place at, const char *pattern,
                               const chain *self, fb_node *layer, fb_error *err)
{
    fb_code     code = FB_OK;
    glob_t      matches = {0};
    char        full[PATH_MAX];
    fb_node    *part;
    const char *slash = strrchr(self->name, '/');
    int         folder = pattern[0] == '/' || !slash ? 0 : (int)(slash - self->name) + 1;
    if (snprintf(full, sizeof full, "%.*s%s", folder, self->name, pattern) >=
        (int)sizeof full)
        return fb_fail(err, M002, "a path is longer than %d bytes", PATH_MAX - 1);
    int failed = glob(full, 0, NULL, &matches);
    if (failed == GLOB_NOSPACE)
        code = fb_fail_memory(err, "the configuration");
    else if (failed && !strpbrk(pattern, "*?["))
        fb_diagnose(&config->found, FB_R_C124, at, "there is no file %s to include",
                    full);
    for (size_t i = 0; !failed && i < matches.gl_pathc; i++) {
        FB_TRY(load_file(config, matches.gl_pathv[i], at, self, &part, err));
        if (part) FB_TRY(merge(config, layer, part, true, err));
    }
out:
    globfree(&matches);
    return code;
}

/* Take `include` out of `map` and load what it names; the result is in `map`. */
static fb_code follow_includes(fb_config *config, fb_node *map, const chain *self,
                               fb_error *err)
{
    fb_code     code = FB_OK;
    const char *pattern;
    fb_node    *include = (fb_node *)fb_node_find(map, "include");
    if (!include || include->kind == FB_NODE_NULL) return FB_OK;
    const fb_node *item = include->kind == FB_NODE_LIST ? include->first : include;
    for (; item; item = include->kind == FB_NODE_LIST ? item->next : NULL) {
        if (item->kind != FB_NODE_SCALAR) {
            fb_diagnose(&config->found, FB_R_C107, item->place,
                        "\"include\" must be a list of file names");
            continue;
        }
        FB_TRY(fb_expand(item, &config->arena, &config->found, &pattern, err));
        if (pattern)
            FB_TRY(include_pattern(config, item->place, pattern, self, map, err));
    }
    take_out(map, include);
out:
    return code;
}

/* May `path`, asked for at `asked`, be read now?  Fills `self`. */
static bool may_load(fb_config *config, const char *path, fb_place asked, chain *self)
{
    if (!realpath(path, self->real)) self->real[0] = '\0'; // reading it will say why
    if (self->depth > MAX_INCLUDES) {
        fb_diagnose(&config->found, FB_R_C124, asked,
                    "includes are nested deeper than %d", MAX_INCLUDES);
        return false;
    }
    for (const chain *it = self->above; it; it = it->above) {
        if (strcmp(it->real, self->real) != 0) continue;
        fb_diagnose(&config->found, FB_R_C124, asked, "%s includes itself", it->name);
        return false;
    }
    if (++config->files_count <= MAX_FILES) return true;
    fb_diagnose(&config->found, FB_R_C102, asked,
                "the configuration has more than %d files", MAX_FILES);
    return false;
}

/* Read the bytes of `path`. A fault is noted and leaves `*out` NULL. */
static fb_code read_file(fb_config *config, const char *path, fb_place asked,
                         fb_config_file **out, fb_error *err)
{
    fb_buf  text;
    fb_code code;
    *out = NULL;
    fb_buf_init(&text, FB_MAX_CONFIG_BYTES + 1);
    code = fb_file_read_tail(path, FB_MAX_CONFIG_BYTES + 1, &text, err);
    if (code == FB_OK) {
        fb_buf_add(&text, "", 0); // an empty file has a text as well
        code = fb_buf_check(&text, path, err);
    }
    if (code == FB_OK) return keep_file(config, path, text.data, text.size, out, err);
    fb_buf_clear(&text);
    if (code == FB_EMEMORY) return code;
    fb_diagnose(&config->found, FB_R_C101, asked, "%s", err->what);
    return FB_OK;
}

/* Make a map of what a file holds, nothing included. */
static void check_root(fb_config *config, fb_node **root)
{
    if (!*root) return;
    if ((*root)->kind == FB_NODE_NULL) (*root)->kind = FB_NODE_MAP;
    if ((*root)->kind == FB_NODE_MAP) return;
    fb_diagnose(&config->found, FB_R_C107, (*root)->place,
                "the file must be a map of keys");
    *root = NULL;
}

static fb_code load_file(fb_config *config, const char *path, fb_place asked,
                         const chain *above, fb_node **out, fb_error *err)
{
    fb_code         code = FB_OK;
    fb_config_file *file;
    chain self = {.name = path, .above = above, .depth = above ? above->depth + 1 : 0};
    *out = NULL;
    if (!may_load(config, path, asked, &self)) goto out;
    FB_TRY(read_file(config, path, asked, &file, err));
    if (!file) goto out;
    FB_TRY(fb_yaml_read(&config->tree, file, out, err));
    check_root(config, out);
    if (*out) FB_TRY(follow_includes(config, *out, &self, err));
out:
    if (!*out) config->is_incomplete = true;
    return code;
}

static fb_code lay_over(fb_config *config, fb_node *layer, fb_error *err)
{
    if (layer && config->root) return merge(config, config->root, layer, false, err);
    if (layer) config->root = layer;
    return FB_OK;
}

fb_code fb_config_add_file(fb_config *config, const char *path, fb_error *err)
{
    fb_node *layer;
    fb_code  code = load_file(config, path, (fb_place){0}, NULL, &layer, err);
    return code == FB_OK ? lay_over(config, layer, err) : code;
}

fb_code fb_config_add_text(fb_config *config, const char *name, const char *text,
                           size_t size, fb_error *err)
{
    fb_code         code = FB_OK;
    fb_node        *layer;
    fb_config_file *file;
    FB_TRY(keep_file(config, name, fb_strndup(text, size), size, &file, err));
    FB_TRY(fb_yaml_read(&config->tree, file, &layer, err));
    check_root(config, &layer);
    config->is_incomplete |= !layer;
    code = lay_over(config, layer, err);
out:
    return code;
}

/* One part of a path of keys, and where it stands. */
typedef struct step {
    const char *name;
    fb_place    place;
} step;

/* Hang a copy of `value` at the end of the path, making maps on the way. */
static fb_code assign(fb_config *config, const step *steps, size_t count,
                      const fb_node *value, fb_error *err)
{
    fb_code  code = FB_OK;
    fb_node *at;
    if (!config->root)
        FB_TRY(
            fb_node_new(&config->tree, FB_NODE_MAP, steps[0].place, &config->root, err));
    at = config->root;
    for (size_t i = 0; i < count; i++) {
        bool     is_last = i + 1 == count;
        fb_node *child = (fb_node *)fb_node_find(at, steps[i].name);
        if (child && !is_last && child->kind == FB_NODE_LIST) {
            fb_diagnose(&config->found, FB_R_C119, steps[i].place,
                        "\"%s\" is a list, which can only be set as a whole",
                        child->name);
            return FB_OK;
        }
        if (!child) {
            FB_TRY(fb_node_new(&config->tree, FB_NODE_MAP, steps[i].place, &child, err));
            fb_node_append(at, child);
        }
        if (is_last)
            replace(child, value);
        else if (child->kind != FB_NODE_MAP)
            replace(child, &(fb_node){.kind = FB_NODE_MAP, .place = steps[i].place});
        if (is_last || !child->name) {
            child->name = steps[i].name;
            child->name_place = steps[i].place;
        }
        at = child;
    }
out:
    return code;
}

fb_code fb_config_put(fb_config *config, const char *const *keys, const char *value,
                      const char *flag, fb_error *err)
{
    fb_code         code = FB_OK;
    step            steps[FB_MAX_CONFIG_DEPTH - 1];
    size_t          count = 0;
    fb_config_file *file;
    fb_node         node = {.kind = FB_NODE_SCALAR, .is_verbatim = true};

    FB_TRY(keep_file(config, flag, fb_strdup(""), 0, &file, err));
    node.place = (fb_place){.file = file};
    node.text = fb_arena_strndup(&config->arena, value, strlen(value));
    for (; keys[count]; count++) {
        fb_assert(count < sizeof steps / sizeof *steps);
        steps[count].name =
            fb_arena_strndup(&config->arena, keys[count], strlen(keys[count]));
        steps[count].place = node.place;
        if (!steps[count].name) return fb_fail_memory(err, "the configuration");
    }
    if (!node.text) return fb_fail_memory(err, "the configuration");
    code = assign(config, steps, count, &node, err);
out:
    return code;
}

/* Cut `pipelines."a.b".source` up into its parts, in place.
 * @return how many; 0 when it has not this form */
static size_t cut_path(char *path, const fb_config_file *file, step *steps, size_t most)
{
    size_t count = 0;
    for (char *at = path;;) {
        char *start = at, *end;
        bool  is_quoted = *at == '"';
        if (is_quoted) start = at + 1;
        end = is_quoted ? strchr(start, '"') : start + strcspn(start, ".\"");
        if (!end || end == start || count == most) return 0;
        at = is_quoted ? end + 1 : end;
        if (*at != '.' && *at != '\0') return 0;
        bool is_last = *at == '\0';
        *end = '\0';
        steps[count].name = start;
        steps[count++].place =
            (fb_place){file, 0, (int)(start - path) + 1, (int)(end - start), 0};
        if (is_last) return count;
        at++;
    }
}

/* Where the key of KEY=VALUE ends: at the first = outside of quotes. */
static size_t find_equals(const char *assignment)
{
    bool is_quoted = false;
    for (size_t i = 0; assignment[i]; i++) {
        if (assignment[i] == '"') is_quoted = !is_quoted;
        if (assignment[i] == '=' && !is_quoted) return i;
    }
    return 0;
}

/* Nodes that were read from a part of a flag get the place they have in the whole. */
static void move_places(fb_node *node, const fb_config_file *file, int by)
{
    fb_place *places[] = {&node->place, &node->name_place};
    for (size_t i = 0; i < 2; i++) {
        fb_place *place = places[i];
        bool      is_shown = place->line == 1 && !place->more_lines;
        *place = is_shown ? (fb_place){file, 0, place->column + by, place->length, 0}
                          : (fb_place){.file = file};
    }
    for (fb_node *child = node->first; child; child = child->next)
        move_places(child, file, by);
}

fb_code fb_config_set(fb_config *config, const char *assignment, fb_error *err)
{
    fb_code     code = FB_OK;
    step        steps[16];
    size_t      size = strlen(assignment), equals = find_equals(assignment), count = 0;
    const char *value = assignment + equals + 1;
    fb_config_file *whole, *part;
    fb_node        *node;

    FB_TRY(keep_file(config, "--set", fb_strdup(assignment), size, &whole, err));
    char *path = fb_arena_strndup(&config->arena, assignment, equals);
    if (!path) return fb_fail_memory(err, "the configuration");
    if (equals) count = cut_path(path, whole, steps, sizeof steps / sizeof *steps);
    if (count == 0) {
        fb_diagnose(&config->found, FB_R_C119, (fb_place){whole, 0, 1, (int)equals, 0},
                    "--set takes KEY=VALUE");
        fb_diagnose_hint(&config->found, "for example --set "
                                         "pipelines.orders.source.max_messages=100");
        return FB_OK;
    }
    FB_TRY(keep_file(config, "--set", fb_strdup(value), size - equals - 1, &part, err));
    FB_TRY(fb_yaml_read(&config->tree, part, &node, err));
    if (!node) return FB_OK;
    move_places(node, whole, (int)equals + 1);
    code = assign(config, steps, count, node, err);
out:
    return code;
}
