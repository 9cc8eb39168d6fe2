/** query.h - one SELECT over the tables of the pipelines.
 *
 * Threads: the main one.
 */
#ifndef FB_CLI_QUERY_H
#define FB_CLI_QUERY_H

#include "cli/cli.h"

/** Run `sql` and print its rows: each pipeline's table is there under the pipeline's name,
 * its rejected rows under NAME_rejected.  The query reads the data files of these tables and
 * nothing else, and writes nothing.
 *
 * @return FB_EUSAGE (Q004) for SQL that is refused, printed with its line and a caret already;
 *         codes of reading a table that the query names */
FB_MUST_CHECK fb_code fb_query_print(fb_cli *cli, const fb_chosen *chosen,
                                     const char *sql, fb_error *err);

#endif
