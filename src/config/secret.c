/* secret.c - looks secrets up; holds none. */
#include "config/secret.h"

#include "base/log.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_variable(const char *text, size_t size)
{
    if (size == 0 || isdigit((unsigned char)text[0])) return false;
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_') return false;
    return true;
}

fb_code fb_secret_parse(const char *text, fb_arena *arena, fb_secret *out, fb_error *err)
{
    size_t size = strlen(text);
    *out = (fb_secret){FB_SECRET_NONE, NULL};
    if (strncmp(text, "env://", 6) == 0) {
        if (is_variable(text + 6, size - 6)) *out = (fb_secret){FB_SECRET_ENV, text + 6};
    } else if (strncmp(text, "file://", 7) == 0) {
        if (text[7] == '/' && text[8]) *out = (fb_secret){FB_SECRET_FILE, text + 7};
    } else if (size > 3 && strncmp(text, "${", 2) == 0 && text[size - 1] == '}' &&
               is_variable(text + 2, size - 3)) {
        *out = (fb_secret){FB_SECRET_ENV, fb_arena_strndup(arena, text + 2, size - 3)};
        if (!out->text) return fb_fail_memory(err, "the configuration");
    } else {
        *out = (fb_secret){FB_SECRET_LITERAL, text};
    }
    return FB_OK;
}

static fb_code fail_file(const char *path, const char *why, fb_error *err)
{
    return fb_fail(err, C123, "the secret in %s cannot be used: %s", path, why);
}

/* Read all of `fd` into `out`. @return what is wrong, NULL when nothing is */
static const char *read_all(int fd, char *out, size_t room, size_t *size)
{
    ssize_t n = 1;
    *size = 0;
    while (n > 0 && *size < room) {
        n = read(fd, out + *size, room - *size);
        if (n < 0 && errno == EINTR) n = 1;
        else if (n < 0) return strerror(errno);
        else *size += (size_t)n;
    }
    return *size == room ? "it is too large" : NULL;
}

static fb_code reveal_file(const char *path, char *out, size_t room, fb_error *err)
{
    struct stat info;
    size_t      size = 0;
    int         fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const char *why = fd < 0 ? strerror(errno) : read_all(fd, out, room, &size);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 077))
        fb_log(FB_LOG_WARN, "secret_file_mode",
               "the secret in %s can be read by others (mode %04o): chmod 600 %s", path,
               (unsigned)info.st_mode & 07777, path);
    if (fd >= 0) close(fd);
    if (why) return fail_file(path, why, err);
    if (size && out[size - 1] == '\n') size--;
    if (size && out[size - 1] == '\r') size--;
    if (size == 0) return fail_file(path, "it is empty", err);
    if (memchr(out, '\0', size)) return fail_file(path, "it holds a NUL", err);
    out[size] = '\0';
    return FB_OK;
}

fb_code fb_secret_reveal(const fb_secret *secret, char *out, size_t room, fb_error *err)
{
    fb_code     code = FB_OK;
    const char *value = secret->text;
    out[0] = '\0';
    if (secret->kind == FB_SECRET_NONE) return FB_OK;
    if (secret->kind == FB_SECRET_FILE) {
        code = reveal_file(secret->text, out, room, err);
        if (code != FB_OK) fb_secret_wipe(out, room);
        return code;
    }
    if (secret->kind == FB_SECRET_ENV) {
        value = getenv(secret->text);
        if (!value || !*value) {
            code = fb_fail(err, C120, "environment variable %s is %s", secret->text,
                           value ? "empty" : "not set");
            fb_error_hint(err, "Set it to the secret, or name another place for it.");
            return code;
        }
    }
    size_t size = strlen(value);
    if (size >= room)
        return fb_fail(err, C123, "a secret is longer than %zu bytes", room - 1);
    memcpy(out, value, size + 1);
    return FB_OK;
}

void fb_secret_wipe(char *out, size_t room) { explicit_bzero(out, room); }
