/* option.c - a map of the tree becomes a module's struct.
 *
 * The way of a key: find_row() finds its row, read_value() turns its node into the
 * field's type, the row's bounds are held; when all keys are read, missing ones are noted
 * and the set's own rules run.  Faults go to reader->found and reading goes on, so that
 * one pass finds them all; the codes returned here speak of memory only.
 */
#include "config/option.h"

#include "base/limits.h"
#include "base/text.h"
#include "config/expand.h"

#include <inttypes.h>
#include <string.h>

enum {
    SHOWN_BYTES = 100, // of a value in a message
    MAX_NAME_BYTES = 200,
    CHOICES_BYTES = 300,
};

/* One scalar on its way into a field. */
typedef struct value {
    const fb_option *row;
    const char      *text; // variables replaced
    const fb_node   *node; // of a default: nowhere
    void            *field;
} value;

typedef struct unit {
    const char *name;
    int64_t     factor;
} unit;

static const unit durations[] = {
    {"ms", 1},          {"s", 1000},       {"min", 60000},     {"h", 3600000},
    {"d", 86400000},    {"second", 1000},  {"seconds", 1000},  {"minute", 60000},
    {"minutes", 60000}, {"hour", 3600000}, {"hours", 3600000}, {"day", 86400000},
    {"days", 86400000}, {NULL, 0}};
static const unit sizes[] = {{"B", 1},         {"kB", 1 << 10},  {"KB", 1 << 10},
                             {"MB", 1 << 20},  {"GB", 1 << 30},  {"KiB", 1 << 10},
                             {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};

/* A value as it may stand in a message: one line, not long, variables not replaced. */
static const char *show(const value *v, char out[SHOWN_BYTES + 8])
{
    const char *text = v->node->text;
    size_t      size = strlen(text), used = 0;
    for (size_t length; used < size && used + 4 < SHOWN_BYTES; used += length) {
        length = fb_utf8_length(text + used, size - used);
        if (length == 0) length = 1;
        memcpy(out + used, text + used, length);
        if ((unsigned char)out[used] < ' ') out[used] = ' ';
    }
    snprintf(out + used, 4, "%s", used < size ? "..." : "");
    return out;
}

/* "warn, reject or abort" */
static const char *show_choices(const char *const *choices, char out[CHOICES_BYTES])
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; choices[i] && used < CHOICES_BYTES; i++) {
        const char *before = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
        int n = snprintf(out + used, CHOICES_BYTES - used, "%s%s", before, choices[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return out;
}

static void set_choice(fb_reader *reader, const value *v)
{
    char       known[CHOICES_BYTES], shown[SHOWN_BYTES + 8];
    fb_nearest near;
    fb_nearest_init(&near, v->text);
    for (int i = 0; v->row->choices[i]; i++) {
        const char *choice = v->row->choices[i];
        if (strcmp(choice, v->text) == 0) {
            if (v->row->type == FB_OPT_FLAGS)
                *(unsigned *)v->field |= 1u << i;
            else
                *(int *)v->field = i;
            return;
        }
        if (fb_text_equal_nocase(choice, v->text))
            near = (fb_nearest){v->text, choice, 0};
        fb_nearest_offer(&near, choice);
    }
    show_choices(v->row->choices, known);
    for (int i = 0; v->row->later && v->row->later[i]; i++) {
        if (strcmp(v->row->later[i], v->text) != 0) continue;
        fb_diagnose(reader->found, FB_R_C111, v->node->place,
                    "\"%s\" must be %s in this version, not \"%s\"", v->row->name, known,
                    show(v, shown));
        return;
    }
    fb_diagnose(reader->found, FB_R_C110, v->node->place, "\"%s\" must be %s, not \"%s\"",
                v->row->name, known, show(v, shown));
    if (!fb_expand_is_needed(v->node)) fb_diagnose_suggest(reader->found, near.best);
}

static void set_bool(fb_reader *reader, const value *v)
{
    char shown[SHOWN_BYTES + 8];
    bool is_true = strcmp(v->text, "true") == 0;
    if (!is_true && strcmp(v->text, "false") != 0) {
        fb_diagnose(reader->found, FB_R_C112, v->node->place,
                    "\"%s\" must be true or false, not \"%s\"", v->row->name,
                    show(v, shown));
        return;
    }
    *(bool *)v->field = is_true;
}

/* "30s" or "10 seconds" into its base unit. */
static bool parse_measure(const char *text, const unit *units, int64_t *out)
{
    char   digits[24];
    size_t size = strspn(text, "0123456789");
    if (size == 0 || size >= sizeof digits) return false;
    memcpy(digits, text, size);
    digits[size] = '\0';
    text += size;
    if (*text == ' ') text++;
    for (const unit *u = units; u->name; u++)
        if (strcmp(text, u->name) == 0)
            return fb_text_int64(digits, out) &&
                   !__builtin_mul_overflow(*out, u->factor, out);
    return false;
}

const char *fb_option_show_number(const fb_option *row, int64_t n, char out[32])
{
    const unit *units = row->type == FB_OPT_DURATION ? durations
                        : row->type == FB_OPT_BYTES  ? sizes
                                                     : NULL;
    const unit *best = units;
    for (const unit *u = units; u && u->name; u++)
        if (n % u->factor == 0 && u->factor > best->factor) best = u;
    snprintf(out, 32, "%" PRId64 "%s", best ? n / best->factor : n,
             best ? best->name : "");
    return out;
}

static void set_number(fb_reader *reader, const value *v)
{
    const fb_option *row = v->row;
    int64_t          n = 0;
    char             low[32], high[32], shown[SHOWN_BYTES + 8];
    const char      *what = "a whole number", *units = NULL;
    bool             is_good;

    if (row->type == FB_OPT_COUNT) {
        is_good = fb_text_int64(v->text, &n);
    } else if (row->type == FB_OPT_DURATION) {
        is_good = parse_measure(v->text, durations, &n);
        what = "a length of time";
        units = "ms, s, min or h";
    } else {
        is_good = parse_measure(v->text, sizes, &n);
        what = "a size";
        units = "B, kB, MB or GB";
    }
    if (!is_good) {
        fb_diagnose(reader->found, FB_R_C112, v->node->place,
                    "\"%s\" must be %s, not \"%s\"", row->name, what, show(v, shown));
        if (units)
            fb_diagnose_hint(reader->found, "write a whole number and %s, for example %s",
                             units, row->example);
    } else if (n < row->min || (row->max && n > row->max)) {
        fb_option_show_number(row, row->min, low);
        if (row->max)
            fb_diagnose(reader->found, FB_R_C113, v->node->place,
                        "\"%s\" must be %s to %s, not %s", row->name, low,
                        fb_option_show_number(row, row->max, high), show(v, shown));
        else
            fb_diagnose(reader->found, FB_R_C113, v->node->place,
                        "\"%s\" must be at least %s, not %s", row->name, low,
                        show(v, shown));
    } else {
        *(int64_t *)v->field = n;
    }
}

/* Put a scalar into its field; faults are noted. */
static void set_scalar(fb_reader *reader, const value *v)
{
    switch (v->row->type) {
    case FB_OPT_TEXT:
        if (*v->text)
            *(const char **)v->field = v->text;
        else
            fb_diagnose(reader->found, FB_R_C114, v->node->place, "\"%s\" is empty",
                        v->row->name);
        return;
    case FB_OPT_BOOL: set_bool(reader, v); return;
    case FB_OPT_CHOICE:
    case FB_OPT_FLAGS: set_choice(reader, v); return;
    default: set_number(reader, v); return;
    }
}

/* Read a reference to a secret; what is no reference is hidden from every message. */
static fb_code read_secret(fb_reader *reader, const char *name, const fb_node *node,
                           fb_secret *out, fb_error *err)
{
    fb_code     code = FB_OK;
    const char *text = node->text;
    FB_TRY(fb_secret_parse(text, reader->arena, out, err));
    if (out->kind != FB_SECRET_ENV) {
        FB_TRY(fb_expand(node, reader->arena, reader->found, &text, err));
        if (!text) {
            *out = (fb_secret){0};
            return FB_OK;
        }
        FB_TRY(fb_secret_parse(text, reader->arena, out, err));
    }
    if (out->kind == FB_SECRET_NONE) {
        fb_diagnose(reader->found, FB_R_C114, node->place,
                    "\"%s\" must be env://NAME or file:///path", name);
    } else if (out->kind == FB_SECRET_LITERAL) {
        fb_diagnostics_hide(reader->found, node->place);
        if (reader->allows_inline_secrets) return FB_OK;
        *out = (fb_secret){0};
        fb_diagnose(reader->found, FB_R_C122, node->place,
                    "\"%s\" holds the secret itself", name);
        fb_diagnose_hint(reader->found,
                         "write where it is kept, env://NAME or file:///path, or "
                         "give --allow-inline-secrets");
    }
out:
    return code;
}

static const char *const kind_words[] = {"nothing", "one value", "a list", "a map"};

/* Has the node the kind it must have?  If not, that is noted. */
static bool check_kind(fb_reader *reader, const char *name, const fb_node *node,
                       fb_node_kind wanted)
{
    if (node->kind == wanted) return true;
    fb_diagnose(reader->found, FB_R_C107, node->place, "\"%s\" must be %s, not %s", name,
                kind_words[wanted], kind_words[node->kind]);
    return false;
}

static fb_code read_one(fb_reader *reader, const fb_option *row, const fb_node *node,
                        void *field, fb_error *err)
{
    fb_code code = FB_OK;
    value   v = {row, NULL, node, field};
    if (!check_kind(reader, row->name, node, FB_NODE_SCALAR)) return FB_OK;
    if (row->type == FB_OPT_SECRET)
        return read_secret(reader, row->name, node, field, err);
    FB_TRY(fb_expand(node, reader->arena, reader->found, &v.text, err));
    bool is_left_out = v.text && !*v.text && fb_expand_is_needed(node);
    if (v.text && (!is_left_out || (row->flags & FB_OPT_REQUIRED)))
        set_scalar(reader, &v);
out:
    return code;
}

/* Room for one item a child, and its count. */
static fb_code make_items(fb_reader *reader, const fb_node *node, size_t size,
                          void *field, size_t *count, fb_error *err)
{
    void *items = fb_arena_alloc(reader->arena, node->count * size);
    if (!items) return fb_fail_memory(err, "the configuration");
    *(void **)field = items;
    *count = node->count;
    return FB_OK;
}

static fb_code read_texts(fb_reader *reader, const fb_option *row, const fb_node *node,
                          void *field, size_t *count, fb_error *err)
{
    fb_code      code = FB_OK;
    fb_option    one = *row;
    const char **texts = NULL;
    if (!check_kind(reader, row->name, node, FB_NODE_LIST)) return FB_OK;
    if (row->type == FB_OPT_TEXTS) {
        one.type = FB_OPT_TEXT;
        one.flags |= FB_OPT_REQUIRED;
        FB_TRY(make_items(reader, node, sizeof *texts, field, count, err));
        texts = *(const char ***)field;
    }
    for (const fb_node *item = node->first; item; item = item->next)
        FB_TRY(read_one(reader, &one, item, texts ? (void *)texts++ : field, err));
out:
    return code;
}

static bool name_matches(const char *pattern, const char *name)
{
    return pattern[0] == '*' ? fb_text_ends_with(name, pattern + 1)
                             : strcmp(pattern, name) == 0;
}

static fb_code read_pair(fb_reader *reader, const fb_option *row, const fb_node *node,
                         fb_pair *out, fb_error *err)
{
    out->node = node;
    out->name = node->name;
    if (!check_kind(reader, node->name, node, FB_NODE_SCALAR)) return FB_OK;
    for (const fb_owned_key *owned = row->owned; owned && owned->name; owned++) {
        if (!name_matches(owned->name, node->name)) continue;
        fb_diagnostics_hide(reader->found, node->place);
        fb_diagnose(reader->found, FB_R_C117, node->name_place,
                    "\"%s\" cannot be set here: %s", node->name, owned->instead);
        return FB_OK;
    }
    for (const char *const *secret = row->secrets; secret && *secret; secret++)
        if (strcmp(*secret, node->name) == 0)
            return read_secret(reader, node->name, node, &out->secret, err);
    return fb_expand(node, reader->arena, reader->found, &out->value, err);
}

static fb_code read_pairs(fb_reader *reader, const fb_option *row, const fb_node *node,
                          void *field, size_t *count, fb_error *err)
{
    fb_code  code = FB_OK;
    fb_pair *pairs;
    if (!check_kind(reader, row->name, node, FB_NODE_MAP)) return FB_OK;
    FB_TRY(make_items(reader, node, sizeof *pairs, field, count, err));
    pairs = *(fb_pair **)field;
    for (const fb_node *item = node->first; item; item = item->next)
        FB_TRY(read_pair(reader, row, item, pairs++, err));
out:
    return code;
}

/* Names become parts of paths and of transaction ids. */
static void check_name(fb_reader *reader, const fb_node *node)
{
    const char *name = node->name, *why = NULL;
    size_t      size = strlen(name);
    if (size == 0 || size > MAX_NAME_BYTES) why = "must have 1 to 200 bytes";
    if (strpbrk(name, "/\\")) why = "cannot have / or \\ in it";
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) why = "cannot be . or ..";
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            why = "cannot have control characters in it";
    if (why) fb_diagnose(reader->found, FB_R_C114, node->name_place, "this name %s", why);
}

static fb_code read_sections(fb_reader *reader, const fb_option *row, const fb_node *node,
                             void *field, size_t *count, fb_error *err)
{
    fb_code code = FB_OK;
    bool    is_map = row->type == FB_OPT_MAP;
    char   *at;
    if (!check_kind(reader, row->name, node, is_map ? FB_NODE_MAP : FB_NODE_LIST))
        return FB_OK;
    FB_TRY(make_items(reader, node, row->section->size, field, count, err));
    at = *(char **)field;
    for (const fb_node *item = node->first; item; item = item->next) {
        if (is_map) check_name(reader, item);
        const char *name = is_map ? item->name : row->section->name;
        bool        is_good = check_kind(reader, name, item, FB_NODE_MAP);
        FB_TRY(fb_options_read(reader, row->section, is_good ? item : NULL, at, err));
        if (is_map) *(const char **)(void *)(at + row->name_offset) = item->name;
        at += row->section->size;
    }
out:
    return code;
}

static fb_code read_value(fb_reader *reader, const fb_option *row, const fb_node *node,
                          char *base, fb_error *err)
{
    void   *field = base + row->offset;
    size_t *count = (size_t *)(void *)(base + row->count_offset);
    switch (row->type) {
    case FB_OPT_RENAMED:
        fb_diagnose(reader->found, FB_R_C105, node->name_place,
                    "the key \"%s\" is called \"%s\" here", row->name, row->fallback);
        return FB_OK;
    case FB_OPT_FLAGS:
    case FB_OPT_TEXTS: return read_texts(reader, row, node, field, count, err);
    case FB_OPT_PAIRS: return read_pairs(reader, row, node, field, count, err);
    case FB_OPT_LIST:
    case FB_OPT_MAP: return read_sections(reader, row, node, field, count, err);
    case FB_OPT_SECTION:
        if (!check_kind(reader, row->name, node, FB_NODE_MAP)) return FB_OK;
        return fb_options_read(reader, row->section, node, field, err);
    default: return read_one(reader, row, node, field, err);
    }
}

/* Find the row of `name`, also among inlined ones; `offset` grows by where the struct
 * that it fills lies.  Names that come near are offered to `near`. */
static const fb_option *find_row(const fb_option_set *set, const char *name,
                                 size_t *offset, fb_nearest *near)
{
    for (const fb_option *row = set->options; row->name; row++) {
        if (row->type == FB_OPT_INLINE) {
            const fb_option *found = find_row(row->section, name, offset, near);
            if (found) *offset += row->offset;
            if (found) return found;
            continue;
        }
        if (strcmp(row->name, name) == 0) return row;
        if (row->type != FB_OPT_RENAMED) fb_nearest_offer(near, row->name);
    }
    return NULL;
}

const fb_option *fb_options_find(const fb_option_set *set, const char *name,
                                 const char **nearest)
{
    size_t     offset = 0;
    fb_nearest near;
    fb_nearest_init(&near, name);
    const fb_option *row = find_row(set, name, &offset, &near);
    if (nearest) *nearest = row ? NULL : near.best;
    return row;
}

/* Note an unknown key, and what was probably meant. */
static void fail_unknown(fb_reader *reader, const fb_option_set *set, const fb_node *node,
                         const char *nearest)
{
    const fb_option *near = nearest ? fb_options_find(set, nearest, NULL) : NULL;
    fb_diagnose(reader->found, FB_R_C104, node->name_place, "unknown key \"%s\"",
                node->name);
    fb_diagnose_suggest(reader->found, nearest);
    if (near && near->type == FB_OPT_SECRET)
        fb_diagnostics_hide(reader->found, node->place);
    for (const fb_option *row = set->options; row->name && !near; row++) {
        if (row->type != FB_OPT_SECTION ||
            !fb_options_find(row->section, node->name, NULL))
            continue;
        fb_diagnose_hint(reader->found, "\"%s\" belongs into \"%s\"", node->name,
                         row->name);
        return;
    }
}

static void note_missing(fb_reader *reader, const fb_option_set *set, const fb_node *map)
{
    for (const fb_option *row = set->options; row->name; row++) {
        if (!(row->flags & FB_OPT_REQUIRED) || fb_node_has(map, row->name)) continue;
        fb_diagnose(reader->found, FB_R_C106, fb_node_name_place(map, row->name),
                    "\"%s\" is missing in \"%s\"", row->name,
                    map->name ? map->name : set->name);
        fb_diagnose_hint(reader->found, "add it, for example `%s: %s`", row->name,
                         row->example);
    }
}

/* Fill `out`, zeroed, with what holds when nothing is said. */
static fb_code set_defaults(fb_reader *reader, const fb_option_set *set,
                            const fb_node *map, char *out, fb_error *err)
{
    fb_code code = FB_OK;
    *(const fb_node **)(void *)out = map;
    for (const fb_option *row = set->options; row->name; row++) {
        void   *field = out + row->offset;
        fb_node node = {.kind = FB_NODE_SCALAR, .text = row->fallback};
        value   v = {row, row->fallback, &node, field};
        switch (row->type) {
        case FB_OPT_COUNT:
        case FB_OPT_DURATION:
        case FB_OPT_BYTES: *(int64_t *)field = FB_UNSET; break;
        case FB_OPT_CHOICE: *(int *)field = FB_UNSET; break;
        case FB_OPT_SECTION:
            FB_TRY(fb_options_read(reader, row->section, NULL, field, err));
            break;
        case FB_OPT_INLINE:
            FB_TRY(set_defaults(reader, row->section, map, field, err));
            break;
        default: break;
        }
        if (row->fallback && row->type != FB_OPT_RENAMED) set_scalar(reader, &v);
    }
out:
    return code;
}

fb_code fb_options_read(fb_reader *reader, const fb_option_set *set, const fb_node *map,
                        void *out, fb_error *err)
{
    fb_code code = FB_OK;
    if (map && map->kind == FB_NODE_NULL) map = NULL;
    memset(out, 0, set->size);
    FB_TRY(set_defaults(reader, set, map, out, err));
    if (!map) return FB_OK;
    for (const fb_node *node = map->first; node; node = node->next) {
        size_t     offset = 0;
        fb_nearest near;
        fb_nearest_init(&near, node->name);
        const fb_option *row = find_row(set, node->name, &offset, &near);
        if (!row)
            fail_unknown(reader, set, node, near.best);
        else if (node->kind != FB_NODE_NULL)
            FB_TRY(read_value(reader, row, node, (char *)out + offset, err));
    }
    note_missing(reader, set, map);
    if (set->check) code = set->check(reader, out, err);
out:
    return code;
}
