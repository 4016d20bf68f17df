#include "base/files.h"
#include "base/testing.h"

#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Str root;
    Error err;
} Fixture;

static void write_empty(Fixture *f, const char *name) {
    Str path = path_join(f->arena, f->root, str_from(name));
    assert_done(directory_create_all(path_directory(path), &f->err), &f->err);
    assert_done(file_write_atomic(path, STR_EMPTY, false, &f->err), &f->err);
}

static int set_up(void **state) {
    static const char *const names[] = {"a.csv",    "b.csv",       "c.txt",          "d/a.csv",
                                        "d/.x.csv", "d/y=1/a.csv", "d/y=2/.z/a.csv", "e/y=1/part.csv"};
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    f->root = test_directory(f->arena);
    error_init(&f->err);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        write_empty(f, names[i]);
    }
    Str loop = path_join(f->arena, f->root, STR("d/loop"));
    *state = f;
    return symlink(str_to_c(f->arena, f->root), loop.ptr);
}

static int tear_down(void **state) {
    Fixture *f = *state;
    test_directory_remove(f->arena, f->root);
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

/* Relative to the root, with blanks between. */
static Str glob(Fixture *f, const char *pattern) {
    StrVec paths;
    assert_done(path_glob(path_join(f->arena, f->root, str_from(pattern)), f->arena, &paths, &f->err), &f->err);
    for (size_t i = 0; i < paths.count; i++) {
        paths.items[i] = str_skip(paths.items[i], f->root.size + 1);
    }
    return str_join(f->arena, paths.items, paths.count, STR(" "));
}

static void patterns_name_files(void **state) {
    static const struct {
        const char *pattern, *expected;
    } cases[] = {
        {"a.csv", "a.csv"},
        {"nosuch.csv", ""},
        {"a.csv/x", ""},
        {"*.csv", "a.csv b.csv"},
        {"?.csv", "a.csv b.csv"},
        {"[!a].csv", "b.csv"},
        {"*/*.csv", "d/.x.csv d/a.csv"},
        {"*/y=1/*.csv", "d/y=1/a.csv e/y=1/part.csv"},
        {"**/a.csv", "a.csv d/a.csv d/y=1/a.csv d/y=2/.z/a.csv"},
        {"d/**/*.csv", "d/.x.csv d/a.csv d/y=1/a.csv d/y=2/.z/a.csv"},
        {"d/**", "d/.x.csv d/a.csv d/y=1/a.csv d/y=2/.z/a.csv"},
        {"**/**/part.csv", "e/y=1/part.csv"},
        {"e", "e/y=1/part.csv"},
        {"e/", "e/y=1/part.csv"},
        {"d/loop", "d/loop/a.csv d/loop/b.csv d/loop/c.txt d/loop/d/.x.csv d/loop/d/a.csv d/loop/d/y=1/a.csv "
                   "d/loop/d/y=2/.z/a.csv d/loop/e/y=1/part.csv"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str found = glob(*state, cases[i].pattern);
        if (!str_equal(found, str_from(cases[i].expected))) {
            fail_msg("%s: '%s' instead of '%s'", cases[i].pattern, found.ptr, cases[i].expected);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(patterns_name_files, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("path_glob", tests, NULL, NULL);
}
