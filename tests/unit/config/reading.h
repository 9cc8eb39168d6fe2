/** reading.h - a configuration read from a text, with all that was printed about it. */
#ifndef FB_TESTS_READING_H
#define FB_TESTS_READING_H

#include "run/document.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

typedef struct reading {
    fb_document document;
    fb_error    err;
    fb_code     code;
    char       *shown, *json; ///< the diagnostics as printed
} reading;

static inline void reading_begin(reading *r)
{
    memset(r, 0, sizeof *r);
    fb_document_init(&r->document);
}

/* Read what has been laid over each other, and keep what is printed. */
static inline void reading_finish(reading *r, bool allows_inline_secrets)
{
    size_t size;
    FILE  *to = open_memstream(&r->shown, &size);
    r->code = fb_document_read(&r->document, allows_inline_secrets, &r->err);
    fb_diagnostics_print(&r->document.config.found, to);
    fclose(to);
    to = open_memstream(&r->json, &size);
    fb_diagnostics_print_json(&r->document.config.found, to);
    fclose(to);
}

static inline void reading_add(reading *r, const char *name, const char *text)
{
    CHECK_CODE(fb_config_add_text(&r->document.config, name, text, strlen(text), &r->err),
               FB_OK, &r->err);
}

static inline void reading_of(reading *r, const char *text)
{
    reading_begin(r);
    reading_add(r, "forebay.yml", text);
    reading_finish(r, false);
}

static inline void reading_end(reading *r)
{
    fb_document_clear(&r->document);
    free(r->shown);
    free(r->json);
    r->shown = r->json = NULL;
}

/* A text is read and what is printed about it is `want`, word for word. */
static inline void reads_as(const char *text, const char *want)
{
    reading r;
    reading_of(&r, text);
    CHECK_TEXT(r.shown, want);
    CHECK(r.code == (want[0] ? FB_ECONFIG : FB_OK));
    reading_end(&r);
}

/* The first fault of a text has this code and these words. */
static inline void is_refused(const char *text, const char *reason, const char *words)
{
    reading r;
    reading_of(&r, text);
    CHECK(r.code == FB_ECONFIG);
    CHECK_TEXT(fb_reason_name(r.err.reason), reason);
    CHECK_HAS(r.shown, words);
    if (!strstr(r.shown, words)) printf("of:\n%s\n", text);
    reading_end(&r);
}

/* The one pipeline `p`, with lines added to its source. */
#define PIPELINE_WITH(source_lines)                                                      \
    "pipelines:\n  p:\n    source:\n      message_format: raw\n" source_lines            \
    "    sink: {accepted: {path: ./t}}\n"

#endif
