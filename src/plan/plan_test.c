/* What a plan holds (spec 03 §3 to §5). */
#include "plan/plan_fixture.h"

/* ---- Changes and tasks. */

static void everything_is_added_to_a_new_environment(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""}, {"v", "SELECT * FROM a", "a", MATERIALISE_VIEW},
                               {"e", "SELECT * FROM v", "v", MATERIALISE_EPHEMERAL});
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "a:added:-:rebuild v:added:-:rebuild e:added:-:—");
    assert_tasks(plan, "a:build v:build e:record");
    assert_false(plan->is_breaking);
    assert_false(plan->is_empty);
    assert_int_equal(plan->changes.items[0].reason, REASON_NEW);
    assert_int_equal(plan->changes.items[0].previous_fingerprint.size, 0);
    assert_int_equal(plan->changes.items[0].new_fingerprint.size, 16);
    assert_null(plan->current[0]);
}

static void test_03_5_1_an_unchanged_project_gives_an_empty_plan(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""}, {"e", "SELECT * FROM a", "a", MATERIALISE_EPHEMERAL});
    fixture_apply(f, project);
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "");
    assert_tasks(plan, "");
    assert_true(plan->is_empty);
    assert_false(plan->is_breaking);
    assert_ptr_equal(plan->current[0], fixture_snapshot(f, "a"));
    assert_false(plan->is_modified[0]);
}

static void a_direct_change_is_breaking_and_so_are_its_descendants(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}, {"b", "SELECT * FROM a", "a"}, {"c", "SELECT * FROM b", "b"},
                             {"other", "SELECT 3", ""}));
    Project *project = PROJECT(f, {"a", "SELECT 2", ""}, {"b", "SELECT * FROM a", "a"}, {"c", "SELECT * FROM b", "b"},
                               {"other", "SELECT 3", ""});
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "a:modified:breaking:rebuild b:modified:breaking:rebuild c:modified:breaking:rebuild");
    assert_true(plan->is_breaking);

    const PlanChange *changes = plan->changes.items;
    assert_int_equal(changes[0].reason, REASON_DEFINITION);
    assert_true(str_equal(changes[0].previous_sql, STR("SELECT 1")));
    assert_true(str_equal(changes[0].new_sql, STR("SELECT 2")));
    assert_true(str_equal(changes[0].previous_fingerprint, f->state.pointers.items[0].fingerprint));
    assert_int_equal(changes[1].reason, REASON_UPSTREAM);
    assert_true(str_equal(changes[1].reason_upstream, STR("a")));
    assert_true(str_equal(changes[2].reason_upstream, STR("b")));
}

static void a_change_of_configuration_is_a_change_of_the_definition(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}));
    Project *project = PROJECT(f, {"a", "SELECT 1", "", .config = "{\"strategy\":\"merge\"}"});
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "a:modified:breaking:rebuild");
    assert_int_equal(plan->changes.items[0].reason, REASON_DEFINITION);
}

static void an_ephemeral_model_is_a_change_like_others(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}, {"e", "SELECT * FROM a", "a", MATERIALISE_EPHEMERAL},
                             {"c", "SELECT * FROM e", "e"}));
    Project *own = PROJECT(f, {"a", "SELECT 1", ""}, {"e", "SELECT x FROM a", "a", MATERIALISE_EPHEMERAL},
                           {"c", "SELECT * FROM e", "e"});
    AUTO(plan) Plan *plan = fixture_plan(f, own, NULL);
    assert_changes(plan, "e:modified:breaking:— c:modified:breaking:rebuild");
    assert_tasks(plan, "e:record c:build");
    assert_int_equal(plan->changes.items[0].reason, REASON_DEFINITION);
    assert_int_equal(plan->changes.items[1].reason, REASON_UPSTREAM);

    Project *above = PROJECT(f, {"a", "SELECT 2", ""}, {"e", "SELECT * FROM a", "a", MATERIALISE_EPHEMERAL},
                             {"c", "SELECT * FROM e", "e"});
    AUTO(plan) Plan *second = fixture_plan(f, above, NULL);
    assert_changes(second, "a:modified:breaking:rebuild e:modified:breaking:— c:modified:breaking:rebuild");
    assert_int_equal(second->changes.items[1].reason, REASON_UPSTREAM);
}

static void a_missing_record_of_the_promoted_version_is_told(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}));
    f->state.snapshots.count = 0;
    Project *project = PROJECT(f, {"a", "SELECT 2", ""});
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "a:modified:breaking:rebuild");
    assert_int_equal(plan->changes.items[0].reason, REASON_SNAPSHOT_GONE);
    assert_int_equal(plan->changes.items[0].previous_sql.size, 0);
}

static void removed_models_come_last_by_name(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"z", "SELECT 1", ""}, {"b", "SELECT 2", ""}, {"k", "SELECT 3", ""}));
    Project *project = PROJECT(f, {"new", "SELECT 4", ""}, {"k", "SELECT 3", ""});
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "new:added:-:rebuild b:removed:-:— z:removed:-:—");
    assert_tasks(plan, "new:build");
    assert_false(plan->is_breaking);
    assert_null(plan->changes.items[1].model);
    assert_true(str_equal(plan->changes.items[1].previous_sql, STR("SELECT 2")));
    assert_int_equal(plan->changes.items[1].new_fingerprint.size, 0);
}

static void a_model_whose_name_is_written_in_other_letters_is_the_same_model(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"Orders", "SELECT 1", ""}));
    AUTO(plan) Plan *plan = fixture_plan(f, PROJECT(f, {"orders", "SELECT 1", ""}), NULL);
    assert_true(plan->is_empty);
    assert_non_null(plan->current[0]);
}

/* ---- Metadata. */

static void test_03_1_2_metadata_alone_is_no_change_and_rebuilds_nothing(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}, {"b", "SELECT 2", ""}));
    Project *project = PROJECT(f, {"a", "SELECT 1", "", .metadata = "{\"owner\":\"ann\"}"}, {"b", "SELECT 2", ""});
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "");
    assert_tasks(plan, "");
    assert_int_equal(plan->metadata.count, 1);
    assert_true(str_equal(plan->metadata.items[0], STR("a")));
    assert_false(plan->is_empty);
    AUTO(plan) Plan *selected = fixture_plan(f, project, "b");
    assert_true(selected->is_empty);
}

/* ---- Reuse. */

static void test_03_5_3_another_environment_reuses_what_is_built(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""}, {"v", "SELECT * FROM a", "a", MATERIALISE_VIEW},
                               {"e", "SELECT * FROM v", "v", MATERIALISE_EPHEMERAL});
    fixture_apply(f, project);
    f->state.pointers.count = 0; /* those of dev */
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "a:added:-:reuse v:added:-:reuse e:added:-:—");
    assert_tasks(plan, "a:reuse v:reuse e:record");
    assert_ptr_equal(plan->tasks.items[0].snapshot, fixture_snapshot(f, "a"));
}

static void going_back_to_an_older_version_reuses_it(void **state) {
    Fixture *f = *state;
    Project *first = PROJECT(f, {"a", "SELECT 1", ""});
    fixture_apply(f, first);
    fixture_apply(f, PROJECT(f, {"a", "SELECT 2", ""}));
    AUTO(plan) Plan *plan = fixture_plan(f, first, NULL);
    assert_changes(plan, "a:modified:breaking:reuse");
    assert_tasks(plan, "a:reuse");
}

static void test_03_5_an_unverified_snapshot_is_rebuilt(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""});
    fixture_apply(f, project);
    f->state.pointers.count = 0;
    fixture_snapshot(f, "a")->verified_at = 0;
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_changes(plan, "a:added:-:rebuild");
    assert_tasks(plan, "a:build");
}

static void of_several_revisions_the_one_that_is_shown_is_reused(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""});
    fixture_apply(f, project);
    f->state.pointers.count = 0;
    for (int64_t revision = 1; revision <= 2; revision++) {
        Snapshot copy = *fixture_snapshot(f, "a");
        copy.revision = revision;
        copy.verified_at = revision == 2 ? 0 : 2000;
        snapshot_vec_push(f->arena, &f->state.snapshots, copy);
    }
    /* Nobody shows any: the first, for later ones are private copies. */
    AUTO(plan) Plan *private = fixture_plan(f, project, NULL);
    assert_int_equal(private->tasks.items[0].snapshot->revision, 0);

    Pointer shown = {.model = STR("a"), .fingerprint = private->tasks.items[0].snapshot->fingerprint, .revision = 1};
    pointer_vec_push(f->arena, &f->state.shown, shown);
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_int_equal(plan->tasks.items[0].snapshot->revision, 1);
}

static void a_terminal_is_never_reused(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"t", "SELECT 1", "", MATERIALISE_TABLE});
    fixture_apply(f, project);
    f->state.pointers.count = 0;
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_tasks(plan, "t:build");
}

/* ---- Selection. */

static void test_03_4_2_a_selection_grows_by_its_changed_ancestors(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"root", "SELECT 0", ""}, {"up", "SELECT 1", "root"}, {"down", "SELECT *", "up"},
                             {"other", "SELECT 3", "up"}));
    Project *project = PROJECT(f, {"root", "SELECT 0", ""}, {"up", "SELECT 2", "root"}, {"down", "SELECT *", "up"},
                               {"other", "SELECT 3", "up"});
    AUTO(plan) Plan *plan = fixture_plan(f, project, "down");
    assert_changes(plan, "up:modified:breaking:rebuild down:modified:breaking:rebuild");
    assert_tasks(plan, "up:build down:build");
}

static void test_03_4_4_a_selection_removes_nothing(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}, {"gone", "SELECT 2", ""}));
    AUTO(plan) Plan *plan = fixture_plan(f, PROJECT(f, {"a", "SELECT 1", ""}), "a");
    assert_changes(plan, "");
    assert_true(plan->is_empty);
}

static void test_03_4_3_state_modified_of_a_clean_project_selects_nothing(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""});
    fixture_apply(f, project);
    AUTO(plan) Plan *plan = fixture_plan(f, project, "state:modified");
    assert_true(plan->is_empty);
}

static void an_unknown_name_is_refused(void **state) {
    Fixture *f = *state;
    StrVec select = {0};
    str_vec_push(f->arena, &select, STR("nosuch"));
    PlanOptions options = {.environment = STR("prod"), .select = &select};
    Plan *plan = NULL;
    assert_true(failed(plan_build(PROJECT(f, {"a", "SELECT 1", ""}), &f->state, &options, &plan, &f->err)));
    assert_int_equal(f->err.kind, ERROR_SELECTION);
    assert_null(plan);
}

/* ---- Forced plans. */

static void rebuild_all_schedules_unchanged_models_too(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}, {"v", "SELECT *", "a", MATERIALISE_VIEW},
                             {"e", "SELECT *", "v", MATERIALISE_EPHEMERAL}, {"m", "SELECT 9", ""}));
    Project *project = PROJECT(f, {"a", "SELECT 1", ""}, {"v", "SELECT *", "a", MATERIALISE_VIEW},
                               {"e", "SELECT *", "v", MATERIALISE_EPHEMERAL}, {"m", "SELECT 8", ""});
    PlanOptions options = {.environment = STR("prod"), .rebuild_all = true};
    AUTO(plan) Plan *plan = NULL;
    assert_false(failed(plan_build(project, &f->state, &options, &plan, &f->err)));
    assert_changes(plan, "m:modified:breaking:rebuild");
    assert_tasks(plan, "a:build v:build e:record m:build");
    assert_int_equal(plan->tasks.items[0].category, CATEGORY_NONE);
    assert_int_equal(plan->tasks.items[3].category, CATEGORY_BREAKING);
}

/* ---- The gate. */

static void test_03_3_7_only_breaking_changes_close_the_gate(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}, {"b", "SELECT *", "a"}, {"gone", "SELECT 2", ""}));
    AUTO(plan)
    Plan *harmless =
        fixture_plan(f, PROJECT(f, {"a", "SELECT 1", ""}, {"b", "SELECT *", "a"}, {"new", "SELECT 2", ""}), NULL);
    assert_false(failed(plan_check_gate(harmless, false, &f->err)));

    AUTO(plan) Plan *breaking = fixture_plan(f, PROJECT(f, {"a", "SELECT 5", ""}, {"b", "SELECT *", "a"}), NULL);
    assert_true(failed(plan_check_gate(breaking, false, &f->err)));
    assert_int_equal(f->err.kind, ERROR_BREAKING_PLAN);
    assert_true(str_equal(f->err.message, STR("plan has breaking changes (a, b); re-run with --force to proceed")));
    assert_false(failed(plan_check_gate(breaking, true, &f->err)));
}

static void the_notes_of_the_project_are_warnings_of_the_plan(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"a", "SELECT 1", ""});
    str_vec_push(f->arena, &project->notes, STR("raw.orders is external"));
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    assert_int_equal(plan->warnings.count, 1);
}

/* ---- Cost. */

static double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* 30 layers, and a chain: neither needs the C stack. A figure, not a gate. */
static void planning_2000_models_is_cheap(void **state) {
    Fixture *f = *state;
    enum { COUNT = 2000 };
    ModelSpec *specs = ARENA_NEW_ARRAY(f->arena, ModelSpec, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        specs[i].name = str_format(f->arena, "layer_%zu.model_%zu", i / 67, i).ptr;
        specs[i].sql = str_format(f->arena, "SELECT v + %zu AS v FROM upstream", i).ptr;
        specs[i].upstreams = i == 0 ? "" : specs[i - 1].name;
    }
    Project *project = fixture_project(f, specs, COUNT);
    fixture_apply(f, project);
    double start_ms = cpu_ms();
    fingerprint_project(project, NULL);
    double hashed_ms = cpu_ms();
    AUTO(plan) Plan *plan = fixture_plan(f, project, NULL);
    print_message("# 2000 models: fingerprints %.2f ms, plan %.2f ms cpu\n", hashed_ms - start_ms,
                  cpu_ms() - hashed_ms);
    assert_true(plan->is_empty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(everything_is_added_to_a_new_environment),
        PLAN_TEST(test_03_5_1_an_unchanged_project_gives_an_empty_plan),
        PLAN_TEST(a_direct_change_is_breaking_and_so_are_its_descendants),
        PLAN_TEST(a_change_of_configuration_is_a_change_of_the_definition),
        PLAN_TEST(an_ephemeral_model_is_a_change_like_others),
        PLAN_TEST(a_missing_record_of_the_promoted_version_is_told),
        PLAN_TEST(removed_models_come_last_by_name),
        PLAN_TEST(a_model_whose_name_is_written_in_other_letters_is_the_same_model),
        PLAN_TEST(test_03_1_2_metadata_alone_is_no_change_and_rebuilds_nothing),
        PLAN_TEST(test_03_5_3_another_environment_reuses_what_is_built),
        PLAN_TEST(going_back_to_an_older_version_reuses_it),
        PLAN_TEST(test_03_5_an_unverified_snapshot_is_rebuilt),
        PLAN_TEST(of_several_revisions_the_one_that_is_shown_is_reused),
        PLAN_TEST(a_terminal_is_never_reused),
        PLAN_TEST(test_03_4_2_a_selection_grows_by_its_changed_ancestors),
        PLAN_TEST(test_03_4_4_a_selection_removes_nothing),
        PLAN_TEST(test_03_4_3_state_modified_of_a_clean_project_selects_nothing),
        PLAN_TEST(an_unknown_name_is_refused),
        PLAN_TEST(rebuild_all_schedules_unchanged_models_too),
        PLAN_TEST(test_03_3_7_only_breaking_changes_close_the_gate),
        PLAN_TEST(the_notes_of_the_project_are_warnings_of_the_plan),
        PLAN_TEST(planning_2000_models_is_cheap),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
