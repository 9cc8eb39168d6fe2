/** check.h - what a unit test file includes, and all it needs to.
 *
 * TEST(a_sentence_that_is_true_when_it_passes) { ... } is the whole of a test: it lists
 * itself under its file's name, so no second list can forget it.  All files are linked into
 * one program, whose main is tests/unit/main.c.  A failed check says what came and what
 * was wanted, and the test goes on; use REQUIRE where going on makes no sense.
 *
 * Threads: checks may be made from any thread; each test begins and ends in main's.
 */
#ifndef FB_TESTS_CHECK_H
#define FB_TESTS_CHECK_H

#include <stddef.h>
#include <stdint.h>

typedef struct check_test {
    const char        *file; ///< its path from the root of the tree
    const char        *name;
    void             (*run)(void);
    struct check_test *next; ///< the runner's
} check_test;

/** List `test`, which must live as long as the program. */
void check_list(check_test *test);

/** Where a check stands, and the words of what it looks at. */
typedef struct check_site {
    const char *file;
    int         line;
    const char *what;
} check_site;

/** Count a failed check of the running test and print where and why, as printf does. */
__attribute__((format(printf, 2, 3))) void check_failed(check_site at, const char *format,
                                                        ...);

/** Skip the rest of the running test, because of `why`; return from the test afterwards. */
void check_skip(const char *why);

/* The comparisons behind the macros. */
void check_text(check_site at, const char *got, const char *want);
void check_has(check_site at, const char *got, const char *part);
void check_int(check_site at, int64_t got, int64_t want);
void check_bytes(check_site at, const void *got, size_t got_length, const void *want,
                 size_t want_length);

#define CHECK_SITE(what) ((check_site){__FILE__, __LINE__, what})

#define TEST(sentence)                                                                   \
    static void                              sentence(void);                             \
    __attribute__((constructor)) static void sentence##_lists_itself(void)               \
    {                                                                                    \
        static check_test test = {__FILE__, #sentence, sentence, NULL};                  \
        check_list(&test);                                                               \
    }                                                                                    \
    static void sentence(void)

/** The condition holds. */
#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) check_failed(CHECK_SITE(#condition), "does not hold");         \
    } while (0)

/** As CHECK, but a test that fails it ends there. */
#define REQUIRE(condition)                                                               \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            check_failed(CHECK_SITE(#condition), "does not hold");                       \
            return;                                                                      \
        }                                                                                \
    } while (0)

/** Two texts are the same; NULL is a text of its own. */
#define CHECK_TEXT(got, want) check_text(CHECK_SITE(#got), (got), (want))

/** The text `part` stands somewhere in `got`. */
#define CHECK_HAS(got, part) check_has(CHECK_SITE(#got), (got), (part))

/** Two whole numbers, of any width up to 64 bits, are the same. */
#define CHECK_INT(got, want) check_int(CHECK_SITE(#got), (int64_t)(got), (int64_t)(want))

/** Two stretches of bytes are the same. */
#define CHECK_BYTES(got, got_length, want, want_length)                                  \
    check_bytes(CHECK_SITE(#got), (got), (got_length), (want), (want_length))

/** A call returns the wanted fb_code; its fb_error's words are shown when it does not. */
#define CHECK_CODE(call, want, err)                                                      \
    do {                                                                                 \
        int got_code_ = (int)(call);                                                     \
        if (got_code_ != (int)(want))                                                    \
            check_failed(CHECK_SITE(#call), "is %d, not %s: %s", got_code_, #want,       \
                         got_code_ ? (err)->what : "(no error)");                        \
    } while (0)

/** Skip the test here and say why. */
#define SKIP(why)                                                                        \
    do {                                                                                 \
        check_skip(why);                                                                 \
        return;                                                                          \
    } while (0)

#endif
