/* yaml.c - the events of libfyaml become nodes.
 *
 * The way of a file: check_text() looks at its bytes, because libfyaml takes what is not
 * UTF-8 for the end of the file; then each event goes through on_event().  `frames` is
 * the way from the root to the node under work; a map's frame keeps the key until its
 * value comes.
 *
 * What holds: every node that is made is counted, copies for aliases too; no frame is
 * deeper than FB_MAX_CONFIG_DEPTH, so that all recursion over a tree is bounded.
 */
#include "config/yaml.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "base/text.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ANCHORS = 1000 };

typedef struct anchor {
    const char    *name;
    fb_node       *node;
    struct anchor *before;
} anchor;

typedef struct frame {
    fb_node    *node;
    const char *key; // of a map: waits for its value
    fb_place    key_place;
} frame;

typedef struct reader {
    fb_tree              *tree;
    const fb_config_file *file;
    frame                 frames[FB_MAX_CONFIG_DEPTH];
    int                   depth;
    anchor               *anchors; // the latest first
    int                   anchors_count, documents;
    fb_node              *root;
    fb_place              at; // of the event under work
} reader;

fb_code fb_node_new(fb_tree *tree, fb_node_kind kind, fb_place place, fb_node **out,
                    fb_error *err)
{
    if (tree->nodes >= FB_MAX_CONFIG_NODES)
        return fb_fail(err, C102, "the configuration has more than %d values",
                       FB_MAX_CONFIG_NODES);
    fb_node *node = fb_arena_alloc(tree->arena, sizeof *node);
    if (!node) return fb_fail_memory(err, "the configuration");
    tree->nodes++;
    node->kind = kind;
    node->place = place;
    *out = node;
    return FB_OK;
}

void fb_node_append(fb_node *parent, fb_node *child)
{
    child->next = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

const fb_node *fb_node_find(const fb_node *map, const char *name)
{
    if (!map || map->kind != FB_NODE_MAP) return NULL;
    for (const fb_node *child = map->first; child; child = child->next)
        if (strcmp(child->name, name) == 0) return child;
    return NULL;
}

static int compare_nodes(const void *left, const void *right)
{
    const fb_node *a = *(fb_node *const *)left, *b = *(fb_node *const *)right;
    int            order = strcmp(a->name, b->name);
    if (order != 0) return order;
    if (a->name_place.line != b->name_place.line)
        return a->name_place.line < b->name_place.line ? -1 : 1;
    return a->name_place.column < b->name_place.column ? -1 : 1;
}

fb_code fb_node_sort(const fb_node *map, fb_node ***out, fb_error *err)
{
    size_t    count = 0;
    fb_node **list = fb_alloc(map->count * sizeof(fb_node *));
    if (!list) return fb_fail_memory(err, "the configuration");
    for (fb_node *child = map->first; child; child = child->next) list[count++] = child;
    qsort(list, count, sizeof(fb_node *), compare_nodes);
    *out = list;
    return FB_OK;
}

bool fb_node_has(const fb_node *map, const char *name)
{
    const fb_node *child = fb_node_find(map, name);
    return child && child->kind != FB_NODE_NULL;
}

fb_place fb_node_place(const fb_node *map, const char *name)
{
    const fb_node *child = fb_node_find(map, name);
    return child ? child->place : fb_node_name_place(map, name);
}

fb_place fb_node_name_place(const fb_node *map, const char *name)
{
    const fb_node *child = fb_node_find(map, name);
    if (child) return child->name_place;
    if (!map) return (fb_place){0};
    return map->name ? map->name_place : map->place;
}

/* Refuse what YAML does not allow in a text, and name its place. */
static fb_code check_text(const fb_config_file *file, fb_place *at, fb_error *err)
{
    const char *text = file->text;
    *at = (fb_place){.file = file, .line = 1, .column = 1};
    if (file->size > FB_MAX_CONFIG_BYTES)
        return fb_fail(err, C102, "the file is larger than 1 MiB");
    at->length = 1;
    for (size_t i = 0, length; i < file->size; i += length) {
        unsigned char c = (unsigned char)text[i];
        length = fb_utf8_length(text + i, file->size - i);
        if (length == 0)
            return fb_fail(err, C100, "the byte 0x%02X here is not UTF-8", c);
        if ((c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f)
            return fb_fail(err, C100, "the control character 0x%02X cannot stand in YAML",
                           c);
        at->column++;
        if (c != '\n') continue;
        at->line++;
        at->column = 1;
    }
    return FB_OK;
}

static fb_place place_of(const reader *r, const struct fy_mark *from,
                         const struct fy_mark *to)
{
    fb_place place = r->at;
    if (!from || !to || from->line < 0) return place;
    place.line = from->line + 1;
    place.column = from->column + 1;
    place.more_lines = to->line - from->line;
    place.length = place.more_lines ? 1 : to->column - from->column;
    if (place.length < 1) place.length = 1;
    return place;
}

/* The text of a token, copied. */
static fb_code copy_text(reader *r, struct fy_token *token, const char **out,
                         fb_error *err)
{
    size_t      size = 0;
    const char *text = token ? fy_token_get_text(token, &size) : "";
    if (!text) return fb_fail_memory(err, "the configuration");
    if (memchr(text, '\0', size)) return fb_fail(err, C100, "a text cannot hold a NUL");
    *out = fb_arena_strndup(r->tree->arena, text, size);
    return *out ? FB_OK : fb_fail_memory(err, "the configuration");
}

static bool is_null_text(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    for (const char *const *null = nulls; *null; null++)
        if (strcmp(text, *null) == 0) return true;
    return false;
}

/* Refuse tags but those of plain values. `!!str` makes a text of what looks like null. */
static fb_code check_tag(reader *r, struct fy_event *event, bool *is_text, fb_error *err)
{
    static const char *const plain[] = {"str",  "int", "float", "bool",
                                        "null", "map", "seq"};
    static const char        core[] = "tag:yaml.org,2002:";
    const char              *tag;
    struct fy_token         *token = fy_event_get_tag_token(event);
    fb_code                  code = FB_OK;
    if (!token) return FB_OK;
    FB_TRY(copy_text(r, token, &tag, err));
    *is_text = strcmp(tag, "!") == 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        bool is_core = strncmp(tag, core, sizeof core - 1) == 0;
        if (!is_core || strcmp(tag + sizeof core - 1, plain[i]) != 0) continue;
        *is_text = i == 0;
        return FB_OK;
    }
    if (!*is_text)
        code = fb_fail(err, C108,
                       "the tag %s makes an object; only plain values are read", tag);
out:
    return code;
}

static fb_code add_anchor(reader *r, struct fy_event *event, fb_node *node, fb_error *err)
{
    fb_code          code = FB_OK;
    struct fy_token *token = fy_event_get_anchor_token(event);
    if (!token) return FB_OK;
    if (++r->anchors_count > MAX_ANCHORS)
        return fb_fail(err, C102, "the file has more than %d anchors", MAX_ANCHORS);
    anchor *new = fb_arena_alloc(r->tree->arena, sizeof *new);
    if (!new) return fb_fail_memory(err, "the configuration");
    FB_TRY(copy_text(r, token, &new->name, err));
    new->node = node;
    new->before = r->anchors;
    r->anchors = new;
out:
    return code;
}

/* Hang a finished or opened node where it belongs. */
static void attach(reader *r, fb_node *node)
{
    if (r->depth == 0) {
        r->root = node;
        return;
    }
    frame *parent = &r->frames[r->depth - 1];
    if (parent->node->kind == FB_NODE_MAP) {
        node->name = parent->key;
        node->name_place = parent->key_place;
        if (node->kind == FB_NODE_NULL) node->place = parent->key_place;
        parent->key = NULL;
    }
    fb_node_append(parent->node, node);
}

static bool awaits_key(const reader *r)
{
    const frame *top = r->depth ? &r->frames[r->depth - 1] : NULL;
    return top && top->node->kind == FB_NODE_MAP && !top->key;
}

static fb_code on_scalar(reader *r, struct fy_event *event, fb_error *err)
{
    fb_code          code = FB_OK;
    const char      *text;
    fb_node         *node;
    bool             is_text = false;
    struct fy_token *token = fy_event_get_token(event);
    FB_TRY(copy_text(r, token, &text, err));
    FB_TRY(check_tag(r, event, &is_text, err));
    if (awaits_key(r)) {
        if (fy_event_get_anchor_token(event))
            return fb_fail(err, C108,
                           "an anchor stands before a value, not before a key");
        r->frames[r->depth - 1].key = text;
        r->frames[r->depth - 1].key_place = r->at;
        return FB_OK;
    }
    bool is_plain = !token || fy_token_scalar_style(token) == FYSS_PLAIN;
    bool is_null = is_plain && !is_text && is_null_text(text);
    FB_TRY(
        fb_node_new(r->tree, is_null ? FB_NODE_NULL : FB_NODE_SCALAR, r->at, &node, err));
    if (!is_null) node->text = text;
    FB_TRY(add_anchor(r, event, node, err));
    attach(r, node);
out:
    return code;
}

static fb_code on_start(reader *r, struct fy_event *event, fb_node_kind kind,
                        fb_error *err)
{
    fb_code  code = FB_OK;
    fb_node *node;
    bool     is_text = false;
    if (awaits_key(r)) return fb_fail(err, C108, "a key must be a plain text");
    if (r->depth == FB_MAX_CONFIG_DEPTH)
        return fb_fail(err, C102, "the file is nested deeper than %d levels",
                       FB_MAX_CONFIG_DEPTH);
    FB_TRY(check_tag(r, event, &is_text, err));
    FB_TRY(fb_node_new(r->tree, kind, r->at, &node, err));
    FB_TRY(add_anchor(r, event, node, err));
    attach(r, node);
    r->frames[r->depth++] = (frame){.node = node};
out:
    return code;
}

/* Copy what an alias stands for; the copy keeps the places of the original. */
static fb_code copy_node(reader *r, const fb_node *from, int depth, fb_node **out,
                         fb_error *err)
{
    fb_code  code = FB_OK;
    fb_node *child;
    if (depth > FB_MAX_CONFIG_DEPTH)
        return fb_fail(err, C102, "the file is nested deeper than %d levels",
                       FB_MAX_CONFIG_DEPTH);
    FB_TRY(fb_node_new(r->tree, from->kind, from->place, out, err));
    (*out)->text = from->text;
    (*out)->name = from->name;
    (*out)->name_place = from->name_place;
    for (const fb_node *it = from->first; it; it = it->next) {
        FB_TRY(copy_node(r, it, depth + 1, &child, err));
        fb_node_append(*out, child);
    }
out:
    return code;
}

static fb_code on_alias(reader *r, struct fy_event *event, fb_error *err)
{
    fb_code     code = FB_OK;
    const char *name;
    fb_node    *copy;
    if (awaits_key(r)) return fb_fail(err, C108, "a key must be a plain text");
    FB_TRY(copy_text(r, fy_event_get_token(event), &name, err));
    anchor *it = r->anchors;
    while (it && strcmp(it->name, name) != 0) it = it->before;
    if (!it) return fb_fail(err, C100, "there is no anchor &%s above this alias", name);
    for (int i = 0; i < r->depth; i++)
        if (r->frames[i].node == it->node)
            return fb_fail(err, C102, "the alias *%s stands inside what it stands for",
                           name);
    FB_TRY(copy_node(r, it->node, r->depth + 1, &copy, err));
    attach(r, copy);
out:
    return code;
}

/* Note every key that a map has twice; the first one counts. */
static fb_code check_duplicates(reader *r, const fb_node *map, fb_error *err)
{
    fb_code   code = FB_OK;
    fb_node **keys;
    if (map->count < 2) return FB_OK;
    FB_TRY(fb_node_sort(map, &keys, err));
    for (size_t i = 1; i < map->count; i++)
        if (strcmp(keys[i]->name, keys[i - 1]->name) == 0)
            fb_diagnose(r->tree->found, FB_R_C103, keys[i]->name_place,
                        "key \"%s\" stands twice in this map, first on line %d",
                        keys[i]->name, keys[i - 1]->name_place.line);
    fb_free(keys);
out:
    return code;
}

static fb_code on_event(reader *r, struct fy_event *event, fb_error *err)
{
    r->at = place_of(r, fy_event_start_mark(event), fy_event_end_mark(event));
    switch (event->type) {
    case FYET_SCALAR: return on_scalar(r, event, err);
    case FYET_MAPPING_START: return on_start(r, event, FB_NODE_MAP, err);
    case FYET_SEQUENCE_START: return on_start(r, event, FB_NODE_LIST, err);
    case FYET_ALIAS: return on_alias(r, event, err);
    case FYET_MAPPING_END: return check_duplicates(r, r->frames[--r->depth].node, err);
    case FYET_SEQUENCE_END: r->depth--; return FB_OK;
    case FYET_DOCUMENT_START:
        if (++r->documents > 1)
            return fb_fail(err, C108,
                           "the file holds a second document; write one a file");
        return FB_OK;
    case FYET_STREAM_END:
        if (fy_event_start_mark(event)->input_pos < r->file->size)
            return fb_fail(err, C100, "the file cannot be read as YAML from here on");
        return FB_OK;
    default: return FB_OK;
    }
}

static void mute(struct fy_diag *diag, void *user, const char *text, size_t size)
{
    (void)diag, (void)user, (void)text, (void)size;
}

/* Say what libfyaml found wrong, in its words behind ours. */
static fb_code fail_syntax(reader *r, struct fy_diag *diag, fb_error *err)
{
    void                 *more = NULL;
    struct fy_diag_error *it = fy_diag_errors_iterate(diag, &more);
    if (!it) return fb_fail(err, C100, "this cannot be read as YAML");
    r->at = (fb_place){r->file, it->line, it->column, 1, 0};
    fb_error_set(err, FB_R_C100, "this cannot be read as YAML: %s", it->msg);
    if (strstr(it->msg, "flow") && strstr(r->file->text, "${"))
        fb_error_hint(err, "inside { } and [ ] write a text with ${NAME} in quotes");
    return FB_ECONFIG;
}

/* Feed all events of the file to on_event(). */
static fb_code read_events(reader *r, struct fy_parser *parser, struct fy_diag *diag,
                           fb_error *err)
{
    fb_code          code = FB_OK;
    struct fy_event *event;
    if (fy_parser_set_string(parser, r->file->text, r->file->size) != 0)
        return fb_fail_memory(err, "the configuration");
    while (code == FB_OK && (event = fy_parser_parse(parser))) {
        code = on_event(r, event, err);
        fy_parser_event_free(parser, event);
    }
    if (code == FB_OK && fy_parser_get_stream_error(parser))
        code = fail_syntax(r, diag, err);
    return code;
}

static fb_code parse(reader *r, fb_error *err)
{
    fb_code             code = FB_OK;
    struct fy_parser   *parser = NULL;
    struct fy_diag_cfg  quiet;
    struct fy_parse_cfg cfg = {.flags = FYPCF_DISABLE_DEPTH_LIMIT};

    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    quiet.output_fn = mute;
    cfg.diag = fy_diag_create(&quiet);
    if (!cfg.diag) return fb_fail_memory(err, "the configuration");
    fy_diag_set_collect_errors(cfg.diag, true);
    parser = fy_parser_create(&cfg);
    code = parser ? read_events(r, parser, cfg.diag, err)
                  : fb_fail_memory(err, "the configuration");
    if (parser) fy_parser_destroy(parser);
    fy_diag_destroy(cfg.diag);
    return code;
}

fb_code fb_yaml_read(fb_tree *tree, const fb_config_file *file, fb_node **out,
                     fb_error *err)
{
    reader r = {.tree = tree, .file = file, .at = {.file = file, .line = 1, .column = 1}};
    fb_code code = check_text(file, &r.at, err);
    *out = NULL;
    r.at = code == FB_OK ? (fb_place){.file = file, .line = 1, .column = 1} : r.at;
    if (code == FB_OK && file->size) code = parse(&r, err);
    if (code == FB_ECONFIG) {
        fb_diagnose_error(tree->found, r.at, err);
        return FB_OK;
    }
    if (code == FB_OK && !r.root)
        code = fb_node_new(tree, FB_NODE_NULL, r.at, &r.root, err);
    if (code == FB_OK) *out = r.root;
    return code;
}
