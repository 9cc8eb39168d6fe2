/* json.c - a message is parsed once and its members are walked straight into the columns.
 *
 * The way of a value:
 *   read    yyjson makes a document in the worker's own memory, numbers kept as text
 *   look    depth and keys that stand twice, at every level (skipped where neither can be)
 *   walk    each key finds its column (mostly by the order of the last message), each
 *           value is written by cell.c
 *   null    columns the message lacks are set to null
 * A message that fails gets its reason from diagnose(), which looks at the bytes again;
 * only bad messages pay for that.
 */
#include "decode/json.h"

#include "base/alloc.h"
#include "base/text.h"
#include "decode/cell.h"
#include "decode/keys.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ORDER = 256, FIRST_POOL = 64 * 1024 };

typedef struct decoder {
    const fb_schema *schema;
    fb_json_options  options;
    fb_keys         *keys;
} decoder;

/* Which column the nth key of the last message was; most producers keep their order. */
typedef struct ordered_key {
    const char *name; ///< the column's, NULL when the key was none
    size_t      size;
    int         column;
} ordered_key;

typedef struct worker {
    ordered_key    order[MAX_ORDER];
    unsigned char *exact; ///< per column: the key that set it had the column's own case
    void          *pool;
    size_t         pool_size;
    fb_key_set     seen;
} worker;

static fb_code begin(void *self, void **out, fb_error *err)
{
    decoder *d = self;
    worker  *w = fb_alloc(sizeof *w);
    if (w) w->exact = fb_alloc(d->schema->count);
    if (w) w->pool = fb_alloc(FIRST_POOL);
    if (!w || !w->exact || !w->pool) {
        if (w) fb_free(w->exact);
        if (w) fb_free(w->pool);
        fb_free(w);
        return fb_fail_memory(err, "a JSON decoder");
    }
    w->pool_size = FIRST_POOL;
    *out = w;
    return FB_OK;
}

static void end(void *self, void *memory)
{
    worker *w = memory;
    (void)self;
    fb_key_set_clear(&w->seen);
    fb_free(w->exact);
    fb_free(w->pool);
    fb_free(w);
}

/* Half of a surrogate pair in an escape: \ud800 to \udfff without its partner. */
static bool has_lone_surrogate(const char *text, size_t size)
{
    for (size_t i = 0; i + 5 < size; i++) {
        if (text[i] != '\\') continue;
        if (text[i + 1] != 'u') {
            i++;
            continue;
        }
        char          hex[5] = {text[i + 2], text[i + 3], text[i + 4], text[i + 5], 0};
        unsigned long unit = strtoul(hex, NULL, 16);
        if (unit >= 0xdc00 && unit <= 0xdfff) return true;
        if (unit < 0xd800 || unit > 0xdbff) continue;
        if (i + 11 >= size || text[i + 6] != '\\' || text[i + 7] != 'u') return true;
        char low[5] = {text[i + 8], text[i + 9], text[i + 10], text[i + 11], 0};
        unit = strtoul(low, NULL, 16);
        if (unit < 0xdc00 || unit > 0xdfff) return true;
        i += 11;
    }
    return false;
}

/* Say why bytes that yyjson refused are no JSON. */
static void diagnose(const char *text, size_t size, yyjson_read_code why, fb_refusals *refusals)
{
    fb_refusal_id id = FB_REFUSAL_BAD_JSON;
    if (!fb_utf8_valid(text, size))
        id = text[0] == '\0' ? FB_REFUSAL_BAD_JSON : FB_REFUSAL_BAD_UTF8;
    else if (why == YYJSON_READ_ERROR_EMPTY_CONTENT)
        id = FB_REFUSAL_EMPTY_VALUE;
    else if (why == YYJSON_READ_ERROR_INVALID_STRING && has_lone_surrogate(text, size))
        id = FB_REFUSAL_BAD_SURROGATE;
    refusals->is_undecodable = true;
    fb_refuse(refusals, id, NULL, NULL, 0);
}

static fb_code grow_pool(worker *w, size_t need, fb_error *err)
{
    if (need <= w->pool_size) return FB_OK;
    void *pool = fb_alloc(need);
    if (!pool) return fb_fail_memory(err, "a large JSON message");
    fb_free(w->pool);
    w->pool = pool;
    w->pool_size = need;
    return FB_OK;
}

static int find_column(const decoder *d, worker *w, size_t nth, yyjson_val *key, bool *is_exact)
{
    const char  *text = yyjson_get_str(key);
    size_t       size = yyjson_get_len(key);
    ordered_key *last = nth < MAX_ORDER ? &w->order[nth] : NULL;
    *is_exact = true;
    if (last && last->name && last->size == size && memcmp(last->name, text, size) == 0)
        return last->column;
    int column = fb_keys_find(d->keys, text, size, is_exact);
    if (last && column != FB_KEY_UNKNOWN && *is_exact)
        *last = (ordered_key){d->schema->columns[column].name, size, column};
    return column;
}

/* Walk below `value` for keys that stand twice and for depth. @return FB_REFUSAL_COUNT when
 * all is well.  `depth` is that of `value` itself and bounds the recursion. */
static fb_refusal_id look_below(const decoder *d, worker *w, yyjson_val *value, int depth)
{
    yyjson_val   *key, *item;
    size_t        i, n;
    fb_refusal_id found;
    if (!yyjson_is_ctn(value)) return FB_REFUSAL_COUNT;
    if (depth > d->options.max_depth) return FB_REFUSAL_DEPTH;
    if (yyjson_is_arr(value)) {
        yyjson_arr_foreach(value, i, n, item) {
            found = look_below(d, w, item, depth + 1);
            if (found != FB_REFUSAL_COUNT) return found;
        }
        return FB_REFUSAL_COUNT;
    }
    if (d->options.duplicate_keys == FB_DUPLICATE_REJECT && yyjson_obj_size(value) > 1) {
        if (!fb_key_set_begin(&w->seen, yyjson_obj_size(value))) return FB_REFUSAL_DUPLICATE_KEY;
        yyjson_obj_foreach(value, i, n, key, item) {
            if (!fb_key_set_add(&w->seen, yyjson_get_str(key), yyjson_get_len(key)))
                return FB_REFUSAL_DUPLICATE_KEY;
        }
    }
    yyjson_obj_foreach(value, i, n, key, item) {
        found = look_below(d, w, item, depth + 1);
        if (found != FB_REFUSAL_COUNT) return found;
    }
    return FB_REFUSAL_COUNT;
}

/* The value as it stands in the message, for the reject's raw column. */
static void refuse_cell(fb_refusals *refusals, fb_refusal_id id, const fb_column *column,
                        yyjson_val *value)
{
    if (yyjson_is_raw(value) || yyjson_is_str(value)) {
        const char *text = yyjson_is_raw(value) ? yyjson_get_raw(value) : yyjson_get_str(value);
        fb_refuse(refusals, id, column->name, text, yyjson_get_len(value));
        return;
    }
    size_t size = 0;
    char  *text = yyjson_val_write(value, YYJSON_WRITE_NOFLAG, &size);
    fb_refuse(refusals, id, column->name, text, size);
    free(text); // yyjson's default allocator
}

static fb_code put_cell(const decoder *d, int column, yyjson_val *value, fb_row *row,
                        fb_refusals *refusals, fb_error *err)
{
    const fb_column *c = &d->schema->columns[column];
    fb_vector       *out = &row->columns[column];
    if (yyjson_is_null(value)) {
        if (out->vector) fb_vector_set_null(out, row->index);
        row->states[column] = FB_CELL_NULL;
        return FB_OK;
    }
    row->states[column] = FB_CELL_VALUE;
    switch (fb_cell_put(c, value, out, row->index)) {
    case FB_CELL_OK: return FB_OK;
    case FB_CELL_NO_MEMORY: return fb_fail_memory(err, "a JSON value");
    case FB_CELL_CAST: refuse_cell(refusals, FB_REFUSAL_CAST_ERROR, c, value); break;
    case FB_CELL_RANGE: refuse_cell(refusals, FB_REFUSAL_OUT_OF_RANGE, c, value); break;
    }
    row->states[column] = FB_CELL_BAD;
    return FB_OK;
}

/* A second key for a column that has one: the same text, or another case of it. */
static bool take_again(const decoder *d, const worker *w, int column, bool is_exact,
                       fb_refusals *refusals)
{
    const char *name = d->schema->columns[column].name;
    if (!is_exact || !w->exact[column]) {
        fb_refuse(refusals, FB_REFUSAL_AMBIGUOUS_FIELD, name, NULL, 0);
        return false;
    }
    if (d->options.duplicate_keys == FB_DUPLICATE_REJECT)
        fb_refuse(refusals, FB_REFUSAL_DUPLICATE_KEY, name, NULL, 0);
    return d->options.duplicate_keys == FB_DUPLICATE_LAST;
}

/* Members of the message itself. `has_others` says whether a key was no column. */
static fb_code walk(const decoder *d, worker *w, yyjson_val *object, fb_row *row,
                    fb_refusals *refusals, bool *has_others, fb_error *err)
{
    fb_code         code = FB_OK;
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    yyjson_val     *key;
    for (size_t nth = 0; (key = yyjson_obj_iter_next(&iter)); nth++) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        bool        is_exact;
        int         column = find_column(d, w, nth, key, &is_exact);
        if (column == FB_KEY_UNKNOWN) {
            *has_others = true;
            if (d->options.reject_extra)
                fb_refuse(refusals, FB_REFUSAL_EXTRA_COLUMN, NULL, yyjson_get_str(key),
                          yyjson_get_len(key));
            continue;
        }
        if (row->states[column] != FB_CELL_MISSING &&
            !take_again(d, w, column, is_exact, refusals))
            continue;
        w->exact[column] = is_exact;
        FB_TRY(put_cell(d, column, value, row, refusals, err));
    }
out:
    return code;
}

static void fill_missing(const decoder *d, fb_row *row, fb_refusals *refusals)
{
    for (size_t i = 0; i < d->schema->count; i++) {
        if (row->states[i] != FB_CELL_MISSING) continue;
        if (row->columns[i].vector) fb_vector_set_null(&row->columns[i], row->index);
        if (d->options.reject_missing)
            fb_refuse(refusals, FB_REFUSAL_MISSING_COLUMN, d->schema->columns[i].name, NULL, 0);
    }
}

/* Nothing but scalars in one object. */
static bool is_flat(yyjson_doc *doc)
{
    return yyjson_doc_get_val_count(doc) == 1 + 2 * yyjson_obj_size(yyjson_doc_get_root(doc));
}

static fb_code decode_object(const decoder *d, worker *w, yyjson_doc *doc, fb_row *row,
                             fb_refusals *refusals, fb_error *err)
{
    fb_code       code = FB_OK;
    fb_refusal_id found = FB_REFUSAL_COUNT;
    bool          has_others = false;
    yyjson_val   *root = yyjson_doc_get_root(doc);

    /* Writing a nested value as text recurses, so its depth is looked at first.  A flat
     * message whose keys are all columns needs no second look. */
    if (!yyjson_is_obj(root))
        found = FB_REFUSAL_NOT_OBJECT;
    else if (!is_flat(doc))
        found = look_below(d, w, root, 1);
    if (found == FB_REFUSAL_COUNT) {
        FB_TRY(walk(d, w, root, row, refusals, &has_others, err));
        if (has_others && is_flat(doc)) found = look_below(d, w, root, 1);
    }
    if (found != FB_REFUSAL_COUNT) {
        refusals->is_undecodable = true;
        fb_refuse(refusals, found, NULL, NULL, 0);
        return FB_OK;
    }
    fill_missing(d, row, refusals);
out:
    return code;
}

static fb_code decode(void *self, void *memory, const fb_record *record, fb_row *row,
                      fb_refusals *refusals, fb_error *err)
{
    decoder          *d = self;
    worker           *w = memory;
    yyjson_alc        pool;
    yyjson_read_err   why;
    const char       *text = record->value;
    size_t            size = record->value_size;
    yyjson_read_flag  flags = YYJSON_READ_NUMBER_AS_RAW;

    memset(row->states, FB_CELL_MISSING, d->schema->count);
    if (!text) {
        for (size_t i = 0; i < d->schema->count; i++)
            if (row->columns[i].vector) fb_vector_set_null(&row->columns[i], row->index);
        return FB_OK;
    }
    if (size > (uint64_t)d->options.max_message_bytes) {
        refusals->is_undecodable = true;
        fb_refuse(refusals, FB_REFUSAL_TOO_LARGE, NULL, NULL, 0);
        return FB_OK;
    }
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    fb_code code = grow_pool(w, yyjson_read_max_memory_usage(size, flags), err);
    if (code != FB_OK) return code;
    yyjson_alc_pool_init(&pool, w->pool, w->pool_size);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text, size, flags, &pool, &why);
    if (!doc && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return fb_fail_memory(err, "a JSON message");
    if (!doc) {
        diagnose(text, size, size ? why.code : YYJSON_READ_ERROR_EMPTY_CONTENT, refusals);
        return FB_OK;
    }
    return decode_object(d, w, doc, row, refusals, err);
}

fb_code fb_json_open(const fb_schema *schema, const fb_json_options *options, fb_decoder *out,
                     fb_error *err)
{
    decoder *d = fb_alloc(sizeof *d);
    if (!d) return fb_fail_memory(err, "a JSON decoder");
    d->schema = schema;
    d->options = *options;
    fb_code code = fb_keys_new(schema, &d->keys, err);
    if (code != FB_OK) {
        fb_free(d);
        return code;
    }
    *out = (fb_decoder){d, begin, end, decode};
    return FB_OK;
}

void fb_json_close(fb_decoder *out)
{
    decoder *d = out->self;
    if (d) fb_keys_free(d->keys);
    fb_free(d);
    out->self = NULL;
}
