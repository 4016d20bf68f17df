/* What one walk over a whole query tells: how often each CTE is read, and what could read one unseen. For those who
 * want to change what one reader gets. */
#ifndef INTERLACE_SQL_QUERY_SURVEY_H
#define INTERLACE_SQL_QUERY_SURVEY_H

#include "sql/query.h"

/* The CTEs that a place of the query sees, the nearest first. */
typedef struct QueryCteScope {
    const struct QueryCteScope *outer; /* what the body of this one sees */
    const QueryCte *cte;
} QueryCteScope;

/* The scope inside `query`: its own CTEs before those around it. */
const QueryCteScope *query_with_ctes(Arena *arena, const QueryCteScope *scope, const Query *query);
/* The CTE that a table is; NULL: none. */
const QueryCteScope *query_find_cte(const QueryCteScope *scope, const QuerySource *source);

typedef struct CteUse {
    const QueryCte *cte;
    size_t count;
} CteUse;
DEFINE_VEC(CteUseVec, cte_use_vec, CteUse)

typedef struct QuerySurvey {
    Arena *arena;
    CteUseVec uses;
    bool has_row_id;        /* or another column that SELECT * of a table leaves out */
    bool has_opaque_source; /* a table function that may read a CTE by its name */
} QuerySurvey;

/* Fills a survey of which only the arena is set. */
void query_survey(QuerySurvey *survey, const Query *query);
/* Places that read the CTE; more rather than fewer. */
size_t query_cte_uses(const QuerySurvey *survey, const QueryCte *cte);

#endif
