#include "duck/duck_fixture.h"

#include <unistd.h>

void check_ok(Status status, Error *err, const char *file, int line) {
    if (failed(status)) {
        AUTO(arena) Arena *arena = arena_create();
        print_error("%s:%d: %s\n", file, line, str_to_c(arena, error_line(err, arena)));
        _fail(file, line);
    }
}

void check_str(Str text, const char *expected, const char *file, int line) {
    if (!str_equal(text, str_from(expected))) {
        print_error("%s:%d: '" STR_FMT "' is not '%s'\n", file, line, STR_ARG(text), expected);
        _fail(file, line);
    }
}

void check_contains(Str text, const char *part, const char *file, int line) {
    if (str_find(text, str_from(part)) == STR_NOT_FOUND) {
        print_error("%s:%d: '" STR_FMT "' has no '%s'\n", file, line, STR_ARG(text), part);
        _fail(file, line);
    }
}

int fixture_open(void **state) {
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    error_init(&f->err);
    DuckOpenOptions options = {.path = STR(":memory:")};
    assert_ok(duck_database_open(&options, &f->database, &f->err), &f->err);
    assert_ok(duck_connection_open(f->database, &f->connection, &f->err), &f->err);
    *state = f;
    return 0;
}

int fixture_close(void **state) {
    Fixture *f = *state;
    duck_connection_close(f->connection);
    duck_database_close(f->database);
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

Str fixture_folder(Arena *arena) {
    const char *parent = getenv("TMPDIR");
    Str pattern = str_format(arena, "%s/interlace_duck_XXXXXX", parent == NULL ? "/tmp" : parent);
    char *path = arena_alloc(arena, pattern.size + 1);
    memcpy(path, pattern.ptr, pattern.size);
    assert_non_null(mkdtemp(path));
    return str_from(path);
}

void run_sql(Fixture *f, const char *sql) {
    assert_ok(duck_execute(f->connection, str_from(sql), NULL, &f->err), &f->err);
}

int64_t query_number(Fixture *f, const char *sql) {
    int64_t number = 0;
    assert_ok(duck_query_int(f->connection, str_from(sql), &number, &f->err), &f->err);
    return number;
}

Str query_text(Fixture *f, const char *sql) {
    DuckRows rows;
    assert_ok(duck_query(f->connection, str_from(sql), f->arena, &rows, &f->err), &f->err);
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < rows.row_count * rows.columns.count; i++) {
        bool starts_row = i % rows.columns.count == 0;
        strbuf_text(&text, i == 0 ? "" : starts_row ? ";" : "|");
        strbuf_append(&text, rows.cells[i].kind == DUCK_CELL_NULL ? STR("NULL") : rows.cells[i].text);
    }
    return strbuf_copy(&text, f->arena);
}
