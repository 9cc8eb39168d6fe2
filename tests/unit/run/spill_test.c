/* spill_test.c - what killed processes left is removed, what others use is not. */
#include "base/file.h"
#include "base/limits.h"
#include "run/spill.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(the_spill_folder_of_a_dead_process_goes_and_that_of_a_living_one_stays)
{
    char     state[] = "/tmp/forebay-spill-XXXXXX", own[FB_MAX_PATH], other[FB_MAX_PATH];
    fb_error err;
    pid_t    dead = fork();
    if (dead == 0) _exit(0);
    waitpid(dead, NULL, 0);
    CHECK(mkdtemp(state) != NULL);
    CHECK(fb_spill_path(state, own, &err) == FB_OK);
    snprintf(other, sizeof other, "%.*s-%ld", (int)(strrchr(own, '-') - own), own, (long)dead);
    CHECK(fb_dir_make(own, &err) == FB_OK);
    CHECK(fb_dir_make(other, &err) == FB_OK);
    fb_spill_sweep(state);
    CHECK(fb_file_exists(own));
    CHECK(!fb_file_exists(other));
    fb_dir_remove(own);
    fb_dir_remove(state);
}
