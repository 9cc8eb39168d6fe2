/** delta_state.h - what a table says at one version, but for its files.
 *
 * A state grows by whole versions: the actions of a commit are read and judged first, and
 * applied only when all of them are sound.
 *
 * Threads: one at a time.
 */
#ifndef FB_LAKE_DELTA_STATE_H
#define FB_LAKE_DELTA_STATE_H

#include "base/uuid.h"
#include "lake/delta_log.h"
#include "lake/map.h"
#include "schema/type.h"

typedef struct fb_delta_state {
    int64_t      version;         ///< -1: there is no table
    yyjson_doc  *protocol, *meta; ///< {"protocol":{...}} and so on; NULL: none yet
    fb_schema    schema;
    const char **partitions; ///< borrowed from `meta`
    size_t       partitions_count;
    fb_map       txns;           ///< appId: number = version, time = lastUpdated or -1
    fb_map       domains;        ///< domain: text = configuration
    int64_t      commit_time_ms; ///< inCommitTimestamp of `version`; -1: not known
} fb_delta_state;

void fb_delta_state_init(fb_delta_state *state);
void fb_delta_state_clear(fb_delta_state *state); ///< may be called twice

/** Take the rows of a checkpoint or the lines of one commit: first fb_delta_batch_add()
 * for each action, then fb_delta_state_apply(). */
typedef struct fb_delta_batch {
    yyjson_doc **docs; ///< {"txn":{...}}: the actions that a state keeps
    size_t       count, room;
    const char  *key; ///< for messages
    int64_t      commit_time_ms;
    fb_uuid      txn_id;
} fb_delta_batch;

void fb_delta_batch_init(fb_delta_batch *batch, const char *key);
void fb_delta_batch_clear(fb_delta_batch *batch); ///< may be called twice

/** An fb_action_visit: judge one action and keep it if a state needs it.
 * @return FB_EDATA (P007) when a field that must be there is not */
FB_MUST_CHECK fb_code fb_delta_batch_add(void *batch, const char *action,
                                         yyjson_val *body, fb_error *err);

/** The state is that of `version` afterwards; the batch is empty. On failure the state is
 * as it was, but for FB_EMEMORY: then it is to be loaded anew.
 * @return FB_EDATA (P009) for columns that cannot be read */
FB_MUST_CHECK fb_code fb_delta_state_apply(fb_delta_state *state, fb_delta_batch *batch,
                                           int64_t version, fb_error *err);

/** @return FB_EDATA (P008) when there is no protocol or no metaData */
FB_MUST_CHECK fb_code fb_delta_state_check(const fb_delta_state *state, fb_error *err);

yyjson_val *fb_delta_state_protocol(const fb_delta_state *state); ///< the action's body
yyjson_val *fb_delta_state_meta(const fb_delta_state *state);     ///< NULL: none

/** A value of metaData.configuration; NULL when it is not set. */
const char *fb_delta_state_property(const fb_delta_state *state, const char *key);

/** Read "interval 30 days", "7 day 12 hours": a length of time as Spark writes it.
 * @return false when it has another form */
bool fb_delta_interval_ms(const char *text, int64_t *out_ms);

#endif
