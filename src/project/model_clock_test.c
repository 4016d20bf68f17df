#include "project/model_clock.h"

#include "project/project_fixture.h"

/* `m`, incremental by d, with more keys; its query begins on line 2. */
static void write_incremental(Fixture *f, const char *keys, const char *query) {
    Str text = str_format(f->arena, "/* interlace: {strategy: incremental, time_column: d, interval: 1d%s} */\n%s",
                          keys, query);
    fixture_write(f, "models/m.sql", str_to_c(f->arena, text));
}

/* "owner name" of the first read; "" when there is none. */
static Str first_read(Fixture *f, bool spares_columns) {
    const Model *owner = NULL;
    const SqlClockRead *read = model_clock_read(f->project, fixture_model(f, "m"), spares_columns, f->arena, &owner);
    return read == NULL ? STR_EMPTY
                        : str_format(f->arena, STR_FMT " " STR_FMT, STR_ARG(owner->name), STR_ARG(read->name));
}

static void a_forbidden_read_is_refused_at_its_place(void **state) {
    Fixture *f = *state;
    write_incremental(f, ", clock: forbid", "SELECT d\nFROM raw.t\nWHERE d <\n  now()");
    assert_fault_count(f, 1);
    assert_fault(f, "clock.read", "reads the clock by now");
    assert_fault(f, "clock.read", "models/m.sql:5:3");
}

static void a_read_in_an_inlined_model_is_refused_there(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/e.sql",
                  "/* interlace: {materialise: ephemeral} */\nSELECT d,\n current_date AS x FROM raw.t");
    write_incremental(f, ", clock: forbid", "SELECT d FROM e");
    assert_fault_count(f, 1);
    assert_fault(f, "clock.read", "models/e.sql:3:2");
    assert_fault(f, "clock.read", "the ephemeral 'e'");
}

static void columns_and_quoted_names_are_no_reads(void **state) {
    Fixture *f = *state;
    write_incremental(f, ", clock: forbid", "SELECT t.current_date AS d, \"current_date\", today FROM raw.t AS t");
    assert_loads(f);
}

static void a_read_may_make_a_listed_column_and_nothing_else(void **state) {
    Fixture *f = *state;
    write_incremental(f, ", clock: forbid, clock_columns: [loaded_at]", "SELECT d, now() AS loaded_at FROM raw.t");
    assert_loads(f);
    assert_true(first_read(f, true).size == 0);
    assert_string_equal(str_to_c(f->arena, first_read(f, false)), "m now");
    write_incremental(f, ", clock: forbid, clock_columns: [loaded_at]",
                      "SELECT d, now() AS loaded_at FROM raw.t WHERE d < today()");
    assert_fault_count(f, 1);
    assert_fault(f, "clock.read", "by today");
}

static void only_bound_reads_part_the_windows(void **state) {
    Fixture *f = *state;
    write_incremental(f, ", clock: window", "SELECT d FROM raw.t WHERE d < now()");
    assert_loads(f);
    assert_true(model_binds_clock(f->project, fixture_model(f, "m"), f->arena));
    write_incremental(f, ", clock: wall", "SELECT d FROM raw.t WHERE d < now()");
    assert_loads(f);
    assert_false(model_binds_clock(f->project, fixture_model(f, "m"), f->arena));
    write_incremental(f, ", clock: window", "SELECT d FROM raw.t");
    assert_loads(f);
    assert_false(model_binds_clock(f->project, fixture_model(f, "m"), f->arena));
}

static void reads_of_a_view_are_its_own(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/v.sql", "/* interlace: {materialise: view} */\nSELECT d, now() AS x FROM raw.t");
    write_incremental(f, ", clock: forbid", "SELECT d FROM v");
    assert_loads(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROJECT_TEST(a_forbidden_read_is_refused_at_its_place),
        PROJECT_TEST(a_read_in_an_inlined_model_is_refused_there),
        PROJECT_TEST(columns_and_quoted_names_are_no_reads),
        PROJECT_TEST(a_read_may_make_a_listed_column_and_nothing_else),
        PROJECT_TEST(only_bound_reads_part_the_windows),
        PROJECT_TEST(reads_of_a_view_are_its_own),
    };
    return cmocka_run_group_tests_name("model clock", tests, NULL, NULL);
}
