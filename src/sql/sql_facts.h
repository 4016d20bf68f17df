/* SqlFacts: what one query reads, with byte offsets into its text. Derived from Query (sql/query.h), which is read from
 * the engine's parser. Plain data; lives in the arena it was made in (or in the cache's mapped memory). */
#ifndef INTERLACE_SQL_SQL_FACTS_H
#define INTERLACE_SQL_SQL_FACTS_H

#include "base/error.h"
#include "base/vec.h"
#include "sql/sql_buf.h"

/* A table name in FROM, JOIN or a subquery that no CTE in scope hides. */
typedef struct SqlTableRef {
    Str catalog, schema, name; /* names without quotes; empty: not written */
    bool schema_quoted, name_quoted;
    size_t start, end; /* the whole qualified name in the text */
    bool has_alias;
    bool takes_alias; /* false for DESCRIBE t, SUMMARIZE t, TABLE t: a spliced name gets no alias there */
    bool is_file;     /* FROM 'x.csv' */
} SqlTableRef;
DEFINE_VEC(SqlTableRefVec, sql_table_ref_vec, SqlTableRef)
static inline SqlRelation sql_table_relation(const SqlTableRef *table) {
    return (SqlRelation){.catalog = table->catalog, .schema = table->schema, .name = table->name};
}

/* `schema.` of a column reference schema.table.column: cut when that table's name is spliced. */
typedef struct SqlColumnPrefix {
    Str schema, table; /* as the table reference has them: main.orders.id of `FROM orders` has no schema */
    size_t start, end; /* from the schema's (or catalog's) first byte to the table's first byte */
} SqlColumnPrefix;
DEFINE_VEC(SqlColumnPrefixVec, sql_column_prefix_vec, SqlColumnPrefix)

typedef struct SqlFunctionRef {
    Str name;     /* as written, without schema; signs, brackets and keywords that become calls are left out */
    size_t start; /* STR_NOT_FOUND when the parser gives none */
    bool in_from; /* a table function */
} SqlFunctionRef;
DEFINE_VEC(SqlFunctionRefVec, sql_function_ref_vec, SqlFunctionRef)

/* An item of a select list without a name, with a table, a table function or a read of the clock inside. */
typedef struct SqlUnnamedItem {
    size_t start, end;
    Str name; /* that the engine gives its column */
} SqlUnnamedItem;
DEFINE_VEC(SqlUnnamedItemVec, sql_unnamed_item_vec, SqlUnnamedItem)

/* What a read of the clock gives. */
typedef enum SqlClockKind {
    SQL_CLOCK_INSTANT,      /* TIMESTAMP WITH TIME ZONE: now(), current_timestamp, … */
    SQL_CLOCK_TIMESTAMP,    /* TIMESTAMP: localtimestamp */
    SQL_CLOCK_DATE,         /* current_date, today() */
    SQL_CLOCK_TIME,         /* TIME: localtime */
    SQL_CLOCK_INSTANT_TIME, /* TIME WITH TIME ZONE: current_time */
    SQL_CLOCK_AGE,          /* age(x), which counts from midnight of today */
    SQL_CLOCK_KIND_COUNT
} SqlClockKind;

/* now(), current_date, … A quoted name and t.current_date are columns. */
typedef struct SqlClockRead {
    Str name; /* lower case */
    SqlClockKind kind;
    size_t start, end; /* the call with its brackets, or the bare word; of age(x): the place behind its bracket. Both
                          STR_NOT_FOUND when the parser gives no place */
    Str output;        /* the column of the query that it makes and nothing else; empty: it has a say in more */
} SqlClockRead;
DEFINE_VEC(SqlClockReadVec, sql_clock_read_vec, SqlClockRead)

/* Why rows outside of a window cannot be left out where a source is read (sql/sql_time_source.h). */
typedef enum SqlTimeObstacle {
    SQL_TIME_PROVEN, /* none */
    SQL_TIME_COMPUTED,
    SQL_TIME_LIMIT,
    SQL_TIME_SET_OPERATION,
    SQL_TIME_RECURSIVE,
    SQL_TIME_DISTINCT_ON,
    SQL_TIME_GROUPING_SETS,
    SQL_TIME_WINDOW,
    SQL_TIME_SAMPLE,
    SQL_TIME_JOIN,
    SQL_TIME_UNQUALIFIED,
    SQL_TIME_SHARED,
    SQL_TIME_RENAMED,
    SQL_TIME_ROW_ID,
    SQL_TIME_NO_TABLE,
    SQL_TIME_OBSTACLE_COUNT
} SqlTimeObstacle;

/* Where a column of the query comes from, for one that is a column of a table, perhaps truncated. */
typedef struct SqlTimeSource {
    Str output; /* empty: every column that no other item names, under its own name */
    SqlTimeObstacle obstacle;
    size_t table;  /* index in SqlFacts.tables */
    Str column;    /* of that table; empty: the output's name */
    StrVec units;  /* the truncations on the way, the last one first: hour, day, …; 5m, 2w, 3mo: a time_bucket */
    StrVec absent; /* columns that the table must not have: else the output is one of these */
} SqlTimeSource;
DEFINE_VEC(SqlTimeSourceVec, sql_time_source_vec, SqlTimeSource)

typedef struct SqlFacts {
    SqlTableRefVec tables;       /* by offset, each offset once */
    SqlColumnPrefixVec prefixes; /* by offset */
    SqlFunctionRefVec functions; /* by offset */
    SqlClockReadVec clock_reads; /* by offset, each place once */
    StrVec file_readers;         /* lower case names of file-reading functions in FROM, each once */
    StrVec cte_names;            /* all CTE names of the text, as written */
    size_t with_offset; /* where a CTE may be inserted: behind the leading WITH [RECURSIVE], else the first token */
    bool has_with;      /* a leading WITH is there */
    bool has_top_order_by;
    StrVec output_names; /* names of the select list; an item without explicit name is empty text; no items at
                            all when the columns are not known from the text (a star, unnest, BY NAME) */
    SqlUnnamedItemVec unnamed_items; /* by end; see sql/sql_item_names.h */
    SqlTimeSourceVec time_sources;   /* see sql/sql_time_source.h */
} SqlFacts;

#endif
