#include "base/error.h"
#include "base/testing.h"

#include <errno.h>

typedef struct Fixture {
    Arena *arena;
    Error err;
} Fixture;

static int set_up(void **state) {
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    error_init(&f->err);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static SourceSpan at(const char *file, size_t line, size_t column) {
    return (SourceSpan){.file = str_from(file), .line = line, .column = column};
}

static void line_shows_message_place_and_notes(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *file;
        size_t line, column;
        const char *expected;
    } cases[] = {
        {"", 0, 0, "no key; while loading; while planning"},
        {"", 3, 4, "no key; while loading; while planning"},
        {"m.sql", 0, 0, "no key (m.sql); while loading; while planning"},
        {"m.sql", 3, 0, "no key (m.sql:3); while loading; while planning"},
        {"m.sql", 3, 7, "no key (m.sql:3:7); while loading; while planning"},
        {"m.sql", 0, 7, "no key (m.sql); while loading; while planning"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        error_set_at(&f->err, ERROR_DEFINITION, at(cases[i].file, cases[i].line, cases[i].column), "no %s", "key");
        error_wrap(&f->err, "loading");
        error_wrap(&f->err, "planning");
        assert_str(error_line(&f->err, f->arena), cases[i].expected, "line");
    }
}

static void line_has_no_line_breaks(void **state) {
    Fixture *f = *state;
    error_set(&f->err, ERROR_QUERY, "Binder Error: x\n  LINE 1: y\r\n\n\t^  \n");
    assert_str(error_line(&f->err, f->arena), "Binder Error: x LINE 1: y ^", "joined");
}

static void set_replaces_all_of_the_error_before(void **state) {
    Fixture *f = *state;
    error_set_at(&f->err, ERROR_DEFINITION, at("a.sql", 1, 1), "first");
    error_hint(&f->err, "hint");
    error_code(&f->err, STR("x.y"));
    error_wrap(&f->err, "note");
    error_set(&f->err, ERROR_PLAN, "second after " STR_FMT, STR_ARG(f->err.message)); /* an argument of the old one */
    assert_str(error_line(&f->err, f->arena), "second after first", "replaced");
    assert_int_equal(f->err.kind, ERROR_PLAN);
    assert_int_equal(f->err.hint.size, 0);
    assert_int_equal(f->err.details.count, 0);
    assert_int_equal(f->err.sql_offset, STR_NOT_FOUND);
}

static void place_of_the_replaced_error_may_be_given_again(void **state) {
    Fixture *f = *state;
    error_set_at(&f->err, ERROR_DEFINITION, at("a.sql", 1, 2), "first");
    error_set_at(&f->err, ERROR_DEFINITION, f->err.place, "second");
    assert_str(error_line(&f->err, f->arena), "second (a.sql:1:2)", "place");
}

static void failing_functions_return_failed(void **state) {
    Fixture *f = *state;
    assert_true(failed(error_set(&f->err, ERROR_PLAN, "x")));
    assert_true(failed(error_wrap(&f->err, "y")));
    assert_false(failed(OK));
}

static void errno_is_told_as_text(void **state) {
    Fixture *f = *state;
    errno = EACCES;
    error_set_errno(&f->err, ERROR_EXECUTION, "cannot open '%s'", "x");
    assert_str(f->err.message, "cannot open 'x': Permission denied", "errno");
}

static void first_place_is_kept(void **state) {
    Fixture *f = *state;
    error_set(&f->err, ERROR_DEFINITION, "m");
    error_place(&f->err, at("inner.sql", 1, 1));
    error_place(&f->err, at("outer.sql", 9, 9));
    assert_str(error_line(&f->err, f->arena), "m (inner.sql:1:1)", "place");
}

static void details_are_found_and_replaced(void **state) {
    Fixture *f = *state;
    assert_int_equal(error_detail_find(&f->err, STR("code")).size, 0);
    error_set(&f->err, ERROR_DEFINITION, "m");
    error_code(&f->err, STR("a.b"));
    error_detail(&f->err, STR("model"), STR("orders"));
    error_code(&f->err, STR("c.d"));
    assert_str(error_detail_find(&f->err, STR("code")), "c.d", "code");
    assert_str(error_detail_find(&f->err, STR("model")), "orders", "model");
    assert_int_equal(f->err.details.count, 2);
}

static void a_json_detail_stays_one_until_something_in_it_is_hidden(void **state) {
    Fixture *f = *state;
    AUTO(error) Error copy;
    error_init(&copy);
    error_set(&f->err, ERROR_EXECUTION, "m");
    error_detail_json(&f->err, STR("rows"), STR("[1]"));
    error_copy(&copy, &f->err);
    error_detail_hide(&copy.details.items[0], STR("[1]"));
    assert_true(copy.details.items[0].is_json);
    error_detail_hide(&copy.details.items[0], STR("[…]"));
    assert_false(copy.details.items[0].is_json);
}

static void copy_is_independent_and_move_empties(void **state) {
    Fixture *f = *state;
    AUTO(error) Error copy;
    AUTO(error) Error moved;
    error_init(&copy);
    error_init(&moved);
    error_set_at(&f->err, ERROR_QUERY, at("a.sql", 1, 2), "m");
    error_wrap(&f->err, "n");
    error_code(&f->err, STR("c"));
    f->err.sql = str_copy(f->err.arena, STR("SELECT"));
    f->err.sql_offset = 3;

    error_copy(&copy, &f->err);
    error_move(&moved, &f->err);
    assert_null(f->err.arena);
    assert_str(error_line(&copy, f->arena), "m (a.sql:1:2); while n", "copy");
    assert_str(error_line(&moved, f->arena), "m (a.sql:1:2); while n", "moved");
    assert_str(copy.sql, "SELECT", "sql");
    assert_int_equal(copy.sql_offset, 3);
    assert_str(error_detail_find(&copy, STR("code")), "c", "code");

    error_copy(&copy, &f->err); /* of an empty one */
    assert_null(copy.arena);
    error_move(&moved, &moved);
    assert_str(moved.message, "m", "moved onto itself");
}

static void kinds_have_names_and_exit_codes(void **state) {
    (void)state;
    static const struct {
        ErrorKind kind;
        const char *name;
        int exit_code;
    } cases[] = {
        {ERROR_INTERNAL, "InternalError", 70},
        {ERROR_USAGE, "UsageError", 2},
        {ERROR_CONFIGURATION, "ConfigurationError", 1},
        {ERROR_BREAKING_PLAN, "BreakingPlanError", 1},
        {ERROR_LOCK, "LockError", 1},
        {ERROR_INTERRUPTED, "InterruptedError", 130},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(error_kind_name(cases[i].kind), cases[i].name);
        assert_int_equal(error_exit_code(cases[i].kind), cases[i].exit_code);
    }
}

static void take(ErrorList *list, SourceSpan place, const char *message) {
    AUTO(error) Error err;
    error_init(&err);
    error_set_at(&err, ERROR_DEFINITION, place, "%s", message);
    error_list_take(list, &err);
    assert_null(err.arena);
}

static void list_drops_a_fault_with_the_same_line(void **state) {
    Fixture *f = *state;
    (void)f;
    AUTO(error_list) ErrorList list = {0};
    take(&list, at("a.sql", 1, 1), "x");
    take(&list, at("a.sql", 1, 1), "x");
    take(&list, at("a.sql", 2, 1), "x");
    take(&list, at("a.sql", 1, 1), "y");
    take(&list, at("", 0, 0), "x");
    assert_int_equal(list.count, 4);
}

static void list_is_sorted_by_file_line_and_arrival(void **state) {
    Fixture *f = *state;
    AUTO(error_list) ErrorList list = {0};
    take(&list, at("b.sql", 1, 1), "5");
    take(&list, at("a.sql", 10, 1), "4");
    take(&list, at("", 0, 0), "1");
    take(&list, at("a.sql", 9, 2), "3");
    take(&list, at("", 0, 0), "2");
    take(&list, at("b.sql", 1, 1), "6");
    error_list_sort(&list);
    for (size_t i = 0; i < list.count; i++) {
        assert_str(list.items[i].message, str_format(f->arena, "%zu", i + 1).ptr, "order");
    }
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(line_shows_message_place_and_notes),
        FIXTURE_TEST(line_has_no_line_breaks),
        FIXTURE_TEST(set_replaces_all_of_the_error_before),
        FIXTURE_TEST(place_of_the_replaced_error_may_be_given_again),
        FIXTURE_TEST(failing_functions_return_failed),
        FIXTURE_TEST(errno_is_told_as_text),
        FIXTURE_TEST(first_place_is_kept),
        FIXTURE_TEST(details_are_found_and_replaced),
        FIXTURE_TEST(a_json_detail_stays_one_until_something_in_it_is_hidden),
        FIXTURE_TEST(copy_is_independent_and_move_empties),
        FIXTURE_TEST(kinds_have_names_and_exit_codes),
        FIXTURE_TEST(list_drops_a_fault_with_the_same_line),
        FIXTURE_TEST(list_is_sorted_by_file_line_and_arrival),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
