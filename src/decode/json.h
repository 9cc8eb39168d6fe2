/** json.h - a JSON object becomes a row, exactly or not at all.
 *
 * The rules are those of docs/reference/types.md: a value lands as what it is, or the cell
 * is refused; nothing is rounded, cut or guessed.
 *
 * Threads: the decoder is constant; each worker has its own state.
 */
#ifndef FB_DECODE_JSON_H
#define FB_DECODE_JSON_H

#include "batch/stages.h"
#include "schema/type.h"

typedef enum fb_duplicate_keys {
    FB_DUPLICATE_REJECT,
    FB_DUPLICATE_FIRST,
    FB_DUPLICATE_LAST,
} fb_duplicate_keys;

typedef struct fb_json_options {
    fb_duplicate_keys duplicate_keys;
    int               max_depth; ///< 1..FB_MAX_DEPTH
    int64_t           max_message_bytes;
    bool              reject_missing, reject_extra;
} fb_json_options;

/** Make a decoder for `schema`, which is borrowed and must outlive it.
 * @return FB_EMEMORY; FB_ESCHEMA when two columns differ only in case */
FB_MUST_CHECK fb_code fb_json_open(const fb_schema *schema, const fb_json_options *options,
                                   fb_decoder *out, fb_error *err);
void                  fb_json_close(fb_decoder *decoder); ///< may be called twice

#endif
