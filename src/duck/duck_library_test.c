/* The outcome of a load holds for the process, so each case runs in a process of its own. */
#include "duck/duck_library.h"

#include <duckdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Loads with INTERLACE_DUCKDB_LIB set to `path`; exit code 0 when that failed with `expected` in the message. */
static int child_load_fails(const char *path, Str expected) {
    AUTO(error) Error err;
    error_init(&err);
    (void)setenv("INTERLACE_DUCKDB_LIB", path, 1);
    for (int attempt = 0; attempt < 2; attempt++) { /* the second gives the kept error */
        if (!failed(duck_library_load(&err)) || err.kind != ERROR_CONFIGURATION ||
            str_find(err.message, expected) == STR_NOT_FOUND ||
            !str_equal(error_detail_find(&err, STR("code")), STR("engine.library"))) {
            (void)fprintf(stderr, "got: " STR_FMT "\n", STR_ARG(err.message));
            return 1;
        }
    }
    return duck_library_path() == NULL && duck_library_version_text() == NULL ? 0 : 1;
}

static void assert_load_fails(const char *path, Str expected) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(child_load_fails(path, expected));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void missing_library_is_an_error_that_names_the_file(void **state) {
    (void)state;
    assert_load_fails("/nowhere/libduckdb.so", STR("'/nowhere/libduckdb.so', which cannot be read"));
}

static void file_that_is_no_library_is_an_error(void **state) {
    (void)state;
    assert_load_fails("/proc/self/cmdline", STR("cannot load the engine library"));
}

static void other_library_is_an_error(void **state) {
    (void)state;
    assert_load_fails("/lib/x86_64-linux-gnu/libm.so.6", STR("is not the DuckDB library"));
}

static void first_call_loads_the_library_by_itself(void **state) {
    (void)state;
    assert_null(duck_library_path());
    /* Through the stub's slow path, with a floating-point argument that has to survive it. */
    duckdb_value value = duckdb_create_double(2.5);
    assert_true(duckdb_get_double(value) == 2.5);
    duckdb_destroy_value(&value);
    assert_string_equal(duck_library_version_text(), "v1.5.5");
    assert_string_equal(duckdb_library_version(), "v1.5.5");
    assert_non_null(duck_library_path());
}

static void load_after_the_first_is_done(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    assert_false(failed(duck_library_load(&err)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_library_is_an_error_that_names_the_file),
        cmocka_unit_test(file_that_is_no_library_is_an_error),
        cmocka_unit_test(other_library_is_an_error),
        cmocka_unit_test(first_call_loads_the_library_by_itself),
        cmocka_unit_test(load_after_the_first_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
