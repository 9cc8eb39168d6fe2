/* delta_log_test.c - which names of a log folder count, and what a line may be. */
#include "fixture.h"

static fb_log_listing list_names(fixture *f, const char *const *names, size_t count,
                                 int64_t from)
{
    fb_log_listing listing;
    fb_store      *store;
    char           key[300];
    fb_log_listing_init(&listing);
    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof key, FB_LOG_FOLDER "/%s", names[i]);
        fixture_put(f, key, "");
    }
    CHECK_CODE(fb_store_local_open(f->path, &store, &f->err), FB_OK, &f->err);
    CHECK_CODE(fb_log_list(store, from, &listing, &f->err), FB_OK, &f->err);
    store->ops->close(store);
    return listing;
}

TEST(only_commits_and_checkpoints_of_the_protocol_are_seen)
{
    static const char *const names[] = {
        "00000000000000000003.json",
        "00000000000000000010.json",
        "00000000000000000010.checkpoint.parquet",
        "00000000000000000010.crc",
        "00000000000000000003.00000000000000000009.compacted.json",
        "00000000000000000011.json.tmp",
        ".00000000000000000011.json.crc",
        "00000000000000000012.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        "00000000000000000013.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet",
        "00000000000000000014.checkpoint.80a083e8.parquet",
        "0000000000000000015.json",
        "99999999999999999999.json",
        "_last_checkpoint",
        "00000000000000000016.checkpoint.0000000001.0000000002.parquet",
        "00000000000000000017.checkpoint.0000000000.0000000002.parquet",
        "00000000000000000017.checkpoint.0000000003.0000000002.parquet"};
    fixture        f = fixture_open();
    fb_log_listing l = list_names(&f, names, sizeof names / sizeof *names, 0);
    REQUIRE(l.commits_count == 2 && l.checkpoints_count == 4);
    CHECK_INT(l.commits[0], 3);
    CHECK_INT(l.commits[1], 10);
    CHECK_INT(l.checkpoints[0].version, 10);
    CHECK(l.checkpoints[1].is_json && !l.checkpoints[2].is_json);
    CHECK_INT(l.checkpoints[3].part, 1);
    CHECK_INT(l.checkpoints[3].parts, 2);
    fb_log_listing_clear(&l);
    fixture_close(&f);
}

TEST(a_listing_begins_at_the_version_asked_for)
{
    static const char *const names[] = {"00000000000000000002.json",
                                        "00000000000000000003.json",
                                        "00000000000000000003.checkpoint.parquet"};
    fixture                  f = fixture_open();
    fb_log_listing           l = list_names(&f, names, 3, 3);
    REQUIRE(l.commits_count == 1 && l.checkpoints_count == 1);
    CHECK_INT(l.commits[0], 3);
    fb_log_listing_clear(&l);
    fixture_close(&f);
}

TEST(a_checkpoint_in_parts_counts_only_when_all_parts_are_there)
{
    static const char *const names[] = {
        "00000000000000000004.checkpoint.parquet",
        "00000000000000000005.checkpoint.0000000001.0000000002.parquet",
        "00000000000000000005.checkpoint.0000000001.0000000003.parquet",
        "00000000000000000005.checkpoint.0000000002.0000000002.parquet",
        "00000000000000000005.checkpoint.0000000003.0000000003.parquet",
        "00000000000000000006.checkpoint.0000000001.0000000002.parquet",
        "00000000000000000007.checkpoint.0000000002.0000000002.parquet"};
    fixture                   f = fixture_open();
    fb_log_listing            l = list_names(&f, names, 7, 0);
    const fb_checkpoint_name *head = fb_log_pick_checkpoint(&l, INT64_MAX);
    REQUIRE(head != NULL);
    CHECK_INT(head->version, 5);
    CHECK_INT(head->parts, 2);
    head = fb_log_pick_checkpoint(&l, 4);
    REQUIRE(head != NULL);
    CHECK_INT(head->version, 4);
    CHECK(fb_log_pick_checkpoint(&l, 3) == NULL);
    fb_log_listing_clear(&l);
    fixture_close(&f);
}

static fb_code count_action(void *context, const char *action, yyjson_val *body,
                            fb_error *err)
{
    (void)err;
    int *counts = context;
    counts[strcmp(action, "add") == 0 ? 0 : 1] += (int)fb_json_int(body, "n", 100);
    return FB_OK;
}

TEST(blank_lines_and_crlf_are_fine_and_nulls_are_passed_over)
{
    static const char text[] = "\r\n{\"add\":{\"n\":1},\"remove\":null}\r\n\n  \n"
                               "{\"other\":{\"n\":5},\"x\":7}\n{\"add\":{\"n\":2}}";
    int               counts[2] = {0, 0};
    fb_error          err;
    CHECK_CODE(fb_log_walk(text, strlen(text), "k", count_action, counts, &err), FB_OK,
               &err);
    CHECK_INT(counts[0], 3);
    CHECK_INT(counts[1], 5);
    CHECK_CODE(fb_log_walk("", 0, "k", count_action, counts, &err), FB_OK, &err);
}

TEST(a_line_that_is_cut_or_no_object_is_refused_with_its_number)
{
    static const char *const bad[] = {"{\"add\":{\"n\":1}}\n{\"add\":{\"n\"",
                                      "1",
                                      "[1]",
                                      "{} {}",
                                      "{\"a\":NaN}",
                                      "\xff"};
    int                      counts[2] = {0, 0};
    fb_error                 err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_CODE(
            fb_log_walk(bad[i], strlen(bad[i]), "k.json", count_action, counts, &err),
            FB_EDATA, &err);
        CHECK(err.reason == FB_R_P006);
        CHECK_HAS(err.what, i == 0 ? "line 2 of k.json" : "line 1 of k.json");
    }
}

TEST(members_of_another_type_are_the_fallback)
{
    static const char text[] =
        "{\"a\":{\"t\":\"x\",\"n\":7,\"z\":null,\"nul\":\"a\\u0000b\"}}";
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    yyjson_val *body = yyjson_obj_get(yyjson_doc_get_root(doc), "a");
    CHECK_TEXT(fb_json_text(body, "t"), "x");
    CHECK(fb_json_text(body, "n") == NULL && fb_json_text(body, "nul") == NULL);
    CHECK_INT(fb_json_int(body, "n", -1), 7);
    CHECK_INT(fb_json_int(body, "t", -1), -1);
    CHECK_INT(fb_json_int(body, "z", -1), -1);
    CHECK(fb_json_text(NULL, "t") == NULL);
    yyjson_doc_free(doc);
}
