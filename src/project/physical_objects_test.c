/* Indexes and constraints: spec 01 §12.4. */
#include "project/physical_objects.h"
#include "project/project_fixture.h"

static void load(Fixture *f, const char *config, const char *block) {
    fixture_write(f, "interlace.yaml", config);
    fixture_write(f, "models/m.sql", str_format(f->arena, "/* interlace: {%s} */ SELECT 1 AS a, 2 AS b", block).ptr);
    assert_loads(f);
}

/* "kind name(columns)" of all, then the number of warnings. */
static Str wanted(Fixture *f, const char *config, const char *block) {
    load(f, config, block);
    PhysicalObjectVec objects;
    StrVec warnings, lines = {0};
    physical_objects_wanted(f->project, fixture_model(f, "m"), f->arena, &objects, &warnings);
    for (size_t i = 0; i < objects.count; i++) {
        const PhysicalObject *object = &objects.items[i];
        Str columns = str_join(f->arena, object->columns.items, object->columns.count, STR(","));
        str_vec_push(f->arena, &lines,
                     str_format(f->arena, "%d " STR_FMT "(" STR_FMT ")", (int)object->kind, STR_ARG(object->name),
                                STR_ARG(columns)));
    }
    Str all = str_join(f->arena, lines.items, lines.count, STR(" "));
    return str_format(f->arena, STR_FMT " w%zu", STR_ARG(all), warnings.count);
}

static const char duckdb[] = "timezone: UTC\n";
static const char lake[] = "database: 'ducklake:lake.ducklake'\n";
static const char postgres[] = "attach: {crm: 'postgresql://h/crm'}\n";

static void test_01_12_4_names_are_made_of_the_model_and_its_columns(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *config, *block, *expected;
    } cases[] = {
        {duckdb, "indexes: a", "0 il__m__a(a) w0"},
        {duckdb, "indexes: [a, [a, b], {columns: b, unique: true}, {columns: [b], name: mine}]",
         "0 il__m__a(a) 0 il__m__a__b(a,b) 1 il__m__uniq__b(b) 0 mine(b) w0"},
        {duckdb, "constraints: [{not_null: [a, b]}, {primary_key: a}, {check: {expression: 'a > 0'}}]",
         "4 il__m__nn__a(a) 4 il__m__nn__b(b) 0 il__m__pk(a) w2"},
        {duckdb, "constraints: [{type: unique, columns: [a, b], name: u}]", "0 u(a,b) w1"},
        {lake, "indexes: a, constraints: [{not_null: a}, {unique: b}]", "4 il__m__nn__a(a) w2"},
        {postgres,
         "materialise: table, strategy: append, target: crm.s.m, indexes: a, constraints: [{primary_key: a}, "
         "{unique: b}, {foreign_key: {columns: b, to: s.n, fields: id}}]",
         "0 il__m__a(a) 2 il__m__pk(a) 3 il__m__uniq__b(b) 6 il__m__fk__b(b) w0"},
        {postgres,
         "materialise: table, strategy: append, target: crm.s.m, indexes: a, schema: {indexes: ignore}, "
         "constraints: [{not_null: a}]",
         "4 il__m__nn__a(a) w0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str found = wanted(f, cases[i].config, cases[i].block);
        if (!str_equal(found, str_from(cases[i].expected))) {
            fail_msg("%s\n" STR_FMT "\n%s", cases[i].block, STR_ARG(found), cases[i].expected);
        }
    }
}

static void one_name_is_for_one_object(void **state) {
    Fixture *f = *state;
    static const char *const blocks[] = {
        "indexes: [a, a]",
        "indexes: [a, {columns: b, name: IL__M__A}]",
        "indexes: [{columns: a, unique: true}], constraints: [{unique: a}]",
        "constraints: [{primary_key: a}, {primary_key: b}]",
        "constraints: [{unique: {columns: a, name: u}}, {not_null: {columns: b, name: u}}]",
    };
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        fixture_write(f, "models/m.sql",
                      str_format(f->arena, "/* interlace: {%s} */ SELECT 1 AS a, 2 AS b", blocks[i]).ptr);
        assert_fault_count(f, 1);
        assert_fault(f, "physical.name", "have the name");
    }
    fixture_write(f, "models/m.sql",
                  "/* interlace: {constraints: [{not_null: {columns: [a, b], name: n}}]} */ SELECT 1 AS a, 2 AS b");
    assert_fault_count(f, 1);
    assert_fault(f, "key.value", "write one entry for each column");
}

static void long_names_are_shortened_and_stay_apart(void **state) {
    Fixture *f = *state;
    load(f, duckdb,
         "indexes: [a_column_with_a_name_that_is_very_long_and_longer_still_x1, "
         "a_column_with_a_name_that_is_very_long_and_longer_still_x2]");
    PhysicalObjectVec objects;
    StrVec warnings;
    physical_objects_wanted(f->project, fixture_model(f, "m"), f->arena, &objects, &warnings);
    assert_int_equal(objects.count, 2);
    assert_int_equal(objects.items[0].name.size, 63);
    assert_false(str_equal(objects.items[0].name, objects.items[1].name));
    Str first = physical_created_name(&objects.items[0], STR("m__1"), true, f->arena);
    Str second = physical_created_name(&objects.items[0], STR("m__2"), true, f->arena);
    assert_int_equal(first.size, 63);
    assert_false(str_equal(first, second));
    assert_true(str_equal(physical_created_name(&objects.items[0], STR("m"), false, f->arena), objects.items[0].name));
}

static void a_record_reads_back_and_tells_what_changed(void **state) {
    Fixture *f = *state;
    PhysicalObjectVec before, after, read;
    StrVec warnings;
    load(f, duckdb, "indexes: [a, {columns: b, name: mine}], constraints: [{not_null: a}]");
    physical_objects_wanted(f->project, fixture_model(f, "m"), f->arena, &before, &warnings);
    physical_objects_from_json(physical_objects_to_json(&before, f->arena), f->arena, &read);
    assert_int_equal(read.count, 3);
    assert_int_equal(physical_objects_without(&before, &read, f->arena).count, 0);
    load(f, duckdb, "indexes: [a, {columns: a, name: mine}]");
    physical_objects_wanted(f->project, fixture_model(f, "m"), f->arena, &after, &warnings);
    PhysicalObjectVec gone = physical_objects_without(&read, &after, f->arena);
    assert_int_equal(gone.count, 2);
    assert_true(str_equal(gone.items[0].name, STR("mine")));
    assert_int_equal(physical_objects_without(&after, &read, f->arena).count, 1);
    physical_objects_from_json(STR("{no json"), f->arena, &read);
    assert_int_equal(read.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROJECT_TEST(test_01_12_4_names_are_made_of_the_model_and_its_columns),
        PROJECT_TEST(one_name_is_for_one_object),
        PROJECT_TEST(long_names_are_shortened_and_stay_apart),
        PROJECT_TEST(a_record_reads_back_and_tells_what_changed),
    };
    return cmocka_run_group_tests_name("physical_objects", tests, NULL, NULL);
}
