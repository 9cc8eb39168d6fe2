/* run.c - the command `run`: one bounded run per pipeline, one after the other. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_OUTPUT_BYTES = 256 << 20 };

const fb_flag fb_read_flags[] = {
    {.name = "max-messages",
     .argument = "N",
     .key = "source.max_messages",
     .help = "at most N messages in this run    [key: source.max_messages]"},
    {.name = "timeout-ms",
     .argument = "N",
     .key = "source.timeout_ms",
     .help = "give up when the broker is silent [key: source.timeout_ms]"},
    {.name = "max-wait-ms",
     .argument = "N",
     .key = "source.max_wait_ms",
     .help = "stop early if nothing new comes   [key: source.max_wait_ms]"},
    {.name = "from",
     .argument = "WHERE",
     .help = "stored (default), earliest, latest, a time, or 0:123,1:456\n"
             "(a run from another place than stored needs --no-commit)"},
    {.name = "to", .argument = "WHERE", .help = "end (default), a time, or 0:200,1:500"},
    {.name = "partitions",
     .argument = "LIST",
     .key = "source.partitions",
     .help = "for example 0,2-5                 [key: source.partitions]"},
    {.name = "message-format",
     .argument = "F",
     .key = "source.message_format",
     .choices = "json raw text",
     .help = "json, raw, text                   [key: source.message_format]"},
    {.name = "kafka-option",
     .letter = 'X',
     .argument = "K=V",
     .help = "any librdkafka property, repeatable"},
    {.name = "to-table",
     .argument = "FOLDER",
     .key = "sink.accepted.path",
     .help = "the Delta table, instead of the one configured"},
    {.name = "name",
     .argument = "NAME",
     .help = "what a pipeline given as kafka://... is called\n[default: its topic]"},
    {.name = NULL},
};

static const fb_flag write_flags[] = {
    {.name = "dry-run", .help = "read and check, write nothing, keep the offsets"},
    {.name = "no-commit", .help = "write, but keep the stored offsets"},
    {.name = NULL},
};

static const fb_flag policy_flags[] = {
    {.name = "severity",
     .argument = "S",
     .key = "policy.severity",
     .choices = "warn reject abort",
     .help = "warn, reject, abort               [key: policy.severity]"},
    {.name = "fail-on-reject",
     .argument = "N",
     .is_optional = true,
     .help = "exit with 3 when more than N rows were rejected [N: 0]"},
    {.name = NULL},
};

static const fb_flag scheduler_flags[] = {
    {.name = "run-id",
     .argument = "ID",
     .help = "use this id in reports and logs (ID-PIPELINE when several run)"},
    {.name = "empty-exit-code",
     .argument = "N",
     .help = "exit with N when there was nothing to read      [0]"},
    {.name = "wait-lock",
     .argument = "SECONDS",
     .help = "wait for another run of the same pipeline       [0]"},
    {.name = "no-lock", .help = "do not take the pipeline's lock"},
    {.name = "report",
     .argument = "FILE",
     .help = "also write the run report (JSON) here"},
    {.name = "progress",
     .argument = "WHEN",
     .choices = "auto bar lines none",
     .help = "auto, bar, lines, none                          [auto]"},
    {.name = NULL},
};

static const fb_flag_group groups[] = {
    {"What to read, and where to", fb_read_flags},
    {"What to write", write_flags},
    {"What to do about bad rows", policy_flags},
    {"For schedulers", scheduler_flags},
    {NULL, NULL},
};

/* --- options -------------------------------------------------------------------------- */

static fb_progress read_progress(const fb_cli *cli)
{
    const char *when = fb_cli_text(cli, "progress");
    if (!when || strcmp(when, "auto") == 0) return FB_PROGRESS_AUTO;
    if (strcmp(when, "bar") == 0) return FB_PROGRESS_BAR;
    return strcmp(when, "lines") == 0 ? FB_PROGRESS_LINES : FB_PROGRESS_NONE;
}

/* It becomes the name of a file. */
static fb_code check_run_id(const char *id, fb_error *err)
{
    size_t size = id ? strlen(id) : 1;
    bool   is_fine = size >= 1 && size < sizeof((fb_report *)0)->run_id;
    for (size_t i = 0; id && i < size; i++)
        if ((unsigned char)id[i] <= 0x20 || id[i] == '/' || id[i] == 0x7f)
            is_fine = false;
    if (id && id[0] == '.') is_fine = false;
    if (is_fine) return FB_OK;
    return fb_fail(err, C001,
                   "--run-id takes 1 to %zu characters without spaces and slashes, the "
                   "first no dot",
                   sizeof((fb_report *)0)->run_id - 1);
}

static fb_code read_options(const fb_cli *cli, fb_run_options *out, fb_error *err)
{
    fb_code code = FB_OK;
    int64_t seconds;
    fb_run_options_init(out);
    FB_TRY(fb_cli_where(cli, "from", &out->from, err));
    FB_TRY(fb_cli_where(cli, "to", &out->to, err));
    FB_TRY(fb_cli_number(cli, "wait-lock", 0, 86400, &seconds, err));
    FB_TRY(fb_cli_number(cli, "fail-on-reject",
                         fb_cli_has(cli, "fail-on-reject") ? 0 : -1, INT64_MAX,
                         &out->fail_on_reject, err));
    FB_TRY(check_run_id(fb_cli_text(cli, "run-id"), err));
    out->run_id = fb_cli_text(cli, "run-id");
    out->is_dry = fb_cli_has(cli, "dry-run");
    out->keeps_stored = fb_cli_has(cli, "no-commit");
    out->takes_lock = !fb_cli_has(cli, "no-lock");
    out->wait_lock_ms = seconds * 1000;
    out->progress = read_progress(cli);
    if (out->from.kind == FB_WHERE_DEFAULT || out->keeps_stored || out->is_dry) goto out;
    code = fb_fail(err, C001,
                   "--from %s would leave the stored offsets out of step with the table",
                   fb_cli_text(cli, "from"));
    fb_error_hint(err,
                  "add --no-commit to write those rows and keep the stored offsets, or "
                  "--dry-run to look only");
out:
    return code;
}

/* --- what was done -------------------------------------------------------------------- */

/* "12 rejected: amount not_null 6, not_json 3.   forebay query "FROM orders_rejected"" */
void fb_cli_say_rejected(const fb_cli *cli, const fb_report *report, const char *name)
{
    char    again[FB_MAX_AGAIN];
    char    number[32];
    int64_t rejected = fb_books_total(&report->books).rejected;
    fb_buf  text;
    if (rejected == 0 && report->warned == 0) return;
    fb_buf_init(&text, MAX_OUTPUT_BYTES);
    fb_buf_printf(&text,
                  "%s %s:", fb_text_count(rejected ? rejected : report->warned, number),
                  rejected ? "rejected" : "written with faulty values as null");
    for (size_t i = 0; i < report->checks_count; i++) {
        const fb_check_count *check = &report->checks[i];
        fb_buf_printf(&text, "%s %s%s%s %s", i ? "," : "", check->column,
                      check->column[0] ? " " : "", fb_refusal_word(check->rule),
                      fb_text_count(check->violations, number));
    }
    if (rejected && name)
        fb_buf_printf(&text, ".   %s query 'FROM \"%s_rejected\"'",
                      fb_cli_again(cli, again), name);
    fb_log_plain("%s", fb_buf_text(&text));
    fb_buf_clear(&text);
}

static const fb_table_column columns[] = {
    {"pipeline", FB_CELL_TEXT},   {"topic", FB_CELL_TEXT},
    {"status", FB_CELL_TEXT},     {"read", FB_CELL_NUMBER},
    {"written", FB_CELL_NUMBER},  {"rejected", FB_CELL_NUMBER},
    {"filtered", FB_CELL_NUMBER}, {"version", FB_CELL_NUMBER},
    {"run_id", FB_CELL_TEXT},
};

static void add_row(fb_table *table, const fb_report *report)
{
    fb_book total = fb_books_total(&report->books);
    fb_table_add_text(table, report->pipeline);
    fb_table_add_text(table, report->topic);
    fb_table_add_text(table, report->status);
    fb_table_add_number(table, total.delivered);
    fb_table_add_number(table, total.written);
    fb_table_add_number(table, total.rejected);
    fb_table_add_number(table, total.filtered);
    fb_table_add_number(table, report->table_version);
    fb_table_add_text(table, report->run_id);
}

/* One call of the command: its options and what it has gathered. */
typedef struct runner {
    fb_cli        *cli;
    fb_chosen      chosen;
    fb_run_options options;
    fb_buf         reports; ///< one JSON object a line
    fb_table       table;   ///< for csv and markdown
    int64_t        read;
} runner;

static void show(runner *r, const fb_pipeline *pipeline, const fb_report *report,
                 fb_code code)
{
    size_t before = r->reports.size;
    bool   is_kept = code == FB_OK || report->error.reason == FB_R_V011;
    fb_buf text;
    fb_report_print_json(report, &r->chosen.document, &r->reports);
    fb_buf_add_char(&r->reports, '\n');
    if (r->cli->form == FB_AS_JSON || r->cli->form == FB_AS_JSONL) {
        fputs(fb_buf_text(&r->reports) + before, r->cli->out);
    } else if (r->cli->form != FB_AS_TABLE) {
        add_row(&r->table, report);
    } else if (is_kept) {
        fb_buf_init(&text, MAX_OUTPUT_BYTES);
        fb_report_print_text(report, &text);
        fprintf(r->cli->out, "%s\n", fb_buf_text(&text));
        fb_buf_clear(&text);
    }
    fflush(r->cli->out);
    bool is_there = strcmp(report->mode, "run") == 0 &&
                    pipeline->sink.rejected.format == FB_REJECTED_DELTA;
    if (is_kept) fb_cli_say_rejected(r->cli, report, is_there ? pipeline->name : NULL);
}

static void run_one(runner *r, const fb_pipeline *pipeline)
{
    fb_error         err = {0};
    char             id[sizeof((fb_report *)0)->run_id + FB_MAX_NAME + 1];
    fb_run_options   options = r->options;
    static fb_report report; // too large for a stack
    fb_report_init(&report);
    if (options.run_id && r->chosen.count > 1) {
        snprintf(id, sizeof id, "%s-%s", options.run_id, pipeline->name);
        options.run_id = id;
    }
    fb_code code = fb_run(&r->chosen.document, pipeline, &options, &report, &err);
    if (code != FB_OK) report.error = err;
    show(r, pipeline, &report, code);
    int64_t read = fb_books_total(&report.books).delivered;
    if (code != FB_OK) {
        if (r->chosen.count > 1) fb_error_at(&err, "%s", pipeline->name);
        fb_cli_report(r->cli, &err);
    }
    /* A stop that kept what was read is a good end, one that had nothing to keep is not. */
    if (fb_cli_signal() && (code == FB_ECANCELED || (code == FB_OK && read == 0)))
        r->cli->exit_status = 128 + fb_cli_signal();
    r->read += read;
    fb_report_clear(&report);
}

/* A pipeline that fails leaves the others alone; a stop ends them all. */
static void run_all(runner *r)
{
    size_t at = 0;
    while (at < r->chosen.count && !fb_run_is_stopping())
        run_one(r, r->chosen.pipelines[at++]);
    for (; at < r->chosen.count; at++) {
        fb_log_plain("%s: not begun", r->chosen.pipelines[at]->name);
        r->cli->exit_status = 128 + fb_cli_signal();
    }
}

/* Not with fb_file_replace(): /dev/null and a pipe are written to, and stay. */
static fb_code write_reports(const runner *r, const char *path, fb_error *err)
{
    char    temp[FB_MAX_PATH];
    FILE   *file;
    fb_code code = fb_file_begin(path, temp, &file, err);
    if (code != FB_OK) return code;
    fwrite(r->reports.data, 1, r->reports.size, file);
    return fb_file_finish(file, temp, path, true, err);
}

static fb_code finish(runner *r, int64_t empty_status, fb_error *err)
{
    fb_code     code = FB_OK;
    const char *path = fb_cli_text(r->cli, "report");
    FB_TRY(fb_buf_check(&r->reports, "the reports", err));
    if (path) FB_TRY(write_reports(r, path, err));
    if (r->read == 0 && r->cli->exit_status < 0) r->cli->exit_status = (int)empty_status;
out:
    return code;
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    fb_code       code = FB_OK, ended = FB_OK;
    int64_t       empty_status;
    bool          has_rows = cli->form == FB_AS_CSV || cli->form == FB_AS_MARKDOWN;
    static runner r;
    r = (runner){.cli = cli};
    fb_buf_init(&r.reports, MAX_OUTPUT_BYTES);
    FB_TRY(fb_cli_number(cli, "empty-exit-code", 0, 255, &empty_status, err));
    FB_TRY(read_options(cli, &r.options, err));
    FB_TRY(fb_chosen_open(cli, cli->words, cli->words_count, &r.chosen, err));
    if (r.chosen.count > 1 && fb_cli_has(cli, "to-table"))
        FB_TRY(fb_fail(err, C001, "--to-table is for one pipeline, not for %zu",
                       r.chosen.count));
    fb_cli_catch_signals(FB_SAID_STOPPING);
    if (has_rows)
        fb_table_begin(&r.table, cli->form, cli->out, columns,
                       sizeof columns / sizeof *columns);
    run_all(&r);
    if (has_rows) ended = fb_table_end(&r.table, err);
    code = ended == FB_OK ? finish(&r, empty_status, err) : ended;
out:
    fb_buf_clear(&r.reports);
    fb_chosen_close(&r.chosen);
    return code;
}

const fb_command fb_command_run = {
    .name = "run",
    .section = "Move data",
    .summary =
        "Land the waiting messages of one or more topics in their tables, then exit",
    .words = "[PIPELINE ...]",
    .text =
        "Reads from the stored offset up to the end of the topic as it was at the start\n"
        "(or up to --max-messages), checks the rows, commits rows and offsets together,\n"
        "prints a report. Run it again and it continues. Without PIPELINE: all of them, "
        "one\n"
        "after the other. With --json each report is an object on a line of its own.",
    .examples =
        "forebay run orders\n"
        "forebay run orders --max-messages 1000 --dry-run\n"
        "forebay run orders --from 2026-11-28T00:00Z --to 2026-11-29T00:00Z --no-commit\n"
        "forebay run kafka://localhost:9092/orders --to-table ./lake/orders "
        "--message-format text",
    .see_also = "forebay help offsets, forebay help config, forebay explain CODE",
    .groups = groups,
    .forms = FB_FORMS_ALL,
    .words_max = -1,
    .run = run,
};
