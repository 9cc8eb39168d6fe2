/* plan.c - from stored positions and the broker's word to ranges; see plan.h.
 *
 * The way of a plan:
 *   describe   partitions with their first and last offsets, the topic's id
 *   positions  what the table has for each of them
 *   begin      where each partition starts; a position the topic cannot serve any more is
 *              a loss and stops the plan unless the policy says how to go on
 *   end        where it stops: the end as it is now, fixed
 */
#include "run/plan.h"

#include "base/alloc.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

typedef struct planner {
    fb_session            *session;
    const fb_plan_options *options;
    fb_kafka_topic         topic;
    fb_plan               *plan;
    int64_t               *from_times, *to_times; ///< offsets of a time; NULL: not asked for
} planner;

static const fb_where plain = {.kind = FB_WHERE_DEFAULT};

static const fb_where *or_plain(const fb_where *where) { return where ? where : &plain; }

/* @return the offset a list gives for `partition`, -1 when it gives none */
static int64_t listed(const fb_where *where, int32_t partition)
{
    for (size_t i = 0; i < where->count; i++)
        if (where->partitions[i] == partition) return where->offsets[i];
    return -1;
}

static bool is_wanted(const planner *p, int32_t partition)
{
    const fb_kafka_source *source = &p->session->pipeline->source;
    const fb_where        *from = or_plain(p->options->from), *to = or_plain(p->options->to);
    const int32_t *list = p->options->partitions ? p->options->partitions : source->partition_list;
    size_t count = p->options->partitions ? p->options->partitions_count : source->partition_count;
    bool   found = count == 0;
    for (size_t i = 0; i < count && !found; i++)
        found = list[i] == partition;
    if (from->kind == FB_WHERE_OFFSETS && listed(from, partition) < 0) return false;
    if (to->kind == FB_WHERE_OFFSETS && listed(to, partition) < 0) return false;
    return found;
}

static fb_code fail_loss(const planner *p, const fb_plan_partition *q, fb_error *err)
{
    const fb_pipeline *pipeline = p->session->pipeline;
    char               stored[32], low[32], lost[32];
    if (q->stored > q->high) {
        fb_error_set(err, FB_R_O002,
                     "partition %" PRId32 " of topic \"%s\": stored offset %s is past the end (%s)",
                     q->partition, pipeline->source.topic, fb_text_count(q->stored, stored),
                     fb_text_count(q->high, low));
        fb_error_state(err, "nothing was read and nothing was changed");
        fb_error_hint(err,
                      "the topic was truncated or made again: restore it, or go on from where it "
                      "ends with: forebay offsets reset %s --partition %" PRId32 " --to %" PRId32
                      ":%" PRId64 " --reason \"topic truncated\"",
                      pipeline->name, q->partition, q->partition, q->end);
        return FB_EGAP;
    }
    fb_error_set(err, FB_R_O001,
                 "partition %" PRId32 ": stored offset %s is older than the first message still "
                 "kept (%s): %s messages were deleted by retention before they were read",
                 q->partition, fb_text_count(q->stored, stored), fb_text_count(q->low, low),
                 fb_text_count(q->low - q->stored, lost));
    fb_error_state(err, "nothing was read and nothing was changed");
    fb_error_hint(err,
                  "accept the gap: forebay offsets reset %s --partition %" PRId32 " --to %" PRId32
                  ":%" PRId64 " --reason \"retention\"",
                  pipeline->name, q->partition, q->partition, q->low);
    return FB_EGAP;
}

/* A position that the topic cannot serve: go on by policy, or stop. Past the end no policy
 * is right: what was landed from there is gone from the topic, and from its start all the
 * rest would be landed twice; a person has to say what happened. */
static fb_code settle_loss(const planner *p, fb_plan_partition *q, fb_error *err)
{
    int  policy = p->session->pipeline->source.on_data_loss;
    bool is_past = q->stored > q->high;
    q->first = policy == FB_LOSS_LATEST && !p->options->accepts_loss ? q->end : q->low;
    q->lost = is_past ? 0 : q->first - q->stored;
    p->plan->jumps = true;
    if (p->options->accepts_loss || (policy != FB_LOSS_STOP && !is_past)) return FB_OK;
    return fail_loss(p, q, err);
}

static fb_code first_start(const planner *p, fb_plan_partition *q, fb_error *err)
{
    /* A partition that appeared later is read from its start, whatever the setting says:
     * what was written to it before it was seen is not older than the pipeline. */
    q->is_new = p->session->positions.has_any;
    int reset = q->is_new ? FB_RESET_EARLIEST : p->session->pipeline->source.auto_offset_reset;
    q->first = reset == FB_RESET_LATEST ? q->end : q->low;
    if (reset == FB_RESET_LATEST) p->plan->jumps = true; // what comes next is not skipped again
    if (reset != FB_RESET_ERROR || p->options->accepts_loss) return FB_OK;
    fb_error_set(err, FB_R_O005, "pipeline \"%s\" has no stored position for partition %" PRId32
                 " and auto_offset_reset is error", p->session->pipeline->name, q->partition);
    if (fb_delta_exists(p->session->table))
        fb_error_hint(err, "forebay offsets reset %s --to earliest, or set auto_offset_reset",
                      p->session->pipeline->name);
    else // no table whose offsets could be moved
        fb_error_hint(err, "set source.auto_offset_reset to earliest or latest");
    return FB_EMISSING;
}

static fb_code set_begin(const planner *p, size_t index, fb_plan_partition *q, fb_error *err)
{
    const fb_where *from = or_plain(p->options->from);
    switch (from->kind) {
    case FB_WHERE_EARLIEST: q->first = q->low; return FB_OK;
    case FB_WHERE_LATEST: q->first = q->end; return FB_OK;
    case FB_WHERE_TIME: q->first = p->from_times[index]; return FB_OK;
    case FB_WHERE_OFFSETS:
        q->first = listed(from, q->partition);
        if (q->first < q->low) q->first = q->low;
        return FB_OK;
    case FB_WHERE_DEFAULT: break;
    }
    if (p->session->pipeline->incremental_mode == FB_INCREMENTAL_NONE) {
        q->first = q->low;
        return FB_OK;
    }
    if (q->stored < 0) return first_start(p, q, err);
    q->first = q->stored;
    return q->stored < q->low || q->stored > q->high ? settle_loss(p, q, err) : FB_OK;
}

static void set_end(const planner *p, size_t index, fb_plan_partition *q)
{
    const fb_where *to = or_plain(p->options->to);
    q->last = q->end;
    if (to->kind == FB_WHERE_TIME) q->last = p->to_times[index];
    if (to->kind == FB_WHERE_OFFSETS) q->last = listed(to, q->partition);
    if (to->kind == FB_WHERE_EARLIEST) q->last = q->low;
    if (q->last > q->end) q->last = q->end;
    if (q->last < q->first) q->last = q->first;
}

static fb_code ask_times(planner *p, const fb_where *where, int64_t **out, fb_error *err)
{
    if (where->kind != FB_WHERE_TIME) return FB_OK;
    *out = fb_alloc(p->topic.count * sizeof **out);
    if (!*out) return fb_fail_memory(err, "a plan");
    return fb_kafka_offsets_at(p->session->kafka, &p->topic, where->time_ms, p->options->timeout_ms,
                               *out, err);
}

static fb_code load_positions(planner *p, fb_error *err)
{
    fb_session *s = p->session;
    fb_code     code = FB_OK;
    int32_t    *ids = fb_alloc(p->topic.count * sizeof *ids);
    if (!ids) return fb_fail_memory(err, "a plan");
    for (size_t i = 0; i < p->topic.count; i++)
        ids[i] = p->topic.partitions[i].id;
    fb_positions_clear(&s->positions);
    fb_positions_place place = s->place;
    place.accepts_loss = p->options->accepts_loss;
    FB_TRY(fb_positions_load(&place, s->table,
                             &(fb_positions_ask){p->topic.id, ids, p->topic.count}, &s->positions,
                             err));
    if (!s->positions.is_recreated || p->options->accepts_loss) goto out;
    if (s->pipeline->source.on_recreated == FB_RECREATED_RESTART) {
        p->plan->is_recreated = true;
        FB_TRY(fb_positions_restart(&s->positions, s->pipeline->source.topic, err));
        goto out;
    }
    fb_error_set(err, FB_R_O003,
                 "topic \"%s\" was deleted and made again: it has id %s now, another than when "
                 "its positions were kept", s->pipeline->source.topic, p->topic.id);
    fb_error_state(err, "nothing was read and nothing was changed");
    fb_error_hint(err, "to land the new topic from its start, set source.on_recreated: restart");
    code = FB_EGAP;
out:
    fb_free(ids);
    return code;
}

static fb_code lay_ranges(planner *p, fb_error *err)
{
    fb_code  code = FB_OK;
    fb_plan *plan = p->plan;
    plan->partitions = fb_alloc(p->topic.count * sizeof *plan->partitions);
    if (!plan->partitions) return fb_fail_memory(err, "a plan");
    for (size_t i = 0; i < p->topic.count; i++) {
        const fb_kafka_partition *k = &p->topic.partitions[i];
        if (!is_wanted(p, k->id)) continue;
        fb_plan_partition *q = &plan->partitions[plan->count];
        *q = (fb_plan_partition){.partition = k->id,
                                 .stored = fb_positions_find(&p->session->positions, k->id)->next,
                                 .low = k->low,
                                 .end = k->end,
                                 .high = k->high};
        FB_TRY(set_begin(p, i, q, err));
        set_end(p, i, q);
        plan->messages += q->last - q->first;
        plan->count++;
    }
out:
    return code;
}

fb_code fb_plan_make(fb_session *session, const fb_plan_options *options, fb_plan *out,
                     fb_error *err)
{
    fb_code code = FB_OK;
    planner p = {.session = session, .options = options, .plan = out};
    *out = (fb_plan){0};
    FB_TRY(fb_kafka_describe(session->kafka, options->timeout_ms, &p.topic, err));
    memcpy(out->topic_id, p.topic.id, sizeof out->topic_id);
    FB_TRY(load_positions(&p, err));
    FB_TRY(ask_times(&p, or_plain(options->from), &p.from_times, err));
    FB_TRY(ask_times(&p, or_plain(options->to), &p.to_times, err));
    FB_TRY(lay_ranges(&p, err));
out:
    fb_kafka_topic_clear(&p.topic);
    fb_free(p.from_times);
    fb_free(p.to_times);
    if (code != FB_OK) fb_plan_clear(out);
    return code;
}

void fb_plan_clear(fb_plan *plan)
{
    fb_free(plan->partitions);
    *plan = (fb_plan){0};
}
