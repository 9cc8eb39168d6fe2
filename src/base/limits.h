/** limits.h - the ceilings that are not settings.  Reaching one is an error with a hint. */
#ifndef FB_BASE_LIMITS_H
#define FB_BASE_LIMITS_H

enum {
    FB_MAX_PATH = 4096,          ///< bytes of a path with its NUL
    FB_MAX_NAME = 256,           ///< bytes of a topic, pipeline or column name with its NUL
    FB_MAX_PARTITIONS = 10000,   ///< partitions of one topic
    FB_MAX_COLUMNS = 4096,       ///< columns of one schema, nested ones counted
    FB_MAX_DEPTH_DEFAULT = 128,  ///< nesting of a JSON message
    FB_MAX_DEPTH = 512,          ///< the most that max_depth can be set to
    FB_MAX_CONFIG_BYTES = 1 << 20,
    FB_MAX_CONFIG_NODES = 100000, ///< after aliases are followed
    FB_MAX_CONFIG_DEPTH = 64,
    FB_MAX_ERRORS_SHOWN = 20,
    FB_MAX_LOG_BYTES = 256 << 20, ///< of one Delta commit file
    FB_MAX_SCHEMA_DEPTH = 100,
};

#endif
