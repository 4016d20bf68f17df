/* Which interpreter is chosen, without starting any (but a script that stands for pyenv's shim). */
#include "base/files.h"
#include "base/testing.h"
#include "python/interpreter.h"

#include <sys/stat.h>

typedef struct Folder {
    Arena *arena;
    Str root;
    Error err;
} Folder;

static int folder_open(void **state) {
    Folder *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    f->root = test_directory(f->arena);
    error_init(&f->err);
    *state = f;
    return 0;
}

static int folder_close(void **state) {
    Folder *f = *state;
    test_directory_remove(f->arena, f->root);
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static Str write_program(Folder *f, const char *path, const char *text) {
    Str absolute = path_join(f->arena, f->root, str_from(path));
    assert_done(directory_create_all(path_directory(absolute), &f->err), &f->err);
    assert_done(file_write_atomic(absolute, str_from(text), false, &f->err), &f->err);
    assert_int_equal(chmod(str_to_c(f->arena, absolute), 0755), 0);
    return absolute;
}

/* Everything that may be chosen is there; each test takes away what comes first. */
static InterpreterSources all_sources(Folder *f) {
    write_program(f, "given/python", "x");
    write_program(f, "env/python", "x");
    write_program(f, "active/bin/python", "x");
    write_program(f, ".venv/bin/python", "x");
    write_program(f, "path/python3", "x");
    return (InterpreterSources){
        .root = f->root,
        .configured = STR("given/python"),
        .environment = path_join(f->arena, f->root, STR("env/python")),
        .virtual_environment = path_join(f->arena, f->root, STR("active")),
        .search_path = str_format(f->arena, "/nowhere:" STR_FMT "/path", STR_ARG(f->root)),
    };
}

static void assert_chosen(Folder *f, const InterpreterSources *sources, const char *expected) {
    Str path;
    assert_done(interpreter_choose(sources, f->arena, &path, &f->err), &f->err);
    assert_str(path, path_join(f->arena, f->root, str_from(expected)).ptr, expected);
}

static void the_first_of_five_sources_is_taken(void **state) {
    Folder *f = *state;
    InterpreterSources sources = all_sources(f);
    assert_chosen(f, &sources, "given/python");
    sources.configured = STR_EMPTY;
    assert_chosen(f, &sources, "env/python");
    sources.environment = STR_EMPTY;
    assert_chosen(f, &sources, "active/bin/python");
    sources.virtual_environment = STR("/nowhere");
    assert_chosen(f, &sources, ".venv/bin/python");
    sources.root = STR("/nowhere");
    assert_chosen(f, &sources, "path/python3");
}

static void a_command_is_searched_for(void **state) {
    Folder *f = *state;
    InterpreterSources sources = all_sources(f);
    write_program(f, "path/python3.12", "x");
    sources.configured = STR("python3.12");
    assert_chosen(f, &sources, "path/python3.12");
}

static void what_someone_asked_for_is_not_replaced_by_something_else(void **state) {
    Folder *f = *state;
    InterpreterSources sources = all_sources(f);
    Str path;
    sources.configured = STR("missing/python");
    assert_true(failed(interpreter_choose(&sources, f->arena, &path, &f->err)));
    assert_str(f->err.message, "no Python interpreter was found; tried: missing/python (python: of interlace.yaml)",
               "one");
}

static void test_10_8_all_that_was_tried_is_named(void **state) {
    Folder *f = *state;
    Str path;
    InterpreterSources sources = {
        .root = f->root, .virtual_environment = STR("/nowhere"), .search_path = STR("/nowhere:relative")};
    assert_true(failed(interpreter_choose(&sources, f->arena, &path, &f->err)));
    assert_str(
        f->err.message,
        "no Python interpreter was found; tried: /nowhere/bin/python (VIRTUAL_ENV), .venv/bin/python (the project's "
        "environment), python3 (the search path)",
        "all");
    assert_int_equal(f->err.kind, ERROR_CONFIGURATION);
}

static void a_folder_or_a_plain_file_is_no_interpreter(void **state) {
    Folder *f = *state;
    Str path;
    Str plain = path_join(f->arena, f->root, STR("plain"));
    assert_done(file_write_atomic(plain, STR("x"), false, &f->err), &f->err);
    const Str configured[] = {plain, f->root};
    for (size_t i = 0; i < COUNT_OF(configured); i++) {
        InterpreterSources sources = {.root = f->root, .configured = configured[i]};
        assert_true(failed(interpreter_choose(&sources, f->arena, &path, &f->err)));
    }
}

static void a_script_is_asked_once_for_what_is_behind_it(void **state) {
    Folder *f = *state;
    Str real = write_program(f, "real/python", "x");
    Str script = write_program(f, "shims/python", "");
    const char *text = str_format(f->arena, "#!/bin/sh\necho asked >> '" STR_FMT "/asked'\necho '" STR_FMT "'\n",
                                  STR_ARG(f->root), STR_ARG(real))
                           .ptr;
    write_program(f, "shims/python", text);
    ProjectConfig config = {
        .root = f->root,
        .cache_path = path_join(f->arena, f->root, STR(".interlace/cache")),
        .python_interpreter = script,
    };
    for (int i = 0; i < 3; i++) {
        Interpreter interpreter;
        assert_done(interpreter_find(&config, f->arena, &interpreter, &f->err), &f->err);
        assert_str(interpreter.path, real.ptr, "path");
    }
    Str asked;
    assert_done(file_read(path_join(f->arena, f->root, STR("asked")), 1000, f->arena, &asked, &f->err), &f->err);
    assert_str(asked, "asked\n", "how often");
}

static void a_script_that_names_nothing_is_refused(void **state) {
    Folder *f = *state;
    Interpreter interpreter;
    ProjectConfig config = {
        .root = f->root,
        .cache_path = path_join(f->arena, f->root, STR("cache")),
        .python_interpreter = write_program(f, "shims/python", "#!/bin/sh\necho nothing\n"),
    };
    assert_true(failed(interpreter_find(&config, f->arena, &interpreter, &f->err)));
    assert_int_equal(f->err.kind, ERROR_CONFIGURATION);
    assert_true(str_find(f->err.message, STR("names no Python interpreter: 'nothing'")) != STR_NOT_FOUND);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_open, folder_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_first_of_five_sources_is_taken),
        FOLDER_TEST(a_command_is_searched_for),
        FOLDER_TEST(what_someone_asked_for_is_not_replaced_by_something_else),
        FOLDER_TEST(test_10_8_all_that_was_tried_is_named),
        FOLDER_TEST(a_folder_or_a_plain_file_is_no_interpreter),
        FOLDER_TEST(a_script_is_asked_once_for_what_is_behind_it),
        FOLDER_TEST(a_script_that_names_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
