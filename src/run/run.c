/* run.c - the loop around windows; see run.h and README.md. */
#include "run/run.h"

#include "base/file.h"
#include "base/log.h"
#include "base/step.h"
#include "base/text.h"
#include "base/time.h"
#include "run/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ATTEMPTS = 20 };

static atomic_bool stop_asked;

void fb_run_stop(void) { atomic_store(&stop_asked, true); }

const atomic_bool *fb_run_stop_flag(void) { return &stop_asked; }

bool fb_run_is_stopping(void) { return atomic_load(&stop_asked); }

void fb_run_options_init(fb_run_options *options)
{
    *options = (fb_run_options){.takes_lock = true, .fail_on_reject = -1};
}

static fb_code take_lock(const fb_document *document, const fb_pipeline *pipeline,
                         const fb_run_options *options, fb_lock *lock, fb_error *err)
{
    fb_code code = FB_OK;
    char    folder[FB_MAX_PATH], path[FB_MAX_PATH], host[128] = "", owner[256], when[40];
    FB_TRY(fb_path_join(folder, sizeof folder, document->state.path, pipeline->name, err));
    FB_TRY(fb_dir_make(folder, err));
    FB_TRY(fb_path_join(path, sizeof path, folder, "lock", err));
    gethostname(host, sizeof host - 1);
    snprintf(owner, sizeof owner, "pid %ld on %s since %s", (long)getpid(), host,
             fb_format_time_ms(fb_now_us(), when));
    code = fb_lock_take(lock, path, owner, options->wait_lock_ms, err);
    if (code == FB_EBUSY) {
        char holder[sizeof err->what];
        snprintf(holder, sizeof holder, "%s", strstr(err->what, "pid ") ? strstr(err->what, "pid ")
                                                                        : "no name");
        fb_error_set(err, FB_R_L001, "another forebay (%.300s) holds pipeline \"%s\"", holder,
                     pipeline->name);
        fb_error_state(err, "nothing was read and nothing was changed");
        fb_error_hint(err, "stop it, or wait for it with --wait-lock 60");
    }
out:
    return code;
}

/* A loss that the policy lets pass is said all the same, and stands in the commit. */
static void warn_of_loss(const fb_plan *plan)
{
    char lost[32];
    for (size_t i = 0; i < plan->count; i++)
        if (plan->partitions[i].lost > 0)
            fb_log(FB_LOG_WARN, "data_loss",
                   "partition %" PRId32 ": %s offsets from %" PRId64 " on are passed over unread, by "
                   "source.on_data_loss [FB-O001]", plan->partitions[i].partition,
                   fb_text_count(plan->partitions[i].lost, lost), plan->partitions[i].stored);
}

/* A column of the table that the configuration does not have is null in every new row. */
static void warn_of_columns(const fb_session *s)
{
    const fb_schema *table = fb_delta_schema(s->table);
    for (size_t i = 0; i < table->count; i++) {
        bool is_given = false;
        for (size_t k = 0; k < s->schema.count && !is_given; k++)
            is_given = fb_text_equal_nocase(table->columns[i].name, s->schema.columns[k].name);
        if (!is_given)
            fb_log(FB_LOG_WARN, "column_not_given",
                   "column \"%s\" of the table is not in the configuration: new rows have null there",
                   table->columns[i].name);
    }
}

static int64_t count_lost(const fb_plan *plan)
{
    int64_t lost = 0;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->partitions[i].lost > 0) lost += plan->partitions[i].lost;
    return lost;
}

/* One try: open, plan, and carry the plan out. `is_again` after another writer was met. */
static fb_code try_once(const fb_document *document, const fb_pipeline *pipeline,
                        const fb_run_options *options, bool is_plain, fb_report *report,
                        fb_error *err)
{
    fb_code         code = FB_OK;
    fb_session      session;
    fb_plan         plan = {0};
    fb_plan_options asked = {.from = &options->from,
                             .to = &options->to,
                             .timeout_ms = pipeline->source.timeout_ms};

    FB_TRY(fb_session_open(document, pipeline, pipeline->source.timeout_ms, &session, err));
    snprintf(report->target, sizeof report->target, "%s", pipeline->sink.accepted.path);
    snprintf(report->rejected, sizeof report->rejected, "%s", pipeline->sink.rejected.path);
    snprintf(report->group, sizeof report->group, "%s", session.group);
    report->table_version = fb_delta_version(session.table);
    if (is_plain) fb_session_set_files(&session, true);
    code = fb_delta_check_append(session.table, &session.schema, err);
    if (code == FB_OK) code = fb_plan_make(&session, &asked, &plan, err);
    if (code == FB_OK && plan.messages > 0) warn_of_columns(&session);
    if (code == FB_OK) report->lost = count_lost(&plan);
    if (code == FB_OK) code = fb_step_try("run.planned", err);
    if (code == FB_OK) warn_of_loss(&plan);
    if (code == FB_OK && (plan.messages > 0 || plan.jumps)) {
        fb_window_request request = {&session, &plan, options, &stop_asked};
        code = fb_window_run(&request, report, err);
        report->lag_after = plan.messages - fb_books_total(&report->books).next +
                            fb_books_total(&report->books).first;
    } else if (code == FB_OK) {
        report->lag_after = 0;
    }
    fb_plan_clear(&plan);
    fb_session_close(&session);
out:
    return code;
}

static fb_code try_until_done(const fb_document *document, const fb_pipeline *pipeline,
                              const fb_run_options *options, fb_report *report, fb_error *err)
{
    bool is_plain = false;
    for (int attempt = 1;; attempt++) {
        fb_code code = try_once(document, pipeline, options, is_plain, report, err);
        if (code != FB_ECONFLICT || attempt == MAX_ATTEMPTS || fb_run_is_stopping()) return code;
        is_plain = is_plain || err->reason == FB_R_P022;
        fb_log(err->reason == FB_R_P022 ? FB_LOG_DEBUG : FB_LOG_INFO, "reading_again",
               "%s; reading from where it is now [%s]", err->what, fb_reason_name(err->reason));
        fb_books_clear(&report->books);
        report->bytes_written = report->files_written = 0;
        fb_sleep_ms(20 + rand() % 200);
    }
}

/* Whoever failed first may not have known what a reader has to know. */
static void say_the_rest(fb_error *err)
{
    if (!err->state[0]) fb_error_state(err, "nothing was read and nothing was changed");
    if (!err->hint[0]) fb_error_hint(err, "%s", fb_reason_advice(err->reason));
}

static void settle_status(const fb_run_options *options, fb_report *report, fb_code *code,
                          fb_error *err)
{
    int64_t rejected = fb_books_total(&report->books).rejected;
    if (*code == FB_OK && options->fail_on_reject >= 0 && rejected > options->fail_on_reject) {
        fb_error_set(err, FB_R_V011, "%" PRId64 " rows were rejected, more than %" PRId64, rejected,
                     options->fail_on_reject);
        fb_error_state(err, "everything was committed; the rejected rows are in %s", report->rejected);
        fb_error_hint(err, "look at them with: forebay query 'FROM \"%s_rejected\"'", report->pipeline);
        *code = FB_EDATA;
    }
    report->exit_code = fb_code_exit_status(*code);
    report->has_error = *code != FB_OK;
    if (report->has_error) report->error = *err;
    if (*code == FB_OK || err->reason == FB_R_V011)
        report->status = rejected > 0         ? "rejected"
                         : report->warned > 0 ? "success_with_warnings"
                                              : "success";
    else
        report->status = *code == FB_EDATA ? "aborted" : "failed";
}

static void log_end(const fb_report *report)
{
    fb_book t = fb_books_total(&report->books);
    fb_buf  offsets;
    fb_buf_init(&offsets, 1 << 20);
    fb_books_print_json(&report->books, &offsets);
    const fb_log_field fields[] = {
        FB_STR("status", report->status),     FB_INT("exit_code", report->exit_code),
        FB_INT("rows", t.written),            FB_INT("rejected", t.rejected),
        FB_INT("version", report->table_version), FB_RAW("offsets", fb_buf_text(&offsets))};
    if (fb_log_is_json())
        fb_log_fields(FB_LOG_INFO, "run_finished", fields, sizeof fields / sizeof *fields, "%s", "");
    fb_buf_clear(&offsets);
}

fb_code fb_run(const fb_document *document, const fb_pipeline *pipeline,
               const fb_run_options *options, fb_report *report, fb_error *err)
{
    fb_code  code = FB_OK;
    fb_lock  lock = FB_LOCK_NONE;
    fb_error not_kept;
    fb_report_init(report);
    snprintf(report->run_id, sizeof report->run_id, "%s",
             options->run_id ? options->run_id : fb_uuid_v7().text);
    snprintf(report->pipeline, sizeof report->pipeline, "%s", pipeline->name);
    snprintf(report->topic, sizeof report->topic, "%s", pipeline->source.topic);
    if (options->is_dry) report->mode = "dry-run";
    fb_log_context(report->run_id, pipeline->name);
    if (fb_log_is_json()) fb_log(FB_LOG_INFO, "run_started", "%s", "");

    if (options->from.kind != FB_WHERE_DEFAULT && !options->keeps_stored && !options->is_dry) {
        code = fb_fail(err, O006, "--from needs --no-commit: the stored positions would no longer "
                                  "say what was read");
        goto out;
    }
    FB_TRY(fb_step_try("run.start", err));
    if (options->takes_lock && !options->is_dry)
        FB_TRY(take_lock(document, pipeline, options, &lock, err));
    FB_TRY(try_until_done(document, pipeline, options, report, err));
out:
    report->finished_us = fb_now_us();
    if (code != FB_OK) say_the_rest(err);
    settle_status(options, report, &code, err);
    log_end(report);
    if (!options->is_dry && fb_report_keep(report, document, &not_kept) != FB_OK)
        fb_log(FB_LOG_WARN, "report_not_kept", "%s [%s]", not_kept.what,
               fb_reason_name(not_kept.reason));
    fb_log_context(NULL, NULL);
    fb_lock_release(&lock);
    return code;
}
