/** file.h - files and directories: whole reads, whole writes, locks.
 *
 * A write here is durable when it returns FB_OK: file and directory are synced.
 * Paths are borrowed.  Errors name the path and the system's reason (FB_EIO).
 *
 * Threads: any.
 */
#ifndef FB_BASE_FILE_H
#define FB_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

/** Read all of `path` behind what `out` holds. FB_EMISSING is never used: F001 says so. */
FB_MUST_CHECK fb_code fb_file_read(const char *path, fb_buf *out, fb_error *err);

/** Read only the last `most` bytes of `path` (all of it when it is shorter). */
FB_MUST_CHECK fb_code fb_file_read_tail(const char *path, size_t most, fb_buf *out, fb_error *err);

/** Put `size` bytes at `path`, replacing what was there; readers see old or new. */
FB_MUST_CHECK fb_code fb_file_replace(const char *path, const void *data, size_t size,
                                      fb_error *err);

/** Begin a file that is written piece by piece, by stdio: the result of a command. What is
 * at `path` stays until fb_file_finish(); only what is no plain file (/dev/null, a pipe)
 * is written at once.  @param temp  FB_MAX_PATH bytes; the name until then, or "" */
FB_MUST_CHECK fb_code fb_file_begin(const char *path, char *temp, FILE **out, fb_error *err);

/** End it: with `keeps` it is synced and takes its place, else it is removed.
 * @param take  closed in any case */
FB_MUST_CHECK fb_code fb_file_finish(FILE *take, const char *temp, const char *path, bool keeps,
                                     fb_error *err);

/** Write a new file that nobody refers to yet, and sync it (not its directory).
 * `step` is hit after half of the bytes, so that a torn write can be provoked. */
FB_MUST_CHECK fb_code fb_file_write_new(const char *path, const void *data, size_t size,
                                        const char *step, fb_error *err);

/** Give the file `from` the second name `to`, whole or not at all.
 * @return FB_ECONFLICT (F005) when `to` exists already */
FB_MUST_CHECK fb_code fb_file_link(const char *from, const char *to, fb_error *err);

FB_MUST_CHECK fb_code fb_file_rename(const char *from, const char *to, fb_error *err);
FB_MUST_CHECK fb_code fb_file_sync(const char *path, fb_error *err); ///< a file or a directory
FB_MUST_CHECK fb_code fb_file_size(const char *path, int64_t *size, fb_error *err);

bool fb_file_exists(const char *path);
void fb_file_remove(const char *path); ///< a leftover; failing is no error

/** Create `path` and its parents, synced into their parents. Existing is fine. */
FB_MUST_CHECK fb_code fb_dir_make(const char *path, fb_error *err);

typedef fb_code (*fb_dir_visit)(void *context, const char *name, fb_error *err);

/** Call `visit` for every name in `path` but . and .., in no order. A missing directory
 * has no names. A code other than FB_OK ends the walk and is returned. */
FB_MUST_CHECK fb_code fb_dir_list(const char *path, fb_dir_visit visit, void *context,
                                  fb_error *err);

/** Remove `path` with the files in it (no deeper). Failing is no error. */
void fb_dir_remove(const char *path);

/** An advisory lock on a file, held until released or until the process ends. */
typedef struct fb_lock {
    int fd; ///< -1 when not held
} fb_lock;

#define FB_LOCK_NONE ((fb_lock){-1})

/** Take the lock on `path` (created when absent), waiting up to `wait_ms`; then `owner` is
 * written into it. @return FB_EBUSY (L001) with the present owner's text in `what` */
FB_MUST_CHECK fb_code fb_lock_take(fb_lock *lock, const char *path, const char *owner,
                                   int64_t wait_ms, fb_error *err);
void                  fb_lock_release(fb_lock *lock); ///< may be called twice

/** Join `folder` and `name` with one slash into `out`. */
FB_MUST_CHECK fb_code fb_path_join(char *out, size_t room, const char *folder, const char *name,
                                   fb_error *err);

#endif
