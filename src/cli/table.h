/** table.h - rows and columns for people and for programs.
 *
 * Cells are given one after the other, row by row.  JSON lines, CSV and the like are
 * written as they come; a table for the terminal waits for its last row to know its
 * widths.  Whatever could drive a terminal or forge a line is escaped there.
 *
 * In a table numbers stand to the right with commas between thousands; everywhere else
 * they are written as they were given, digit by digit.  A null is empty, in JSON null.
 *
 * Threads: one at a time.
 */
#ifndef FB_CLI_TABLE_H
#define FB_CLI_TABLE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

typedef enum fb_form {
    FB_AS_TABLE,
    FB_AS_JSON,
    FB_AS_JSONL,
    FB_AS_CSV,
    FB_AS_MARKDOWN
} fb_form;

typedef enum fb_cell_kind {
    FB_CELL_TEXT,
    FB_CELL_NUMBER, ///< digits, sign, point, exponent
    FB_CELL_JSON,   ///< JSON text: in JSON written as it is, elsewhere as a text
} fb_cell_kind;

typedef enum fb_table_look {
    FB_LOOK_PLAIN, ///< two spaces between columns
    FB_LOOK_RULED, ///< bars, a line under the head, "(3 rows)" at the end
} fb_table_look;

typedef struct fb_table_column {
    const char  *name;
    fb_cell_kind kind;
} fb_table_column;

typedef struct fb_table_cell {
    const char *data; ///< NULL: null
    size_t      size;
} fb_table_cell;

typedef struct fb_table {
    fb_form                form;
    fb_table_look          look;
    bool                   has_bold_head;
    FILE                  *to;
    const fb_table_column *columns; ///< borrowed
    size_t                 columns_count;
    fb_table_cell *cells; ///< of a table for the terminal; owned, texts in `arena`
    size_t         count, room;
    fb_arena       arena;
    bool           is_too_large;
} fb_table;

/** Begin. `has_bold_head` and `look` may be set before the first cell.
 * @param columns  borrowed until fb_table_end(), at least one */
void fb_table_begin(fb_table *table, fb_form form, FILE *to,
                    const fb_table_column *columns, size_t count);

/** The next cell; `data` NULL is a null. */
void fb_table_add(fb_table *table, const char *data, size_t size);
void fb_table_add_text(fb_table *table, const char *text);
void fb_table_add_number(fb_table *table, int64_t number); ///< below 0: null

/** Print what is left and release everything.
 * @return FB_EMEMORY (M002) when a table was too large to be laid out */
FB_MUST_CHECK fb_code fb_table_end(fb_table *table, fb_error *err);

/** How many cells of a terminal a text takes; wide and combining characters count. */
size_t fb_text_width(const char *text, size_t size);

#endif
