/** state_file.h - what offsets/ keeps on local disk; nobody else includes it.
 *
 * Two files: the document of store `file`, and landed.json in the pipeline's state folder,
 * which remembers that rows were landed so that a lost position is not taken for a first
 * start.  Both are replaced whole and synced.
 */
#ifndef FB_OFFSETS_STATE_FILE_H
#define FB_OFFSETS_STATE_FILE_H

#include "offsets/positions.h"

/** Let the document's offsets stand for `next` of `positions`, where the table's txns are
 * what they were when it was written; else the table's (state_file.c has the rule). */
FB_MUST_CHECK fb_code fb_state_load(const fb_positions_place *place, fb_positions *positions,
                                    fb_error *err);

/** Write the document.  `is_intent`: the offsets stay and `moves` stand beside them as what
 * the coming commit will make true; otherwise `moves` become the offsets. */
FB_MUST_CHECK fb_code fb_state_write(const fb_positions_place *place, const fb_positions *loaded,
                                     const fb_books *moves, bool is_intent,
                                     fb_error *err);

FB_MUST_CHECK fb_code fb_state_note_landed(const fb_positions_place *place,
                                           const fb_positions *loaded, const fb_books *moves, const char *table_id, fb_error *err);

/** Fill `lost` of each position. @return FB_EGAP (O004) when landed.json knows a position in the table called `table_id`
 * that the table does not have any more */
FB_MUST_CHECK fb_code fb_state_check_landed(const fb_positions_place *place,
                                            fb_positions *loaded, const char *table_id,
                                            fb_error *err);

#endif
