/* usage.c - help and the reference page, printed from the rows; see command.h. */
#include "cli/command.h"

#include <string.h>

enum { COLUMN = 27 }; // where the help of an option begins

/* Write lines, each behind `prefix`. */
static void print_lines(const char *text, const char *prefix, FILE *to)
{
    while (*text) {
        size_t size = strcspn(text, "\n");
        fprintf(to, "%s%.*s\n", size ? prefix : "", (int)size, text);
        text += size + (text[size] == '\n');
    }
}

/* "-c, --config FILE", "    --fail-on-reject[=N]" */
static int write_name(const fb_flag *flag, char *out, size_t room)
{
    char letter[] = {'-', flag->letter, ',', ' ', '\0'};
    return snprintf(out, room, "%s--%s%s%s%s", flag->letter ? letter : "    ", flag->name,
                    !flag->argument     ? ""
                    : flag->is_optional ? "[="
                                        : " ",
                    flag->argument ? flag->argument : "", flag->is_optional ? "]" : "");
}

static void print_flag(const fb_flag *flag, FILE *to)
{
    char        name[80];
    int         size = write_name(flag, name, sizeof name);
    const char *line = flag->help;
    fprintf(to, "  %s", name);
    if (size + 4 > COLUMN) fputc('\n', to), size = -2;
    for (int column = size + 2; *line; column = 0) {
        size_t length = strcspn(line, "\n");
        fprintf(to, "%*s%.*s\n", COLUMN - column, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void print_groups(const fb_flag_group *groups, FILE *to)
{
    for (; groups && groups->title; groups++) {
        fprintf(to, "\n%s\n", groups->title);
        for (const fb_flag *flag = groups->flags; flag->name; flag++)
            print_flag(flag, to);
    }
}

void fb_usage_print_all(FILE *to)
{
    const char *section = "";
    fputs("forebay: move Kafka topics into lakehouse tables\n\n"
          "Usage: forebay [options] <command> [args]\n\n"
          "Try it without a Kafka cluster:\n"
          "  $ forebay demo\n"
          "Land one topic, from the last offset to the newest message:\n"
          "  $ forebay run orders\n"
          "See what is waiting:\n"
          "  $ forebay lag\n",
          to);
    for (const fb_command *const *at = fb_commands; *at; at++) {
        const fb_command *command = *at;
        if (strcmp(section, command->section) != 0)
            fprintf(to, "\n%s\n", command->section);
        section = command->section;
        fprintf(to, "  %-12s %s\n", command->name, command->summary);
    }
    print_groups(fb_global_flags, to);
    fputs("\nExit status: 0 done, 1 failed, 2 wrong command line or configuration,\n"
          "3 stopped by a data policy, 4 answer is yes (--exit-code), 5 not reachable.\n"
          "More: forebay help COMMAND, forebay help config, forebay explain CODE\n",
          to);
}

static void print_usage(const fb_command *command, FILE *to)
{
    fprintf(to, "forebay %s%s%s%s", command->name, command->groups ? " [options]" : "",
            command->words[0] ? " " : "", command->words);
}

void fb_usage_print_command(const fb_command *command, FILE *to)
{
    fprintf(to, "%s\n\nUsage: ", command->summary);
    print_usage(command, to);
    fputs("\n\n", to);
    print_lines(command->text, "", to);
    if (command->examples) fputc('\n', to);
    if (command->examples) print_lines(command->examples, "  $ ", to);
    print_groups(command->groups, to);
    fputc('\n', to);
    if (command->see_also) fprintf(to, "See also: %s\n", command->see_also);
    fputs("Options for every command: forebay --help\n", to);
}

/* --- docs/reference/commands.md ------------------------------------------------------- */

static void write_flags(const fb_flag_group *groups, FILE *to)
{
    for (; groups && groups->title; groups++) {
        fprintf(to, "\n%s\n\n", groups->title);
        for (const fb_flag *flag = groups->flags; flag->name; flag++) {
            char name[80];
            write_name(flag, name, sizeof name);
            fprintf(to, "- `%s`: ", name + strspn(name, " "));
            for (const char *at = flag->help; *at; at++)
                fputc(*at == '\n' ? ' ' : *at, to);
            fputc('\n', to);
        }
    }
}

void fb_usage_write_reference(FILE *to)
{
    fputs("# Commands\n\n"
          "<!-- Made by `forebay help --reference commands` from the tables the program "
          "reads; "
          "do not edit. -->\n\n"
          "Options of every command may stand before or behind it, those of one command "
          "stand "
          "behind it.\n`--` ends the options.\n\n"
          "## Every command\n",
          to);
    write_flags(fb_global_flags, to);
    for (const fb_command *const *at = fb_commands; *at; at++) {
        const fb_command *command = *at;
        fprintf(to, "\n## `forebay %s`\n\n%s.\n\n```text\n", command->name,
                command->summary);
        print_usage(command, to);
        fputs("\n```\n\n", to);
        print_lines(command->text, "", to);
        if (command->examples) fputs("\n```console\n", to);
        if (command->examples) print_lines(command->examples, "$ ", to);
        if (command->examples) fputs("```\n", to);
        write_flags(command->groups, to);
        if (command->see_also) fprintf(to, "\nSee also: %s\n", command->see_also);
    }
}
