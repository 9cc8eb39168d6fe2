/* text.c - see text.h. */
#include "decode/text.h"

#include "base/text.h"

static fb_code begin(void *self, void **worker, fb_error *err)
{
    (void)err;
    *worker = self;
    return FB_OK;
}

static void end(void *self, void *worker)
{
    (void)self;
    (void)worker;
}

static fb_code put(const fb_record *record, fb_row *row)
{
    fb_vector *out = &row->columns[0];
    row->states[0] = record->value ? FB_CELL_VALUE : FB_CELL_MISSING;
    if (!out->vector) return FB_OK;
    if (record->value)
        fb_vector_put_text(out, row->index, record->value, record->value_size);
    else
        fb_vector_set_null(out, row->index);
    return FB_OK;
}

static fb_code refuse(fb_row *row, fb_refusals *refusals, fb_refusal_id why)
{
    refusals->is_undecodable = true;
    row->states[0] = FB_CELL_BAD;
    fb_refuse(refusals, why, NULL, NULL, 0);
    return FB_OK;
}

static bool is_too_large(const int64_t *max_bytes, const fb_record *record)
{
    return record->value && record->value_size > (uint64_t)*max_bytes;
}

static fb_code decode_raw(void *self, void *worker, const fb_record *record, fb_row *row,
                          fb_refusals *refusals, fb_error *err)
{
    (void)worker;
    (void)err;
    if (is_too_large(self, record)) return refuse(row, refusals, FB_REFUSAL_TOO_LARGE);
    return put(record, row);
}

static fb_code decode_text(void *self, void *worker, const fb_record *record, fb_row *row,
                           fb_refusals *refusals, fb_error *err)
{
    (void)worker;
    (void)err;
    if (is_too_large(self, record)) return refuse(row, refusals, FB_REFUSAL_TOO_LARGE);
    if (record->value && !fb_utf8_valid(record->value, record->value_size))
        return refuse(row, refusals, FB_REFUSAL_BAD_UTF8);
    return put(record, row);
}

void fb_text_decoder_init(fb_decoder *out, bool as_text, const int64_t *max_bytes)
{
    void *self = (void *)(uintptr_t)max_bytes; // only read
    *out = (fb_decoder){self, begin, end, as_text ? decode_text : decode_raw};
}
