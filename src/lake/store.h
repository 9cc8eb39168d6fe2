/** store.h - where a table's files are: the few calls that a table needs of a store.
 *
 * A key is a path below the store's root, "_delta_log/00000000000000000007.json": no
 * leading slash, no empty part, no "." or "..", no NUL.  A key that would leave the root
 * is refused by each call (FB_EDATA, S001).
 *
 * Every call that writes is durable when it returns FB_OK.  Two outcomes have a code of
 * their own, because a commit rests on them:
 *   FB_ECONFLICT (F005)  put_new: the key is taken; nothing was written
 *   FB_EUNKNOWN  (S010)  put_new: it may or may not be there now; read it back
 *
 * Threads: a store may be used by one thread at a time.
 */
#ifndef FB_LAKE_STORE_H
#define FB_LAKE_STORE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"

#include <stdint.h>

typedef struct fb_store fb_store;

typedef fb_code (*fb_store_visit)(void *context, const char *name, fb_error *err);

typedef struct fb_store_ops {
    /** Read all of `key` behind what `out` holds. @return FB_EMISSING (S002), or
     * FB_EMEMORY (F004) when it is larger than the room left in `out` */
    fb_code (*get)(fb_store *store, const char *key, fb_buf *out, fb_error *err);

    /** Create `key` whole or not at all, only where there is none. */
    fb_code (*put_new)(fb_store *store, const char *key, const void *data, size_t size,
                       fb_error *err);

    /** Create or replace `key`; readers see old or new. */
    fb_code (*put)(fb_store *store, const char *key, const void *data, size_t size,
                   fb_error *err);

    /** Visit the names in `folder` ("_delta_log") that sort after `start_after`, in the
     * order of their bytes. A folder that is not there has no names. */
    fb_code (*list)(fb_store *store, const char *folder, const char *start_after,
                    fb_store_visit visit, void *context, fb_error *err);

    /** @return FB_EMISSING (S002) when there is none */
    fb_code (*size)(fb_store *store, const char *key, int64_t *size_bytes,
                    int64_t *modified_ms, fb_error *err);

    fb_code (*remove)(fb_store *store, const char *key,
                      fb_error *err); ///< absent is fine

    /** The absolute path where the query engine reads or writes the bytes of `key`.
     * @param path       FB_MAX_PATH bytes
     * @param to_write   its folder is there afterwards */
    fb_code (*locate)(fb_store *store, const char *key, bool to_write, char *path,
                      fb_error *err);

    /** Make durable what the engine has written at the located path of `key`. */
    fb_code (*settle)(fb_store *store, const char *key, fb_error *err);

    /** Give a settled `from` the name `to`, replacing what was there. */
    fb_code (*move)(fb_store *store, const char *from, const char *to, fb_error *err);

    void (*close)(fb_store *store);
} fb_store_ops;

struct fb_store {
    const fb_store_ops *ops;
};

/** A folder of a local disk; it need not exist yet. @param root  as the user wrote it */
FB_MUST_CHECK fb_code fb_store_local_open(const char *root, fb_store **out,
                                          fb_error *err);

/** Is it a key as said above? */
bool fb_store_key_is_safe(const char *key);

#endif
