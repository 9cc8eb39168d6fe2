/* file.c - the system calls behind file.h.
 *
 * What holds: a file that replaces another is written under a temporary name in the same
 * directory, synced, renamed, and the directory synced; so a crash leaves old or new.
 */
#include "base/file.h"

#include "base/limits.h"
#include "base/step.h"
#include "base/time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static fb_code fail_read(const char *path, fb_error *err)
{
    return fb_fail(err, F001, "cannot read %s: %s", path, strerror(errno));
}

static fb_code fail_write(const char *path, fb_error *err)
{
    return fb_fail(err, F002, "cannot write %s: %s", path, strerror(errno));
}

fb_code fb_path_join(char *out, size_t room, const char *folder, const char *name, fb_error *err)
{
    size_t      size = strlen(folder);
    const char *slash = size > 0 && folder[size - 1] == '/' ? "" : "/";
    int         n = snprintf(out, room, "%s%s%s", folder, slash, name);
    if (n < 0 || (size_t)n >= room)
        return fb_fail(err, M002, "a path is longer than %zu bytes", room - 1);
    return FB_OK;
}

/* Read `size` bytes of `fd` behind what `out` holds. */
static fb_code read_bytes(int fd, const char *path, size_t size, fb_buf *out, fb_error *err)
{
    char block[65536];
    while (size > 0) {
        ssize_t n = read(fd, block, size < sizeof block ? size : sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_read(path, err);
        if (n == 0) break;
        fb_buf_add(out, block, (size_t)n);
        size -= (size_t)n;
        if (out->failed == FB_R_M002) // a device may have no end
            return fb_fail(err, F004, "%s has more than the %zu bytes that are read", path,
                           out->max);
        if (out->failed != FB_R_NONE) break;
    }
    return fb_buf_check(out, path, err);
}

fb_code fb_file_read_tail(const char *path, size_t most, fb_buf *out, fb_error *err)
{
    fb_code     code = FB_OK;
    struct stat info;
    int         fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_read(path, err);
    if (fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
        if (S_ISDIR(info.st_mode)) errno = EISDIR;
        FB_TRY(fail_read(path, err));
    }
    if (S_ISREG(info.st_mode) && (size_t)info.st_size > most)
        if (lseek(fd, info.st_size - (off_t)most, SEEK_SET) < 0) FB_TRY(fail_read(path, err));
    FB_TRY(read_bytes(fd, path, most, out, err));
out:
    close(fd);
    return code;
}

fb_code fb_file_read(const char *path, fb_buf *out, fb_error *err)
{
    return fb_file_read_tail(path, SIZE_MAX / 2, out, err);
}

static fb_code write_bytes(int fd, const char *path, const char *data, size_t size, fb_error *err)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_write(path, err);
        data += n;
        size -= (size_t)n;
    }
    return FB_OK;
}

fb_code fb_file_write_new(const char *path, const void *data, size_t size, const char *step,
                          fb_error *err)
{
    fb_code     code = FB_OK;
    const char *bytes = data;
    int         fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return fail_write(path, err);
    FB_TRY(write_bytes(fd, path, bytes, size / 2, err));
    if (step) FB_TRY(fb_step_try(step, err));
    FB_TRY(write_bytes(fd, path, bytes + size / 2, size - size / 2, err));
    if (fsync(fd) != 0) FB_TRY(fail_write(path, err));
out:
    if (close(fd) != 0 && code == FB_OK) code = fail_write(path, err);
    if (code != FB_OK) unlink(path);
    return code;
}

fb_code fb_file_link(const char *from, const char *to, fb_error *err)
{
    if (link(from, to) == 0) return FB_OK;
    if (errno == EEXIST) return fb_fail(err, F005, "%s exists already", to);
    return fail_write(to, err);
}

fb_code fb_file_rename(const char *from, const char *to, fb_error *err)
{
    return rename(from, to) == 0 ? FB_OK : fail_write(to, err);
}

fb_code fb_file_sync(const char *path, fb_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_write(path, err);
    int bad = fsync(fd);
    int reason = errno;
    close(fd);
    errno = reason;
    return bad ? fail_write(path, err) : FB_OK;
}

static fb_code sync_parent(const char *path, fb_error *err)
{
    char copy[FB_MAX_PATH];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return fb_fail(err, M002, "a path is longer than %zu bytes", sizeof copy - 1);
    return fb_file_sync(dirname(copy), err);
}

fb_code fb_file_replace(const char *path, const void *data, size_t size, fb_error *err)
{
    static atomic_uint turn; // two threads may replace one file
    fb_code            code = FB_OK;
    char               temp[FB_MAX_PATH];
    int n = snprintf(temp, sizeof temp, "%s.%ld.%u.tmp", path, (long)getpid(),
                     atomic_fetch_add(&turn, 1));
    if (n >= (int)sizeof temp)
        return fb_fail(err, M002, "a path is longer than %zu bytes", sizeof temp - 1);
    unlink(temp); // left by a process that had our number
    FB_TRY(fb_file_write_new(temp, data, size, NULL, err));
    code = fb_file_rename(temp, path, err);
    if (code != FB_OK) unlink(temp);
    if (code == FB_OK) code = sync_parent(path, err);
out:
    return code;
}

fb_code fb_file_begin(const char *path, char *temp, FILE **out, fb_error *err)
{
    struct stat info;
    bool        is_special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    int         flags = O_WRONLY | O_CLOEXEC | (is_special ? 0 : O_CREAT | O_EXCL);
    if (snprintf(temp, FB_MAX_PATH, "%s.%ld.tmp", path, (long)getpid()) >= FB_MAX_PATH)
        return fb_fail(err, M002, "a path is longer than %d bytes", FB_MAX_PATH - 1);
    if (is_special) temp[0] = '\0';
    else unlink(temp); // left by a process that had our number
    int fd = open(is_special ? path : temp, flags, 0666);
    if (fd < 0) return fail_write(path, err);
    *out = fdopen(fd, "w");
    if (*out) return FB_OK;
    close(fd);
    if (!is_special) unlink(temp);
    return fb_fail_memory(err, "a file's buffer");
}

fb_code fb_file_finish(FILE *take, const char *temp, const char *path, bool keeps, fb_error *err)
{
    fb_code code = FB_OK;
    bool    is_whole = fflush(take) == 0 && !ferror(take);
    if (is_whole && keeps && temp[0]) is_whole = fsync(fileno(take)) == 0;
    if (!is_whole && keeps) code = fail_write(path, err);
    if (fclose(take) != 0 && keeps && code == FB_OK) code = fail_write(path, err);
    if (!temp[0]) return code;
    if (keeps && code == FB_OK) code = fb_file_rename(temp, path, err);
    if (!keeps || code != FB_OK) unlink(temp);
    else code = sync_parent(path, err);
    return code;
}

fb_code fb_file_size(const char *path, int64_t *size, fb_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0) return fail_read(path, err);
    *size = info.st_size;
    return FB_OK;
}

bool fb_file_exists(const char *path) { return access(path, F_OK) == 0; }

void fb_file_remove(const char *path) { unlink(path); }

static fb_code make_one(const char *path, fb_error *err)
{
    struct stat info;
    if (mkdir(path, 0777) == 0) return sync_parent(path, err);
    int reason = errno;
    if (reason == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return FB_OK;
    return fb_fail(err, F003, "cannot create the directory %s: %s", path, strerror(reason));
}

fb_code fb_dir_make(const char *path, fb_error *err)
{
    fb_code code = FB_OK;
    char    copy[FB_MAX_PATH];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return fb_fail(err, M002, "a path is longer than %zu bytes", sizeof copy - 1);
    for (char *slash = copy + strspn(copy, "/"); (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (!fb_file_exists(copy)) FB_TRY(make_one(copy, err));
        *slash = '/';
    }
    FB_TRY(make_one(copy, err));
out:
    return code;
}

fb_code fb_dir_list(const char *path, fb_dir_visit visit, void *context, fb_error *err)
{
    fb_code        code = FB_OK;
    DIR           *folder = opendir(path);
    struct dirent *entry;
    if (!folder) return errno == ENOENT ? FB_OK : fail_read(path, err);
    for (errno = 0; (entry = readdir(folder)); errno = 0) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        FB_TRY(visit(context, entry->d_name, err));
    }
    if (errno != 0) code = fail_read(path, err);
out:
    closedir(folder);
    return code;
}

static fb_code remove_one(void *context, const char *name, fb_error *err)
{
    char path[FB_MAX_PATH];
    if (fb_path_join(path, sizeof path, context, name, err) == FB_OK) unlink(path);
    return FB_OK;
}

void fb_dir_remove(const char *path)
{
    fb_error ignored;
    char     copy[FB_MAX_PATH];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy) return;
    if (fb_dir_list(copy, remove_one, copy, &ignored) == FB_OK) rmdir(copy);
}

fb_code fb_lock_take(fb_lock *lock, const char *path, const char *owner, int64_t wait_ms,
                     fb_error *err)
{
    int64_t deadline = fb_mono_ms() + wait_ms;
    char    holder[200] = "";
    lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock->fd < 0) return fail_write(path, err);
    while (flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            fb_code code = fail_write(path, err);
            fb_lock_release(lock);
            return code;
        }
        if (fb_mono_ms() >= deadline) {
            ssize_t n = pread(lock->fd, holder, sizeof holder - 1, 0);
            holder[n > 0 ? n : 0] = '\0';
            fb_lock_release(lock);
            return fb_fail(err, L001, "another process holds %s: %s", path, holder);
        }
        fb_sleep_ms(50);
    }
    if (ftruncate(lock->fd, 0) != 0 ||
        pwrite(lock->fd, owner, strlen(owner), 0) != (ssize_t)strlen(owner)) {
        fb_code code = fail_write(path, err);
        fb_lock_release(lock);
        return code;
    }
    return FB_OK;
}

void fb_lock_release(fb_lock *lock)
{
    if (lock->fd >= 0) close(lock->fd);
    lock->fd = -1;
}
