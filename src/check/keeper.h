/** keeper.h - records set aside during a window, with all their faults.
 *
 * They are kept in the table `fb_refused` of the query engine, which puts them on disk when
 * they are many, until a sink writes them where the user wants them.  Rows hold the raw
 * bytes of value, key and headers, so that nothing a producer sent is lost.
 *
 * Threads: the refuser is called by any worker; everything else from the run's thread
 * while no query runs.
 */
#ifndef FB_CHECK_KEEPER_H
#define FB_CHECK_KEEPER_H

#include "batch/stages.h"
#include "engine/engine.h"
#include "schema/type.h"

#define FB_KEEPER_TABLE "fb_refused"

typedef struct fb_keeper fb_keeper;

typedef struct fb_keeper_options {
    const char *pipeline, *run_id, *topic;
    const char *severity;    ///< "reject" or "warn"; written beside each row
    fb_source   source;      ///< to ask for headers
} fb_keeper_options;

/** Begin with an empty table. All of `options` is borrowed until the keeper is freed. */
FB_MUST_CHECK fb_code fb_keeper_open(fb_engine *engine, const fb_keeper_options *options,
                                     fb_keeper **out, fb_error *err);

fb_refuser fb_keeper_refuser(fb_keeper *keeper);

/** Make what was kept visible to queries; nothing can be added afterwards. */
FB_MUST_CHECK fb_code fb_keeper_finish(fb_keeper *keeper, fb_error *err);

int64_t fb_keeper_count(const fb_keeper *keeper); ///< records kept

/** How often each rule was broken, by rule and column; `visit` is called once for each. */
typedef void (*fb_keeper_visit)(void *context, fb_refusal_id rule, const char *column,
                                int64_t violations);
void fb_keeper_each_check(const fb_keeper *keeper, fb_keeper_visit visit, void *context);

/** The place and first fault of the lowest record kept: for messages. */
bool fb_keeper_first(const fb_keeper *keeper, int32_t *partition, int64_t *offset,
                     fb_refusal *fault);

void fb_keeper_free(fb_keeper *keeper); ///< before the engine closes; NULL is allowed

/** The columns of the table, as a schema. `out` is initialised by the caller. */
FB_MUST_CHECK fb_code fb_keeper_schema(fb_schema *out, fb_error *err);

#endif
