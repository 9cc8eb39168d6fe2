/* secret.c - looks secrets up; holds none. */
#include "config/secret.h"

#include "base/file.h"
#include "base/log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static void warn_of_mode(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || !(info.st_mode & 077)) return;
    fb_log(FB_LOG_WARN, "secret_file_mode",
           "the secret in %s can be read by others (mode %04o): chmod 600 %s", path,
           (unsigned)info.st_mode & 07777, path);
}

static fb_code reveal_file(const char *path, char *out, size_t room, fb_error *err)
{
    fb_code  code = FB_OK;
    fb_buf   text;
    fb_error why;
    fb_buf_init(&text, room); // read in one piece: nothing is copied on the way
    code = fb_file_read_tail(path, room, &text, &why);
    warn_of_mode(path);
    size_t size = text.size;
    if (size && text.data[size - 1] == '\n') size--;
    if (size && text.data[size - 1] == '\r') size--;
    if (code == FB_EMEMORY)
        code = fb_fail_memory(err, "a secret");
    else if (code != FB_OK)
        code = fb_fail(err, C123, "%s", why.what);
    else if (text.size == room)
        code = fb_fail(err, C123, "the secret in %s is too large", path);
    else if (size == 0)
        code = fb_fail(err, C123, "the secret in %s is empty", path);
    else if (memchr(text.data, '\0', size))
        code = fb_fail(err, C123, "the secret in %s holds a NUL", path);
    if (code == FB_OK) {
        memcpy(out, text.data, size);
        out[size] = '\0';
    }
    if (text.data) explicit_bzero(text.data, text.room);
    fb_buf_clear(&text);
    return code;
}

fb_code fb_secret_reveal(const fb_secret *secret, char *out, size_t room, fb_error *err)
{
    fb_code     code = FB_OK;
    const char *value = secret->text;
    out[0] = '\0';
    if (secret->kind == FB_SECRET_NONE) return FB_OK;
    if (secret->kind == FB_SECRET_FILE) return reveal_file(value, out, room, err);
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
