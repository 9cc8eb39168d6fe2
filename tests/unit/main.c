/* main.c - runs the unit tests that listed themselves.
 *
 *   unit [--list] [filter]     the tests whose file or name holds the filter; all without one
 *
 * One line a test, `ok file: sentence`, `FAIL file: sentence` or `skip file: sentence (why)`,
 * what failed above it; the last line counts. Exit status 0 when all passed, 1 when one
 * failed or none ran. Tests run in the order of their files' names, then as written.
 */
#include "tests/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static check_test     *first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards the two below
static int             failures;                          // of the running test
static const char     *skipped;                           // why it is skipped, or NULL

void check_list(check_test *test)
{
    check_test **place = &first;
    while (*place && strcmp((*place)->file, test->file) <= 0) place = &(*place)->next;
    test->next = *place;
    *place = test;
}

void check_failed(check_site at, const char *format, ...)
{
    va_list words;

    (void)pthread_mutex_lock(&mutex);
    printf("%s:%d: %s ", at.file, at.line, at.what);
    va_start(words, format);
    vprintf(format, words);
    va_end(words);
    putchar('\n');
    failures++;
    (void)pthread_mutex_unlock(&mutex);
}

void check_skip(const char *why)
{
    (void)pthread_mutex_lock(&mutex);
    skipped = why;
    (void)pthread_mutex_unlock(&mutex);
}

static const char *shown(const char *text) { return text ? text : "(NULL)"; }

void check_text(check_site at, const char *got, const char *want)
{
    if (got == want || (got && want && strcmp(got, want) == 0)) return;
    check_failed(at, "differs\n  got:  %s\n  want: %s", shown(got), shown(want));
}

void check_has(check_site at, const char *got, const char *part)
{
    if (got && strstr(got, part)) return;
    check_failed(at, "lacks a part\n  got:  %s\n  part: %s", shown(got), part);
}

void check_int(check_site at, int64_t got, int64_t want)
{
    if (got != want) check_failed(at, "is %" PRId64 ", not %" PRId64, got, want);
}

void check_bytes(check_site at, const void *got, size_t got_length, const void *want,
                 size_t want_length)
{
    const unsigned char *a = got, *b = want;
    size_t               same = 0;

    while (same < got_length && same < want_length && a[same] == b[same]) same++;
    if (same == got_length && same == want_length) return;
    check_failed(at, "has %zu bytes, wanted are %zu; they differ from byte %zu on",
                 got_length, want_length, same);
}

/* The file as people name it: its path below tests/unit/. */
static const char *short_name(const char *file)
{
    const char *found = strstr(file, "tests/unit/");
    return found ? found + strlen("tests/unit/") : file;
}

static bool is_wanted(const check_test *test, const char *filter)
{
    return !filter || strstr(short_name(test->file), filter) || strstr(test->name, filter);
}

int main(int argc, char **argv)
{
    bool        only_list = argc > 1 && strcmp(argv[1], "--list") == 0;
    const char *filter = argc > 1 + only_list ? argv[1 + only_list] : NULL;
    int         passed = 0, failed = 0, left_out = 0;

    (void)setvbuf(stdout, NULL, _IOLBF, 0); // what a crash cuts off is at most one line
    for (const check_test *test = first; test; test = test->next) {
        if (!is_wanted(test, filter)) continue;
        if (only_list) {
            printf("%s: %s\n", short_name(test->file), test->name);
            continue;
        }
        failures = 0;
        skipped = NULL;
        test->run();
        printf("%s %s: %s",
               failures  ? "FAIL"
               : skipped ? "skip"
                         : "ok",
               short_name(test->file), test->name);
        printf(skipped && !failures ? " (%s)\n" : "\n", skipped);
        if (failures)
            failed++;
        else if (skipped)
            left_out++;
        else
            passed++;
    }
    if (only_list) return EXIT_SUCCESS;
    printf("%d passed, %d failed", passed, failed);
    printf(left_out ? ", %d skipped\n" : "\n", left_out);
    return failed || passed + left_out == 0;
}
