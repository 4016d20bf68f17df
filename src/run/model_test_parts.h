/* The parts of model tests. Private to run/model_test*.c. */
#ifndef INTERLACE_RUN_MODEL_TEST_PARTS_H
#define INTERLACE_RUN_MODEL_TEST_PARTS_H

#include "run/model_test.h"
#include "run/relations.h"

/* ---- Files (model_test_files.c). */

/* What a fixture stands in for: a model, an input of the configuration, or a table that the project does not own. */
typedef struct TestFile {
    Str path;                  /* relative to the project's root */
    size_t model;              /* MODEL_NONE: none */
    size_t input;              /* INPUT_NONE: none */
    const SqlTableRef *source; /* a table outside of the project, as one of its queries names it; else NULL */
} TestFile;
DEFINE_VEC(TestFileVec, test_file_vec, TestFile)

/* A folder below tests/ with fixtures, golden files or both; the first case is tests/ itself. */
typedef struct TestCase {
    Str name, folder; /* "late", "tests/late"; the first one: "", "tests" */
    TestFileVec fixtures, golden;
} TestCase;
DEFINE_VEC(TestCaseVec, test_case_vec, TestCase)

/* PlanError: a file that names nothing of the project. */
MUST_CHECK Status test_cases_find(const Project *project, Arena *arena, TestCaseVec *cases_out, Error *err);
const TestFile *test_file_of_model(const TestFileVec *files, size_t model); /* NULL: none */
Str test_golden_path(const TestCase *test_case, const Model *model, Arena *arena);

/* ---- One case in a database of its own (model_test_build.c). */

typedef struct TestBuild {
    Session *session;
    const ModelTestOptions *options;
    Arena *arena;
    const TestCase *test_case, *shared; /* fixtures of the case, else those of tests/ */
    const bool *is_chosen;              /* a model each */
    bool *is_needed;
    Project project; /* the session's, of models that are all tables, whatever they are in the warehouse */
    RelationMap relations;
    Str *inputs; /* of `relations` */
    bool *has_input_fixture;
    Engine *engine;
    EngineConnection *connection;
    Str *faults;     /* a model each: why it could not be built; empty: it was, or is not needed */
    double *seconds; /* a model each */
} TestBuild;

/* Builds all that is chosen, and what that needs. A model that cannot be built has its fault, others go on. */
MUST_CHECK Status test_build_open(TestBuild *build, Error *err);
MUST_CHECK Status test_build_models(TestBuild *build, Error *err);
void test_build_close(TestBuild *build);
DEFINE_AUTO_VALUE(TestBuild, test_build, test_build_close)

MUST_CHECK Status test_load_fixture(const TestBuild *build, const TestFile *fixture, SqlRelation table, Error *err);
/* A model's function, run once, its rows written into the relation. */
MUST_CHECK Status test_build_python(TestBuild *build, const Model *model, Error *err);

/* ---- Golden files (model_test_golden.c). */

/* Compares what was built, or writes it. */
MUST_CHECK Status test_golden(const TestBuild *build, const Model *model, ModelTestResult *result, Error *err);

#endif
