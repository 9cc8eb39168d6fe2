/* step.c - FOREBAY_FAILPOINT is parsed once into a short list; a hit walks it. */
#include "base/step.h"

#include "base/text.h"
#include "base/time.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_POINTS = 16, EVERY_HIT = 0, MAX_SLEEP_MS = 3600000 };

typedef enum action { KILL, EXIT, ERROR, SLEEP, TORN, UNKNOWN } action;

static struct point {
    char       name[64];
    action     action;
    int        error_number;
    int64_t    sleep_ms;
    int64_t    nth; ///< the hit that fires; EVERY_HIT for all
    int64_t    percent;
    atomic_int hits;
} points[MAX_POINTS];

static size_t points_count;
bool          fb_steps_armed;

static const struct {
    const char *name;
    int         number;
} errnos[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EACCES", EACCES}, {"EEXIST", EEXIST},
              {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"EDQUOT", EDQUOT}};

/* A whole number of 1..most, all of `text`. */
static bool parse_number(const char *text, int64_t most, int64_t *out)
{
    return fb_text_int64(text, out) && *out >= 1 && *out <= most;
}

/* "30s" or "250ms"; `text` is cut up in place. */
static bool parse_sleep(char *text, int64_t *ms)
{
    size_t digits = strspn(text, "0123456789");
    bool   is_ms = strcmp(text + digits, "ms") == 0;
    if (!is_ms && strcmp(text + digits, "s") != 0) return false;
    text[digits] = '\0';
    if (!parse_number(text, is_ms ? MAX_SLEEP_MS : MAX_SLEEP_MS / 1000, ms)) return false;
    if (!is_ms) *ms *= 1000;
    return true;
}

static bool parse_action(struct point *point, char *text)
{
    static const char *const plain[] = {
        [KILL] = "kill", [EXIT] = "exit", [TORN] = "torn", [UNKNOWN] = "unknown"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (!plain[i] || strcmp(plain[i], text) != 0) continue;
        point->action = (action)i;
        return true;
    }
    if (strncmp(text, "error=", 6) == 0) {
        point->action = ERROR;
        for (size_t i = 0; i < sizeof errnos / sizeof *errnos; i++)
            if (strcmp(errnos[i].name, text + 6) == 0) point->error_number = errnos[i].number;
        return point->error_number != 0;
    }
    point->action = SLEEP;
    return strncmp(text, "sleep=", 6) == 0 && parse_sleep(text + 6, &point->sleep_ms);
}

/* One "name:action[:nth][%percent]"; `text` is cut up in place. */
static bool parse_point(char *text, struct point *point)
{
    char *percent = strchr(text, '%'), *nth, *act = strchr(text, ':');
    *point = (struct point){.percent = 100, .nth = 1};
    if (percent) {
        *percent = '\0';
        if (!parse_number(percent + 1, 100, &point->percent)) return false;
    }
    if (!act || act == text || (size_t)(act - text) >= sizeof point->name) return false;
    *act++ = '\0';
    nth = strchr(act, ':');
    if (nth) {
        *nth++ = '\0';
        if (strcmp(nth, "*") == 0) point->nth = EVERY_HIT;
        else if (!parse_number(nth, INT32_MAX, &point->nth)) return false;
    }
    memcpy(point->name, text, strlen(text) + 1);
    return parse_action(point, act);
}

fb_code fb_steps_arm(fb_error *err)
{
    const char *all = getenv("FOREBAY_FAILPOINT");
    char        copy[1024];
    char       *rest = copy;
    points_count = 0;
    fb_steps_armed = false;
    if (!all || !*all) return FB_OK;
    if (snprintf(copy, sizeof copy, "%s", all) >= (int)sizeof copy)
        return fb_fail(err, C003, "FOREBAY_FAILPOINT is longer than %zu bytes", sizeof copy - 1);
    for (char *one; (one = strsep(&rest, ",")); points_count++) {
        char shown[128];
        snprintf(shown, sizeof shown, "%s", one);
        if (points_count == MAX_POINTS)
            return fb_fail(err, C003, "FOREBAY_FAILPOINT has more than %d points", MAX_POINTS);
        if (!parse_point(one, &points[points_count]))
            return fb_fail(err, C003, "FOREBAY_FAILPOINT has \"%s\", which is not "
                                      "name:action[:nth][%%percent]", shown);
    }
    srand((unsigned)getpid());
    fb_steps_armed = true;
    return FB_OK;
}

_Noreturn void fb_step_die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

fb_fault fb_step_hit(const char *name)
{
    for (size_t i = 0; i < points_count; i++) {
        struct point *point = &points[i];
        if (strcmp(point->name, name) != 0) continue;
        int hit = atomic_fetch_add(&point->hits, 1) + 1;
        if (point->nth != EVERY_HIT && hit != point->nth) continue;
        if (point->percent < 100 && rand() % 100 >= point->percent) continue;
        switch (point->action) {
        case KILL: fb_step_die();
        case EXIT: _exit(70);
        case SLEEP: fb_sleep_ms(point->sleep_ms); break;
        case ERROR: errno = point->error_number; return FB_FAULT_ERROR;
        case TORN: return FB_FAULT_TORN;
        case UNKNOWN: return FB_FAULT_UNKNOWN;
        }
    }
    return FB_FAULT_NONE;
}

fb_code fb_step_fail(const char *name, fb_error *err)
{
    switch (fb_step_hit(name)) {
    case FB_FAULT_NONE: return FB_OK;
    case FB_FAULT_TORN: fb_step_die();
    case FB_FAULT_UNKNOWN: return fb_fail(err, M003, "failpoint %s: outcome unknown", name);
    case FB_FAULT_ERROR: break;
    }
    return fb_fail(err, M003, "failpoint %s: %s", name, strerror(errno));
}
