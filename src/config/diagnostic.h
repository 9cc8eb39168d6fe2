/** diagnostic.h - everything that is wrong with a configuration, found in one pass.
 *
 * A diagnostic has a place in a file, a reason, a message and, when there is one, the
 * word that was probably meant or a sentence on what to do.  They are printed as UX K
 * has it: `FILE:LINE:COLUMN: error: what [CODE]`, the line, a caret.  Text that may be a
 * secret is shown as *** wherever a line of a file is printed.
 *
 * Threads: one at a time.
 */
#ifndef FB_CONFIG_DIAGNOSTIC_H
#define FB_CONFIG_DIAGNOSTIC_H

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>

/** One file as it was read, or a command-line flag that stands for one. */
typedef struct fb_config_file {
    const char *name; ///< as the user named it; "--set", "--max-messages"
    char       *text; ///< whole, for the lines under the messages; "" for a flag
    size_t      size;
    int         number;          ///< 0, 1, ...: the order in which messages come
    struct fb_config_file *next; ///< the file that was read after this one
} fb_config_file;

/** Where something is written. Lines and columns count from 1, columns in characters. */
typedef struct fb_place {
    const fb_config_file *file;         ///< NULL: nowhere in particular
    int                   line, column; ///< line 0: the file as a whole, or a flag
    int                   length;       ///< of the text meant, for the caret; 0: no caret
    int                   more_lines;   ///< which the text goes on below
} fb_place;

typedef struct fb_diagnostic {
    fb_place    place;
    fb_reason   reason;
    bool        is_warning;
    size_t      number;     ///< the order in which they were found
    const char *message;    ///< one line, no full stop
    const char *suggestion; ///< the word that was probably meant, or NULL
    const char *hint;       ///< what to do, one line, or NULL
} fb_diagnostic;

typedef struct fb_diagnostics {
    fb_arena        arena; ///< owns all texts
    fb_diagnostic **list;
    size_t          count, room;
    size_t          errors, warnings; ///< also of those too many to be kept
    fb_place       *hidden;           ///< what must be shown as ***
    size_t          hidden_count, hidden_room;
    bool            is_short_of_memory;
} fb_diagnostics;

void fb_diagnostics_init(fb_diagnostics *found);
void fb_diagnostics_clear(fb_diagnostics *found); ///< may be called twice

/** Note an error. When memory runs out, fb_diagnostics_check() says so in the end. */
void fb_diagnose(fb_diagnostics *found, fb_reason reason, fb_place place, const char *fmt,
                 ...) FB_PRINTF(4, 5);
/** Note something that is worth a look and stops nothing. */
void fb_diagnose_warning(fb_diagnostics *found, fb_reason reason, fb_place place,
                         const char *fmt, ...) FB_PRINTF(4, 5);
/** Note a failure that a function of another folder has described. */
void fb_diagnose_error(fb_diagnostics *found, fb_place place, const fb_error *err);

/** Complete the diagnostic noted last: the word meant (NULL: none), what to do. */
void fb_diagnose_suggest(fb_diagnostics *found, const char *word);
void fb_diagnose_hint(fb_diagnostics *found, const char *fmt, ...) FB_PRINTF(2, 3);

/** Never show the text at `place` again, whatever is printed. */
void fb_diagnostics_hide(fb_diagnostics *found, fb_place place);

/** Sort as they are shown: faults of files by place, then those of the environment. */
void fb_diagnostics_sort(fb_diagnostics *found);

/** Print the first FB_MAX_ERRORS_SHOWN and a line with their number, which ends in
 * "; nothing was contacted". Prints nothing when there are none. */
void fb_diagnostics_print(const fb_diagnostics *found, FILE *to);

/** Print all as a JSON array of
 * {file, line, column, code, severity, message, suggestion}; unknown members are null. */
void fb_diagnostics_print_json(const fb_diagnostics *found, FILE *to);

/** @return FB_OK when no error was noted; else the code of the first, told in `err` */
FB_MUST_CHECK fb_code fb_diagnostics_check(const fb_diagnostics *found, fb_error *err);

#endif
