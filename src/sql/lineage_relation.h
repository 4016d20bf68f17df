/* What query_lineage works on: sets of columns of tables, and relations whose columns have such sets. */
#ifndef INTERLACE_SQL_LINEAGE_RELATION_H
#define INTERLACE_SQL_LINEAGE_RELATION_H

#include "base/str_map.h"
#include "sql/query_lineage.h"

/* Numbers of columns in LineageColumns, in the order they were met, each once. */
typedef IndexVec ColumnSet;

/* Every column of a table that was met, once. */
typedef struct LineageColumns {
    Arena *arena;
    LineageSourceVec items;
    StrMap *numbers;  /* "table\x1fcolumn" without case → item's number + 1 */
    IndexVec visited; /* of each column: the last union that saw it */
    size_t unions;
} LineageColumns;

void lineage_columns_init(LineageColumns *columns, Arena *arena);
void column_set_add(LineageColumns *columns, ColumnSet *set, Str table, Str column);
void column_set_union(LineageColumns *columns, ColumnSet *set, const ColumnSet *more);
LineageSourceVec column_set_sources(const LineageColumns *columns, const ColumnSet *set);

typedef struct RelationColumn {
    Str name; /* empty: it has none that the text tells */
    ColumnSet sources;
} RelationColumn;
DEFINE_VEC(RelationColumnVec, relation_column_vec, RelationColumn)

/* A source of a FROM clause, or the result of a query. */
typedef struct Relation {
    Str name, schema; /* by which columns are qualified */
    RelationColumnVec columns;
    bool is_open; /* there may be more columns than listed: */
    StrVec open_tables, absent;
    ColumnSet rest;
} Relation;
DEFINE_VEC(RelationVec, relation_vec, Relation *)

typedef enum RelationMatch { RELATION_HAS_NOT, RELATION_MAY_HAVE, RELATION_HAS } RelationMatch;

const RelationColumn *relation_find(const Relation *relation, Str name);
RelationMatch relation_match(const Relation *relation, Str name);
/* Adds the sources of one column to the set; gives false when that was a guess. */
bool relation_add_column(LineageColumns *columns, const Relation *relation, Str name, ColumnSet *set);
void relation_add_all(LineageColumns *columns, const Relation *relation, ColumnSet *set);
/* Columns of another relation whose names are not known become ones of this. */
void relation_open(LineageColumns *columns, Relation *relation, const Relation *more);
/* As the engine does, a name that is there already gets a number: id, id_1. */
void relation_push(LineageColumns *columns, Relation *relation, Str name, const ColumnSet *sources);
/* The same relation under other names of its columns: t(a, b). */
void relation_rename(LineageColumns *columns, Relation *relation, const StrVec *names);

#endif
