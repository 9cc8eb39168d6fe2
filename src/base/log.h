/** log.h - what the program says while it works: text or NDJSON lines on stderr.
 *
 * A line has a level, an event name (snake_case, for machines), a text (for people) and
 * fields.  Text lines show level words only for warnings and errors; NDJSON lines carry
 * ts, level, event, the fields set by fb_log_context(), the fields of the call and, when
 * there is one, msg.  What could end a line, drive a terminal or turn the direction of
 * writing is escaped: a message can forge no line.  A text of more than 4,095 bytes is cut.
 * Never hand over a secret or a row value.
 *
 * Threads: any; a line is written whole.
 */
#ifndef FB_BASE_LOG_H
#define FB_BASE_LOG_H

#include "base/error.h"

#include <stdint.h>

typedef enum fb_log_level { FB_LOG_DEBUG, FB_LOG_INFO, FB_LOG_WARN, FB_LOG_ERROR } fb_log_level;

typedef struct fb_log_field {
    const char *name;
    const char *text; ///< NULL is null
    int64_t     number;
    enum { FB_LOG_NUMBER, FB_LOG_TEXT, FB_LOG_JSON } kind; ///< JSON: `text` is JSON already
} fb_log_field;

#define FB_INT(name, n) ((fb_log_field){name, NULL, (n), FB_LOG_NUMBER})
#define FB_STR(name, s) ((fb_log_field){name, (s), 0, FB_LOG_TEXT})
#define FB_RAW(name, json) ((fb_log_field){name, (json), 0, FB_LOG_JSON})

void fb_log_setup(fb_log_level least, bool as_json); ///< before any thread starts
void fb_log_use_color(bool on); ///< of "error:" and "warning:" in text lines
bool fb_log_is_json(void);
bool fb_log_shows(fb_log_level level);

/** Fields every NDJSON line carries from now on; the texts are copied. NULL clears. */
void fb_log_context(const char *run_id, const char *pipeline);

/** A line; `fields` may be NULL when `count` is 0. */
void fb_log_fields(fb_log_level level, const char *event, const fb_log_field *fields, size_t count,
                   const char *fmt, ...) FB_PRINTF(5, 6);

#define fb_log(level, event, ...) fb_log_fields(level, event, NULL, 0, __VA_ARGS__)

/** Print an error as UX K has it: where, what, code, state, do. */
void fb_log_error(const fb_error *err);

/** Text for people only, of one line or several; nothing in NDJSON mode. */
void fb_log_plain(const char *fmt, ...) FB_PRINTF(1, 2);

/** The progress bar's line: drawn over the last one, cleared before any other line. */
void fb_log_status(const char *line); ///< "" takes it away

#endif
