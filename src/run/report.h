/** report.h - what a run did, for people, schedulers and reports/<run_id>.json.
 *
 * The JSON is `forebay.report.v1`; null means unknown, 0 means counted and zero.  It holds
 * no row values and no secrets.
 *
 * Threads: one at a time.
 */
#ifndef FB_RUN_REPORT_H
#define FB_RUN_REPORT_H

#include "base/uuid.h"
#include "batch/books.h"
#include "batch/refusal.h"
#include "run/document.h"

enum { FB_MAX_CHECKS = 256 };

/** How often a rule was broken. */
typedef struct fb_check_count {
    fb_refusal_id rule;
    char          column[FB_MAX_NAME]; ///< "" when the whole record is meant
    int64_t       violations;
} fb_check_count;

typedef struct fb_report {
    char           run_id[64];
    char           pipeline[FB_MAX_NAME], topic[FB_MAX_NAME], group[FB_MAX_NAME];
    const char    *mode;   ///< "run", "dry-run"
    const char    *status; ///< "success", "success_with_warnings", "rejected", "aborted", "failed"
    int            exit_code;
    int64_t        started_us, finished_us;
    fb_books       books; ///< owned
    int64_t        warned;
    int64_t        bytes_written, files_written;
    int64_t        table_version; ///< -1: unknown or not there
    char           target[FB_MAX_PATH], rejected[FB_MAX_PATH];
    fb_check_count checks[FB_MAX_CHECKS];
    size_t         checks_count;
    int64_t        read_ms, commit_ms; ///< reading, decoding and writing overlap
    const char    *closed_by;          ///< "end", "max_messages", ...; NULL: nothing was read
    int64_t        lag_after;          ///< messages that wait, -1: unknown
    int64_t        lost;               ///< offsets passed over by source.on_data_loss
    bool           has_error;
    fb_error       error;
} fb_report;

void fb_report_init(fb_report *report);
void fb_report_clear(fb_report *report); ///< may be called twice

/** The whole report as one JSON object on one line. */
void fb_report_print_json(const fb_report *report, const fb_document *document, fb_buf *out);

/** "orders   50,000 read = 49,986 written + 12 rejected     delta v41   8.4 s" */
void fb_report_print_text(const fb_report *report, fb_buf *out);

/** Keep it as <report.path>/<run_id>.json and drop the oldest beyond report.keep. */
FB_MUST_CHECK fb_code fb_report_keep(const fb_report *report, const fb_document *document,
                                     fb_error *err);

#endif
