/** delta_log.h - the files of a Delta log: their names, their lines, a listing.
 *
 * Names after PROTOCOL.md, "File Types"; a version is 20 digits. What has another name
 * (leftovers, checksums, staged commits, compactions, which are optional) is not seen.
 *
 * Threads: one at a time.
 */
#ifndef FB_LAKE_DELTA_LOG_H
#define FB_LAKE_DELTA_LOG_H

#include "lake/store.h"

#include <yyjson.h>

#define FB_LOG_FOLDER "_delta_log"

enum { FB_LOG_KEY = 160 };

typedef struct fb_checkpoint_name {
    int64_t version;
    int     part, parts; ///< 0 of 0 for a checkpoint in one file
    bool    is_json;     ///< a V2 checkpoint whose own rows are JSON lines
    char    key[FB_LOG_KEY];
} fb_checkpoint_name;

typedef struct fb_log_listing {
    int64_t            *commits; ///< versions, ascending
    size_t              commits_count, commits_room;
    fb_checkpoint_name *checkpoints; ///< ascending by version
    size_t              checkpoints_count, checkpoints_room;
} fb_log_listing;

void fb_log_listing_init(fb_log_listing *listing);
void fb_log_listing_clear(fb_log_listing *listing); ///< may be called twice

/** List what there is at version `from` and above. */
FB_MUST_CHECK fb_code fb_log_list(fb_store *store, int64_t from, fb_log_listing *listing,
                                  fb_error *err);

/** Choose the newest checkpoint at or below `at_most` of which every part is there.
 * @return its first file; NULL when there is none */
const fb_checkpoint_name *fb_log_pick_checkpoint(const fb_log_listing *listing,
                                                 int64_t               at_most);

/** Is `one` a file of the checkpoint whose first file is `head`? */
bool fb_log_same_checkpoint(const fb_checkpoint_name *head,
                            const fb_checkpoint_name *one);

/** Write the key of a version's commit. @param out  FB_LOG_KEY bytes @return `out` */
const char *fb_log_commit_key(int64_t version, char *out);

/** What to do with one action: its name ("add") and its body, borrowed for the call. */
typedef fb_code (*fb_action_visit)(void *context, const char *action, yyjson_val *body,
                                   fb_error *err);

/** Walk the actions of `size` bytes of JSON lines, one document at a time. Blank lines
 * and CRLF are fine, actions that are null are passed over.
 * @param key  for messages
 * @return FB_EDATA (P006) for a line that is no JSON object, FB_EMEMORY */
FB_MUST_CHECK fb_code fb_log_walk(const char *data, size_t size, const char *key,
                                  fb_action_visit visit, void *context, fb_error *err);

/** Members of an action's body. What is absent, null or of another type is NULL or the
 * fallback; so is a text with a NUL in it. */
const char *fb_json_text(yyjson_val *body, const char *key);
int64_t     fb_json_int(yyjson_val *body, const char *key, int64_t fallback);

#endif
