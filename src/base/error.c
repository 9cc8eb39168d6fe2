/* error.c - fills fb_error and reads the two tables behind it; see error.h. */
#include "base/error.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_TEXT = 600 };

/* Format into `field`, which may be among the arguments. What is too long is cut between
 * two characters. */
static void put(char *field, size_t room, const char *fmt, va_list args)
{
    char   text[MAX_TEXT];
    int    wanted = vsnprintf(text, sizeof text, fmt, args);
    size_t size = strlen(text);
    if (wanted >= (int)sizeof text || size >= room)
        size = fb_utf8_whole(text, size < room ? size : room - 1);
    memcpy(field, text, size);
    field[size] = '\0';
}

#define FORMAT_INTO(field, fmt)                                                          \
    do {                                                                                 \
        va_list args;                                                                    \
        _Static_assert(sizeof(field) <= MAX_TEXT, "a text of an error has more room");   \
        va_start(args, fmt);                                                             \
        put(field, sizeof(field), fmt, args);                                            \
        va_end(args);                                                                    \
    } while (0)

void fb_error_set(fb_error *err, fb_reason reason, const char *fmt, ...)
{
    FORMAT_INTO(err->what, fmt);
    err->code = fb_reason_code(reason);
    err->reason = reason;
    err->where[0] = err->state[0] = err->hint[0] = '\0';
}

void fb_error_at(fb_error *err, const char *fmt, ...)
{
    if (err->where[0] == '\0') FORMAT_INTO(err->where, fmt);
}

void fb_error_state(fb_error *err, const char *fmt, ...)
{
    FORMAT_INTO(err->state, fmt);
}

void fb_error_hint(fb_error *err, const char *fmt, ...)
{
    FORMAT_INTO(err->hint, fmt);
}

static const struct {
    const char *name, *meaning;
    int         exit_status;
    bool        retry;
} codes[] = {
    [FB_OK] = {"OK", "done", 0, false},
#define FB_CODE(name, number, exit_status, retry, meaning)                               \
    [number] = {#name, meaning, exit_status, retry},
#include "base/error_codes.def"
#undef FB_CODE
};

const char *fb_code_name(fb_code code) { return codes[code].name; }

const char *fb_code_meaning(fb_code code) { return codes[code].meaning; }

int fb_code_exit_status(fb_code code) { return codes[code].exit_status; }

bool fb_code_is_retryable(fb_code code) { return codes[code].retry; }

static const struct {
    const char *name, *what, *advice;
    fb_code     code;
} reasons[] = {
    [FB_R_NONE] = {"", "", "", FB_OK},
#define FB_REASON(id, code, what, advice) [FB_R_##id] = {"FB-" #id, what, advice, FB_E##code},
#include "base/reasons.def"
#undef FB_REASON
};

const char *fb_reason_name(fb_reason reason) { return reasons[reason].name; }

const char *fb_reason_what(fb_reason reason) { return reasons[reason].what; }

const char *fb_reason_advice(fb_reason reason) { return reasons[reason].advice; }

fb_code fb_reason_code(fb_reason reason) { return reasons[reason].code; }

fb_reason fb_reason_find(const char *name)
{
    if (strncasecmp(name, "FB-", 3) == 0) name += 3;
    for (int i = FB_R_NONE + 1; i < FB_REASON_COUNT; i++)
        if (strcasecmp(reasons[i].name + 3, name) == 0) return (fb_reason)i;
    return FB_R_NONE;
}

_Noreturn void fb_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr,
            "forebay: bug: %s does not hold at %s:%d [FB-Z001]\n"
            "  state: nothing was committed after this point; the positions did not move\n",
            condition, file, line);
    fflush(stderr);
    _Exit(70);
}
