/* window.c - one window, as one query and at most two commits.
 *
 * The way of a window (run/README.md numbers what must hold):
 *   read     the query pulls records through the scan into a data file nobody refers to
 *   ask      is the topic still the one that was planned for?
 *   balance  what the source, the workers and the file have counted must add up
 *   judge    the policy may stop here, before anything is written
 *   rejects  rejected rows are kept first, under positions of their own
 *   commit   rows and positions become visible at once
 *   after    local notes, the group's mirror, a checkpoint: all of it can fail without harm
 */
#include "run/window.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/step.h"
#include "base/text.h"
#include "base/time.h"
#include "check/keeper.h"
#include "decode/json.h"
#include "decode/text.h"
#include "run/progress.h"
#include "run/rejected.h"
#include "run/scan.h"
#include "run/unique.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SQL = 1 << 20, MAX_ABOUT = 16 << 20, MIRROR_MS = 5000 };

typedef struct window {
    const fb_window_request *request;
    fb_session              *session;
    fb_report               *report;
    fb_kafka_window         *source;
    fb_decoder               decoder;
    bool                     is_json;
    fb_keeper               *keeper;
    fb_unique               *unique; ///< NULL: no column is unique
    fb_rejects              *rejects; ///< open until the commit is done
    fb_delta_adds            adds;
    fb_books                 books;
    fb_buf                   about; ///< JSON for commitInfo
} window;

static const char *severity(const window *w)
{
    return w->session->pipeline->policy.severity == FB_SEVERITY_WARN ? "warn" : "reject";
}

/* --- opening -------------------------------------------------------------------------- */

static fb_code open_source(window *w, fb_error *err)
{
    const fb_plan          *plan = w->request->plan;
    const fb_kafka_source  *source = &w->session->pipeline->source;
    fb_code                 code = FB_OK;
    fb_kafka_range         *ranges = fb_alloc(plan->count * sizeof *ranges);
    fb_kafka_window_options options = {.ranges = ranges,
                                       .count = plan->count,
                                       .max_messages = source->max_messages,
                                       .max_wait_ms = source->max_wait_ms,
                                       .timeout_ms = source->timeout_ms,
                                       .stop = w->request->stop,
                                       .queue_bytes = w->session->document->memory_bytes / 64};
    if (!ranges) return fb_fail_memory(err, "a window");
    for (size_t i = 0; i < plan->count; i++)
        ranges[i] = (fb_kafka_range){plan->partitions[i].partition, plan->partitions[i].first,
                                     plan->partitions[i].last};
    code = fb_kafka_window_open(w->session->kafka, &options, &w->source, err);
    fb_free(ranges);
    return code;
}

static fb_code open_decoder(window *w, fb_error *err)
{
    const fb_pipeline *p = w->session->pipeline;
    w->is_json = p->source.message_format == FB_FORMAT_JSON;
    if (!w->is_json) {
        fb_text_decoder_init(&w->decoder, p->source.message_format == FB_FORMAT_TEXT,
                             &p->source.max_message_bytes);
        return FB_OK;
    }
    fb_json_options options = {
        .duplicate_keys = (fb_duplicate_keys)p->schema.duplicate_keys,
        .max_depth = (int)p->source.max_depth,
        .max_message_bytes = p->source.max_message_bytes,
        .reject_missing = p->schema.mismatch.missing_columns == FB_MISSING_REJECT,
        .reject_extra = p->schema.mismatch.extra_columns == FB_EXTRA_REJECT};
    return fb_json_open(&w->session->decoded, &options, &w->decoder, err);
}

static fb_code open_keeper(window *w, fb_error *err)
{
    fb_keeper_options options = {.pipeline = w->session->pipeline->name,
                                 .run_id = w->report->run_id,
                                 .topic = w->session->pipeline->source.topic,
                                 .severity = severity(w),
                                 .source = fb_kafka_window_source(w->source)};
    return fb_keeper_open(w->session->engine, &options, &w->keeper, err);
}

static fb_code open_scan(window *w, fb_error *err)
{
    fb_session            *s = w->session;
    const fb_pipeline     *p = s->pipeline;
    const fb_plan         *plan = w->request->plan;
    long                   cores = sysconf(_SC_NPROCESSORS_ONLN);
    fb_window_scan_options options = {
        .schema = w->unique ? fb_unique_schema(w->unique) : &s->schema,
        .decoded = &s->decoded,
        .metadata = w->unique ? fb_unique_metadata(w->unique) : s->metadata,
        .topic = p->source.topic,
        .source = fb_kafka_window_source(w->source),
        .decoder = w->decoder,
        .refuser = fb_keeper_refuser(w->keeper),
        .keeps_faulty_rows = p->policy.severity == FB_SEVERITY_WARN,
        .skips_tombstones = p->schema.tombstones == FB_TOMBSTONES_SKIP && w->is_json,
        .rejects_tombstones = p->schema.tombstones == FB_TOMBSTONES_REJECT && w->is_json,
        .workers = cores > 16 ? 16 : (int)cores,
        .partitions_max = plan->partitions[plan->count - 1].partition + 1};
    return fb_window_scan_open(&options, s->engine, &s->scan, err);
}

static fb_code open_window(window *w, fb_error *err)
{
    fb_code code = FB_OK;
    FB_TRY(open_source(w, err));
    FB_TRY(open_decoder(w, err));
    FB_TRY(open_keeper(w, err));
    FB_TRY(fb_unique_open(w->session, severity(w), w->report->run_id, &w->unique, err));
    FB_TRY(open_scan(w, err));
out:
    return code;
}

static void close_window(window *w)
{
    fb_rejects_close(w->rejects);
    fb_unique_free(w->unique);
    fb_keeper_free(w->keeper);
    if (w->is_json) fb_json_close(&w->decoder);
    fb_kafka_window_close(w->source);
    fb_delta_adds_clear(&w->adds);
    fb_books_clear(&w->books);
    fb_buf_clear(&w->about);
}

/* --- reading -------------------------------------------------------------------------- */

/* Run the one statement that reads the topic. */
static fb_code run_query(window *w, const char *sql, duckdb_result *result, fb_error *err)
{
    fb_progress_meter *meter =
        fb_progress_start(w->request->options->progress, w->session->pipeline->name, w->source,
                          w->request->plan->messages);
    int64_t started = fb_mono_ms();
    fb_code code = fb_engine_query_scan(w->session->engine, sql, result, err);
    w->report->read_ms += fb_mono_ms() - started;
    fb_progress_finish(meter);
    return code;
}

static fb_code copy_rows(window *w, const char *relation, bool reads_topic, fb_error *err)
{
    fb_code       code = FB_OK;
    char          path[FB_MAX_PATH] = "";
    fb_buf        sql;
    duckdb_result result;
    fb_session   *s = w->session;
    fb_buf_init(&sql, MAX_SQL);
    FB_TRY(fb_delta_copy_sql(s->table, &s->schema, relation, &sql, path, err));
    if (reads_topic)
        FB_TRY(run_query(w, fb_buf_text(&sql), &result, err));
    else
        FB_TRY(fb_engine_query(s->engine, fb_buf_text(&sql), &result, err));
    code = fb_delta_adds_from_copy(s->table, &s->schema, &result, &w->adds, err);
    duckdb_destroy_result(&result);
out:
    if (code != FB_OK && w->adds.count == 0 && path[0]) fb_file_remove(path); // a part of it
    fb_buf_clear(&sql);
    return code;
}

/* A -0.0 is rare, and only a file without dictionaries keeps its sign: where the file is
 * written already, the window is read again. */
static fb_code keep_signs(window *w, fb_error *err)
{
    fb_session *s = w->session;
    if (s->writes_plain || !fb_window_scan_has_negative_zero(s->scan)) return FB_OK;
    if (w->request->options->is_dry) return FB_OK;
    fb_session_set_files(s, true);
    if (w->unique) return FB_OK; // its file comes later
    return fb_fail(err, P022, "a value is -0.0: the window is read again to keep its sign");
}

static fb_code read_rows(window *w, fb_error *err)
{
    fb_code       code = FB_OK;
    duckdb_result result;
    if (w->request->options->is_dry && !w->unique) {
        FB_TRY(run_query(w, "SELECT count(*) FROM " FB_SCAN_NAME "()", &result, err));
        duckdb_destroy_result(&result);
    } else if (w->unique) {
        FB_TRY(run_query(w, FB_UNIQUE_READ, &result, err));
        duckdb_destroy_result(&result);
    } else {
        FB_TRY(copy_rows(w, "(SELECT * FROM " FB_SCAN_NAME "())", true, err));
    }
    FB_TRY(fb_step_try("run.read", err));
    FB_TRY(keep_signs(w, err));
    FB_TRY(fb_keeper_finish(w->keeper, err));
    if (w->unique) {
        FB_TRY(fb_unique_judge(w->unique, err));
        if (!w->request->options->is_dry)
            FB_TRY(copy_rows(w, fb_unique_relation(w->unique), false, err));
    }
out:
    return code;
}

/* A topic that was deleted and made again while it was read has records of its own at the
 * offsets that were planned. Ids do not come back: if it is the same one now, all that was
 * read is of it. Brokers that do not answer any more have made no topic either. */
static fb_code check_topic(window *w, fb_error *err)
{
    fb_code        code = FB_OK;
    fb_error       ignored;
    fb_kafka_topic now = {0};
    const fb_plan *plan = w->request->plan;
    if (!plan->topic_id[0] || fb_kafka_window_why(w->source) == FB_WINDOW_TIMEOUT) return FB_OK;
    if (fb_kafka_describe(w->session->kafka, w->session->pipeline->source.timeout_ms, &now,
                          &ignored) == FB_OK &&
        strcmp(now.id, plan->topic_id) != 0) {
        fb_error_set(err, FB_R_O003,
                     "topic \"%s\" was deleted and made again while it was read: it has id %s now",
                     w->session->pipeline->source.topic, now.id);
        fb_error_hint(err, "run again: the start says how to go on with the new topic");
        code = FB_EGAP;
    }
    fb_kafka_topic_clear(&now);
    return code;
}

/* --- balance and policy --------------------------------------------------------------- */

static void note_check(void *context, fb_refusal_id rule, const char *column, int64_t violations)
{
    fb_report *r = context;
    if (r->checks_count == FB_MAX_CHECKS) return;
    fb_check_count *c = &r->checks[r->checks_count++];
    c->rule = rule;
    c->violations = violations;
    snprintf(c->column, sizeof c->column, "%s", column ? column : "");
}

static fb_code balance(window *w, fb_error *err)
{
    fb_code code = FB_OK;
    int64_t in_files = 0;
    FB_TRY(fb_kafka_window_books(w->source, &w->books, err));
    fb_window_scan_count(w->session->scan, &w->books);
    if (w->unique) fb_unique_count(w->unique, &w->books);
    FB_TRY(fb_books_check(&w->books, w->session->pipeline->source.topic, err));
    for (size_t i = 0; i < w->adds.count; i++)
        in_files += w->adds.items[i].rows;
    int64_t written = fb_books_total(&w->books).written;
    if (!w->request->options->is_dry && in_files != written)
        code = fb_fail(err, Z002, "%" PRId64 " rows were handed over, %" PRId64 " are in the files",
                       written, in_files);
out:
    return code;
}

static void fill_report(window *w)
{
    fb_report *r = w->report;
    fb_books_clear(&r->books);
    r->books = w->books;
    w->books = (fb_books){0};
    r->closed_by = fb_window_end_name(fb_kafka_window_why(w->source));
    r->warned = fb_window_scan_warned(w->session->scan) + (w->unique ? fb_unique_warned(w->unique) : 0);
    r->checks_count = 0;
    fb_keeper_each_check(w->keeper, note_check, r);
    if (w->unique) fb_unique_each_check(w->unique, note_check, r);
    for (size_t i = 0; i < w->adds.count; i++) {
        r->bytes_written += w->adds.items[i].size_bytes;
        r->files_written++;
    }
}

static fb_code judge(window *w, fb_error *err)
{
    const fb_policy_options *policy = &w->session->pipeline->policy;
    int64_t                  rejected = fb_books_total(&w->report->books).rejected;
    int32_t                  partition;
    int64_t                  offset;
    fb_refusal               first;
    char                     many[32], most[32];
    if (policy->severity == FB_SEVERITY_ABORT && rejected > 0) {
        fb_error_set(err, FB_R_V010, "%s rows break a rule and policy.severity is abort",
                     fb_text_count(rejected, many));
        if (fb_keeper_first(w->keeper, &partition, &offset, &first))
            fb_error_at(err, "%s[%" PRId32 "]@%" PRId64 ": %s%s%s", w->session->pipeline->source.topic,
                        partition, offset, fb_refusal_word(first.id), first.column ? " " : "",
                        first.column ? first.column : "");
        fb_error_hint(err, "mend the records or the rule, or choose policy.severity: reject; "
                           "forebay run %s --dry-run counts them again", w->session->pipeline->name);
        return FB_EDATA;
    }
    if (policy->max_rejects == FB_UNSET || rejected <= policy->max_rejects) return FB_OK;
    fb_error_set(err, FB_R_V012, "%s rows were rejected, more than policy.max_rejects (%s)",
                 fb_text_count(rejected, many), fb_text_count(policy->max_rejects, most));
    fb_error_hint(err, "forebay run %s --dry-run counts them by rule; raise max_rejects if they "
                       "are meant", w->session->pipeline->name);
    return FB_EDATA;
}

/* --- keeping -------------------------------------------------------------------------- */

static fb_code describe(window *w, fb_error *err)
{
    const fb_plan *plan = w->request->plan;
    fb_buf        *out = &w->about;
    const char    *comma = "";
    fb_buf_add_text(out, "{\"pipeline\":");
    fb_buf_add_json_text(out, w->session->pipeline->name);
    fb_buf_add_text(out, ",\"run_id\":");
    fb_buf_add_json_text(out, w->report->run_id);
    fb_buf_add_text(out, ",\"topic\":");
    fb_buf_add_json_text(out, w->session->pipeline->source.topic);
    fb_buf_add_text(out, ",\"topic_id\":");
    fb_buf_add_json_text(out, plan->topic_id);
    fb_buf_printf(out, ",\"closed_by\":\"%s\",\"books\":", w->report->closed_by);
    fb_books_print_json(&w->report->books, out);
    fb_buf_add_text(out, ",\"lost\":[");
    for (size_t i = 0; i < plan->count; i++) {
        const fb_plan_partition *q = &plan->partitions[i];
        if (q->lost <= 0) continue;
        fb_buf_printf(out, "%s{\"partition\":%" PRId32 ",\"from\":%" PRId64 ",\"to\":%" PRId64 "}",
                      comma, q->partition, q->stored, q->first);
        comma = ",";
    }
    fb_buf_add_text(out, "]}");
    return fb_buf_check(out, "the books", err);
}

static fb_code commit(window *w, fb_error *err)
{
    fb_code          code = FB_OK;
    fb_session      *s = w->session;
    const fb_books  *books = &w->report->books;
    fb_position_txns txns = {0};
    fb_delta_result  done;
    bool             moves = !w->request->options->keeps_stored;

    if (moves) {
        FB_TRY(fb_position_txns_make(&s->place, &s->positions, books, &txns, err));
        FB_TRY(fb_positions_intend(&s->place, &s->positions, books, err));
    }
    FB_TRY(fb_step_try("run.commit.before", err));
    FB_TRY(fb_delta_commit_run(s->table,
                               &(fb_delta_commit){.schema = &s->schema,
                                                  .adds = &w->adds,
                                                  .txns = txns.list,
                                                  .txns_count = txns.count,
                                                  .books = fb_buf_text(&w->about)},
                               &done, err));
    w->report->table_version = done.version;
    FB_STEP("run.commit.after");
out:
    fb_position_txns_clear(&txns);
    return code;
}

/* Nothing below can undo the commit, so what fails is said and left. */
static void after_commit(window *w)
{
    fb_session     *s = w->session;
    const fb_books *books = &w->report->books;
    fb_error        err;
    if (!w->request->options->keeps_stored) {
        if (fb_positions_kept(&s->place, &s->positions, books,
                              fb_delta_id(s->table), &err) != FB_OK)
            fb_log(FB_LOG_WARN, "state_not_kept", "%s [%s]", err.what, fb_reason_name(err.reason));
        FB_STEP("run.state.kept");
        if (s->pipeline->source.group_id &&
            fb_kafka_group_commit(s->kafka, books, MIRROR_MS, &err) != FB_OK)
            fb_log(FB_LOG_WARN, "group_not_moved", "%s [%s]", err.what, fb_reason_name(err.reason));
        FB_STEP("run.group.moved");
    }
    if (fb_delta_checkpoint_if_due(s->table, NULL, &err) != FB_OK)
        fb_log(FB_LOG_WARN, "checkpoint_failed", "%s [%s]", err.what, fb_reason_name(err.reason));
    FB_STEP("run.done");
}

/* --- the whole ------------------------------------------------------------------------ */

static fb_code keep_and_commit(window *w, fb_error *err)
{
    fb_code code = FB_OK;
    int64_t started = fb_mono_ms();
    bool    is_ndjson = w->session->pipeline->sink.rejected.format == FB_REJECTED_NDJSON;
    int64_t refused = fb_keeper_count(w->keeper) + (w->unique ? fb_unique_refused(w->unique) : 0);
    FB_TRY(describe(w, err));
    fb_rejected rejected = {.session = w->session,
                            .books = &w->report->books,
                            .run_id = w->report->run_id,
                            .about = fb_buf_text(&w->about),
                            .keeps_stored = w->request->options->keeps_stored};
    if (refused > 0 || (is_ndjson && fb_file_exists(w->session->pipeline->sink.rejected.path)))
        FB_TRY(fb_rejected_keep(&rejected, &w->rejects, err));
    FB_TRY(commit(w, err));
    after_commit(w);
out:
    w->report->commit_ms += fb_mono_ms() - started;
    return code;
}

/* What a reader must know when it went wrong: data and positions. */
static void say_state(const window *w, fb_code code, fb_error *err)
{
    char read[32];
    if (err->state[0]) return;
    fb_text_count(w->source ? fb_kafka_window_delivered(w->source) : 0, read);
    if (code == FB_EUNKNOWN)
        fb_error_state(err, "%s messages were read; whether their commit happened is not known, "
                            "the next run finds out from the table and goes on exactly there", read);
    else if (fb_delta_exists(w->session->table))
        fb_error_state(err, "%s messages were read; the table is still at v%" PRId64
                            " and the positions did not move. No data is lost.",
                       read, fb_delta_version(w->session->table));
    else
        fb_error_state(err, "%s messages were read; there is no table yet and no position. No "
                            "data is lost.", read);
}

static fb_code check_brokers(const window *w, fb_error *err)
{
    if (fb_kafka_window_why(w->source) != FB_WINDOW_TIMEOUT) return FB_OK;
    fb_book t = fb_books_total(&w->report->books);
    fb_error_set(err, FB_R_K006, "the brokers did not answer for %" PRId64 " ms",
                 w->session->pipeline->source.timeout_ms);
    fb_error_state(err, "%" PRId64 " messages that came before are committed; the rest waits",
                   t.delivered);
    fb_error_hint(err, "run again when the brokers are back: forebay run %s",
                  w->session->pipeline->name);
    return FB_EUNREACHABLE;
}

fb_code fb_window_run(const fb_window_request *request, fb_report *report, fb_error *err)
{
    fb_code code = FB_OK;
    window  w = {.request = request, .session = request->session, .report = report};
    bool    has_moved = request->plan->jumps;
    fb_delta_adds_init(&w.adds);
    fb_buf_init(&w.about, MAX_ABOUT);
    FB_TRY(open_window(&w, err));
    FB_TRY(read_rows(&w, err));
    FB_TRY(check_topic(&w, err));
    FB_TRY(balance(&w, err));
    fill_report(&w);
    FB_TRY(judge(&w, err));
    for (size_t i = 0; i < report->books.count; i++)
        has_moved = has_moved || report->books.list[i].next > report->books.list[i].first;
    if (has_moved && !request->options->is_dry) FB_TRY(keep_and_commit(&w, err));
    FB_TRY(check_brokers(&w, err));
out:
    if (code != FB_OK && code != FB_EUNREACHABLE && code != FB_EUNKNOWN)
        fb_delta_adds_discard(w.session->table, &w.adds);
    if (code != FB_OK) say_state(&w, code, err);
    close_window(&w);
    return code;
}
