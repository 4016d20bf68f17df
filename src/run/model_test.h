/* Model tests (`interlace test`): models built from fixture files in a DuckDB in memory, their rows compared with
 * golden files. State and warehouse are never opened, no check runs, no lock is taken. docs/testing.md is the user's
 * page. */
#ifndef INTERLACE_RUN_MODEL_TEST_H
#define INTERLACE_RUN_MODEL_TEST_H

#include "run/session.h"

typedef enum ModelTestStatus {
    MODEL_TEST_PASSED,
    MODEL_TEST_FAILED,  /* other rows than in the golden file, or there is none */
    MODEL_TEST_ERROR,   /* the model could not be built */
    MODEL_TEST_UPDATED, /* its golden file was written */
    MODEL_TEST_STATUS_COUNT
} ModelTestStatus;
const char *model_test_status_name(ModelTestStatus status);

typedef struct ModelTestOptions {
    const StrVec *select, *exclude;
    bool updates_golden;
    bool has_now;
    TimeUs now; /* what every read of the clock gives, with has_now */
} ModelTestOptions;

typedef struct ModelTestResult {
    Str case_name; /* empty: of tests/fixtures and tests/golden */
    Str model;
    ModelTestStatus status;
    Str message; /* may have several lines; empty: nothing to say */
    double seconds;
} ModelTestResult;
DEFINE_VEC(ModelTestResultVec, model_test_result_vec, ModelTestResult)

/* FAILED for what makes the tests themselves impossible: nothing to test, a file of tests/ that names no model, a
 * Python model without a fixture, an ephemeral model that was chosen. */
MUST_CHECK Status model_tests_run(Session *session, const ModelTestOptions *options, Arena *arena,
                                  ModelTestResultVec *results_out, Error *err);

#endif
