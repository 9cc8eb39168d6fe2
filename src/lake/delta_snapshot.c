/* delta_snapshot.c - opening a table and keeping up with it; see delta.h.
 *
 * The way to a snapshot at version N:
 *   hint      _last_checkpoint says where to begin; any fault in it is passed over
 *   list      names from there on; from the start when the hint leads nowhere
 *   base      the newest checkpoint that is whole and can be read, or nothing
 *   replay    every commit behind it, without a hole
 * Going on from N to the newest takes one listing and the commits behind N.
 *
 * What holds: a version is applied whole or not at all; a hole, a cut commit or an action
 * that breaks the protocol is refused and never passed over.
 */
#include "base/json_memory.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/time.h"
#include "lake/delta_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HINT_BYTES = 1 << 20 };

bool fb_uri_decode(const char *text, char *out, size_t room)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    size_t            used = 0;
    for (; *text; text++) {
        char c = *text;
        if (c == '%') {
            const char *high = text[1] ? strchr(digits, text[1]) : NULL;
            const char *low = high && text[2] ? strchr(digits, text[2]) : NULL;
            if (!high || !low) return false;
            c = (char)((((high - digits) & 15) << 4) | ((low - digits) & 15));
            text += 2;
        }
        if (c == '\0' || used + 1 >= room) return false;
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

fb_code fb_delta_walk(fb_delta *table, const char *key, fb_action_visit visit,
                      void *context, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  text;
    fb_buf_init(&text, FB_MAX_LOG_BYTES);
    FB_TRY(table->store->ops->get(table->store, key, &text, err));
    FB_TRY(fb_log_walk(fb_buf_text(&text), text.size, key, visit, context, err));
out:
    if (code != FB_OK) fb_error_at(err, "%s", table->name);
    fb_buf_clear(&text);
    return code;
}

static fb_code apply_commit(fb_delta *table, fb_delta_state *state, int64_t version,
                            fb_error *err)
{
    fb_code        code = FB_OK;
    char           key[FB_LOG_KEY];
    fb_delta_batch batch;
    fb_delta_batch_init(&batch, fb_log_commit_key(version, key));
    FB_TRY(fb_delta_walk(table, key, fb_delta_batch_add, &batch, err));
    FB_TRY(fb_delta_state_apply(state, &batch, version, err));
out:
    fb_delta_batch_clear(&batch);
    return code;
}

/* Apply the listed commits behind the state's version. */
static fb_code replay(fb_delta *table, fb_delta_state *state,
                      const fb_log_listing *listing, fb_error *err)
{
    fb_code code = FB_OK;
    for (size_t i = 0; i < listing->commits_count; i++) {
        int64_t version = listing->commits[i];
        if (version <= state->version) continue;
        if (version != state->version + 1)
            return fb_fail(err, P005,
                           "version %" PRId64 " of table \"%s\" is missing, and "
                           "version %" PRId64 " is there",
                           state->version + 1, table->name, version);
        FB_TRY(apply_commit(table, state, version, err));
    }
out:
    return code;
}

/* The version that _last_checkpoint names; 0 when it names none or cannot be read. */
static int64_t read_hint(fb_delta *table)
{
    fb_error ignored;
    fb_buf   text;
    int64_t  version = 0;
    fb_buf_init(&text, HINT_BYTES);
    if (table->store->ops->get(table->store, FB_LOG_FOLDER "/_last_checkpoint", &text,
                               &ignored) == FB_OK) {
        yyjson_doc *doc = fb_json_read(fb_buf_text(&text), text.size, 0);
        version = fb_json_int(yyjson_doc_get_root(doc), "version", 0);
        yyjson_doc_free(doc);
    }
    fb_buf_clear(&text);
    return version > 0 ? version : 0;
}

/* Load the newest snapshot, looking at version `from` and above only. */
static fb_code load_from(fb_delta *table, int64_t from, fb_delta_state *state,
                         fb_error *err)
{
    fb_code        code = FB_OK;
    fb_log_listing listing;
    fb_checkpoint  base;
    fb_delta_batch batch;
    fb_log_listing_init(&listing);
    fb_checkpoint_init(&base);
    fb_delta_batch_init(&batch, "a checkpoint");
    FB_TRY(fb_log_list(table->store, from, &listing, err));
    FB_TRY(fb_checkpoint_newest(table, &listing, INT64_MAX, &base, &batch, err));
    if (base.version >= 0) FB_TRY(fb_delta_state_apply(state, &batch, base.version, err));
    table->checkpoint = base.version;
    FB_TRY(replay(table, state, &listing, err));
    if (state->version < 0) goto out;
    FB_TRY(fb_delta_state_check(state, err));
    FB_TRY(fb_gate_read(state, err));
out:
    fb_delta_batch_clear(&batch);
    fb_checkpoint_clear(&base);
    fb_log_listing_clear(&listing);
    return code;
}

/* Load the newest snapshot from nothing; the old one is replaced only on success. */
static fb_code load(fb_delta *table, fb_error *err)
{
    fb_code        code = FB_OK;
    int64_t        hint = read_hint(table);
    fb_delta_state next;
    fb_delta_state_init(&next);
    code = load_from(table, hint, &next, err);
    if (hint > 0 && (code == FB_EDATA || (code == FB_OK && next.version < 0))) {
        fb_delta_state_clear(&next);
        code = load_from(table, 0, &next, err);
    }
    if (code != FB_OK) goto out;
    fb_delta_state_clear(&table->state);
    table->state = next;
    fb_delta_state_init(&next);
    table->is_stale = false;
out:
    if (code != FB_OK) fb_error_at(err, "%s", table->name);
    fb_delta_state_clear(&next);
    return code;
}

/* Is the snapshot's own version still there, and no hole behind it? Not so after a table
 * was made anew, or cleaned up while we slept. */
static bool can_go_on(const fb_delta *table, const fb_log_listing *listing)
{
    int64_t version = table->state.version;
    bool    is_there = false;
    if (version < 0 || table->is_stale) return false;
    for (size_t i = 0; i < listing->checkpoints_count && !is_there; i++)
        is_there = listing->checkpoints[i].version == version;
    for (size_t i = 0; i < listing->commits_count; i++) {
        if (listing->commits[i] == version)
            is_there = true;
        else
            return is_there && listing->commits[i] == version + 1;
    }
    return is_there;
}

fb_code fb_delta_refresh(fb_delta *table, fb_error *err)
{
    fb_code        code = FB_OK;
    int64_t        before = table->state.version;
    fb_log_listing listing;
    fb_log_listing_init(&listing);
    if (before < 0 || table->is_stale) return load(table, err);
    FB_TRY(fb_log_list(table->store, before, &listing, err));
    if (!can_go_on(table, &listing)) {
        code = load(table, err);
        goto out;
    }
    code = replay(table, &table->state, &listing, err);
    if (code == FB_OK && table->state.version > before)
        code = fb_gate_read(&table->state, err);
    if (code == FB_EMEMORY) table->is_stale = true;
    const fb_checkpoint_name *newest =
        fb_log_pick_checkpoint(&listing, table->state.version);
    if (newest && newest->version > table->checkpoint)
        table->checkpoint = newest->version;
out:
    fb_log_listing_clear(&listing);
    return code;
}

/* --- opening ------------------------------------------------------------------------ */

fb_code fb_delta_open_on(fb_store *take, const char *name, fb_engine *engine,
                         fb_delta **out, fb_error *err)
{
    fb_code   code = FB_OK;
    fb_delta *table = fb_alloc(sizeof *table);
    if (!table) {
        take->ops->close(take);
        return fb_fail_memory(err, "a table");
    }
    *table = (fb_delta){.store = take, .engine = engine, .checkpoint = -1};
    table->random = (uint64_t)fb_mono_us() * 2654435761u ^ (uint64_t)(uintptr_t)table;
    snprintf(table->name, sizeof table->name, "%s", name);
    fb_delta_state_init(&table->state);
    code = load(table, err);
    if (code == FB_EMISSING) code = load(table, err); // cleaned up under our eyes
    if (code != FB_OK) goto out;
    *out = table;
    table = NULL;
out:
    fb_delta_close(table);
    return code;
}

fb_code fb_delta_open(const char *path, fb_engine *engine, fb_delta **out, fb_error *err)
{
    fb_code   code = FB_OK;
    char      root[FB_MAX_PATH];
    fb_store *store = NULL;
    if (strncmp(path, "file:", 5) != 0) {
        FB_TRY(fb_store_local_open(path, &store, err));
        return fb_delta_open_on(store, path, engine, out, err);
    }
    const char *rest = path + 5;
    if (strncmp(rest, "//", 2) == 0) rest += 2;
    if (*rest != '/' || !fb_uri_decode(rest, root, sizeof root))
        return fb_fail(err, S001, "\"%s\" names no local folder; write file:///folder",
                       path);
    FB_TRY(fb_store_local_open(root, &store, err));
    return fb_delta_open_on(store, path, engine, out, err);
out:
    return code;
}

void fb_delta_close(fb_delta *table)
{
    if (!table) return;
    fb_delta_state_clear(&table->state);
    table->store->ops->close(table->store);
    fb_free(table);
}

/* --- answers ------------------------------------------------------------------------ */

bool fb_delta_exists(const fb_delta *table) { return table->state.version >= 0; }

int64_t fb_delta_version(const fb_delta *table) { return table->state.version; }

const char *fb_delta_name(const fb_delta *table) { return table->name; }

const char *fb_delta_id(const fb_delta *table)
{
    const char *id = fb_json_text(fb_delta_state_meta(&table->state), "id");
    return id ? id : "";
}

const fb_schema *fb_delta_schema(const fb_delta *table) { return &table->state.schema; }

const char *const *fb_delta_partition_columns(const fb_delta *table, size_t *count)
{
    *count = table->state.partitions_count;
    return table->state.partitions;
}

const char *fb_delta_property(const fb_delta *table, const char *key)
{
    return fb_delta_state_property(&table->state, key);
}

bool fb_delta_has_feature(const fb_delta *table, const char *name)
{
    return fb_gate_has(&table->state, name);
}

const char *fb_delta_domain(const fb_delta *table, const char *domain)
{
    const fb_map_entry *entry = fb_map_find(&table->state.domains, domain);
    return entry ? entry->text : NULL;
}

bool fb_delta_txn_find(const fb_delta *table, const char *app_id, int64_t *version,
                       int64_t *last_updated_ms)
{
    const fb_map_entry *entry = fb_map_find(&table->state.txns, app_id);
    if (!entry) return false;
    *version = entry->number;
    if (last_updated_ms) *last_updated_ms = entry->time;
    return true;
}

int64_t fb_delta_txn_retention_ms(const fb_delta *table)
{
    int64_t     ms;
    const char *text = fb_delta_property(table, "delta.setTransactionRetentionDuration");
    return text && fb_delta_interval_ms(text, &ms) ? ms : -1;
}
