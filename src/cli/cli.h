/** cli.h - one call of the program, from its arguments to its exit status.
 *
 * Results go to standard output (or -o FILE), everything else to standard error through
 * base/log.h.
 *
 * Threads: the main one.
 */
#ifndef FB_CLI_CLI_H
#define FB_CLI_CLI_H

#include "cli/command.h"
#include "run/document.h"
#include "run/plan.h"
#include "run/report.h"

/** @return the exit status */
int fb_cli_main(int argc, char **argv);

/** A configuration and the pipelines of it that a command is for. */
typedef struct fb_chosen {
    fb_document         document;
    const fb_pipeline **pipelines; ///< owned list
    size_t              count;
    char files[512]; ///< "forebay.yml", "a.yml, b.yml"; "" when there is none
} fb_chosen;

/** Read the configuration (-c, FOREBAY_CONFIG, forebay.yml), let --set and the options of the
 * command that have a key override it, and find the pipelines that `words` name: by name,
 * or by kafka://host/topic; all of them when `count` is 0.
 *
 * @param out  released with fb_chosen_close(), also on failure; then the faults are in
 *             out->document.config.found */
FB_MUST_CHECK fb_code fb_chosen_read(const fb_cli *cli, const char *const *words,
                                     size_t count, fb_chosen *out, fb_error *err);
void                  fb_chosen_close(fb_chosen *chosen); ///< may be called twice

/** Print all faults and warnings that were found to standard error.
 * @return false when there was none */
bool fb_chosen_print_faults(const fb_chosen *chosen);

/** Both: what most commands begin with. cli->is_reported is set when faults were printed. */
FB_MUST_CHECK fb_code fb_chosen_open(fb_cli *cli, const char *const *words, size_t count,
                                     fb_chosen *out, fb_error *err);

/** Choose all pipelines of a document that was read. */
FB_MUST_CHECK fb_code fb_chosen_all(fb_chosen *chosen, fb_error *err);

/** The one pipeline of a command that takes just one. @return FB_EUSAGE (C001) */
FB_MUST_CHECK fb_code fb_chosen_one(const fb_chosen *chosen, const fb_pipeline **out,
                                    fb_error *err);

/** A failure of one of several pipelines: print it and keep the exit status of the first. */
void fb_cli_report(fb_cli *cli, const fb_error *err);

/** Read --from, --to. @return FB_EUSAGE (C001) */
FB_MUST_CHECK fb_code fb_cli_where(const fb_cli *cli, const char *name, fb_where *out,
                                   fb_error *err);

/** When the oldest message that waits was written, for each partition of the plan: ms since
 * 1970, -1 where none waits or nobody knows. Best effort, within seconds.
 * @return in the plan's order, released with fb_free(); NULL when memory ran out */
int64_t *fb_cli_oldest(fb_session *session, const fb_plan *plan);

/** "4 s", "22 min", "3 h", "12 d". @return `out` */
const char *fb_text_age(int64_t ms, char out[32]);

/** "12 messages", "1 message": a count with its noun. @return `out` */
const char *fb_text_counted(int64_t n, const char *noun, char out[64]);

/** Add a word so that a shell takes it as one: 'my file.yml'. */
void fb_cli_add_word(fb_buf *out, const char *word);

/** "forebay -c a.yml": how a command to be pasted begins, with the files of this call. */
enum { FB_MAX_AGAIN = 600 };
const char *fb_cli_again(const fb_cli *cli, char out[FB_MAX_AGAIN]);

/** "12 rejected: amount not_null 6, ...", to standard error; nothing when there is none.
 * @param name  the pipeline's, to show where they are; NULL: not */
void fb_cli_say_rejected(const fb_cli *cli, const fb_report *report, const char *name);

/** From now on the first SIGINT or SIGTERM asks the run to stop, a second one ends us.
 * @param said  what to tell at the first, static; NULL: nothing */
void fb_cli_catch_signals(const char *said);

#define FB_SAID_STOPPING                                                                 \
    "\nstopping: what was read is committed first (once more: drop it, it is read "      \
    "again "                                                                             \
    "next time)\n"

/** The signal that asked for the stop, 0 when there was none. */
int fb_cli_signal(void);

/** How long a command that only looks waits for brokers: source.timeout_ms where it is
 * set, else five seconds. */
int64_t fb_cli_look_ms(const fb_pipeline *pipeline);

void fb_reasons_write_reference(FILE *to); ///< docs/reference/errors.md

/* The options that `run` and `plan` share, in run.c. */
extern const fb_flag fb_read_flags[];

extern const fb_command fb_command_run, fb_command_check, fb_command_plan, fb_command_lag,
    fb_command_offsets, fb_command_query, fb_command_demo, fb_command_schema,
    fb_command_explain, fb_command_help, fb_command_completions;

#endif
