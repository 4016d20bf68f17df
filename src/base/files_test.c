#include "base/files.h"
#include "base/testing.h"

#include <sys/stat.h>

typedef struct Fixture {
    Arena *arena;
    Str root;
    Error err;
} Fixture;

static int set_up(void **state) {
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    f->root = test_directory(f->arena);
    error_init(&f->err);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    test_directory_remove(f->arena, f->root);
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static Str below(Fixture *f, const char *name) {
    return path_join(f->arena, f->root, str_from(name));
}

static void write_file(Fixture *f, const char *name, Str content) {
    assert_done(directory_create_all(path_directory(below(f, name)), &f->err), &f->err);
    assert_done(file_write_atomic(below(f, name), content, false, &f->err), &f->err);
}

static void written_files_read_back_whole(void **state) {
    Fixture *f = *state;
    Str large = str_format(f->arena, "%0300000d", 1);
    const Str contents[] = {STR(""), STR("x"), STR("with\0nul"), large};
    for (size_t i = 0; i < COUNT_OF(contents); i++) {
        Str content;
        assert_done(file_write_atomic(below(f, "a"), contents[i], i % 2 == 1, &f->err), &f->err);
        assert_done(file_read(below(f, "a"), SIZE_MAX, f->arena, &content, &f->err), &f->err);
        assert_true(str_equal(content, contents[i]));
        assert_int_equal(content.ptr[content.size], 0);
    }
}

static void files_without_a_known_size_are_read(void **state) {
    Fixture *f = *state;
    Str content;
    assert_done(file_read(STR("/proc/self/environ"), SIZE_MAX, f->arena, &content, &f->err), &f->err);
    assert_done(file_read(STR("/proc/cpuinfo"), SIZE_MAX, f->arena, &content, &f->err), &f->err);
    assert_true(content.size > 0);
}

static void reading_over_the_limit_fails(void **state) {
    Fixture *f = *state;
    Str content;
    write_file(f, "a", STR("12345"));
    assert_done(file_read(below(f, "a"), 5, f->arena, &content, &f->err), &f->err);
    assert_true(failed(file_read(below(f, "a"), 4, f->arena, &content, &f->err)));
    assert_true(str_find(f->err.message, STR("limit of 4 bytes")) != STR_NOT_FOUND);
    assert_true(failed(file_read(STR("/proc/cpuinfo"), 10, f->arena, &content, &f->err)));
}

static void errors_name_the_path_and_the_reason(void **state) {
    Fixture *f = *state;
    Str content;
    assert_true(failed(file_read(below(f, "none"), 9, f->arena, &content, &f->err)));
    assert_true(str_ends_with(f->err.message, STR("none': No such file or directory")));
    assert_true(failed(file_read(f->root, 9, f->arena, &content, &f->err)));
    assert_true(str_ends_with(f->err.message, STR("Is a directory")));
    assert_true(failed(file_write_atomic(below(f, "none/a"), STR("x"), false, &f->err)));
    assert_true(str_ends_with(f->err.message, STR("none/a': No such file or directory")));
    assert_true(failed(file_read(STR("a\0b"), 9, f->arena, &content, &f->err)));
    assert_true(str_find(f->err.message, STR("NUL")) != STR_NOT_FOUND);
}

static void failed_write_leaves_nothing_behind(void **state) {
    Fixture *f = *state;
    FileEntryVec entries;
    assert_done(directory_create_all(below(f, "d"), &f->err), &f->err);
    assert_true(failed(file_write_atomic(below(f, "d"), STR("x"), true, &f->err))); /* onto a folder */
    assert_done(directory_walk(f->root, STR("."), f->arena, &entries, &f->err), &f->err);
    assert_int_equal(entries.count, 1);
}

static void folders_are_created_with_their_parents(void **state) {
    Fixture *f = *state;
    assert_done(directory_create_all(below(f, "a/b/c"), &f->err), &f->err);
    assert_done(directory_create_all(below(f, "a/b/c"), &f->err), &f->err);
    assert_done(directory_create_all(below(f, "a//d/"), &f->err), &f->err);
    assert_true(file_is_directory(below(f, "a/b/c")));
    assert_true(file_is_directory(below(f, "a/d")));
    write_file(f, "file", STR("x"));
    assert_true(failed(directory_create_all(below(f, "file/x"), &f->err)));
    assert_true(file_exists(below(f, "file")));
    assert_false(file_is_directory(below(f, "file")));
    assert_false(file_exists(below(f, "other")));
}

static Str walked(Fixture *f, const char *directory) {
    FileEntryVec entries;
    StrVec paths = {0};
    assert_done(directory_walk(f->root, str_from(directory), f->arena, &entries, &f->err), &f->err);
    for (size_t i = 0; i < entries.count; i++) {
        Str path = entries.items[i].path;
        str_vec_push(f->arena, &paths, entries.items[i].is_directory ? path_join(f->arena, path, STR("/")) : path);
        paths.items[i] = entries.items[i].is_directory ? str_format(f->arena, STR_FMT "/", STR_ARG(path)) : path;
    }
    return str_join(f->arena, paths.items, paths.count, STR(" "));
}

static void walk_gives_paths_in_byte_order(void **state) {
    Fixture *f = *state;
    static const char *const files[] = {"m/b.sql", "m/a/z.sql", "m/a.sql", "m/a-b.sql", "m/B.sql", "n/x.sql"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        write_file(f, files[i], STR("x"));
    }
    assert_str(walked(f, "m"), "m/B.sql m/a/ m/a-b.sql m/a.sql m/a/z.sql m/b.sql", "m");
    assert_str(walked(f, "./m/"), "m/B.sql m/a/ m/a-b.sql m/a.sql m/a/z.sql m/b.sql", "another spelling");
    assert_str(walked(f, "m/a"), "m/a/z.sql", "a folder below");
    assert_str(walked(f, "none"), "", "missing");
}

static void walk_passes_over_hidden_names_and_what_is_no_file(void **state) {
    Fixture *f = *state;
    write_file(f, ".git/x", STR("x"));
    write_file(f, ".hidden.sql", STR("x"));
    write_file(f, "__pycache__/x.pyc", STR("x"));
    write_file(f, "a.sql", STR("x"));
    assert_int_equal(mkfifo(str_to_c(f->arena, below(f, "pipe")), 0600), 0);
    assert_str(walked(f, "."), "a.sql", "all");
}

static void walk_follows_links_to_files_only(void **state) {
    Fixture *f = *state;
    write_file(f, "d/a.sql", STR("x"));
    assert_int_equal(symlink("a.sql", str_to_c(f->arena, below(f, "d/link.sql"))), 0);
    assert_int_equal(symlink(".", str_to_c(f->arena, below(f, "d/loop"))), 0);
    assert_int_equal(symlink("nowhere", str_to_c(f->arena, below(f, "d/broken.sql"))), 0);
    assert_str(walked(f, "d"), "d/a.sql d/broken.sql d/link.sql", "links");
}

static void walk_of_a_file_fails(void **state) {
    Fixture *f = *state;
    FileEntryVec entries;
    write_file(f, "models", STR("x"));
    assert_true(failed(directory_walk(f->root, STR("models"), f->arena, &entries, &f->err)));
    assert_true(str_ends_with(f->err.message, STR("Not a directory")));
}

static void paths_are_joined_and_cut(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *path, *base, *directory, *extension;
    } cases[] = {
        {"a/b.sql", "b.sql", "a", ".sql"},
        {"b.sql", "b.sql", ".", ".sql"},
        {"/b", "b", "/", ""},
        {"/", "/", "/", ""},
        {"a/b/", "b", "a", ""},
        {"a//b", "b", "a", ""},
        {".env", ".env", ".", ""},
        {"a.b/c", "c", "a.b", ""},
        {"x.tar.gz", "x.tar.gz", ".", ".gz"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(path_base_name(str_from(cases[i].path)), cases[i].base, cases[i].path);
        assert_str(path_directory(str_from(cases[i].path)), cases[i].directory, cases[i].path);
        assert_str(path_extension(str_from(cases[i].path)), cases[i].extension, cases[i].path);
    }
    assert_str(path_join(f->arena, STR("a"), STR("b")), "a/b", "join");
    assert_str(path_join(f->arena, STR("a/"), STR("b")), "a/b", "join");
    assert_str(path_join(f->arena, STR("a"), STR("/b")), "/b", "join absolute");
    assert_str(path_join(f->arena, STR(""), STR("b")), "b", "join nothing");
    assert_str(path_join(f->arena, STR("a"), STR("")), "a", "join to nothing");
}

static void absolute_paths_are_folded(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *path, *absolute;
    } cases[] = {{"/a/./b//c/", "/a/b/c"}, {"/a/../b", "/b"}, {"/../..", "/"}, {"/", "/"}, {"/a/b/../../c", "/c"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(path_absolute(f->arena, str_from(cases[i].path)), cases[i].absolute, cases[i].path);
    }
    assert_int_equal(chdir(str_to_c(f->arena, f->root)), 0);
    assert_str(path_absolute(f->arena, STR("./x")), below(f, "x").ptr, "relative");
    assert_int_equal(chdir("/"), 0);
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(written_files_read_back_whole),
        FIXTURE_TEST(files_without_a_known_size_are_read),
        FIXTURE_TEST(reading_over_the_limit_fails),
        FIXTURE_TEST(errors_name_the_path_and_the_reason),
        FIXTURE_TEST(failed_write_leaves_nothing_behind),
        FIXTURE_TEST(folders_are_created_with_their_parents),
        FIXTURE_TEST(walk_gives_paths_in_byte_order),
        FIXTURE_TEST(walk_passes_over_hidden_names_and_what_is_no_file),
        FIXTURE_TEST(walk_follows_links_to_files_only),
        FIXTURE_TEST(walk_of_a_file_fails),
        FIXTURE_TEST(paths_are_joined_and_cut),
        FIXTURE_TEST(absolute_paths_are_folded),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
