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
#include "base/json_memory.h"
#include "base/text.h"
#include "decode/cell.h"
#include "decode/keys.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_ORDER = 256,
    FIRST_POOL = 64 << 10,
    KEPT_POOL = 16 << 20, ///< what a worker keeps after a large message
    KEPT_KEYS = 64 << 10,
};

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
    ordered_key  order[MAX_ORDER];
    yyjson_val **setters; ///< per column: the key that set it, or, with `last`, is to set it
    void        *pool;
    size_t       pool_size;
    fb_key_set   seen;
} worker;

/* A message under work. */
typedef struct message {
    const decoder *d;
    worker        *w;
    fb_row        *row;
    fb_refusals   *refusals;
    bool           has_others; ///< a key was no column
} message;

static fb_code begin(void *self, void **out, fb_error *err)
{
    decoder *d = self;
    worker  *w = fb_alloc(sizeof *w);
    if (w) w->setters = fb_alloc(d->schema->count * sizeof(yyjson_val *));
    if (w) w->pool = fb_alloc(FIRST_POOL);
    if (!w || !w->setters || !w->pool) {
        if (w) fb_free(w->setters);
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
    fb_free(w->setters);
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

/* Are more than `most` containers open at once?  For bytes that need not be JSON. */
static bool is_deeper(const char *text, size_t size, int most)
{
    int  open = 0;
    bool in_string = false;
    for (size_t i = 0; i < size && open <= most; i++) {
        if (in_string && text[i] == '\\') i++;
        else if (text[i] == '"') in_string = !in_string;
        else if (!in_string && (text[i] == '[' || text[i] == '{')) open++;
        else if (!in_string && (text[i] == ']' || text[i] == '}')) open--;
    }
    return open > most;
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

/* Give back what one large message took. Without memory for less it is kept. */
static void shrink(worker *w)
{
    if (w->seen.room > KEPT_KEYS) fb_key_set_clear(&w->seen);
    if (w->pool_size <= KEPT_POOL) return;
    void *pool = fb_alloc(FIRST_POOL);
    if (!pool) return;
    fb_free(w->pool);
    w->pool = pool;
    w->pool_size = FIRST_POOL;
}

static int find_column(const decoder *d, worker *w, size_t nth, yyjson_val *key)
{
    const char  *text = yyjson_get_str(key);
    size_t       size = yyjson_get_len(key);
    ordered_key *last = nth < MAX_ORDER ? &w->order[nth] : NULL;
    bool         is_exact;
    if (last && last->name && last->size == size && memcmp(last->name, text, size) == 0)
        return last->column;
    int column = fb_keys_find(d->keys, text, size, &is_exact);
    if (last && column != FB_KEY_UNKNOWN && is_exact)
        *last = (ordered_key){d->schema->columns[column].name, size, column};
    return column;
}

/* Does a key of `object` stand twice? */
static fb_code look_for_twins(worker *w, yyjson_val *object, bool *found, fb_error *err)
{
    yyjson_val *key, *item;
    size_t      i, n;
    if (!fb_key_set_begin(&w->seen, yyjson_obj_size(object)))
        return fb_fail_memory(err, "the keys of a JSON message");
    *found = false;
    yyjson_obj_foreach(object, i, n, key, item) {
        *found = *found || !fb_key_set_add(&w->seen, yyjson_get_str(key), yyjson_get_len(key));
    }
    return FB_OK;
}

/* Walk below `value` for keys that stand twice and for depth; `found` stays as it is when
 * all is well.  `depth` is that of `value` itself and bounds the recursion. */
static fb_code look_below(const message *m, yyjson_val *value, int depth, fb_refusal_id *found,
                          fb_error *err)
{
    fb_code     code = FB_OK;
    yyjson_val *key, *item;
    size_t      i, n;
    bool        has_twins = false;
    if (!yyjson_is_ctn(value)) return FB_OK;
    if (depth > m->d->options.max_depth) {
        *found = FB_REFUSAL_DEPTH;
        return FB_OK;
    }
    if (m->d->options.duplicate_keys == FB_DUPLICATE_REJECT && yyjson_obj_size(value) > 1)
        FB_TRY(look_for_twins(m->w, value, &has_twins, err));
    if (has_twins) {
        *found = FB_REFUSAL_DUPLICATE_KEY;
        return FB_OK;
    }
    yyjson_arr_foreach(value, i, n, item) {
        if (*found == FB_REFUSAL_COUNT) FB_TRY(look_below(m, item, depth + 1, found, err));
    }
    yyjson_obj_foreach(value, i, n, key, item) {
        if (*found == FB_REFUSAL_COUNT) FB_TRY(look_below(m, item, depth + 1, found, err));
    }
out:
    return code;
}

/* The value as it stands in the message, for the reject's raw column. */
static fb_code refuse_cell(const message *m, fb_refusal_id id, const fb_column *column,
                           yyjson_val *value, fb_error *err)
{
    if (yyjson_is_raw(value) || yyjson_is_str(value)) {
        const char *text = yyjson_is_raw(value) ? yyjson_get_raw(value) : yyjson_get_str(value);
        fb_refuse(m->refusals, id, column->name, text, yyjson_get_len(value));
        return FB_OK;
    }
    size_t size = 0;
    char  *text = fb_json_write(value, &size);
    if (!text) return fb_fail_memory(err, "a JSON value");
    fb_refuse(m->refusals, id, column->name, text, size);
    fb_free(text);
    return FB_OK;
}

static fb_code put_cell(const message *m, int column, yyjson_val *value, fb_error *err)
{
    const fb_column *c = &m->d->schema->columns[column];
    fb_row          *row = m->row;
    fb_vector       *out = &row->columns[column];
    if (yyjson_is_null(value)) {
        if (out->vector) fb_vector_set_null(out, row->index);
        row->states[column] = FB_CELL_NULL;
        return FB_OK;
    }
    row->states[column] = FB_CELL_VALUE;
    fb_cell_result result = fb_cell_put(c, value, out, row->index);
    if (result == FB_CELL_OK) return FB_OK;
    if (result == FB_CELL_NO_MEMORY) return fb_fail_memory(err, "a JSON value");
    row->states[column] = FB_CELL_BAD;
    return refuse_cell(m, result == FB_CELL_RANGE ? FB_REFUSAL_OUT_OF_RANGE : FB_REFUSAL_CAST_ERROR,
                       c, value, err);
}

/* A second key for a column: the same text, or another case of it, which no policy picks
 * from.  Readers disagree which one counts, so no row is made. */
static void refuse_twin(const message *m, int column, yyjson_val *key)
{
    yyjson_val *other = m->w->setters[column];
    bool        is_same = yyjson_equals_strn(other, yyjson_get_str(key), yyjson_get_len(key));
    if (is_same && m->d->options.duplicate_keys != FB_DUPLICATE_REJECT) return;
    m->refusals->is_undecodable = true;
    fb_refuse(m->refusals, is_same ? FB_REFUSAL_DUPLICATE_KEY : FB_REFUSAL_AMBIGUOUS_FIELD,
              m->d->schema->columns[column].name, NULL, 0);
}

/* With duplicate_keys: last, find the key that will set each column. */
static void find_setters(const message *m, yyjson_val *object)
{
    yyjson_val *key, *item;
    size_t      nth, n;
    yyjson_obj_foreach(object, nth, n, key, item) {
        int column = find_column(m->d, m->w, nth, key);
        if (column != FB_KEY_UNKNOWN) m->w->setters[column] = key;
    }
}

/* Members of the message itself. */
static fb_code walk(message *m, yyjson_val *object, fb_error *err)
{
    fb_code     code = FB_OK;
    bool        takes_last = m->d->options.duplicate_keys == FB_DUPLICATE_LAST;
    yyjson_val *key, *item, **setters = m->w->setters;
    size_t      nth, n;
    if (takes_last) find_setters(m, object);
    yyjson_obj_foreach(object, nth, n, key, item) {
        int column = find_column(m->d, m->w, nth, key);
        if (column == FB_KEY_UNKNOWN) {
            m->has_others = true;
            if (m->d->options.reject_extra)
                fb_refuse(m->refusals, FB_REFUSAL_EXTRA_COLUMN, NULL, yyjson_get_str(key),
                          yyjson_get_len(key));
            continue;
        }
        if (takes_last ? setters[column] != key : m->row->states[column] != FB_CELL_MISSING) {
            refuse_twin(m, column, key);
            continue;
        }
        setters[column] = key;
        FB_TRY(put_cell(m, column, item, err));
    }
out:
    return code;
}

static void fill_missing(const message *m)
{
    fb_row *row = m->row;
    for (size_t i = 0; i < m->d->schema->count; i++) {
        if (row->states[i] != FB_CELL_MISSING) continue;
        if (row->columns[i].vector) fb_vector_set_null(&row->columns[i], row->index);
        if (m->d->options.reject_missing)
            fb_refuse(m->refusals, FB_REFUSAL_MISSING_COLUMN, m->d->schema->columns[i].name, NULL,
                      0);
    }
}

/* Nothing but scalars, or empty containers where those are deep enough, in one object. */
static bool is_flat(const message *m, yyjson_doc *doc)
{
    return m->d->options.max_depth > 1 &&
           yyjson_doc_get_val_count(doc) == 1 + 2 * yyjson_obj_size(yyjson_doc_get_root(doc));
}

static fb_code decode_object(message *m, yyjson_doc *doc, fb_error *err)
{
    fb_code       code = FB_OK;
    fb_refusal_id found = FB_REFUSAL_COUNT;
    yyjson_val   *root = yyjson_doc_get_root(doc);
    bool          is_object = yyjson_is_obj(root);

    /* A flat message whose keys are all columns needs no look at the whole. */
    if (!is_object || !is_flat(m, doc)) FB_TRY(look_below(m, root, 1, &found, err));
    if (!is_object && found != FB_REFUSAL_DEPTH) found = FB_REFUSAL_NOT_OBJECT;
    if (found == FB_REFUSAL_COUNT) {
        FB_TRY(walk(m, root, err));
        if (m->has_others && is_flat(m, doc)) FB_TRY(look_below(m, root, 1, &found, err));
    }
    if (found != FB_REFUSAL_COUNT) {
        m->refusals->is_undecodable = true;
        fb_refuse(m->refusals, found, NULL, NULL, 0);
        return FB_OK;
    }
    fill_missing(m);
out:
    return code;
}

/* A tombstone: a row of missing columns. */
static fb_code decode_nothing(const message *m)
{
    for (size_t i = 0; i < m->d->schema->count; i++)
        if (m->row->columns[i].vector) fb_vector_set_null(&m->row->columns[i], m->row->index);
    return FB_OK;
}

static fb_code decode_text(message *m, const char *text, size_t size, fb_error *err)
{
    yyjson_alc       pool;
    yyjson_read_err  why;
    yyjson_read_flag flags = YYJSON_READ_NUMBER_AS_RAW;
    fb_code code = grow_pool(m->w, yyjson_read_max_memory_usage(size, flags), err);
    if (code != FB_OK) return code;
    yyjson_alc_pool_init(&pool, m->w->pool, m->w->pool_size);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text, size, flags, &pool, &why);
    if (!doc && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
        /* The pool suffices for whatever is JSON, but not for a long run of brackets. */
        if (!is_deeper(text, size, m->d->options.max_depth))
            return fb_fail_memory(err, "a JSON message");
        m->refusals->is_undecodable = true;
        fb_refuse(m->refusals, FB_REFUSAL_DEPTH, NULL, NULL, 0);
        return FB_OK;
    }
    if (!doc) {
        diagnose(text, size, size ? why.code : YYJSON_READ_ERROR_EMPTY_CONTENT, m->refusals);
        return FB_OK;
    }
    return decode_object(m, doc, err);
}

static fb_code decode(void *self, void *memory, const fb_record *record, fb_row *row,
                      fb_refusals *refusals, fb_error *err)
{
    message     m = {.d = self, .w = memory, .row = row, .refusals = refusals};
    const char *text = record->value;
    size_t      size = record->value_size;

    memset(row->states, FB_CELL_MISSING, m.d->schema->count);
    if (!text) return decode_nothing(&m);
    if (size > (uint64_t)m.d->options.max_message_bytes) {
        refusals->is_undecodable = true;
        fb_refuse(refusals, FB_REFUSAL_TOO_LARGE, NULL, NULL, 0);
        return FB_OK;
    }
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    fb_code code = decode_text(&m, text, size, err);
    shrink(m.w);
    return code;
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
