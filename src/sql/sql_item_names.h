/* Names of the items of select lists that the user left without one.
 *
 * The engine names such an item after its own text, so an item with a table in it (a subquery) would get a physical
 * name into the name of its column: `SELECT (SELECT count(*) FROM a)`. So does one
 * with a read of the clock that a window binds. The text of the user's query gives the name that the column should
 * have, and sql_splice writes it down as an alias. */
#ifndef INTERLACE_SQL_SQL_ITEM_NAMES_H
#define INTERLACE_SQL_SQL_ITEM_NAMES_H

#include "duck/duck_parser.h"
#include "sql/sql_facts.h"

/* Sets facts->unnamed_items. `sql` is the text that the facts are of. Costs the parser nothing when no table,
 * table function or read of the clock stands inside an item. Stars are left out: an alias may not stand there, and they
 * name themselves. */
MUST_CHECK Status sql_item_names(DuckParser *parser, Str sql, Arena *arena, SqlFacts *facts, Error *err);

#endif
