/* refusal.c - see refusal.h. */
#include "batch/refusal.h"

#include "base/buf.h"

#include <string.h>

/* Every raw value and every path of a record fits. */
enum { MAX_PATH_BYTES = 2048, MAX_BYTES = FB_MAX_REFUSALS * (FB_MAX_REFUSAL_RAW + MAX_PATH_BYTES) };

static const struct {
    const char *word, *message;
    fb_reason   reason;
} rows[] = {
#define FB_REFUSAL(id, word, reason, message) {word, message, FB_R_##reason},
#include "batch/refusals.def"
#undef FB_REFUSAL
};

const char *fb_refusal_word(fb_refusal_id id) { return rows[id].word; }

fb_reason fb_refusal_reason(fb_refusal_id id) { return rows[id].reason; }

const char *fb_refusal_message(fb_refusal_id id) { return rows[id].message; }

fb_refusal_id fb_refusal_find(const char *word)
{
    int i = 0;
    while (i < FB_REFUSAL_COUNT && strcmp(rows[i].word, word) != 0)
        i++;
    return (fb_refusal_id)i;
}

void fb_refusals_init(fb_refusals *refusals)
{
    refusals->count = 0;
    refusals->is_undecodable = false;
    fb_arena_init(&refusals->arena, MAX_BYTES);
}

void fb_refusals_reset(fb_refusals *refusals)
{
    refusals->is_undecodable = false;
    if (refusals->count == 0) return;
    refusals->count = 0;
    fb_arena_reset(&refusals->arena);
}

void fb_refusals_clear(fb_refusals *refusals)
{
    refusals->count = 0;
    fb_arena_clear(&refusals->arena);
}

/* Can the name stand behind a dot (RFC 9535, section 2.5.1.1)? */
static bool is_plain(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    if (!*name || !strchr(letters, *name)) return false;
    for (name++; *name; name++)
        if (!strchr(letters, *name) && (*name < '0' || *name > '9')) return false;
    return true;
}

/* $.name, or $["a name"]. NULL without memory. */
static const char *path_of(fb_arena *arena, const char *name)
{
    size_t size = strlen(name);
    fb_buf quoted;
    char  *path = NULL;
    if (is_plain(name)) {
        path = fb_arena_alloc(arena, size + 3);
        if (path) memcpy(path, "$.", 2);
        if (path) memcpy(path + 2, name, size);
        return path;
    }
    fb_buf_init(&quoted, MAX_PATH_BYTES - 16);
    fb_buf_add_text(&quoted, "$[");
    fb_buf_add_json(&quoted, name, size);
    fb_buf_add_char(&quoted, ']');
    if (quoted.failed == FB_R_NONE) path = fb_arena_strndup(arena, quoted.data, quoted.size);
    fb_buf_clear(&quoted);
    return path;
}

void fb_refuse(fb_refusals *refusals, fb_refusal_id id, const char *column, const char *raw,
               size_t raw_size)
{
    if (refusals->count == FB_MAX_REFUSALS) return;
    fb_refusal *r = &refusals->list[refusals->count++];
    *r = (fb_refusal){.id = id, .column = column};
    if (column) r->path = path_of(&refusals->arena, column);
    if (!raw) return;
    r->raw_size = raw_size > FB_MAX_REFUSAL_RAW ? FB_MAX_REFUSAL_RAW : raw_size;
    r->raw = fb_arena_strndup(&refusals->arena, raw, r->raw_size);
    if (!r->raw) r->raw_size = 0;
}
