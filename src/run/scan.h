/** scan.h - source, decoder and rules joined into rows of the query engine.
 *
 * The rows of `fb_window()` are the schema's columns, then the metadata columns asked for.
 * Each engine worker takes a slice of records, decodes it straight into the chunk it was
 * given, judges each row, and hands refused records to the keeper with all their faults.
 *
 * Threads: open and close from the run's thread; the rest is the engine's.
 */
#ifndef FB_RUN_SCAN_H
#define FB_RUN_SCAN_H

#include "batch/stages.h"
#include "engine/scan.h"
#include "schema/type.h"

#define FB_SCAN_NAME "fb_window"

/** Beside the FB_META_* bits: the record's value as it came. Never a column of a table. */
enum { FB_SCAN_VALUE = 1 << 16 };

typedef struct fb_window_scan_options {
    const fb_schema *schema;   ///< decoded columns first, metadata columns behind them
    const fb_schema *decoded;  ///< the decoded columns, with the rules that hold for them
    const unsigned  *metadata; ///< FB_META_* bit, or FB_SCAN_VALUE, of each metadata column
    const char      *topic;
    fb_source        source;
    fb_decoder       decoder;
    fb_refuser       refuser;
    bool             keeps_faulty_rows; ///< severity warn: faulty cells become null
    bool             skips_tombstones, rejects_tombstones;
    int              workers;
    int32_t          partitions_max; ///< one above the highest partition
} fb_window_scan_options;

typedef struct fb_window_scan fb_window_scan;

/** Make the scan and register it with `engine`; both live until the engine closes. */
FB_MUST_CHECK fb_code fb_window_scan_open(const fb_window_scan_options *options, fb_engine *engine,
                                          fb_window_scan **out, fb_error *err);

/** Add what the workers counted to the books: written, rejected, filtered of each
 * partition.  Only after the query has ended. */
void fb_window_scan_count(const fb_window_scan *scan, fb_books *books);

/** Was there a -0.0 among the rows?  The engine's dictionaries cannot keep its sign. */
bool fb_window_scan_has_negative_zero(const fb_window_scan *scan);

int64_t fb_window_scan_warned(const fb_window_scan *scan); ///< faulty rows that were kept

/** After the engine was closed. NULL is allowed. */
void fb_window_scan_free(fb_window_scan *scan);

#endif
