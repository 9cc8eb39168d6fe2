/* report.c - one run's account; see report.h. */
#include "run/report.h"

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPORT_BYTES = 16 << 20, MAX_KEPT = 100000 };

void fb_report_init(fb_report *report)
{
    *report = (fb_report){.mode = "run", .status = "failed", .table_version = -1, .lag_after = -1};
    report->started_us = fb_now_us();
}

void fb_report_clear(fb_report *report) { fb_books_clear(&report->books); }

static void add_number(fb_buf *out, const char *name, int64_t n)
{
    if (n < 0)
        fb_buf_printf(out, ",\"%s\":null", name);
    else
        fb_buf_printf(out, ",\"%s\":%" PRId64, name, n);
}

static void add_text(fb_buf *out, const char *name, const char *text)
{
    fb_buf_printf(out, ",\"%s\":", name);
    fb_buf_add_json_text(out, text && text[0] ? text : NULL);
}

static void add_offsets(fb_buf *out, const fb_books *books)
{
    fb_buf_add_text(out, ",\"offsets\":");
    fb_books_print_json(books, out);
}

static void add_checks(fb_buf *out, const fb_report *r, const char *severity)
{
    fb_buf_add_text(out, ",\"checks\":[");
    for (size_t i = 0; i < r->checks_count; i++) {
        const fb_check_count *c = &r->checks[i];
        fb_buf_printf(out, "%s{\"rule\":\"%s\"", i ? "," : "", fb_refusal_word(c->rule));
        add_text(out, "code", fb_reason_name(fb_refusal_reason(c->rule)));
        add_text(out, "column", c->column);
        add_text(out, "severity", severity);
        add_number(out, "violations", c->violations);
        fb_buf_add_char(out, '}');
    }
    fb_buf_add_char(out, ']');
}

static void add_error(fb_buf *out, const fb_report *r)
{
    if (!r->has_error) {
        fb_buf_add_text(out, ",\"error\":null");
        return;
    }
    fb_buf_printf(out, ",\"error\":{\"code\":\"%s\"", fb_reason_name(r->error.reason));
    add_text(out, "what", r->error.what);
    add_text(out, "where", r->error.where);
    add_text(out, "state", r->error.state);
    add_text(out, "do", r->error.hint);
    fb_buf_add_char(out, '}');
}

static const char *severity_word(const fb_document *document, const char *pipeline)
{
    static const char *const words[] = {"warn", "reject", "abort"};
    for (size_t i = 0; i < document->pipelines_count; i++)
        if (strcmp(document->pipelines[i].name, pipeline) == 0)
            return words[document->pipelines[i].policy.severity];
    return "reject";
}

static void add_config(fb_buf *out, const fb_document *document)
{
    const char *comma = "";
    fb_buf_add_text(out, ",\"config\":{\"files\":[");
    for (const fb_config_file *f = document->config.files; f; f = f->next) {
        fb_buf_add_text(out, comma);
        fb_buf_add_json_text(out, f->name);
        comma = ",";
    }
    fb_buf_add_text(out, "]}");
}

void fb_report_print_json(const fb_report *r, const fb_document *document, fb_buf *out)
{
    char    when[40];
    fb_book t = fb_books_total(&r->books);
    fb_buf_add_text(out, "{\"schema\":\"forebay.report.v1\"");
    add_text(out, "run_id", r->run_id);
    add_text(out, "pipeline", r->pipeline);
    add_text(out, "topic", r->topic);
    add_text(out, "mode", r->mode);
    add_text(out, "status", r->status);
    fb_buf_printf(out, ",\"exit_code\":%d", r->exit_code);
    add_text(out, "started_at", fb_format_time_ms(r->started_us, when));
    add_text(out, "finished_at", fb_format_time_ms(r->finished_us, when));
    add_config(out, document);
    add_text(out, "version", FB_VERSION);
    fb_buf_printf(out,
                  ",\"rows\":{\"read\":%" PRId64 ",\"written\":%" PRId64 ",\"rejected\":%" PRId64
                  ",\"dead_letters\":0,\"filtered\":%" PRId64 ",\"warnings\":%" PRId64 "}",
                  t.delivered, t.written, t.rejected, t.filtered, r->warned);
    fb_buf_printf(out, ",\"bytes\":{\"written\":%" PRId64 "},\"files\":{\"written\":%" PRId64 "}",
                  r->bytes_written, r->files_written);
    add_offsets(out, &r->books);
    fb_buf_add_text(out, ",\"target\":{\"format\":\"delta\"");
    add_text(out, "uri", r->target);
    add_number(out, "version", r->table_version);
    fb_buf_add_char(out, '}');
    add_text(out, "rejected_to", r->rejected);
    add_checks(out, r, severity_word(document, r->pipeline));
    fb_buf_printf(out, ",\"stages_ms\":{\"read\":%" PRId64 ",\"commit\":%" PRId64 "}", r->read_ms,
                  r->commit_ms);
    add_text(out, "closed_by", r->closed_by);
    add_number(out, "lag_after", r->lag_after);
    add_number(out, "lost", r->lost);
    add_error(out, r);
    fb_buf_add_char(out, '}');
}

void fb_report_print_text(const fb_report *r, fb_buf *out)
{
    char    read[32], written[32], rejected[32], filtered[32];
    fb_book t = fb_books_total(&r->books);
    fb_buf_printf(out, "%s   %s read = %s written + %s rejected", r->pipeline,
                  fb_text_count(t.delivered, read), fb_text_count(t.written, written),
                  fb_text_count(t.rejected, rejected));
    if (t.filtered > 0)
        fb_buf_printf(out, " + %s skipped", fb_text_count(t.filtered, filtered));
    if (r->lost > 0)
        fb_buf_printf(out, "     %s lost before they were read", fb_text_count(r->lost, filtered));
    if (strcmp(r->mode, "dry-run") == 0)
        fb_buf_add_text(out, "     dry run, nothing written");
    else if (r->table_version >= 0)
        fb_buf_printf(out, "     delta v%" PRId64, r->table_version);
    fb_buf_printf(out, "   %.1f s", (double)(r->finished_us - r->started_us) / 1e6);
}

/* --- keeping -------------------------------------------------------------------------- */

typedef struct kept {
    char  **names;
    size_t  count, room;
    fb_arena arena;
} kept;

static fb_code note_name(void *context, const char *name, fb_error *err)
{
    kept *k = context;
    if (!fb_text_ends_with(name, ".json") || k->count == k->room) return FB_OK;
    k->names[k->count] = fb_arena_strndup(&k->arena, name, strlen(name));
    if (!k->names[k->count]) return fb_fail_memory(err, "the list of reports");
    k->count++;
    return FB_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Run ids sort by time, so the oldest reports come first. */
static fb_code drop_oldest(const char *folder, int64_t keep, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    kept    k = {.room = MAX_KEPT};
    if (keep <= 0) return FB_OK;
    fb_arena_init(&k.arena, 64 << 20);
    k.names = fb_arena_alloc(&k.arena, k.room * sizeof *k.names);
    if (!k.names) FB_TRY(fb_fail_memory(err, "the list of reports"));
    FB_TRY(fb_dir_list(folder, note_name, &k, err));
    qsort(k.names, k.count, sizeof *k.names, by_name);
    for (size_t i = 0; (int64_t)(k.count - i) > keep; i++) {
        FB_TRY(fb_path_join(path, sizeof path, folder, k.names[i], err));
        fb_file_remove(path);
    }
out:
    fb_arena_clear(&k.arena);
    return code;
}

fb_code fb_report_keep(const fb_report *report, const fb_document *document, fb_error *err)
{
    fb_code code = FB_OK;
    char    name[sizeof report->run_id + 8], path[FB_MAX_PATH];
    fb_buf  text;
    fb_buf_init(&text, MAX_REPORT_BYTES);
    if (!document->report.path) goto out;
    fb_report_print_json(report, document, &text);
    fb_buf_add_char(&text, '\n');
    FB_TRY(fb_buf_check(&text, "the report", err));
    snprintf(name, sizeof name, "%s.json", report->run_id);
    FB_TRY(fb_dir_make(document->report.path, err));
    FB_TRY(fb_path_join(path, sizeof path, document->report.path, name, err));
    FB_TRY(fb_file_replace(path, text.data, text.size, err));
    FB_TRY(drop_oldest(document->report.path, document->report.keep, err));
out:
    fb_buf_clear(&text);
    return code;
}
