/* Check: one assertion about a model's rows, from `checks:` or a Python @check. A declared check compiles to one query
 * that gives the number of failures (spec 05 §2). */
#ifndef INTERLACE_PROJECT_CHECK_H
#define INTERLACE_PROJECT_CHECK_H

#include "project/model.h"
#include "sql/sql_buf.h"

typedef enum CheckType {
    CHECK_NOT_NULL,
    CHECK_UNIQUE,
    CHECK_ACCEPTED_VALUES,
    CHECK_RANGE,
    CHECK_PATTERN,
    CHECK_FRESHNESS,
    CHECK_RELATIONSHIPS,
    CHECK_ROW_COUNT,
    CHECK_EXPRESSION,
    CHECK_SQL,
    CHECK_PYTHON,
    CHECK_TYPE_COUNT
} CheckType;

typedef enum CheckSeverity { SEVERITY_ERROR, SEVERITY_WARN, SEVERITY_INFO } CheckSeverity;

/* What stands before a check's expression while it is read by itself. */
#define CHECK_PREDICATE_HEAD "SELECT 1 WHERE "

/* SQL that a check was given, read as a model's query is: which models its tables stand for. */
typedef struct CheckSql {
    SqlText text; /* a whole query: `query`, or `SELECT 1 WHERE (expression)` */
    const SqlFacts *facts;
    const ModelReference *references; /* one for each table; the checked model itself stands for its relation */
} CheckSql;

struct Check {
    size_t model; /* the model it belongs to */
    Str alias;    /* the checked table's name inside the query: the model's base name */
    CheckType type;
    Str name; /* unique within the model */
    CheckSeverity severity;
    SourceSpan place;
    StrVec columns;
    Str where; /* predicate as it was written; empty: all rows */
    Str description;
    const ConfigValue *values;            /* accepted_values */
    const ConfigValue *minimum, *maximum; /* range, row_count; NULL when absent */
    Str regex, expression, query, field;
    int64_t max_age_us; /* freshness */
    size_t to;          /* relationships: index of the parent model; MODEL_NONE for others */
    const CheckSql *query_sql, *expression_sql, *where_sql; /* NULL when there is none */
    IndexVec reads;                                         /* other models this check reads */
    Str module_path, function;                              /* Python checks */
};

const char *check_type_name(CheckType type);
const char *check_severity_name(CheckSeverity severity);

/* Where the models a check reads live. `relation_of` gives the relation of a model for this run. */
typedef struct CheckContext {
    SqlRelation table; /* the checked model's relation */
    SqlRelation (*relation_of)(void *context, size_t model);
    void *context;
    const Str *inputs; /* the scan of each input of the configuration (project/input_scan.h) */
    Str timezone;      /* of the project; empty: the session's */
    Str rows;          /* a condition: a check that judges rows looks at these only; empty: at all */
} CheckContext;

/* The query with one integer column `failures`. Not for CHECK_PYTHON. */
MUST_CHECK Status check_compile(const Check *check, const CheckContext *context, Arena *arena, SqlText *query_out,
                                Error *err);
/* Does it judge each row by that row alone? Such checks of one model can be counted together. */
bool check_judges_rows(const Check *check);
/* … and does a row that passes it go on passing while nobody changes it? Not when it asks the clock or reads a file. */
bool check_verdict_lasts(const Check *check);
/* One query for several of them: a row with an integer column each, in their order. */
MUST_CHECK Status check_compile_together(const Check *const *checks, size_t count, const CheckContext *context,
                                         Arena *arena, SqlText *query_out, Error *err);
/* The query that gives the failing rows, at most `limit`; an empty text when the check judges the table as a whole. */
MUST_CHECK Status check_failing_rows_query(const Check *check, const CheckContext *context, size_t limit, Arena *arena,
                                           SqlText *query_out, Error *err);

#endif
