/* store_local.c - a store on a local disk; see store.h.
 *
 * A file that must be new is written under a temporary name in its folder, synced, given
 * its name with link(), which refuses a name that is taken, and the folder is synced. So:
 *   1. A reader sees it whole or not at all.
 *   2. Of two writers one wins, in other processes and on NFS too.
 *   3. Before the link nothing has happened; after it, a failure leaves the outcome
 *      unknown: the name is there, and may be gone after a power cut.
 * Where the file system has no hard links, renameat2(RENAME_NOREPLACE) does the same.
 */
#include "lake/store.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/step.h"
#include "base/uuid.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_BYTES = 512 << 20 };

typedef struct local_store {
    fb_store base;
    char     root[FB_MAX_PATH];
} local_store;

bool fb_store_key_is_safe(const char *key)
{
    const char *part = key;
    for (;;) {
        size_t size = strcspn(part, "/");
        if (size == 0) return false;
        if (strncmp(part, "..", size) == 0 && size <= 2) return false;
        if (part[size] == '\0') return true;
        part += size + 1;
    }
}

static fb_code resolve(const fb_store *store, const char *key, char *path, fb_error *err)
{
    if (!fb_store_key_is_safe(key))
        return fb_fail(err, S001, "the path \"%s\" would leave the table's folder", key);
    return fb_path_join(path, FB_MAX_PATH, ((const local_store *)store)->root, key, err);
}

/* The folder of `path` in `folder`, created when it is not there. */
static fb_code make_folder(const char *path, char *folder, fb_error *err)
{
    char copy[FB_MAX_PATH];
    memcpy(copy, path, strlen(path) + 1);
    const char *parent = dirname(copy);
    memcpy(folder, parent, strlen(parent) + 1);
    return fb_file_exists(folder) ? FB_OK : fb_dir_make(folder, err);
}

static fb_code local_size(fb_store *store, const char *key, int64_t *size_bytes,
                          int64_t *modified_ms, fb_error *err)
{
    fb_code     code = FB_OK;
    char        path[FB_MAX_PATH];
    struct stat info;
    FB_TRY(resolve(store, key, path, err));
    if (stat(path, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return fb_fail(err, S002, "there is no file %s", path);
        return fb_fail(err, F001, "cannot read %s: %s", path, strerror(errno));
    }
    *size_bytes = info.st_size;
    *modified_ms = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
out:
    return code;
}

static fb_code local_get(fb_store *store, const char *key, fb_buf *out, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    int64_t size, modified_ms;
    FB_TRY(local_size(store, key, &size, &modified_ms, err));
    FB_TRY(resolve(store, key, path, err));
    if ((uint64_t)size > out->max - out->size)
        return fb_fail(err, F004, "%s has %lld bytes, more than the %zu that are read",
                       path, (long long)size, out->max - out->size);
    FB_TRY(fb_file_read(path, out, err));
out:
    return code;
}

static fb_code add_temp_name(const char *folder, char *temp, fb_error *err)
{
    char    name[64];
    fb_uuid id = fb_uuid_v4();
    snprintf(name, sizeof name, ".forebay-%s.tmp", id.text);
    return fb_path_join(temp, FB_MAX_PATH, folder, name, err);
}

/* Did link() work although it said it did not? An answer lost by NFS looks like that, and
 * the second name shows in the first one's link count. */
static bool was_linked(const char *temp)
{
    struct stat info;
    return stat(temp, &info) == 0 && info.st_nlink == 2;
}

/* Give `temp` the name `path` where nothing has it. The two steps stand for file systems
 * that lack the one call or both. */
static fb_code take_name(const char *temp, const char *path, fb_error *err)
{
    int reason = FB_STEP("store.put_new.link") != FB_FAULT_NONE ? EPERM
                 : link(temp, path) == 0                        ? 0
                                                                : errno;
    if (reason == 0 || was_linked(temp)) return FB_OK;
    if (reason == EPERM || reason == EOPNOTSUPP || reason == ENOSYS || reason == EMLINK) {
        reason = FB_STEP("store.put_new.rename") != FB_FAULT_NONE ? EINVAL
                 : renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) == 0
                     ? 0
                     : errno;
        if (reason == 0) return FB_OK;
        if (reason == EINVAL || reason == ENOSYS)
            return fb_fail(err, S003,
                           "the file system of %s has neither hard links nor a rename "
                           "that refuses a name that is taken",
                           path);
    }
    if (reason == EEXIST) return fb_fail(err, F005, "%s exists already", path);
    return fb_fail(err, F002, "cannot write %s: %s", path, strerror(reason));
}

static fb_code fail_unknown(const char *path, fb_error *err)
{
    fb_error cause = *err;
    return fb_fail(err, S010, "%s was created, but its folder could not be synced: %s",
                   path, cause.what);
}

static fb_code local_put_new(fb_store *store, const char *key, const void *data,
                             size_t size, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH], folder[FB_MAX_PATH], temp[FB_MAX_PATH] = "";
    FB_TRY(resolve(store, key, path, err));
    FB_TRY(make_folder(path, folder, err));
    FB_TRY(add_temp_name(folder, temp, err));
    FB_TRY(fb_file_write_new(temp, data, size, "store.put_new.temp", err));
    FB_TRY(fb_step_try("store.put_new.synced", err));
    FB_TRY(take_name(temp, path, err));
    code = fb_step_try("store.put_new.linked", err);
    fb_file_remove(temp);
    if (code == FB_OK) code = fb_file_sync(folder, err);
    if (code == FB_OK) code = fb_step_try("store.put_new.dir_synced", err);
    return code == FB_OK ? FB_OK : fail_unknown(path, err);
out:
    if (temp[0]) fb_file_remove(temp);
    return code;
}

static fb_code rename_synced(const char *from, const char *to, const char *step,
                             fb_error *err)
{
    fb_code code = FB_OK;
    char    folder[FB_MAX_PATH];
    FB_TRY(make_folder(to, folder, err));
    FB_TRY(fb_file_rename(from, to, err));
    FB_TRY(fb_step_try(step, err));
    FB_TRY(fb_file_sync(folder, err));
out:
    return code;
}

static fb_code local_put(fb_store *store, const char *key, const void *data, size_t size,
                         fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH], folder[FB_MAX_PATH], temp[FB_MAX_PATH] = "";
    FB_TRY(resolve(store, key, path, err));
    FB_TRY(make_folder(path, folder, err));
    FB_TRY(add_temp_name(folder, temp, err));
    FB_TRY(fb_file_write_new(temp, data, size, "store.put.temp", err));
    FB_TRY(rename_synced(temp, path, "store.put.renamed", err));
    temp[0] = '\0';
out:
    if (temp[0]) fb_file_remove(temp);
    return code;
}

typedef struct names {
    fb_arena    arena;
    const char *start_after;
    char      **items;
    size_t      count, room;
} names;

static fb_code keep_name(void *context, const char *name, fb_error *err)
{
    names *all = context;
    if (strcmp(name, all->start_after) <= 0) return FB_OK;
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 64;
        char **items = fb_realloc(all->items, room * sizeof *items);
        if (!items) return fb_fail_memory(err, "the names in a folder");
        all->items = items;
        all->room = room;
    }
    char *copy = fb_arena_strndup(&all->arena, name, strlen(name));
    if (!copy) return fb_fail_memory(err, "the names in a folder");
    all->items[all->count++] = copy;
    return FB_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static fb_code local_list(fb_store *store, const char *folder, const char *start_after,
                          fb_store_visit visit, void *context, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    names   all = {.start_after = start_after};
    fb_arena_init(&all.arena, LIST_BYTES);
    FB_TRY(resolve(store, folder, path, err));
    FB_TRY(fb_dir_list(path, keep_name, &all, err));
    if (all.count) qsort(all.items, all.count, sizeof *all.items, compare_names);
    for (size_t i = 0; i < all.count; i++) FB_TRY(visit(context, all.items[i], err));
out:
    fb_free(all.items);
    fb_arena_clear(&all.arena);
    return code;
}

static fb_code local_remove(fb_store *store, const char *key, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    FB_TRY(resolve(store, key, path, err));
    if (unlink(path) != 0 && errno != ENOENT)
        return fb_fail(err, F002, "cannot remove %s: %s", path, strerror(errno));
out:
    return code;
}

static fb_code local_locate(fb_store *store, const char *key, bool to_write, char *path,
                            fb_error *err)
{
    fb_code code = FB_OK;
    char    folder[FB_MAX_PATH];
    FB_TRY(resolve(store, key, path, err));
    if (to_write) FB_TRY(make_folder(path, folder, err));
out:
    return code;
}

static fb_code local_settle(fb_store *store, const char *key, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH], folder[FB_MAX_PATH];
    FB_TRY(resolve(store, key, path, err));
    FB_TRY(make_folder(path, folder, err));
    FB_TRY(fb_step_try("store.settle.written", err));
    FB_TRY(fb_file_sync(path, err));
    FB_TRY(fb_file_sync(folder, err));
    FB_TRY(fb_step_try("store.settle.synced", err));
out:
    return code;
}

static fb_code local_move(fb_store *store, const char *from, const char *to,
                          fb_error *err)
{
    fb_code code = FB_OK;
    char    from_path[FB_MAX_PATH], to_path[FB_MAX_PATH];
    FB_TRY(resolve(store, from, from_path, err));
    FB_TRY(resolve(store, to, to_path, err));
    FB_TRY(rename_synced(from_path, to_path, "store.move.renamed", err));
out:
    return code;
}

static void local_close(fb_store *store) { fb_free(store); }

static const fb_store_ops local_ops = {
    .get = local_get,
    .put_new = local_put_new,
    .put = local_put,
    .list = local_list,
    .size = local_size,
    .remove = local_remove,
    .locate = local_locate,
    .settle = local_settle,
    .move = local_move,
    .close = local_close,
};

fb_code fb_store_local_open(const char *root, fb_store **out, fb_error *err)
{
    fb_code      code = FB_OK;
    char         here[FB_MAX_PATH] = "/";
    local_store *store = fb_alloc(sizeof *store);
    if (!store) return fb_fail_memory(err, "a store");
    store->base.ops = &local_ops;
    if (root[0] != '/' && !getcwd(here, sizeof here))
        FB_TRY(fb_fail(err, F001, "cannot tell the current folder: %s", strerror(errno)));
    if (root[0] == '/')
        FB_TRY(fb_path_join(store->root, sizeof store->root, "", root + 1, err));
    else
        FB_TRY(fb_path_join(store->root, sizeof store->root, here, root, err));
    for (size_t size = strlen(store->root); size > 1 && store->root[size - 1] == '/';
         size--)
        store->root[size - 1] = '\0';
    *out = &store->base;
    store = NULL;
out:
    fb_free(store);
    return code;
}
