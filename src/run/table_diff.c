#include "run/table_diff.h"

typedef struct TableDiffRun {
    EngineConnection *connection;
    const TableDiffRequest *request;
    Arena *arena;
    TableDiff *diff;
} TableDiffRun;

bool table_diff_differs(const TableDiff *diff) {
    const Comparison *comparison = &diff->comparison;
    return diff->left_is_absent != diff->right_is_absent || comparison->added.count > 0 ||
           comparison->removed.count > 0 || comparison->retyped.count > 0 || diff->left_only > 0 ||
           diff->right_only > 0 || diff->changed > 0;
}

static Status ask(const TableDiffRun *run, Str sql, DuckRows *rows_out, Error *err) {
    SqlText text = sql_text_own(run->arena, sql);
    return engine_query(run->connection, &text, run->arena, rows_out, err);
}

/* The numbers of a result's single row. */
static Status ask_numbers(const TableDiffRun *run, Str sql, int64_t *const *numbers, size_t count, Error *err) {
    DuckRows rows = {0};
    TRY(ask(run, sql, &rows, err));
    assert(rows.row_count == 1);
    assert(rows.columns.count == count);
    for (size_t i = 0; i < count; i++) {
        if (!str_to_int64(duck_cell(&rows, 0, i)->text, numbers[i])) {
            return error_set(err, ERROR_INTERNAL, "a count of rows is no number");
        }
    }
    return OK;
}

static Status ask_result(const TableDiffRun *run, ComparisonResult *result, Error *err) {
    int64_t *const numbers[] = {&result->pairs,     &result->left_only,  &result->right_only, &result->changed,
                                &result->left_keys, &result->right_keys, &result->matched,    &result->repeated_keys};
    return ask_numbers(run, comparison_result, numbers, COUNT_OF(numbers), err);
}

static Status load_samples(const TableDiffRun *run, Error *err) {
    for (size_t kind = 0; kind < ROWS_KIND_COUNT; kind++) {
        DuckRows *rows = &run->diff->samples[kind];
        TRY(ask(run, comparison_sample((ComparisonKind)kind, run->arena), rows, err));
        StrVec names = comparison_sample_names(&run->diff->comparison, (ComparisonKind)kind, run->arena);
        assert(names.count == rows->columns.count);
        for (size_t i = 0; i < names.count; i++) {
            rows->columns.items[i].name = names.items[i];
        }
    }
    return OK;
}

/* First as if keys were unique, which most are; the result tells when they are not. */
static Status pair_rows(const TableDiffRun *run, ComparisonResult *result, Error *err) {
    TableDiff *diff = run->diff;
    const Comparison *comparison = &diff->comparison;
    if (comparison->key_count > 0) {
        Str sql = comparison_pair(comparison, diff->left_count, diff->right_count, run->arena);
        TRY(engine_execute_own(run->connection, sql, err));
        TRY(ask_result(run, result, err));
        if (comparison_is_unique(result, diff->left_count, diff->right_count)) {
            return OK;
        }
    }
    TRY(engine_execute_own(run->connection, comparison_pair_repeated(comparison, run->arena), err));
    return ask_result(run, result, err);
}

static bool is_same_relation(const TableDiffRequest *request) {
    return sql_relation_equal(request->left, request->right) && str_equal(request->left_where, request->right_where);
}

static Status compare_rows(const TableDiffRun *run, Error *err) {
    TableDiff *diff = run->diff;
    ComparisonResult result = {0};
    int64_t *const counts[] = {&diff->left_count, &diff->right_count};
    TRY(ask_numbers(run, comparison_count(&diff->comparison, run->arena), counts, COUNT_OF(counts), err));
    diff->has_rows = true;
    diff->is_same_relation = is_same_relation(run->request);
    if (diff->is_same_relation) {
        diff->matched = diff->left_count;
        return OK;
    }
    TRY(pair_rows(run, &result, err));
    diff->left_only = result.left_only;
    diff->right_only = result.right_only;
    diff->changed = result.changed;
    diff->matched = result.matched + result.pairs - result.left_only - result.right_only - result.changed;
    diff->repeated_keys = result.repeated_keys;
    return run->request->options.sample_limit == 0 ? OK : load_samples(run, err);
}

static Status compare(const TableDiffRun *run, Error *err) {
    const TableDiffRequest *request = run->request;
    TableDiff *diff = run->diff;
    ComparedSide left = {.relation = request->left, .where = request->left_where};
    ComparedSide right = {.relation = request->right, .where = request->right_where};
    bool left_exists = false, right_exists = false;
    TRY(engine_relation_columns(run->connection, left.relation, run->arena, &left_exists, &left.columns, err));
    TRY(engine_relation_columns(run->connection, right.relation, run->arena, &right_exists, &right.columns, err));
    diff->left_is_absent = !left_exists;
    diff->right_is_absent = !right_exists;
    if (!left_exists || !right_exists) {
        return OK;
    }
    TRY(comparison_make(&left, &right, &request->options, run->arena, &diff->comparison, err));
    bool is_done = request->schema_only || diff->comparison.columns.count == 0;
    return is_done ? OK : compare_rows(run, err);
}

Status table_diff_run(EngineConnection *connection, const TableDiffRequest *request, Arena *arena, TableDiff *diff_out,
                      Error *err) {
    *diff_out = (TableDiff){0};
    TableDiffRun run = {.connection = connection, .request = request, .arena = arena, .diff = diff_out};
    TRY(engine_begin_read_only(connection, err));
    Status status = compare(&run, err);
    engine_rollback(connection); /* nothing is kept, not the temporary table either */
    return status;
}
