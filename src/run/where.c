/* where.c - the texts of --from and --to; see plan.h. */
#include "run/plan.h"

#include "base/text.h"
#include "base/time.h"

#include <stdio.h>
#include <string.h>

static fb_code fail_where(const char *text, fb_error *err)
{
    fb_error_set(err, FB_R_C001, "\"%s\" is no place to read from or to", text);
    fb_error_hint(err, "write stored, earliest, latest, end, a time such as 2026-11-28 or "
                       "2026-11-28T00:00Z, or offsets such as 0:123,1:456");
    return FB_EUSAGE;
}

/* A day is its first moment in UTC; a time without an offset is UTC. */
static bool read_time(const char *text, int64_t *time_ms)
{
    int32_t        days;
    fb_parsed_time t;
    size_t         size = strlen(text);
    if (fb_parse_date(text, size, &days)) {
        *time_ms = (int64_t)days * 86400000;
        return true;
    }
    if (!fb_parse_timestamp(text, size, &t)) return false;
    *time_ms = t.us >= 0 ? t.us / 1000 : (t.us - 999) / 1000;
    return true;
}

static bool read_pair(const char *text, size_t size, int32_t *partition, int64_t *offset)
{
    char    copy[64];
    int64_t number;
    if (size >= sizeof copy) return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *colon = strchr(copy, ':');
    if (!colon) return false;
    *colon = '\0';
    if (!fb_text_int64(copy, &number) || number < 0 || number > INT32_MAX) return false;
    *partition = (int32_t)number;
    return fb_text_int64(colon + 1, offset) && *offset >= 0;
}

static bool read_offsets(const char *text, fb_where *out)
{
    const size_t most = sizeof out->offsets / sizeof *out->offsets;
    while (*text) {
        size_t size = strcspn(text, ",");
        if (out->count == most) return false;
        if (!read_pair(text, size, &out->partitions[out->count], &out->offsets[out->count]))
            return false;
        for (size_t i = 0; i < out->count; i++)
            if (out->partitions[i] == out->partitions[out->count]) return false;
        out->count++;
        text += size;
        if (*text == ',') text++;
    }
    return out->count > 0;
}

fb_code fb_where_parse(const char *text, fb_where *out, fb_error *err)
{
    static const struct {
        const char   *word;
        fb_where_kind kind;
    } words[] = {{"stored", FB_WHERE_DEFAULT},
                 {"end", FB_WHERE_DEFAULT},
                 {"earliest", FB_WHERE_EARLIEST},
                 {"latest", FB_WHERE_LATEST}};
    *out = (fb_where){.kind = FB_WHERE_DEFAULT};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, text) != 0) continue;
        out->kind = words[i].kind;
        return FB_OK;
    }
    out->kind = FB_WHERE_TIME;
    if (read_time(text, &out->time_ms)) return FB_OK;
    out->kind = FB_WHERE_OFFSETS;
    return read_offsets(text, out) ? FB_OK : fail_where(text, err);
}
