/* store_local_test.c - one disk, put-if-absent, and what a crash or a lost answer
 * leaves. */
#include "fixture.h"

#include <sys/stat.h>

static fb_store *open_store(fixture *f)
{
    fb_store *store = NULL;
    CHECK_CODE(fb_store_local_open(f->path, &store, &f->err), FB_OK, &f->err);
    return store;
}

static fb_code put_new(fixture *f, fb_store *store, const char *text)
{
    return store->ops->put_new(store, "_delta_log/a.json", text, strlen(text), &f->err);
}

static void check_content(fixture *f, const char *key, const char *want)
{
    fb_buf text = fixture_get(f, key);
    CHECK_TEXT(fb_buf_text(&text), want);
    fb_buf_clear(&text);
}

static fb_code count_name(void *context, const char *name, fb_error *err)
{
    (void)name;
    (void)err;
    ++*(int *)context;
    return FB_OK;
}

static int count_names(fixture *f, fb_store *store)
{
    int count = 0;
    CHECK_CODE(store->ops->list(store, "_delta_log", "", count_name, &count, &f->err),
               FB_OK, &f->err);
    return count;
}

TEST(a_file_that_must_be_new_is_created_once_and_keeps_its_first_content)
{
    fixture   f = fixture_open();
    fb_store *store = open_store(&f);
    CHECK_CODE(put_new(&f, store, "first"), FB_OK, &f.err);
    CHECK_CODE(put_new(&f, store, "second"), FB_ECONFLICT, &f.err);
    CHECK(f.err.reason == FB_R_F005);
    check_content(&f, "_delta_log/a.json", "first");
    CHECK_INT(count_names(&f, store), 1); // no temporary file stays
    store->ops->close(store);
    fixture_close(&f);
}

TEST(a_replaced_file_has_the_new_content_and_no_leftover)
{
    fixture   f = fixture_open();
    fb_store *store = open_store(&f);
    fixture_put(&f, "_delta_log/a.json", "old");
    fixture_put(&f, "_delta_log/a.json", "new");
    check_content(&f, "_delta_log/a.json", "new");
    CHECK_INT(count_names(&f, store), 1);
    store->ops->close(store);
    fixture_close(&f);
}

TEST(a_failure_before_the_link_leaves_nothing_behind)
{
    static const char *const steps[] = {"store.put_new.temp:error=ENOSPC",
                                        "store.put_new.synced:error=EIO"};
    for (size_t i = 0; i < 2; i++) {
        fixture   f = fixture_open();
        fb_store *store = open_store(&f);
        fixture_arm(steps[i]);
        CHECK_CODE(put_new(&f, store, "x"), FB_EIO, &f.err);
        CHECK_INT(count_names(&f, store), 0);
        store->ops->close(store);
        fixture_close(&f);
    }
}

TEST(a_failure_behind_the_link_is_an_unknown_outcome)
{
    static const char *const steps[] = {"store.put_new.linked:error=EIO",
                                        "store.put_new.linked:unknown",
                                        "store.put_new.dir_synced:error=EIO"};
    for (size_t i = 0; i < 3; i++) {
        fixture   f = fixture_open();
        fb_store *store = open_store(&f);
        fixture_arm(steps[i]);
        CHECK_CODE(put_new(&f, store, "x"), FB_EUNKNOWN, &f.err);
        CHECK(f.err.reason == FB_R_S010);
        check_content(&f, "_delta_log/a.json", "x");
        CHECK_INT(count_names(&f, store), 1);
        store->ops->close(store);
        fixture_close(&f);
    }
}

TEST(without_hard_links_a_rename_that_replaces_nothing_does_the_same)
{
    fixture   f = fixture_open();
    fb_store *store = open_store(&f);
    fixture_arm("store.put_new.link:error=EACCES:*");
    CHECK_CODE(put_new(&f, store, "first"), FB_OK, &f.err);
    CHECK_CODE(put_new(&f, store, "second"), FB_ECONFLICT, &f.err);
    CHECK(f.err.reason == FB_R_F005);
    check_content(&f, "_delta_log/a.json", "first");
    CHECK_INT(count_names(&f, store), 1);
    fixture_remove(&f, "_delta_log/a.json");
    fixture_arm("store.put_new.link:error=EACCES,store.put_new.rename:error=EACCES");
    CHECK_CODE(put_new(&f, store, "third"), FB_EUNSUPPORTED, &f.err);
    CHECK(f.err.reason == FB_R_S003);
    CHECK_INT(count_names(&f, store), 0);
    store->ops->close(store);
    fixture_close(&f);
}

TEST(a_torn_write_is_never_seen_under_the_name)
{
    fixture f = fixture_open();
    pid_t   child = fork();
    if (child == 0) {
        fb_store *store = open_store(&f);
        fixture_arm("store.put_new.temp:torn");
        _exit(put_new(&f, store, "half of it") == FB_OK ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(!fixture_has(&f, "_delta_log/a.json"));
    fixture_close(&f);
}

TEST(paths_that_would_leave_the_folder_are_refused)
{
    static const char *const bad[] = {"",     "/etc/passwd", "..", "../x", "a/../b",
                                      "a//b", "a/",          ".",  "./a",  "a/."};
    fixture                  f = fixture_open();
    fb_store                *store = open_store(&f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fb_buf text;
        fb_buf_init(&text, 100);
        CHECK(!fb_store_key_is_safe(bad[i]));
        CHECK_CODE(store->ops->get(store, bad[i], &text, &f.err), FB_EDATA, &f.err);
        CHECK(f.err.reason == FB_R_S001);
        CHECK_CODE(store->ops->put(store, bad[i], "x", 1, &f.err), FB_EDATA, &f.err);
        fb_buf_clear(&text);
    }
    CHECK(fb_store_key_is_safe("..a/.b/c.."));
    store->ops->close(store);
    fixture_close(&f);
}

typedef struct seen {
    char   text[200];
    size_t size;
} seen;

static fb_code add_seen(void *context, const char *name, fb_error *err)
{
    seen *s = context;
    (void)err;
    s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size, "%s ", name);
    return FB_OK;
}

TEST(names_are_listed_in_the_order_of_their_bytes_behind_the_given_one)
{
    fixture   f = fixture_open();
    fb_store *store = open_store(&f);
    seen      s = {.size = 0};
    CHECK_CODE(store->ops->list(store, "_delta_log", "", add_seen, &s, &f.err), FB_OK,
               &f.err);
    CHECK_INT(s.size, 0); // a folder that is not there has no names
    fixture_put(&f, "_delta_log/2.json", "");
    fixture_put(&f, "_delta_log/10.json", "");
    fixture_put(&f, "_delta_log/_last", "");
    fixture_put(&f, "_delta_log/1.json", "");
    CHECK_CODE(store->ops->list(store, "_delta_log", "1.json", add_seen, &s, &f.err),
               FB_OK, &f.err);
    CHECK_TEXT(s.text, "10.json 2.json _last ");
    store->ops->close(store);
    fixture_close(&f);
}

TEST(a_file_that_is_not_there_and_one_that_is_too_large_have_their_own_codes)
{
    fixture   f = fixture_open();
    fb_store *store = open_store(&f);
    fb_buf    text;
    int64_t   size, modified_ms;
    fb_buf_init(&text, 3);
    CHECK_CODE(store->ops->get(store, "_delta_log/a", &text, &f.err), FB_EMISSING,
               &f.err);
    CHECK(f.err.reason == FB_R_S002);
    CHECK_CODE(store->ops->size(store, "a", &size, &modified_ms, &f.err), FB_EMISSING,
               &f.err);
    CHECK_CODE(store->ops->remove(store, "a", &f.err), FB_OK, &f.err);
    fixture_put(&f, "a", "four");
    CHECK_CODE(store->ops->get(store, "a", &text, &f.err), FB_EMEMORY, &f.err);
    CHECK(f.err.reason == FB_R_F004);
    CHECK_CODE(store->ops->size(store, "a", &size, &modified_ms, &f.err), FB_OK, &f.err);
    CHECK_INT(size, 4);
    fb_buf_clear(&text);
    store->ops->close(store);
    fixture_close(&f);
}

TEST(a_failing_replace_or_move_leaves_what_was_there)
{
    fixture   f = fixture_open();
    fb_store *store = open_store(&f);
    fixture_put(&f, "a", "old");
    fixture_arm("store.put.temp:error=ENOSPC");
    CHECK_CODE(store->ops->put(store, "a", "new", 3, &f.err), FB_EIO, &f.err);
    check_content(&f, "a", "old");
    fixture_arm("store.settle.written:error=EIO");
    CHECK_CODE(store->ops->settle(store, "a", &f.err), FB_EIO, &f.err);
    fixture_arm("store.settle.synced:error=EIO");
    CHECK_CODE(store->ops->settle(store, "a", &f.err), FB_EIO, &f.err);
    fixture_arm("store.move.renamed:error=EIO");
    CHECK_CODE(store->ops->move(store, "a", "b", &f.err), FB_EIO, &f.err);
    check_content(&f, "b", "old");
    fixture_arm("store.put.renamed:error=EIO");
    CHECK_CODE(store->ops->put(store, "b", "new", 3, &f.err), FB_EIO, &f.err);
    store->ops->close(store);
    fixture_close(&f);
}
