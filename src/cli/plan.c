/* plan.c - the command `plan`: what a run would read, and where it would put it. */
#include "cli/cli.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/time.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_PLAN_BYTES = 64 << 20, ANSWER_MS = 2000 };

static const fb_flag own_flags[] = {
    {.name = "exit-code", .help = "exit with 4 when there is something to read"},
    {.name = NULL},
};

static const fb_flag_group groups[] = {{"What to read, and where to", fb_read_flags},
                                       {"The answer", own_flags},
                                       {NULL, NULL}};

static const fb_table_column columns[] = {
    {"pipeline", FB_CELL_TEXT}, // not in a plan for people, which has it in its head
    {"partition", FB_CELL_NUMBER},    {"from", FB_CELL_NUMBER},
    {"to", FB_CELL_NUMBER},           {"messages", FB_CELL_NUMBER},
    {"oldest waiting", FB_CELL_TEXT},
};

/* One pipeline, looked at. */
typedef struct view {
    const fb_pipeline *pipeline;
    fb_session         session;
    fb_plan            plan;
    int64_t            reads;  ///< messages: the plan's, held to max_messages
    int64_t           *oldest; ///< owned; see fb_cli_oldest(); NULL: nothing is known
} view;

int64_t *fb_cli_oldest(fb_session *session, const fb_plan *plan)
{
    fb_error        ignored;
    fb_kafka_range *ranges = fb_alloc((plan->count + 1) * sizeof *ranges);
    int64_t        *times = fb_alloc((plan->count + 1) * sizeof *times);
    size_t          count = 0;
    for (size_t i = 0; ranges && times && i < plan->count; i++) {
        const fb_plan_partition *p = &plan->partitions[i];
        if (p->first < p->last)
            ranges[count++] = (fb_kafka_range){p->partition, p->first, p->last};
    }
    bool is_known =
        count > 0 && fb_kafka_timestamps_at(session->kafka, ranges, count, ANSWER_MS,
                                            times, &ignored) == FB_OK;
    for (size_t i = times ? plan->count : 0; i > 0; i--) {
        const fb_plan_partition *p = &plan->partitions[i - 1];
        times[i - 1] = is_known && p->first < p->last ? times[--count] : -1;
    }
    fb_free(ranges);
    return times;
}

static fb_code look(const fb_cli *cli, const fb_document *document, view *v,
                    fb_error *err)
{
    fb_code  code = FB_OK;
    int64_t  timeout_ms = fb_cli_look_ms(v->pipeline);
    int64_t  most = v->pipeline->source.max_messages;
    fb_where from, to;
    FB_TRY(fb_cli_where(cli, "from", &from, err));
    FB_TRY(fb_cli_where(cli, "to", &to, err));
    fb_plan_options options = {.from = &from, .to = &to, .timeout_ms = timeout_ms};
    FB_TRY(fb_session_open(document, v->pipeline, timeout_ms, &v->session, err));
    FB_TRY(fb_delta_check_append(v->session.table, &v->session.schema, err));
    FB_TRY(fb_plan_make(&v->session, &options, &v->plan, err));
    v->reads = most > 0 && v->plan.messages > most ? most : v->plan.messages;
    v->oldest = fb_cli_oldest(&v->session, &v->plan);
out:
    return code;
}

/* "2026-11-29 14:31:07" */
static const char *format_time(int64_t ms, char out[40])
{
    fb_format_time_ms(ms * 1000, out);
    if (out[10] == 'T') out[10] = ' ';
    char *dot = strchr(out, '.');
    if (dot) *dot = '\0';
    return out;
}

static void add_rows(const view *v, bool with_name, fb_table *table)
{
    char when[40];
    for (size_t i = 0; i < v->plan.count; i++) {
        const fb_plan_partition *p = &v->plan.partitions[i];
        bool                     is_known = v->oldest && v->oldest[i] >= 0;
        if (with_name) fb_table_add_text(table, v->pipeline->name);
        fb_table_add_number(table, p->partition);
        fb_table_add_number(table, p->first);
        fb_table_add_number(table, p->last);
        fb_table_add_number(table, p->last - p->first);
        fb_table_add_text(table, is_known ? format_time(v->oldest[i], when) : NULL);
    }
}

static fb_code print_table(const fb_cli *cli, const view *v, fb_error *err)
{
    fb_table table;
    fb_table_begin(&table, FB_AS_TABLE, cli->out, columns + 1,
                   sizeof columns / sizeof *columns - 1);
    table.has_bold_head = cli->uses_color;
    add_rows(v, false, &table);
    return fb_table_end(&table, err);
}

static void print_head(const view *v, FILE *to)
{
    const fb_pipeline *p = v->pipeline;
    const fb_delta    *table = v->session.table;
    char               version[64] = "new";
    if (fb_delta_exists(table))
        snprintf(version, sizeof version, "v%" PRId64, fb_delta_version(table));
    fprintf(to, "%s: topic %s on %s  ->  delta %s (%s)\n\n", p->name, p->source.topic,
            p->source.connection ? p->source.connection
                                 : p->source.use->bootstrap_servers,
            fb_delta_name(table), version);
}

static void print_sum(const view *v, FILE *to)
{
    char sum[32], rest[32];
    fprintf(to, "\n  %s message%s", fb_text_count(v->reads, sum),
            v->reads == 1 ? "" : "s");
    if (v->reads < v->plan.messages)
        fprintf(to, ", stopped by max_messages; %s stay for the next run",
                fb_text_count(v->plan.messages - v->reads, rest));
    fputs("\n\n", to);
}

/* What the policy lets go, before it is let go. */
static void print_losses(const view *v, FILE *to)
{
    char lost[64];
    if (v->plan.is_recreated)
        fputs(
            "  topic       deleted and made again; read from its start (on_recreated)\n",
            to);
    for (size_t i = 0; i < v->plan.count; i++) {
        const fb_plan_partition *p = &v->plan.partitions[i];
        if (p->lost > 0)
            fprintf(to, "  lost        partition %" PRId32 ": %s, by on_data_loss\n",
                    p->partition, fb_text_counted(p->lost, "offset", lost));
        if (p->is_new)
            fprintf(to, "  new         partition %" PRId32 " came after the first run\n",
                    p->partition);
    }
}

static fb_code print_text(const fb_cli *cli, const view *v, fb_error *err)
{
    static const char *const severities[] = {"write them, faulty values as null (warn)",
                                             "reject", "stop, write nothing (abort)"};
    fb_code                  code = FB_OK;
    const fb_pipeline       *p = v->pipeline;
    FILE                    *to = cli->out;
    char                     id[FB_MAX_APP_ID], checked[64];
    size_t                   rules = 0;

    print_head(v, to);
    FB_TRY(print_table(cli, v, err));
    print_sum(v, to);
    if (p->state.store == FB_STORE_FILE) {
        fprintf(to, "  offsets     read from %s\n", v->session.state_file);
    } else if (v->plan.count > 0) {
        FB_TRY(fb_positions_app_id(&v->session.place, v->session.positions.series,
                                   v->plan.partitions[0].partition, id, err));
        fprintf(to, "  offsets     %s (txn %s%s)\n",
                v->session.positions.has_any ? "read from the table's own log"
                                             : "none yet",
                id, v->plan.count > 1 ? ", ..." : "");
    }
    print_losses(v, to);
    for (size_t i = 0; i < v->session.decoded.count; i++)
        rules += !v->session.decoded.columns[i].nullable ||
                 v->session.decoded.columns[i].unique;
    fprintf(to, "  columns     %s, %zu with rules, %zu of metadata\n",
            fb_text_counted((int64_t)v->session.decoded.count, "column", checked), rules,
            v->session.schema.count - v->session.decoded.count);
    fprintf(to, "  write       append\n");
    fprintf(to, "  bad rows    %s -> %s\n", severities[p->policy.severity],
            p->sink.rejected.path);
out:
    return code;
}

static void print_json(const view *v, fb_buf *out)
{
    const fb_pipeline *p = v->pipeline;
    fb_buf_add_text(out, "{\"pipeline\":");
    fb_buf_add_json_text(out, p->name);
    fb_buf_add_text(out, ",\"topic\":");
    fb_buf_add_json_text(out, p->source.topic);
    fb_buf_printf(out,
                  ",\"messages\":%" PRId64 ",\"waiting\":%" PRId64 ",\"partitions\":[",
                  v->reads, v->plan.messages);
    for (size_t i = 0; i < v->plan.count; i++) {
        const fb_plan_partition *q = &v->plan.partitions[i];
        fb_buf_printf(out,
                      "%s{\"partition\":%" PRId32 ",\"from\":%" PRId64 ",\"to\":%" PRId64
                      ",\"messages\":%" PRId64 ",\"lost\":%" PRId64 ",\"oldest_ms\":",
                      i ? "," : "", q->partition, q->first, q->last, q->last - q->first,
                      q->lost);
        if (!v->oldest || v->oldest[i] < 0)
            fb_buf_add_text(out, "null}");
        else
            fb_buf_printf(out, "%" PRId64 "}", v->oldest[i]);
    }
    fb_buf_add_text(out, "],\"target\":{\"format\":\"delta\",\"uri\":");
    fb_buf_add_json_text(out, fb_delta_name(v->session.table));
    if (fb_delta_exists(v->session.table))
        fb_buf_printf(out, ",\"version\":%" PRId64, fb_delta_version(v->session.table));
    else
        fb_buf_add_text(out, ",\"version\":null");
    fb_buf_add_text(out, "},\"rejected_to\":");
    fb_buf_add_json_text(out, p->sink.rejected.path);
    fb_buf_add_char(out, '}');
}

/* One call: the table of csv and markdown goes over all pipelines. */
typedef struct planner {
    fb_cli   *cli;
    fb_chosen chosen;
    bool      has_table;
    fb_table  table;
    int64_t   reads;
} planner;

static fb_code print(planner *p, const view *v, bool is_first, fb_error *err)
{
    fb_code code = FB_OK;
    FILE   *to = p->cli->out;
    fb_buf  json;
    if (p->has_table) add_rows(v, true, &p->table);
    if (p->has_table) return FB_OK;
    if (p->cli->form == FB_AS_TABLE) {
        if (!is_first) fputc('\n', to);
        return print_text(p->cli, v, err);
    }
    fb_buf_init(&json, MAX_PLAN_BYTES);
    print_json(v, &json);
    FB_TRY(fb_buf_check(&json, "a plan", err));
    fprintf(to, "%s\n", json.data);
out:
    fb_buf_clear(&json);
    return code;
}

static void plan_all(planner *p, fb_error *err)
{
    static view v;
    for (size_t i = 0; i < p->chosen.count; i++) {
        v = (view){.pipeline = p->chosen.pipelines[i]};
        fb_code code = look(p->cli, &p->chosen.document, &v, err);
        if (code == FB_OK) code = print(p, &v, i == 0, err);
        if (code != FB_OK) {
            if (p->chosen.count > 1) fb_error_at(err, "%s", v.pipeline->name);
            fb_cli_report(p->cli, err);
        }
        p->reads += v.reads;
        fb_free(v.oldest);
        fb_plan_clear(&v.plan);
        fb_session_close(&v.session);
    }
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    fb_code code = FB_OK;
    planner p = {.cli = cli};
    char    again[FB_MAX_AGAIN];
    p.has_table = cli->form == FB_AS_CSV || cli->form == FB_AS_MARKDOWN;
    FB_TRY(fb_chosen_open(cli, cli->words, cli->words_count, &p.chosen, err));
    if (p.has_table)
        fb_table_begin(&p.table, cli->form, cli->out, columns,
                       sizeof columns / sizeof *columns);
    plan_all(&p, err);
    if (p.has_table) FB_TRY(fb_table_end(&p.table, err));
    if (cli->form == FB_AS_TABLE && cli->exit_status < 0) {
        fprintf(cli->out, "\nNothing was read or written. To do it: %s run",
                fb_cli_again(cli, again));
        for (size_t i = 0; i < cli->words_count; i++)
            fprintf(cli->out, " %s", cli->words[i]);
        fputc('\n', cli->out);
    }
    if (fb_cli_has(cli, "exit-code") && cli->exit_status < 0 && p.reads > 0)
        cli->exit_status = 4;
out:
    fb_chosen_close(&p.chosen);
    return code;
}

const fb_command fb_command_plan = {
    .name = "plan",
    .section = "Start",
    .summary = "Show what would be read and written, change nothing",
    .words = "[PIPELINE ...]",
    .text = "Asks broker and table, lays the offsets a run would read, and says where "
            "rows and\n"
            "rejected rows would go. Without PIPELINE: all of them. With --json each "
            "plan is an\n"
            "object on a line of its own.",
    .examples = "forebay plan orders\n"
                "forebay plan orders --exit-code   # 0 nothing to do, 4 something to do",
    .see_also = "forebay help offsets, forebay help run",
    .groups = groups,
    .forms = FB_FORMS_ALL,
    .words_max = -1,
    .run = run,
};
