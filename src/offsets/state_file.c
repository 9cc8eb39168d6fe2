/* state_file.c - two small JSON documents; see state_file.h.
 *
 * The way of a commit with store `file`:
 *   intent   {offsets: old, table: old, intent: new} is written before the table's commit
 *   commit   the table's txns move to `new`, or they do not
 *   kept     {offsets: new, table: new} is written
 * `table` is what the table's txns were when the offsets were written beside them.  While
 * they are that still, the offsets stand, also where a person has changed them.  Where the
 * table stands at the intent, the commit happened and the process died behind it.  Where it
 * stands anywhere else, another process has gone on, perhaps one whose document was then
 * overwritten by a slower one: the table is right.  So rows are neither lost nor repeated
 * with this store either, whoever died or slept.
 */
#include "offsets/state_file.h"

#include "base/file.h"
#include "base/json_memory.h"
#include "base/step.h"
#include "base/time.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    *out = fb_json_read(fb_buf_text(&text), text.size, YYJSON_READ_NOFLAG);
    if (!*out) {
        code = fb_fail(err, O010, "%s is not JSON", path);
    }
out:
    fb_buf_clear(&text);
    return code;
}

static bool is_offset(yyjson_val *value)
{
    return yyjson_is_int(value) && yyjson_get_sint(value) >= 0;
}

static int64_t offset_of(yyjson_val *offsets, int32_t partition)
{
    char name[16];
    snprintf(name, sizeof name, "%" PRId32, partition);
    yyjson_val *value = yyjson_obj_get(offsets, name);
    return is_offset(value) ? yyjson_get_sint(value) : -1;
}

/* A person writes this document too: what cannot be an offset must not pass for none. */
static fb_code check_document(const fb_positions_place *place, yyjson_val *root, fb_error *err)
{
    size_t      i, count;
    yyjson_val *key, *value;
    yyjson_val *offsets = yyjson_obj_get(root, "offsets");
    const char *schema = yyjson_get_str(yyjson_obj_get(root, "schema"));
    const char *entity = yyjson_get_str(yyjson_obj_get(root, "entity"));
    const char *topic = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(root, "forebay"), "topic"));
    if (!schema || strcmp(schema, STATE_SCHEMA) != 0)
        return fb_fail(err, O010, "%s has no schema " STATE_SCHEMA, place->file);
    if (!entity || strcmp(entity, place->pipeline) != 0)
        return fb_fail(err, O010, "%s belongs to \"%s\", not to pipeline \"%s\"", place->file,
                       entity ? entity : "nobody", place->pipeline);
    if (topic && strcmp(topic, place->topic) != 0)
        return fb_fail(err, O010, "%s has offsets of topic \"%s\", not of \"%s\"", place->file, topic,
                       place->topic);
    if (!yyjson_is_obj(offsets))
        return fb_fail(err, O010, "%s has no map \"offsets\"", place->file);
    yyjson_obj_foreach(offsets, i, count, key, value)
    {
        const char *name = yyjson_get_str(key);
        bool is_partition = name[0] && strspn(name, "0123456789") == strlen(name) &&
                            (name[0] != '0' || !name[1]);
        if (is_partition && is_offset(value)) continue;
        return fb_fail(err, O010, "%s: the offset of partition \"%.40s\" is no offset", place->file, name);
    }
    return FB_OK;
}

/* What the document means for one partition; state_file.c's head has the rule. */
static int64_t position_of(yyjson_val *root, const fb_position *p)
{
    yyjson_val *ours = yyjson_obj_get(root, "forebay");
    int64_t     kept = offset_of(yyjson_obj_get(root, "offsets"), p->partition);
    int64_t     meant = offset_of(yyjson_obj_get(ours, "intent"), p->partition);
    yyjson_val *table = yyjson_obj_get(ours, "table");
    if (p->in_table < 0) return kept; // a table that is new: the document is all there is
    if (meant == p->in_table) return meant;
    if (kept < 0) return p->in_table;
    if (!table) return kept; // written by hand, or by another program
    return offset_of(table, p->partition) == p->in_table ? kept : p->in_table;
}

fb_code fb_state_load(const fb_positions_place *place, fb_positions *positions, fb_error *err)
{
    fb_code     code = FB_OK;
    yyjson_doc *doc = NULL;
    FB_TRY(read_document(place->file, &doc, err));
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (doc) FB_TRY(check_document(place, root, err));
    const char *id = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(root, "forebay"), "topic_id"));
    if (id && id[0] && positions->topic_id[0] && strcmp(id, positions->topic_id) != 0)
        positions->is_recreated = true;
    positions->has_any = false;
    for (size_t i = 0; i < positions->count; i++) {
        fb_position *p = &positions->list[i];
        p->next = position_of(root, p);
        positions->has_any = positions->has_any || p->next >= 0;
    }
out:
    yyjson_doc_free(doc);
    return code;
}

static void add_moves(fb_buf *out, const fb_books *moves)
{
    fb_buf_add_char(out, '{');
    for (size_t i = 0; i < moves->count; i++)
        fb_buf_printf(out, "%s\"%" PRId32 "\":%" PRId64, i ? "," : "", moves->list[i].partition,
                      moves->list[i].next);
    fb_buf_add_char(out, '}');
}

static const fb_book *find_move(const fb_books *moves, int32_t partition)
{
    for (size_t i = 0; moves && i < moves->count; i++)
        if (moves->list[i].partition == partition) return &moves->list[i];
    return NULL;
}

/* All positions, with those of `moves` in place of the loaded ones. `keeps_lost`: of those
 * that the table has lost, what was known. */
static void add_offsets(fb_buf *out, const fb_positions *loaded, const fb_books *moves,
                        bool keeps_lost)
{
    const char *comma = "";
    fb_buf_add_char(out, '{');
    for (size_t i = 0; i < loaded->count; i++) {
        const fb_position *p = &loaded->list[i];
        const fb_book     *move = find_move(moves, p->partition);
        int64_t            next = move ? move->next : p->next;
        if (next < 0 && keeps_lost) next = p->lost;
        if (next < 0) continue;
        fb_buf_printf(out, "%s\"%" PRId32 "\":%" PRId64, comma, p->partition, next);
        comma = ",";
    }
    fb_buf_add_char(out, '}');
}

/* Where the table's txns are, with those of `moves` in place of the loaded ones. */
static void add_in_table(fb_buf *out, const fb_positions *loaded, const fb_books *moves)
{
    fb_buf_add_char(out, '{');
    for (size_t i = 0; i < loaded->count; i++) {
        const fb_position *p = &loaded->list[i];
        const fb_book     *move = find_move(moves, p->partition);
        fb_buf_printf(out, "%s\"%" PRId32 "\":%" PRId64, i ? "," : "", p->partition,
                      move ? move->next : p->in_table);
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
                       const fb_books *moves, bool is_intent, fb_error *err)
{
    fb_code code = FB_OK;
    char    when[40];
    fb_buf  out;
    fb_buf_init(&out, MAX_STATE_BYTES);
    fb_buf_add_text(&out, "{\"schema\":\"" STATE_SCHEMA "\",\"entity\":");
    fb_buf_add_json_text(&out, place->pipeline);
    fb_buf_printf(&out, ",\"updated_at\":\"%s\",\"offsets\":", fb_format_time_ms(fb_now_us(), when));
    add_offsets(&out, loaded, is_intent ? NULL : moves, false);
    fb_buf_add_text(&out, ",\"forebay\":{\"topic\":");
    fb_buf_add_json_text(&out, place->topic);
    fb_buf_add_text(&out, ",\"topic_id\":");
    fb_buf_add_json_text(&out, loaded->topic_id);
    fb_buf_add_text(&out, ",\"table\":");
    add_in_table(&out, loaded, is_intent ? NULL : moves);
    if (is_intent) {
        fb_buf_add_text(&out, ",\"intent\":");
        add_moves(&out, moves);
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
                             const fb_books *moves, const char *table_id,
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
    add_offsets(&out, loaded, moves, true);
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

fb_code fb_state_check_landed(const fb_positions_place *place, fb_positions *loaded,
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
        fb_position *p = &loaded->list[i];
        int64_t      known = offset_of(offsets, p->partition);
        if (known < 0 || p->in_table >= 0) continue;
        p->lost = known;
        if (code != FB_OK) continue; // the first one is said
        fb_error_set(err, FB_R_O004,
                     "the table has lost the position of %s[%" PRId32 "]: rows up to offset %" PRId64
                     " were landed in it", place->topic, p->partition, known - 1);
        fb_error_hint(err, "set it again with: forebay offsets reset %s --partition %" PRId32
                           " --to %" PRId32 ":%" PRId64 " --reason \"position lost\"",
                      place->pipeline, p->partition, p->partition, known);
        code = FB_EGAP;
    }
out:
    yyjson_doc_free(doc);
    return code;
}
