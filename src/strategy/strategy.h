/* Strategy: how a query's result is reconciled with what its relation holds, as statements (spec 02). Pure: nothing
 * here touches an engine; the caller runs the statements in order, in one transaction, and acts on each by its role.
 *
 * A strategy is one file and one row of the table in strategy.c. */
#ifndef INTERLACE_STRATEGY_STRATEGY_H
#define INTERLACE_STRATEGY_STRATEGY_H

#include "engine/engine.h"
#include "project/model.h"

/* Bookkeeping columns. */
#define STRATEGY_HASH_COLUMN "_hash"
#define STRATEGY_FROM_COLUMN "_valid_from"
#define STRATEGY_TO_COLUMN "_valid_to"

typedef struct StrategyInput {
    Str model;                    /* its name, for messages */
    Str engine;                   /* the name of the engine, for messages */
    Materialise materialise;      /* VIRTUAL, TABLE or VIEW */
    SqlRelation target;           /* the relation of the snapshot, or the external table */
    SqlText source;               /* one query; ignored when `staged` is set; empty (owned replace): an appender fills
                                     the table of `columns` */
    const SqlRelation *staged;    /* a table that holds the source's rows already (Python); NULL: `source` */
    const DuckColumnVec *columns; /* of the source, in its order; NULL only where nothing needs them: view, and owned
                                     replace of a query */
    const DuckColumnVec *target_columns; /* of the target as it is; NULL: absent, or (owned) to be made anew */
    const StrVec *key;                   /* as declared; matched without case against `columns` */
    Str time_column;                     /* empty: none */
    Str window_start, window_end;        /* incremental: typed SQL literals that compare with the time column; both
                                            empty: all rows with a time (never NULL ones); only a start: from there on */
    Str now;             /* the transaction's instant as a TIMESTAMP literal (scd; UTC, or wall time with a naive time
                            column) */
    SqlRelation scratch; /* prefix of working tables: TEMP ones when the schema is empty; unique in this plan */
    Str schema_policy;   /* external tables: "additive" (also when empty), "reject", "ignore" */
    const EngineCapabilities *capabilities;
} StrategyInput;

/* What a statement is for, and what its number of changed rows means. */
typedef enum StatementRole {
    STATEMENT_STAGE,  /* fills a working table: not counted */
    STATEMENT_REFUSE, /* a query; rows mean that the source is unfit: see StrategyStatement.refusal. Nothing was written
                         to an existing target before it */
    STATEMENT_EVOLVE, /* ALTER of the target's columns: not counted */
    STATEMENT_CREATE, /* makes the target, or replaces it whole: inserted rows */
    STATEMENT_INSERT, /* inserted */
    STATEMENT_UPDATE, /* updated */
    STATEMENT_DELETE, /* deleted */
    STATEMENT_MERGE,  /* a MERGE that tells what it did to each row: counted by that */
    STATEMENT_RUN,    /* a write that is not counted: a STATEMENT_COUNT says what it comes to, or it only makes room */
    STATEMENT_COUNT,  /* a query of one row: inserted, updated, deleted, added to the counts; may be negative, to
                         correct what a statement before or after it counts */
    STATEMENT_NOTE,   /* a query; the first column of each row is a line that a person should know */
    STATEMENT_DROP,   /* a working table: not counted */
    STATEMENT_ROLE_COUNT
} StatementRole;

typedef enum RefusalKind {
    REFUSAL_NONE,
    REFUSAL_DUPLICATE_KEY, /* rows: key columns…, count; the most frequent five of them, then by key; preceded in each
                              row by two totals: repeated key values, rows over which they repeat */
    REFUSAL_NULL_KEY,      /* rows: total; for each key column, named c and its place in the sample, whether it has a
                              NULL; then the whole sample row as columns; at most one row */
    REFUSAL_NULL_TIME,     /* rows: total; one row */
    REFUSAL_CAST           /* rows: column, value as text, stored type; the first value that does not convert */
} RefusalKind;

typedef struct StrategyStatement {
    StatementRole role;
    RefusalKind refusal; /* STATEMENT_REFUSE */
    SqlText sql;         /* keeps the places of `source`, so that the engine's errors point into the user's file */
} StrategyStatement;
DEFINE_VEC(StrategyStatementVec, strategy_statement_vec, StrategyStatement)

/* Appends the statements that bring the target to what `input` describes; their texts are the arena's.
 * ExecutionError: key or time column not among the source's columns, output columns that repeat. PlanError: what the
 * engine cannot do, a bookkeeping name in the source, an external target without bookkeeping columns, a schema policy
 * that forbids the change. `notes_out` (may be NULL) gets one line for each thing a person should know. */
MUST_CHECK Status strategy_write(StrategyKind kind, const StrategyInput *input, Arena *arena,
                                 StrategyStatementVec *statements_out, StrVec *notes_out, Error *err);

/* Error of a REFUSE statement that gave rows (spec 02 §2): text and details. */
MUST_CHECK Status strategy_refusal(const StrategyInput *input, RefusalKind kind, const DuckRows *rows, Error *err);

/* A stored column of the type `from` becomes `to` in place, and keeps every value (spec 01 §12.3). */
bool strategy_type_widens(Str from, Str to);
bool strategy_is_accumulating(StrategyKind kind); /* merge, full_merge, hash_merge, scd, incremental */
/* The columns that its table has beside the query's; one without a name ends them. */
const DuckColumn *strategy_bookkeeping(StrategyKind kind);

#endif
