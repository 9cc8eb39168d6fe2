/* delta_sql.c - asking the query engine about files of a store; see delta_table.h. */
#include "lake/delta_table.h"

#include <string.h>

fb_code fb_delta_sql_file(fb_delta *table, const char *function, const char *key,
                          fb_buf *sql, fb_error *err)
{
    fb_code code = FB_OK;
    char    path[FB_MAX_PATH];
    FB_TRY(table->store->ops->locate(table->store, key, false, path, err));
    fb_buf_printf(sql, "%s('", function);
    for (const char *c = path; *c; c++) {
        if (strchr("*?[", *c))
            fb_buf_printf(sql, "[%c]", *c);
        else
            fb_buf_printf(sql, *c == '\'' ? "''" : "%c", *c);
    }
    fb_buf_add_text(sql, "')");
out:
    return code;
}

fb_code fb_delta_each_row(fb_delta *table, const fb_buf *sql, fb_row_visit visit,
                          void *context, fb_error *err)
{
    fb_code           code = FB_OK;
    duckdb_result     result;
    duckdb_data_chunk chunk;
    FB_TRY(fb_buf_check(sql, "a query", err));
    FB_TRY(fb_engine_query(table->engine, sql->data, &result, err));
    while (code == FB_OK && (chunk = duckdb_fetch_chunk(result))) {
        for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk) && code == FB_OK;
             row++)
            code = visit(context, chunk, row, err);
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
out:
    return code;
}

fb_cell fb_row_text(duckdb_data_chunk chunk, idx_t column, idx_t row)
{
    return fb_vector_text(duckdb_data_chunk_get_vector(chunk, column), row);
}

int64_t fb_row_int(duckdb_data_chunk chunk, idx_t column, idx_t row)
{
    return ((int64_t *)duckdb_vector_get_data(
        duckdb_data_chunk_get_vector(chunk, column)))[row];
}

static fb_code keep_int(void *context, duckdb_data_chunk chunk, idx_t row, fb_error *err)
{
    (void)err;
    *(int64_t *)context = fb_row_int(chunk, 0, row);
    return FB_OK;
}

fb_code fb_delta_query_int(fb_delta *table, const char *text, int64_t *out, fb_error *err)
{
    fb_buf sql;
    fb_buf_init(&sql, FB_SQL_BYTES);
    fb_buf_add_text(&sql, text);
    fb_code code = fb_delta_each_row(table, &sql, keep_int, out, err);
    fb_buf_clear(&sql);
    return code;
}
