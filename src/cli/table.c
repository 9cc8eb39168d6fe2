/* table.c - one writer for each form; see table.h.
 *
 * A cell goes through `add` as it comes.  The forms for programs are written at once, so
 * that a result of any size takes no memory; a table for the terminal keeps its cells until
 * the end, under the ceiling of its arena.
 */
#include "cli/table.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_TABLE_BYTES = 512 << 20 };

/* --- text for a terminal -------------------------------------------------------------- */

typedef struct span {
    uint32_t first, last;
} span;

static bool is_within(uint32_t c, const span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c >= spans[i].first && c <= spans[i].last) return true;
    return false;
}

/* Two cells wide: Unicode 15, East Asian Width W and F, in whole blocks. */
static bool is_wide(uint32_t c)
{
    static const span wide[] = {
        {0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97c},
        {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
        {0x20000, 0x3fffd}};
    return is_within(c, wide, sizeof wide / sizeof *wide);
}

/* No cell of its own: combining marks, joiners, variation selectors. */
static bool is_zero_wide(uint32_t c)
{
    static const span zero[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},
                                {0x610, 0x61a},   {0x64b, 0x65f},   {0x1ab0, 0x1aff},
                                {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x20d0, 0x20ff},
                                {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
    return is_within(c, zero, sizeof zero / sizeof *zero);
}

/* Would it drive the terminal, or turn the direction of what follows? */
static bool is_unsafe(uint32_t c)
{
    static const span unsafe[] = {
        {0, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}};
    return is_within(c, unsafe, sizeof unsafe / sizeof *unsafe);
}

static uint32_t decode(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    static const uint8_t lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t             c = s[0] & lead[length];
    for (size_t i = 1; i < length; i++) c = c << 6 | (s[i] & 0x3f);
    return c;
}

size_t fb_text_width(const char *text, size_t size)
{
    size_t width = 0;
    for (size_t i = 0; i < size;) {
        size_t   length = fb_utf8_length(text + i, size - i);
        uint32_t c = length ? decode(text + i, length) : 0xfffd;
        if (!is_zero_wide(c)) width += is_wide(c) ? 2 : 1;
        i += length ? length : 1;
    }
    return width;
}

/* Write a text so that it stays on its line: a\nb, \x1b[31m, \u202e. */
static void add_visible(fb_buf *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t   length = fb_utf8_length(text + i, size - i);
        uint32_t c = length ? decode(text + i, length) : 0;
        if (length == 0)
            fb_buf_printf(out, "\\x%02x", (unsigned char)text[i]);
        else if (c == '\n')
            fb_buf_add_text(out, "\\n");
        else if (c == '\t')
            fb_buf_add_text(out, "\\t");
        else if (is_unsafe(c) && c < 0x100)
            fb_buf_printf(out, "\\x%02x", c);
        else if (is_unsafe(c))
            fb_buf_printf(out, "\\u%04x", c);
        else
            fb_buf_add(out, text + i, length);
        i += length ? length : 1;
    }
}

/* 1234567.25 becomes 1,234,567.25; what has another form stays as it is. */
static void add_grouped(fb_buf *out, const char *text, size_t size)
{
    size_t start = size > 0 && text[0] == '-', end = start;
    while (end < size && text[end] >= '0' && text[end] <= '9') end++;
    if (end == start || (end < size && text[end] != '.') || memchr(text, 'e', size))
        end = start;
    fb_buf_add(out, text, start);
    for (size_t i = start; i < end; i++) {
        if (i > start && (end - i) % 3 == 0) fb_buf_add_char(out, ',');
        fb_buf_add_char(out, text[i]);
    }
    fb_buf_add(out, text + end, size - end);
}

/* --- forms for programs --------------------------------------------------------------- */

static void put_csv(FILE *to, const char *data, size_t size)
{
    bool is_quoted = data && size == 0; // an empty text is not a null
    for (size_t i = 0; i < size && !is_quoted; i++)
        is_quoted = memchr("\",\r\n", data[i], 4) != NULL;
    if (is_quoted) fputc('"', to);
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '"') fputc('"', to);
        fputc(data[i], to);
    }
    if (is_quoted) fputc('"', to);
}

static void put_markdown(FILE *to, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n')
            fputs("<br>", to);
        else if (strchr("|\\`*_<", data[i]) && data[i])
            fprintf(to, "\\%c", data[i]);
        else if ((unsigned char)data[i] >= 0x20)
            fputc(data[i], to);
    }
}

static bool is_json_number(const char *data, size_t size)
{
    size_t digits = size > 0 && data[0] == '-';
    return size > digits && data[digits] >= '0' && data[digits] <= '9';
}

static void put_json(FILE *to, fb_cell_kind kind, const char *data, size_t size)
{
    fb_buf text;
    bool   is_raw =
        kind == FB_CELL_JSON || (kind == FB_CELL_NUMBER && is_json_number(data, size));
    fb_buf_init(&text, SIZE_MAX / 2);
    if (is_raw)
        fb_buf_add(&text, data, size);
    else
        fb_buf_add_json(&text, data,
                        size); // also nan and inf, which JSON has no number for
    fwrite(fb_buf_text(&text), 1, text.size, to);
    fb_buf_clear(&text);
}

static void put_json_cell(fb_table *t, size_t column, const char *data, size_t size)
{
    if (column > 0)
        fputc(',', t->to);
    else if (t->form == FB_AS_JSON)
        fputs(t->count ? ",\n {" : "\n {", t->to);
    else
        fputc('{', t->to);
    put_json(t->to, FB_CELL_TEXT, t->columns[column].name,
             strlen(t->columns[column].name));
    fputc(':', t->to);
    if (data)
        put_json(t->to, t->columns[column].kind, data, size);
    else
        fputs("null", t->to);
    if (column + 1 == t->columns_count) fputs(t->form == FB_AS_JSON ? "}" : "}\n", t->to);
}

static void put_markdown_cell(fb_table *t, size_t column, const char *data, size_t size)
{
    fputs(column ? " | " : "| ", t->to);
    put_markdown(t->to, data, size);
    if (column + 1 == t->columns_count) fputs(" |\n", t->to);
}

static void put_head(fb_table *t)
{
    for (size_t i = 0; i < t->columns_count; i++) {
        const char *name = t->columns[i].name;
        if (t->form == FB_AS_CSV) {
            if (i) fputc(',', t->to);
            put_csv(t->to, name, strlen(name));
        } else {
            put_markdown_cell(t, i, name, strlen(name));
        }
    }
    if (t->form == FB_AS_CSV) fputc('\n', t->to);
    for (size_t i = 0; t->form == FB_AS_MARKDOWN && i < t->columns_count; i++)
        fprintf(t->to, "%s%s",
                t->columns[i].kind == FB_CELL_NUMBER ? "| ---: " : "| --- ",
                i + 1 == t->columns_count ? "|\n" : "");
}

/* --- a table for the terminal --------------------------------------------------------- */

static void keep(fb_table *t, const char *data, size_t size)
{
    fb_buf text;
    if (t->count == t->room) {
        size_t room = t->room ? t->room * 2 : 256;
        void  *cells = room > MAX_TABLE_BYTES / sizeof *t->cells
                           ? NULL
                           : fb_realloc(t->cells, room * sizeof *t->cells);
        if (!cells) t->is_too_large = true;
        if (!cells) return;
        t->cells = cells;
        t->room = room;
    }
    fb_table_cell *cell = &t->cells[t->count];
    *cell = (fb_table_cell){NULL, 0};
    if (!data) return;
    fb_buf_init(&text, MAX_TABLE_BYTES);
    if (t->columns[t->count % t->columns_count].kind == FB_CELL_NUMBER)
        add_grouped(&text, data, size);
    else
        add_visible(&text, data, size);
    cell->data = fb_arena_strndup(&t->arena, fb_buf_text(&text), text.size);
    cell->size = text.size;
    if (!cell->data || text.failed) t->is_too_large = true;
    fb_buf_clear(&text);
}

static void put_padded(FILE *to, fb_table_cell cell, size_t width, bool to_the_right)
{
    size_t own = cell.data ? fb_text_width(cell.data, cell.size) : 0;
    int    gap = width > own ? (int)(width - own) : 0;
    if (to_the_right) fprintf(to, "%*s", gap, "");
    if (cell.data) fwrite(cell.data, 1, cell.size, to);
    if (!to_the_right) fprintf(to, "%*s", gap, "");
}

static void put_row(const fb_table *t, const fb_table_cell *row, const size_t *widths)
{
    const char *between = t->look == FB_LOOK_RULED ? " | " : "  ";
    size_t      last = t->columns_count - 1;
    while (last > 0 && row[last].size == 0 && t->look == FB_LOOK_PLAIN) last--;
    fputc(' ', t->to);
    for (size_t i = 0; i <= last; i++) {
        bool is_number = t->columns[i].kind == FB_CELL_NUMBER;
        if (i) fputs(between, t->to);
        put_padded(t->to, row[i], i == last && !is_number ? 0 : widths[i], is_number);
    }
    fputc('\n', t->to);
}

/* The names of the columns: over numbers to the right, but to the left over a rule. */
static void put_table_head(const fb_table *t, const fb_table_cell *head,
                           const size_t *widths)
{
    if (t->has_bold_head) fputs("\033[1m", t->to);
    fputc(' ', t->to);
    for (size_t i = 0; i < t->columns_count; i++) {
        bool is_right = t->columns[i].kind == FB_CELL_NUMBER && t->look == FB_LOOK_PLAIN;
        bool is_last = i + 1 == t->columns_count;
        if (i) fputs(t->look == FB_LOOK_RULED ? " | " : "  ", t->to);
        put_padded(t->to, head[i], is_last && !is_right ? 0 : widths[i], is_right);
    }
    fputs(t->has_bold_head ? "\033[0m\n" : "\n", t->to);
    for (size_t i = 0; t->look == FB_LOOK_RULED && i < t->columns_count; i++) {
        if (i) fputc('+', t->to);
        for (size_t n = 0; n < widths[i] + 2; n++) fputc('-', t->to);
    }
    if (t->look == FB_LOOK_RULED) fputc('\n', t->to);
}

static fb_code put_table(fb_table *t, fb_error *err)
{
    fb_code        code = FB_OK;
    size_t         rows = t->count / t->columns_count;
    size_t        *widths = fb_alloc(t->columns_count * sizeof *widths);
    fb_table_cell *head = fb_alloc(t->columns_count * sizeof *head);
    fb_buf         text;
    char           number[32];

    fb_buf_init(&text, MAX_TABLE_BYTES);
    if (!widths || !head) FB_TRY(fb_fail_memory(err, "a table"));
    for (size_t i = 0; i < t->columns_count; i++) {
        fb_buf_reset(&text);
        add_visible(&text, t->columns[i].name, strlen(t->columns[i].name));
        head[i].data = fb_arena_strndup(&t->arena, fb_buf_text(&text), text.size);
        head[i].size = text.size;
        if (!head[i].data) FB_TRY(fb_fail_memory(err, "a table"));
        widths[i] = fb_text_width(head[i].data, head[i].size);
        for (size_t r = 0; r < rows; r++) {
            const fb_table_cell *cell = &t->cells[r * t->columns_count + i];
            size_t width = cell->data ? fb_text_width(cell->data, cell->size) : 0;
            if (width > widths[i]) widths[i] = width;
        }
    }
    put_table_head(t, head, widths);
    for (size_t r = 0; r < rows; r++) put_row(t, t->cells + r * t->columns_count, widths);
    if (t->look == FB_LOOK_RULED)
        fprintf(t->to, "(%s row%s)\n", fb_text_count((int64_t)rows, number),
                rows == 1 ? "" : "s");
out:
    fb_buf_clear(&text);
    fb_free(widths);
    fb_free(head);
    return code;
}

/* --- the ways in ---------------------------------------------------------------------- */

void fb_table_begin(fb_table *table, fb_form form, FILE *to,
                    const fb_table_column *columns, size_t count)
{
    fb_assert(count > 0);
    *table =
        (fb_table){.form = form, .to = to, .columns = columns, .columns_count = count};
    fb_arena_init(&table->arena, MAX_TABLE_BYTES);
    if (form == FB_AS_JSON) fputc('[', to);
    if (form == FB_AS_CSV || form == FB_AS_MARKDOWN) put_head(table);
}

void fb_table_add(fb_table *table, const char *data, size_t size)
{
    size_t column = table->count % table->columns_count;
    if (table->is_too_large) return;
    switch (table->form) {
    case FB_AS_TABLE: keep(table, data, size); break;
    case FB_AS_JSON:
    case FB_AS_JSONL: put_json_cell(table, column, data, size); break;
    case FB_AS_MARKDOWN: put_markdown_cell(table, column, data, data ? size : 0); break;
    case FB_AS_CSV:
        if (column) fputc(',', table->to);
        put_csv(table->to, data, data ? size : 0);
        if (column + 1 == table->columns_count) fputc('\n', table->to);
        break;
    }
    table->count++;
}

void fb_table_add_text(fb_table *table, const char *text)
{
    fb_table_add(table, text, text ? strlen(text) : 0);
}

void fb_table_add_number(fb_table *table, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    fb_table_add_text(table, number < 0 ? NULL : text);
}

fb_code fb_table_end(fb_table *table, fb_error *err)
{
    fb_code code = FB_OK;
    if (table->is_too_large) {
        code = fb_fail(err, M002, "the result is too large to be laid out as a table");
        fb_error_hint(err, "Print it with -f csv or -f jsonl, which take no memory.");
    } else if (table->form == FB_AS_TABLE) {
        code = put_table(table, err);
    } else if (table->form == FB_AS_JSON) {
        fputs(table->count ? "\n]\n" : "]\n", table->to);
    }
    fb_free(table->cells);
    fb_arena_clear(&table->arena);
    table->cells = NULL;
    return code;
}
