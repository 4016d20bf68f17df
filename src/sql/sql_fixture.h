/* What the tests of this folder share: one analyzer for a group, readable forms of results, a repeatable random
 * generator. */
#ifndef INTERLACE_SQL_SQL_FIXTURE_H
#define INTERLACE_SQL_SQL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sql/query.h"
#include "sql/sql_analyzer.h"
#include "sql/sql_macro.h"
#include "sql/sql_splice.h"

typedef struct SqlFixture {
    Arena *arena;
    SqlAnalyzer *analyzer; /* without a cache file */
    DuckParser *parser;    /* the analyzer's */
    Error err;
} SqlFixture;

int sql_fixture_setup(void **state);
int sql_fixture_teardown(void **state);

/* Fails the test when the two differ, with `what` in front. */
void check_text(const char *what, Str actual, const char *expected);

/* "raw.orders x* t! 'f.csv'" … the names as they stand in the text; *: has an alias, !: takes none; then what else is
 * there: " prefixes a. functions f range() clock now readers read_csv ctes c with 5 order". */
Str facts_form(Arena *arena, Str sql, const SqlFacts *facts);

SqlAnalysis analyze(SqlFixture *fixture, Str sql);                 /* must succeed */
Str analysis_error(SqlFixture *fixture, Str sql);                  /* must fail: "message @offset", offset when known */
Query *parse(SqlFixture *fixture, Str sql);                        /* must succeed */
SourceFile *source_file(Arena *arena, const char *path, Str text); /* in the arena */
SqlText whole_file(Arena *arena, const SourceFile *file);

/* All tables become `relation`. */
SqlText splice_all(SqlFixture *fixture, const SqlText *text, SqlRelation relation);

/* The files of tests/corpus/sql that hold one query, and their names. */
StrVec corpus_texts(Arena *arena, StrVec *names_out);

/* xorshift: the same numbers in each run. */
typedef struct Random {
    uint64_t state;
} Random;
uint64_t random_next(Random *random);
size_t random_below(Random *random, size_t limit);

#endif
