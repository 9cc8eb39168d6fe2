/* progress.c - see progress.h. */
#include "run/progress.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "base/time.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 30, REDRAW_MS = 200, LINE_MS = 10000, FIRST_BAR_MS = 400 };

struct fb_progress_meter {
    pthread_t              thread;
    pthread_mutex_t        lock;
    pthread_cond_t         wake;
    bool                   ends, is_bar;
    char                   pipeline[FB_MAX_NAME];
    const fb_kafka_window *window;
    int64_t                total, started_ms;
};

static void draw(const fb_progress_meter *m, char *line, size_t room)
{
    char    done_text[32], total_text[32], rate_text[32], bar[BAR_WIDTH + 1];
    int64_t done = fb_kafka_window_delivered(m->window);
    int64_t ms = fb_mono_ms() - m->started_ms;
    int64_t rate = ms > 0 ? done * 1000 / ms : 0;
    int64_t percent = m->total > 0 ? done * 100 / m->total : 100;
    int64_t full = m->total > 0 ? done * BAR_WIDTH / m->total : BAR_WIDTH;
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '#' : '-';
    bar[BAR_WIDTH] = '\0';
    fb_text_count(done, done_text);
    fb_text_count(m->total, total_text);
    fb_text_count(rate, rate_text);
    if (m->is_bar)
        snprintf(line, room, "%.40s  [%s]  %s/%s  %d %%  %s msg/s", m->pipeline, bar, done_text,
                 total_text, (int)percent, rate_text);
    else
        snprintf(line, room, "%.40s  %s of %s read  %d %%  %s msg/s", m->pipeline, done_text,
                 total_text, (int)percent, rate_text);
}

static void show(const fb_progress_meter *m)
{
    char line[400];
    draw(m, line, sizeof line);
    if (m->is_bar) {
        fb_log_status(line);
        return;
    }
    const fb_log_field fields[] = {FB_INT("read", fb_kafka_window_delivered(m->window)),
                                   FB_INT("to_read", m->total)};
    fb_log_fields(FB_LOG_INFO, "progress", fields, 2, "%s", line);
}

static void *watch(void *memory)
{
    fb_progress_meter *m = memory;
    int64_t            pause_ms = m->is_bar ? FIRST_BAR_MS : LINE_MS;
    pthread_mutex_lock(&m->lock);
    while (!m->ends) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += pause_ms / 1000;
        until.tv_nsec += pause_ms % 1000 * 1000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        if (pthread_cond_timedwait(&m->wake, &m->lock, &until) == 0) continue;
        show(m);
        pause_ms = m->is_bar ? REDRAW_MS : LINE_MS;
    }
    pthread_mutex_unlock(&m->lock);
    if (m->is_bar) fb_log_status("");
    return NULL;
}

fb_progress_meter *fb_progress_start(fb_progress how, const char *pipeline,
                                     const fb_kafka_window *window, int64_t total)
{
    pthread_condattr_t clock;
    if (how == FB_PROGRESS_NONE || !fb_log_shows(FB_LOG_INFO)) return NULL;
    fb_progress_meter *m = fb_alloc(sizeof *m);
    if (!m) return NULL;
    m->is_bar = !fb_log_is_json() && (how == FB_PROGRESS_BAR ||
                                      (how == FB_PROGRESS_AUTO && isatty(STDERR_FILENO)));
    snprintf(m->pipeline, sizeof m->pipeline, "%s", pipeline);
    m->window = window;
    m->total = total;
    m->started_ms = fb_mono_ms();
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&m->wake, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&m->thread, NULL, watch, m) == 0) return m;
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    fb_free(m);
    return NULL;
}

void fb_progress_finish(fb_progress_meter *m)
{
    if (!m) return;
    pthread_mutex_lock(&m->lock);
    m->ends = true;
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    fb_free(m);
}
