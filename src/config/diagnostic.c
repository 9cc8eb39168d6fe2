/* diagnostic.c - gathers faults, sorts them and prints them; see diagnostic.h. */
#include "config/diagnostic.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "config/excerpt.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_KEPT = 1000,       // more faults than this are only counted
    ARENA_BYTES = 4 << 20, // a thousand messages fit well
    MESSAGE_BYTES = 700,   // longer ones are cut
};

void fb_diagnostics_init(fb_diagnostics *found)
{
    *found = (fb_diagnostics){0};
    fb_arena_init(&found->arena, ARENA_BYTES);
}

void fb_diagnostics_clear(fb_diagnostics *found)
{
    fb_free(found->list);
    fb_free(found->hidden);
    fb_arena_clear(&found->arena);
    *found = (fb_diagnostics){.arena = found->arena};
}

/* Make room for one more of `size` bytes in an array that doubles. */
static bool make_room(void **array, size_t *room, size_t count, size_t size)
{
    if (count < *room) return true;
    size_t more = *room ? *room * 2 : 16;
    void  *bigger = fb_realloc(*array, more * size);
    if (!bigger) return false;
    *array = bigger;
    *room = more;
    return true;
}

static const char *keep(fb_diagnostics *found, const char *text)
{
    const char *copy = fb_arena_strndup(&found->arena, text, strlen(text));
    if (!copy) found->is_short_of_memory = true;
    return copy;
}

static void add(fb_diagnostics *found, fb_diagnostic add, const char *message)
{
    void *list = found->list;
    if (add.is_warning)
        found->warnings++;
    else
        found->errors++;
    if (found->count >= MAX_KEPT) return;
    fb_diagnostic *new = fb_arena_alloc(&found->arena, sizeof *new);
    const char *text = keep(found, message);
    if (!new || !text || !make_room(&list, &found->room, found->count, sizeof(void *))) {
        found->is_short_of_memory = true;
        return;
    }
    found->list = list;
    *new = add;
    new->message = text;
    new->number = found->count;
    found->list[found->count++] = new;
}

void fb_diagnose(fb_diagnostics *found, fb_reason reason, fb_place place, const char *fmt,
                 ...)
{
    char    text[MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    add(found, (fb_diagnostic){.place = place, .reason = reason}, text);
}

void fb_diagnose_warning(fb_diagnostics *found, fb_reason reason, fb_place place,
                         const char *fmt, ...)
{
    char    text[MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    add(found, (fb_diagnostic){.place = place, .reason = reason, .is_warning = true},
        text);
}

void fb_diagnose_error(fb_diagnostics *found, fb_place place, const fb_error *err)
{
    add(found, (fb_diagnostic){.place = place, .reason = err->reason}, err->what);
    if (err->hint[0]) fb_diagnose_hint(found, "%s", err->hint);
}

/* The one that was noted last; NULL when there is none or it was not kept. */
static fb_diagnostic *last(fb_diagnostics *found)
{
    return found->count && found->count < MAX_KEPT ? found->list[found->count - 1] : NULL;
}

void fb_diagnose_suggest(fb_diagnostics *found, const char *word)
{
    fb_diagnostic *it = last(found);
    if (it && word) it->suggestion = keep(found, word);
}

void fb_diagnose_hint(fb_diagnostics *found, const char *fmt, ...)
{
    char           text[MESSAGE_BYTES];
    va_list        args;
    fb_diagnostic *it = last(found);
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (it) it->hint = keep(found, text);
}

void fb_diagnostics_hide(fb_diagnostics *found, fb_place place)
{
    void *hidden = found->hidden;
    if (!place.file) return;
    if (!make_room(&hidden, &found->hidden_room, found->hidden_count, sizeof place)) {
        found->is_short_of_memory = true;
        return;
    }
    found->hidden = hidden;
    found->hidden[found->hidden_count++] = place;
}

static int compare(const void *left, const void *right)
{
    const fb_diagnostic *a = *(fb_diagnostic *const *)left;
    const fb_diagnostic *b = *(fb_diagnostic *const *)right;
    bool                 a_env = a->reason == FB_R_C120, b_env = b->reason == FB_R_C120;
    int                  a_file = a->place.file ? a->place.file->number : -1;
    int                  b_file = b->place.file ? b->place.file->number : -1;
    if (a_env != b_env) return a_env ? 1 : -1;
    if (a_file != b_file) return a_file < b_file ? -1 : 1;
    if (a->place.line != b->place.line) return a->place.line < b->place.line ? -1 : 1;
    if (a->place.column != b->place.column)
        return a->place.column < b->place.column ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

void fb_diagnostics_sort(fb_diagnostics *found)
{
    if (found->count) qsort(found->list, found->count, sizeof *found->list, compare);
}

static void print_line(const fb_diagnostics *found, fb_place at, FILE *to)
{
    fb_excerpt line;
    if (!at.file || !at.length || !at.file->size) return;
    fb_excerpt_make(&line, at, found->hidden, found->hidden_count);
    if (at.line)
        fprintf(to, "%5d | %s\n      | %*s", at.line, line.text, line.caret, "");
    else
        fprintf(to, "  %s\n  %*s", line.text, line.caret, "");
    for (int i = 0; i < line.caret_length; i++) fputc('^', to);
    fputc('\n', to);
}

static void print_one(const fb_diagnostics *found, const fb_diagnostic *it, FILE *to)
{
    if (it->place.file) {
        fputs(it->place.file->name, to);
        if (it->place.line) fprintf(to, ":%d:%d", it->place.line, it->place.column);
        fputs(": ", to);
    }
    fprintf(to, "%s: %s", it->is_warning ? "warning" : "error", it->message);
    if (it->suggestion) fprintf(to, ", did you mean \"%s\"?", it->suggestion);
    fprintf(to, " [%s]\n", fb_reason_name(it->reason));
    print_line(found, it->place, to);
    if (it->hint) fprintf(to, "  %s\n", it->hint);
}

/* Flags stand for files, and are called as on the command line. */
static bool is_flag(const fb_config_file *file)
{
    return file->size == 0 || file->name[0] == '-';
}

/* " in forebay.yml", " in 3 files", " on the command line": where the faults stand. */
static void print_where(const fb_diagnostics *found, FILE *to)
{
    int         files = 0;
    bool        has_flags = false;
    const char *name = "";
    for (size_t i = 0; i < found->count; i++) {
        const fb_config_file *file = found->list[i]->place.file;
        size_t                before = 0;
        while (found->list[before]->place.file != file) before++;
        if (before < i || !file) continue;
        if (is_flag(file))
            has_flags = true;
        else
            files++;
        if (!is_flag(file)) name = file->name;
    }
    if (files > 1) fprintf(to, " in %d files", files);
    if (files == 1) fprintf(to, " in %s", name);
    if (has_flags) fputs(files ? " and on the command line" : " on the command line", to);
}

static void print_count(size_t n, const char *what, const char *end, FILE *to)
{
    fprintf(to, "%zu %s%s%s", n, what, n == 1 ? "" : "s", end);
}

void fb_diagnostics_print(const fb_diagnostics *found, FILE *to)
{
    size_t warnings = found->warnings;
    if (found->count == 0) return;
    for (size_t i = 0; i < found->count && i < FB_MAX_ERRORS_SHOWN; i++)
        print_one(found, found->list[i], to);
    if (found->errors) print_count(found->errors, "error", warnings ? ", " : "", to);
    if (warnings) print_count(warnings, "warning", "", to);
    print_where(found, to);
    if (found->errors + warnings > FB_MAX_ERRORS_SHOWN)
        fprintf(to, ", the first %d are shown", FB_MAX_ERRORS_SHOWN);
    fputs(found->errors ? "; nothing was contacted\n" : "\n", to);
}

void fb_diagnostics_print_json(const fb_diagnostics *found, FILE *to)
{
    fb_buf out;
    fb_buf_init(&out, SIZE_MAX / 2);
    fb_buf_add_char(&out, '[');
    for (size_t i = 0; i < found->count; i++) {
        const fb_diagnostic *it = found->list[i];
        fb_buf_add_text(&out, i ? ",\n {\"file\":" : "\n {\"file\":");
        fb_buf_add_json_text(&out, it->place.file ? it->place.file->name : NULL);
        if (it->place.line)
            fb_buf_printf(&out, ",\"line\":%d,\"column\":%d", it->place.line,
                          it->place.column);
        else
            fb_buf_add_text(&out, ",\"line\":null,\"column\":null");
        fb_buf_printf(&out, ",\"code\":\"%s\",\"severity\":\"%s\",\"message\":",
                      fb_reason_name(it->reason), it->is_warning ? "warning" : "error");
        fb_buf_add_json_text(&out, it->message);
        fb_buf_add_text(&out, ",\"suggestion\":");
        fb_buf_add_json_text(&out, it->suggestion ? it->suggestion : it->hint);
        fb_buf_add_char(&out, '}');
    }
    fb_buf_add_text(&out, found->count ? "\n]\n" : "]\n");
    fputs(fb_buf_text(&out), to);
    fb_buf_clear(&out);
}

fb_code fb_diagnostics_check(const fb_diagnostics *found, fb_error *err)
{
    if (found->is_short_of_memory) return fb_fail_memory(err, "the configuration");
    for (size_t i = 0; i < found->count; i++) {
        const fb_diagnostic *it = found->list[i];
        if (it->is_warning) continue;
        fb_error_set(err, it->reason, "%s", it->message);
        if (it->place.file && it->place.line)
            fb_error_at(err, "%s:%d:%d", it->place.file->name, it->place.line,
                        it->place.column);
        else if (it->place.file)
            fb_error_at(err, "%s", it->place.file->name);
        if (it->suggestion)
            fb_error_hint(err, "Did you mean \"%s\"?", it->suggestion);
        else if (it->hint)
            fb_error_hint(err, "%s", it->hint);
        return fb_reason_code(it->reason);
    }
    return FB_OK;
}
