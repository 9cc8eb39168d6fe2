/* expand.c - see expand.h.  Replaced text is copied, never looked at again. */
#include "config/expand.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTED = 8 };

typedef struct expansion {
    const fb_node  *scalar;
    fb_diagnostics *found;
    fb_buf          out;
    bool            has_failed;
} expansion;

const char *fb_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool fb_expand_is_needed(const fb_node *scalar)
{
    return !scalar->is_verbatim && strstr(scalar->text, "${") != NULL;
}

/* Where the { before `at` is closed; NULL when it is not. */
static const char *find_close(const char *at)
{
    for (int open = 1; *at; at++) {
        if (at[0] == '$' && at[1] == '{') open++;
        if (*at == '}' && --open == 0) return at;
    }
    return NULL;
}

static size_t name_length(const char *text)
{
    size_t size = 0;
    if (isdigit((unsigned char)text[0])) return 0;
    while (isalnum((unsigned char)text[size]) || text[size] == '_') size++;
    return size;
}

/* Faults of the environment have no caret: the line is right, the environment is not. */
static void fail_unset(expansion *e, const char *name, const char *message, size_t size)
{
    fb_place place = e->scalar->place;
    place.length = 0;
    e->has_failed = true;
    if (message) {
        fb_diagnose(e->found, FB_R_C120, place,
                    "environment variable %s is not set: %.*s", name, (int)size, message);
        return;
    }
    fb_diagnose(e->found, FB_R_C120, place, "environment variable %s is not set", name);
    fb_diagnose_hint(e->found, "set it, give a default with ${%s:-%s}, or remove the key",
                     name, "name");
}

static void fail_form(expansion *e)
{
    e->has_failed = true;
    fb_diagnose(e->found, FB_R_C121, e->scalar->place, "\"${\" is not followed by NAME}");
    fb_diagnose_hint(
        e->found,
        "write ${NAME}, ${NAME:-default} or ${NAME:?message}; $$ is a dollar sign");
}

static void expand_text(expansion *e, const char *text, size_t size, int nested);

/* Replace one reference; `at` is behind its "${", `close` at its "}". */
static void expand_one(expansion *e, const char *at, const char *close, int nested)
{
    char        name[FB_MAX_NAME];
    size_t      size = name_length(at);
    const char *rest = at + size;
    bool        has_default = rest[0] == ':' && rest[1] == '-';
    bool        has_message = rest[0] == ':' && rest[1] == '?';
    if (size == 0 || size >= sizeof name ||
        (rest != close && !has_default && !has_message)) {
        fail_form(e);
        return;
    }
    memcpy(name, at, size);
    name[size] = '\0';
    const char *value = rest == close ? getenv(name) : fb_environment(name);
    if (value && !fb_utf8_valid(value, strlen(value))) {
        e->has_failed = true;
        fb_diagnose(e->found, FB_R_C121, e->scalar->place,
                    "environment variable %s is not UTF-8", name);
    } else if (value) {
        fb_buf_add_text(&e->out, value);
    } else if (has_default) {
        expand_text(e, rest + 2, (size_t)(close - rest) - 2, nested + 1);
    } else {
        fail_unset(e, name, has_message ? rest + 2 : NULL,
                   has_message ? (size_t)(close - rest) - 2 : 0);
    }
}

static void expand_text(expansion *e, const char *text, size_t size, int nested)
{
    const char *end = text + size;
    if (nested > MAX_NESTED) {
        fail_form(e);
        return;
    }
    for (const char *at = text; at < end; at++) {
        if (at[0] != '$' || at + 1 == end || (at[1] != '$' && at[1] != '{')) {
            fb_buf_add_char(&e->out, *at);
        } else if (at[1] == '$') {
            fb_buf_add_char(&e->out, '$');
            at++;
        } else {
            const char *close = find_close(at + 2);
            if (!close) {
                fail_form(e);
                return;
            }
            expand_one(e, at + 2, close, nested);
            at = close;
        }
    }
}

fb_code fb_expand(const fb_node *scalar, fb_arena *arena, fb_diagnostics *found,
                  const char **out, fb_error *err)
{
    fb_code   code = FB_OK;
    expansion e = {.scalar = scalar, .found = found};
    *out = scalar->text;
    if (scalar->is_verbatim || !strchr(scalar->text, '$')) return FB_OK;
    *out = NULL;
    fb_buf_init(&e.out, FB_MAX_CONFIG_BYTES);
    expand_text(&e, scalar->text, strlen(scalar->text), 0);
    if (e.has_failed) goto out;
    FB_TRY(fb_buf_check(&e.out, "the configuration", err));
    *out = fb_arena_strndup(arena, fb_buf_text(&e.out), e.out.size);
    if (!*out) code = fb_fail_memory(err, "the configuration");
out:
    fb_buf_clear(&e.out);
    return code;
}
