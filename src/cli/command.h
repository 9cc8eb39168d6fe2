/** command.h - a command and its options, declared once, and what was given of them.
 *
 * From the rows of a command come the parser with its "did you mean", `forebay --help`,
 * `forebay COMMAND --help`, the completions of shells and docs/reference/commands.md.
 *
 * Threads: the tables are constant; an fb_cli belongs to one thread.
 */
#ifndef FB_CLI_COMMAND_H
#define FB_CLI_COMMAND_H

#include "cli/table.h"

typedef struct fb_cli fb_cli;

/** An option of the command line. `--name` alone, or with `argument` behind it. */
typedef struct fb_flag {
    const char *name;        ///< "max-messages"; a table ends at NULL
    char        letter;      ///< 'X' for -X; 0 for none
    bool        is_optional; ///< the argument may be left out; it is given as --name=N
    const char *argument;    ///< "N"; NULL: a switch
    const char *choices; ///< "auto bar none": what the argument may be; NULL: anything
    const char *key;     ///< the key of a pipeline that it overrides, or NULL
    const char *help;    ///< lower case; a line feed begins a new line
} fb_flag;

typedef struct fb_flag_group {
    const char    *title; ///< "What to read"; a list of groups ends at NULL
    const fb_flag *flags;
} fb_flag_group;

typedef struct fb_command {
    const char          *name, *section; ///< "run", "Move data"
    const char          *summary;        ///< one line
    const char          *words;          ///< "[PIPELINE ...]": what may follow; ""
    const char          *text;           ///< what it does, some lines
    const char          *examples;       ///< lines without a prompt
    const char          *see_also;       ///< one line, or NULL
    const char          *actions;        ///< "show reset": words with a meaning, or NULL
    bool                 needs_action;   ///< the first word must be one of them
    const fb_flag_group *groups;         ///< NULL: no options of its own
    unsigned             forms;          ///< 1 << FB_AS_... that it can print
    int                  words_max;      ///< -1: any number

    /** Do it. @return any code; the caller prints `err` unless cli->is_reported */
    fb_code (*run)(fb_cli *cli, fb_error *err);
} fb_command;

enum {
    FB_FORMS_TEXT = 1 << FB_AS_TABLE,
    FB_FORMS_JSON = 1 << FB_AS_TABLE | 1 << FB_AS_JSON | 1 << FB_AS_JSONL,
    FB_FORMS_ALL = FB_FORMS_JSON | 1 << FB_AS_CSV | 1 << FB_AS_MARKDOWN,
};

extern const fb_command *const fb_commands[]; ///< in the order of the help; ends at NULL
extern const fb_flag_group     fb_global_flags[]; ///< options of every command

typedef struct fb_given {
    const fb_flag *flag;
    const char    *value; ///< NULL for a switch, or an optional argument left out
} fb_given;

/** One call of the program. */
struct fb_cli {
    const fb_command *command; ///< NULL: none was named
    fb_given         *given;   ///< owned; in their order
    size_t            given_count;
    const char      **words; ///< owned; what is neither option nor command
    size_t            words_count;
    fb_form           form;
    FILE             *out; ///< where results go
    bool              may_ask, uses_color;
    bool              is_reported; ///< the failure has been printed
    int               exit_status; ///< -1: that of the code
};

const fb_command *fb_command_find(const char *name); ///< NULL when there is none

/** Take the command line apart. The texts are borrowed from `argv`.
 * @param cli  zeroed by the caller; released with fb_cli_clear(), also on failure
 * @return FB_EUSAGE (C001) with the nearest name; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_cli_parse(fb_cli *cli, int argc, char **argv, fb_error *err);
void                  fb_cli_clear(fb_cli *cli);

/** What was given for the option called `name`, which must be declared. */
bool        fb_cli_has(const fb_cli *cli, const char *name);
const char *fb_cli_text(const fb_cli *cli, const char *name); ///< the last one; NULL
size_t      fb_cli_count(const fb_cli *cli, const char *name);

/** The next value of a repeatable option; `*at` is 0 at first. @return NULL at the end */
const char *fb_cli_next(const fb_cli *cli, const char *name, size_t *at);

/** A whole number from 0 to `most`; `fallback` when the option was not given.
 * @return FB_EUSAGE (C001) */
FB_MUST_CHECK fb_code fb_cli_number(const fb_cli *cli, const char *name, int64_t fallback,
                                    int64_t most, int64_t *out, fb_error *err);

/* --- what is printed from the tables: usage.c, completions.c -------------------------- */

void fb_usage_print_all(FILE *to); ///< forebay --help
void fb_usage_print_command(const fb_command *command,
                            FILE             *to);   ///< forebay COMMAND --help
void fb_usage_write_reference(FILE *to); ///< docs/reference/commands.md

enum { FB_MAX_WORD = 32 }; ///< bytes of a word in a list, with its NUL

/** Does a space-separated list hold `word`? */
bool fb_words_have(const char *words, const char *word);

/** The word of a space-separated list that was probably meant.
 * @return it, in `room`; NULL when none is near enough */
const char *fb_words_nearest(const char *words, const char *wanted,
                             char room[FB_MAX_WORD]);

#endif
