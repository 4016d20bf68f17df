/* Which models a plan carries history over for, and which definitions it refuses (spec 02 §13, 03 §8). */
#include "plan/plan_fixture.h"

static Status build(Fixture *f, const Project *project, Plan **plan_out) {
    PlanOptions options = {.environment = STR("prod"), .forward_only = true};
    return plan_build(project, &f->state, &options, plan_out, &f->err);
}

static Plan *forward_plan(Fixture *f, const Project *project) {
    Plan *plan = NULL;
    if (failed(build(f, project, &plan))) {
        fail_msg("%.*s", STR_ARG(f->err.message));
    }
    return plan;
}

static void assert_refused(Fixture *f, ModelSpec before, ModelSpec after, const char *code) {
    fixture_apply(f, fixture_project(f, &before, 1));
    Plan *plan = NULL;
    assert_true(failed(build(f, fixture_project(f, &after, 1), &plan)));
    assert_int_equal(f->err.kind, ERROR_PLAN);
    bool has_code = false;
    for (size_t i = 0; i < f->err.details.count; i++) {
        has_code = has_code || str_equal(f->err.details.items[i].value, str_from(code));
    }
    if (!has_code) {
        fail_msg("%.*s: not %s", STR_ARG(f->err.message), code);
    }
    error_clear(&f->err);
    AUTO(plan) Plan *without = fixture_plan(f, fixture_project(f, &after, 1), NULL);
    assert_true(without->is_breaking);
}

#define MERGE .strategy = STRATEGY_MERGE, .key = "id"

static void models_that_accumulate_go_on_from_a_copy(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"a", "SELECT 1", ""}, {"m", "SELECT 1", "", MERGE}, {"same", "SELECT 3", "", MERGE}));
    Project *project = PROJECT(f, {"a", "SELECT 2", ""}, {"m", "SELECT 2", "", MERGE}, {"same", "SELECT 3", "", MERGE},
                               {"new", "SELECT 4", "", MERGE});
    AUTO(plan) Plan *plan = forward_plan(f, project);
    assert_changes(plan, "a:modified:breaking:rebuild m:modified:forward_only:copy + run new:added:-:rebuild");
    assert_null(plan->tasks.items[0].history);
    assert_null(plan->tasks.items[2].history);
    const History *history = plan->tasks.items[1].history;
    assert_int_equal(history->strategy, STRATEGY_MERGE);
    assert_true(str_equal(history->key.items[0], STR("id")));
    assert_int_equal(history->time_column.size, 0);
    assert_true(str_equal(history->given.items[0].type, STR("INTEGER")));
    AUTO(plan) Plan *without = fixture_plan(f, project, NULL);
    assert_changes(without, "a:modified:breaking:rebuild m:modified:breaking:rebuild new:added:-:rebuild");
}

static void it_alone_needs_no_force(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"m", "SELECT 1", "", MERGE}));
    AUTO(plan) Plan *plan = forward_plan(f, PROJECT(f, {"m", "SELECT 2", "", MERGE}));
    assert_false(plan->is_breaking);
    assert_false(failed(plan_check_gate(plan, false, &f->err)));
}

static void a_version_that_is_built_already_is_not_reused(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"m", "SELECT 2", "", MERGE}));
    fixture_apply(f, PROJECT(f, {"m", "SELECT 1", "", MERGE}));
    Project *project = PROJECT(f, {"m", "SELECT 2", "", MERGE});
    AUTO(plan) Plan *plan = forward_plan(f, project);
    assert_tasks(plan, "m:build");
    AUTO(plan) Plan *without = fixture_plan(f, project, NULL);
    assert_tasks(without, "m:reuse");
}

static void what_is_not_a_table_of_this_engine_is_planned_as_ever(void **state) {
    Fixture *f = *state;
    Project *project = PROJECT(f, {"m", "SELECT 2", "", MERGE});
    fixture_apply(f, PROJECT(f, {"m", "SELECT 1", "", MERGE}));
    Snapshot *snapshot = fixture_snapshot(f, "m");
    Snapshot kept = *snapshot;
    Snapshot others[] = {kept, kept, kept, kept};
    others[0].engine = STR("other");
    others[1].is_view = true;
    others[2].physical_catalog = STR("pg");
    others[3].physical_name = STR_EMPTY;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        *snapshot = others[i];
        AUTO(plan) Plan *plan = forward_plan(f, project);
        assert_changes(plan, "m:modified:breaking:rebuild");
    }
}

static void a_strategy_may_only_gain_a_hash(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"m", "SELECT 1", "", MERGE}));
    Project *project = PROJECT(f, {"m", "SELECT 1", "", .config = "{}h", .strategy = STRATEGY_HASH_MERGE, .key = "id"});
    AUTO(plan) Plan *plan = forward_plan(f, project);
    assert_changes(plan, "m:modified:forward_only:copy + run");
    for (int before = 0; before < STRATEGY_COUNT; before++) {
        for (int after = 0; after < STRATEGY_COUNT; after++) {
            bool is_fine = before == after || (before == STRATEGY_MERGE && after == STRATEGY_HASH_MERGE);
            if (!is_fine && strategy_is_accumulating((StrategyKind)after)) {
                ModelSpec old = {"m", "SELECT 1", "", .strategy = (StrategyKind)before};
                ModelSpec new = {"m", "SELECT 2", "", .strategy = (StrategyKind)after};
                f->state = (PlanState){0};
                assert_refused(f, old, new, "forward_only.strategy");
            }
        }
    }
}

static void the_time_column_of_windows_and_versions_stays(void **state) {
    Fixture *f = *state;
    static const StrategyKind strategies[] = {STRATEGY_INCREMENTAL, STRATEGY_SCD};
    for (size_t i = 0; i < COUNT_OF(strategies); i++) {
        ModelSpec old = {"m", "SELECT 1", "", .strategy = strategies[i], .time_column = "day"};
        ModelSpec new = {"m", "SELECT 2", "", .strategy = strategies[i], .time_column = "hour"};
        f->state = (PlanState){0};
        assert_refused(f, old, new, "forward_only.time_column");
        new.time_column = NULL;
        assert_refused(f, old, new, "forward_only.time_column");
        new.time_column = "DAY";
        AUTO(plan) Plan *plan = forward_plan(f, fixture_project(f, &new, 1));
        assert_changes(plan, "m:modified:forward_only:copy + run");
    }
}

static void a_record_that_does_not_say_how_rows_are_kept_is_refused(void **state) {
    Fixture *f = *state;
    fixture_apply(f, PROJECT(f, {"m", "SELECT 1", "", MERGE}));
    fixture_snapshot(f, "m")->config_json = STR_EMPTY;
    Plan *plan = NULL;
    assert_true(failed(build(f, PROJECT(f, {"m", "SELECT 2", "", MERGE}), &plan)));
    assert_int_equal(f->err.kind, ERROR_PLAN);
    assert_true(str_find(f->err.hint, STR("interlace run -s m")) != STR_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(models_that_accumulate_go_on_from_a_copy),
        PLAN_TEST(it_alone_needs_no_force),
        PLAN_TEST(a_version_that_is_built_already_is_not_reused),
        PLAN_TEST(what_is_not_a_table_of_this_engine_is_planned_as_ever),
        PLAN_TEST(a_strategy_may_only_gain_a_hash),
        PLAN_TEST(the_time_column_of_windows_and_versions_stays),
        PLAN_TEST(a_record_that_does_not_say_how_rows_are_kept_is_refused),
    };
    return cmocka_run_group_tests_name("plan_forward", tests, NULL, NULL);
}
