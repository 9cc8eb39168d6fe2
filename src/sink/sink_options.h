/** sink_options.h - where rows go, and where rejected ones go.
 *
 * Threads: constant once read.
 */
#ifndef FB_SINK_SINK_OPTIONS_H
#define FB_SINK_SINK_OPTIONS_H

#include "config/option.h"

/** write_mode */
enum { FB_WRITE_APPEND };

/** accepted.format */
enum { FB_ACCEPTED_DELTA };

/** rejected.format */
enum { FB_REJECTED_DELTA, FB_REJECTED_NDJSON };

/** compression */
enum { FB_COMPRESS_ZSTD, FB_COMPRESS_SNAPPY, FB_COMPRESS_GZIP, FB_COMPRESS_NONE };

typedef struct fb_delta_options {
    const fb_node *node;
    int            compression;
    int64_t        row_group_size; ///< rows
} fb_delta_options;

typedef struct fb_accepted_options {
    const fb_node   *node;
    int              format;
    const char      *path; ///< a local folder, "file://" taken off, no slash at its end
    fb_delta_options delta;
} fb_accepted_options;

typedef struct fb_rejected_options {
    const fb_node *node;
    int            format;
    const char    *path; ///< as above; <accepted path>_rejected when left out
} fb_rejected_options;

typedef struct fb_sink_options {
    const fb_node      *node;
    int                 write_mode;
    fb_accepted_options accepted;
    fb_rejected_options rejected;
} fb_sink_options;

const char *fb_compression_name(int compression); ///< "zstd", ...; static text

extern const fb_option_set fb_sink_set;

#endif
