/* failio.c - failio.so makes a chosen call of any program fail, by LD_PRELOAD.
 *
 *   FAILIO=call:part:n:ERRNO[:+][,...]   the nth call on a path that holds `part` (* is any
 *                                        path) fails with ERRNO; with + all later ones too
 *   FAILIO_SHORT=1                       a failing write writes its first half before
 *   FAILIO_MALLOC=n or n+                the nth allocation, or all from there on, get nothing
 *   FAILIO_COUNT=FILE                    at exit, append "call count" lines to FILE, so that a
 *                                        loop over n knows when to stop
 *
 * Calls: open read write fsync fdatasync rename link unlink mkdir ftruncate close; pread and
 * pwrite count as read and write. ERRNO: ENOSPC EIO EDQUOT EMFILE ENOMEM EEXIST EINTR EACCES.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum call {
    OPEN,
    READ,
    WRITE,
    FSYNC,
    FDATASYNC,
    RENAME,
    LINK,
    UNLINK,
    MKDIR,
    FTRUNCATE,
    CLOSE,
    CALLS
};

static const char *const call_names[CALLS] = {"open",      "read",      "write", "fsync",
                                              "fdatasync", "rename",    "link",  "unlink",
                                              "mkdir",     "ftruncate", "close"};

static const struct {
    const char *name;
    int         number;
} error_names[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EDQUOT", EDQUOT},
                   {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"EEXIST", EEXIST},
                   {"EINTR", EINTR},   {"EACCES", EACCES}};

static struct rule {
    char part[128];
    long nth; // 0: there is no rule
    int  error;
    bool and_later;
    long seen;
} rules[CALLS];

static bool is_ready, writes_half;
static long allocations, failing_allocation;
static bool and_later_allocations;

static void give_up(const char *what)
{
    fprintf(stderr, "failio: %s cannot be understood\n", what);
    _exit(99);
}

static int error_number(const char *name)
{
    for (size_t i = 0; i < sizeof error_names / sizeof *error_names; i++)
        if (strcmp(name, error_names[i].name) == 0) return error_names[i].number;
    give_up(name);
    return 0;
}

static void read_rule(const char *text)
{
    char name[32], part[128], error[32], more[8] = "";
    long nth;

    if (sscanf(text, "%31[^:]:%127[^:]:%ld:%31[^:]:%7s", name, part, &nth, error, more) <
        4)
        give_up(text);
    for (int call = 0; call < CALLS; call++) {
        if (strcmp(name, call_names[call]) != 0) continue;
        struct rule *rule = &rules[call];
        strcpy(rule->part, part);
        rule->nth = nth;
        rule->error = error_number(error);
        rule->and_later = *more == '+';
        return;
    }
    give_up(text);
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("FAILIO");
    if (text) {
        char copy[1024], *rest = copy;
        snprintf(copy, sizeof copy, "%s", text);
        for (char *rule; (rule = strsep(&rest, ","));) read_rule(rule);
    }
    text = getenv("FAILIO_MALLOC");
    if (text) {
        failing_allocation = atol(text);
        and_later_allocations = strchr(text, '+') != NULL;
    }
    writes_half = getenv("FAILIO_SHORT") != NULL;
    is_ready = true;
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *name = getenv("FAILIO_COUNT");
    FILE       *file = name ? fopen(name, "a") : NULL;

    if (!file) return;
    for (int call = 0; call < CALLS; call++)
        if (rules[call].seen)
            fprintf(file, "%s %ld\n", call_names[call], rules[call].seen);
    if (failing_allocation) fprintf(file, "malloc %ld\n", allocations);
    fclose(file);
}

/* Count a call on `path`. @return whether it is to fail; errno is set then */
static bool fails(enum call call, const char *path)
{
    struct rule *rule = &rules[call];

    if (!is_ready || !rule->nth || !path) return false;
    if (strcmp(rule->part, "*") != 0 && !strstr(path, rule->part)) return false;
    long now = __sync_add_and_fetch(&rule->seen, 1);
    if (now < rule->nth || (now > rule->nth && !rule->and_later)) return false;
    errno = rule->error;
    return true;
}

static bool fails_on_file(enum call call, int fd)
{
    char    link[64], path[512];
    int     before = errno;
    ssize_t size;

    if (!rules[call].nth) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    size = readlink(link, path, sizeof path - 1);
    errno = before;
    if (size < 0) return false;
    path[size] = '\0';
    return fails(call, path);
}

/* Declare `real`, the function that the one of the same name here stands before. */
#define REAL(name)                                                                       \
    static __typeof__(&name) real;                                                       \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

/* --- calls with a file descriptor ------------------------------------------------------- */

ssize_t read(int fd, void *data, size_t size)
{
    REAL(read);
    return fails_on_file(READ, fd) ? -1 : real(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    REAL(pread);
    return fails_on_file(READ, fd) ? -1 : real(fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
    REAL(pread64);
    return fails_on_file(READ, fd) ? -1 : real(fd, data, size, offset);
}

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(write);
    if (!fails_on_file(WRITE, fd)) return real(fd, data, size);
    int error = errno;
    if (writes_half && size > 1) (void)!real(fd, data, size / 2);
    errno = error;
    return -1;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    REAL(pwrite);
    return fails_on_file(WRITE, fd) ? -1 : real(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    REAL(pwrite64);
    return fails_on_file(WRITE, fd) ? -1 : real(fd, data, size, offset);
}

int fsync(int fd)
{
    REAL(fsync);
    return fails_on_file(FSYNC, fd) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    return fails_on_file(FDATASYNC, fd) ? -1 : real(fd);
}

int ftruncate(int fd, off_t size)
{
    REAL(ftruncate);
    return fails_on_file(FTRUNCATE, fd) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    REAL(ftruncate64);
    return fails_on_file(FTRUNCATE, fd) ? -1 : real(fd, size);
}

int close(int fd)
{
    REAL(close);
    if (!fails_on_file(CLOSE, fd)) return real(fd);
    int error = errno;
    real(fd); // Linux closes it all the same
    errno = error;
    return -1;
}

/* --- calls with a path -------------------------------------------------------------------- */

int open(const char *path, int flags, ...)
{
    REAL(open);
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails(OPEN, path) ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    REAL(open64);
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails(OPEN, path) ? -1 : real(path, flags, mode);
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    return fails(RENAME, to) ? -1 : real(from, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    REAL(renameat2);
    return fails(RENAME, to) ? -1 : real(from_fd, from, to_fd, to, flags);
}

int link(const char *from, const char *to)
{
    REAL(link);
    return fails(LINK, to) ? -1 : real(from, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    REAL(linkat);
    return fails(LINK, to) ? -1 : real(from_fd, from, to_fd, to, flags);
}

int unlink(const char *path)
{
    REAL(unlink);
    return fails(UNLINK, path) ? -1 : real(path);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir);
    return fails(MKDIR, path) ? -1 : real(path, mode);
}

/* --- memory ------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static bool is_out_of_memory(void)
{
    if (!failing_allocation || !is_ready) return false;
    long now = __sync_add_and_fetch(&allocations, 1);
    if (now < failing_allocation || (now > failing_allocation && !and_later_allocations))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) { return is_out_of_memory() ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size)
{
    return is_out_of_memory() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return is_out_of_memory() ? NULL : __libc_realloc(memory, size);
}
