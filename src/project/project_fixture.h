/* A project in a folder of its own, for tests of this folder. */
#ifndef INTERLACE_PROJECT_PROJECT_FIXTURE_H
#define INTERLACE_PROJECT_PROJECT_FIXTURE_H

#include "base/testing.h"
#include "project/project.h"

typedef struct Fixture {
    Arena *arena;
    Str root;
    const char *manifest; /* JSON of the Python manifest; NULL: the project has no Python */
    bool has_broken_file; /* discovery reports a fault beside the manifest */
    size_t discoveries;   /* how often it was asked for */
    Project *project;     /* of the last load; NULL when it failed */
    ErrorList faults;
} Fixture;

int fixture_open(void **state);
int fixture_close(void **state);
#define PROJECT_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

/* Writes a file, making its folders. */
void fixture_write(Fixture *f, const char *path, const char *text);
void fixture_write_bytes(Fixture *f, const char *path, const char *bytes, size_t size);
void fixture_remove(Fixture *f, const char *path);

/* Loads the folder anew, without a cache; true when it loaded. */
bool fixture_load(Fixture *f);
const Model *fixture_model(const Fixture *f, const char *name);

/* Fails the test with all faults when the project does not load. */
#define assert_loads(f) assert_loads_at((f), __FILE__, __LINE__)
/* The project must not load, with exactly `count` faults. */
#define assert_fault_count(f, count) assert_fault_count_at((f), (count), __FILE__, __LINE__)
/* A fault with `code` (or kind, where faults have no code) whose line, hint included, holds `part`. */
#define assert_fault(f, code, part) assert_fault_at((f), (code), (part), __FILE__, __LINE__)
/* "b, c": names of a model's upstreams, in dependency order. */
#define assert_upstreams(f, name, expected) assert_upstreams_at((f), (name), (expected), __FILE__, __LINE__)
#define assert_contains(text, part) assert_contains_at((text), (part), __FILE__, __LINE__)

void assert_loads_at(Fixture *f, const char *file, int line);
void assert_fault_count_at(Fixture *f, size_t count, const char *file, int line);
void assert_fault_at(Fixture *f, const char *code, const char *part, const char *file, int line);
void assert_upstreams_at(const Fixture *f, const char *name, const char *expected, const char *file, int line);
void assert_contains_at(Str text, const char *part, const char *file, int line);

#endif
