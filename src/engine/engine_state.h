/** engine_state.h - what the files of the engine share; nobody else includes it. */
#ifndef FB_ENGINE_ENGINE_STATE_H
#define FB_ENGINE_ENGINE_STATE_H

#include "engine/engine.h"

#include <pthread.h>

/** The first failure of a scan of the query under way, whole: a callback can give the
 * query engine only a text. */
typedef struct fb_scan_failure {
    pthread_mutex_t lock;
    bool            is_set;
    fb_error        error;
} fb_scan_failure;

struct fb_engine {
    duckdb_database   database;
    duckdb_connection connection;
    fb_scan_failure   failure;
};

#endif
