/* For tests: an in-memory database with one connection, and checks that print the error. */
#ifndef INTERLACE_DUCK_DUCK_FIXTURE_H
#define INTERLACE_DUCK_DUCK_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "duck/duck_connection.h"

typedef struct Fixture {
    DuckDatabase *database;
    DuckConnection *connection;
    Arena *arena;
    Error err;
} Fixture;

int fixture_open(void **state); /* cmocka set-up: *state is a Fixture * */
int fixture_close(void **state);

/* A new, empty folder, for the caller to remove. */
Str fixture_folder(Arena *arena);

void check_ok(Status status, Error *err, const char *file, int line);
#define assert_ok(status, err) check_ok((status), (err), __FILE__, __LINE__)
#define assert_failed(status) assert_true(failed(status))

void check_str(Str text, const char *expected, const char *file, int line);
#define assert_str(text, expected) check_str((text), (expected), __FILE__, __LINE__)
void check_contains(Str text, const char *part, const char *file, int line);
#define assert_contains(text, part) check_contains((text), (part), __FILE__, __LINE__)

void run_sql(Fixture *f, const char *sql);
int64_t query_number(Fixture *f, const char *sql);
/* All cells, `|` between columns and `;` between rows; NULL as NULL. */
Str query_text(Fixture *f, const char *sql);

#endif
