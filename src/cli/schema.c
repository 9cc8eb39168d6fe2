/* schema.c - the command `schema`: the configuration's own, for editors. */
#include "cli/cli.h"

#include "run/option_sets.h"

static fb_code run(fb_cli *cli, fb_error *err)
{
    (void)err;
    fb_config_write_schema(cli->out); // "config" is the one word it takes
    return FB_OK;
}

const fb_command fb_command_schema = {
    .name = "schema",
    .section = "More",
    .summary = "Print the configuration's JSON Schema",
    .words = "config",
    .text =
        "Editors that know JSON Schema complete and check a configuration with it. Put\n"
        "  # yaml-language-server: $schema=./forebay.schema.json\n"
        "into its first line.",
    .examples = "forebay schema config > forebay.schema.json",
    .see_also = "forebay help config, forebay check --offline",
    .actions = "config",
    .needs_action = true,
    .forms = FB_FORMS_JSON,
    .words_max = 1,
    .run = run,
};
