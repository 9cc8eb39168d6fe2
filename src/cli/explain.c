/* explain.c - the command `explain`: what stands behind a code, without a network. */
#include "cli/cli.h"

#include "base/text.h"
#include "batch/refusal.h"

#include <string.h>

static const fb_table_column columns[] = {
    {"code", FB_CELL_TEXT}, {"what", FB_CELL_TEXT},          {"do", FB_CELL_TEXT},
    {"kind", FB_CELL_TEXT}, {"exit_status", FB_CELL_NUMBER},
};

static fb_code fail_unknown(const char *name, fb_error *err)
{
    fb_nearest near;
    char       whole[64], *at = whole;
    snprintf(whole, sizeof whole, "%s%s", strncmp(name, "FB-", 3) == 0 ? "" : "FB-",
             name);
    for (; *at; at++)
        if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
    fb_nearest_init(&near, whole);
    for (int i = 1; i < FB_REASON_COUNT; i++)
        fb_nearest_offer(&near, fb_reason_name((fb_reason)i));
    if (near.best)
        fb_error_set(err, FB_R_C001, "there is no code \"%s\", did you mean %s?", name,
                     near.best);
    else
        fb_error_set(err, FB_R_C001, "there is no code \"%s\"", name);
    fb_error_hint(err, "forebay explain lists them all");
    return FB_EUSAGE;
}

/* In a table of Markdown outside of `code` these would mean something. */
static void put_markdown(const char *text, FILE *to)
{
    bool is_code = false;
    for (; *text; text++) {
        if (*text == '`') is_code = !is_code;
        if (*text == '|' || (!is_code && strchr("*_<", *text))) fputc('\\', to);
        fputc(*text, to);
    }
}

/* A reason for which a record is set aside; by itself it ends no run. */
static bool is_of_a_record(fb_reason reason)
{
    for (int id = 0; id < FB_REFUSAL_COUNT; id++)
        if (fb_refusal_reason((fb_refusal_id)id) == reason) return true;
    return false;
}

static void print_one(fb_reason reason, FILE *to)
{
    fb_code code = fb_reason_code(reason);
    fprintf(to, "%s: %s\n\n  do:           %s\n  kind:         %s\n", fb_reason_name(reason),
            fb_reason_what(reason), fb_reason_advice(reason), fb_code_meaning(code));
    if (is_of_a_record(reason))
        fputs("  exit status:  0, or 3 where the policy or --fail-on-reject says so\n", to);
    else
        fprintf(to, "  exit status:  %d\n", fb_code_exit_status(code));
    if (fb_code_is_retryable(code))
        fputs("  retry:        the same command may work later\n", to);
}

static fb_code print_many(const fb_cli *cli, fb_reason only, fb_error *err)
{
    fb_table table;
    /* A table of all would be wider than any terminal: code and sentence are enough. */
    size_t count = cli->form == FB_AS_TABLE ? 2 : sizeof columns / sizeof *columns;
    fb_table_begin(&table, cli->form, cli->out, columns, count);
    table.has_bold_head = cli->uses_color;
    for (int i = 1; i < FB_REASON_COUNT; i++) {
        fb_reason reason = (fb_reason)i;
        if (only != FB_R_NONE && only != reason) continue;
        fb_table_add_text(&table, fb_reason_name(reason));
        fb_table_add_text(&table, fb_reason_what(reason));
        if (cli->form == FB_AS_TABLE) continue;
        fb_table_add_text(&table, fb_reason_advice(reason));
        fb_table_add_text(&table, fb_code_meaning(fb_reason_code(reason)));
        fb_table_add_number(&table, fb_code_exit_status(fb_reason_code(reason)));
    }
    return fb_table_end(&table, err);
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    fb_reason reason = cli->words_count ? fb_reason_find(cli->words[0]) : FB_R_NONE;
    if (cli->words_count && reason == FB_R_NONE) return fail_unknown(cli->words[0], err);
    if (!cli->words_count || cli->form != FB_AS_TABLE)
        return print_many(cli, reason, err);
    print_one(reason, cli->out);
    return FB_OK;
}

void fb_reasons_write_reference(FILE *to)
{
    fputs("# Errors\n\n"
          "<!-- Made by `forebay help --reference errors` from the table the program "
          "reads; do "
          "not edit. -->\n\n"
          "The code in brackets behind an error never changes its meaning. `forebay "
          "explain CODE` "
          "prints the same.\n\n"
          "| code | what happened | what to do | exit status |\n"
          "| --- | --- | --- | ---: |\n",
          to);
    for (int i = 1; i < FB_REASON_COUNT; i++) {
        fb_reason reason = (fb_reason)i;
        fprintf(to, "| %s | ", fb_reason_name(reason));
        put_markdown(fb_reason_what(reason), to);
        fputs(" | ", to);
        put_markdown(fb_reason_advice(reason), to);
        fprintf(to, " | %d |\n", fb_code_exit_status(fb_reason_code(reason)));
    }
}

const fb_command fb_command_explain = {
    .name = "explain",
    .section = "More",
    .summary = "Explain an error code",
    .words = "[CODE]",
    .text =
        "Prints what a code means and what to do about it. Without CODE: all of them.",
    .examples = "forebay explain FB-C104",
    .see_also = "forebay help exit-codes",
    .forms = FB_FORMS_ALL,
    .words_max = 1,
    .run = run,
};
