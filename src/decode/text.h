/** text.h - the whole value becomes one column: as bytes (raw) or as UTF-8 text.
 *
 * Threads: the decoder is constant; workers have no state.
 */
#ifndef FB_DECODE_TEXT_H
#define FB_DECODE_TEXT_H

#include "batch/stages.h"

/** Make a decoder for a schema of one column, binary when `as_text` is false, string when
 * it is true.  A value that is not UTF-8 is refused as text and kept as raw; one of more
 * than `max_bytes` is refused either way.  @param max_bytes  borrowed, outlives it */
void fb_text_decoder_init(fb_decoder *out, bool as_text, const int64_t *max_bytes);

#endif
