/* offsets.c - the command `offsets`: positions shown, kept as a file, moved, unlocked.
 *
 * What is moved by hand is first written down in the pipeline's state folder, so that it
 * can be moved back, and is asked for by the pipeline's name.
 */
#include "cli/cli.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "run/rejected.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_JSON_BYTES = 16 << 20, MAX_LINE = 300 };

static const fb_flag reset_flags[] = {
    {.name = "to",
     .argument = "WHERE",
     .help =
         "earliest, latest, end, a time, 0:123,1:456,\nor with --partition an offset"},
    {.name = "partition", .argument = "P", .help = "move this partition only"},
    {.name = "reason", .argument = "TEXT", .help = "kept in the table's history"},
    {.name = "dry-run", .help = "say what would happen, change nothing"},
    {.name = "yes",
     .argument = "NAME",
     .help = "the pipeline's name: confirm without being asked\n(reset and unlock)"},
    {.name = NULL},
};

static const fb_flag_group groups[] = {{"For reset", reset_flags}, {NULL, NULL}};

static const fb_table_column columns[] = {
    {"partition", FB_CELL_NUMBER},  {"committed", FB_CELL_NUMBER},
    {"first kept", FB_CELL_NUMBER}, {"end", FB_CELL_NUMBER},
    {"lag", FB_CELL_NUMBER},        {"stored in", FB_CELL_TEXT},
};

/* One pipeline with its positions. */
typedef struct view {
    fb_cli            *cli;
    const fb_document *document;
    const fb_pipeline *pipeline;
    fb_session         session;
    fb_plan            plan; ///< from the stored positions, or from --to
} view;

/* --- show, export --------------------------------------------------------------------- */

/* What waits behind the stored position, or behind where a first run would begin. */
static int64_t lag_of(const fb_plan_partition *p)
{
    if (p->stored < 0) return p->last - p->first;
    return p->end - (p->stored < p->low   ? p->low
                     : p->stored > p->end ? p->end
                                          : p->stored);
}

static fb_code print_rows(const view *v, fb_error *err)
{
    fb_code  code = FB_OK, ended;
    fb_table table;
    char     id[FB_MAX_APP_ID], stored[FB_MAX_APP_ID + 64];
    fb_table_begin(&table, v->cli->form, v->cli->out, columns,
                   sizeof columns / sizeof *columns);
    table.has_bold_head = v->cli->uses_color;
    for (size_t i = 0; i < v->plan.count && code == FB_OK; i++) {
        const fb_plan_partition *p = &v->plan.partitions[i];
        code = fb_positions_app_id(&v->session.place, v->session.positions.series,
                                   p->partition, id, err);
        if (p->stored < 0)
            snprintf(stored, sizeof stored, "-");
        else if (v->session.place.file)
            snprintf(stored, sizeof stored, "%.1000s", v->session.place.file);
        else
            snprintf(stored, sizeof stored, "delta v%" PRId64 " (txn %s)",
                     fb_delta_version(v->session.table), id);
        fb_table_add_number(&table, p->partition);
        fb_table_add_number(&table, p->stored);
        fb_table_add_number(&table, p->low);
        fb_table_add_number(&table, p->end);
        fb_table_add_number(&table, lag_of(p));
        fb_table_add_text(&table, stored);
    }
    ended = fb_table_end(&table, err);
    return code != FB_OK ? code : ended;
}

/* What `reset --to` takes to bring the positions back. */
static void add_where(const view *v, fb_buf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < v->plan.count; i++) {
        if (v->plan.partitions[i].stored < 0) continue;
        fb_buf_printf(out, "%s%" PRId32 ":%" PRId64, comma,
                      v->plan.partitions[i].partition, v->plan.partitions[i].stored);
        comma = ",";
    }
}

static void write_export(const view *v, fb_buf *out)
{
    char        when[40];
    const char *comma = "";
    fb_buf_add_text(out, "{\"schema\":\"forebay.offsets.v1\",\"pipeline\":");
    fb_buf_add_json_text(out, v->pipeline->name);
    fb_buf_add_text(out, ",\"topic\":");
    fb_buf_add_json_text(out, v->pipeline->source.topic);
    fb_buf_printf(out, ",\"at\":\"%s\",\"to\":\"", fb_format_time_ms(fb_now_us(), when));
    add_where(v, out);
    fb_buf_add_text(out, "\",\n \"partitions\":[");
    for (size_t i = 0; i < v->plan.count; i++) {
        const fb_plan_partition *p = &v->plan.partitions[i];
        fb_buf_printf(out, "%s\n  {\"partition\":%" PRId32 ",\"committed\":", comma,
                      p->partition);
        if (p->stored < 0)
            fb_buf_add_text(out, "null");
        else
            fb_buf_printf(out, "%" PRId64, p->stored);
        fb_buf_printf(
            out, ",\"first_kept\":%" PRId64 ",\"end\":%" PRId64 ",\"lag\":%" PRId64 "}",
            p->low, p->end, lag_of(p));
        comma = ",";
    }
    fb_buf_add_text(out, "\n ]}\n");
}

static fb_code print_export(const view *v, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  text;
    fb_buf_init(&text, MAX_JSON_BYTES);
    write_export(v, &text);
    FB_TRY(fb_buf_check(&text, "the offsets", err));
    fputs(text.data, v->cli->out);
out:
    fb_buf_clear(&text);
    return code;
}

/* --- reset ---------------------------------------------------------------------------- */

static fb_code read_where(const fb_cli *cli, fb_where *where, int32_t *partition,
                          bool *is_one, fb_error *err)
{
    fb_code     code = FB_OK;
    char        pair[64];
    int64_t     number;
    const char *to = fb_cli_text(cli, "to");
    if (!to) {
        fb_error_set(err, FB_R_C001, "reset needs --to WHERE");
        fb_error_hint(
            err, "earliest, latest, a time such as 2026-11-28T00:00Z, or offsets such as "
                 "0:123,1:456");
        return FB_EUSAGE;
    }
    FB_TRY(fb_cli_number(cli, "partition", -1, INT32_MAX, &number, err));
    *partition = (int32_t)number;
    *is_one = number >= 0;
    if (*is_one && fb_text_int64(to, &number)) {
        snprintf(pair, sizeof pair, "%" PRId32 ":%" PRId64, *partition, number);
        to = pair;
    }
    FB_TRY(fb_where_parse(to, where, err));
    if (strcmp(to, "stored") == 0)
        FB_TRY(fb_fail(err, C001, "--to stored moves nothing"));
    if (strcmp(to, "end") == 0) where->kind = FB_WHERE_LATEST;
    if (*is_one && where->kind == FB_WHERE_OFFSETS &&
        (where->count != 1 || where->partitions[0] != *partition))
        code = fb_fail(err, C001,
                       "--partition %" PRId32 " and --to %s name other partitions",
                       *partition, to);
out:
    return code;
}

/* Offsets given one by one must be ones that the topic has. */
static fb_code check_offsets(const view *v, const fb_where *where, fb_error *err)
{
    char asked[32], low[32], end[32];
    for (size_t n = 0; where->kind == FB_WHERE_OFFSETS && n < where->count; n++) {
        const fb_plan_partition *found = NULL;
        for (size_t i = 0; i < v->plan.count; i++)
            if (v->plan.partitions[i].partition == where->partitions[n])
                found = &v->plan.partitions[i];
        if (!found)
            return fb_fail(err, C001, "topic \"%s\" has no partition %" PRId32,
                           v->pipeline->source.topic, where->partitions[n]);
        if (where->offsets[n] >= found->low && where->offsets[n] <= found->end) continue;
        return fb_fail(err, C001, "partition %" PRId32 " has offsets %s to %s, not %s",
                       found->partition, fb_text_count(found->low, low),
                       fb_text_count(found->end, end),
                       fb_text_count(where->offsets[n], asked));
    }
    return FB_OK;
}

/* Positions are kept in the table, so there must be one. */
static fb_code check_table(const view *v, fb_error *err)
{
    if (fb_delta_exists(v->session.table)) return FB_OK;
    fb_error_set(err, FB_R_C001,
                 "the table %s is not there yet, so it has no offsets to move",
                 fb_delta_name(v->session.table));
    fb_error_hint(
        err,
        "where the first run begins is source.auto_offset_reset: earliest or latest");
    return FB_EUSAGE;
}

/* "The next run begins 391,220 offsets earlier, and passes over 12 offsets. ..." */
static void say_effect(const view *v, char out[MAX_LINE])
{
    char    again_text[64], skip_text[64];
    int64_t again = 0, skipped = 0;
    for (size_t i = 0; i < v->plan.count; i++) {
        const fb_plan_partition *p = &v->plan.partitions[i];
        int64_t from = p->stored < 0 ? p->low : p->stored < p->low ? p->low : p->stored;
        if (p->stored >= 0 && p->first < p->stored) again += p->stored - p->first;
        if (p->first > from) skipped += p->first - from;
    }
    snprintf(out, MAX_LINE, "%s%s%s%s%s",
             again          ? "The next run begins "
             : skipped == 0 ? "The next run begins where it would have begun"
                            : "The next run passes over ",
             again     ? fb_text_counted(again, "offset", again_text)
             : skipped ? fb_text_counted(skipped, "offset", skip_text)
                       : "",
             again ? " earlier" : "", again && skipped ? ", and passes over " : "",
             again && skipped ? fb_text_counted(skipped, "offset", skip_text) : "");
    size_t used = strlen(out);
    snprintf(out + used, MAX_LINE - used, ".%s",
             again ? " Rows of them that are in the table would be there twice." : "");
}

/* Ask for the pipeline's name. @return FB_EUSAGE (I001) */
static fb_code confirm(const fb_cli *cli, const char *name, fb_error *err)
{
    char        line[FB_MAX_NAME + 2];
    const char *given = fb_cli_text(cli, "yes");
    if (given && strcmp(given, name) == 0) return FB_OK;
    if (given)
        return fb_fail(err, I001, "--yes %s does not name pipeline \"%s\"", given, name);
    if (!cli->may_ask) {
        fb_error_set(err, FB_R_I001,
                     "this needs a confirmation and there is no terminal");
        fb_error_hint(err, "add --yes %s to confirm it in a script", name);
        return FB_EUSAGE;
    }
    fprintf(stderr, "Type the pipeline name to go on: ");
    fflush(stderr);
    if (!fgets(line, sizeof line, stdin)) line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, name) == 0) return FB_OK;
    return fb_fail(err, I001,
                   "\"%s\" is not the name of the pipeline; nothing was changed", line);
}

/* Write the old positions down. @param path  where, FB_MAX_PATH bytes */
static fb_code keep_old(const view *v, char *path, fb_error *err)
{
    fb_code code = FB_OK;
    char    when[40], name[80];
    fb_buf  text;
    fb_buf_init(&text, MAX_JSON_BYTES);
    fb_format_time_ms(fb_now_us(), when);
    for (char *at = when; *at; at++)
        if (*at == ':' || *at == '.') *at = '-';
    snprintf(name, sizeof name, "offsets.%s.json", when);
    write_export(v, &text);
    FB_TRY(fb_buf_check(&text, "the offsets", err));
    FB_TRY(fb_dir_make(v->session.state_folder, err));
    FB_TRY(fb_path_join(path, FB_MAX_PATH, v->session.state_folder, name, err));
    FB_TRY(fb_file_replace(path, text.data, text.size, err));
out:
    fb_buf_clear(&text);
    return code;
}

static fb_code move(const view *v, fb_error *err)
{
    fb_code     code = FB_OK;
    char        path[FB_MAX_PATH], count[64], stamp[24];
    const char *reason = fb_cli_text(v->cli, "reason");
    fb_books    moves = {0};
    FB_TRY(fb_books_reserve(&moves, v->plan.count, err));
    for (size_t i = 0; i < v->plan.count; i++)
        moves.list[i] = (fb_book){.partition = v->plan.partitions[i].partition,
                                  .first = v->plan.partitions[i].first,
                                  .next = v->plan.partitions[i].first};
    FB_TRY(keep_old(v, path, err));
    snprintf(stamp, sizeof stamp, "%" PRId64, fb_now_us());
    FB_TRY(fb_rejected_set_apart(&v->session, &moves, stamp, err));
    FB_TRY(fb_positions_move(&v->session.place, v->session.table, &v->session.positions,
                             &moves, reason ? reason : "", err));
    fprintf(v->cli->out, "%s: %s moved to %s; the old positions are in %s\n",
            v->pipeline->name,
            fb_text_counted((int64_t)v->plan.count, "partition", count),
            fb_cli_text(v->cli, "to"), path);
out:
    fb_books_clear(&moves);
    return code;
}

static fb_code reset(view *v, fb_error *err)
{
    fb_code         code = FB_OK;
    static fb_where where;
    char            effect[MAX_LINE];
    int32_t         partition;
    bool            is_one;
    fb_plan_options options = {.from = &where, .accepts_loss = true};
    FB_TRY(read_where(v->cli, &where, &partition, &is_one, err));
    if (is_one) options.partitions = &partition, options.partitions_count = 1;
    options.timeout_ms = fb_cli_look_ms(v->pipeline);
    FB_TRY(
        fb_session_open(v->document, v->pipeline, options.timeout_ms, &v->session, err));
    FB_TRY(fb_plan_make(&v->session, &options, &v->plan, err));
    FB_TRY(check_table(v, err));
    FB_TRY(check_offsets(v, &where, err));
    if (v->plan.count == 0)
        FB_TRY(fb_fail(err, C001, "topic \"%s\" has none of the partitions named",
                       v->pipeline->source.topic));
    say_effect(v, effect);
    if (fb_cli_has(v->cli, "dry-run")) {
        fprintf(v->cli->out, "%s\nNothing was changed.\n", effect);
        goto out;
    }
    fb_log_plain("%s", effect);
    FB_TRY(confirm(v->cli, v->pipeline->name, err));
    FB_TRY(move(v, err));
out:
    return code;
}

/* --- unlock --------------------------------------------------------------------------- */

/* A lock ends with its process, so one that is held is held by somebody: the file goes, and
 * the next run makes a new one. Rows stay exact either way, see run.h. */
static fb_code unlock(const view *v, fb_error *err)
{
    fb_code  code = FB_OK;
    char     folder[FB_MAX_PATH], path[FB_MAX_PATH];
    fb_lock  lock = FB_LOCK_NONE;
    fb_error held;
    FB_TRY(fb_path_join(folder, sizeof folder, v->document->state.path, v->pipeline->name,
                        err));
    FB_TRY(fb_path_join(path, sizeof path, folder, "lock", err));
    code = fb_file_exists(path) ? fb_lock_take(&lock, path, "", 0, &held) : FB_OK;
    fb_lock_release(&lock);
    if (code == FB_OK) {
        fprintf(v->cli->out, "%s: nobody holds the lock\n", v->pipeline->name);
        goto out;
    }
    if (code != FB_EBUSY) *err = held;
    if (code != FB_EBUSY) goto out;
    fb_log_plain("%s", held.what);
    FB_TRY(confirm(v->cli, v->pipeline->name, err));
    fb_file_remove(path);
    fprintf(v->cli->out,
            "%s: unlocked; the other process goes on, and of two that commit the "
            "same offsets only one can\n",
            v->pipeline->name);
out:
    return code;
}

/* --- the command ---------------------------------------------------------------------- */

static fb_code look(view *v, fb_error *err)
{
    fb_code         code = FB_OK;
    fb_plan_options options = {.timeout_ms = fb_cli_look_ms(v->pipeline),
                               .accepts_loss = true};
    FB_TRY(
        fb_session_open(v->document, v->pipeline, options.timeout_ms, &v->session, err));
    FB_TRY(fb_plan_make(&v->session, &options, &v->plan, err));
out:
    return code;
}

#define ACTIONS "show export reset unlock"

static fb_code run(fb_cli *cli, fb_error *err)
{
    fb_code     code = FB_OK;
    fb_chosen   chosen;
    static view v;
    bool has_action = cli->words_count > 0 && fb_words_have(ACTIONS, cli->words[0]);
    const char *action = has_action ? cli->words[0] : "show";
    bool        is_json = cli->form == FB_AS_JSON || cli->form == FB_AS_JSONL;
    v = (view){.cli = cli, .document = &chosen.document};
    FB_TRY(fb_chosen_open(cli, cli->words + has_action, cli->words_count - has_action,
                          &chosen, err));
    FB_TRY(fb_chosen_one(&chosen, &v.pipeline, err));
    if (strcmp(action, "reset") == 0)
        FB_TRY(reset(&v, err));
    else if (strcmp(action, "unlock") == 0)
        FB_TRY(unlock(&v, err));
    else {
        FB_TRY(look(&v, err));
        if (is_json || strcmp(action, "export") == 0)
            FB_TRY(print_export(&v, err));
        else
            FB_TRY(print_rows(&v, err));
    }
out:
    fb_plan_clear(&v.plan);
    fb_session_close(&v.session);
    fb_chosen_close(&chosen);
    return code;
}

const fb_command fb_command_offsets = {
    .name = "offsets",
    .section = "Look",
    .summary = "Show, export, move or unlock positions",
    .words = "[show|export|reset|unlock] [PIPELINE]",
    .text =
        "show    what is committed for each partition, beside what the topic has\n"
        "export  the same as JSON, to keep\n"
        "reset   move the positions: the next run begins there. Asks for the pipeline's\n"
        "        name; the old positions are kept in a file of the state folder\n"
        "unlock  take over the lock of another run of the pipeline\n"
        "\n"
        "Without a word: show. PIPELINE may be left out when there is only one.",
    .examples = "forebay offsets orders\n"
                "forebay offsets export orders -o orders.offsets.json\n"
                "forebay offsets reset orders --to 2026-11-28T00:00Z\n"
                "forebay offsets reset orders --partition 1 --to 5310 --reason retention "
                "--yes orders",
    .see_also = "forebay help offsets, forebay help lag",
    .actions = ACTIONS,
    .groups = groups,
    .forms = FB_FORMS_ALL,
    .words_max = 2,
    .run = run,
};
