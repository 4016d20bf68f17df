/* SqlFacts: what one query reads, with byte offsets into its text. Derived from Query (sql/query.h), which is read from
 * the engine's parser. Plain data; lives in the arena it was made in (or in the cache's mapped memory). */
#ifndef INTERLACE_SQL_SQL_FACTS_H
#define INTERLACE_SQL_SQL_FACTS_H

#include "base/error.h"
#include "base/vec.h"

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

/* An item of a select list without a name, with a table or a table function inside. */
typedef struct SqlUnnamedItem {
    size_t start, end;
    Str name; /* that the engine gives its column */
} SqlUnnamedItem;
DEFINE_VEC(SqlUnnamedItemVec, sql_unnamed_item_vec, SqlUnnamedItem)

typedef struct SqlFacts {
    SqlTableRefVec tables;       /* by offset, each offset once */
    SqlColumnPrefixVec prefixes; /* by offset */
    SqlFunctionRefVec functions; /* by offset */
    StrVec clock_reads;          /* lower case, each once: now, current_date, … */
    StrVec file_readers;         /* lower case names of file-reading functions in FROM, each once */
    StrVec cte_names;            /* all CTE names of the text, as written */
    size_t with_offset; /* where a CTE may be inserted: behind the leading WITH [RECURSIVE], else the first token */
    bool has_with;      /* a leading WITH is there */
    bool has_top_order_by;
    StrVec output_names; /* names of the select list; an item without explicit name is empty text; no items at
                            all when the columns are not known from the text (a star, unnest, BY NAME) */
    SqlUnnamedItemVec unnamed_items; /* by end; see sql/sql_item_names.h */
} SqlFacts;

#endif
