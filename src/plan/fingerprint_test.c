/* What moves which hash (spec 03 §1). */
#include "plan/plan_fixture.h"

#include "base/hash.h"

static const Model *last(const Project *project) {
    return project->models[project->model_count - 1];
}

static void assert_equal(Str a, Str b) {
    if (!str_equal(a, b)) {
        fail_msg("%.*s is not %.*s", STR_ARG(a), STR_ARG(b));
    }
}

static void assert_differ(Str a, Str b) {
    if (str_equal(a, b)) {
        fail_msg("both are %.*s", STR_ARG(a));
    }
}

static void the_parts_are_joined_with_one_nul_byte(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""}, {"b", "SELECT * FROM a", "a"});
    Str local[] = {STR("select 1"), STR("{}virtual")};
    assert_equal(project->models[0]->local_fingerprint, fingerprint_of_parts(f->arena, local, 2));
    assert_equal(project->models[0]->fingerprint, fingerprint_of_parts(f->arena, local, 2));
    Str down[] = {STR("select * from a"), STR("{}virtual"), project->models[0]->fingerprint};
    assert_equal(project->models[1]->fingerprint, fingerprint_of_parts(f->arena, down, 3));
    assert_int_equal(project->models[1]->fingerprint.size, 16);
}

static void each_edit_moves_its_own_hash(void **state) {
    Fixture *f = *state;
    const Model *base = last(PROJECT(f, {"up", "SELECT 1", ""}, {"m", "SELECT x", "up", .config = "{1}"}));
    const struct {
        ModelSpec up, model;
        bool moves_local, moves_fingerprint, moves_metadata;
    } cases[] = {
        {{"up", "SELECT 1", ""}, {"m", "SELECT x", "up", .config = "{1}"}, false, false, false},
        {{"up", "SELECT 1", ""}, {"m", "SELECT y", "up", .config = "{1}"}, true, true, false},
        {{"up", "SELECT 1", ""}, {"m", "SELECT x", "up", .config = "{2}"}, true, true, false},
        {{"up", "SELECT 2", ""}, {"m", "SELECT x", "up", .config = "{1}"}, false, true, false},
        {{"up", "SELECT 1", ""}, {"m", "SELECT x", "up", .config = "{1}", .metadata = "{9}"}, false, false, true},
        {{"up", "SELECT 1", "", .metadata = "{9}"}, {"m", "SELECT x", "up", .config = "{1}"}, false, false, false},
        {{"up", "SELECT 1", ""}, {"renamed", "SELECT x", "up", .config = "{1}"}, false, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const Model *model = last(PROJECT(f, cases[i].up, cases[i].model));
        print_message("# case %zu\n", i);
        assert_int_equal(!str_equal(base->local_fingerprint, model->local_fingerprint), cases[i].moves_local);
        assert_int_equal(!str_equal(base->fingerprint, model->fingerprint), cases[i].moves_fingerprint);
        assert_int_equal(!str_equal(base->metadata_hash, model->metadata_hash), cases[i].moves_metadata);
    }
}

static void the_order_of_upstreams_does_not_matter(void **state) {
    Fixture *f = *state;
    const Model *one = last(PROJECT(f, {"a", "SELECT 1", ""}, {"b", "SELECT 2", ""}, {"m", "SELECT x", "a b"}));
    const Model *other = last(PROJECT(f, {"b", "SELECT 2", ""}, {"a", "SELECT 1", ""}, {"m", "SELECT x", "b a"}));
    assert_equal(one->fingerprint, other->fingerprint);
}

static void a_change_passes_through_an_ephemeral_model(void **state) {
    Fixture *f = *state;
    const Model *one = last(
        PROJECT(f, {"a", "SELECT 1", ""}, {"e", "SELECT * FROM a", "a", MATERIALISE_EPHEMERAL}, {"m", "SELECT", "e"}));
    const Model *other = last(
        PROJECT(f, {"a", "SELECT 2", ""}, {"e", "SELECT * FROM a", "a", MATERIALISE_EPHEMERAL}, {"m", "SELECT", "e"}));
    assert_differ(one->fingerprint, other->fingerprint);
    assert_equal(one->local_fingerprint, other->local_fingerprint);
}

static void the_physical_hash_is_empty_when_nothing_is_declared(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""});
    Str before = project->models[0]->fingerprint;
    assert_equal(project->models[0]->physical_hash, STR_EMPTY);
    project->models[0]->physical_json = STR("{\"indexes\":[\"id\"]}");
    fingerprint_project(project, NULL);
    assert_int_equal(project->models[0]->physical_hash.size, 16);
    assert_equal(project->models[0]->fingerprint, before);
}

static void what_is_known_gives_the_same_digits(void **state) {
    Fixture *f = *state;
    AUTO(sql_cache) SqlCache *known = sql_cache_open(STR_EMPTY, STR(FINGERPRINT_CACHE_VERSION));
    Project *project = PROJECT(f, {"a", "SELECT 1", ""}, {"m", "SELECT x", "a"});
    Str own = project->models[1]->local_fingerprint, all = project->models[1]->fingerprint;
    for (size_t i = 0; i < 2; i++) { /* put, then found */
        project->models[1]->local_fingerprint = project->models[1]->fingerprint = STR_EMPTY;
        fingerprint_project(project, known);
        assert_equal(project->models[1]->local_fingerprint, own);
        assert_equal(project->models[1]->fingerprint, all);
    }
    project->models[0]->config_json = STR("{\"changed\":true}");
    fingerprint_project(project, known);
    assert_equal(project->models[1]->local_fingerprint, own);
    assert_differ(project->models[1]->fingerprint, all);
}

static Str python_fingerprint(Fixture *f, const char *canonical, const char *captured) {
    Project *project = PROJECT(f, {"p", "", ""});
    PythonDefinition python = {.canonical = str_from(canonical), .captured = str_from(captured)};
    project->models[0]->kind = MODEL_PYTHON;
    project->models[0]->python = &python;
    fingerprint_project(project, NULL);
    return project->models[0]->fingerprint;
}

static void test_03_1_4_models_of_one_factory_differ_by_what_they_captured(void **state) {
    Fixture *f = *state;
    Str north = python_fingerprint(f, "def build", "{\"region\":\"north\"}");
    assert_equal(north, python_fingerprint(f, "def build", "{\"region\":\"north\"}"));
    assert_differ(north, python_fingerprint(f, "def build", "{\"region\":\"south\"}"));
    assert_differ(north, python_fingerprint(f, "def other", "{\"region\":\"north\"}"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(the_parts_are_joined_with_one_nul_byte),
        PLAN_TEST(each_edit_moves_its_own_hash),
        PLAN_TEST(the_order_of_upstreams_does_not_matter),
        PLAN_TEST(a_change_passes_through_an_ephemeral_model),
        PLAN_TEST(the_physical_hash_is_empty_when_nothing_is_declared),
        PLAN_TEST(what_is_known_gives_the_same_digits),
        PLAN_TEST(test_03_1_4_models_of_one_factory_differ_by_what_they_captured),
    };
    return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
