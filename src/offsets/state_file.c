/* state_file.c - two small JSON documents; see state_file.h.
 *
 * The way of a commit with store `file`:
 *   intent   {offsets: old, forebay.intent: new} is written before the table's commit
 *   commit   the table's txns move to `new`, or they do not
 *   kept     {offsets: new} is written
 * After a crash the table's txns tell which of the two happened: equal to the intent, and
 * the commit stands.  So rows are neither lost nor repeated with this store either.
 */
#include "offsets/state_file.h"

#include "base/file.h"
#include "base/step.h"
#include "base/time.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#define STATE_SCHEMA "floe.state.kafka-offset.v1"

enum { MAX_STATE_BYTES = 16 << 20 };

/* NULL with FB_OK: there is no such file. */
static fb_code read_document(const char *path, yyjson_doc **out, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  text;
    *out = NULL;
    if (!fb_file_exists(path)) return FB_OK;
    fb_buf_init(&text, MAX_STATE_BYTES);
    FB_TRY(fb_file_read(path, &text, err));
    *out = yyjson_read(fb_buf_text(&text), text.size, YYJSON_READ_NOFLAG);
    if (!*out) {
        code = fb_fail(err, O010, "%s is not JSON", path);
        fb_error_hint(err, "restore it, or set positions with: forebay offsets reset");
    }
out:
    fb_buf_clear(&text);
    return code;
}

static int64_t offset_of(yyjson_val *offsets, int32_t partition)
{
    char name[16];
    snprintf(name, sizeof name, "%" PRId32, partition);
    yyjson_val *value = yyjson_obj_get(offsets, name);
    return yyjson_is_int(value) ? yyjson_get_sint(value) : -1;
}

/* The intent came true when every partition of it stands there in the table. */
static bool is_true_in_table(yyjson_val *intent, const fb_positions *positions)
{
    bool any = false;
    for (size_t i = 0; i < positions->count; i++) {
        int64_t meant = offset_of(intent, positions->list[i].partition);
        if (meant < 0) continue;
        if (positions->list[i].in_table != meant) return false;
        any = true;
    }
    return any;
}

fb_code fb_state_load(const fb_positions_place *place, fb_positions *positions, fb_error *err)
{
    fb_code     code = FB_OK;
    yyjson_doc *doc = NULL;
    FB_TRY(read_document(place->file, &doc, err));
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *schema = yyjson_get_str(yyjson_obj_get(root, "schema"));
    const char *entity = yyjson_get_str(yyjson_obj_get(root, "entity"));
    if (doc && (!schema || strcmp(schema, STATE_SCHEMA) != 0)) {
        code = fb_fail(err, O010, "%s has no schema " STATE_SCHEMA, place->file);
        goto out;
    }
    if (doc && (!entity || strcmp(entity, place->pipeline) != 0)) {
        code = fb_fail(err, O010, "%s belongs to \"%s\", not to pipeline \"%s\"", place->file,
                       entity ? entity : "nobody", place->pipeline);
        goto out;
    }
    yyjson_val *offsets = yyjson_obj_get(root, "offsets");
    yyjson_val *intent = yyjson_obj_get(yyjson_obj_get(root, "forebay"), "intent");
    bool        came_true = intent && is_true_in_table(intent, positions);
    positions->has_any = false;
    for (size_t i = 0; i < positions->count; i++) {
        fb_position *p = &positions->list[i];
        p->next = offset_of(offsets, p->partition);
        if (came_true && offset_of(intent, p->partition) >= 0)
            p->next = offset_of(intent, p->partition);
        positions->has_any = positions->has_any || p->next >= 0;
    }
out:
    yyjson_doc_free(doc);
    return code;
}

static void add_moves(fb_buf *out, const fb_book *moves, size_t count)
{
    fb_buf_add_char(out, '{');
    for (size_t i = 0; i < count; i++)
        fb_buf_printf(out, "%s\"%" PRId32 "\":%" PRId64, i ? "," : "", moves[i].partition,
                      moves[i].next);
    fb_buf_add_char(out, '}');
}

static const fb_book *find_move(const fb_book *moves, size_t count, int32_t partition)
{
    for (size_t i = 0; i < count; i++)
        if (moves[i].partition == partition) return &moves[i];
    return NULL;
}

/* All positions, with those of `moves` in place of the loaded ones. */
static void add_offsets(fb_buf *out, const fb_positions *loaded, const fb_book *moves, size_t count)
{
    const char *comma = "";
    fb_buf_add_char(out, '{');
    for (size_t i = 0; i < loaded->count; i++) {
        const fb_position *p = &loaded->list[i];
        const fb_book     *move = find_move(moves, count, p->partition);
        int64_t            next = move ? move->next : p->next;
        if (next < 0) continue;
        fb_buf_printf(out, "%s\"%" PRId32 "\":%" PRId64, comma, p->partition, next);
        comma = ",";
    }
    fb_buf_add_char(out, '}');
}

static fb_code make_parent(const char *path, fb_error *err)
{
    char copy[FB_MAX_PATH];
    snprintf(copy, sizeof copy, "%s", path);
    return fb_dir_make(dirname(copy), err);
}

fb_code fb_state_write(const fb_positions_place *place, const fb_positions *loaded,
                       const fb_book *moves, size_t count, bool is_intent, fb_error *err)
{
    fb_code code = FB_OK;
    char    when[40];
    fb_buf  out;
    fb_buf_init(&out, MAX_STATE_BYTES);
    fb_buf_add_text(&out, "{\"schema\":\"" STATE_SCHEMA "\",\"entity\":");
    fb_buf_add_json_text(&out, place->pipeline);
    fb_buf_printf(&out, ",\"updated_at\":\"%s\",\"offsets\":", fb_format_time_ms(fb_now_us(), when));
    add_offsets(&out, loaded, is_intent ? NULL : moves, is_intent ? 0 : count);
    fb_buf_add_text(&out, ",\"forebay\":{\"topic\":");
    fb_buf_add_json_text(&out, place->topic);
    fb_buf_add_text(&out, ",\"topic_id\":");
    fb_buf_add_json_text(&out, loaded->topic_id);
    if (is_intent) {
        fb_buf_add_text(&out, ",\"intent\":");
        add_moves(&out, moves, count);
    }
    fb_buf_add_text(&out, "}}\n");
    FB_TRY(fb_buf_check(&out, "the positions", err));
    FB_TRY(make_parent(place->file, err));
    FB_TRY(fb_step_try(is_intent ? "offsets.file.intent" : "offsets.file.kept", err));
    FB_TRY(fb_file_replace(place->file, out.data, out.size, err));
out:
    fb_buf_clear(&out);
    return code;
}

static fb_code landed_path(const fb_positions_place *place, char out[FB_MAX_PATH], fb_error *err)
{
    return fb_path_join(out, FB_MAX_PATH, place->state_folder, "landed.json", err);
}

fb_code fb_state_note_landed(const fb_positions_place *place, const fb_positions *loaded,
                             const fb_book *moves, size_t count, const char *table_id,
                             fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    fb_buf  out;
    fb_buf_init(&out, MAX_STATE_BYTES);
    fb_buf_add_text(&out, "{\"schema\":\"forebay.landed.v1\",\"table_id\":");
    fb_buf_add_json_text(&out, table_id);
    fb_buf_add_text(&out, ",\"series\":");
    fb_buf_add_json_text(&out, loaded->series);
    fb_buf_add_text(&out, ",\"topic_id\":");
    fb_buf_add_json_text(&out, loaded->topic_id);
    fb_buf_add_text(&out, ",\"offsets\":");
    add_offsets(&out, loaded, moves, count);
    fb_buf_add_text(&out, "}\n");
    FB_TRY(fb_buf_check(&out, "the positions", err));
    FB_TRY(fb_dir_make(place->state_folder, err));
    FB_TRY(landed_path(place, path, err));
    FB_TRY(fb_step_try("offsets.landed.before", err));
    FB_TRY(fb_file_replace(path, out.data, out.size, err));
out:
    fb_buf_clear(&out);
    return code;
}

fb_code fb_state_check_landed(const fb_positions_place *place, const fb_positions *loaded,
                              const char *table_id, fb_error *err)
{
    fb_code     code = FB_OK;
    yyjson_doc *doc = NULL;
    char        path[FB_MAX_PATH];
    if (!place->state_folder) return FB_OK;
    FB_TRY(landed_path(place, path, err));
    FB_TRY(read_document(path, &doc, err));
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *id = yyjson_get_str(yyjson_obj_get(root, "table_id"));
    const char *series = yyjson_get_str(yyjson_obj_get(root, "series"));
    /* Another table, or another life of the topic: what we know of is gone by intent. */
    if (!id || !series || strcmp(id, table_id) != 0 || strcmp(series, loaded->series) != 0) goto out;
    yyjson_val *offsets = yyjson_obj_get(root, "offsets");
    for (size_t i = 0; i < loaded->count; i++) {
        const fb_position *p = &loaded->list[i];
        int64_t            known = offset_of(offsets, p->partition);
        if (known < 0 || p->in_table >= 0) continue;
        fb_error_set(err, FB_R_O004,
                     "the table has lost the position of %s[%" PRId32 "]: rows up to offset %" PRId64
                     " were landed in it", place->topic, p->partition, known - 1);
        fb_error_hint(err, "set it again with: forebay offsets reset %s --partition %" PRId32
                           " --to %" PRId32 ":%" PRId64 " --reason \"position lost\"",
                      place->pipeline, p->partition, p->partition, known);
        code = FB_EGAP;
        goto out;
    }
out:
    yyjson_doc_free(doc);
    return code;
}
