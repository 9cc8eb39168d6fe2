/* help.c - the command `help`: commands, topics, and the pages of docs/reference. */
#include "cli/cli.h"

#include "base/text.h"
#include "run/option_sets.h"
#include "schema/type.h"

#include <string.h>

static const fb_flag own_flags[] = {
    {.name = "reference",
     .argument = "PAGE",
     .choices = "commands config errors types",
     .help =
         "print a page of docs/reference as Markdown:\ncommands, config, errors, types"},
    {.name = NULL},
};

static const fb_flag_group groups[] = {{"Pages", own_flags}, {NULL, NULL}};

#define TOPICS "config offsets formats exit-codes"

static const char offsets_text[] =
    "Offsets\n"
    "\n"
    "A pipeline keeps, for each partition, the next offset to read. With a Delta table "
    "that\n"
    "number is part of the very commit that has the rows (a txn action, "
    "\"forebay/PIPELINE/\n"
    "TOPIC/PARTITION\"), so that a crash at any moment neither loses nor repeats a row. "
    "The\n"
    "offsets of a consumer group, when source.group_id is set, are only a mirror for "
    "other\n"
    "tools: forebay never reads them back.\n"
    "\n"
    "Where a run begins\n"
    "  stored offset      where the last commit ended\n"
    "  none stored yet    source.auto_offset_reset: earliest, latest or error\n"
    "  it was deleted     source.on_data_loss: stop, earliest or latest\n"
    "  topic made again   source.on_recreated: stop or restart\n"
    "  --from WHERE       with --no-commit or --dry-run, once\n"
    "\n"
    "WHERE is stored, earliest, latest, end, a time (2026-11-28, 2026-11-28T00:00Z; the "
    "first\n"
    "message not older than it) or offsets by partition (0:123,1:456).\n"
    "\n"
    "  $ forebay offsets orders                            show\n"
    "  $ forebay offsets export orders -o offsets.json     keep a copy\n"
    "  $ forebay offsets reset orders --to 2026-11-28      move, after a question\n"
    "\n"
    "A run ends at the end of the topic as it was when it began, or earlier at "
    "max_messages,\n"
    "after max_wait_ms without a message, or when it is stopped by a signal; what was "
    "read by\n"
    "then is committed.\n";

static const char formats_text[] =
    "Formats\n"
    "\n"
    "Messages (source.message_format)\n"
    "  json    one JSON object; its members become the columns of schema.columns\n"
    "  text    anything that is UTF-8, in the one column value\n"
    "  raw     any bytes, in the one column value\n"
    "\n"
    "Tables (sink.accepted.format)\n"
    "  delta   a Delta table in a local folder; rows and offsets in one commit\n"
    "\n"
    "Rejected rows (sink.rejected.format)\n"
    "  delta   a second Delta table\n"
    "  ndjson  files of JSON lines\n"
    "\n"
    "Results of commands (-f)\n"
    "  table     for people: aligned, numbers with commas; a null is empty\n"
    "  json      one document; numbers digit by digit as they are\n"
    "  jsonl     one JSON object a line\n"
    "  csv       RFC 4180 with a head; a null is empty, an empty text is \"\"\n"
    "  markdown  a table of GitHub's Markdown\n";

static void print_exit_codes(FILE *to)
{
    static const int order[] = {2, 3, 5, 1, 70, 130};
    fputs("Exit statuses\n\n"
          "    0  done\n"
          "    4  the answer is yes (--exit-code of plan and lag)\n",
          to);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *before = "";
        fprintf(to, "%5d  ", order[i]);
#define FB_CODE(name, number, exit_status, retry, meaning)                               \
    if ((exit_status) == order[i])                                                       \
        fprintf(to, "%s" meaning, before), before = "\n       ";
#include "base/error_codes.def"
#undef FB_CODE
        fputc('\n', to);
    }
    fputs("\n128+n is the end by signal n when nothing was committed by a clean stop. "
          "The code in\n"
          "brackets behind an error (forebay explain CODE) says more than the status.\n"
          "run --empty-exit-code N and --fail-on-reject add statuses of your choice.\n",
          to);
}

static fb_code fail_topic(const char *topic, fb_error *err)
{
    fb_nearest  near;
    char        room[FB_MAX_WORD];
    const char *of_topics = fb_words_nearest(TOPICS, topic, room);
    fb_nearest_init(&near, topic);
    for (const fb_command *const *at = fb_commands; *at; at++)
        fb_nearest_offer(&near, (*at)->name);
    if (of_topics) fb_nearest_offer(&near, of_topics);
    if (near.best)
        fb_error_set(err, FB_R_C001, "there is no help on \"%s\", did you mean \"%s\"?",
                     topic, near.best);
    else
        fb_error_set(err, FB_R_C001, "there is no help on \"%s\"", topic);
    fb_error_hint(err, "help takes a command, or config, offsets, formats or exit-codes");
    return FB_EUSAGE;
}

static fb_code print_page(const char *page, FILE *to, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  types;
    fb_buf_init(&types, 1 << 20);
    if (strcmp(page, "commands") == 0)
        fb_usage_write_reference(to);
    else if (strcmp(page, "config") == 0)
        fb_config_write_reference(to);
    else if (strcmp(page, "errors") == 0)
        fb_reasons_write_reference(to);
    else {
        fb_buf_add_text(
            &types, "# Types\n\n"
                    "<!-- Made by `forebay help --reference types` from the table the "
                    "program reads; do not edit. -->\n\n");
        fb_types_write_reference(&types);
        FB_TRY(fb_buf_check(&types, "the page", err));
        fputs(fb_buf_text(&types), to);
    }
out:
    fb_buf_clear(&types);
    return code;
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    const char       *topic = cli->words_count ? cli->words[0] : NULL;
    const char       *page = fb_cli_text(cli, "reference");
    const fb_command *command = topic ? fb_command_find(topic) : NULL;
    bool              is_config = topic && strcmp(topic, "config") == 0;
    if (cli->words_count > 1 && !is_config)
        return fb_fail(err, C001,
                       "unexpected \"%s\": only help config takes a second word",
                       cli->words[1]);
    if (page) return print_page(page, cli->out, err);
    if (is_config)
        return fb_config_print_help(cli->words_count > 1 ? cli->words[1] : NULL, cli->out,
                                    err);
    if (!topic)
        fb_usage_print_all(cli->out);
    else if (strcmp(topic, "exit-codes") == 0)
        print_exit_codes(cli->out);
    else if (strcmp(topic, "formats") == 0)
        fputs(formats_text, cli->out);
    else if (command && strcmp(topic, "offsets") != 0)
        fb_usage_print_command(command, cli->out);
    else if (command) {
        fputs(offsets_text, cli->out);
        fputs("\nThe command: forebay offsets --help\n", cli->out);
    } else {
        return fail_topic(topic, err);
    }
    return FB_OK;
}

const fb_command fb_command_help = {
    .name = "help",
    .section = "More",
    .summary = "Help on a command, or on: config, offsets, formats, exit-codes",
    .words = "[TOPIC [SECTION]]",
    .text = "TOPIC is a command, or config, offsets, formats or exit-codes. With config, "
            "SECTION\n"
            "is a part of a configuration: source, schema, sink, ...",
    .examples = "forebay help run\n"
                "forebay help config source\n"
                "forebay help exit-codes",
    .actions = TOPICS,
    .groups = groups,
    .forms = FB_FORMS_TEXT,
    .words_max = 2,
    .run = run,
};
