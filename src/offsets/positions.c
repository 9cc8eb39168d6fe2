/* positions.c - the table's txns as positions; see positions.h.
 *
 * A topic that was deleted and made again starts again at offset 0, so that an old
 * position would skip or repeat records without a sign.  Therefore each commit also keeps
 * the topic's id, as a txn whose version is 63 bits of a hash of it: txns are the one
 * thing every table keeps through checkpoints, whatever its protocol
 * (docs/decisions/001-topic-id-in-a-txn.md).  After `on_recreated: restart` the id is part
 * of the series' name instead.
 */
#include "offsets/positions.h"

#include "base/alloc.h"
#include "base/log.h"
#include "offsets/state_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TXN_BYTES = 16 << 20 };

/* Append `part`, in which / and % are percent-encoded. */
static void add_part(fb_buf *out, const char *part)
{
    for (; *part; part++) {
        if (*part == '/' || *part == '%')
            fb_buf_printf(out, "%%%02X", (unsigned char)*part);
        else
            fb_buf_add_char(out, *part);
    }
}

/* "<kind>/<pipeline>/<series>" and, when partition >= 0, "/<partition>". The series is
 * encoded already. */
static fb_code make_id(const char *kind, const char *pipeline, const char *series,
                       int32_t partition, char *out, fb_error *err)
{
    fb_buf buf;
    fb_buf_init(&buf, FB_MAX_APP_ID - 1);
    fb_buf_printf(&buf, "%s/", kind);
    add_part(&buf, pipeline);
    fb_buf_printf(&buf, "/%s", series);
    if (partition >= 0) fb_buf_printf(&buf, "/%" PRId32, partition);
    fb_code code = fb_buf_check(&buf, "the name of a position", err);
    if (code == FB_OK) memcpy(out, fb_buf_text(&buf), buf.size + 1);
    fb_buf_clear(&buf);
    return code;
}

static fb_code make_series(const char *topic, const char *topic_id, char out[FB_MAX_SERIES],
                           fb_error *err)
{
    fb_buf buf;
    fb_buf_init(&buf, FB_MAX_SERIES - 1);
    add_part(&buf, topic);
    if (topic_id[0]) {
        fb_buf_add_char(&buf, '@');
        add_part(&buf, topic_id);
    }
    fb_code code = fb_buf_check(&buf, "the name of a topic", err);
    if (code == FB_OK) memcpy(out, fb_buf_text(&buf), buf.size + 1);
    fb_buf_clear(&buf);
    return code;
}

fb_code fb_positions_app_id(const fb_positions_place *place, const char *series,
                            int32_t partition, char *out, fb_error *err)
{
    return make_id("forebay", place->pipeline, series, partition, out, err);
}

/* 63 bits of FNV-1a: enough to tell two ids of one topic's name apart. */
static int64_t id_hash(const char *topic_id)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *topic_id; topic_id++)
        h = (h ^ (unsigned char)*topic_id) * UINT64_C(0x100000001b3);
    return (int64_t)(h & INT64_MAX);
}

fb_position *fb_positions_find(const fb_positions *positions, int32_t partition)
{
    for (size_t i = 0; i < positions->count; i++)
        if (positions->list[i].partition == partition) return &positions->list[i];
    return NULL;
}

/* Fill in_table and next from the txns of `series`. @return how many were there, in *found */
static fb_code read_series(const fb_positions_place *place, const fb_delta *table,
                           const char *series, fb_positions *out, size_t *found, fb_error *err)
{
    char app_id[FB_MAX_APP_ID];
    *found = 0;
    for (size_t i = 0; i < out->count; i++) {
        fb_position *p = &out->list[i];
        fb_code code = fb_positions_app_id(place, series, p->partition, app_id, err);
        if (code != FB_OK) return code;
        p->in_table = p->lost = -1;
        if (fb_delta_txn_find(table, app_id, &p->in_table, NULL)) ++*found;
        p->next = p->in_table;
    }
    return FB_OK;
}

/* Positions of this topic id if there are any, else those of the plain name. */
static fb_code read_table(const fb_positions_place *place, const fb_delta *table,
                          fb_positions *out, fb_error *err)
{
    fb_code code = FB_OK;
    size_t  found = 0;
    char    id_app[FB_MAX_APP_ID];
    out->id_in_table = -1;
    if (out->topic_id[0]) {
        FB_TRY(make_series(place->topic, out->topic_id, out->series, err));
        FB_TRY(read_series(place, table, out->series, out, &found, err));
        if (found > 0) {
            out->has_any = true;
            return FB_OK;
        }
    }
    FB_TRY(make_series(place->topic, "", out->series, err));
    FB_TRY(read_series(place, table, out->series, out, &found, err));
    out->has_any = found > 0;
    FB_TRY(make_id("forebay-topic-id", place->pipeline, out->series, -1, id_app, err));
    /* Also where none of these partitions has a position: another one's may be an old one. */
    if (fb_delta_txn_find(table, id_app, &out->id_in_table, NULL))
        out->is_recreated = out->topic_id[0] && out->id_in_table != id_hash(out->topic_id);
out:
    return code;
}

/* What `accepts_loss` lets pass: positions can be set anew only by who gets past it. */
static fb_code pass_over(const fb_positions_place *place, fb_code code, const fb_error *err)
{
    bool passes = place->accepts_loss && code != FB_OK &&
                  (err->reason == FB_R_O004 || err->reason == FB_R_O010);
    if (!passes) return code;
    fb_log(FB_LOG_WARN, "state_passed_over", "%s [%s]", err->what, fb_reason_name(err->reason));
    return FB_OK;
}

fb_code fb_positions_load(const fb_positions_place *place, const fb_delta *table,
                          const fb_positions_ask *ask, fb_positions *out, fb_error *err)
{
    fb_code code = FB_OK;
    *out = (fb_positions){.count = ask->count};
    out->list = fb_alloc(ask->count * sizeof *out->list);
    if (!out->list) return fb_fail_memory(err, "the positions");
    for (size_t i = 0; i < ask->count; i++)
        out->list[i].partition = ask->partitions[i];
    snprintf(out->topic_id, sizeof out->topic_id, "%s", ask->topic_id);
    FB_TRY(read_table(place, table, out, err));
    FB_TRY(pass_over(place, fb_state_check_landed(place, out, fb_delta_id(table), err), err));
    if (place->file) FB_TRY(pass_over(place, fb_state_load(place, out, err), err));
out:
    if (code != FB_OK) fb_positions_clear(out);
    return code;
}

void fb_positions_clear(fb_positions *positions)
{
    fb_free(positions->list);
    *positions = (fb_positions){0};
}

fb_code fb_positions_restart(fb_positions *positions, const char *topic, fb_error *err)
{
    for (size_t i = 0; i < positions->count; i++)
        positions->list[i].next = positions->list[i].in_table = positions->list[i].lost = -1;
    positions->is_recreated = positions->has_any = false;
    return make_series(topic, positions->topic_id, positions->series, err);
}

static fb_code add_txn(fb_position_txns *txns, const char *app_id, const char *label,
                       int64_t expected, int64_t next, fb_error *err)
{
    fb_delta_txn *txn = &txns->list[txns->count++];
    txn->app_id = fb_arena_strndup(&txns->arena, app_id, strlen(app_id));
    txn->label = fb_arena_strndup(&txns->arena, label, strlen(label));
    txn->expected = expected;
    txn->next = next;
    return txn->app_id && txn->label ? FB_OK : fb_fail_memory(err, "the positions");
}

fb_code fb_position_txns_make(const fb_positions_place *place, const fb_positions *loaded,
                              const fb_books *moves, fb_position_txns *out,
                              fb_error *err)
{
    fb_code code = FB_OK;
    char    app_id[FB_MAX_APP_ID], label[FB_MAX_NAME + 64];
    *out = (fb_position_txns){0};
    fb_arena_init(&out->arena, TXN_BYTES);
    out->list = fb_arena_alloc(&out->arena, (moves->count + 1) * sizeof *out->list);
    if (!out->list) FB_TRY(fb_fail_memory(err, "the positions"));
    for (size_t i = 0; i < moves->count; i++) {
        const fb_book     *move = &moves->list[i];
        const fb_position *p = fb_positions_find(loaded, move->partition);
        fb_assert(p != NULL);
        FB_TRY(fb_positions_app_id(place, loaded->series, p->partition, app_id, err));
        snprintf(label, sizeof label, "partition %" PRId32 " of topic \"%s\"", p->partition,
                 place->topic);
        FB_TRY(add_txn(out, app_id, label, p->in_table, move->next, err));
    }
    if (loaded->topic_id[0] && !strchr(loaded->series, '@')) {
        FB_TRY(make_id("forebay-topic-id", place->pipeline, loaded->series, -1, app_id, err));
        FB_TRY(add_txn(out, app_id, "the topic's id", loaded->id_in_table,
                       id_hash(loaded->topic_id), err));
    }
out:
    return code;
}

void fb_position_txns_clear(fb_position_txns *txns)
{
    fb_arena_clear(&txns->arena);
    txns->list = NULL;
    txns->count = 0;
}

fb_code fb_positions_check(const fb_positions_place *place, const fb_delta *table,
                           const fb_positions *loaded, fb_error *err)
{
    char app_id[FB_MAX_APP_ID];
    for (size_t i = 0; i < loaded->count; i++) {
        const fb_position *p = &loaded->list[i];
        int64_t            now = -1;
        fb_code code = fb_positions_app_id(place, loaded->series, p->partition, app_id, err);
        if (code != FB_OK) return code;
        if (!fb_delta_txn_find(table, app_id, &now, NULL)) now = -1;
        if (now == p->in_table) continue;
        return fb_fail(err, P020, "partition %" PRId32 " of topic \"%s\" was committed by another "
                                  "writer up to offset %" PRId64, p->partition, place->topic, now);
    }
    return FB_OK;
}

fb_code fb_positions_intend(const fb_positions_place *place, const fb_positions *loaded,
                            const fb_books *moves, fb_error *err)
{
    if (!place->file) return FB_OK;
    return fb_state_write(place, loaded, moves, true, err);
}

fb_code fb_positions_kept(const fb_positions_place *place, const fb_positions *loaded,
                          const fb_books *moves, const char *table_id, fb_error *err)
{
    fb_code code = FB_OK;
    if (place->file) FB_TRY(fb_state_write(place, loaded, moves, false, err));
    FB_TRY(fb_state_note_landed(place, loaded, moves, table_id, err));
out:
    return code;
}

/* The positions of a topic that was made again, without those of the one before. */
static fb_code copy_restarted(const fb_positions_place *place, const fb_positions *loaded,
                              fb_positions *out, fb_error *err)
{
    *out = *loaded;
    out->list = fb_alloc(loaded->count * sizeof *out->list);
    if (!out->list) return fb_fail_memory(err, "the positions");
    memcpy(out->list, loaded->list, loaded->count * sizeof *out->list);
    return fb_positions_restart(out, place->topic, err);
}

fb_code fb_positions_move(const fb_positions_place *place, fb_delta *table,
                          const fb_positions *loaded, const fb_books *moves,
                          const char *reason, fb_error *err)
{
    fb_code          code = FB_OK;
    fb_positions     anew = {0};
    fb_position_txns txns = {0};
    fb_delta_result  result;
    fb_buf           books;
    fb_buf_init(&books, 65536);
    if (loaded->is_recreated) {
        FB_TRY(copy_restarted(place, loaded, &anew, err));
        loaded = &anew;
    }
    fb_buf_add_text(&books, "{\"reset\":");
    fb_buf_add_json_text(&books, reason);
    fb_buf_add_char(&books, '}');
    FB_TRY(fb_position_txns_make(place, loaded, moves, &txns, err));
    FB_TRY(fb_positions_intend(place, loaded, moves, err));
    FB_TRY(fb_delta_commit_run(table,
                               &(fb_delta_commit){.txns = txns.list,
                                                  .txns_count = txns.count,
                                                  .books = fb_buf_text(&books)},
                               &result, err));
    FB_TRY(fb_positions_kept(place, loaded, moves, fb_delta_id(table), err));
out:
    fb_position_txns_clear(&txns);
    fb_positions_clear(&anew);
    fb_buf_clear(&books);
    return code;
}
