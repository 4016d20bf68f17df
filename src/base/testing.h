/* What unit tests of every folder share: cmocka with its headers, and checks of Str, Status and Error that print the
 * case. For tests only. */
#ifndef INTERLACE_BASE_TESTING_H
#define INTERLACE_BASE_TESTING_H

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST(name) cmocka_unit_test(name)

/* The line of the caller is what a failed table of cases is searched by; `what` names the case. */
#define assert_str(actual, expected, what) assert_str_at((actual), (expected), (what), __FILE__, __LINE__)
#define assert_done(status, err) assert_done_at((status), (err), __FILE__, __LINE__)

static inline void assert_str_at(Str actual, const char *expected, const char *what, const char *file, int line) {
    if (!str_equal(actual, str_from(expected))) {
        (void)fprintf(stderr, "%s:\n  expected: %s\n  actual:   " STR_FMT "\n", what, expected, STR_ARG(actual));
        _fail(file, line);
    }
}

static inline void assert_done_at(Status status, const Error *err, const char *file, int line) {
    if (failed(status)) {
        (void)fprintf(stderr, "failed: " STR_FMT "\n", STR_ARG(err->message));
        _fail(file, line);
    }
}

/* An empty folder of its own, gone when the test program's caller removes it. */
static inline Str test_directory(Arena *arena) {
    const char *base = getenv("TMPDIR");
    Str pattern = str_format(arena, "%s/interlace-test-XXXXXX", base == NULL ? "/tmp" : base);
    char *path = arena_alloc(arena, pattern.size + 1);
    memcpy(path, pattern.ptr, pattern.size);
    if (mkdtemp(path) == NULL) {
        perror("mkdtemp");
        abort();
    }
    return str_from(path);
}

/* Removes what test_directory made, with all that is in it. */
static inline void test_directory_remove(Arena *arena, Str directory) {
    Str command = str_format(arena, "rm -rf '" STR_FMT "'", STR_ARG(directory));
    if (system(command.ptr) != 0) {
        (void)fprintf(stderr, "cannot remove " STR_FMT "\n", STR_ARG(directory));
    }
}

#endif
