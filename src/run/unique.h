/** unique.h - columns whose values may stand once in a window.
 *
 * Which of two equal rows came first cannot be told while workers decode side by side, so
 * a window with unique columns is read into a table of the engine first and judged there,
 * in the order of partition and offset: the lowest place wins, whatever the workers did.
 * Only rows that were accepted count as seen, and nulls are free.
 *
 * Threads: one at a time, while no query runs.
 */
#ifndef FB_RUN_UNIQUE_H
#define FB_RUN_UNIQUE_H

#include "run/plan.h"

/** The statement that reads the topic when there are unique columns. */
#define FB_UNIQUE_READ "CREATE OR REPLACE TABLE fb_rows AS SELECT * FROM fb_window()"

typedef struct fb_unique fb_unique;

/** @param out  NULL when no column is unique
 * @param severity  "reject" or "warn"; borrowed, as `run_id` is */
FB_MUST_CHECK fb_code fb_unique_open(const fb_session *session, const char *severity,
                                     const char *run_id, fb_unique **out, fb_error *err);
void                  fb_unique_free(fb_unique *unique); ///< NULL is allowed

/** What the scan must give: the table's columns, then the place and bytes of each record. */
const fb_schema *fb_unique_schema(const fb_unique *unique);
const unsigned  *fb_unique_metadata(const fb_unique *unique);

/** Find the rows that repeat a value and put them among the refused. */
FB_MUST_CHECK fb_code fb_unique_judge(fb_unique *unique, fb_error *err);

/** The rows that stay, as a query in parentheses. */
const char *fb_unique_relation(const fb_unique *unique);

void    fb_unique_count(const fb_unique *unique, fb_books *books); ///< written to rejected
int64_t fb_unique_refused(const fb_unique *unique);                ///< rows put aside or warned of
int64_t fb_unique_warned(const fb_unique *unique);
void    fb_unique_each_check(const fb_unique *unique,
                             void (*visit)(void *context, fb_refusal_id rule, const char *column,
                                           int64_t violations),
                             void *context);

#endif
