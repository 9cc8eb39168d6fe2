/* step_test.c - failpoints: how they are written, and what they do to a process. */
#include "base/file.h"
#include "base/step.h"
#include "base/time.h"
#include "tests/check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static fb_code arm(const char *points, fb_error *err)
{
    setenv("FOREBAY_FAILPOINT", points, 1);
    fb_code code = fb_steps_arm(err);
    unsetenv("FOREBAY_FAILPOINT");
    return code;
}

static void disarm(void)
{
    fb_error err;
    CHECK_CODE(fb_steps_arm(&err), FB_OK, &err);
    CHECK(!fb_steps_armed);
}

/* How a child ends that arms `points` and hits the step "x" three times. */
static int ends(const char *points)
{
    int   status = 0;
    pid_t child = fork();
    if (child == 0) {
        fb_error err;
        if (arm(points, &err) != FB_OK) _exit(99);
        for (int i = 1; i <= 3; i++) {
            FB_STEP("y");
            if (FB_STEP("x") != FB_FAULT_NONE) _exit(10 + i);
        }
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(a_failpoint_kills_exits_or_fails_at_the_hit_that_is_named)
{
    CHECK_INT(ends("x:kill"), -SIGKILL);
    CHECK_INT(ends("x:exit"), 70);
    CHECK_INT(ends("x:error=EIO"), 11);
    CHECK_INT(ends("x:error=EIO:2"), 12);
    CHECK_INT(ends("x:kill:3"), -SIGKILL);
    CHECK_INT(ends("x:kill:4"), 0);
    CHECK_INT(ends("x:torn:2"), 12);
    CHECK_INT(ends("x:unknown"), 11);
    CHECK_INT(ends("x:sleep=1ms:*"), 0);
    CHECK_INT(ends("z:kill"), 0);
    CHECK_INT(ends("z:kill,x:exit:2"), 70);
    CHECK_INT(ends("x:kill%100"), -SIGKILL);
    CHECK_INT(ends("x:error=ENOSPC:3%100"), 13);
    CHECK_INT(ends(""), 0);
}

TEST(an_error_sets_the_errno_that_is_named)
{
    fb_error err;
    CHECK_CODE(arm("x:error=ENOSPC:*", &err), FB_OK, &err);
    errno = 0;
    CHECK(FB_STEP("x") == FB_FAULT_ERROR);
    CHECK_INT(errno, ENOSPC);
    CHECK(FB_STEP("x") == FB_FAULT_ERROR); // at every hit
    CHECK(fb_step_try("x", &err) == FB_EIO);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-M003");
    CHECK_TEXT(err.what, "failpoint x: No space left on device");
    CHECK(fb_step_try("y", &err) == FB_OK);
    disarm();
    CHECK(fb_step_try("x", &err) == FB_OK);
}

TEST(an_unknown_outcome_is_a_failure_that_says_so)
{
    fb_error err;
    CHECK_CODE(arm("x:unknown", &err), FB_OK, &err);
    CHECK(fb_step_try("x", &err) == FB_EIO);
    CHECK_HAS(err.what, "outcome unknown");
    CHECK(fb_step_try("x", &err) == FB_OK);
    disarm();
}

TEST(a_sleep_is_waited_out_and_goes_on)
{
    fb_error err;
    CHECK_CODE(arm("x:sleep=20ms", &err), FB_OK, &err);
    int64_t before = fb_mono_ms();
    CHECK(FB_STEP("x") == FB_FAULT_NONE);
    CHECK(fb_mono_ms() - before >= 20);
    disarm();
}

TEST(arming_again_forgets_the_hits_and_the_points_of_before)
{
    fb_error err;
    CHECK_CODE(arm("x:error=EIO:2,y:error=EIO", &err), FB_OK, &err);
    CHECK(FB_STEP("x") == FB_FAULT_NONE);
    CHECK_CODE(arm("x:error=EIO:2", &err), FB_OK, &err);
    CHECK(FB_STEP("x") == FB_FAULT_NONE);
    CHECK(FB_STEP("y") == FB_FAULT_NONE);
    CHECK(FB_STEP("x") == FB_FAULT_ERROR);
    disarm();
}

TEST(a_failpoint_with_a_chance_fires_sometimes)
{
    fb_error err;
    int      fired = 0;
    CHECK_CODE(arm("x:error=EIO:*%50", &err), FB_OK, &err);
    for (int i = 0; i < 200; i++) fired += FB_STEP("x") != FB_FAULT_NONE;
    CHECK(fired > 20 && fired < 180);
    disarm();
}

TEST(what_is_no_failpoint_is_refused_and_nothing_is_armed)
{
    static const char *const wrong[] = {"x",
                                        "x:",
                                        ":kill",
                                        "x:kil",
                                        "x:kill:",
                                        "x:kill:0",
                                        "x:kill:-1",
                                        "x:kill:2x",
                                        "x:kill:x",
                                        "x:error",
                                        "x:error=",
                                        "x:error=EFOO",
                                        "x:sleep",
                                        "x:sleep=",
                                        "x:sleep=5",
                                        "x:sleep=-1s",
                                        "x:sleep=1h",
                                        "x:sleep=0s",
                                        "x:sleep=99999999s",
                                        "x:sleep=99999999999999999999s",
                                        "x:kill%",
                                        "x:kill%0",
                                        "x:kill%101",
                                        "x:kill%x",
                                        "x:kill,",
                                        ",x:kill",
                                        "x:kill,,y:kill",
                                        "x:kill:1:2"};
    fb_error                 err;
    char                     names[1200] = "", many[400] = "";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_int(CHECK_SITE(wrong[i]), arm(wrong[i], &err), FB_ECONFIG);
        CHECK_TEXT(fb_reason_name(err.reason), "FB-C003");
        CHECK(!fb_steps_armed);
    }
    memset(names, 'x', 1100);
    CHECK(arm(names, &err) == FB_ECONFIG);
    memcpy(names + 64, ":kill", 6); // a name of 64 bytes has no room
    CHECK(arm(names, &err) == FB_ECONFIG);
    many[0] = '\0';
    for (int i = 0; i < 17; i++) strcat(many, i ? ",x:kill" : "x:kill");
    CHECK(arm(many, &err) == FB_ECONFIG);
    CHECK_HAS(err.what, "more than 16 points");
    disarm();
}

TEST(a_torn_write_leaves_half_of_the_bytes_behind_a_dead_process)
{
    char     path[] = "/tmp/fb_step_test_XXXXXX";
    int      status = 0;
    fb_error err;
    fb_buf   buf;
    CHECK(mkdtemp(path) != NULL);
    char file[64];
    snprintf(file, sizeof file, "%s/f", path);
    pid_t child = fork();
    if (child == 0) {
        if (arm("half:torn", &err) != FB_OK) _exit(1);
        fb_code code = fb_file_write_new(file, "0123456789", 10, "half", &err);
        _exit(code == FB_OK ? 2 : 3);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    fb_buf_init(&buf, 100);
    CHECK_CODE(fb_file_read(file, &buf, &err), FB_OK, &err);
    CHECK_TEXT(fb_buf_text(&buf), "01234");
    fb_buf_clear(&buf);
    fb_dir_remove(path);
}

TEST(a_write_that_fails_half_way_leaves_no_file)
{
    fb_error err;
    char     path[] = "/tmp/fb_step_test_XXXXXX", file[64];
    CHECK(mkdtemp(path) != NULL);
    snprintf(file, sizeof file, "%s/f", path);
    CHECK_CODE(arm("half:error=ENOSPC", &err), FB_OK, &err);
    CHECK(fb_file_write_new(file, "0123456789", 10, "half", &err) == FB_EIO);
    CHECK(!fb_file_exists(file));
    disarm();
    fb_dir_remove(path);
}
