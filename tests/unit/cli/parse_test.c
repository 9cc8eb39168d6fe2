/* parse_test.c - command lines taken apart by the rows of the tables. */
#include "cli/cli.h"
#include "tests/check.h"

#include <string.h>

/* Parse the words of `line`, which holds single spaces only. `room` keeps them. */
static fb_code parse(fb_cli *cli, const char *line, char room[300], fb_error *err)
{
    static char *argv[40];
    char         program[] = "forebay";
    int          argc = 1;
    char        *rest;
    argv[0] = program;
    snprintf(room, 300, "%s", line);
    for (char *at = strtok_r(room, " ", &rest); at; at = strtok_r(NULL, " ", &rest))
        argv[argc++] = at;
    *cli = (fb_cli){0};
    return fb_cli_parse(cli, argc, argv, err);
}

TEST(options_of_every_command_stand_before_and_behind_it)
{
    fb_cli   cli;
    fb_error err = {0};
    char     room[300];
    size_t   at = 0;
    REQUIRE(parse(&cli, "-c a.yml -vq run orders -c b.yml --dry-run clicks", room,
                  &err) == FB_OK);
    CHECK_TEXT(cli.command->name, "run");
    CHECK_INT(cli.words_count, 2);
    CHECK_TEXT(cli.words[0], "orders");
    CHECK_TEXT(cli.words[1], "clicks");
    CHECK_TEXT(fb_cli_next(&cli, "config", &at), "a.yml");
    CHECK_TEXT(fb_cli_next(&cli, "config", &at), "b.yml");
    CHECK(fb_cli_next(&cli, "config", &at) == NULL);
    CHECK(fb_cli_has(&cli, "dry-run") && fb_cli_has(&cli, "verbose") &&
          fb_cli_has(&cli, "quiet"));
    CHECK(!fb_cli_has(&cli, "no-commit"));
    fb_cli_clear(&cli);
    fb_cli_clear(&cli);
}

TEST(an_argument_follows_an_option_in_each_of_its_forms)
{
    fb_cli   cli;
    fb_error err = {0};
    char     room[300];
    size_t   at = 0;
    REQUIRE(parse(&cli, "run -Xa=1 -X b=2 --kafka-option=c=3 --kafka-option d=4", room,
                  &err) == FB_OK);
    CHECK_TEXT(fb_cli_next(&cli, "kafka-option", &at), "a=1");
    CHECK_TEXT(fb_cli_next(&cli, "kafka-option", &at), "b=2");
    CHECK_TEXT(fb_cli_next(&cli, "kafka-option", &at), "c=3");
    CHECK_TEXT(fb_cli_next(&cli, "kafka-option", &at), "d=4");
    CHECK_INT(fb_cli_count(&cli, "kafka-option"), 4);
    fb_cli_clear(&cli);
}

TEST(an_optional_argument_never_takes_the_next_word)
{
    fb_cli   cli;
    fb_error err = {0};
    char     room[300];
    REQUIRE(parse(&cli, "run --fail-on-reject 3", room, &err) == FB_OK);
    CHECK(fb_cli_has(&cli, "fail-on-reject"));
    CHECK(fb_cli_text(&cli, "fail-on-reject") == NULL);
    CHECK_TEXT(cli.words[0], "3");
    fb_cli_clear(&cli);
    REQUIRE(parse(&cli, "run --fail-on-reject=3", room, &err) == FB_OK);
    CHECK_TEXT(fb_cli_text(&cli, "fail-on-reject"), "3");
    fb_cli_clear(&cli);
}

TEST(two_dashes_end_the_options)
{
    fb_cli   cli;
    fb_error err = {0};
    char     room[300];
    REQUIRE(parse(&cli, "run -- --dry-run -q", room, &err) == FB_OK);
    CHECK_INT(cli.words_count, 2);
    CHECK_TEXT(cli.words[0], "--dry-run");
    CHECK(!fb_cli_has(&cli, "dry-run"));
    fb_cli_clear(&cli);
}

TEST(the_last_of_an_option_counts_and_numbers_have_bounds)
{
    fb_cli   cli;
    fb_error err = {0};
    char     room[300];
    int64_t  number = 0;
    REQUIRE(parse(&cli, "lag --threshold 7 --threshold 9", room, &err) == FB_OK);
    CHECK(fb_cli_number(&cli, "threshold", 0, 9, &number, &err) == FB_OK);
    CHECK_INT(number, 9);
    CHECK(fb_cli_number(&cli, "threshold", 0, 8, &number, &err) == FB_EUSAGE);
    CHECK_TEXT(err.what, "--threshold must be a whole number from 0 to 8, not \"9\"");
    fb_cli_clear(&cli);
    REQUIRE(parse(&cli, "lag", room, &err) == FB_OK);
    CHECK(fb_cli_number(&cli, "threshold", 5, 9, &number, &err) == FB_OK);
    CHECK_INT(number, 5);
    fb_cli_clear(&cli);
}

TEST(a_typo_is_answered_with_the_nearest_name)
{
    static const struct {
        const char *line, *what;
    } typos[] = {
        {"rum", "unknown command \"rum\", did you mean \"run\"?"},
        {"run --dryrun", "unknown option \"--dryrun\", did you mean \"--dry-run\"?"},
        {"run --format=tabel",
         "--format must be table, json, jsonl, csv or markdown, not \"tabel\""},
        {"completions bsh", "completions takes bash, zsh or fish, not \"bsh\""},
        {"xyzzy", "unknown command \"xyzzy\""},
    };
    for (size_t i = 0; i < sizeof typos / sizeof *typos; i++) {
        fb_cli   cli;
        fb_error err = {0};
        char     room[300];
        CHECK(parse(&cli, typos[i].line, room, &err) == FB_EUSAGE);
        CHECK_TEXT(err.what, typos[i].what);
        fb_cli_clear(&cli);
    }
}

/* Each row is named once, has its help, and a letter that is nobody else's. */
static void check_flags(const fb_command *command)
{
    const fb_flag_group *both[] = {fb_global_flags, command->groups};
    char                 letters[64] = "", names[4000] = " ";
    for (size_t i = 0; i < 2; i++) {
        for (const fb_flag_group *group = both[i]; group && group->title; group++) {
            for (const fb_flag *flag = group->flags; flag->name; flag++) {
                char name[80], letter[] = {flag->letter, '\0'};
                snprintf(name, sizeof name, " %s ", flag->name);
                CHECK(strstr(names, name) == NULL);
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s",
                         name + 1);
                CHECK(!flag->letter || strchr(letters, flag->letter) == NULL);
                snprintf(letters + strlen(letters), sizeof letters - strlen(letters),
                         "%s", letter);
                CHECK(flag->help && flag->help[0]);
                CHECK(!flag->choices || flag->argument);
            }
        }
    }
}

TEST(every_command_and_option_is_declared_in_full)
{
    for (const fb_command *const *at = fb_commands; *at; at++) {
        const fb_command *command = *at;
        CHECK(fb_command_find(command->name) == command);
        CHECK(command->section && command->summary && command->words && command->text);
        CHECK(command->forms & 1 << FB_AS_TABLE);
        CHECK(command->run != NULL);
        CHECK(!command->needs_action || command->actions);
        check_flags(command);
    }
}
