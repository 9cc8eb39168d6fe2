/* file_test.c - files and directories: whole or not at all, and locks. */
#include "base/file.h"
#include "base/limits.h"
#include "base/time.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A folder of the running test, and one path in it at a time. */
static char folder[64], path[FB_MAX_PATH];

static void begin_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/fb_file_test_XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

static const char *in_folder(const char *name)
{
    fb_error err;
    CHECK_CODE(fb_path_join(path, sizeof path, folder, name, &err), FB_OK, &err);
    return path;
}

static void holds(const char *name, const char *want)
{
    fb_buf   buf;
    fb_error err;
    fb_buf_init(&buf, 1 << 20);
    CHECK_CODE(fb_file_read(in_folder(name), &buf, &err), FB_OK, &err);
    check_text(CHECK_SITE(name), fb_buf_text(&buf), want);
    fb_buf_clear(&buf);
}

static fb_code count_name(void *context, const char *name, fb_error *err)
{
    (void)name;
    (void)err;
    ++*(int *)context;
    return FB_OK;
}

static int names_in_folder(void)
{
    fb_error err;
    int      count = 0;
    CHECK_CODE(fb_dir_list(folder, count_name, &count, &err), FB_OK, &err);
    return count;
}

static void end_folder(void)
{
    fb_dir_remove(folder);
    CHECK(!fb_file_exists(folder));
}

TEST(a_file_is_replaced_whole_and_leaves_nothing_beside_it)
{
    fb_error err;
    begin_folder();
    CHECK_CODE(fb_file_replace(in_folder("a"), "one", 3, &err), FB_OK, &err);
    holds("a", "one");
    CHECK_CODE(fb_file_replace(in_folder("a"), "", 0, &err), FB_OK, &err);
    holds("a", "");
    CHECK_CODE(fb_file_replace(in_folder("a"), "two, longer", 11, &err), FB_OK, &err);
    holds("a", "two, longer");
    CHECK_INT(names_in_folder(), 1);
    end_folder();
}

TEST(a_file_that_cannot_be_replaced_stays_as_it_was)
{
    fb_error err;
    begin_folder();
    CHECK_CODE(fb_file_replace(in_folder("a"), "one", 3, &err), FB_OK, &err);
    CHECK(mkdir(in_folder("d"), 0700) == 0);
    CHECK(fb_file_replace(in_folder("d"), "x", 1, &err) == FB_EIO);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-F002");
    CHECK_HAS(err.what, "/d: ");
    CHECK(fb_file_replace(in_folder("none/b"), "x", 1, &err) == FB_EIO);
    holds("a", "one");
    CHECK_INT(names_in_folder(), 2); // no temporary file is left
    rmdir(in_folder("d"));
    end_folder();
}

static void *replace_often(void *text)
{
    fb_error err;
    char     own[FB_MAX_PATH];
    snprintf(own, sizeof own, "%s/a", folder);
    for (int i = 0; i < 20; i++)
        CHECK_CODE(fb_file_replace(own, text, 2000, &err), FB_OK, &err);
    return NULL;
}

TEST(two_threads_may_replace_one_file_and_one_of_them_wins)
{
    static char ones[2001], twos[2001];
    pthread_t   other;
    fb_buf      buf;
    fb_error    err;
    begin_folder();
    memset(ones, '1', 2000);
    memset(twos, '2', 2000);
    CHECK(pthread_create(&other, NULL, replace_often, ones) == 0);
    replace_often(twos);
    pthread_join(other, NULL);
    fb_buf_init(&buf, 1 << 20);
    CHECK_CODE(fb_file_read(in_folder("a"), &buf, &err), FB_OK, &err);
    CHECK(strcmp(fb_buf_text(&buf), ones) == 0 || strcmp(fb_buf_text(&buf), twos) == 0);
    CHECK_INT(names_in_folder(), 1);
    fb_buf_clear(&buf);
    end_folder();
}

TEST(a_new_file_is_refused_where_one_exists)
{
    fb_error err;
    begin_folder();
    CHECK_CODE(fb_file_write_new(in_folder("a"), "one", 3, NULL, &err), FB_OK, &err);
    CHECK(fb_file_write_new(in_folder("a"), "two", 3, NULL, &err) == FB_EIO);
    holds("a", "one");
    CHECK(symlink("/nowhere/at/all", in_folder("s")) == 0);
    CHECK(fb_file_write_new(in_folder("s"), "two", 3, NULL, &err) == FB_EIO);
    end_folder();
}

TEST(a_second_name_is_given_whole_or_refused_as_a_conflict)
{
    fb_error err;
    char     from[FB_MAX_PATH];
    begin_folder();
    CHECK_CODE(fb_file_write_new(in_folder("a"), "one", 3, NULL, &err), FB_OK, &err);
    memcpy(from, path, sizeof from);
    CHECK_CODE(fb_file_link(from, in_folder("b"), &err), FB_OK, &err);
    holds("b", "one");
    CHECK(fb_file_link(from, in_folder("b"), &err) == FB_ECONFLICT);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-F005");
    CHECK(fb_file_link(in_folder("none"), from, &err) != FB_OK);
    CHECK_CODE(fb_file_rename(from, in_folder("c"), &err), FB_OK, &err);
    CHECK(!fb_file_exists(from));
    holds("c", "one");
    end_folder();
}

TEST(only_the_tail_of_a_file_is_read_when_asked)
{
    fb_buf   buf;
    fb_error err;
    begin_folder();
    CHECK_CODE(fb_file_replace(in_folder("a"), "0123456789", 10, &err), FB_OK, &err);
    fb_buf_init(&buf, 100);
    CHECK_CODE(fb_file_read_tail(path, 3, &buf, &err), FB_OK, &err);
    CHECK_TEXT(fb_buf_text(&buf), "789");
    CHECK_CODE(fb_file_read_tail(path, 100, &buf, &err), FB_OK, &err);
    CHECK_TEXT(fb_buf_text(&buf), "7890123456789"); // behind what was there
    fb_buf_clear(&buf);
    end_folder();
}

TEST(a_file_above_the_ceiling_is_refused_even_one_without_an_end)
{
    fb_buf   buf;
    fb_error err;
    int64_t  size;
    begin_folder();
    CHECK_CODE(fb_file_replace(in_folder("a"), "0123456789", 10, &err), FB_OK, &err);
    CHECK_CODE(fb_file_size(path, &size, &err), FB_OK, &err);
    CHECK_INT(size, 10);
    fb_buf_init(&buf, 9);
    CHECK(fb_file_read(path, &buf, &err) == FB_EMEMORY);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-F004");
    CHECK(fb_file_read("/dev/zero", &buf, &err) == FB_EMEMORY);
    fb_buf_clear(&buf);
    end_folder();
}

TEST(what_cannot_be_read_is_named)
{
    fb_buf   buf;
    fb_error err;
    int64_t  size;
    begin_folder();
    fb_buf_init(&buf, 100);
    CHECK(fb_file_read(in_folder("none"), &buf, &err) == FB_EIO);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-F001");
    CHECK_HAS(err.what, "none: No such file or directory");
    CHECK(fb_file_read(folder, &buf, &err) == FB_EIO);
    CHECK_HAS(err.what, "Is a directory");
    CHECK(fb_file_size(in_folder("none"), &size, &err) == FB_EIO);
    CHECK(fb_file_sync(path, &err) == FB_EIO);
    fb_file_remove(path); // is no error
    fb_buf_clear(&buf);
    end_folder();
}

TEST(a_folder_is_made_with_its_parents_and_may_exist)
{
    fb_error err;
    begin_folder();
    CHECK_CODE(fb_dir_make(in_folder("x/y//z"), &err), FB_OK, &err);
    CHECK_CODE(fb_dir_make(in_folder("x/y/z/"), &err), FB_OK, &err);
    CHECK(fb_file_exists(in_folder("x/y/z")));
    CHECK_CODE(fb_file_replace(in_folder("x/f"), "", 0, &err), FB_OK, &err);
    CHECK(fb_dir_make(in_folder("x/f"), &err) == FB_EIO);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-F003");
    CHECK(fb_dir_make(in_folder("x/f/g"), &err) == FB_EIO);
    CHECK(fb_dir_make("", &err) == FB_EIO);
    CHECK_CODE(fb_dir_make("/", &err), FB_OK, &err);
    CHECK_CODE(fb_dir_make(".", &err), FB_OK, &err);
    fb_file_remove(in_folder("x/f"));
    rmdir(in_folder("x/y/z"));
    rmdir(in_folder("x/y"));
    rmdir(in_folder("x"));
    end_folder();
}

static fb_code stop_at_b(void *context, const char *name, fb_error *err)
{
    ++*(int *)context;
    return strcmp(name, "b") == 0 ? fb_fail(err, F001, "it was b") : FB_OK;
}

TEST(a_visitor_of_names_can_end_the_walk)
{
    fb_error err;
    int      seen = 0;
    begin_folder();
    CHECK_CODE(fb_file_replace(in_folder("b"), "", 0, &err), FB_OK, &err);
    CHECK(fb_dir_list(folder, stop_at_b, &seen, &err) == FB_EIO);
    CHECK_TEXT(err.what, "it was b");
    CHECK_INT(seen, 1);
    CHECK_CODE(fb_dir_list(in_folder("none"), count_name, &seen, &err), FB_OK, &err);
    CHECK_INT(seen, 1);
    CHECK(fb_dir_list(in_folder("b"), count_name, &seen, &err) == FB_EIO);
    end_folder();
}

TEST(paths_are_joined_with_one_slash_and_have_a_ceiling)
{
    fb_error err;
    char     out[12];
    CHECK_CODE(fb_path_join(out, sizeof out, "a", "b", &err), FB_OK, &err);
    CHECK_TEXT(out, "a/b");
    CHECK_CODE(fb_path_join(out, sizeof out, "a/", "b", &err), FB_OK, &err);
    CHECK_TEXT(out, "a/b");
    CHECK_CODE(fb_path_join(out, sizeof out, "12345", "12345", &err), FB_OK, &err);
    CHECK(fb_path_join(out, sizeof out, "12345", "123456", &err) == FB_EMEMORY);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-M002");
}

TEST(a_lock_is_held_by_one_and_names_its_holder)
{
    fb_error err;
    fb_lock  one = FB_LOCK_NONE, two = FB_LOCK_NONE;
    begin_folder();
    CHECK_CODE(fb_lock_take(&one, in_folder("lock"), "pid 1 on here", 0, &err), FB_OK,
               &err);
    int64_t before = fb_mono_ms();
    CHECK(fb_lock_take(&two, path, "pid 2", 120, &err) == FB_EBUSY);
    CHECK(fb_mono_ms() - before >= 120);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-L001");
    CHECK_HAS(err.what, "pid 1 on here");
    CHECK_INT(two.fd, -1);
    holds("lock", "pid 1 on here");
    fb_lock_release(&one);
    fb_lock_release(&one);
    CHECK_CODE(fb_lock_take(&two, in_folder("lock"), "2", 0, &err), FB_OK, &err);
    holds("lock", "2"); // nothing of the longer name is left
    fb_lock_release(&two);
    end_folder();
}

TEST(a_lock_is_free_when_its_holder_has_died)
{
    fb_error err;
    fb_lock  lock = FB_LOCK_NONE;
    int      status;
    begin_folder();
    in_folder("lock");
    pid_t child = fork();
    if (child == 0) {
        bool ok = fb_lock_take(&lock, path, "child", 0, &err) == FB_OK;
        _exit(ok ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 0);
    CHECK_CODE(fb_lock_take(&lock, path, "parent", 0, &err), FB_OK, &err);
    fb_lock_release(&lock);
    end_folder();
}

TEST(a_lock_is_not_taken_through_a_symbolic_link)
{
    fb_error err;
    fb_lock  lock = FB_LOCK_NONE;
    begin_folder();
    CHECK(symlink("/dev/null", in_folder("lock")) == 0);
    CHECK(fb_lock_take(&lock, path, "x", 0, &err) == FB_EIO);
    CHECK_INT(lock.fd, -1);
    end_folder();
}
