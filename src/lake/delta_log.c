/* delta_log.c - see delta_log.h. */
#include "lake/delta_log.h"

#include "base/json_memory.h"
#include "base/alloc.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VERSION_DIGITS = 20, PART_DIGITS = 10, UUID_SIZE = 36 };

void fb_log_listing_init(fb_log_listing *listing) { *listing = (fb_log_listing){0}; }

void fb_log_listing_clear(fb_log_listing *listing)
{
    fb_free(listing->commits);
    fb_free(listing->checkpoints);
    fb_log_listing_init(listing);
}

const char *fb_log_commit_key(int64_t version, char *out)
{
    snprintf(out, FB_LOG_KEY, FB_LOG_FOLDER "/%020" PRId64 ".json", version);
    return out;
}

/* Take `count` digits off the front of `*text`. @return false when there are fewer, or
 * when the number is above 2^63 - 1 */
static bool take_digits(const char **text, int count, int64_t *out)
{
    int64_t value = 0;
    for (int i = 0; i < count; i++) {
        char c = (*text)[i];
        if (c < '0' || c > '9') return false;
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_add_overflow(value, c - '0', &value)) return false;
    }
    *text += count;
    *out = value;
    return true;
}

static bool take_text(const char **text, const char *wanted)
{
    size_t size = strlen(wanted);
    if (strncmp(*text, wanted, size) != 0) return false;
    *text += size;
    return true;
}

/* "parquet", "O.P.parquet" or "UUID.(parquet|json)", behind "V.checkpoint." */
static bool parse_checkpoint(const char *rest, fb_checkpoint_name *out)
{
    int64_t part, parts;
    if (strcmp(rest, "parquet") == 0) return true;
    const char *at = rest;
    if (take_digits(&at, PART_DIGITS, &part) && take_text(&at, ".") &&
        take_digits(&at, PART_DIGITS, &parts) && strcmp(at, ".parquet") == 0) {
        out->part = (int)part;
        out->parts = (int)parts;
        return part >= 1 && part <= parts && parts <= INT32_MAX;
    }
    if (strspn(rest, "0123456789abcdefABCDEF-") != UUID_SIZE) return false;
    out->is_json = strcmp(rest + UUID_SIZE, ".json") == 0;
    return out->is_json || strcmp(rest + UUID_SIZE, ".parquet") == 0;
}

static bool make_room(void **items, size_t *room, size_t count, size_t size)
{
    if (count < *room) return true;
    size_t more = *room ? *room * 2 : 64;
    void  *moved = fb_realloc(*items, more * size);
    if (!moved) return false;
    *items = moved;
    *room = more;
    return true;
}

static fb_code keep_name(void *context, const char *name, fb_error *err)
{
    fb_log_listing    *all = context;
    fb_checkpoint_name checkpoint = {0};
    const char        *rest = name;
    int64_t            version;
    if (!take_digits(&rest, VERSION_DIGITS, &version)) return FB_OK;
    if (strcmp(rest, ".json") == 0) {
        if (!make_room((void **)&all->commits, &all->commits_room, all->commits_count,
                       sizeof *all->commits))
            return fb_fail_memory(err, "the versions of a table");
        all->commits[all->commits_count++] = version;
        return FB_OK;
    }
    if (!take_text(&rest, ".checkpoint.") || !parse_checkpoint(rest, &checkpoint))
        return FB_OK;
    if (!make_room((void **)&all->checkpoints, &all->checkpoints_room,
                   all->checkpoints_count, sizeof *all->checkpoints))
        return fb_fail_memory(err, "the checkpoints of a table");
    checkpoint.version = version;
    snprintf(checkpoint.key, sizeof checkpoint.key, FB_LOG_FOLDER "/%s", name);
    all->checkpoints[all->checkpoints_count++] = checkpoint;
    return FB_OK;
}

fb_code fb_log_list(fb_store *store, int64_t from, fb_log_listing *listing, fb_error *err)
{
    char after[VERSION_DIGITS + 8] = "";
    if (from > 0) snprintf(after, sizeof after, "%020" PRId64, from);
    return store->ops->list(store, FB_LOG_FOLDER, after, keep_name, listing, err);
}

bool fb_log_same_checkpoint(const fb_checkpoint_name *head, const fb_checkpoint_name *one)
{
    if (head->parts == 0) return head == one;
    return head->version == one->version && head->parts == one->parts;
}

static bool is_whole(const fb_log_listing *listing, const fb_checkpoint_name *head)
{
    int found = 0;
    if (head->parts == 0) return true;
    for (size_t i = 0; i < listing->checkpoints_count; i++)
        found += fb_log_same_checkpoint(head, &listing->checkpoints[i]);
    return head->part == 1 && found == head->parts;
}

const fb_checkpoint_name *fb_log_pick_checkpoint(const fb_log_listing *listing,
                                                 int64_t               at_most)
{
    for (size_t i = listing->checkpoints_count; i-- > 0;) {
        const fb_checkpoint_name *head = &listing->checkpoints[i];
        if (head->version <= at_most && is_whole(listing, head)) return head;
    }
    return NULL;
}

/* Visit the one action of a line. A line may hold nulls beside it; commitInfo and the
 * like are actions too. */
static fb_code walk_line(yyjson_val *line, fb_action_visit visit, void *context,
                         fb_error *err)
{
    size_t      i, count;
    yyjson_val *key, *body;
    yyjson_obj_foreach(line, i, count, key, body)
    {
        if (!yyjson_is_obj(body)) continue;
        fb_code code = visit(context, yyjson_get_str(key), body, err);
        if (code != FB_OK) return code;
    }
    return FB_OK;
}

fb_code fb_log_walk(const char *data, size_t size, const char *key, fb_action_visit visit,
                    void *context, fb_error *err)
{
    fb_code code = FB_OK;
    size_t  number = 0;
    for (size_t at = 0, length; at < size && code == FB_OK; at += length + 1) {
        const char *end = memchr(data + at, '\n', size - at);
        length = end ? (size_t)(end - data) - at : size - at;
        number++;
        size_t blank = 0;
        while (blank < length && isspace((unsigned char)data[at + blank])) blank++;
        if (blank == length) continue;

        yyjson_read_err why = {0};
        yyjson_doc     *doc = yyjson_read_opts((char *)(uintptr_t)(data + at), length, 0,
                                               &fb_json_memory, &why);
        if (!doc && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
            return fb_fail_memory(err, "a line of a table's log");
        if (!doc || !yyjson_is_obj(yyjson_doc_get_root(doc)))
            code = fb_fail(err, P006, "line %zu of %s is no JSON object: %s", number, key,
                           why.msg ? why.msg : "it is another value");
        else
            code = walk_line(yyjson_doc_get_root(doc), visit, context, err);
        yyjson_doc_free(doc);
    }
    return code;
}

const char *fb_json_text(yyjson_val *body, const char *key)
{
    yyjson_val *value = yyjson_obj_get(body, key);
    const char *text = yyjson_get_str(value);
    return text && strlen(text) == yyjson_get_len(value) ? text : NULL;
}

int64_t fb_json_int(yyjson_val *body, const char *key, int64_t fallback)
{
    yyjson_val *value = yyjson_obj_get(body, key);
    return yyjson_is_int(value) ? yyjson_get_sint(value) : fallback;
}
