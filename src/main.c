/* main.c - the program is its command line; see cli/cli.h. */
#include "base/alloc.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
    fb_alloc_setup();
    return fb_cli_main(argc, argv);
}
