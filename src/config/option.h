/** option.h - settings declared once: read, checked, explained and described.
 *
 * A module that has settings keeps one array of fb_option beside the struct it fills.
 * From that array come, with no second list anywhere:
 *   - the reader that fills the struct, naming file, line and column of every fault;
 *   - the command-line flags that set the same keys (load.h, fb_config_put);
 *   - help, docs/reference/config.md and the JSON Schema (describe.h).
 *
 * Every such struct begins with `const fb_node *node`, the map it was read from (NULL
 * when the section was left out), so that later rules can point at a setting:
 * fb_node_place(source->node, "topic").  All it holds lives in the arena of the reader:
 * nothing is freed one by one.
 *
 * What was left out and has no default is NULL (texts, lists), false, FB_UNSET (numbers,
 * choices) or a secret of kind FB_SECRET_NONE.
 *
 * Threads: the tables are constant; a reader belongs to one thread.
 */
#ifndef FB_CONFIG_OPTION_H
#define FB_CONFIG_OPTION_H

#include "config/secret.h"
#include "config/yaml.h"

#include <stdint.h>

enum { FB_UNSET = -1 };

typedef enum fb_option_type {
    FB_OPT_TEXT,     ///< const char *
    FB_OPT_SECRET,   ///< fb_secret
    FB_OPT_BOOL,     ///< bool
    FB_OPT_COUNT,    ///< int64_t; also lengths of time whose key ends in _ms
    FB_OPT_DURATION, ///< int64_t milliseconds in FIELD_ms; "250ms", "30s", "10 seconds"
    FB_OPT_BYTES,    ///< int64_t in FIELD_bytes; "64kB", "16MB", "1GB" (powers of 1024)
    FB_OPT_CHOICE,   ///< int; an index into `choices`
    FB_OPT_FLAGS,    ///< unsigned; a list of `choices`, bit 1 << index each
    FB_OPT_TEXTS,    ///< const char **FIELD, size_t FIELD_count
    FB_OPT_PAIRS,    ///< fb_pair *FIELD, size_t FIELD_count; any key with a scalar
    FB_OPT_SECTION,  ///< a struct by value, described by `section`
    FB_OPT_LIST,     ///< T *FIELD, size_t FIELD_count: sections
    FB_OPT_MAP,      ///< the same, by name; T has `const char *name`
    FB_OPT_INLINE,   ///< a struct by value whose keys stand among these
    FB_OPT_RENAMED,  ///< not a setting: `fallback` names the setting to write instead
} fb_option_type;

enum { FB_OPT_REQUIRED = 1 << 0 };

/** A key that is passed on as it is. One of `value` and `secret` is set. */
typedef struct fb_pair {
    const fb_node *node;
    const char    *name;
    const char    *value; ///< NULL when the key takes a secret
    fb_secret      secret;
} fb_pair;

/** A key of FB_OPT_PAIRS that is not passed on: `instead` completes
 * `"group.id" cannot be set here: ...`. A name that begins with * matches endings. */
typedef struct fb_owned_key {
    const char *name, *instead;
} fb_owned_key;

typedef struct fb_option {
    const char                 *name;
    fb_option_type              type;
    size_t                      offset;       ///< of the field in the module's struct
    size_t                      count_offset; ///< of FIELD_count
    size_t                      name_offset;  ///< of `name` in a map's struct
    const char                 *fallback;     ///< as a user would write it
    int64_t                     min, max;     ///< inclusive; max 0 = no limit
    const char *const          *choices;      ///< NULL-terminated
    const char *const          *later;   ///< choices of other versions, refused as such
    const struct fb_option_set *section; ///< of sections, lists, maps, inlines
    const fb_owned_key         *owned;   ///< of pairs, ends at a NULL name
    const char *const          *secrets; ///< of pairs: the keys that take a secret
    unsigned                    flags;
    const char                 *help; ///< first sentence: what it does; then what to know
    const char                 *example; ///< must pass the reader; a test reads every one
} fb_option;

typedef struct fb_reader {
    fb_arena       *arena; ///< owns what is read
    fb_diagnostics *found; ///< where faults are noted
    bool            allows_inline_secrets;
} fb_reader;

typedef struct fb_option_set {
    const char      *name;    ///< "source"; what the section is called in messages
    const char      *help;    ///< what the section is for
    size_t           size;    ///< of the struct
    const fb_option *options; ///< ends at a row whose name is NULL

    /** Judge the rules between settings and complete what depends on others; may be NULL.
     * Runs after the fields are read, also when some were at fault: ask fb_node_has()
     * whether a key was given. Faults are noted in `reader->found`.
     * @return FB_OK; FB_EMEMORY */
    fb_code (*check)(fb_reader *reader, void *values, fb_error *err);
} fb_option_set;

/* Begin a row: `{FB_COUNT(fb_kafka_source, max_wait_ms), .fallback = "5000", ...}`.  The
 * setting is called as the field is; a field of another type does not compile. */
#define FB_OPT_FIELD(S, field, T)                                                        \
    (offsetof(S, field) + 0 * sizeof(char[_Generic(&((S *)0)->field, T * : 1)]))
#define FB_OPT_ROW(S, key, field, T, kind)                                               \
    .name = #key, .type = kind, .offset = FB_OPT_FIELD(S, field, T)
#define FB_OPT_COUNTED(S, key, T, kind)                                                  \
    FB_OPT_ROW(S, key, key, T, kind), .count_offset = FB_OPT_FIELD(S, key##_count, size_t)
#define FB_TEXT(S, key) FB_OPT_ROW(S, key, key, const char *, FB_OPT_TEXT)
#define FB_SECRET(S, key) FB_OPT_ROW(S, key, key, fb_secret, FB_OPT_SECRET)
#define FB_BOOL(S, key) FB_OPT_ROW(S, key, key, bool, FB_OPT_BOOL)
#define FB_COUNT(S, key) FB_OPT_ROW(S, key, key, int64_t, FB_OPT_COUNT)
#define FB_DURATION(S, key) FB_OPT_ROW(S, key, key##_ms, int64_t, FB_OPT_DURATION)
#define FB_BYTES(S, key) FB_OPT_ROW(S, key, key##_bytes, int64_t, FB_OPT_BYTES)
#define FB_CHOICE(S, key) FB_OPT_ROW(S, key, key, int, FB_OPT_CHOICE)
#define FB_FLAGS(S, key) FB_OPT_ROW(S, key, key, unsigned, FB_OPT_FLAGS)
#define FB_TEXTS(S, key) FB_OPT_COUNTED(S, key, const char **, FB_OPT_TEXTS)
#define FB_PAIRS(S, key) FB_OPT_COUNTED(S, key, fb_pair *, FB_OPT_PAIRS)
#define FB_SECTION(S, key, T, set)                                                       \
    FB_OPT_ROW(S, key, key, T, FB_OPT_SECTION), .section = (set)
#define FB_LIST(S, key, T, set) FB_OPT_COUNTED(S, key, T *, FB_OPT_LIST), .section = (set)
#define FB_MAP(S, key, T, set)                                                           \
    FB_OPT_COUNTED(S, key, T *, FB_OPT_MAP),                                             \
        .section = (set), .name_offset = FB_OPT_FIELD(T, name, const char *)
#define FB_INLINE(S, field, T, set)                                                      \
    FB_OPT_ROW(S, field, field, T, FB_OPT_INLINE), .section = (set)
#define FB_RENAMED(old, now)                                                             \
    {                                                                                    \
        .name = old, .type = FB_OPT_RENAMED, .fallback = now                             \
    }

/** Fill `out` from the defaults of `set`, then from `map`.
 *
 * @param map  NULL or FB_NODE_NULL: all defaults, and nothing is asked for.
 * @param out  the module's struct; whatever it held is overwritten.
 * @return FB_OK, also when faults were noted in `reader->found`; FB_EMEMORY */
FB_MUST_CHECK fb_code fb_options_read(fb_reader *reader, const fb_option_set *set,
                                      const fb_node *map, void *out, fb_error *err);

/** The row called `name`, inlined ones included; NULL when there is none.
 * `nearest`, when not NULL, gets the known name next to it, or NULL. */
const fb_option *fb_options_find(const fb_option_set *set, const char *name,
                                 const char **nearest);

/** A number of `row` as a user would write it: 64MB, not 67108864. @return `out` */
const char *fb_option_show_number(const fb_option *row, int64_t n, char out[32]);

#endif
