/* uuid.c - see uuid.h. */
#include "base/uuid.h"

#include "base/error.h"
#include "base/time.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

static fb_uuid format(unsigned char b[16], int version)
{
    fb_uuid uuid;
    b[6] = (unsigned char)((b[6] & 0x0f) | (version << 4));
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    char *to = uuid.text;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        to += snprintf(to, 3, "%02x", b[i]);
    }
    return uuid;
}

static void fill(unsigned char b[16])
{
    /* Up to 256 bytes getrandom() never returns less, once the kernel has started. */
    ssize_t got = getrandom(b, 16, 0);
    fb_assert(got == 16);
}

fb_uuid fb_uuid_v4(void)
{
    unsigned char b[16];
    fill(b);
    return format(b, 4);
}

fb_uuid fb_uuid_v7(void)
{
    unsigned char b[16];
    uint64_t      ms = (uint64_t)fb_now_us() / 1000;
    fill(b);
    for (int i = 0; i < 6; i++)
        b[i] = (unsigned char)(ms >> (40 - 8 * i));
    return format(b, 7);
}
