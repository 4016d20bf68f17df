/* Which column of which table an output column of a query is, so that a window of that column can be placed where the
 * table is read (spec 02 §5, 04 §9). Pure.
 *
 * Found means proven: rows of the result whose column lies in a window come from rows of that one scan whose column
 * lies in the matching range, and from no others of it; leaving those out changes nothing but speed. The way may lead
 * through CTEs that are read once, subqueries in FROM, stars, casts to DATE, date_trunc and time_bucket; past filters,
 * grouping, inner joins and the preserved side of outer ones. Whatever is not known to be harmless is an obstacle.
 *
 * Two things the text cannot tell, which the caller must look up before it relies on an entry: that the table has the
 * column, with a type of date or time, and that it has none of those in `absent`. A name that the table lacks may mean
 * something else to the engine (an alias, a column outside). */
#ifndef INTERLACE_SQL_SQL_TIME_SOURCE_H
#define INTERLACE_SQL_SQL_TIME_SOURCE_H

#include "sql/query.h"
#include "sql/sql_facts.h"

/* Truncations in a row that are followed; beyond, it is an obstacle. */
#define SQL_TIME_UNITS_MAX 4

/* An entry for each output column whose origin is proven or whose obstacle is worth telling; one with an empty output
 * for all other names when a star gives them. `facts` are the query's, with their tables. */
void sql_time_sources(const Query *query, const SqlFacts *facts, Arena *arena, SqlTimeSourceVec *sources_out);

/* The entry for a column; never NULL. A column without one is computed. */
const SqlTimeSource *sql_time_source_find(const SqlFacts *facts, Str output);

/* "its query has a LIMIT": completes "the scan is not cut: …". */
const char *sql_time_obstacle_text(SqlTimeObstacle obstacle);

#endif
