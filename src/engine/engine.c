/* engine.c - opens DuckDB with everything shut that we do not use; see engine.h. */
#include "engine/engine_state.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static fb_code set_option(duckdb_config config, const char *name, const char *value, fb_error *err)
{
    if (duckdb_set_config(config, name, value) == DuckDBSuccess) return FB_OK;
    return fb_fail(err, Q001, "the query engine does not know the option %s", name);
}

static fb_code configure(duckdb_config config, const fb_engine_options *options, fb_error *err)
{
    fb_code code = FB_OK;
    char    memory[32], threads[16];
    snprintf(memory, sizeof memory, "%" PRId64 "MiB", options->memory_bytes >> 20);
    snprintf(threads, sizeof threads, "%d", options->threads);
    FB_TRY(set_option(config, "memory_limit", memory, err));
    if (options->threads > 0) FB_TRY(set_option(config, "threads", threads, err));
    FB_TRY(set_option(config, "temp_directory", options->spill_folder ? options->spill_folder : "",
                      err));
    FB_TRY(set_option(config, "preserve_insertion_order", "false", err));
    FB_TRY(set_option(config, "autoinstall_known_extensions", "false", err));
    FB_TRY(set_option(config, "autoload_known_extensions", "false", err));
    FB_TRY(set_option(config, "allow_community_extensions", "false", err));
out:
    return code;
}

fb_code fb_engine_open(const fb_engine_options *options, fb_engine **out, fb_error *err)
{
    fb_code       code = FB_OK;
    duckdb_config config = NULL;
    char         *reason = NULL;
    fb_engine    *engine = fb_alloc(sizeof *engine);

    if (!engine) return fb_fail_memory(err, "the query engine");
    pthread_mutex_init(&engine->failure.lock, NULL);
    if (duckdb_create_config(&config) != DuckDBSuccess)
        FB_TRY(fb_fail_memory(err, "the query engine"));
    FB_TRY(configure(config, options, err));
    if (duckdb_open_ext(NULL, &engine->database, config, &reason) != DuckDBSuccess) {
        code = fb_fail(err, Q001, "the query engine did not open: %s", reason ? reason : "no word");
        goto out;
    }
    FB_TRY(fb_engine_connect(engine, &engine->connection, err));
    *out = engine;
    engine = NULL;
out:
    duckdb_free(reason);
    duckdb_destroy_config(&config);
    fb_engine_close(engine);
    return code;
}

void fb_engine_close(fb_engine *engine)
{
    if (!engine) return;
    duckdb_disconnect(&engine->connection);
    duckdb_close(&engine->database);
    pthread_mutex_destroy(&engine->failure.lock);
    fb_free(engine);
}

duckdb_connection fb_engine_connection(fb_engine *engine) { return engine->connection; }

fb_code fb_engine_connect(fb_engine *engine, duckdb_connection *out, fb_error *err)
{
    if (duckdb_connect(engine->database, out) == DuckDBSuccess) return FB_OK;
    return fb_fail_memory(err, "a connection of the query engine");
}

void fb_engine_interrupt(fb_engine *engine) { duckdb_interrupt(engine->connection); }

/* Give the engine's failure the reason a caller can act upon. */
static fb_code fail_query(duckdb_result *result, fb_error *err)
{
    const char *said = duckdb_result_error(result);
    if (!said) said = "no word";
    switch (duckdb_result_error_type(result)) {
    case DUCKDB_ERROR_IO: return fb_fail(err, Q002, "%s", said);
    case DUCKDB_ERROR_OUT_OF_MEMORY: return fb_fail(err, Q003, "%s", said);
    case DUCKDB_ERROR_INTERRUPT: return fb_fail(err, I002, "the query was interrupted");
    default: return fb_fail(err, Q001, "%s", said);
    }
}

fb_code fb_engine_query(fb_engine *engine, const char *sql, duckdb_result *out, fb_error *err)
{
    fb_code code = FB_OK;
    if (duckdb_query(engine->connection, sql, out) != DuckDBSuccess) {
        code = fail_query(out, err);
        duckdb_destroy_result(out);
    }
    return code;
}

fb_code fb_engine_exec(fb_engine *engine, const char *sql, fb_error *err)
{
    duckdb_result result;
    fb_code       code = fb_engine_query(engine, sql, &result, err);
    if (code == FB_OK) duckdb_destroy_result(&result);
    return code;
}

static void add_quoted(fb_buf *sql, const char *text, char quote)
{
    fb_buf_add_char(sql, quote);
    for (; *text; text++) {
        if (*text == quote) fb_buf_add_char(sql, quote);
        fb_buf_add_char(sql, *text);
    }
    fb_buf_add_char(sql, quote);
}

void fb_sql_add_text(fb_buf *sql, const char *text) { add_quoted(sql, text, '\''); }

void fb_sql_add_name(fb_buf *sql, const char *name) { add_quoted(sql, name, '"'); }

bool fb_vector_is_null(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    return validity && !duckdb_validity_row_is_valid(validity, row);
}

fb_cell fb_vector_text(duckdb_vector vector, idx_t row)
{
    fb_cell cell = {"", 0, fb_vector_is_null(vector, row)};
    if (cell.is_null) return cell;
    duckdb_string_t *text = (duckdb_string_t *)duckdb_vector_get_data(vector) + row;
    cell.data = duckdb_string_t_data(text);
    cell.size = duckdb_string_t_length(*text);
    return cell;
}
