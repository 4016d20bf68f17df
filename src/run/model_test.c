#include "run/model_test.h"

#include "project/graph.h"
#include "project/selector.h"
#include "run/model_test_parts.h"

/* clang-format off */
static const char *const status_names[] = {
    [MODEL_TEST_PASSED]  = "passed",
    [MODEL_TEST_FAILED]  = "failed",
    [MODEL_TEST_ERROR]   = "error",
    [MODEL_TEST_UPDATED] = "updated",
};
/* clang-format on */
static_assert(COUNT_OF(status_names) == MODEL_TEST_STATUS_COUNT, "one row per ModelTestStatus");

const char *model_test_status_name(ModelTestStatus status) {
    assert((unsigned)status < MODEL_TEST_STATUS_COUNT);
    return status_names[status];
}

typedef struct ModelTests {
    Session *session;
    const ModelTestOptions *options;
    Arena *arena;
    TestCaseVec cases;
    Selection selection;
    ModelTestResultVec results;
} ModelTests;

static const Model *model_at(const ModelTests *tests, size_t index) {
    return tests->session->project->models[index];
}

/* ---- Which models are tested. */

static bool has_golden(const ModelTests *tests, size_t model) {
    for (size_t i = 0; i < tests->cases.count; i++) {
        if (test_file_of_model(&tests->cases.items[i].golden, model) != NULL) {
            return true;
        }
    }
    return false;
}

static bool has_fixture_for(const ModelTests *tests, const TestCase *test_case, size_t model) {
    bool *is_ancestor = ARENA_NEW_ARRAY(tests->arena, bool, tests->session->project->model_count);
    graph_reach(tests->session->project, model, GRAPH_UPSTREAM, is_ancestor);
    for (size_t i = 0; i < test_case->fixtures.count; i++) {
        size_t fixture = test_case->fixtures.items[i].model;
        if (fixture != MODEL_NONE && is_ancestor[fixture]) {
            return true;
        }
    }
    return false;
}

/* A model's first golden file is written where fixtures for it are; when there are none, in tests/golden. */
static bool takes_first_golden(const ModelTests *tests, const TestCase *test_case, size_t model) {
    if (!tests->options->updates_golden || tests->selection.is_all || has_golden(tests, model)) {
        return false;
    }
    bool is_shared = test_case == tests->cases.items;
    bool has_own_case = false;
    for (size_t i = 0; i < tests->cases.count; i++) {
        has_own_case = has_own_case || has_fixture_for(tests, &tests->cases.items[i], model);
    }
    return has_own_case ? has_fixture_for(tests, test_case, model) : is_shared;
}

static size_t choose(const ModelTests *tests, const TestCase *test_case, bool *is_chosen) {
    size_t count = 0;
    for (size_t i = 0; i < tests->session->project->model_count; i++) {
        is_chosen[i] = tests->selection.contains[i] &&
                       (test_file_of_model(&test_case->golden, i) != NULL || takes_first_golden(tests, test_case, i));
        count += is_chosen[i];
    }
    return count;
}

static Status refuse_ephemeral(const ModelTests *tests, Error *err) {
    for (size_t i = 0; i < tests->session->project->model_count; i++) {
        const Model *model = model_at(tests, i);
        bool is_chosen = tests->selection.contains[i] && (!tests->selection.is_all || has_golden(tests, i));
        if (is_chosen && model->materialise == MATERIALISE_EPHEMERAL) {
            error_set_at(err, ERROR_PLAN, model->place,
                         "'" STR_FMT "' is ephemeral: it has no result of its own to test", STR_ARG(model->name));
            error_code(err, STR("test.ephemeral"));
            error_hint(err, "test a model that reads it");
            return FAILED;
        }
    }
    return OK;
}

static Status refuse_nothing(Error *err) {
    error_set(err, ERROR_PLAN, "there is nothing to test: no golden file in tests/golden or tests/<case>/golden");
    error_code(err, STR("test.none"));
    error_hint(err, "write one with interlace test --select MODEL --update-golden, and read it before it is kept");
    return FAILED;
}

/* ---- Running. */

static void add_result(ModelTests *tests, ModelTestResult result) {
    model_test_result_vec_push(tests->arena, &tests->results, result);
}

static Status test_model(ModelTests *tests, const TestBuild *build, const Model *model, Error *err) {
    ModelTestResult result = {
        .case_name = build->test_case->name,
        .model = model->name,
        .status = MODEL_TEST_ERROR,
        .message = build->faults[model->index],
        .seconds = build->seconds[model->index],
    };
    if (result.message.size == 0) {
        TRY(test_golden(build, model, &result, err));
    }
    add_result(tests, result);
    return OK;
}

static Status test_case_run(ModelTests *tests, const TestCase *test_case, Error *err) {
    bool *is_chosen = ARENA_NEW_ARRAY(tests->arena, bool, tests->session->project->model_count);
    if (choose(tests, test_case, is_chosen) == 0) {
        return OK;
    }
    AUTO(test_build)
    TestBuild build = {
        .session = tests->session,
        .options = tests->options,
        .arena = tests->arena,
        .test_case = test_case,
        .shared = tests->cases.items,
        .is_chosen = is_chosen,
    };
    TRY(test_build_open(&build, err));
    TRY(test_build_models(&build, err));
    for (size_t i = 0; i < build.project.model_count; i++) {
        if (is_chosen[i]) {
            TRY(test_model(tests, &build, build.project.models[i], err));
        }
    }
    return OK;
}

/* Whoever names a model wants it tested: one without a golden file has not passed. */
static void report_untested(ModelTests *tests) {
    for (size_t i = 0; i < tests->session->project->model_count && !tests->selection.is_all; i++) {
        bool is_missing = tests->selection.contains[i] && !has_golden(tests, i);
        if (!is_missing || tests->options->updates_golden) {
            continue;
        }
        Str name = model_at(tests, i)->name;
        Str message = str_format(tests->arena, "no golden file: tests/golden/" STR_FMT ".csv", STR_ARG(name));
        add_result(tests, (ModelTestResult){.model = name, .status = MODEL_TEST_FAILED, .message = message});
    }
}

Status model_tests_run(Session *session, const ModelTestOptions *options, Arena *arena, ModelTestResultVec *results_out,
                       Error *err) {
    ModelTests tests = {.session = session, .options = options, .arena = arena};
    SelectionOptions selection = {.select = options->select, .exclude = options->exclude};
    TRY(selection_resolve(session->project, &selection, arena, &tests.selection, err));
    TRY(test_cases_find(session->project, arena, &tests.cases, err));
    TRY(refuse_ephemeral(&tests, err));
    for (size_t i = 0; i < tests.cases.count; i++) {
        TRY(test_case_run(&tests, &tests.cases.items[i], err));
    }
    report_untested(&tests);
    if (tests.results.count == 0) {
        return refuse_nothing(err);
    }
    *results_out = tests.results;
    return OK;
}
