/* excerpt.c - a line, character by character, with its secrets left out.
 *
 * The places of secrets are known where a file could be understood.  For the lines of
 * other files guess_step() looks for keys that are called like secrets and for the user's
 * part of an address; it walks forward only, so that a long line costs no more than its
 * length.
 */
#include "config/excerpt.h"

#include "base/text.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum {
    BEFORE_CARET = 90, // characters of a long line that stand before the caret
    KEY_TAIL = 64,     // bytes before a colon in which a telling word is looked for
    USER_BYTES = 300,  // of an address
};

static const char *const telling[] = {
    "passw",      "secret",  "token",   "api_key",
    "credential", "apikey",  "key.pem", "oauthbearer.config",
    "passphrase", "private", NULL};

/* What has been guessed of a line up to some byte. */
typedef struct guess {
    const char *line;
    size_t      size;
    size_t      key_from;     // where the key under the eye may begin
    size_t      hidden_until; // bytes before this one are part of a secret
    bool        awaits_value; // a telling key was passed, its value not yet met
} guess;

static bool starts_with(const guess *g, size_t at, const char *word)
{
    size_t size = strlen(word);
    return size <= g->size - at && memcmp(g->line + at, word, size) == 0;
}

/* Does the key that ends before `end` hold a telling word? */
static bool is_telling(const guess *g, size_t end)
{
    size_t from = end - g->key_from > KEY_TAIL ? end - KEY_TAIL : g->key_from;
    for (const char *const *word = telling; *word; word++) {
        size_t size = strlen(*word);
        for (size_t at = from; at + size <= end; at++)
            if (strncasecmp(g->line + at, *word, size) == 0) return true;
    }
    return false;
}

/* Where what begins at `at` ends: before one of `stops`, within `most` bytes. */
static size_t find_end(const guess *g, size_t at, const char *stops, size_t most)
{
    size_t limit = g->size - at > most ? at + most : g->size;
    while (at < limit && !strchr(stops, g->line[at])) at++;
    return at;
}

/* Look at byte `at`, the next one. @return whether it belongs to a secret */
static bool guess_step(guess *g, size_t at)
{
    char c = g->line[at];
    if (at < g->hidden_until) return true;
    if (g->awaits_value && !strchr(" \t\"'|>", c)) {
        g->awaits_value = false;
        if (starts_with(g, at, "env://") || starts_with(g, at, "file://") ||
            starts_with(g, at, "${"))
            return false;
        g->hidden_until = find_end(g, at, ",}", SIZE_MAX);
        return at < g->hidden_until;
    }
    if (c == '{' || c == ',') g->key_from = at + 1;
    if (c == ':' || c == '=') {
        g->awaits_value = is_telling(g, at);
        g->key_from = at + 1;
    }
    if (c == '/' && at >= 2 && memcmp(g->line + at - 2, ":/", 2) == 0) {
        size_t end = find_end(g, at + 1, "/ \t\"',@", USER_BYTES);
        if (end < g->size && g->line[end] == '@') g->hidden_until = end;
    }
    return false;
}

/* Is the character at `line`, `column` part of one of the places? */
static bool is_hidden(const fb_place *hidden, size_t count, fb_place at, int line,
                      int column)
{
    for (size_t i = 0; i < count; i++) {
        const fb_place *h = &hidden[i];
        if (h->file != at.file || line < h->line || line > h->line + h->more_lines)
            continue;
        if (line > h->line) return true;
        if (column >= h->column && (h->more_lines || column < h->column + h->length))
            return true;
    }
    return false;
}

/* Find line `number` (from 1) of `file`. @return its bytes without the end of the line */
static const char *find_line(const fb_config_file *file, int number, size_t *size)
{
    const char *at = file->text, *end = at + file->size;
    for (int line = 1; line < number && at < end; line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *size = (size_t)((stop ? stop : end) - at);
    if (*size && at[*size - 1] == '\r') --*size;
    return at;
}

/* Add one character, or a space for what a terminal would not show. */
static char *copy_character(char *to, const char *from, size_t bytes)
{
    bool is_plain = bytes > 1 || (*from >= ' ' && *from < 127);
    memcpy(to, is_plain ? from : " ", bytes);
    return to + bytes;
}

void fb_excerpt_make(fb_excerpt *out, fb_place at, const fb_place *hidden,
                     size_t hidden_count)
{
    guess g = {0};
    int   number = at.line ? at.line : 1, column = 1, shown = 0;
    int   first = at.column > FB_EXCERPT_WIDTH - 20 ? at.column - BEFORE_CARET : 1;
    char *to = out->text;
    bool  was_hidden = false, is_secret = false;

    out->caret = -1;
    out->caret_length = at.length > 0 ? at.length : 1;
    g.line = find_line(at.file, number, &g.size);
    for (size_t i = 0, bytes; i < g.size && shown < FB_EXCERPT_WIDTH;
         i += bytes, column++) {
        is_secret = guess_step(&g, i);
        bytes = fb_utf8_length(g.line + i, g.size - i);
        if (bytes == 0) bytes = 1;
        if (column < first) continue;
        is_secret = is_secret || is_hidden(hidden, hidden_count, at, at.line, column);
        if (column == at.column) {
            out->caret = is_secret && was_hidden ? shown - 3 : shown;
            if (is_secret) out->caret_length = 3;
        }
        if (is_secret && !was_hidden) {
            memcpy(to, "***", 3);
            to += 3;
            shown += 3;
        } else if (!is_secret) {
            to = copy_character(to, g.line + i, bytes);
            shown++;
        }
        was_hidden = is_secret;
    }
    *to = '\0';
    if (out->caret < 0) out->caret = shown; // behind the end of the line
    if (out->caret_length > FB_EXCERPT_WIDTH - out->caret)
        out->caret_length =
            FB_EXCERPT_WIDTH > out->caret ? FB_EXCERPT_WIDTH - out->caret : 1;
}
