/* map_test.c - see lake/map.h. */
#include "lake/map.h"

#include "tests/check.h"

#include <stdio.h>

TEST(entries_are_found_by_name_among_thousands)
{
    fb_map        map;
    fb_map_entry *entry = NULL;
    fb_error      err;
    char          key[32];
    fb_map_init(&map);
    CHECK(fb_map_find(&map, "0") == NULL);
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "%d", i);
        CHECK_CODE(fb_map_put(&map, key, &entry, &err), FB_OK, &err);
        entry->number = i;
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "%d", i);
        entry = fb_map_find(&map, key);
        CHECK(entry && entry->number == i);
    }
    CHECK(fb_map_find(&map, "5000") == NULL);
    CHECK_INT(map.count, 5000);
    fb_map_clear(&map);
    fb_map_clear(&map);
}

TEST(an_entry_that_is_gone_is_not_found_until_it_is_put_again)
{
    fb_map        map;
    fb_map_entry *entry = NULL;
    fb_error      err;
    fb_map_init(&map);
    CHECK_CODE(fb_map_put(&map, "a", &entry, &err), FB_OK, &err);
    CHECK_CODE(fb_map_set_text(entry, "text", &err), FB_OK, &err);
    CHECK_TEXT(fb_map_find(&map, "a")->text, "text");
    entry->is_gone = true;
    CHECK(fb_map_find(&map, "a") == NULL);
    CHECK_CODE(fb_map_put(&map, "a", &entry, &err), FB_OK, &err);
    CHECK(fb_map_find(&map, "a") == entry);
    CHECK_CODE(fb_map_set_text(entry, NULL, &err), FB_OK, &err);
    CHECK(entry->text == NULL);
    CHECK_INT(map.count, 1);
    fb_map_clear(&map);
}
