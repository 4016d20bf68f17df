#include "project/graph.h"
#include "project/project_fixture.h"

static Str order(const Fixture *f) {
    StrVec names = {0};
    for (size_t i = 0; i < f->project->model_count; i++) {
        assert_int_equal(f->project->models[i]->index, i);
        str_vec_push(f->arena, &names, f->project->models[i]->name);
    }
    return str_join(f->arena, names.items, names.count, STR(" "));
}

static void upstreams_come_first_and_names_break_ties(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/z.sql", "SELECT 1 AS id");
    fixture_write(f, "models/y.sql", "SELECT * FROM z");
    fixture_write(f, "models/b.sql", "SELECT * FROM y");
    fixture_write(f, "models/c.sql", "SELECT 1 AS id");
    fixture_write(f, "models/a.sql", "SELECT * FROM y, c");
    assert_loads(f);
    assert_str(order(f), "c z y a b", "order");
    assert_upstreams(f, "a", "c, y");
    const Model *y = fixture_model(f, "y");
    assert_int_equal(y->downstreams.count, 2);
    assert_str(f->project->models[y->downstreams.items[0]]->name, "a", "downstreams are ascending");
}

static void test_01_7_4_a_cycle_is_told_as_a_path(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/b.sql", "SELECT * FROM a");
    fixture_write(f, "models/a.sql", "SELECT * FROM c");
    fixture_write(f, "models/s/c.sql", "/* interlace: {name: c} */ SELECT * FROM b");
    fixture_write(f, "models/after.sql", "SELECT * FROM b");
    fixture_write(f, "models/before.sql", "SELECT 1 AS id");
    assert_fault_count(f, 1);
    assert_fault(f, "graph.cycle", "a (models/a.sql) → c (models/s/c.sql) → b (models/b.sql) → a");
    assert_int_equal(f->faults.items[0].kind, ERROR_DEPENDENCY);
}

static void every_cycle_is_told(void **state) {
    Fixture *f = *state;
    fixture_write(f, "models/a.sql", "SELECT * FROM b");
    fixture_write(f, "models/b.sql", "SELECT * FROM a");
    fixture_write(f, "models/x.sql", "SELECT * FROM y, a");
    fixture_write(f, "models/y.sql", "/* interlace: {depends_on: x} */ SELECT 1");
    assert_fault_count(f, 2);
    assert_fault(f, "graph.cycle", "a (models/a.sql) → b (models/b.sql) → a");
    assert_fault(f, "graph.cycle", "x (models/x.sql) → y (models/y.sql) → x");
}

#define CHAIN 5000

/* The chain runs against the order of the names. */
static void a_chain_of_5000_models_loads(void **state) {
    Fixture *f = *state;
    for (int i = 0; i < CHAIN; i++) {
        char path[64], text[64];
        (void)snprintf(path, sizeof path, "models/m%05d.sql", CHAIN - 1 - i);
        (void)snprintf(text, sizeof text, i == 0 ? "SELECT 1 AS id" : "SELECT * FROM m%05d", CHAIN - i);
        fixture_write(f, path, text);
    }
    assert_loads(f);
    assert_int_equal(f->project->model_count, CHAIN);
    assert_str(f->project->models[0]->name, "m04999", "first");
    assert_str(f->project->models[CHAIN - 1]->name, "m00000", "last");

    StrVec names;
    graph_names(f->project, CHAIN - 1, GRAPH_UPSTREAM, f->arena, &names);
    assert_int_equal(names.count, CHAIN - 1);
    graph_names(f->project, 0, GRAPH_DOWNSTREAM, f->arena, &names);
    assert_int_equal(names.count, CHAIN - 1);

    fixture_write(f, "models/m04999.sql", "SELECT * FROM m00000");
    assert_fault_count(f, 1);
    assert_fault(f, "graph.cycle", "m00000 (models/m00000.sql) → m00001 (models/m00001.sql) → ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROJECT_TEST(upstreams_come_first_and_names_break_ties),
        PROJECT_TEST(test_01_7_4_a_cycle_is_told_as_a_path),
        PROJECT_TEST(every_cycle_is_told),
        PROJECT_TEST(a_chain_of_5000_models_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
