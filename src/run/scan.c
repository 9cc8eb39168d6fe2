/* scan.c - the inner loop of a run; see scan.h.
 *
 * Per record: decode, judge, then either the row counts and gets its metadata, or the
 * record goes to the keeper and the next record takes the same row.
 */
#include "run/scan.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"
#include "schema/logical.h"
#include "source/kafka_options.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct counts {
    int64_t written, rejected, filtered;
} counts;

struct fb_window_scan {
    fb_window_scan_options options;
    fb_scan                scan;
    pthread_mutex_t        lock;   ///< of `totals`
    counts                *totals; ///< by partition
    atomic_int_least64_t   warned;
    atomic_bool            has_negative_zero;
};

typedef struct worker {
    fb_window_scan *scan;
    void           *decoder;
    fb_vector      *vectors;   ///< one per column of the schema
    idx_t          *projected; ///< vector i of a chunk is column projected[i]
    idx_t           projected_count;
    unsigned char  *states;
    counts         *counted; ///< by partition
    fb_refusals     refusals;
    fb_slice        slice;
} worker;

static void end(void *context, void *memory)
{
    fb_window_scan *s = context;
    worker         *w = memory;
    /* Out of memory, the engine throws past fill(), which then has given nothing back. */
    if (w->slice.count > 0) s->options.source.release(s->options.source.self, &w->slice);
    pthread_mutex_lock(&s->lock);
    for (int32_t p = 0; w->counted && p < s->options.partitions_max; p++) {
        s->totals[p].written += w->counted[p].written;
        s->totals[p].rejected += w->counted[p].rejected;
        s->totals[p].filtered += w->counted[p].filtered;
    }
    pthread_mutex_unlock(&s->lock);
    if (w->decoder || !s->options.decoder.self)
        s->options.decoder.end(s->options.decoder.self, w->decoder);
    fb_refusals_clear(&w->refusals);
    fb_free(w->vectors);
    fb_free(w->projected);
    fb_free(w->states);
    fb_free(w->counted);
    fb_free(w);
}

static fb_code begin(void *context, fb_scan_projection projection, void **out, fb_error *err)
{
    fb_window_scan *s = context;
    size_t          columns = s->options.schema->count;
    worker         *w = fb_alloc(sizeof *w);
    if (!w) return fb_fail_memory(err, "a worker");
    *out = w; // released by end(), also when this fails
    w->scan = s;
    fb_refusals_init(&w->refusals);
    w->vectors = fb_alloc(columns * sizeof *w->vectors);
    w->projected = fb_alloc((size_t)projection.count * sizeof *w->projected);
    w->states = fb_alloc(columns);
    w->counted = fb_alloc((size_t)s->options.partitions_max * sizeof *w->counted);
    if (!w->vectors || !w->projected || !w->states || !w->counted)
        return fb_fail_memory(err, "a worker");
    memcpy(w->projected, projection.list, (size_t)projection.count * sizeof *w->projected);
    w->projected_count = projection.count;
    return s->options.decoder.begin(s->options.decoder.self, &w->decoder, err);
}

/* NOT NULL, and what the policies say of tombstones. */
static void judge(const fb_window_scan *s, const fb_record *record, const unsigned char *states,
                  fb_refusals *refusals)
{
    const fb_schema *schema = s->options.decoded;
    if (!record->value && s->options.rejects_tombstones) {
        refusals->is_undecodable = true; // not kept as a row, whatever the severity
        fb_refuse(refusals, FB_REFUSAL_TOMBSTONE, NULL, NULL, 0);
    }
    if (refusals->is_undecodable) return;
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->columns[i].nullable || states[i] > FB_CELL_NULL) continue;
        fb_refuse(refusals, record->value ? FB_REFUSAL_NOT_NULL : FB_REFUSAL_TOMBSTONE,
                  schema->columns[i].name, NULL, 0);
    }
}

static void put_bytes(fb_vector *v, idx_t row, const char *bytes, size_t size)
{
    if (bytes)
        fb_vector_put_text(v, row, bytes, size);
    else
        fb_vector_set_null(v, row);
}

/* A header's name is any bytes; what is not UTF-8 in it becomes U+FFFD. */
static void put_name(fb_vector *v, idx_t row, const char *name)
{
    size_t size = strlen(name);
    fb_buf mended;
    if (fb_utf8_valid(name, size)) {
        fb_vector_put_text(v, row, name, size);
        return;
    }
    fb_buf_init(&mended, 3 * size);
    for (size_t i = 0, length; i < size; i += length ? length : 1) {
        length = fb_utf8_length(name + i, size - i);
        if (length > 0)
            fb_buf_add(&mended, name + i, length);
        else
            fb_buf_add_text(&mended, "\xef\xbf\xbd");
    }
    fb_vector_put_text(v, row, fb_buf_text(&mended), mended.size);
    fb_buf_clear(&mended);
}

/* A child of the list's struct, as it is now: it moves when it grows. */
static fb_vector header_field(duckdb_vector child, idx_t index)
{
    duckdb_vector field = duckdb_struct_vector_get_child(child, index);
    return (fb_vector){.vector = field, .validity = duckdb_vector_get_validity(field)};
}

/* list<struct<key string, value binary>>, in the record's order, repeats included. */
static void put_headers(const fb_source *source, fb_vector *v, idx_t row, const fb_record *record)
{
    idx_t             first = duckdb_list_vector_get_size(v->vector), n = 0;
    fb_header         h;
    duckdb_list_entry entry;
    while (source->header(source->self, record, (size_t)n, &h))
        n++;
    duckdb_list_vector_reserve(v->vector, first + n);
    duckdb_list_vector_set_size(v->vector, first + n);
    duckdb_vector child = duckdb_list_vector_get_child(v->vector);
    fb_vector     key = header_field(child, 0), value = header_field(child, 1);
    for (idx_t i = 0; i < n && source->header(source->self, record, (size_t)i, &h); i++) {
        put_name(&key, first + i, h.name);
        put_bytes(&value, first + i, h.value, h.size);
    }
    entry.offset = first;
    entry.length = n;
    FB_VECTOR_PUT(v, duckdb_list_entry, row, entry);
}

static void put_metadata(const fb_window_scan *s, fb_vector *v, unsigned bit, idx_t row,
                         const fb_record *r)
{
    static const char *const types[] = {"none", "create", "append"};
    switch (bit) {
    case FB_META_TOPIC:
        fb_vector_put_text(v, row, s->options.topic, strlen(s->options.topic));
        break;
    case FB_META_PARTITION: FB_VECTOR_PUT(v, int32_t, row, r->partition); break;
    case FB_META_OFFSET: FB_VECTOR_PUT(v, int64_t, row, r->offset); break;
    case FB_META_TIMESTAMP:
        if (r->timestamp_type == FB_TIMESTAMP_NONE)
            fb_vector_set_null(v, row);
        else
            FB_VECTOR_PUT(v, int64_t, row, r->timestamp_ms);
        break;
    case FB_META_TIMESTAMP_TYPE:
        fb_vector_put_text(v, row, types[r->timestamp_type], strlen(types[r->timestamp_type]));
        break;
    case FB_META_KEY: put_bytes(v, row, r->key, r->key_size); break;
    case FB_SCAN_VALUE: put_bytes(v, row, r->value, r->value_size); break;
    default: put_headers(&s->options.source, v, row, r); break;
    }
}

/* A faulty row that is kept all the same: its faulty cells are null. */
static void null_faulty_cells(worker *w, idx_t row)
{
    for (size_t i = 0; i < w->scan->options.decoded->count; i++)
        if (w->states[i] == FB_CELL_BAD && w->vectors[i].vector)
            fb_vector_set_null(&w->vectors[i], row);
}

static fb_code add_record(worker *w, const fb_record *record, idx_t *row, fb_error *err)
{
    fb_window_scan               *s = w->scan;
    const fb_window_scan_options *o = &s->options;
    counts                       *counted = &w->counted[record->partition];
    fb_row                        place = {w->vectors, w->states, *row};
    fb_code                       code = FB_OK;

    if (!record->value && o->skips_tombstones) {
        counted->filtered++;
        return FB_OK;
    }
    fb_refusals_reset(&w->refusals);
    FB_TRY(o->decoder.decode(o->decoder.self, w->decoder, record, &place, &w->refusals, err));
    judge(s, record, w->states, &w->refusals);
    if (w->refusals.count > 0) {
        FB_TRY(o->refuser.keep(o->refuser.self, record, &w->refusals, err));
        if (!o->keeps_faulty_rows || w->refusals.is_undecodable) {
            counted->rejected++;
            return FB_OK;
        }
        atomic_fetch_add(&s->warned, 1);
        null_faulty_cells(w, *row);
    }
    for (size_t i = o->decoded->count; i < o->schema->count; i++)
        if (w->vectors[i].vector)
            put_metadata(s, &w->vectors[i], o->metadata[i - o->decoded->count], *row, record);
    counted->written++;
    ++*row;
out:
    return code;
}

/* What is under a null may be anything, which at worst costs a second reading. */
static bool has_negative_zero(const fb_vector *v, fb_kind kind, idx_t rows)
{
    bool found = false;
    if (!v->vector) return false;
    for (idx_t i = 0; i < rows && kind == FB_KIND_FLOAT64; i++)
        found |= ((const uint64_t *)v->data)[i] == UINT64_C(1) << 63;
    for (idx_t i = 0; i < rows && kind == FB_KIND_FLOAT32; i++)
        found |= ((const uint32_t *)v->data)[i] == UINT32_C(1) << 31;
    return found;
}

static void look_for_negative_zero(worker *w, idx_t rows)
{
    const fb_schema *decoded = w->scan->options.decoded;
    for (size_t i = 0; i < decoded->count; i++)
        if (has_negative_zero(&w->vectors[i], decoded->columns[i].type.kind, rows))
            atomic_store(&w->scan->has_negative_zero, true);
}

static void attach(worker *w, duckdb_data_chunk chunk)
{
    for (idx_t i = 0; i < w->projected_count; i++)
        if (w->projected[i] < w->scan->options.schema->count)
            fb_vector_attach(&w->vectors[w->projected[i]], chunk, i);
}

static fb_code fill(void *context, void *memory, duckdb_data_chunk chunk, idx_t *rows, fb_error *err)
{
    fb_window_scan *s = context;
    worker         *w = memory;
    fb_code         code = FB_OK;
    fb_source      *source = &s->options.source;

    attach(w, chunk);
    *rows = 0;
    for (;;) {
        code = source->take(source->self, &w->slice, err);
        if (code != FB_OK || w->slice.count == 0) return code;
        for (size_t i = 0; code == FB_OK && i < w->slice.count; i++)
            code = add_record(w, &w->slice.records[i], rows, err);
        source->release(source->self, &w->slice);
        if (code == FB_OK) look_for_negative_zero(w, *rows);
        if (code != FB_OK || *rows > 0) return code;
        duckdb_data_chunk_reset(chunk); // it still holds the texts of all that was refused
        attach(w, chunk);
    }
}

fb_code fb_window_scan_open(const fb_window_scan_options *options, fb_engine *engine,
                            fb_window_scan **out, fb_error *err)
{
    fb_code         code = FB_OK;
    size_t          count = options->schema->count;
    fb_window_scan *s = fb_alloc(sizeof *s);
    fb_scan_column *columns = fb_alloc(count * sizeof *columns);
    if (s) pthread_mutex_init(&s->lock, NULL);
    if (s) s->totals = fb_alloc((size_t)options->partitions_max * sizeof *s->totals);
    if (!s || !columns || !s->totals) FB_TRY(fb_fail_memory(err, "a scan"));
    s->options = *options;
    s->scan = (fb_scan){FB_SCAN_NAME, s, options->workers, begin, fill, end};
    for (size_t i = 0; i < count; i++)
        columns[i] = (fb_scan_column){options->schema->columns[i].name,
                                      fb_type_logical(&options->schema->columns[i].type)};
    FB_TRY(fb_engine_add_scan(engine, &s->scan, columns, count, err));
    *out = s;
    s = NULL;
out:
    fb_free(columns);
    fb_window_scan_free(s);
    return code;
}

void fb_window_scan_count(const fb_window_scan *scan, fb_books *books)
{
    for (size_t i = 0; i < books->count; i++) {
        const counts *c = &scan->totals[books->list[i].partition];
        books->list[i].written += c->written;
        books->list[i].rejected += c->rejected;
        books->list[i].filtered += c->filtered;
    }
}

bool fb_window_scan_has_negative_zero(const fb_window_scan *scan)
{
    return atomic_load(&scan->has_negative_zero);
}

int64_t fb_window_scan_warned(const fb_window_scan *scan) { return atomic_load(&scan->warned); }

void fb_window_scan_free(fb_window_scan *scan)
{
    if (!scan) return;
    pthread_mutex_destroy(&scan->lock);
    fb_free(scan->totals);
    fb_free(scan);
}
