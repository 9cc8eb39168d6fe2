/* text.c - see text.h. */
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_NAME = 64 };

/* The ranges are those of Unicode 15, table 3-7. */
size_t fb_utf8_length(const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned char        low = 0x80, high = 0xbf;
    size_t               length;

    if (size == 0) return 0;
    if (s[0] < 0x80) return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) length = 2;
    else if ((s[0] & 0xf0) == 0xe0) length = 3;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4) length = 4;
    else return 0;
    if (size < length) return 0;
    if (s[0] == 0xe0) low = 0xa0;
    if (s[0] == 0xed) high = 0x9f;
    if (s[0] == 0xf0) low = 0x90;
    if (s[0] == 0xf4) high = 0x8f;
    if (s[1] < low || s[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    return length;
}

bool fb_utf8_valid(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size) {
        uint64_t eight;
        if (size - i >= 8 && (memcpy(&eight, text + i, 8), !(eight & 0x8080808080808080u))) {
            i += 8;
            continue;
        }
        size_t length = fb_utf8_length(text + i, size - i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

size_t fb_utf8_whole(const char *text, size_t size)
{
    size_t last = size; // where the last character begins
    for (size_t back = 1; back <= 4 && back <= size; back++) {
        if (((unsigned char)text[size - back] & 0xc0) == 0x80) continue;
        last = size - back;
        break;
    }
    return fb_utf8_length(text + last, size - last) == size - last ? size : last;
}

size_t fb_text_edits(const char *a, const char *b)
{
    size_t rows[3][MAX_NAME + 1];
    size_t a_size = strlen(a), b_size = strlen(b);
    if (a_size > MAX_NAME || b_size > MAX_NAME) return MAX_NAME;
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[a_size % 3][b_size];
}

void fb_nearest_init(fb_nearest *nearest, const char *wanted)
{
    /* A third of the word is the most that still reads as a typo. */
    *nearest = (fb_nearest){wanted, NULL, strlen(wanted) / 3 + 1};
}

void fb_nearest_offer(fb_nearest *nearest, const char *known)
{
    size_t edits = fb_text_edits(nearest->wanted, known);
    if (edits >= nearest->edits || edits >= MAX_NAME) return;
    nearest->edits = edits;
    nearest->best = known;
}

const char *fb_text_count(int64_t n, char out[32])
{
    char   digits[24];
    int    size = snprintf(digits, sizeof digits, "%" PRId64, n);
    char  *to = out;
    size_t start = n < 0 ? 1 : 0;
    for (size_t i = 0; i < (size_t)size; i++) {
        if (i > start && ((size_t)size - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

bool fb_text_int64(const char *text, int64_t *out)
{
    char *end;
    bool  starts_well = (*text >= '0' && *text <= '9') || (*text == '-' && text[1]);
    if (!starts_well) return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

bool fb_text_equal_nocase(const char *a, const char *b) { return strcasecmp(a, b) == 0; }

bool fb_text_ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}
