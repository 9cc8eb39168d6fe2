/* parse.c - the command line taken apart by the rows of the tables; see command.h. */
#include "base/alloc.h"
#include "base/text.h"
#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- lists of words ------------------------------------------------------------------- */

/* The next word of a space-separated list. @return false at its end */
static bool next_word(const char **words, char word[FB_MAX_WORD])
{
    const char *at = *words + strspn(*words, " ");
    size_t      size = strcspn(at, " ");
    if (size == 0) return false;
    snprintf(word, FB_MAX_WORD, "%.*s", (int)size, at);
    *words = at + size;
    return true;
}

bool fb_words_have(const char *words, const char *wanted)
{
    char word[FB_MAX_WORD];
    while (next_word(&words, word))
        if (strcmp(word, wanted) == 0) return true;
    return false;
}

const char *fb_words_nearest(const char *words, const char *wanted,
                             char room[FB_MAX_WORD])
{
    fb_nearest near;
    char       word[FB_MAX_WORD];
    size_t     least = SIZE_MAX;
    while (next_word(&words, word)) {
        fb_nearest_init(&near, wanted);
        fb_nearest_offer(&near, word);
        if (!near.best || near.edits >= least) continue;
        least = near.edits;
        memcpy(room, word, FB_MAX_WORD);
    }
    return least < SIZE_MAX ? room : NULL;
}

/* "a, b or c" */
static void list_words(const char *words, char *out, size_t room)
{
    char   word[FB_MAX_WORD];
    size_t used = 0;
    out[0] = '\0';
    while (next_word(&words, word)) {
        bool is_last = words[strspn(words, " ")] == '\0';
        int  n = snprintf(out + used, room - used, "%s%s",
                         used == 0 ? ""
                          : is_last ? " or "
                                    : ", ",
                          word);
        if (n < 0 || (size_t)n >= room - used) return;
        used += (size_t)n;
    }
}

/* --- finding commands and options ----------------------------------------------------- */

const fb_command *fb_command_find(const char *name)
{
    for (const fb_command *const *at = fb_commands; *at; at++)
        if (strcmp((*at)->name, name) == 0) return *at;
    return NULL;
}

/* Find an option by its name, or by its letter when `name` is NULL. */
static const fb_flag *find_in(const fb_flag_group *groups, const char *name, char letter,
                              fb_nearest *near)
{
    for (; groups && groups->title; groups++) {
        for (const fb_flag *flag = groups->flags; flag->name; flag++) {
            if (name ? strcmp(flag->name, name) == 0 : flag->letter == letter)
                return flag;
            if (near) fb_nearest_offer(near, flag->name);
        }
    }
    return NULL;
}

static const fb_flag *find_flag(const fb_command *command, const char *name, char letter,
                                fb_nearest *near)
{
    const fb_flag *flag = command ? find_in(command->groups, name, letter, near) : NULL;
    return flag ? flag : find_in(fb_global_flags, name, letter, near);
}

static fb_code fail_command(const char *name, fb_error *err)
{
    fb_nearest near;
    fb_nearest_init(&near, name);
    for (const fb_command *const *at = fb_commands; *at; at++)
        fb_nearest_offer(&near, (*at)->name);
    if (near.best)
        fb_error_set(err, FB_R_C001, "unknown command \"%s\", did you mean \"%s\"?", name,
                     near.best);
    else
        fb_error_set(err, FB_R_C001, "unknown command \"%s\"", name);
    fb_error_hint(err, "forebay --help lists the commands");
    return FB_EUSAGE;
}

static fb_code fail_flag(const fb_cli *cli, const char *shown, const char *name,
                         char letter, fb_error *err)
{
    fb_nearest  near;
    const char *command = cli->command ? cli->command->name : NULL;
    fb_nearest_init(&near, name ? name : "");
    (void)find_flag(cli->command, name, letter, name ? &near : NULL);
    if (near.best)
        fb_error_set(err, FB_R_C001, "unknown option \"%s\", did you mean \"--%s\"?",
                     shown, near.best);
    else
        fb_error_set(err, FB_R_C001, "unknown option \"%s\"", shown);
    for (const fb_command *const *other = fb_commands; *other && !command; other++) {
        if (!find_in((*other)->groups, name, letter, NULL)) continue;
        fb_error_hint(err,
                      "it is an option of a command and stands behind it: forebay %s %s",
                      (*other)->name, shown);
        return FB_EUSAGE;
    }
    if (command)
        fb_error_hint(err, "forebay %s --help lists the options", command);
    else
        fb_error_hint(err, "forebay --help lists the options");
    return FB_EUSAGE;
}

/* --- taking apart --------------------------------------------------------------------- */

/* Where the parser stands in argv. */
typedef struct reader {
    fb_cli *cli;
    int     argc, at;
    char  **argv;
    bool    only_words; ///< behind --
} reader;

static fb_code keep(reader *r, const fb_flag *flag, const char *value, fb_error *err)
{
    char list[200], room[FB_MAX_WORD];
    if (value && flag->choices && !fb_words_have(flag->choices, value)) {
        const char *near = fb_words_nearest(flag->choices, value, room);
        list_words(flag->choices, list, sizeof list);
        fb_error_set(err, FB_R_C001, "--%s must be %s, not \"%s\"", flag->name, list,
                     value);
        if (near) fb_error_hint(err, "did you mean \"%s\"?", near);
        return FB_EUSAGE;
    }
    r->cli->given[r->cli->given_count++] = (fb_given){flag, value};
    return FB_OK;
}

/* Take the argument of an option from the next word. */
static fb_code keep_next(reader *r, const fb_flag *flag, const char *shown, fb_error *err)
{
    const char *value = r->at + 1 < r->argc ? r->argv[r->at + 1] : NULL;
    if (!value || strncmp(value, "--", 2) == 0) {
        fb_error_set(err, FB_R_C001, "option %s needs an argument: %s", shown,
                     flag->argument);
        if (value)
            fb_error_hint(err, "one that begins with -- is written --%s=%s", flag->name,
                          value);
        return FB_EUSAGE;
    }
    r->at++;
    return keep(r, flag, value, err);
}

static fb_code read_long(reader *r, const char *text, fb_error *err)
{
    char        name[64];
    const char *equals = strchr(text + 2, '=');
    size_t      size = equals ? (size_t)(equals - text) - 2 : strlen(text + 2);
    snprintf(name, sizeof name, "%.*s", (int)size, text + 2);
    const fb_flag *flag = find_flag(r->cli->command, name, 0, NULL);
    if (!flag) {
        char shown[80];
        snprintf(shown, sizeof shown, "--%s", name);
        return fail_flag(r->cli, shown, name, 0, err);
    }
    if (equals && !flag->argument)
        return fb_fail(err, C001, "option --%s takes no argument", flag->name);
    if (equals) return keep(r, flag, equals + 1, err);
    if (!flag->argument || flag->is_optional) return keep(r, flag, NULL, err);
    return keep_next(r, flag, text, err);
}

/* -q, -vv, -Xname=value, -X name=value. */
static fb_code read_short(reader *r, const char *text, fb_error *err)
{
    fb_code code = FB_OK;
    for (const char *at = text + 1; *at && code == FB_OK; at++) {
        char           shown[] = {'-', *at, '\0'};
        const fb_flag *flag = find_flag(r->cli->command, NULL, *at, NULL);
        if (!flag) return fail_flag(r->cli, shown, NULL, *at, err);
        if (!flag->argument)
            code = keep(r, flag, NULL, err);
        else if (at[1])
            return keep(r, flag, at + 1, err);
        else
            return keep_next(r, flag, shown, err);
    }
    return code;
}

static fb_code read_word(reader *r, const char *text, fb_error *err)
{
    if (r->cli->command) {
        r->cli->words[r->cli->words_count++] = text;
        return FB_OK;
    }
    r->cli->command = fb_command_find(text);
    return r->cli->command ? FB_OK : fail_command(text, err);
}

/* Is the number and the first of the words what the command takes? */
static fb_code check_words(const fb_cli *cli, fb_error *err)
{
    const fb_command *command = cli->command;
    const char       *first = cli->words_count ? cli->words[0] : NULL;
    char              list[200], room[FB_MAX_WORD];
    bool              is_asked = fb_cli_has(cli, "help") || fb_cli_has(cli, "version");
    if (is_asked || !command) return FB_OK;
    if (command->words_max >= 0 && cli->words_count > (size_t)command->words_max)
        return fb_fail(err, C001, "unexpected \"%s\": usage is forebay %s %s",
                       cli->words[command->words_max], command->name, command->words);
    if (!command->needs_action) return FB_OK;
    list_words(command->actions, list, sizeof list);
    if (!first) return fb_fail(err, C001, "%s needs a word: %s", command->name, list);
    if (fb_words_have(command->actions, first)) return FB_OK;
    fb_error_set(err, FB_R_C001, "%s takes %s, not \"%s\"", command->name, list, first);
    const char *near = fb_words_nearest(command->actions, first, room);
    if (near) fb_error_hint(err, "did you mean \"%s\"?", near);
    return FB_EUSAGE;
}

fb_code fb_cli_parse(fb_cli *cli, int argc, char **argv, fb_error *err)
{
    fb_code code = FB_OK;
    reader  r = {.cli = cli, .argc = argc, .at = 1, .argv = argv};
    size_t  most = 1; // -vvv is three options in one word
    for (int i = 1; i < argc; i++) most += strlen(argv[i]) + 1;
    cli->given = fb_alloc(most * sizeof *cli->given);
    cli->words = fb_alloc(((size_t)argc + 1) * sizeof *cli->words);
    if (!cli->given || !cli->words) return fb_fail_memory(err, "the command line");
    for (; r.at < argc; r.at++) {
        const char *text = argv[r.at];
        if (r.only_words || text[0] != '-' || text[1] == '\0')
            FB_TRY(read_word(&r, text, err));
        else if (strcmp(text, "--") == 0)
            r.only_words = true;
        else if (text[1] == '-')
            FB_TRY(read_long(&r, text, err));
        else
            FB_TRY(read_short(&r, text, err));
    }
    code = check_words(cli, err);
out:
    return code;
}

void fb_cli_clear(fb_cli *cli)
{
    fb_free(cli->given);
    fb_free(cli->words);
    cli->given = NULL;
    cli->words = NULL;
    cli->given_count = cli->words_count = 0;
}

/* --- what was given ------------------------------------------------------------------- */

size_t fb_cli_count(const fb_cli *cli, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < cli->given_count; i++)
        count += strcmp(cli->given[i].flag->name, name) == 0;
    return count;
}

bool fb_cli_has(const fb_cli *cli, const char *name)
{
    return fb_cli_count(cli, name) > 0;
}

const char *fb_cli_text(const fb_cli *cli, const char *name)
{
    fb_assert(find_flag(cli->command, name, 0, NULL) != NULL);
    for (size_t i = cli->given_count; i > 0; i--)
        if (strcmp(cli->given[i - 1].flag->name, name) == 0)
            return cli->given[i - 1].value;
    return NULL;
}

const char *fb_cli_next(const fb_cli *cli, const char *name, size_t *at)
{
    while (*at < cli->given_count) {
        const fb_given *given = &cli->given[(*at)++];
        if (strcmp(given->flag->name, name) == 0) return given->value;
    }
    return NULL;
}

fb_code fb_cli_number(const fb_cli *cli, const char *name, int64_t fallback, int64_t most,
                      int64_t *out, fb_error *err)
{
    const char *text = fb_cli_text(cli, name);
    *out = fallback;
    if (!text) return FB_OK;
    if (fb_text_int64(text, out) && *out >= 0 && *out <= most) return FB_OK;
    return fb_fail(err, C001,
                   "--%s must be a whole number from 0 to %" PRId64 ", not \"%s\"", name,
                   most, text);
}
