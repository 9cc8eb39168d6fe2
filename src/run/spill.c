/* spill.c - see spill.h. */
#include "run/spill.h"

#include "base/file.h"
#include "base/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sweep {
    const char *state;
    char        prefix[160]; ///< "spill-<host>-"
} sweep;

static void make_prefix(char out[160])
{
    char host[128] = "";
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (*c == '/') *c = '_';
    snprintf(out, 160, "spill-%s-", host);
}

fb_code fb_spill_path(const char *state, char *out, fb_error *err)
{
    char prefix[160], name[200];
    make_prefix(prefix);
    snprintf(name, sizeof name, "%s%ld", prefix, (long)getpid());
    return fb_path_join(out, FB_MAX_PATH, state, name, err);
}

static fb_code sweep_one(void *context, const char *name, fb_error *err)
{
    const sweep *s = context;
    char         path[FB_MAX_PATH];
    size_t       size = strlen(s->prefix);
    char        *end;
    if (strncmp(name, s->prefix, size) != 0) return FB_OK;
    long pid = strtol(name + size, &end, 10);
    if (*end != '\0' || pid <= 0) return FB_OK;
    if (kill((pid_t)pid, 0) == 0 || errno != ESRCH) return FB_OK;
    if (fb_path_join(path, sizeof path, s->state, name, err) == FB_OK) fb_dir_remove(path);
    return FB_OK;
}

void fb_spill_sweep(const char *state)
{
    fb_error ignored;
    sweep    s = {.state = state};
    make_prefix(s.prefix);
    if (fb_dir_list(state, sweep_one, &s, &ignored) != FB_OK) return;
}
