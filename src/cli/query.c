/* query.c - the command `query`.
 *
 * The way of a query:
 *   views   one for each table that is there, over the data files its log names now
 *   lock    the engine may open these files and no others, and no setting may change
 *   judge   one statement, and it is a SELECT; else the fault is shown in its line
 *   print   every value as the engine writes it, in text: no digit is lost on the way
 */
#include "cli/query.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_SQL_BYTES = 64 << 20, MAX_QUERY_BYTES = 1 << 20 };

/* A query on its way. */
typedef struct asker {
    const fb_chosen *chosen;
    const char      *sql;
    fb_engine       *engine;
    fb_buf           allowed;             ///< SQL texts of the files that may be opened
    char             absent[FB_MAX_NAME]; ///< a table it names, not there yet; or ""
} asker;

/* --- views ---------------------------------------------------------------------------- */

/* The engine takes [ * ? in a path as patterns; a bracket around one makes it plain. */
static void add_path(fb_buf *sql, const char *path, bool is_pattern)
{
    fb_buf_add_char(sql, '\'');
    for (; *path; path++) {
        bool is_special = is_pattern && strchr("[*?", *path);
        if (is_special) fb_buf_add_char(sql, '[');
        if (*path == '\'') fb_buf_add_char(sql, '\'');
        fb_buf_add_char(sql, *path);
        if (is_special) fb_buf_add_char(sql, ']');
    }
    fb_buf_add_char(sql, '\'');
}

static void allow(asker *a, const char *path)
{
    if (a->allowed.size) fb_buf_add_char(&a->allowed, ',');
    add_path(&a->allowed, path, false);
    if (!strpbrk(path, "[*?")) return;
    fb_buf_add_char(&a->allowed, ',');
    add_path(&a->allowed, path, true);
}

/* SELECT "a", "b" FROM (no rows with the table's columns, then the rows of its files): so
 * that a column which no file has yet is null, and a table without files has its columns. */
static void write_view(asker *a, const char *name, const fb_schema *schema,
                       const fb_delta_files *files, fb_buf *sql)
{
    fb_buf_add_text(sql, "CREATE VIEW ");
    fb_sql_add_name(sql, name);
    fb_buf_add_text(sql, " AS SELECT ");
    for (size_t i = 0; i < schema->count; i++) {
        fb_buf_add_text(sql, i ? ", " : "");
        fb_sql_add_name(sql, schema->columns[i].name);
    }
    fb_buf_add_text(sql, " FROM (SELECT ");
    for (size_t i = 0; i < schema->count; i++) {
        fb_buf_add_text(sql, i ? ", CAST(NULL AS " : "CAST(NULL AS ");
        fb_type_print_sql(&schema->columns[i].type, true, sql);
        fb_buf_add_text(sql, ") AS ");
        fb_sql_add_name(sql, schema->columns[i].name);
    }
    fb_buf_add_text(sql, " WHERE false");
    if (files->count)
        fb_buf_add_text(sql, " UNION ALL BY NAME SELECT * FROM read_parquet([");
    for (size_t i = 0; i < files->count; i++) {
        fb_buf_add_text(sql, i ? "," : "");
        add_path(sql, files->paths[i], true);
        allow(a, files->paths[i]);
    }
    fb_buf_add_text(sql, files->count ? "], union_by_name = true))" : ")");
}

static fb_code add_table(asker *a, const char *name, const char *path, fb_error *err)
{
    fb_code        code = FB_OK;
    fb_delta      *table = NULL;
    fb_delta_files files;
    fb_buf         sql;
    fb_delta_files_init(&files);
    fb_buf_init(&sql, MAX_SQL_BYTES);
    FB_TRY(fb_delta_open(path, a->engine, &table, err));
    if (!fb_delta_exists(table)) {
        if (strcasestr(a->sql, name)) snprintf(a->absent, sizeof a->absent, "%s", name);
        goto out;
    }
    FB_TRY(fb_delta_files_list(table, &files, err));
    write_view(a, name, fb_delta_schema(table), &files, &sql);
    FB_TRY(fb_buf_check(&sql, "a view", err));
    FB_TRY(fb_engine_exec(a->engine, sql.data, err));
out:
    fb_buf_clear(&sql);
    fb_delta_files_clear(&files);
    fb_delta_close(table);
    return code;
}

/* A table that cannot be read stops only the queries that name it. */
static fb_code try_table(asker *a, const char *name, const char *path, fb_error *err)
{
    fb_error why;
    fb_code  code = add_table(a, name, path, &why);
    if (code == FB_OK) return FB_OK;
    if (code != FB_EMEMORY && !strcasestr(a->sql, name)) {
        fb_log(FB_LOG_DEBUG, "table_left_out", "%s: %s", name, why.what);
        return FB_OK;
    }
    *err = why;
    return code;
}

static fb_code add_tables(asker *a, fb_error *err)
{
    fb_code            code = FB_OK;
    const fb_pipeline *other;
    fb_error           ignored;
    for (size_t i = 0; i < a->chosen->count; i++) {
        const fb_pipeline *p = a->chosen->pipelines[i];
        char               name[FB_MAX_NAME + 16];
        FB_TRY(try_table(a, p->name, p->sink.accepted.path, err));
        snprintf(name, sizeof name, "%s_rejected", p->name);
        bool is_taken =
            fb_document_find(&a->chosen->document, name, &other, &ignored) == FB_OK;
        if (p->sink.rejected.format == FB_REJECTED_DELTA && !is_taken)
            FB_TRY(try_table(a, name, p->sink.rejected.path, err));
    }
out:
    return code;
}

/* --- lock ----------------------------------------------------------------------------- */

static fb_code open_engine(asker *a, fb_error *err)
{
    fb_code           code = FB_OK;
    fb_engine_options options = {.memory_bytes =
                                     a->chosen->document.memory_bytes / 4 * 3};
    FB_TRY(fb_engine_open(&options, &a->engine, err));
    FB_TRY(fb_engine_exec(
        a->engine, "SET TimeZone = 'UTC'; SET preserve_insertion_order = true", err));
out:
    return code;
}

static fb_code lock(asker *a, fb_error *err)
{
    fb_code code = FB_OK;
    fb_buf  sql;
    fb_buf_init(&sql, MAX_SQL_BYTES);
    FB_TRY(fb_buf_check(&a->allowed, "a query", err));
    fb_buf_printf(&sql,
                  "SET allowed_paths = [%s]; SET enable_external_access = false; "
                  "SET lock_configuration = true",
                  fb_buf_text(&a->allowed));
    FB_TRY(fb_buf_check(&sql, "a query", err));
    FB_TRY(fb_engine_exec(a->engine, sql.data, err));
out:
    fb_buf_clear(&sql);
    return code;
}

/* --- judge ---------------------------------------------------------------------------- */

/* Copy the text in double quotes that `*at` reaches next, and go on behind it. */
static bool next_quoted(const char **at, char out[FB_MAX_NAME])
{
    const char *start = strchr(*at, '"'), *end = start ? strchr(start + 1, '"') : NULL;
    if (!end) return false;
    snprintf(out, FB_MAX_NAME, "%.*s", (int)(end - start - 1), start + 1);
    *at = end + 1;
    return true;
}

/* The name that the engine offers, if it is as near as a typo. */
static bool find_near(const char *said, const char *wanted, char out[FB_MAX_NAME])
{
    char        name[FB_MAX_NAME];
    size_t      least = SIZE_MAX;
    const char *at = strstr(said, "Did you mean");
    if (!at) at = strstr(said, "Candidate bindings:");
    while (at && next_quoted(&at, name)) {
        fb_nearest near;
        fb_nearest_init(&near, wanted);
        fb_nearest_offer(&near, name);
        if (!near.best || near.edits >= least) continue;
        least = near.edits;
        memcpy(out, name, FB_MAX_NAME);
    }
    return least < SIZE_MAX;
}

/* Our words for the faults that everybody meets; the engine's own for all others. */
static void set_what(const char *said, fb_error *err)
{
    static const char column_mark[] = "Referenced column ",
                      table_mark[] = "Table with name ";
    char        near[FB_MAX_NAME], name[FB_MAX_NAME] = "";
    const char *column = strstr(said, column_mark), *table = strstr(said, table_mark);
    const char *start = strstr(said, ": ");
    if (column && next_quoted(&column, name)) {
        fb_error_set(err, FB_R_Q004, "there is no column \"%s\"", name);
    } else if (table) {
        table += sizeof table_mark - 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(table, " "), table);
        fb_error_set(err, FB_R_Q004, "there is no table \"%s\"", name);
    } else {
        start = start && start - said < 40 ? start + 2 : said;
        fb_error_set(err, FB_R_Q004, "%.*s", (int)strcspn(start, "\n"), start);
        if (err->what[0] >= 'A' && err->what[0] <= 'Z' && err->what[1] >= 'a')
            err->what[0] = (char)(err->what[0] + ('a' - 'A'));
    }
    char *end = strstr(err->what, " - file system operations");
    if (!end) end = err->what + strlen(err->what);
    if (end > err->what && strchr(".!", end[-1])) end--;
    *end = '\0';
    if (name[0] && find_near(said, name, near) && strcasecmp(name, near) != 0)
        snprintf(end, sizeof err->what - (size_t)(end - err->what),
                 ", did you mean \"%s\"?", near);
}

/* "LINE 1: SELECT sum(amout) FROM orders\n                   ^" becomes the line and carets
 * under the whole word. */
static void say_line(const char *said)
{
    const char *line = strstr(said, "\nLINE ");
    const char *text = line ? strstr(line, ": ") : NULL;
    const char *end = text ? strchr(text, '\n') : NULL;
    const char *caret = end ? strchr(end + 1, '^') : NULL;
    char        marks[FB_MAX_NAME];
    if (!caret) return;
    size_t prefix = (size_t)(text + 2 - (line + 1));
    size_t indent = (size_t)(caret - (end + 1)), length = 1;
    text += 2;
    if (indent < prefix) return;
    indent -= prefix;
    while (indent + length < (size_t)(end - text) && length < sizeof marks - 1 &&
           (text[indent + length] == '_' ||
            (text[indent + length] >= '0' && text[indent + length] <= '9') ||
            (text[indent + length] | 0x20) >= 'a'))
        length++;
    memset(marks, '^', length);
    marks[length] = '\0';
    fb_log_plain("   %.*s\n   %*s%s", (int)(end - text), text, (int)indent, "", marks);
}

/* A fault of the user's SQL, as the engine told it. */
static fb_code fail_sql(const asker *a, fb_cli *cli, const char *said, bool with_line,
                        fb_error *err)
{
    set_what(said ? said : "the query was refused", err);
    if (strstr(err->what, "there is no table") && a->absent[0])
        fb_error_hint(err, "table \"%s\" is not there yet: %s makes it", a->absent,
                      fb_text_ends_with(a->absent, "_rejected") ? "the first rejected row"
                                                                : "forebay run");
    else if (said && strncmp(said, "Permission", 10) == 0)
        fb_error_hint(err, "a query reads the tables of the pipelines, and nothing else");
    fb_log_error(err);
    cli->is_reported = true;
    if (said && with_line) say_line(said);
    return FB_EUSAGE;
}

static fb_code judge(const asker *a, fb_cli *cli, duckdb_prepared_statement *out,
                     fb_error *err)
{
    fb_code                     code = FB_OK;
    duckdb_extracted_statements statements = NULL;
    duckdb_connection           connection = fb_engine_connection(a->engine);
    idx_t       count = duckdb_extract_statements(connection, a->sql, &statements);
    const char *said = count == 0 ? duckdb_extract_statements_error(statements) : NULL;
    if (said) FB_TRY(fail_sql(a, cli, said, true, err));
    if (count == 0) FB_TRY(fb_fail(err, Q004, "the query is empty"));
    if (count > 1)
        FB_TRY(fb_fail(err, Q004, "the query must be one statement, not %d", (int)count));
    if (duckdb_prepare_extracted_statement(connection, statements, 0, out) !=
        DuckDBSuccess)
        FB_TRY(fail_sql(a, cli, duckdb_prepare_error(*out), true, err));
    if (duckdb_prepared_statement_type(*out) != DUCKDB_STATEMENT_TYPE_SELECT)
        FB_TRY(fb_fail(err, Q004, "the query must be a SELECT: it changes nothing"));
    if (duckdb_nparams(*out) > 0)
        FB_TRY(fb_fail(err, Q004, "the query has a parameter, which has no value here"));
out:
    duckdb_destroy_extracted(&statements);
    return code;
}

/* --- print ---------------------------------------------------------------------------- */

static fb_cell_kind kind_of(duckdb_type type)
{
    switch (type) {
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_UHUGEINT:
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_DECIMAL: return FB_CELL_NUMBER;
    case DUCKDB_TYPE_BOOLEAN:
    case DUCKDB_TYPE_LIST:
    case DUCKDB_TYPE_STRUCT:
    case DUCKDB_TYPE_MAP:
    case DUCKDB_TYPE_ARRAY:
    case DUCKDB_TYPE_UNION: return FB_CELL_JSON;
    default: return FB_CELL_TEXT;
    }
}

/* The columns of the answer; names are released by free_columns(). */
static fb_code read_columns(duckdb_prepared_statement statement, fb_form form,
                            fb_table_column **out, size_t *count, fb_error *err)
{
    *count = (size_t)duckdb_prepared_statement_column_count(statement);
    *out = fb_alloc((*count + 1) * sizeof **out);
    if (!*out) return fb_fail_memory(err, "the columns");
    for (size_t i = 0; i < *count; i++) {
        (*out)[i].name = duckdb_prepared_statement_column_name(statement, i);
        (*out)[i].kind = kind_of(duckdb_prepared_statement_column_type(statement, i));
        if (!(*out)[i].name) return fb_fail_memory(err, "the columns");
        for (size_t k = 0; k < i && (form == FB_AS_JSON || form == FB_AS_JSONL); k++)
            if (strcmp((*out)[k].name, (*out)[i].name) == 0)
                return fb_fail(err, Q004,
                               "two columns are called \"%s\"; tell them apart with AS",
                               (*out)[i].name);
    }
    return FB_OK;
}

static void free_columns(fb_table_column *columns, size_t count)
{
    for (size_t i = 0; columns && i < count; i++) {
        void *name =
            (void *)(uintptr_t)columns[i].name; // ours to release, whatever its type says
        duckdb_free(name);
    }
    fb_free(columns);
}

/* The same rows as text: query() takes the user's statement as it is, so that no comment or
 * semicolon of it can end ours. */
static void write_texts(const asker *a, const fb_table_column *columns, size_t count,
                        fb_buf *sql)
{
    fb_buf_add_text(sql, "SELECT ");
    for (size_t i = 0; i < count; i++)
        fb_buf_printf(sql,
                      columns[i].kind == FB_CELL_JSON ? "%sCAST(to_json(c%zu) AS VARCHAR)"
                                                      : "%sCAST(c%zu AS VARCHAR)",
                      i ? ", " : "", i);
    fb_buf_add_text(sql, " FROM query(");
    fb_sql_add_text(sql, a->sql);
    fb_buf_add_text(sql, ") AS t(");
    for (size_t i = 0; i < count; i++) fb_buf_printf(sql, "%sc%zu", i ? ", " : "", i);
    fb_buf_add_char(sql, ')');
}

static void print_chunk(fb_table *table, duckdb_data_chunk chunk, size_t count)
{
    idx_t rows = duckdb_data_chunk_get_size(chunk);
    for (idx_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < count; i++) {
            fb_cell cell = fb_vector_text(duckdb_data_chunk_get_vector(chunk, i), row);
            fb_table_add(table, cell.is_null ? NULL : cell.data, cell.size);
        }
    }
}

static fb_code print_rows(const asker *a, fb_cli *cli, const fb_table_column *columns,
                          size_t count, fb_error *err)
{
    fb_code           code = FB_OK, ended;
    duckdb_result     result = {0};
    duckdb_data_chunk chunk;
    fb_table          table;
    fb_buf            sql;
    fb_buf_init(&sql, MAX_SQL_BYTES);
    write_texts(a, columns, count, &sql);
    FB_TRY(fb_buf_check(&sql, "the query", err));
    if (duckdb_query(fb_engine_connection(a->engine), sql.data, &result) !=
        DuckDBSuccess) {
        const char *said = duckdb_result_error(&result);
        if (duckdb_result_error_type(&result) == DUCKDB_ERROR_OUT_OF_MEMORY)
            FB_TRY(fb_fail(err, Q003, "%.300s", said ? said : "no memory is left"));
        FB_TRY(fail_sql(a, cli, said, false, err));
    }
    fb_table_begin(&table, cli->form, cli->out, columns, count);
    table.look = FB_LOOK_RULED;
    table.has_bold_head = cli->uses_color;
    while ((chunk = duckdb_fetch_chunk(result))) {
        print_chunk(&table, chunk, count);
        duckdb_destroy_data_chunk(&chunk);
    }
    ended = fb_table_end(&table, err);
    FB_TRY(ended);
out:
    duckdb_destroy_result(&result);
    fb_buf_clear(&sql);
    return code;
}

fb_code fb_query_print(fb_cli *cli, const fb_chosen *chosen, const char *sql,
                       fb_error *err)
{
    fb_code                   code = FB_OK;
    asker                     a = {.chosen = chosen, .sql = sql};
    duckdb_prepared_statement statement = NULL;
    fb_table_column          *columns = NULL;
    size_t                    count = 0;
    fb_buf_init(&a.allowed, MAX_SQL_BYTES);
    FB_TRY(open_engine(&a, err));
    FB_TRY(add_tables(&a, err));
    FB_TRY(lock(&a, err));
    FB_TRY(judge(&a, cli, &statement, err));
    FB_TRY(read_columns(statement, cli->form, &columns, &count, err));
    FB_TRY(print_rows(&a, cli, columns, count, err));
out:
    free_columns(columns, count);
    duckdb_destroy_prepare(&statement);
    fb_buf_clear(&a.allowed);
    fb_engine_close(a.engine);
    return code;
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    fb_code     code = FB_OK;
    fb_chosen   chosen = {0};
    fb_buf      from_stdin;
    const char *sql = cli->words_count ? cli->words[0] : NULL;
    fb_buf_init(&from_stdin, MAX_QUERY_BYTES);
    if (!sql)
        return fb_fail(err, C001,
                       "query needs one SELECT, in quotes; - reads it from "
                       "standard input");
    if (strcmp(sql, "-") == 0) {
        FB_TRY(fb_file_read("/dev/stdin", &from_stdin, err));
        sql = fb_buf_text(&from_stdin);
    }
    FB_TRY(fb_chosen_open(cli, NULL, 0, &chosen, err));
    FB_TRY(fb_query_print(cli, &chosen, sql, err));
out:
    fb_buf_clear(&from_stdin);
    fb_chosen_close(&chosen);
    return code;
}

const fb_command fb_command_query = {
    .name = "query",
    .section = "Look",
    .summary = "SQL over tables and rejected rows",
    .words = "SQL",
    .text =
        "Runs one SELECT (DuckDB's SQL). Each pipeline's table is there under the "
        "pipeline's\n"
        "name, its rejected rows under NAME_rejected; FROM (SHOW TABLES) lists them. "
        "The\n"
        "query sees the newest version of each table, reads no other file and changes\n"
        "nothing. - reads the SQL from standard input. decode(_kafka_value) shows bytes "
        "as text.",
    .examples =
        "forebay query \"SELECT status, count(*) FROM orders GROUP BY 1\"\n"
        "forebay query \"SELECT * FROM orders WHERE amount > 500\" -f csv -o big.csv\n"
        "forebay query \"FROM orders_rejected\" -f jsonl",
    .see_also = "forebay help formats",
    .forms = FB_FORMS_ALL,
    .words_max = 1,
    .run = run,
};
