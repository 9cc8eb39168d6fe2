/** refusal.h - a record set aside, and every reason for it.
 *
 * Threads: one fb_refusals per worker.
 */
#ifndef FB_BATCH_REFUSAL_H
#define FB_BATCH_REFUSAL_H

#include "base/arena.h"
#include "base/error.h"
#include "batch/record.h"

typedef enum fb_refusal_id {
#define FB_REFUSAL(id, word, reason, message) FB_REFUSAL_##id,
#include "batch/refusals.def"
#undef FB_REFUSAL
    FB_REFUSAL_COUNT
} fb_refusal_id;

const char *fb_refusal_word(fb_refusal_id id);
fb_reason   fb_refusal_reason(fb_refusal_id id);
const char *fb_refusal_message(fb_refusal_id id);
/** @return the id called `word`; FB_REFUSAL_COUNT when there is none */
fb_refusal_id fb_refusal_find(const char *word);

enum {
    FB_MAX_REFUSALS = 64,         ///< kept of one record, the first ones
    FB_MAX_REFUSAL_RAW = 64 << 10 ///< bytes of an offending value that are kept
};

typedef struct fb_refusal {
    fb_refusal_id id;
    const char   *column; ///< the column's name, NULL when the whole record is meant
    const char   *path;   ///< JSON path of the value: $.amount or $["unit price"]; NULL: whole
    const char   *raw;    ///< the offending value as it came, NULL when there is none
    size_t        raw_size;
} fb_refusal;

/** What is wrong with the record under work. Texts live in the arena until the reset. */
typedef struct fb_refusals {
    fb_refusal list[FB_MAX_REFUSALS];
    size_t     count;
    bool       is_undecodable; ///< no row could be made at all
    fb_arena   arena;
} fb_refusals;

void fb_refusals_init(fb_refusals *refusals);
void fb_refusals_reset(fb_refusals *refusals); ///< ready for the next record
void fb_refusals_clear(fb_refusals *refusals); ///< may be called twice

/** Note a fault. `column` is borrowed for as long as the schema lives; `raw` is copied, cut
 * at FB_MAX_REFUSAL_RAW.  When memory runs out the fault is noted without its raw value. */
void fb_refuse(fb_refusals *refusals, fb_refusal_id id, const char *column, const char *raw,
               size_t raw_size);

/** Where refused records go, behind an interface because the keeper of them lies above. */
typedef struct fb_refuser {
    void *self;
    /** Keep `record` with its faults. Called by any worker; the keeper locks. */
    fb_code (*keep)(void *self, const fb_record *record, const fb_refusals *refusals,
                    fb_error *err);
} fb_refuser;

#endif
