/* Query: our own small tree of one query, read from the engine's parser. It holds what facts, the fence, column lineage
 * and the structural diff need: scopes with their CTEs, sources, projections, column and function references with their
 * byte offsets, and a structural hash of each expression. Everything but query_duckdb_1_5.c knows only this tree.
 *
 * Names are as written, without quotes. Offsets are bytes of the text; STR_NOT_FOUND when the parser gives none. The
 * parser copies some nodes (a named window used twice, the operand of CASE x WHEN), so one place of the text may occur
 * twice.
 *
 * Hashes leave out locations and letter case of names; two texts may only be compared when the same process read both.
 */
#ifndef INTERLACE_SQL_QUERY_H
#define INTERLACE_SQL_QUERY_H

#include "base/vec.h"
#include "duck/duck_parser.h"

typedef struct Query Query;
typedef struct QueryExpr QueryExpr;
typedef struct QuerySource QuerySource;
DEFINE_VEC(QueryVec, query_vec, Query *)
DEFINE_VEC(QueryExprVec, query_expr_vec, QueryExpr *)

typedef enum QueryExprKind {
    QUERY_CONSTANT,
    QUERY_COLUMN,   /* parts: [catalog.][schema.][table.]column[.field…]; bare current_date is one too */
    QUERY_POSITION, /* #1: the column of that number, or an item of an ARRAY(SELECT …) */
    QUERY_STAR,     /* *, t.*, COLUMNS(…) */
    QUERY_FUNCTION, /* scalar, aggregate, macro, most operator signs */
    QUERY_WINDOW,   /* function OVER (…) */
    QUERY_LAMBDA,   /* operands: parameters, body; `a -> b` of JSON is one too, which only the binder knows */
    QUERY_SUBQUERY, /* scalar, EXISTS, IN, ANY; operands: what it is compared with */
    QUERY_OPERATION /* CASE, CAST, comparison, …: its value comes from its operands */
} QueryExprKind;

/* EXCLUDE (a), RENAME (a AS b) of a star. */
typedef struct QueryStarRule {
    Str relation, column; /* relation empty: any */
    Str new_name;         /* empty: excluded */
} QueryStarRule;
DEFINE_VEC(QueryStarRuleVec, query_star_rule_vec, QueryStarRule)

struct QueryExpr {
    QueryExprKind kind;
    size_t offset;
    uint64_t hash;   /* of the subtree, without the expression's own alias */
    Str alias;       /* empty: none. Of a named argument: its name */
    Str name;        /* function: its name; star: its relation */
    Str schema;      /* function: as written; the column of `amount.round()` comes as one, too */
    bool is_sign;    /* function: written as an operator sign */
    bool is_columns; /* star: COLUMNS(…), with its pattern, list or lambda as an operand without alias */
    bool is_by_rows; /* window: its frame counts rows (ROWS BETWEEN …), so rows of equal order are told apart */
    Str text;        /* constant: its value, when that is a text or a number */
    Str cast_type;   /* CAST (not TRY_CAST) to a type without parameters: its name, in capitals */
    StrVec parts;    /* column */
    bool is_quoted;  /* column: its first part is, so it is no word such as current_date */
    QueryStarRuleVec rules;
    QueryExprVec
        operands; /* all below: arguments, FILTER, ORDER BY, PARTITION BY; REPLACE items of a star, with alias */
    QueryExprVec partitions; /* window: the operands that are its PARTITION BY */
    Query *subquery;
};

/* The name of a select list's item: its alias, or that of the column that it is; empty: it has none. */
static inline Str query_item_name(const QueryExpr *item) {
    bool is_column = item->kind == QUERY_COLUMN && item->parts.count > 0;
    if (item->alias.size > 0) {
        return item->alias;
    }
    return is_column ? item->parts.items[item->parts.count - 1] : STR_EMPTY;
}

typedef enum QuerySourceKind {
    QUERY_TABLE,
    QUERY_SUBSELECT,
    QUERY_JOIN,
    QUERY_TABLE_FUNCTION, /* exprs: the call */
    QUERY_VALUES,         /* exprs: row by row */
    QUERY_PIVOT,          /* left: what is turned; exprs: aggregates and columns turned. UNPIVOT too */
    QUERY_SHOW,           /* DESCRIBE, SUMMARIZE: query. SHOW TABLES: name */
    QUERY_NOTHING         /* no FROM */
} QuerySourceKind;

struct QuerySource {
    QuerySourceKind kind;
    size_t offset; /* table: first byte of its qualified name */
    Str alias;
    StrVec column_aliases;
    Str catalog, schema, name;
    bool is_described;         /* table: operand of DESCRIBE or SUMMARIZE, where no alias may stand */
    QuerySource *left, *right; /* join: both; pivot: left */
    StrVec using_columns;
    bool is_natural;
    bool gives_left_only; /* SEMI and ANTI joins */
    /* Join: a filter on columns of that side means the same before the join as behind it. Both sides of an inner one,
     * the preserved side of an outer one; not of FULL. Only where pairs_otherwise is not set. */
    bool passes_left, passes_right;
    bool pairs_otherwise; /* POSITIONAL, ASOF, … : no join by its condition alone */
    bool is_sampled;
    QueryExprVec exprs;  /* also: join condition, AT (…) of a table */
    bool has_aggregates; /* pivot: else it is UNPIVOT */
    StrVec groups;       /* pivot: its GROUP BY, if it has one */
    Query *query;
};

typedef struct QueryCte {
    Str name;
    StrVec column_aliases;
    Query *query;
} QueryCte;
DEFINE_VEC(QueryCteVec, query_cte_vec, QueryCte)

typedef enum QueryKind { QUERY_SELECT, QUERY_SET_OPERATION, QUERY_RECURSIVE } QueryKind;

/* Parts of a SELECT that can be told apart when two are compared. */
typedef enum QueryClause {
    QUERY_CLAUSE_WITH,
    QUERY_CLAUSE_FROM,
    QUERY_CLAUSE_WHERE,
    QUERY_CLAUSE_GROUP_BY,
    QUERY_CLAUSE_HAVING,
    QUERY_CLAUSE_QUALIFY,
    QUERY_CLAUSE_ORDER_BY, /* with LIMIT and DISTINCT */
    QUERY_CLAUSE_SAMPLE,
    QUERY_CLAUSE_COUNT
} QueryClause;

struct Query {
    QueryKind kind;
    QueryCteVec ctes; /* each sees those before it */
    /* SELECT */
    QueryExprVec projections;
    QuerySource *source;
    QueryExprVec filters; /* WHERE, GROUP BY, HAVING, QUALIFY */
    QueryExprVec groups;  /* the filters that are GROUP BY */
    bool is_grouped;      /* GROUP BY, GROUP BY () too; not GROUP BY ALL */
    bool groups_all;      /* GROUP BY ALL */
    /* set operation; recursive: its two terms */
    QueryVec branches;
    bool is_by_name;
    bool is_union, keeps_all; /* UNION; ALL */
    Str recursive_name;       /* recursive: its CTE's name, which means itself in the second term only */
    /* all */
    QueryExprVec modifiers; /* ORDER BY, LIMIT, DISTINCT ON */
    QueryExprVec orders;    /* the modifiers that are ORDER BY */
    QueryExprVec limits;    /* the modifiers that are its LIMIT and OFFSET */
    bool has_order_by, has_distinct;
    bool has_distinct_on, has_limit; /* LIMIT, OFFSET */
    bool has_grouping_sets;          /* more than one: ROLLUP, CUBE */
    bool is_sampled;
    uint64_t hash;      /* of all of it */
    uint64_t rest_hash; /* of all but the select list */
    uint64_t clause_hashes[QUERY_CLAUSE_COUNT];
};

/* Nesting of expressions, subqueries and set operations. */
#define QUERY_DEPTH_MAX 2000

/* Reads a text of exactly one query. CompilationError with sql_offset where it is known: syntax error; no statement,
 * several, one that is no query (names its kind), PIVOT without an IN list, too deep nesting, a node of the tree that
 * is not known. The tree may borrow from `sql`. */
MUST_CHECK Status query_parse(DuckParser *parser, Str sql, Arena *arena, Query **query_out, Error *err);

#endif
