/* scan.c - the engine's callbacks, turned into ours; see scan.h.
 *
 * A callback can give the engine only a text.  So the first failure is kept whole with our
 * engine, and fb_engine_query_scan() hands it out instead of the engine's wording.
 */
#include "engine/scan.h"

#include "base/alloc.h"
#include "engine/engine_state.h"

typedef struct bind_state {
    const fb_scan   *scan;
    fb_scan_failure *failure; ///< of the engine that knows the scan
    fb_scan_column  *columns; ///< owned, with their types
    size_t           count;
} bind_state;

typedef struct worker_state {
    const fb_scan   *scan;
    fb_scan_failure *failure;
    void            *worker;
} worker_state;

static void keep_failure(fb_scan_failure *failure, const fb_error *err)
{
    pthread_mutex_lock(&failure->lock);
    if (!failure->is_set) failure->error = *err;
    failure->is_set = true;
    pthread_mutex_unlock(&failure->lock);
}

static void free_bind_state(void *memory)
{
    bind_state *state = memory;
    if (!state) return;
    for (size_t i = 0; i < state->count; i++)
        duckdb_destroy_logical_type(&state->columns[i].type);
    fb_free(state->columns);
    fb_free(state);
}

static void free_worker_state(void *memory)
{
    worker_state *state = memory;
    if (state->worker) state->scan->end(state->scan->context, state->worker);
    fb_free(state);
}

static void on_bind(duckdb_bind_info info)
{
    const bind_state *state = duckdb_bind_get_extra_info(info);
    for (size_t i = 0; i < state->count; i++)
        duckdb_bind_add_result_column(info, state->columns[i].name, state->columns[i].type);
}

static void on_init(duckdb_init_info info)
{
    const bind_state *state = duckdb_init_get_extra_info(info);
    duckdb_init_set_max_threads(info, (idx_t)state->scan->workers_max);
}

static void on_local_init(duckdb_init_info info)
{
    const bind_state *bound = duckdb_init_get_extra_info(info);
    worker_state     *state = fb_alloc(sizeof *state);
    idx_t             count = duckdb_init_get_column_count(info);
    idx_t            *list = fb_alloc((size_t)count * sizeof *list);
    fb_error          err = {0};
    fb_code           code = FB_OK;

    if (!state || !list) {
        code = fb_fail_memory(&err, "a worker of a scan");
    } else {
        for (idx_t i = 0; i < count; i++)
            list[i] = duckdb_init_get_column_index(info, i);
        state->scan = bound->scan;
        state->failure = bound->failure;
        code = bound->scan->begin(bound->scan->context, (fb_scan_projection){list, count},
                                  &state->worker, &err);
        duckdb_init_set_init_data(info, state, free_worker_state);
        state = NULL;
    }
    if (code != FB_OK) {
        keep_failure(bound->failure, &err);
        duckdb_init_set_error(info, err.what);
    }
    fb_free(list);
    fb_free(state);
}

static void on_fill(duckdb_function_info info, duckdb_data_chunk chunk)
{
    worker_state *state = duckdb_function_get_local_init_data(info);
    fb_error      err = {0};
    idx_t         rows = 0;
    if (state->scan->fill(state->scan->context, state->worker, chunk, &rows, &err) != FB_OK) {
        keep_failure(state->failure, &err);
        duckdb_function_set_error(info, err.what);
        rows = 0;
    }
    duckdb_data_chunk_set_size(chunk, rows);
}

/* Take the columns' types, also when there is no memory for the rest. */
static bind_state *make_bind_state(fb_engine *engine, const fb_scan *scan,
                                   const fb_scan_column *columns, size_t count)
{
    bind_state     *state = fb_alloc(sizeof *state);
    fb_scan_column *copies = fb_alloc(count * sizeof *copies);
    bool            is_whole = state && copies;
    for (size_t i = 0; i < count; i++) // a type that could not be made is NULL
        is_whole = is_whole && columns[i].type;
    for (size_t i = 0; i < count; i++) {
        duckdb_logical_type type = columns[i].type;
        if (is_whole)
            copies[i] = columns[i];
        else
            duckdb_destroy_logical_type(&type);
    }
    if (is_whole) {
        *state = (bind_state){scan, &engine->failure, copies, count};
        return state;
    }
    fb_free(copies);
    fb_free(state);
    return NULL;
}

fb_code fb_engine_add_scan(fb_engine *engine, const fb_scan *scan, const fb_scan_column *columns,
                           size_t count, fb_error *err)
{
    fb_code               code = FB_OK;
    bind_state           *state = make_bind_state(engine, scan, columns, count);
    duckdb_table_function function = duckdb_create_table_function();

    if (!state || !function) FB_TRY(fb_fail_memory(err, "a scan"));
    duckdb_table_function_set_name(function, scan->name);
    duckdb_table_function_set_extra_info(function, state, free_bind_state);
    state = NULL;
    duckdb_table_function_set_bind(function, on_bind);
    duckdb_table_function_set_init(function, on_init);
    duckdb_table_function_set_local_init(function, on_local_init);
    duckdb_table_function_set_function(function, on_fill);
    duckdb_table_function_supports_projection_pushdown(function, true);
    if (duckdb_register_table_function(fb_engine_connection(engine), function) != DuckDBSuccess)
        code = fb_fail(err, Q001, "the query engine did not take the scan %s", scan->name);
out:
    duckdb_destroy_table_function(&function);
    free_bind_state(state);
    return code;
}

fb_code fb_engine_query_scan(fb_engine *engine, const char *sql, duckdb_result *out, fb_error *err)
{
    fb_scan_failure *failure = &engine->failure;
    failure->is_set = false;
    fb_code code = fb_engine_query(engine, sql, out, err);
    pthread_mutex_lock(&failure->lock);
    if (code != FB_OK && failure->is_set) {
        *err = failure->error;
        code = err->code;
    }
    pthread_mutex_unlock(&failure->lock);
    return code;
}
