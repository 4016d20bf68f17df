/* From the model's query or its staged rows to the relation: the statements of its strategy, their counts, and what
 * they refuse. */
#include "run/build_step.h"

#include "base/test_hooks.h"
#include "run/delivery_record.h"
#include "run/forward_only.h"

/* ---- What the strategy is told. */

/* Of the time column; a column that is missing is told by the strategy. */
static Status time_kind(const Build *build, TimeColumnKind *kind_out, Error *err) {
    const Model *model = build->task->model;
    *kind_out = TIME_COLUMN_NAIVE;
    const DuckColumn *column = duck_column_find(&build->columns, model->time_column);
    if (column == NULL) {
        return OK;
    }
    if (!time_column_kind(column->type, kind_out)) {
        error_set_at(err, ERROR_EXECUTION, model->place,
                     "model '" STR_FMT "': time_column " STR_FMT " is " STR_FMT ", which is no date or timestamp",
                     STR_ARG(model->name), STR_ARG(column->name), STR_ARG(column->type));
        error_hint(err, "cast it in the query: CAST(" STR_FMT " AS TIMESTAMP) AS " STR_FMT, STR_ARG(column->name),
                   STR_ARG(column->name));
        error_code(err, STR("time_column.type"));
        return FAILED;
    }
    if (*kind_out == TIME_COLUMN_DATE && build->target.is_windowed && !grain_is_whole_days(build->target.grain)) {
        error_set_at(err, ERROR_EXECUTION, model->place,
                     "model '" STR_FMT "': time_column " STR_FMT " is a DATE, which cannot be cut by interval " STR_FMT,
                     STR_ARG(model->name), STR_ARG(column->name), STR_ARG(model->interval));
        error_hint(err, "write whole days (1d, 1w, 1mo), or give the model a timestamp");
        error_code(err, STR("time_column.grain"));
        return FAILED;
    }
    return OK;
}

static Str edge(const Build *build, WallUs wall, TimeColumnKind kind) {
    AUTO(strbuf) StrBuf sql = {0};
    wall_literal(&sql, wall, kind, build->context->zone);
    return strbuf_copy(&sql, build->arena);
}

static void set_window(const Build *build, TimeColumnKind kind, StrategyInput *input) {
    const Window *window = build->window;
    if (window == NULL && build->is_first_build && build->target.is_external) {
        window = &build->first_range; /* rows of others, outside of it, are not ours to remove */
    }
    if (window != NULL && window->start < window->end) {
        input->window_start = edge(build, window->start, kind);
        input->window_end = edge(build, window->end, kind);
    }
}

Status build_window_condition(const Build *build, Str *condition_out, Error *err) {
    TimeColumnKind kind;
    TRY(time_kind(build, &kind, err));
    *condition_out =
        window_condition(build->task->model->time_column, *build->window, kind, build->context->zone, build->arena);
    return OK;
}

static Status set_first_window(const Build *build, TimeColumnKind kind, StrategyInput *input, Error *err) {
    bool has_start = false;
    WallUs start = 0;
    TRY(build_first_start(build, &has_start, &start, err));
    if (has_start) {
        input->window_start = edge(build, start, kind);
    }
    return OK;
}

/* The instant of the transaction: UTC, but the wall's with a naive time column, so that a table has one clock. */
static Str instant(const Build *build, TimeColumnKind kind) {
    bool is_wall = build->task->model->time_column.size > 0 && kind != TIME_COLUMN_ZONED;
    WallUs wall = is_wall ? zone_wall(build->context->zone, build->now) : (WallUs)build->now;
    return edge(build, wall, TIME_COLUMN_NAIVE);
}

/* The engine names the rows that it changes by their places. In a table of partitions, or one that others inherit from,
 * each part has such a place. */
static Status refuse_parts(const Build *build, Error *err) {
    SqlRelation target = build->target.relation;
    AUTO(strbuf) StrBuf question = {0};
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&question, "SELECT 1 FROM pg_inherits JOIN pg_class AS c ON c.oid = inhparent "
                           "JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE lower(n.nspname) = lower(");
    sql_literal(&question, target.schema);
    strbuf_text(&question, ") AND lower(c.relname) = lower(");
    sql_literal(&question, target.name);
    strbuf_char(&question, ')');
    sql_remote_call(&sql, "SELECT count(*) FROM postgres_query", target.catalog, strbuf_str(&question));
    SqlText text = sql_text_own(build->arena, strbuf_copy(&sql, build->arena));
    int64_t parts = 0;
    TRY(engine_query_int(build->connection, &text, &parts, err));
    if (parts == 0) {
        return OK;
    }
    const Model *model = build->task->model;
    (void)error_set_at(err, ERROR_PLAN, model->place,
                       "model '" STR_FMT "': its target " STR_FMT " has partitions, of which strategy %s would change "
                       "wrong rows",
                       STR_ARG(model->name), STR_ARG(model->target), strategy_name(model->strategy));
    error_code(err, STR("target_parts"));
    error_hint(err, "deliver to a table without partitions, or use `strategy: append` or `replace`");
    return FAILED;
}

/* The target as it is; an external one may have come or changed since the command began. */
static Status add_target_columns(Build *build, StrategyInput *input, Error *err) {
    bool may_be_there = build->target.is_there || build->target.seed.name.size > 0 || build->target.is_external;
    bool exists = false;
    DuckColumnVec *columns = ARENA_NEW(build->arena, DuckColumnVec);
    if (may_be_there) {
        TRY(engine_relation_columns(build->connection, build->target.relation, build->arena, &exists, columns, err));
    }
    input->target_columns = exists ? columns : NULL;
    bool finds_rows = strategy_is_accumulating(build->task->model->strategy);
    return exists && finds_rows && input->capabilities->rows_by_place ? refuse_parts(build, err) : OK;
}

static Str schema_policy(const Model *model) {
    const ConfigValue *policy = model->schema_policy == NULL ? NULL : config_find(model->schema_policy, STR("columns"));
    return policy == NULL ? STR_EMPTY : policy->text;
}

static Status target_capabilities(const Build *build, const EngineCapabilities **capabilities_out, Error *err) {
    EngineCapabilities *capabilities = ARENA_NEW(build->arena, EngineCapabilities);
    TRY(engine_target_capabilities(build->context->engine, build->target.relation.catalog, capabilities, err));
    *capabilities_out = capabilities;
    return OK;
}

static Status strategy_input(Build *build, StrategyInput *input_out, Error *err) {
    const Model *model = build->task->model;
    *input_out = (StrategyInput){
        .model = model->name,
        .materialise = model->materialise,
        .target = build->target.relation,
        .source = build->query,
        .columns = &build->columns,
        .key = &model->key,
        .time_column = model->time_column,
        .engine = engine_name(build->context->engine),
        .scratch = {.name = str_format(build->arena, STR_FMT "__work", STR_ARG(build->target.relation.name))},
        .schema_policy = schema_policy(model),
    };
    TRY(target_capabilities(build, &input_out->capabilities, err));
    if (model->time_column.size > 0) {
        TimeColumnKind kind;
        TRY(time_kind(build, &kind, err));
        set_window(build, kind, input_out);
        TRY(set_first_window(build, kind, input_out, err));
        input_out->now = instant(build, kind);
    } else {
        input_out->now = instant(build, TIME_COLUMN_ZONED);
    }
    return add_target_columns(build, input_out, err);
}

/* ---- Statements. */

static Status refuse(Build *build, const StrategyInput *input, const StrategyStatement *statement, Error *err) {
    DuckRows rows;
    TRY(engine_query(build->connection, &statement->sql, build->arena, &rows, err));
    return rows.row_count == 0 ? OK : strategy_refusal(input, statement->refusal, &rows, err);
}

static Status count(Build *build, const StrategyStatement *statement, Error *err) {
    DuckRows rows;
    TRY(engine_query(build->connection, &statement->sql, build->arena, &rows, err));
    if (rows.row_count != 1 || rows.columns.count != 3) {
        return error_set(err, ERROR_INTERNAL, "a count of strategy statements gave no single row");
    }
    int64_t *counts[] = {&build->rows.inserted, &build->rows.updated, &build->rows.deleted};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        int64_t number = 0;
        const DuckCell *cell = duck_cell(&rows, 0, i);
        if (cell->kind != DUCK_CELL_NULL && !str_to_int64(cell->text, &number)) {
            return error_set(err, ERROR_INTERNAL, "a count of strategy statements is no number: " STR_FMT,
                             STR_ARG(cell->text));
        }
        *counts[i] += number;
    }
    return OK;
}

static Status merge(Build *build, const StrategyStatement *statement, Error *err) {
    DuckMerged merged;
    TRY(engine_merge(build->connection, &statement->sql, &merged, err));
    build->rows.inserted += merged.inserted;
    build->rows.updated += merged.updated;
    build->rows.deleted += merged.deleted;
    return OK;
}

static Status note(Build *build, const StrategyStatement *statement, Error *err) {
    DuckRows rows;
    TRY(engine_query(build->connection, &statement->sql, build->arena, &rows, err));
    for (size_t row = 0; row < rows.row_count; row++) {
        session_note(build->context->session, "model '" STR_FMT "': " STR_FMT, STR_ARG(build->task->model->name),
                     STR_ARG(duck_cell(&rows, row, 0)->text));
    }
    return OK;
}

static void add_changed(Build *build, StatementRole role, int64_t changed) {
    switch (role) {
    case STATEMENT_CREATE:
    case STATEMENT_INSERT:
        build->rows.inserted += changed;
        return;
    case STATEMENT_UPDATE:
        build->rows.updated += changed;
        return;
    case STATEMENT_DELETE:
        build->rows.deleted += changed;
        return;
    case STATEMENT_STAGE:
    case STATEMENT_REFUSE:
    case STATEMENT_EVOLVE:
    case STATEMENT_RUN:
    case STATEMENT_MERGE:
    case STATEMENT_COUNT:
    case STATEMENT_NOTE:
    case STATEMENT_DROP:
    case STATEMENT_ROLE_COUNT:
        return;
    }
}

/* "DETAIL:  rule _RETURN on view mart.report depends on column "n"": PostgreSQL changes no column that a view reads. */
static void hint_at_dependent(Error *err) {
    const Str mark = STR("DETAIL:");
    Str text = error_detail_find(err, STR("engine_text"));
    size_t start = str_find(text, mark);
    if (start != STR_NOT_FOUND) {
        Str detail = str_skip(text, start + mark.size);
        size_t end = str_find_char(detail, '\n');
        detail = str_trim(end == STR_NOT_FOUND ? detail : str_slice(detail, 0, end));
        error_hint(err, STR_FMT ": drop it, run again, and create it anew", STR_ARG(detail));
    }
}

/* The extension sends values of an UPDATE by way of a table of the engine's types. */
static void hint_at_types(Error *err) {
    const Str signs[] = {STR(" is of type "), STR("in Postgres must be named")};
    for (size_t i = 0; i < COUNT_OF(signs); i++) {
        if (str_find(err->message, signs[i]) != STR_NOT_FOUND) {
            error_hint(err, "types that only PostgreSQL has (jsonb, an enum, a domain) take new rows, but no changed "
                            "ones: store the column there as text, or use `strategy: append` or `replace`");
        }
    }
}

/* What stands in the way, when we know it. */
static void hint_at_obstacle(const Build *build, const StrategyInput *input, StatementRole role, Error *err) {
    bool is_remote = input->capabilities->remote_alter;
    if (role == STATEMENT_UPDATE && is_remote) {
        hint_at_types(err);
    } else if (role == STATEMENT_EVOLVE && is_remote) {
        hint_at_dependent(err);
    } else if (role == STATEMENT_EVOLVE && build->physical.wanted.count > 0) {
        /* DuckDB changes no type of a table that has an index. */
        error_hint(err, "an index may stand in the way: take it out of the model, apply, and put it back afterwards");
    }
}

static Status run_statement(Build *build, const StrategyInput *input, const StrategyStatement *statement, Error *err) {
    TRY(test_hook("build.statement", err));
    if (statement->role == STATEMENT_REFUSE) {
        return refuse(build, input, statement, err);
    }
    if (statement->role == STATEMENT_COUNT) {
        return count(build, statement, err);
    }
    if (statement->role == STATEMENT_MERGE) {
        return merge(build, statement, err);
    }
    if (statement->role == STATEMENT_NOTE) {
        return note(build, statement, err);
    }
    int64_t changed = 0;
    if (failed(engine_execute(build->connection, &statement->sql, &changed, err))) {
        hint_at_obstacle(build, input, statement->role, err);
        return FAILED;
    }
    add_changed(build, statement->role, changed);
    return OK;
}

#define CODE_ALONE "build.alone"

bool build_must_be_alone(const Error *err) {
    return str_equal(error_detail_find(err, STR("code")), STR(CODE_ALONE));
}

/* What other sessions know of a table on a server is known to all of them, and theirs may be what it was before. */
static Status check_alone(const Build *build, const StrategyInput *input, const StrategyStatementVec *statements,
                          Error *err) {
    bool is_alone = build->result->attempts > 1;
    for (size_t i = 0; input->capabilities->remote_alter && !is_alone && i < statements->count; i++) {
        if (statements->items[i].role == STATEMENT_EVOLVE) {
            (void)error_set(err, ERROR_EXECUTION, "the columns of the target change, which no other build may see");
            error_code(err, STR(CODE_ALONE));
            return FAILED;
        }
    }
    return OK;
}

static Status run_strategy(Build *build, const StrategyInput *input, Error *err) {
    StrategyStatementVec statements = {0};
    StrVec notes = {0};
    TRY(strategy_write(build->task->model->strategy, input, build->arena, &statements, &notes, err));
    TRY(check_alone(build, input, &statements, err));
    build->rows = (RowCounts){.is_known = input->capabilities->row_counts && input->materialise != MATERIALISE_VIEW};
    for (size_t i = 0; i < statements.count; i++) {
        TRY(run_statement(build, input, &statements.items[i], err));
    }
    for (size_t i = 0; i < notes.count; i++) {
        session_note(build->context->session, STR_FMT, STR_ARG(notes.items[i]));
    }
    return OK;
}

/* Copied in this very transaction: a process that dies leaves nothing, and the next one copies anew. */
Status build_copy_seed(Build *build, Error *err) {
    if (build->task->history != NULL) {
        TRY(forward_only_check_seed(build->task, build->target.seed, &build->columns, build->connection, build->arena,
                                    err));
    }
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE TABLE ");
    sql_relation(&sql, build->target.relation);
    strbuf_text(&sql, " AS SELECT * FROM ");
    sql_relation(&sql, build->target.seed);
    return engine_execute_own(build->connection, strbuf_str(&sql), err);
}

static Status write_rows(Build *build, const SqlRelation *staged, Error *err) {
    StrategyInput input;
    TRY(strategy_input(build, &input, err));
    input.staged = staged;
    return run_strategy(build, &input, err);
}

static Status append_once(Build *build, const SqlRelation *staged, Error *err) {
    bool was_made = false;
    TRY(delivery_was_made(build, &was_made, err));
    if (was_made) {
        build->rows = (RowCounts){.is_known = true};
        session_note(build->context->session,
                     "model '" STR_FMT "': its rows were delivered already, by an earlier attempt; nothing is appended",
                     STR_ARG(build->task->model->name));
        return OK;
    }
    TRY(write_rows(build, staged, err));
    return delivery_record(build, err);
}

Status build_run_strategy(Build *build, const SqlRelation *staged, Error *err) {
    if (build->task->model->materialise == MATERIALISE_FILE) {
        return build_deliver_file(build, staged, err);
    }
    if (build->task->model->strategy == STRATEGY_APPEND) {
        return append_once(build, staged, err);
    }
    if (build->target.seed.name.size > 0) {
        TRY(build_copy_seed(build, err));
        TRY(build_create_physical(build, err)); /* no index can be made once the strategy has updated rows */
    }
    if (build->is_first_build && build->target.is_external) {
        TRY(build_find_first_range(build, staged, err));
        if (build->target.is_there && build->first_range.start == build->first_range.end) {
            build->rows = (RowCounts){.is_known = true}; /* nothing to deliver, and nothing that is ours to remove */
            return OK;
        }
        return write_rows(build, staged, err);
    }
    TRY(write_rows(build, staged, err));
    return build->is_first_build ? build_find_first_range(build, NULL, err) : OK;
}

Status build_create_for_appender(Build *build, Error *err) {
    StrategyInput input;
    TRY(strategy_input(build, &input, err));
    input.source = (SqlText){0};
    input.target_columns = NULL;
    return run_strategy(build, &input, err);
}
