/** plan.h - what a run would read, and from where: topic, stored positions, ranges.
 *
 * A plan is made by looking only: broker, table and state are asked, nothing is changed.
 * `plan`, `lag`, `offsets` and `check` print it, `run` carries it out.
 *
 * Threads: one at a time.
 */
#ifndef FB_RUN_PLAN_H
#define FB_RUN_PLAN_H

#include "lake/delta.h"
#include "offsets/positions.h"
#include "run/document.h"
#include "source/kafka.h"

/** --from and --to: where a read begins or ends. */
typedef enum fb_where_kind {
    FB_WHERE_DEFAULT, ///< stored positions; the end of the topic now
    FB_WHERE_EARLIEST,
    FB_WHERE_LATEST,
    FB_WHERE_TIME,
    FB_WHERE_OFFSETS, ///< only the partitions named
} fb_where_kind;

typedef struct fb_where {
    fb_where_kind kind;
    int64_t       time_ms;
    size_t        count; ///< of `partitions` and `offsets`
    int32_t       partitions[1024];
    int64_t       offsets[1024];
} fb_where;

/** Read "stored", "end", "earliest", "latest", a time (2026-11-28, 2026-11-28T00:00Z) or
 * "0:123,1:456". @return FB_EUSAGE (C001) */
FB_MUST_CHECK fb_code fb_where_parse(const char *text, fb_where *out, fb_error *err);

typedef struct fb_plan_partition {
    int32_t partition;
    int64_t stored;         ///< the position kept, -1 when there is none
    int64_t low, end, high; ///< as fb_kafka_partition
    int64_t first, last;    ///< to be read: [first, last)
    int64_t lost;           ///< offsets the policy lets go, already left out of the range
    bool    is_new;         ///< appeared after the first run
} fb_plan_partition;

typedef struct fb_plan {
    fb_plan_partition *partitions; ///< owned; ascending
    size_t             count;
    int64_t            messages; ///< offsets to be read: sum of last - first
    bool               jumps;    ///< a position is to be kept although nothing may be read
                                 ///< before it: the end of the topic, or behind a loss
    char               topic_id[32];
    bool               is_recreated; ///< and on_recreated: restart begins it anew
} fb_plan;

enum { FB_MAX_METADATA = 16 };

/** What a pipeline talks to, opened as far as it was asked for. */
typedef struct fb_session {
    const fb_document *document;
    const fb_pipeline *pipeline;
    fb_engine         *engine;
    fb_delta          *table;
    fb_kafka          *kafka;   ///< NULL when no broker was asked for
    fb_schema          decoded; ///< what a message gives, with its rules
    fb_schema          schema;  ///< the table's rows: decoded columns, then metadata
    unsigned           metadata[FB_MAX_METADATA]; ///< FB_META_* bit of each metadata column
    fb_positions       positions;                 ///< filled by fb_plan_make()
    bool               writes_plain; ///< as fb_session_set_files() was told
    struct fb_window_scan *scan; ///< of the window under way; the engine refers to it
    char               state_folder[FB_MAX_PATH]; ///< of this pipeline
    char               state_file[FB_MAX_PATH];   ///< of store `file`
    char               group[FB_MAX_NAME];
    fb_positions_place place; ///< borrows the texts above: a session is not copied
} fb_session;

/** Open engine and table and, unless `timeout_ms` is 0, reach the broker. On failure
 * everything is closed again.
 * @return codes of fb_engine_open, fb_delta_open, fb_kafka_open, fb_schema_from_options */
FB_MUST_CHECK fb_code fb_session_open(const fb_document *document, const fb_pipeline *pipeline,
                                      int64_t timeout_ms, fb_session *out, fb_error *err);
void                  fb_session_close(fb_session *session); ///< may be called twice

/** How the table's files are written from now on. @param is_plain  without dictionaries */
void fb_session_set_files(fb_session *session, bool is_plain);

/** list<struct<key string, value binary>>: what a record's headers are as a column. */
FB_MUST_CHECK fb_code fb_headers_type(fb_arena *arena, fb_type *out, fb_error *err);

typedef struct fb_plan_options {
    const fb_where *from, *to; ///< NULL: default
    const int32_t *partitions; ///< NULL: those of the configuration, else all
    size_t         partitions_count;
    int64_t        timeout_ms;   ///< for the broker's answers
    bool           accepts_loss; ///< for `lag` and `offsets`: show a gap, do not fail on it
} fb_plan_options;

/** Ask the broker and lay the ranges.
 * @return FB_EGAP: O001 offsets were deleted before they were read, O002 the stored
 *         position is past the end, O003 the topic was made again; codes of the broker */
FB_MUST_CHECK fb_code fb_plan_make(fb_session *session, const fb_plan_options *options,
                                   fb_plan *out, fb_error *err);
void                  fb_plan_clear(fb_plan *plan); ///< may be called twice

#endif
