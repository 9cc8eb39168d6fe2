/* demo.c - the command `demo`: everything once, on a broker inside the program.
 *
 * The folder belongs to the demo: its configuration begins with a line that says so.  A
 * second demo finds a new broker, whose offsets begin at 0 again, so it takes away what the
 * first one made, and nothing else.
 */
#include "cli/query.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "run/run.h"
#include "source/demo_broker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 20, SLICE_MS = 100 };

static const char mark[] = "# Made by `forebay demo`, which replaces it.";

static const char sql[] =
    "SELECT status, count(*) AS n, round(sum(amount), 2) AS total FROM orders "
    "GROUP BY 1 ORDER BY 2 DESC";

static const fb_flag own_flags[] = {
    {.name = "dir",
     .argument = "FOLDER",
     .help = "where to put it                [forebay-demo]"},
    {.name = "messages",
     .argument = "N",
     .help = "how many orders                [100000]"},
    {.name = "keep", .help = "keep the broker until Ctrl-C, to try other commands on it"},
    {.name = "rate",
     .argument = "N",
     .help = "with --keep: go on producing N orders a second"},
    {.name = NULL},
};

static const fb_flag_group groups[] = {{"The demo", own_flags}, {NULL, NULL}};

typedef struct demo {
    fb_cli         *cli;
    const char     *folder;            ///< as the user named it
    char            root[FB_MAX_PATH]; ///< absolute
    char            config[FB_MAX_PATH];
    int64_t         messages, rate;
    fb_demo_broker *broker;
    fb_chosen       chosen;
} demo;

/* --- the folder ----------------------------------------------------------------------- */

static fb_code path_of(const demo *d, const char *name, char out[FB_MAX_PATH],
                       fb_error *err)
{
    return fb_path_join(out, FB_MAX_PATH, d->root, name, err);
}

/* Is the configuration that is there one of ours? */
static fb_code check_mark(const demo *d, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  text;
    fb_buf_init(&text, MAX_FILE_BYTES);
    FB_TRY(fb_file_read(d->config, &text, err));
    if (strncmp(fb_buf_text(&text), mark, sizeof mark - 1) == 0) goto out;
    code = fb_fail(err, I004, "%s was not made by the demo", d->config);
    fb_error_state(err, "nothing was started and nothing was changed");
    fb_error_hint(err, "name another folder: forebay demo --dir FOLDER");
out:
    fb_buf_clear(&text);
    return code;
}

/* Remove what an earlier demo has made, from the inside out. */
static fb_code remove_old(const demo *d, fb_error *err)
{
    static const char *const folders[] = {"lake/orders/_delta_log/_sidecars",
                                          "lake/orders/_delta_log",
                                          "lake/orders",
                                          "lake/orders_rejected/_delta_log/_sidecars",
                                          "lake/orders_rejected/_delta_log",
                                          "lake/orders_rejected",
                                          ".forebay/orders",
                                          "reports"};
    fb_code                  code = FB_OK;
    char                     path[FB_MAX_PATH];
    if (!fb_file_exists(d->config)) {
        FB_TRY(path_of(d, "lake", path, err));
        if (!fb_file_exists(path)) goto out;
        code = fb_fail(err, I004, "%s has a lake that no demo made", d->folder);
        fb_error_hint(err, "name another folder: forebay demo --dir FOLDER");
        goto out;
    }
    FB_TRY(check_mark(d, err));
    fb_log_plain("%s: the tables of the last demo are replaced", d->folder);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        FB_TRY(path_of(d, folders[i], path, err));
        fb_dir_remove(path);
    }
out:
    return code;
}

static fb_code make_folder(demo *d, fb_error *err)
{
    fb_code code = fb_dir_make(d->folder, err);
    if (code != FB_OK) {
        fb_error_state(err, "nothing was started");
        fb_error_hint(err,
                      "choose a directory you may write to: forebay demo --dir ~/demo");
        return code;
    }
    if (!realpath(d->folder, d->root))
        return fb_fail(err, F001, "cannot find the folder %s", d->folder);
    FB_TRY(path_of(d, "forebay.yml", d->config, err));
    FB_TRY(remove_old(d, err));
out:
    return code;
}

/* A path as a YAML text. */
static void add_quoted(fb_buf *out, const demo *d, const char *name)
{
    char path[FB_MAX_PATH * 2];
    snprintf(path, sizeof path, "%s/%s", d->root, name);
    fb_buf_add_char(out, '\'');
    for (const char *at = path; *at; at++) {
        if (*at == '\'') fb_buf_add_char(out, '\'');
        if (*at == '$') fb_buf_add_char(out, '$');
        fb_buf_add_char(out, *at);
    }
    fb_buf_add_char(out, '\'');
}

static fb_code write_config(const demo *d, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  text;
    fb_buf_init(&text, MAX_FILE_BYTES);
    fb_buf_printf(
        &text,
        "%s\n"
        "# The broker is there while the demo runs; `forebay demo --keep` keeps it.\n"
        "version: 1\n"
        "connections:\n"
        "  events: {type: kafka, bootstrap_servers: \"%s\"}\n"
        "state: {path: ",
        mark, fb_demo_broker_address(d->broker));
    add_quoted(&text, d, ".forebay");
    fb_buf_add_text(&text, "}\nreport: {path: ");
    add_quoted(&text, d, "reports");
    fb_buf_add_text(&text,
                    "}\n"
                    "pipelines:\n"
                    "  orders:\n"
                    "    source: {connection: events, topic: " FB_DEMO_TOPIC
                    ", include_metadata: true}\n"
                    "    schema:\n"
                    "      columns:\n"
                    "        - {name: order_id, type: string, nullable: false}\n"
                    "        - {name: customer, type: string}\n"
                    "        - {name: status, type: string}\n"
                    "        - {name: amount, type: \"decimal(12,2)\", nullable: false}\n"
                    "        - {name: ts, type: timestamp}\n"
                    "    sink:\n"
                    "      accepted: {format: delta, path: ");
    add_quoted(&text, d, "lake/orders");
    fb_buf_add_text(&text, "}\n      rejected: {format: delta, path: ");
    add_quoted(&text, d, "lake/orders_rejected");
    fb_buf_add_text(&text, "}\n");
    FB_TRY(fb_buf_check(&text, "the configuration", err));
    FB_TRY(fb_file_replace(d->config, text.data, text.size, err));
out:
    fb_buf_clear(&text);
    return code;
}

/* --- the steps ------------------------------------------------------------------------ */

static fb_code start_broker(demo *d, fb_error *err)
{
    fb_code code = FB_OK;
    char    count[32];
    bool    keeps = fb_cli_has(d->cli, "keep");
    FB_TRY(fb_demo_broker_open(&d->broker, err));
    fb_log_plain("built-in Kafka broker on %s (in memory, stops with this command%s)",
                 fb_demo_broker_address(d->broker), keeps ? "" : "; --keep keeps it");
    fb_log_plain("producing %s orders to topic \"" FB_DEMO_TOPIC
                 "\", %d partitions, %d of them broken on purpose",
                 fb_text_count(d->messages, count), FB_DEMO_PARTITIONS, FB_DEMO_BROKEN);
    FB_TRY(fb_demo_broker_produce(d->broker, d->messages, FB_DEMO_BROKEN, err));
out:
    return code;
}

static fb_code read_config(demo *d, fb_error *err)
{
    fb_code code = FB_OK;
    fb_document_init(&d->chosen.document);
    FB_TRY(fb_config_add_file(&d->chosen.document.config, d->config, err));
    FB_TRY(fb_document_read(&d->chosen.document, false, err));
    FB_TRY(fb_chosen_all(&d->chosen, err));
out:
    return code;
}

static fb_code land(demo *d, fb_report *report, fb_error *err)
{
    static fb_run_options options;
    fb_run_options_init(&options);
    fb_report_init(report);
    return fb_run(&d->chosen.document, d->chosen.pipelines[0], &options, report, err);
}

/* The first run: its line, and that it is what was produced. */
static fb_code land_all(demo *d, fb_error *err)
{
    fb_code          code = FB_OK;
    static fb_report report;
    fb_buf           text;
    fb_buf_init(&text, MAX_FILE_BYTES);
    FB_TRY(land(d, &report, err));
    fb_report_print_text(&report, &text);
    fprintf(d->cli->out, "%s\n", fb_buf_text(&text));
    fflush(d->cli->out);
    fb_cli_say_rejected(d->cli, &report, NULL);
    fb_book total = fb_books_total(&report.books);
    if (!fb_run_is_stopping() &&
        (total.delivered != d->messages || total.rejected != FB_DEMO_BROKEN))
        code = fb_fail(err, Z001,
                       "%" PRId64 " orders were produced, %d broken, but %" PRId64
                       " were read and %" PRId64 " rejected",
                       d->messages, FB_DEMO_BROKEN, total.delivered, total.rejected);
out:
    fb_buf_clear(&text);
    fb_report_clear(&report);
    return code;
}

static fb_code land_again(demo *d, fb_error *err)
{
    fb_code          code = FB_OK;
    static fb_report report;
    char             read[64], written[64];
    FB_TRY(land(d, &report, err));
    fb_book total = fb_books_total(&report.books);
    if (total.delivered == 0)
        fb_log_plain("the same again: nothing to read, nothing written");
    else
        fb_log_plain("the same again: %s read, %s written",
                     fb_text_counted(total.delivered, "message", read),
                     fb_text_counted(total.written, "row", written));
out:
    fb_report_clear(&report);
    return code;
}

static fb_code look_at_it(demo *d, fb_error *err)
{
    fb_code     code = FB_OK;
    FILE       *to = d->cli->out;
    const char *dot = d->folder[0] == '/' || d->folder[0] == '.' ? "" : "./";
    char        config[FB_MAX_PATH];
    fb_buf      word;
    fb_buf_init(&word, 4 * FB_MAX_PATH);
    FB_TRY(fb_path_join(config, sizeof config, d->folder, "forebay.yml", err));
    fb_cli_add_word(&word, config);
    FB_TRY(fb_buf_check(&word, "a path", err));
    fprintf(to, "\nforebay -c %s query \"%s\"\n", word.data, sql);
    FB_TRY(fb_query_print(d->cli, &d->chosen, sql, err));
    fprintf(to,
            "\nThe table is a normal Delta table: %s%s/lake/orders   (open it with "
            "DuckDB, Spark, "
            "delta-rs)\n"
            "Look further:  forebay -c %s query \"SELECT errors[1].reason AS why, "
            "decode(_kafka_value) AS value FROM orders_rejected\"\n",
            dot, d->folder, word.data);
    if (!fb_cli_has(d->cli, "keep"))
        fprintf(
            to,
            "               forebay demo --keep --rate 100   # and in another terminal: "
            "run, lag, plan\n");
    fflush(to);
out:
    fb_buf_clear(&word);
    return code;
}

/* Stay until Ctrl-C, producing when asked to. */
static fb_code keep(demo *d, fb_error *err)
{
    fb_code code = FB_OK;
    int64_t begun = fb_mono_ms(), produced = 0;
    fb_buf  word;
    fb_buf_init(&word, 4 * FB_MAX_PATH);
    fb_cli_catch_signals(NULL); // there is nothing to commit any more
    fb_cli_add_word(&word, d->config);
    fb_log_plain(
        "the broker stays on %s until Ctrl-C; in another terminal, for example:\n"
        "  forebay -c %s lag",
        fb_demo_broker_address(d->broker), fb_buf_text(&word));
    while (!fb_cli_signal()) {
        int64_t due = (fb_mono_ms() - begun) * d->rate / 1000 - produced;
        if (due > 0) FB_TRY(fb_demo_broker_produce(d->broker, due, 0, err));
        produced += due > 0 ? due : 0;
        fb_sleep_ms(SLICE_MS);
    }
out:
    fb_buf_clear(&word);
    return code;
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    fb_code     code = FB_OK;
    static demo d;
    const char *folder = fb_cli_text(cli, "dir");
    d = (demo){.cli = cli, .folder = folder && folder[0] ? folder : "forebay-demo"};
    FB_TRY(fb_cli_number(cli, "messages", 100000, FB_DEMO_MOST, &d.messages, err));
    FB_TRY(fb_cli_number(cli, "rate", 0, 100000, &d.rate, err));
    if (d.messages < FB_DEMO_LEAST)
        FB_TRY(fb_fail(err, C001, "--messages must be at least %d", FB_DEMO_LEAST));
    if (d.rate > 0 && !fb_cli_has(cli, "keep"))
        FB_TRY(fb_fail(err, C001, "--rate goes with --keep"));
    FB_TRY(make_folder(&d, err));
    fb_cli_catch_signals(FB_SAID_STOPPING);
    FB_TRY(start_broker(&d, err));
    FB_TRY(write_config(&d, err));
    FB_TRY(read_config(&d, err));
    FB_TRY(land_all(&d, err));
    if (fb_run_is_stopping()) FB_TRY(fb_fail(err, I002, "the demo was stopped"));
    FB_TRY(land_again(&d, err));
    FB_TRY(look_at_it(&d, err));
    if (fb_cli_has(cli, "keep")) FB_TRY(keep(&d, err));
out:
    fb_demo_broker_close(d.broker);
    fb_chosen_close(&d.chosen);
    return code;
}

const fb_command fb_command_demo = {
    .name = "demo",
    .section = "Start",
    .summary = "Run the whole thing on a built-in broker and made-up orders",
    .words = "",
    .text = "Starts a Kafka broker inside the program, produces orders, some of them "
            "broken on\n"
            "purpose, lands them in a Delta table, and queries it. Writes below --dir "
            "only; what\n"
            "an earlier demo made there is replaced. No cluster, no network, no account.",
    .examples =
        "forebay demo\n"
        "forebay demo --keep --rate 100   # then run, lag and plan in another terminal",
    .see_also = "forebay help run",
    .groups = groups,
    .forms = FB_FORMS_TEXT,
    .words_max = 0,
    .run = run,
};
