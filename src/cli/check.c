/* check.c - the command `check`: the configuration, then everything it names. */
#include "cli/cli.h"

#include "base/text.h"
#include "base/time.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { NAME_WIDTH = 24, WHAT_WIDTH = 52, MAX_ABOUT_BYTES = 4096 };

static const fb_flag own_flags[] = {
    {.name = "offline", .help = "syntax and names only, nothing is contacted"},
    {.name = NULL},
};

static const fb_flag_group groups[] = {{"What to check", own_flags}, {NULL, NULL}};

/* --- what is printed ------------------------------------------------------------------ */

/* One call. What fails in the live part is noted beside the faults of the files. */
typedef struct checker {
    fb_cli   *cli;
    fb_chosen chosen;
} checker;

/* "connection events       3 brokers, SASL_SSL, cluster 9Xw                ok   38 ms" */
static void say(const checker *c, const char *name, const char *what, const char *verdict,
                int64_t ms)
{
    if (c->cli->form != FB_AS_TABLE) return;
    int gap = NAME_WIDTH - (int)fb_text_width(name, strlen(name));
    int rest = WHAT_WIDTH - (int)fb_text_width(what, strlen(what));
    fprintf(c->cli->out, "%s%*s%s%*s%s", name, gap > 1 ? gap : 1, "", what,
            rest > 2 ? rest : 2, "", verdict);
    if (ms >= 0) fprintf(c->cli->out, "   %" PRId64 " ms", ms);
    fputc('\n', c->cli->out);
    fflush(c->cli->out);
}

static void fail(checker *c, const char *name, const char *what, const fb_error *err)
{
    say(c, name, what, "failed", -1);
    if (c->cli->form == FB_AS_TABLE)
        fb_cli_report(c->cli, err);
    else if (c->cli->exit_status < 0)
        c->cli->exit_status = fb_code_exit_status(err->code);
    fb_diagnose_error(&c->chosen.document.config.found, (fb_place){0}, err);
}

/* --- what is checked ------------------------------------------------------------------ */

/* The first pipeline with the same connection speaks for it. */
static bool is_first_of_connection(const checker *c, size_t index)
{
    const fb_kafka_connection *own = c->chosen.pipelines[index]->source.use;
    for (size_t i = 0; i < index; i++)
        if (c->chosen.pipelines[i]->source.use == own) return false;
    return true;
}

/* Broker and topic; the line of the connection comes from its first pipeline. */
static void check_topic(checker *c, size_t index)
{
    const fb_pipeline *p = c->chosen.pipelines[index];
    fb_error           err;
    fb_kafka          *kafka = NULL;
    fb_kafka_topic     topic = {0};
    fb_buf             about;
    char    broker[FB_MAX_NAME + 16], name[FB_MAX_NAME + 16], what[FB_MAX_NAME + 80];
    char    count[64];
    int64_t begun = fb_mono_ms(), timeout_ms = fb_cli_look_ms(p);
    fb_buf_init(&about, MAX_ABOUT_BYTES);
    snprintf(name, sizeof name, "pipeline %s", p->name);
    snprintf(what, sizeof what, "topic %s", p->source.topic);
    snprintf(broker, sizeof broker, "%s %s",
             p->source.connection ? "connection" : "broker of",
             p->source.connection ? p->source.connection : p->name);
    fb_code code = fb_kafka_open(&p->source, "forebay-check", timeout_ms, &kafka, &err);
    bool is_reached = code == FB_OK || err.reason == FB_R_K004 || err.reason == FB_R_K005;
    if (code == FB_OK) fb_kafka_print_about(kafka, &about);
    if (!is_reached)
        fail(c, broker, p->source.use->bootstrap_servers, &err);
    else if (is_first_of_connection(c, index))
        say(c, broker, about.size ? about.data : p->source.use->bootstrap_servers, "ok",
            fb_mono_ms() - begun);
    if (is_reached) begun = fb_mono_ms();
    if (code == FB_OK) code = fb_kafka_describe(kafka, timeout_ms, &topic, &err);
    if (code == FB_OK) {
        snprintf(what, sizeof what, "topic %s, %s", p->source.topic,
                 fb_text_counted((int64_t)topic.count, "partition", count));
        say(c, name, what, "ok", fb_mono_ms() - begun);
    } else if (is_reached) {
        fail(c, name, what, &err);
    } else {
        say(c, name, what, "not tried", -1);
    }
    fb_kafka_topic_clear(&topic);
    fb_kafka_close(kafka);
    fb_buf_clear(&about);
}

/* May files be put below `path`, or below the nearest folder above it that is there? */
static fb_code check_folder(const char *path, fb_error *err)
{
    char  folder[FB_MAX_PATH];
    char *slash;
    snprintf(folder, sizeof folder, "%s", path);
    while (access(folder, F_OK) != 0 && (slash = strrchr(folder, '/')) && slash != folder)
        *slash = '\0';
    if (access(folder, F_OK) != 0)
        snprintf(folder, sizeof folder, "%s", path[0] == '/' ? "/" : ".");
    if (access(folder, W_OK | X_OK) == 0) return FB_OK;
    if (strcmp(folder, path) == 0)
        fb_error_set(err, FB_R_F002, "cannot write to %s: %s", folder, strerror(errno));
    else
        fb_error_set(err, FB_R_F002, "cannot make %s: cannot write to %s: %s", path,
                     folder, strerror(errno));
    fb_error_hint(err, "give this user the right to write there, or name another folder");
    return FB_EIO;
}

static fb_code open_table(checker *c, const fb_pipeline *pipeline, fb_session *session,
                          fb_error *err)
{
    fb_code code = FB_OK;
    FB_TRY(fb_session_open(&c->chosen.document, pipeline, 0, session, err));
    code = fb_delta_check_append(session->table, &session->schema, err);
    if (code == FB_OK) code = check_folder(pipeline->sink.accepted.path, err);
    if (code == FB_OK) code = check_folder(c->chosen.document.state.path, err);
    if (code != FB_OK) fb_session_close(session);
out:
    return code;
}

static fb_code check_rejects(const fb_pipeline *pipeline, fb_session *session,
                             fb_error *err)
{
    fb_code   code = FB_OK;
    fb_delta *table = NULL;
    FB_TRY(check_folder(pipeline->sink.rejected.path, err));
    if (pipeline->sink.rejected.format != FB_REJECTED_DELTA) goto out;
    code = fb_delta_open(pipeline->sink.rejected.path, session->engine, &table, err);
    fb_delta_close(table);
out:
    return code;
}

/* The table and the place of rejected rows. */
static void check_sink(checker *c, const fb_pipeline *pipeline)
{
    fb_error   err;
    fb_session session;
    char       what[FB_MAX_PATH + 80], version[32] = "new", count[64];
    if (open_table(c, pipeline, &session, &err) != FB_OK) {
        fail(c, "  table", pipeline->sink.accepted.path, &err);
        say(c, "  rejected rows", pipeline->sink.rejected.path, "not tried", -1);
        return;
    }
    if (fb_delta_exists(session.table))
        snprintf(version, sizeof version, "v%" PRId64, fb_delta_version(session.table));
    snprintf(what, sizeof what, "%s, %s, %s", pipeline->sink.accepted.path, version,
             fb_text_counted((int64_t)session.schema.count, "column", count));
    say(c, "  table", what, "ok", -1);
    if (check_rejects(pipeline, &session, &err) == FB_OK)
        say(c, "  rejected rows", pipeline->sink.rejected.path, "ok", -1);
    else
        fail(c, "  rejected rows", pipeline->sink.rejected.path, &err);
    fb_session_close(&session);
}

static void check_live(checker *c)
{
    for (size_t i = 0; i < c->chosen.count; i++) {
        check_topic(c, i);
        check_sink(c, c->chosen.pipelines[i]);
    }
}

/* --- the command ---------------------------------------------------------------------- */

static void say_configuration(const checker *c)
{
    const fb_document *document = &c->chosen.document;
    char               what[160], pipelines[64], connections[64];
    snprintf(
        what, sizeof what, "%s, %s",
        fb_text_counted((int64_t)document->pipelines_count, "pipeline", pipelines),
        fb_text_counted((int64_t)document->connections_count, "connection", connections));
    say(c, c->chosen.files, what, "ok", -1);
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    fb_code code = FB_OK;
    checker c = {.cli = cli};
    bool    is_text = cli->form == FB_AS_TABLE;
    code = fb_chosen_read(cli, cli->words, cli->words_count, &c.chosen, err);
    if (is_text && fb_chosen_print_faults(&c.chosen))
        cli->is_reported = c.chosen.document.config.found.errors > 0;
    if (code == FB_OK) {
        say_configuration(&c);
        if (!fb_cli_has(cli, "offline")) check_live(&c);
    }
    if (!is_text && (code == FB_OK || c.chosen.document.config.found.errors > 0)) {
        fb_diagnostics_print_json(&c.chosen.document.config.found, cli->out);
        cli->is_reported = true;
    }
    fb_chosen_close(&c.chosen);
    return code;
}

const fb_command fb_command_check = {
    .name = "check",
    .section = "Start",
    .summary = "Check a configuration, then every connection it names",
    .words = "[PIPELINE ...]",
    .text = "Prints every fault of the configuration with its line, not only the first. "
            "Then, unless\n"
            "--offline, tries each connection, topic, table and place of rejected rows. "
            "Nothing is\n"
            "written. With --json the faults are an array of\n"
            "{file, line, column, code, severity, message, suggestion}.",
    .examples = "forebay check\n"
                "forebay check --offline        # syntax and names only: pre-commit, CI",
    .see_also = "forebay help config, forebay schema config, forebay explain CODE",
    .groups = groups,
    .forms = 1 << FB_AS_TABLE | 1 << FB_AS_JSON,
    .words_max = -1,
    .run = run,
};
