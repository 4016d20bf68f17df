/* For the tests of this folder: projects made by hand, and states as an apply would leave them. No engine, no files. */
#ifndef INTERLACE_PLAN_PLAN_FIXTURE_H
#define INTERLACE_PLAN_PLAN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/fingerprint.h"
#include "plan/plan.h"

/* Fields at the end that a spec leaves out are zero: a virtual model without configuration. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* One model: what it is made of. Upstreams are names of models before it, separated by blanks. */
typedef struct ModelSpec {
    const char *name, *sql, *upstreams;
    Materialise materialise;
    const char *config, *metadata; /* JSON; NULL: "{}" */
    StrategyKind strategy;
    const char *key, *time_column; /* one column; NULL: none */
} ModelSpec;

typedef struct Fixture {
    Arena *arena;
    PlanState state;
    Error err;
} Fixture;

int fixture_setup(void **state);
int fixture_teardown(void **state);
#define PLAN_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* With fingerprints. The arena of the fixture owns it. */
Project *fixture_project(Fixture *f, const ModelSpec *specs, size_t count);
#define PROJECT(f, ...)                                                                                                \
    fixture_project((f), (const ModelSpec[]){__VA_ARGS__}, COUNT_OF(((const ModelSpec[]){__VA_ARGS__})))

/* Promotes each model of the project, verified, as `apply` does. */
void fixture_apply(Fixture *f, const Project *project);
Snapshot *fixture_snapshot(Fixture *f, const char *name); /* the newest of the model */

Plan *fixture_plan(Fixture *f, const Project *project, const char *selector); /* NULL: all */
/* One word a change, as "a:modified:breaking:rebuild". */
void assert_changes(const Plan *plan, const char *expected);
/* One word a task, as "a:build b:reuse c:record". */
void assert_tasks(const Plan *plan, const char *expected);

#endif
