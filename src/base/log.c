/* log.c - one lock, one line at a time, one write per line; see log.h.
 *
 * Lines are built in memory of this file, so that "no memory" can be said without any.
 */
#include "base/log.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/time.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINE = 32768, MAX_MESSAGE = 4096 };

static struct {
    pthread_mutex_t lock; ///< of all below but how lines look
    fb_log_level    least;
    bool            as_json, with_color;
    bool            status_shown;
    char            run_id[64], pipeline[256];
    char            line[MAX_LINE + 16]; ///< with room for how a line ends
} sink = {.lock = PTHREAD_MUTEX_INITIALIZER, .least = FB_LOG_INFO};

static const char *const level_names[] = {"debug", "info", "warning", "error"};

void fb_log_setup(fb_log_level least, bool as_json)
{
    sink.least = least;
    sink.as_json = as_json;
}

void fb_log_use_color(bool on) { sink.with_color = on; }

bool fb_log_is_json(void) { return sink.as_json; }

bool fb_log_shows(fb_log_level level) { return level >= sink.least; }

void fb_log_context(const char *run_id, const char *pipeline)
{
    pthread_mutex_lock(&sink.lock);
    snprintf(sink.run_id, sizeof sink.run_id, "%s", run_id ? run_id : "");
    snprintf(sink.pipeline, sizeof sink.pipeline, "%s", pipeline ? pipeline : "");
    pthread_mutex_unlock(&sink.lock);
}

/* May the character be shown?  Not what ends a line, drives a terminal (the controls of
 * Unicode's category Cc) or makes text read otherwise than it is written (bidi controls). */
static bool is_visible(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return false;
    return !(c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
             (c >= 0x2066 && c <= 0x2069));
}

/* The character of `length` bytes at `text`. */
static uint32_t code_point(const char *text, size_t length)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t                   c = (unsigned char)text[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        c = c << 6 | ((unsigned char)text[i] & 0x3f);
    return c;
}

/* Escape what must not be shown.  A line feed becomes `newline`, unless that is NULL. */
static void add_visible(fb_buf *out, const char *text, const char *newline)
{
    size_t size = strlen(text);
    for (size_t i = 0, length; i < size; i += length ? length : 1) {
        length = fb_utf8_length(text + i, size - i);
        if (text[i] == '\n' && newline)
            fb_buf_add_text(out, newline);
        else if (length > 0 && is_visible(code_point(text + i, length)))
            fb_buf_add(out, text + i, length);
        else if (length > 1)
            fb_buf_printf(out, "\\u%04x", (unsigned)code_point(text + i, length));
        else
            fb_buf_printf(out, "\\x%02x", (unsigned char)text[i]);
    }
}

/* Begin a line, with the lock held. The buffer is never grown and never released. */
static fb_buf begin_line(void)
{
    sink.line[0] = '\0';
    return (fb_buf){.data = sink.line, .room = sizeof sink.line, .max = MAX_LINE};
}

/* "error: " and "warning: " stand out on a terminal. */
static void add_level(fb_buf *line, fb_log_level level)
{
    const char *color = level == FB_LOG_ERROR ? "\033[1;31m" : "\033[1;33m";
    if (level < FB_LOG_WARN) return;
    fb_buf_printf(line, "%s%s:%s ", sink.with_color ? color : "", level_names[level],
                  sink.with_color ? "\033[0m" : "");
}

/* Write a whole line, with the lock held. */
static void put(fb_buf *line)
{
    if (sink.status_shown) fputs("\r\033[K", stderr);
    sink.status_shown = false;
    memcpy(line->data + line->size, line->failed ? " ...\n" : "\n", line->failed ? 6 : 2);
    fwrite(line->data, 1, strlen(line->data), stderr);
    fflush(stderr);
}

static void json_field(fb_buf *out, const char *name, const char *text)
{
    fb_buf_add_char(out, ',');
    fb_buf_add_json_text(out, name);
    fb_buf_add_char(out, ':');
    fb_buf_add_json_text(out, text);
}

/* A value of a field: its text, its JSON or its number. */
static void json_value(fb_buf *out, const fb_log_field *field)
{
    switch (field->kind) {
    case FB_LOG_NUMBER: fb_buf_printf(out, "%" PRId64, field->number); break;
    case FB_LOG_TEXT: fb_buf_add_json_text(out, field->text); break;
    case FB_LOG_JSON: fb_buf_add_text(out, field->text ? field->text : "null"); break;
    }
}

typedef struct entry {
    fb_log_level        level;
    const char         *event;
    const fb_log_field *fields;
    size_t              count;
    const char         *text;
} entry;

static void json_line(fb_buf *out, const entry *e)
{
    char when[40];
    fb_buf_printf(out, "{\"ts\":\"%s\",\"level\":\"%s\"", fb_format_time_ms(fb_now_us(), when),
                  level_names[e->level]);
    json_field(out, "event", e->event);
    if (sink.run_id[0]) json_field(out, "run_id", sink.run_id);
    if (sink.pipeline[0]) json_field(out, "pipeline", sink.pipeline);
    for (size_t i = 0; i < e->count; i++) {
        fb_buf_add_char(out, ',');
        fb_buf_add_json_text(out, e->fields[i].name);
        fb_buf_add_char(out, ':');
        json_value(out, &e->fields[i]);
    }
    if (e->text[0]) json_field(out, "msg", e->text);
    fb_buf_add_char(out, '}');
}

/* A line that is too long comes without its fields, so that it is JSON all the same. */
static void put_json(const entry *e)
{
    fb_buf line = begin_line();
    json_line(&line, e);
    if (line.failed) {
        const fb_log_field cut = {"cut", "true", 0, FB_LOG_JSON};
        line = begin_line();
        json_line(&line, &(entry){e->level, e->event, &cut, 1, e->text});
    }
    put(&line);
}

void fb_log_fields(fb_log_level level, const char *event, const fb_log_field *fields, size_t count,
                   const char *fmt, ...)
{
    char    text[MAX_MESSAGE];
    va_list args;

    if (!fb_log_shows(level)) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    pthread_mutex_lock(&sink.lock);
    if (sink.as_json) {
        put_json(&(entry){level, event, fields, count, text});
    } else {
        fb_buf line = begin_line();
        add_level(&line, level);
        add_visible(&line, text, NULL);
        put(&line);
    }
    pthread_mutex_unlock(&sink.lock);
}

void fb_log_error(const fb_error *err)
{
    if (sink.as_json) {
        const fb_log_field fields[] = {
            FB_STR("code", fb_reason_name(err->reason)), FB_STR("where", err->where),
            FB_STR("state", err->state), FB_STR("do", err->hint)};
        fb_log_fields(FB_LOG_ERROR, "error", fields, 4, "%s", err->what);
        return;
    }
    pthread_mutex_lock(&sink.lock);
    fb_buf line = begin_line();
    if (err->where[0]) {
        add_visible(&line, err->where, NULL);
        fb_buf_add_text(&line, ": ");
    }
    add_level(&line, FB_LOG_ERROR);
    add_visible(&line, err->what, NULL);
    fb_buf_printf(&line, " [%s]", fb_reason_name(err->reason));
    if (err->state[0]) {
        fb_buf_add_text(&line, "\n  state: ");
        add_visible(&line, err->state, NULL);
    }
    if (err->hint[0]) {
        fb_buf_add_text(&line, "\n  do: ");
        add_visible(&line, err->hint, "\n      "); // what follows stands under it
    }
    put(&line);
    pthread_mutex_unlock(&sink.lock);
}

void fb_log_plain(const char *fmt, ...)
{
    char    text[MAX_MESSAGE];
    va_list args;

    if (sink.as_json || !fb_log_shows(FB_LOG_INFO)) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    pthread_mutex_lock(&sink.lock);
    fb_buf line = begin_line();
    add_visible(&line, text, "\n");
    put(&line);
    pthread_mutex_unlock(&sink.lock);
}

void fb_log_status(const char *text)
{
    if (sink.as_json || !fb_log_shows(FB_LOG_INFO)) return;
    pthread_mutex_lock(&sink.lock);
    fb_buf line = begin_line();
    fb_buf_add_text(&line, "\r\033[K");
    add_visible(&line, text, NULL);
    if (text[0] || sink.status_shown) fwrite(line.data, 1, line.size, stderr);
    sink.status_shown = text[0] != '\0';
    fflush(stderr);
    pthread_mutex_unlock(&sink.lock);
}
