/* table_test.c - cells in each form, and texts that would drive a terminal. */
#include "cli/table.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static const fb_table_column columns[] = {
    {"name", FB_CELL_TEXT}, {"count", FB_CELL_NUMBER}, {"more", FB_CELL_JSON}};

/* Print two rows; the caller frees the text. */
static char *print(fb_form form, fb_table_look look)
{
    char    *text = NULL;
    size_t   size = 0;
    FILE    *to = open_memstream(&text, &size);
    fb_table table;
    fb_error err;
    fb_table_begin(&table, form, to, columns, 3);
    table.look = look;
    fb_table_add_text(&table, "a,\"b\"");
    fb_table_add_number(&table, 1234567);
    fb_table_add_text(&table, "[1,2]");
    fb_table_add_text(&table, "");
    fb_table_add_number(&table, -1);
    fb_table_add_text(&table, NULL);
    CHECK(fb_table_end(&table, &err) == FB_OK);
    fclose(to);
    return text;
}

static void check_form(fb_form form, fb_table_look look, const char *want)
{
    char *got = print(form, look);
    CHECK_TEXT(got, want);
    free(got);
}

TEST(numbers_stand_to_the_right_with_commas_and_a_null_is_empty)
{
    check_form(FB_AS_TABLE, FB_LOOK_PLAIN,
               " name       count  more\n"
               " a,\"b\"  1,234,567  [1,2]\n"
               " \n");
    check_form(FB_AS_TABLE, FB_LOOK_RULED,
               " name  | count     | more\n"
               "-------+-----------+-------\n"
               " a,\"b\" | 1,234,567 | [1,2]\n"
               "       |           | \n"
               "(2 rows)\n");
}

TEST(forms_for_programs_keep_every_digit_and_tell_null_from_empty)
{
    check_form(FB_AS_CSV, FB_LOOK_PLAIN,
               "name,count,more\n"
               "\"a,\"\"b\"\"\",1234567,\"[1,2]\"\n"
               "\"\",,\n");
    check_form(FB_AS_JSONL, FB_LOOK_PLAIN,
               "{\"name\":\"a,\\\"b\\\"\",\"count\":1234567,\"more\":[1,2]}\n"
               "{\"name\":\"\",\"count\":null,\"more\":null}\n");
    check_form(FB_AS_JSON, FB_LOOK_PLAIN,
               "[\n"
               " {\"name\":\"a,\\\"b\\\"\",\"count\":1234567,\"more\":[1,2]},\n"
               " {\"name\":\"\",\"count\":null,\"more\":null}\n"
               "]\n");
    check_form(FB_AS_MARKDOWN, FB_LOOK_PLAIN,
               "| name | count | more |\n"
               "| --- | ---: | --- |\n"
               "| a,\"b\" | 1234567 | [1,2] |\n"
               "|  |  |  |\n");
}

static void check_number(const char *cell, const char *want)
{
    static const fb_table_column number[] = {{"n", FB_CELL_NUMBER}};
    char                        *text = NULL, line[80];
    size_t                       size = 0;
    FILE                        *to = open_memstream(&text, &size);
    fb_table                     table;
    fb_error                     err;
    fb_table_begin(&table, FB_AS_TABLE, to, number, 1);
    fb_table_add_text(&table, cell);
    CHECK(fb_table_end(&table, &err) == FB_OK);
    fclose(to);
    snprintf(line, sizeof line, " %s\n", want);
    CHECK_HAS(text, line);
    free(text);
}

TEST(commas_change_no_number)
{
    check_number("0", "0");
    check_number("999", "999");
    check_number("1000", "1,000");
    check_number("-1000.25", "-1,000.25");
    check_number("123456.7891", "123,456.7891");
    check_number("1e+20", "1e+20");
    check_number("1.2345678e+17", "1.2345678e+17");
    check_number("nan", "nan");
    check_number("-inf", "-inf");
}

TEST(a_cell_cannot_drive_the_terminal_or_leave_its_line)
{
    static const fb_table_column one[] = {{"t\x1b", FB_CELL_TEXT}};
    char                        *text = NULL;
    size_t                       size = 0;
    FILE                        *to = open_memstream(&text, &size);
    fb_table                     table;
    fb_error                     err;
    fb_table_begin(&table, FB_AS_TABLE, to, one, 1);
    fb_table_add(&table, "a\n\x1b[31m\0\xff\xe2\x80\xae", 12);
    CHECK(fb_table_end(&table, &err) == FB_OK);
    fclose(to);
    CHECK_TEXT(text, " t\\x1b\n a\\n\\x1b[31m\\x00\\xff\\u202e\n");
    free(text);
}

TEST(wide_and_combining_characters_take_the_cells_they_take)
{
    CHECK_INT(fb_text_width("abc", 3), 3);
    CHECK_INT(fb_text_width("中文", strlen("中文")), 4);
    CHECK_INT(fb_text_width("e\xcc\x81", 3), 1);
    CHECK_INT(fb_text_width("\xff", 1), 1);
    CHECK_INT(fb_text_width("", 0), 0);
}
