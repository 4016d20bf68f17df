/* Strategy: how a query's result is reconciled with what its relation holds, as statements. Pure: nothing here touches
 * an engine; the caller runs the statements in order, in one transaction.
 *
 * A strategy is one file and one row of the table in strategy.c. Only `replace` exists; a project that asks for another
 * one is refused when it loads (project/model_support), so strategy_write never sees it. */
#ifndef INTERLACE_STRATEGY_STRATEGY_H
#define INTERLACE_STRATEGY_STRATEGY_H

#include "engine/engine.h"
#include "project/model.h"

typedef struct StrategyInput {
    Materialise materialise;      /* VIRTUAL or VIEW */
    SqlRelation target;           /* the relation of the snapshot */
    SqlText source;               /* the query to run; empty when rows come from an appender */
    const DuckColumnVec *columns; /* of the rows that an appender brings; NULL for a query */
    const EngineCapabilities *capabilities;
} StrategyInput;

typedef enum StatementRole {
    STATEMENT_CREATE, /* makes the target, or replaces it whole */
    STATEMENT_ROLE_COUNT
} StatementRole;

typedef struct StrategyStatement {
    StatementRole role;
    SqlText sql; /* keeps the places of `source`, so that the engine's errors point into the user's file */
} StrategyStatement;
DEFINE_VEC(StrategyStatementVec, strategy_statement_vec, StrategyStatement)

/* Appends the statements that bring the target to what `input` describes; their texts are the arena's. */
MUST_CHECK Status strategy_write(StrategyKind kind, const StrategyInput *input, Arena *arena,
                                 StrategyStatementVec *statements_out, Error *err);

#endif
