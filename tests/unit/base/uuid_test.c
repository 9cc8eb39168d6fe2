/* uuid_test.c - random identifiers. */
#include "base/time.h"
#include "base/uuid.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static void has_form(const char *text, char version)
{
    CHECK_INT(strlen(text), 36);
    CHECK(strspn(text, "0123456789abcdef-") == 36);
    CHECK(text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-');
    CHECK(text[14] == version);
    CHECK(strchr("89ab", text[19]) != NULL);
}

TEST(uuids_have_their_form_and_differ)
{
    fb_uuid a = fb_uuid_v4(), b = fb_uuid_v4();
    has_form(a.text, '4');
    has_form(b.text, '4');
    CHECK(strcmp(a.text, b.text) != 0);
}

TEST(uuids_of_version_7_begin_with_the_time_and_sort_by_it)
{
    uint64_t before = (uint64_t)fb_now_us() / 1000, high, low;
    fb_uuid  a = fb_uuid_v7();
    fb_sleep_ms(2);
    fb_uuid b = fb_uuid_v7();
    has_form(a.text, '7');
    CHECK(strcmp(a.text, b.text) < 0);
    CHECK(sscanf(a.text, "%8lx-%4lx", &high, &low) == 2);
    CHECK((high << 16 | low) >= before && (high << 16 | low) <= before + 1000);
}
