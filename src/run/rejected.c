/* rejected.c - see rejected.h.
 *
 * Why rows are left out by what stands in the table and not by its positions alone: the
 * positions say how far a try had come, not under which rules.  After `offsets reset`, or
 * in a new main table, a record below them may be rejected that was not before.
 */
#include "run/rejected.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/step.h"
#include "base/text.h"
#include "check/keeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SQL = 64 << 20, NAME_BYTES = 160 };

#define KNOWN_TABLE "fb_known"

typedef struct keeping {
    const fb_rejected *it;
    fb_rejects        *rejects;
    fb_positions       kept;  ///< Delta: the reject table's own
    fb_books           moves; ///< where they go
    fb_position_txns   txns;
    fb_schema          schema;
    fb_buf             relation; ///< rows to be kept
    char               prefix[NAME_BYTES + 20];
} keeping;

/* --- Delta ---------------------------------------------------------------------------- */

static fb_code load_positions(keeping *k, fb_error *err)
{
    const fb_session *s = k->it->session;
    const fb_books   *books = k->it->books;
    fb_code           code = FB_OK;
    int32_t          *ids = fb_alloc(books->count * sizeof *ids);
    /* No state folder of its own: what was landed is remembered for the main table only. */
    fb_positions_place place = s->place;
    place.file = NULL;
    place.state_folder = NULL;
    if (!ids) return fb_fail_memory(err, "the rejected rows");
    for (size_t i = 0; i < books->count; i++) ids[i] = books->list[i].partition;
    code = fb_positions_load(
        &place, fb_rejects_table(k->rejects),
        &(fb_positions_ask){s->positions.topic_id, ids, books->count}, &k->kept, err);
    if (code == FB_OK && k->kept.is_recreated)
        code = fb_positions_restart(&k->kept, s->pipeline->source.topic, err);
    fb_free(ids);
    return code;
}

/* Positions of the reject table never go back: a try may have come further than this one. */
static fb_code make_txns(keeping *k, fb_error *err)
{
    fb_code         code = FB_OK;
    const fb_books *books = k->it->books;
    FB_TRY(fb_books_reserve(&k->moves, books->count, err));
    for (size_t i = 0; i < books->count; i++) {
        k->moves.list[i] = books->list[i];
        if (k->kept.list[i].in_table > books->list[i].next)
            k->moves.list[i].next = k->kept.list[i].in_table;
    }
    FB_TRY(fb_position_txns_make(&k->it->session->place, &k->kept, &k->moves, &k->txns,
                                 err));
out:
    return code;
}

/* The rows of this window that an earlier one may have kept. @return whether there are any */
static bool add_overlap(const keeping *k, fb_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < k->kept.count; i++) {
        const fb_book *book = &k->it->books->list[i];
        int64_t        kept = k->kept.list[i].in_table;
        if (kept <= book->first) continue;
        fb_buf_printf(out,
                      "%s_kafka_partition = %" PRId32 " AND _kafka_offset >= %" PRId64
                      " AND _kafka_offset < %" PRId64,
                      any ? " OR " : "", book->partition, book->first,
                      kept < book->next ? kept : book->next);
        any = true;
    }
    return any;
}

static fb_code run_sql(keeping *k, fb_buf *sql, fb_error *err)
{
    fb_code code = fb_buf_check(sql, "a statement", err);
    return code == FB_OK ? fb_engine_exec(k->it->session->engine, fb_buf_text(sql), err)
                         : code;
}

/* Put the rows of the table that lie in the overlap into KNOWN_TABLE. */
static fb_code read_known(keeping *k, const char *overlap, fb_error *err)
{
    fb_code        code = FB_OK;
    fb_delta_files files;
    fb_buf         sql;
    fb_delta_files_init(&files);
    fb_buf_init(&sql, MAX_SQL);
    FB_TRY(fb_delta_files_list(fb_rejects_table(k->rejects), &files, err));
    fb_buf_add_text(&sql,
                    "CREATE OR REPLACE TABLE " KNOWN_TABLE " AS SELECT _kafka_topic, "
                    "_kafka_partition, _kafka_offset, _kafka_timestamp, _kafka_value, "
                    "pipeline FROM ");
    if (files.count == 0) fb_buf_add_text(&sql, FB_KEEPER_TABLE " WHERE false");
    for (size_t i = 0; i < files.count; i++) {
        fb_buf_add_text(&sql, i ? ", " : "read_parquet([");
        fb_sql_add_text(&sql, files.paths[i]);
    }
    if (files.count > 0) {
        fb_buf_add_text(&sql, "], union_by_name = true) WHERE (");
        fb_buf_add_text(&sql, overlap);
        fb_buf_add_text(&sql, ")");
    }
    FB_TRY(run_sql(k, &sql, err));
out:
    fb_delta_files_clear(&files);
    fb_buf_clear(&sql);
    return code;
}

/* All rows, without those of the overlap that stand in the table. */
static fb_code make_relation(keeping *k, fb_error *err)
{
    static const char *const same[] = {"pipeline",         "_kafka_topic",
                                       "_kafka_partition", "_kafka_offset",
                                       "_kafka_timestamp", "_kafka_value"};
    fb_code                  code = FB_OK;
    fb_buf                   overlap, *out = &k->relation;
    fb_buf_init(&overlap, MAX_SQL);
    fb_buf_add_text(out, "(SELECT * FROM " FB_KEEPER_TABLE);
    if (add_overlap(k, &overlap)) {
        FB_TRY(fb_buf_check(&overlap, "a statement", err));
        code = read_known(k, fb_buf_text(&overlap), err);
        if (code != FB_OK && code != FB_EUNSUPPORTED) goto out;
        fb_buf_printf(out, " WHERE NOT (%s)", fb_buf_text(&overlap));
        if (code == FB_OK) {
            fb_buf_add_text(out, " OR NOT EXISTS (SELECT 1 FROM " KNOWN_TABLE
                                 " known WHERE true");
            for (size_t i = 0; i < sizeof same / sizeof *same; i++)
                fb_buf_printf(out,
                              " AND known.%s IS NOT DISTINCT FROM " FB_KEEPER_TABLE ".%s",
                              same[i], same[i]);
            fb_buf_add_char(out, ')');
        }
        code = FB_OK; // a table whose rows cannot be read: its positions must do
    }
    fb_buf_add_text(out, " ORDER BY _kafka_partition, _kafka_offset)");
    FB_TRY(fb_buf_check(out, "a statement", err));
out:
    fb_buf_clear(&overlap);
    return code;
}

/* --- files of JSON lines -------------------------------------------------------------- */

/* Pipelines may share a folder, so a name must tell where the pipeline's own ends: a dot of
 * it is written %2E. */
static void add_encoded(char *out, size_t size, const char *name)
{
    size_t used = 0;
    for (; *name && used + 4 < size; name++)
        used += (size_t)snprintf(out + used, size - used,
                                 *name == '.' || *name == '%' ? "%%%02X" : "%c", *name);
    out[used] = '\0';
}

/* "orders", or "<pipeline>.<topic>[@<id>]"; cut where a file's name would get too long. */
static void name_files(keeping *k, const fb_session *s)
{
    char     pipeline[3 * FB_MAX_NAME + 4];
    char     whole[sizeof pipeline + FB_MAX_SERIES + 2];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    add_encoded(pipeline, sizeof pipeline, s->pipeline->name);
    if (strcmp(pipeline, s->positions.series) == 0)
        snprintf(whole, sizeof whole, "%s", s->positions.series);
    else
        snprintf(whole, sizeof whole, "%s.%s", pipeline, s->positions.series);
    for (const char *at = whole; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    if (strlen(whole) < NAME_BYTES)
        snprintf(k->prefix, sizeof k->prefix, "%s", whole);
    else
        snprintf(k->prefix, sizeof k->prefix, "%.*s~%016" PRIx64, NAME_BYTES, whole,
                 hash);
}

/* Offsets that were committed before, read once more by choice: their first reading's file
 * must not be replaced. */
static bool is_repeat(const fb_rejected *it)
{
    if (it->keeps_stored) return true;
    for (size_t i = 0; i < it->books->count; i++) {
        const fb_book     *book = &it->books->list[i];
        const fb_position *p =
            fb_positions_find(&it->session->positions, book->partition);
        if (p && p->in_table > book->first) return true;
    }
    return false;
}

/* A file replaces that of an earlier try at the same offsets, which must not have been
 * committed: nobody else can do so now, for the folder is locked. */
static fb_code check_turn(const keeping *k, fb_error *err)
{
    fb_code     code = FB_OK;
    fb_session *s = k->it->session;
    FB_TRY(fb_delta_refresh(s->table, err));
    FB_TRY(fb_positions_check(&s->place, s->table, &s->positions, err));
out:
    return code;
}

/* --- the whole ------------------------------------------------------------------------ */

static fb_code keep(keeping *k, fb_error *err)
{
    fb_code code = FB_OK;
    bool    is_delta = fb_rejects_table(k->rejects) != NULL;
    bool    moves = !k->it->keeps_stored;
    FB_TRY(fb_keeper_schema(&k->schema, err));
    if (is_delta && moves) FB_TRY(load_positions(k, err));
    if (is_delta && moves) FB_TRY(make_txns(k, err));
    if (!is_delta && moves) FB_TRY(check_turn(k, err));
    FB_TRY(make_relation(k, err));
    name_files(k, k->it->session);
    fb_rejects_batch batch = {.relation = fb_buf_text(&k->relation),
                              .schema = &k->schema,
                              .prefix = k->prefix,
                              .repeat = is_repeat(k->it) ? k->it->run_id : NULL,
                              .books = k->it->books,
                              .txns = k->txns.list,
                              .txns_count = k->txns.count,
                              .about = k->it->about};
    FB_TRY(fb_rejects_write(k->rejects, &batch, err));
    FB_TRY(fb_step_try("run.rejects.kept", err));
out:
    return code;
}

fb_code fb_rejected_keep(const fb_rejected *rejected, fb_rejects **out, fb_error *err)
{
    const fb_session *s = rejected->session;
    keeping           k = {.it = rejected};
    fb_schema_init(&k.schema);
    fb_buf_init(&k.relation, MAX_SQL);
    *out = NULL;
    fb_code code = fb_rejects_open(&s->pipeline->sink.rejected, s->engine, out, err);
    k.rejects = *out;
    if (code == FB_OK) code = keep(&k, err);
    fb_position_txns_clear(&k.txns);
    fb_positions_clear(&k.kept);
    fb_books_clear(&k.moves);
    fb_schema_clear(&k.schema);
    fb_buf_clear(&k.relation);
    return code;
}

/* --- before positions go back --------------------------------------------------------- */

typedef struct apart {
    const fb_session *session;
    const fb_books   *moves;
    const char       *prefix, *stamp;
} apart;

/* Was the window of the file "<prefix>-<partition>-<first>.ndjson" committed, and may it be
 * read again from there? */
static bool is_read_again(const apart *a, const char *name)
{
    long long partition, first;
    int       end = 0;
    size_t    size = strlen(a->prefix);
    if (strncmp(name, a->prefix, size) != 0) return false;
    if (sscanf(name + size, "-%10lld-%20lld.ndjson%n", &partition, &first, &end) != 2 ||
        end == 0 || name[size + (size_t)end])
        return false;
    for (size_t i = 0; i < a->moves->count; i++) {
        const fb_book     *move = &a->moves->list[i];
        const fb_position *p = fb_positions_find(&a->session->positions, move->partition);
        if (move->partition == partition && p)
            return first >= move->next && first < p->in_table;
    }
    return false;
}

static fb_code set_apart(void *context, const char *name, fb_error *err)
{
    fb_code      code = FB_OK;
    const apart *a = context;
    const char  *folder = a->session->pipeline->sink.rejected.path;
    char         from[FB_MAX_PATH], to[FB_MAX_PATH], other[FB_MAX_PATH];
    if (!is_read_again(a, name)) return FB_OK;
    snprintf(other, sizeof other, "%.*s-before-%s.ndjson",
             (int)(strlen(name) - strlen(".ndjson")), name, a->stamp);
    FB_TRY(fb_path_join(from, sizeof from, folder, name, err));
    FB_TRY(fb_path_join(to, sizeof to, folder, other, err));
    FB_TRY(fb_file_rename(from, to, err));
out:
    return code;
}

fb_code fb_rejected_set_apart(const fb_session *session, const fb_books *moves,
                              const char *stamp, fb_error *err)
{
    fb_code                    code = FB_OK;
    fb_rejects                *rejects = NULL;
    keeping                    k = {0};
    const fb_rejected_options *options = &session->pipeline->sink.rejected;
    if (options->format != FB_REJECTED_NDJSON || !fb_file_exists(options->path))
        return FB_OK;
    FB_TRY(fb_rejects_open(options, session->engine, &rejects, err)); // locks the folder
    name_files(&k, session);
    apart a = {session, moves, k.prefix, stamp};
    FB_TRY(fb_dir_list(options->path, set_apart, &a, err));
    FB_TRY(fb_file_sync(options->path, err));
out:
    fb_rejects_close(rejects);
    return code;
}
