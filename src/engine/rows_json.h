/* Query results as JSON, by the cell rules of spec 07 §6: integers beyond ±(2^53−1), decimals and everything else that
 * is no boolean or finite double are strings. */
#ifndef INTERLACE_ENGINE_ROWS_JSON_H
#define INTERLACE_ENGINE_ROWS_JSON_H

#include "config/json_writer.h"
#include "duck/duck_connection.h"

void rows_write_cell(const DuckCell *cell, JsonWriter *writer);
/* {"columns": […], "rows": [[…]]} */
Str rows_to_json(const DuckRows *rows, Arena *arena);

#endif
