/* Opening: files that are missing, foreign, damaged or held; settings; attachments. */
#include "duck/duck_fixture.h"

#include "base/files.h"
#include "duck/duck_database.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Place {
    Arena *arena;
    Error err;
    Str folder, path;
} Place;

static int make_place(void **state) {
    Place *place = heap_alloc_zeroed(1, sizeof *place);
    place->arena = arena_create();
    error_init(&place->err);
    place->folder = fixture_folder(place->arena);
    place->path = path_join(place->arena, place->folder, STR("sub/w.duckdb"));
    *state = place;
    return 0;
}

static int remove_place(void **state) {
    Place *place = *state;
    file_remove_tree(place->folder);
    error_deinit(&place->err);
    arena_destroy(place->arena);
    free(place);
    return 0;
}

static Status open_path(Place *place, DuckDatabase **database_out) {
    DuckOpenOptions options = {.path = place->path};
    return duck_database_open(&options, database_out, &place->err);
}

static Status run_in(DuckDatabase *database, const char *sql, Error *err) {
    AUTO(duck_connection) DuckConnection *connection = NULL;
    TRY(duck_connection_open(database, &connection, err));
    return duck_execute(connection, str_from(sql), NULL, err);
}

static Status attach_file(DuckDatabase *database, Str alias, Str path, bool read_only, Error *err) {
    DuckAttachment attachment = {.alias = alias, .target = path, .path = path, .read_only = read_only};
    return duck_database_attach(database, &attachment, err);
}

static Str setting_of(Place *place, DuckDatabase *database, const char *name) {
    AUTO(duck_connection) DuckConnection *connection = NULL;
    DuckRows rows;
    assert_ok(duck_connection_open(database, &connection, &place->err), &place->err);
    Str sql = str_format(place->arena, "SELECT current_setting('%s')::VARCHAR", name);
    assert_ok(duck_query(connection, sql, place->arena, &rows, &place->err), &place->err);
    return duck_cell(&rows, 0, 0)->text;
}

static void write_file(Place *place, Str path, const char *content, size_t size) {
    assert_ok(directory_create_all(path_directory(path), &place->err), &place->err);
    assert_ok(file_write_atomic(path, (Str){.ptr = content, .size = size}, false, &place->err), &place->err);
}

static void a_file_is_created_with_its_folder_and_opens_again(void **state) {
    Place *place = *state;
    for (int i = 0; i < 2; i++) {
        AUTO(duck_database) DuckDatabase *database = NULL;
        assert_ok(open_path(place, &database), &place->err);
        assert_ok(run_in(database, "CREATE TABLE IF NOT EXISTS t AS SELECT 1 AS a", &place->err), &place->err);
    }
    assert_true(file_exists(place->path));
}

static void read_only_creates_nothing(void **state) {
    Place *place = *state;
    DuckDatabase *database = NULL;
    DuckOpenOptions options = {.path = place->path, .read_only = true};
    assert_failed(duck_database_open(&options, &database, &place->err));
    assert_int_equal(place->err.kind, ERROR_CONFIGURATION);
    assert_contains(place->err.message, "does not exist");
    assert_false(file_exists(path_directory(place->path)));
}

static void read_only_refuses_to_write(void **state) {
    Place *place = *state;
    DuckDatabase *database = NULL;
    assert_ok(open_path(place, &database), &place->err);
    duck_database_close(database);

    DuckOpenOptions options = {.path = place->path, .read_only = true};
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    assert_failed(run_in(database, "CREATE TABLE t (a INT)", &place->err));
    assert_contains(place->err.message, "read-only");
    duck_database_close(database);
}

static void a_file_opened_twice_in_a_process_is_one_database(void **state) {
    Place *place = *state;
    AUTO(duck_database) DuckDatabase *first = NULL;
    AUTO(duck_database) DuckDatabase *second = NULL;
    assert_ok(open_path(place, &first), &place->err);
    assert_ok(open_path(place, &second), &place->err);
    assert_ok(run_in(first, "CREATE TABLE t (a INT)", &place->err), &place->err);
    assert_ok(run_in(second, "INSERT INTO t VALUES (1)", &place->err), &place->err);
}

/* A child opens the file, writes one byte to the pipe and waits to be killed. */
static pid_t hold_file(Place *place) {
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        DuckDatabase *database = NULL;
        Status status = open_path(place, &database);
        (void)!write(ready[1], failed(status) ? "n" : "y", 1);
        (void)pause();
        _exit(0);
    }
    char answer = 0;
    assert_int_equal(read(ready[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    (void)close(ready[0]);
    (void)close(ready[1]);
    return child;
}

static void a_locked_file_names_its_holder_and_the_way_out(void **state) {
    Place *place = *state;
    pid_t child = hold_file(place);
    DuckDatabase *database = NULL;
    Status status = open_path(place, &database);
    DuckOpenOptions read_only = {.path = place->path, .read_only = true};
    AUTO(error) Error second;
    error_init(&second);
    Status read_status = duck_database_open(&read_only, &database, &second);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);

    assert_failed(status);
    assert_failed(read_status);
    assert_int_equal(place->err.kind, ERROR_CONFIGURATION);
    assert_str(error_detail_find(&place->err, STR("code")), "warehouse.locked");
    assert_str(error_detail_find(&second, STR("code")), "warehouse.locked");
    Str pid = str_format(place->arena, "%d", (int)child);
    assert_str(error_detail_find(&place->err, STR("pid")), str_to_c(place->arena, pid));
    assert_contains(place->err.message, str_to_c(place->arena, place->path));
    assert_contains(place->err.message, str_to_c(place->arena, pid));
    assert_contains(place->err.message, "duck_database_test");
    assert_true(place->err.hint.size > 0);

    assert_ok(open_path(place, &database), &place->err);
    duck_database_close(database);
}

static void a_foreign_file_is_told(void **state) {
    Place *place = *state;
    DuckDatabase *database = NULL;
    static const char text[4096] = "this is no database";
    write_file(place, place->path, text, sizeof text);
    assert_failed(open_path(place, &database));
    assert_int_equal(place->err.kind, ERROR_CONFIGURATION);
    assert_contains(place->err.message, "is no DuckDB database");
}

/* Each 4 KiB header, and a cut file. */
static void a_damaged_file_is_told(void **state) {
    Place *place = *state;
    DuckDatabase *database = NULL;
    assert_ok(open_path(place, &database), &place->err);
    assert_ok(run_in(database, "CREATE TABLE t AS FROM range(10000)", &place->err), &place->err);
    duck_database_close(database);

    Str whole;
    assert_ok(file_read(place->path, 64 << 20, place->arena, &whole, &place->err), &place->err);
    static const struct { size_t at, size; } damages[] = {{4096, 4000}, {8192, 4000}, {12288, 4000}};
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        char *bytes = (char *)str_to_c(place->arena, whole);
        memset(bytes + damages[i].at, 0x5A, damages[i].size);
        write_file(place, place->path, bytes, whole.size);
        assert_failed(open_path(place, &database));
        assert_int_equal(place->err.kind, ERROR_CONFIGURATION);
        assert_contains(place->err.message, "is damaged");
    }
    write_file(place, place->path, whole.ptr, 100);
    assert_failed(open_path(place, &database));
    assert_contains(place->err.message, "is damaged");
}

static void a_path_that_cannot_be_is_told(void **state) {
    Place *place = *state;
    DuckDatabase *database = NULL;
    write_file(place, path_join(place->arena, place->folder, STR("sub")), "x", 1);
    assert_failed(open_path(place, &database));
    assert_contains(place->err.message, "sub");
    place->path = place->folder;
    assert_failed(open_path(place, &database));
    assert_contains(place->err.message, "cannot open database");
}

/* --- Settings ----------------------------------------------------------------------------------------------------- */

static void settings_are_global(void **state) {
    Place *place = *state;
    AUTO(duck_database) DuckDatabase *database = NULL;
    const DuckSetting settings[] = {
        {STR("memory_limit"), STR("100MB")},
        {STR("threads"), STR("2")},
        {STR("preserve_insertion_order"), STR("false")},
        {STR("TimeZone"), STR("Europe/Berlin")},
    };
    DuckOpenOptions options = {
        .path = STR(":memory:"), .settings = settings, .setting_count = COUNT_OF(settings), .root = place->folder};
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    assert_str(setting_of(place, database, "threads"), "2");
    assert_str(setting_of(place, database, "TimeZone"), "Europe/Berlin");
    assert_str(setting_of(place, database, "preserve_insertion_order"), "false");
    assert_str(setting_of(place, database, "autoinstall_known_extensions"), "false");
    assert_str(setting_of(place, database, "autoload_known_extensions"), "false");

    /* A limit brings a place to spill to. */
    Str spill = path_join(place->arena, place->folder, STR(".tmp"));
    assert_str(setting_of(place, database, "temp_directory"), str_to_c(place->arena, spill));
    assert_true(file_is_directory(spill));
    assert_ok(
        run_in(database,
               "CREATE TABLE big AS SELECT hash(range) AS h, repeat('x', 100) AS x FROM range(1000000) ORDER BY h",
               &place->err),
        &place->err);
}

static void a_relative_temp_directory_lies_below_the_root(void **state) {
    Place *place = *state;
    AUTO(duck_database) DuckDatabase *database = NULL;
    const DuckSetting settings[] = {{STR("temp_directory"), STR("a/b")}};
    DuckOpenOptions options = {
        .path = STR(":memory:"), .settings = settings, .setting_count = 1, .root = place->folder};
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    Str spill = path_join(place->arena, place->folder, STR("a/b"));
    assert_str(setting_of(place, database, "temp_directory"), str_to_c(place->arena, spill));
    assert_true(file_is_directory(spill));
}

static void bad_settings_are_named(void **state) {
    Place *place = *state;
    static const struct {
        const char *name, *value, *message;
    } cases[] = {
        {"memory_limt", "1GB", "setting 'memory_limt'"},
        {"memory_limit", "lots", "setting 'memory_limit' cannot be 'lots'"},
        {"allow_unsigned_extensions", "true", "while database is running"},
        {"x = 1; DROP", "1", "is no name"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DuckDatabase *database = NULL;
        const DuckSetting setting = {str_from(cases[i].name), str_from(cases[i].value)};
        DuckOpenOptions options = {.path = STR(":memory:"), .settings = &setting, .setting_count = 1};
        assert_failed(duck_database_open(&options, &database, &place->err));
        assert_int_equal(place->err.kind, ERROR_CONFIGURATION);
        assert_contains(place->err.message, cases[i].message);
    }
}

static void relative_files_are_found_below_the_root(void **state) {
    Place *place = *state;
    AUTO(duck_database) DuckDatabase *database = NULL;
    write_file(place, path_join(place->arena, place->folder, STR("only_here/x.csv")), "a\n1\n", 4);
    DuckOpenOptions options = {.path = STR(":memory:"), .root = place->folder};
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    static const char *const reads[] = {
        "CREATE TABLE t1 AS FROM read_csv('only_here/x.csv')",
        "CREATE TABLE t2 AS FROM 'only_here/*.csv'",
        "COPY t1 FROM 'only_here/x.csv'",
    };
    for (size_t i = 0; i < COUNT_OF(reads); i++) {
        assert_ok(run_in(database, reads[i], &place->err), &place->err);
    }
}

/* --- Attachments -------------------------------------------------------------------------------------------------- */

static void an_attached_file_can_be_read(void **state) {
    Place *place = *state;
    DuckDatabase *other = NULL;
    assert_ok(open_path(place, &other), &place->err);
    assert_ok(run_in(other, "CREATE TABLE t AS SELECT 1 AS a", &place->err), &place->err);
    duck_database_close(other);

    AUTO(duck_database) DuckDatabase *database = NULL;
    DuckOpenOptions options = {.path = STR(":memory:")};
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    assert_ok(attach_file(database, STR("cr\"m"), place->path, true, &place->err), &place->err);
    assert_ok(run_in(database, "FROM \"cr\"\"m\".t", &place->err), &place->err);
    assert_failed(run_in(database, "INSERT INTO \"cr\"\"m\".t VALUES (2)", &place->err));
}

static void an_attachment_that_cannot_be_is_told(void **state) {
    Place *place = *state;
    AUTO(duck_database) DuckDatabase *database = NULL;
    DuckOpenOptions options = {.path = STR(":memory:")};
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    assert_failed(attach_file(database, STR("crm"), place->path, true, &place->err));
    assert_int_equal(place->err.kind, ERROR_CONFIGURATION);
    assert_contains(place->err.message, "does not exist");
    assert_contains(error_line(&place->err, place->arena), "attaching 'crm'");
}

static void an_attachment_held_by_another_process_is_told(void **state) {
    Place *place = *state;
    AUTO(duck_database) DuckDatabase *database = NULL;
    DuckOpenOptions options = {.path = STR(":memory:")};
    pid_t child = hold_file(place);
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    Status status = attach_file(database, STR("crm"), place->path, true, &place->err);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    assert_failed(status);
    assert_str(error_detail_find(&place->err, STR("code")), "warehouse.locked");
}

static void a_missing_extension_names_its_file(void **state) {
    Place *place = *state;
    AUTO(duck_database) DuckDatabase *database = NULL;
    DuckOpenOptions options = {.path = STR(":memory:"), .extension_directory = place->folder};
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    assert_failed(duck_database_load_extension(database, STR("ducklake"), &place->err));
    assert_int_equal(place->err.kind, ERROR_CONFIGURATION);
    assert_str(error_detail_find(&place->err, STR("code")), "extension.missing");
    assert_contains(place->err.message, str_to_c(place->arena, place->folder));
    assert_contains(place->err.message, "/ducklake.duckdb_extension");
    assert_contains(place->err.hint, "v1.5.5");
}

static void an_attachment_that_fails_shows_no_password(void **state) {
    Place *place = *state;
    AUTO(duck_database) DuckDatabase *database = NULL;
    DuckOpenOptions options = {.path = STR(":memory:")};
    DuckAttachment attachment = {
        .alias = STR("crm"),
        .target = STR("postgresql://etl:hidden@127.0.0.1:1/crm?password=secret2"),
        .type = STR("postgres"),
        .read_only = true,
    };
    assert_ok(duck_database_open(&options, &database, &place->err), &place->err);
    assert_ok(duck_database_load_extension(database, STR("postgres_scanner"), &place->err), &place->err);
    assert_failed(duck_database_attach(database, &attachment, &place->err));
    Str line = error_line(&place->err, place->arena);
    assert_contains(line, "attaching 'crm'");
    assert_contains(line, "port 1 failed");
    assert_int_equal(str_find(line, STR("hidden")), STR_NOT_FOUND);
    assert_int_equal(str_find(line, STR("secret2")), STR_NOT_FOUND);
    assert_int_equal(place->err.sql.size, 0);
    assert_int_equal(place->err.details.count, 0);
}

int main(void) {
#define PLACE_TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        /* First those that fork: no thread of the engine may be there yet. */
        PLACE_TEST(a_locked_file_names_its_holder_and_the_way_out),
        PLACE_TEST(an_attachment_held_by_another_process_is_told),
        PLACE_TEST(a_file_is_created_with_its_folder_and_opens_again),
        PLACE_TEST(read_only_creates_nothing),
        PLACE_TEST(read_only_refuses_to_write),
        PLACE_TEST(a_file_opened_twice_in_a_process_is_one_database),
        PLACE_TEST(a_foreign_file_is_told),
        PLACE_TEST(a_damaged_file_is_told),
        PLACE_TEST(a_path_that_cannot_be_is_told),
        PLACE_TEST(settings_are_global),
        PLACE_TEST(a_relative_temp_directory_lies_below_the_root),
        PLACE_TEST(bad_settings_are_named),
        PLACE_TEST(relative_files_are_found_below_the_root),
        PLACE_TEST(an_attached_file_can_be_read),
        PLACE_TEST(an_attachment_that_cannot_be_is_told),
        PLACE_TEST(a_missing_extension_names_its_file),
        PLACE_TEST(an_attachment_that_fails_shows_no_password),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
