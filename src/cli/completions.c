/* completions.c - the command `completions`: what a shell needs to complete our words.
 *
 * Commands, options, their choices, the words of commands; files where a FILE or FOLDER is
 * asked for. All from the rows of the tables.
 */
#include "cli/cli.h"

#include <string.h>

/* Call `print` for each option of a command; NULL: of every command. */
static void each_flag(const fb_command *command, void (*print)(const fb_flag *, FILE *),
                      FILE             *to)
{
    const fb_flag_group *group = command ? command->groups : fb_global_flags;
    for (; group && group->title; group++)
        for (const fb_flag *flag = group->flags; flag->name; flag++) print(flag, to);
}

static bool is_path(const fb_flag *flag)
{
    return flag->argument &&
           (strcmp(flag->argument, "FILE") == 0 || strcmp(flag->argument, "FOLDER") == 0);
}

/* --- bash ----------------------------------------------------------------------------- */

static void bash_flag(const fb_flag *flag, FILE *to)
{
    if (flag->letter) fprintf(to, "-%c ", flag->letter);
    fprintf(to, "--%s ", flag->name);
}

/* The line of `case $previous in` for an option with an argument. */
static void bash_argument(const fb_flag *flag, FILE *to)
{
    if (!flag->argument || flag->is_optional) return;
    fprintf(to, "        --%s", flag->name);
    if (flag->letter) fprintf(to, "|-%c", flag->letter);
    if (is_path(flag))
        fputs(") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n", to);
    else
        fprintf(to, ") COMPREPLY=($(compgen -W '%s' -- \"$current\")); return ;;\n",
                flag->choices ? flag->choices : "");
}

static void write_bash(FILE *to)
{
    fputs(
        "# bash completion of forebay: put it where bash-completion looks, for example\n"
        "#   forebay completions bash > "
        "~/.local/share/bash-completion/completions/forebay\n"
        "_forebay() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} "
        "previous=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    local command= word options words=\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case $word in ",
        to);
    for (const fb_command *const *at = fb_commands; *at; at++)
        fprintf(to, "%s%s", at == fb_commands ? "" : "|", (*at)->name);
    fputs(") command=$word; break ;; esac\n    done\n    case $previous in\n", to);
    each_flag(NULL, bash_argument, to);
    fputs("    esac\n    options='", to);
    each_flag(NULL, bash_flag, to);
    fputs("'\n    case $command in\n", to);
    for (const fb_command *const *at = fb_commands; *at; at++) {
        fprintf(to, "    %s)\n        options+='", (*at)->name);
        each_flag(*at, bash_flag, to);
        fprintf(to, "' words='%s'\n        case $previous in\n",
                (*at)->actions ? (*at)->actions : "");
        each_flag(*at, bash_argument, to);
        fputs("        esac ;;\n", to);
    }
    fputs("    '') words='", to);
    for (const fb_command *const *at = fb_commands; *at; at++)
        fprintf(to, "%s ", (*at)->name);
    fputs("' ;;\n"
          "    esac\n"
          "    [[ $current == -* ]] && words=$options\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "}\n"
          "complete -F _forebay forebay\n",
          to);
}

/* --- zsh ------------------------------------------------------------------------------ */

/* The first line of a text inside a shell's single quotes; `unsafe` gets a backslash. */
static void put_quoted(const char *text, const char *unsafe, FILE *to)
{
    for (; *text && *text != '\n'; text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else if (strchr(unsafe, *text))
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
    }
}

/* '*--format=[table, json, ...]:FORMAT:(table json)' */
static void zsh_flag(const fb_flag *flag, FILE *to)
{
    fprintf(to, "\n        '*--%s%s[", flag->name,
            !flag->argument     ? ""
            : flag->is_optional ? "=-"
                                : "=");
    put_quoted(flag->help, "[]\\", to);
    fputc(']', to);
    if (flag->argument)
        fprintf(to, "%s%s:", flag->is_optional ? "::" : ":", flag->argument);
    if (flag->choices)
        fprintf(to, "(%s)", flag->choices);
    else if (is_path(flag))
        fputs("_files", to);
    fputc('\'', to);
}

static void write_zsh(FILE *to)
{
    fputs("#compdef forebay\n"
          "_forebay() {\n"
          "    local state\n"
          "    local -a commands common own\n"
          "    commands=(",
          to);
    for (const fb_command *const *at = fb_commands; *at; at++) {
        fprintf(to, "\n        '%s:", (*at)->name);
        put_quoted((*at)->summary, ":\\", to);
        fputc('\'', to);
    }
    fputs("\n    )\n    common=(", to);
    each_flag(NULL, zsh_flag, to);
    fputs("\n    )\n"
          "    _arguments -C $common '1: :->command' '*:: :->rest'\n"
          "    case $state in\n"
          "    command) _describe command commands ;;\n"
          "    rest)\n"
          "        own=()\n"
          "        case $words[1] in\n",
          to);
    for (const fb_command *const *at = fb_commands; *at; at++) {
        fprintf(to, "        %s) own=('1: :(%s)'", (*at)->name,
                (*at)->actions ? (*at)->actions : "");
        each_flag(*at, zsh_flag, to);
        fputs("\n        ) ;;\n", to);
    }
    fputs("        esac\n"
          "        _arguments $common $own ;;\n"
          "    esac\n"
          "}\n"
          "_forebay \"$@\"\n",
          to);
}

/* --- fish ----------------------------------------------------------------------------- */

static void fish_rest(const fb_flag *flag, FILE *to)
{
    fprintf(to, " -l %s", flag->name);
    if (flag->letter) fprintf(to, " -s %c", flag->letter);
    if (flag->argument && !flag->is_optional) fputs(is_path(flag) ? " -r -F" : " -x", to);
    if (flag->choices) fprintf(to, " -a '%s'", flag->choices);
    fputs(" -d '", to);
    put_quoted(flag->help, "\\", to);
    fputs("'\n", to);
}

static void write_fish(FILE *to)
{
    fputs("complete -c forebay -f\n", to);
    for (const fb_flag *flag = fb_global_flags->flags; flag->name; flag++) {
        fputs("complete -c forebay", to);
        fish_rest(flag, to);
    }
    for (const fb_command *const *at = fb_commands; *at; at++) {
        const fb_command *command = *at;
        fprintf(to, "complete -c forebay -n __fish_use_subcommand -a %s -d '",
                command->name);
        put_quoted(command->summary, "\\", to);
        fputs("'\n", to);
        if (command->actions)
            fprintf(to,
                    "complete -c forebay -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                    command->name, command->actions);
        for (const fb_flag_group *group = command->groups; group && group->title;
             group++) {
            for (const fb_flag *flag = group->flags; flag->name; flag++) {
                fprintf(to, "complete -c forebay -n '__fish_seen_subcommand_from %s'",
                        command->name);
                fish_rest(flag, to);
            }
        }
    }
}

static fb_code run(fb_cli *cli, fb_error *err)
{
    const char *shell = cli->words[0];
    (void)err;
    if (strcmp(shell, "bash") == 0)
        write_bash(cli->out);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(cli->out);
    else
        write_fish(cli->out);
    return FB_OK;
}

const fb_command fb_command_completions = {
    .name = "completions",
    .section = "More",
    .summary = "Print the completions of a shell",
    .words = "bash|zsh|fish",
    .text = "Prints a script that lets the shell complete commands, options and their "
            "choices.",
    .examples =
        "forebay completions bash > ~/.local/share/bash-completion/completions/forebay\n"
        "forebay completions zsh > ~/.zfunc/_forebay\n"
        "forebay completions fish > ~/.config/fish/completions/forebay.fish",
    .actions = "bash zsh fish",
    .needs_action = true,
    .forms = FB_FORMS_TEXT,
    .words_max = 1,
    .run = run,
};
