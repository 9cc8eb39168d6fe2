/* commands.c - which commands there are, in the order of the help. */
#include "cli/cli.h"

const fb_command *const fb_commands[] = {
    &fb_command_demo,    &fb_command_check,       &fb_command_plan,  &fb_command_run,
    &fb_command_lag,     &fb_command_offsets,     &fb_command_query, &fb_command_schema,
    &fb_command_explain, &fb_command_completions, &fb_command_help,  NULL,
};
