/* cli.c - the tables of commands and of common options, and the call as a whole. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/log.h"
#include "base/step.h"
#include "base/text.h"
#include "config/expand.h"
#include "run/run.h"

#include <duckdb.h>
#include <errno.h>
#include <inttypes.h>
#include <libfyaml.h>
#include <librdkafka/rdkafka.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yyjson.h>

#define FORMS "table json jsonl csv markdown"

static const fb_flag common[] = {
    {.name = "config",
     .letter = 'c',
     .argument = "FILE",
     .help = "configuration file, repeatable, later ones win\n"
             "[$FOREBAY_CONFIG, default: forebay.yml]"},
    {.name = "set",
     .letter = 's',
     .argument = "KEY=VALUE",
     .help = "override one key, for example\n"
             "-s pipelines.orders.source.max_messages=100"},
    {.name = "format",
     .letter = 'f',
     .argument = "FORMAT",
     .choices = FORMS,
     .help = "table, json, jsonl, csv, markdown   [default: table]"},
    {.name = "json", .help = "same as --format json"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the result to FILE, - is standard output"},
    {.name = "quiet",
     .letter = 'q',
     .help = "fewer messages: warnings and errors, twice: errors"},
    {.name = "verbose",
     .letter = 'v',
     .help = "more messages, twice: debug output of the Kafka client\n"
             "[$FOREBAY_LOG: debug, info, warning, error]"},
    {.name = "log-format",
     .argument = "F",
     .choices = "text json",
     .help = "text, json                          [default: text]"},
    {.name = "color",
     .argument = "WHEN",
     .choices = "auto always never",
     .help = "auto, always, never   [auto; NO_COLOR is respected]"},
    {.name = "no-input", .help = "never ask, fail instead"},
    {.name = "allow-inline-secrets",
     .help = "take secrets that are written in a configuration"},
    {.name = "help", .letter = 'h', .help = "this text, or the help of the command"},
    {.name = "version", .help = "version, and those of the libraries"},
    {.name = NULL},
};

const fb_flag_group fb_global_flags[] = {{"Options for every command", common},
                                         {NULL, NULL}};

/* --- stopping ------------------------------------------------------------------------- */

static volatile sig_atomic_t stop_signal;
static const char *volatile stop_said;

static void on_signal(int number)
{
    const char *said = stop_said;
    if (stop_signal) _exit(128 + number);
    stop_signal = number;
    fb_run_stop();
    if (said && fb_log_shows(FB_LOG_INFO) && !fb_log_is_json() &&
        write(STDERR_FILENO, said, strlen(said)) < 0)
        return; // nobody reads it
}

void fb_cli_catch_signals(const char *said)
{
    struct sigaction action = {.sa_handler = on_signal};
    stop_said = said;
    fb_kafka_heed(fb_run_stop_flag());
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

int fb_cli_signal(void) { return stop_signal; }

/* --- setting up ----------------------------------------------------------------------- */

static bool decide_color(const fb_cli *cli, int fd)
{
    const char *when = fb_cli_text(cli, "color"), *term = fb_environment("TERM");
    if (when && strcmp(when, "always") == 0) return true;
    if (when && strcmp(when, "never") == 0) return false;
    return isatty(fd) && !fb_environment("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}

static fb_code set_log(const fb_cli *cli, fb_error *err)
{
    static const char *const levels[] = {"debug", "info", "warning", "error"};
    const char              *format = fb_cli_text(cli, "log-format");
    const char              *wanted = fb_environment("FOREBAY_LOG");
    size_t                   quiet = fb_cli_count(cli, "quiet");
    int                      level = FB_LOG_INFO;
    for (int i = 0; wanted && i < 4; i++)
        if (strcmp(levels[i], wanted) == 0) level = i, wanted = NULL;
    if (quiet) level = quiet > 1 ? FB_LOG_ERROR : FB_LOG_WARN;
    if (fb_cli_has(cli, "verbose")) level = FB_LOG_DEBUG;
    fb_log_setup((fb_log_level)level, format && strcmp(format, "json") == 0);
    fb_log_use_color(decide_color(cli, STDERR_FILENO));
    if (!wanted) return FB_OK;
    return fb_fail(err, C001,
                   "FOREBAY_LOG must be debug, info, warning or error, not \"%s\"",
                   wanted);
}

static fb_code set_form(fb_cli *cli, fb_error *err)
{
    static const char *const forms[] = {"table", "json", "jsonl", "csv", "markdown"};
    const char              *wanted = fb_cli_text(cli, "format");
    if (fb_cli_has(cli, "json") && wanted && strcmp(wanted, "json") != 0)
        return fb_fail(err, C001, "--json and --format %s contradict each other", wanted);
    if (fb_cli_has(cli, "json")) wanted = "json";
    for (int i = 0; wanted && i < 5; i++)
        if (strcmp(forms[i], wanted) == 0) cli->form = (fb_form)i;
    if (!cli->command || cli->command->forms & 1u << cli->form) return FB_OK;
    return fb_fail(err, C001, "%s has no form %s", cli->command->name, wanted);
}

static fb_code set_up(fb_cli *cli, fb_error *err)
{
    fb_code code = FB_OK;
    FB_TRY(set_log(cli, err));
    FB_TRY(set_form(cli, err));
    FB_TRY(fb_steps_arm(err));
    cli->may_ask = isatty(STDIN_FILENO) && !fb_cli_has(cli, "no-input");
    cli->uses_color = !fb_cli_text(cli, "output") && decide_color(cli, STDOUT_FILENO);
    (void)signal(SIGPIPE, SIG_IGN); // a reader that goes away must not stop a commit
out:
    return code;
}

/* --- the call ------------------------------------------------------------------------- */

static void print_version(FILE *to)
{
    fprintf(to,
            "forebay %s\n"
            "librdkafka %s, DuckDB %s, yyjson %s, libfyaml %s, %s\n",
            FB_VERSION, rd_kafka_version_str(), duckdb_library_version(),
            YYJSON_VERSION_STRING, fy_library_version(),
            OpenSSL_version(OPENSSL_VERSION));
}

static fb_code dispatch(fb_cli *cli, fb_error *err)
{
    bool wants_help = fb_cli_has(cli, "help");
    if (fb_cli_has(cli, "version"))
        print_version(cli->out);
    else if (cli->command && wants_help)
        fb_usage_print_command(cli->command, cli->out);
    else if (cli->command)
        return cli->command->run(cli, err);
    else if (wants_help)
        fb_usage_print_all(cli->out);
    else {
        fb_usage_print_all(stderr);
        cli->exit_status = fb_code_exit_status(FB_EUSAGE);
    }
    return FB_OK;
}

/* Run with the result going to -o FILE, which is there afterwards whole or not at all. */
static fb_code dispatch_to_file(fb_cli *cli, const char *path, fb_error *err)
{
    char     temp[FB_MAX_PATH];
    fb_error second;
    fb_code  code = fb_file_begin(path, temp, &cli->out, err);
    if (code != FB_OK) return code;
    code = dispatch(cli, err);
    fb_code ended = fb_file_finish(cli->out, temp, path, code == FB_OK, &second);
    if (code != FB_OK || ended == FB_OK) return code;
    *err = second;
    return ended;
}

/* A reader that has read enough (head -1) is no failure. Why a write failed is known of the
 * last one only, so a pipe is asked whether its reader is gone. */
static fb_code check_output(fb_error *err)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return FB_OK;
    int           reason = errno;
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (reason == EPIPE || (poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR))) return FB_OK;
    fb_error_set(err, FB_R_F002, "cannot write to standard output%s%s", reason ? ": " : "",
                 reason ? strerror(reason) : "");
    fb_error_state(err, "what the command does is done; only what it says of it is lost");
    return fb_reason_code(FB_R_F002);
}

static fb_code run_it(fb_cli *cli, fb_error *err)
{
    fb_code     code = FB_OK;
    const char *path = fb_cli_text(cli, "output");
    FB_TRY(set_up(cli, err));
    if (path && strcmp(path, "-") != 0) return dispatch_to_file(cli, path, err);
    code = dispatch(cli, err);
    if (code == FB_OK) code = check_output(err);
out:
    return code;
}

int fb_cli_main(int argc, char **argv)
{
    fb_error err;
    fb_cli   cli = {.out = stdout, .exit_status = -1};
    fb_code  code = fb_cli_parse(&cli, argc, argv, &err);
    if (code == FB_OK) code = run_it(&cli, &err);
    if (code != FB_OK && !cli.is_reported) fb_log_error(&err);
    int status = code == FB_OK ? 0 : fb_code_exit_status(code);
    if (code == FB_ECANCELED && stop_signal) status = 128 + stop_signal;
    if (cli.exit_status > 0 || (cli.exit_status == 0 && code == FB_OK)) status = cli.exit_status;
    fb_cli_clear(&cli);
    return status;
}

void fb_cli_report(fb_cli *cli, const fb_error *err)
{
    fb_log_error(err);
    if (cli->exit_status < 0) cli->exit_status = fb_code_exit_status(err->code);
}

/* --- small words ---------------------------------------------------------------------- */

fb_code fb_cli_where(const fb_cli *cli, const char *name, fb_where *out, fb_error *err)
{
    const char *text = fb_cli_text(cli, name);
    return fb_where_parse(text ? text : "stored", out, err);
}

void fb_cli_add_word(fb_buf *out, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-:";
    bool is_plain = word[0] && word[strspn(word, plain)] == '\0';
    if (is_plain) fb_buf_add_text(out, word);
    for (fb_buf_add_text(out, is_plain ? "" : "'"); !is_plain && *word; word++) {
        if (*word == '\'') fb_buf_add_text(out, "'\\'");
        fb_buf_add_char(out, *word);
    }
    if (!is_plain) fb_buf_add_char(out, '\'');
}

const char *fb_cli_again(const fb_cli *cli, char out[FB_MAX_AGAIN])
{
    fb_buf      text;
    size_t      at = 0;
    const char *file;
    fb_buf_init(&text, FB_MAX_AGAIN - 1);
    fb_buf_add_text(&text, "forebay");
    while ((file = fb_cli_next(cli, "config", &at))) {
        fb_buf_add_text(&text, " -c ");
        fb_cli_add_word(&text, file);
    }
    snprintf(out, FB_MAX_AGAIN, "%s", text.failed ? "forebay" : fb_buf_text(&text));
    fb_buf_clear(&text);
    return out;
}

const char *fb_text_age(int64_t ms, char out[32])
{
    static const struct {
        int64_t     ms;
        const char *unit;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "min"}, {1000, "s"}};
    size_t at = 0;
    while (at < 3 && ms < 2 * units[at].ms) at++;
    snprintf(out, 32, "%" PRId64 " %s", ms < 0 ? 0 : ms / units[at].ms, units[at].unit);
    return out;
}

const char *fb_text_counted(int64_t n, const char *noun, char out[64])
{
    char number[32];
    snprintf(out, 64, "%s %s%s", fb_text_count(n, number), noun, n == 1 ? "" : "s");
    return out;
}
