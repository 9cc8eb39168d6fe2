/** document.h - a whole configuration, read and checked.
 *
 * The way of a configuration:
 *   fb_document_init    nothing yet
 *   fb_config_add_file  (and _add_text, _set, _put of config/load.h on &document.config)
 *   fb_document_put_*   what the command line says
 *   fb_document_read    all of it at once becomes the structs below
 * Faults of every step gather in `document.config.found`; fb_document_read() fails when
 * there is one.
 *
 * Threads: constant once read.
 */
#ifndef FB_RUN_DOCUMENT_H
#define FB_RUN_DOCUMENT_H

#include "base/limits.h"
#include "config/load.h"
#include "schema/column_options.h"
#include "sink/sink_options.h"
#include "source/kafka_options.h"

/** type of a connection */
enum { FB_CONNECTION_KAFKA };

/** policy.severity */
enum { FB_SEVERITY_WARN, FB_SEVERITY_REJECT, FB_SEVERITY_ABORT };

/** incremental_mode */
enum { FB_INCREMENTAL_OFFSET, FB_INCREMENTAL_NONE };

/** state.store of a pipeline */
enum { FB_STORE_TARGET, FB_STORE_FILE };

typedef struct fb_connection {
    const fb_node      *node;
    const char         *name;
    int                 type;
    fb_kafka_connection kafka; ///< its keys stand beside `type`
} fb_connection;

typedef struct fb_policy_options {
    const fb_node *node;
    int            severity;
    int64_t        max_rejects; ///< FB_UNSET: any number
} fb_policy_options;

typedef struct fb_store_options {
    const fb_node *node;
    int            store;
    const char    *path; ///< of store `file`; NULL: below the document's state.path
} fb_store_options;

typedef struct fb_pipeline {
    const fb_node    *node;
    const char       *name; ///< 1 to 200 bytes, no / \ or control character, not . or ..
    fb_kafka_source   source;
    fb_schema_options schema; ///< has columns when messages are JSON; only a pipeline of
                              ///< the command line may lack them then
    fb_policy_options policy;
    int               incremental_mode;
    fb_store_options  state;
    fb_sink_options   sink;
} fb_pipeline;

typedef struct fb_state_options {
    const fb_node *node;
    const char    *path;
} fb_state_options;

typedef struct fb_report_options {
    const fb_node *node;
    const char    *path;
    int64_t        keep; ///< reports; 0: all
} fb_report_options;

typedef struct fb_document {
    const fb_node    *node;
    const char       *version; ///< "1" or "1.x"
    const char      **include; ///< empty: the files are in the tree already
    size_t            include_count;
    fb_connection    *connections;
    size_t            connections_count;
    fb_pipeline      *pipelines;
    size_t            pipelines_count;
    fb_state_options  state;
    fb_report_options report;
    int64_t           memory_bytes;
    fb_config         config; ///< owns everything above
} fb_document;

/** The set of the whole document; all others hang below it. */
extern const fb_option_set fb_document_set;

void fb_document_init(fb_document *document);
void fb_document_clear(fb_document *document); ///< may be called twice

/** Make a pipeline from the command line.
 *
 * @param source    kafka://...
 * @param target    a table's path (--to-table); NULL: leave the sink as the file has it
 * @param name      --name; NULL: the topic's
 * @param pipeline  the name it got
 * @return FB_OK; FB_ECONFIG when `source` is no address (C114) or the name is taken
 *         (C103); FB_EMEMORY */
FB_MUST_CHECK fb_code fb_document_put_pipeline(fb_document *document, const char *source,
                                               const char *target, const char *name,
                                               char pipeline[FB_MAX_NAME], fb_error *err);

/** Let a flag override one key of a pipeline: ("orders", "source.max_messages", "100",
 * "--max-messages"). The pipeline need not exist yet. */
FB_MUST_CHECK fb_code fb_document_put(fb_document *document, const char *pipeline,
                                      const char *key, const char *value,
                                      const char *flag, fb_error *err);

/** -X NAME=VALUE: a property of the Kafka client for one pipeline. */
FB_MUST_CHECK fb_code fb_document_put_client_option(fb_document *document,
                                                    const char  *pipeline,
                                                    const char  *assignment,
                                                    fb_error    *err);

/** Read and check the whole.
 * @return FB_OK; FB_ECONFIG with the first fault, all of them in `config.found`;
 *         FB_EMEMORY */
FB_MUST_CHECK fb_code fb_document_read(fb_document *document, bool allows_inline_secrets,
                                       fb_error *err);

/** Find a pipeline by name. @return FB_ECONFIG (C116) with the nearest name */
FB_MUST_CHECK fb_code fb_document_find(const fb_document *document, const char *name,
                                       const fb_pipeline **out, fb_error *err);

#endif
