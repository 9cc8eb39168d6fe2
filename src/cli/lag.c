/* lag.c - the command `lag`: how many messages wait, and for how long. */
#include "cli/cli.h"

#include "base/alloc.h"
#include "base/time.h"

#include <inttypes.h>

enum { MAX_LAG_BYTES = 64 << 20 };

static const fb_flag own_flags[] = {
    {.name = "exit-code", .help = "exit with 4 when more messages wait than --threshold"},
    {.name = "threshold",
     .argument = "N",
     .help = "how many may wait                      [0]"},
    {.name = "timeout-ms",
     .argument = "N",
     .key = "source.timeout_ms",
     .help = "give up when the broker is silent      [key: source.timeout_ms]"},
    {.name = NULL},
};

static const fb_flag_group groups[] = {{"The answer", own_flags}, {NULL, NULL}};

static const fb_table_column columns[] = {
    {"pipeline", FB_CELL_TEXT},          {"topic", FB_CELL_TEXT},
    {"messages", FB_CELL_NUMBER},        {"oldest waiting", FB_CELL_TEXT},
    {"partitions behind", FB_CELL_TEXT},
};

/* What a call gathers. */
typedef struct teller {
    fb_cli  *cli;
    fb_table table;
    fb_buf   json;
    bool     is_json;
    int64_t  most; ///< messages of the pipeline that has most
    size_t   shown;
} teller;

/* The age of the oldest message that waits, in ms; -1 when none does or nobody knows. */
static int64_t ask_age(fb_session *session, const fb_plan *plan)
{
    int64_t *times = plan->messages > 0 ? fb_cli_oldest(session, plan) : NULL;
    int64_t  oldest = INT64_MAX, now = fb_now_us() / 1000;
    for (size_t i = 0; times && i < plan->count; i++)
        if (times[i] >= 0 && times[i] < oldest) oldest = times[i];
    fb_free(times);
    if (oldest == INT64_MAX) return -1;
    return oldest > now ? 0 : now - oldest;
}

static void add_row(teller *t, const fb_pipeline *pipeline, const fb_plan *plan,
                    int64_t age)
{
    char   text[32], behind[48];
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++)
        count += plan->partitions[i].first < plan->partitions[i].last;
    snprintf(behind, sizeof behind, "%zu of %zu", count, plan->count);
    fb_table_add_text(&t->table, pipeline->name);
    fb_table_add_text(&t->table, pipeline->source.topic);
    fb_table_add_number(&t->table, plan->messages);
    fb_table_add_text(&t->table, age < 0 ? "-" : fb_text_age(age, text));
    fb_table_add_text(&t->table, behind);
}

/* `position` and `end` are sums over the partitions: each moves when something was read or
 * produced, so a scheduler can tell one lag from the next by them. */
static void add_json(fb_buf *out, const fb_pipeline *pipeline, const fb_plan *plan,
                     int64_t age)
{
    int64_t position = 0, end = 0;
    for (size_t i = 0; i < plan->count; i++) {
        position += plan->partitions[i].first;
        end += plan->partitions[i].last;
    }
    fb_buf_add_text(out, "{\"pipeline\":");
    fb_buf_add_json_text(out, pipeline->name);
    fb_buf_add_text(out, ",\"topic\":");
    fb_buf_add_json_text(out, pipeline->source.topic);
    fb_buf_printf(out,
                  ",\"messages\":%" PRId64 ",\"position\":%" PRId64 ",\"end\":%" PRId64,
                  plan->messages, position, end);
    if (age < 0)
        fb_buf_add_text(out, ",\"oldest_waiting_ms\":null,\"partitions\":[");
    else
        fb_buf_printf(out, ",\"oldest_waiting_ms\":%" PRId64 ",\"partitions\":[", age);
    for (size_t i = 0; i < plan->count; i++) {
        const fb_plan_partition *p = &plan->partitions[i];
        fb_buf_printf(out,
                      "%s{\"partition\":%" PRId32 ",\"position\":%" PRId64
                      ",\"end\":%" PRId64 ",\"messages\":%" PRId64 "}",
                      i ? "," : "", p->partition, p->first, p->last, p->last - p->first);
    }
    fb_buf_add_text(out, "],\"error\":null}");
}

/* A pipeline that could not be asked is listed as well: unknown is not zero. */
static void add_failed(teller *t, const fb_pipeline *pipeline, const fb_error *err)
{
    if (!t->is_json) {
        fb_table_add_text(&t->table, pipeline->name);
        fb_table_add_text(&t->table, pipeline->source.topic);
        fb_table_add_text(&t->table, NULL);
        fb_table_add_text(&t->table, "?");
        fb_table_add_text(&t->table, fb_reason_name(err->reason));
        return;
    }
    fb_buf_add_text(&t->json, "{\"pipeline\":");
    fb_buf_add_json_text(&t->json, pipeline->name);
    fb_buf_add_text(&t->json, ",\"topic\":");
    fb_buf_add_json_text(&t->json, pipeline->source.topic);
    fb_buf_printf(
        &t->json,
        ",\"messages\":null,\"position\":null,\"end\":null,\"oldest_waiting_ms\":null,"
        "\"partitions\":[],\"error\":{\"code\":\"%s\",\"what\":",
        fb_reason_name(err->reason));
    fb_buf_add_json_text(&t->json, err->what);
    fb_buf_add_text(&t->json, "}}");
}

static void tell_one(teller *t, const fb_document *document, const fb_pipeline *pipeline)
{
    fb_code         code = FB_OK;
    fb_error        err;
    fb_session      session;
    fb_plan         plan = {0};
    fb_plan_options options = {.timeout_ms = fb_cli_look_ms(pipeline),
                               .accepts_loss = true};
    if (t->shown++) fb_buf_add_text(&t->json, t->cli->form == FB_AS_JSON ? ",\n " : ",");
    code = fb_session_open(document, pipeline, options.timeout_ms, &session, &err);
    if (code == FB_OK) {
        code = fb_plan_make(&session, &options, &plan, &err);
        if (code == FB_OK) {
            int64_t age = ask_age(&session, &plan);
            if (t->is_json)
                add_json(&t->json, pipeline, &plan, age);
            else
                add_row(t, pipeline, &plan, age);
            if (plan.messages > t->most) t->most = plan.messages;
        }
        fb_plan_clear(&plan);
        fb_session_close(&session);
    }
    if (code == FB_OK) return;
    add_failed(t, pipeline, &err);
    if (document->pipelines_count > 1) fb_error_at(&err, "%s", pipeline->name);
    fb_cli_report(t->cli, &err);
}

static fb_code print_all(teller *t, const fb_chosen *chosen, fb_error *err)
{
    fb_code code = FB_OK;
    if (!t->is_json) {
        fb_table_begin(&t->table, t->cli->form, t->cli->out, columns,
                       sizeof columns / sizeof *columns);
        t->table.has_bold_head = t->cli->uses_color;
    }
    for (size_t i = 0; i < chosen->count; i++)
        tell_one(t, &chosen->document, chosen->pipelines[i]);
    if (!t->is_json) return fb_table_end(&t->table, err);
    FB_TRY(fb_buf_check(&t->json, "the lag", err));
    fprintf(t->cli->out, "{\"pipelines\":[%s]}\n", fb_buf_text(&t->json));
out:
    return code;
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    fb_code   code = FB_OK;
    fb_chosen chosen;
    int64_t   threshold;
    teller    t = {.cli = cli,
                   .is_json = cli->form == FB_AS_JSON || cli->form == FB_AS_JSONL};
    fb_buf_init(&t.json, MAX_LAG_BYTES);
    FB_TRY(fb_chosen_open(cli, cli->words, cli->words_count, &chosen, err));
    FB_TRY(fb_cli_number(cli, "threshold", 0, INT64_MAX, &threshold, err));
    FB_TRY(print_all(&t, &chosen, err));
    if (fb_cli_has(cli, "exit-code") && cli->exit_status < 0 && t.most > threshold)
        cli->exit_status = 4;
out:
    fb_buf_clear(&t.json);
    fb_chosen_close(&chosen);
    return code;
}

const fb_command fb_command_lag = {
    .name = "lag",
    .section = "Look",
    .summary = "Messages waiting, per pipeline and partition",
    .words = "[PIPELINE ...]",
    .text = "Compares the stored offsets with the ends of the topics. Changes nothing. "
            "With --json\n"
            "each partition is listed, and `position` and `end` are sums over the "
            "partitions,\n"
            "which move whenever something was read or produced. Without PIPELINE: all "
            "of them.",
    .examples = "forebay lag\n"
                "forebay lag orders --exit-code --threshold 1000   # 4 when more wait\n"
                "forebay lag orders --json",
    .see_also = "forebay help plan, forebay help offsets",
    .groups = groups,
    .forms = FB_FORMS_ALL,
    .words_max = -1,
    .run = run,
};
