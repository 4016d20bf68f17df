/* The engine's header, for files of this folder only. What it calls deprecated is hidden, but for the one file that
 * needs it: there is no other call for a result that is not materialised first (duck_streaming.c). */
#ifndef INTERLACE_DUCK_DUCK_API_H
#define INTERLACE_DUCK_DUCK_API_H

#ifndef DUCK_API_WITH_STREAMING
#define DUCKDB_API_NO_DEPRECATED      /* headers up to 1.4 */
#define DUCKDB_API_ALLOW_DEPRECATED 0 /* headers from 1.5 on */
#endif

#include "base/arrow_abi.h"
#include "base/macros.h"

#include <duckdb.h>

DEFINE_AUTO_VALUE(duckdb_result, duck_result, duckdb_destroy_result)
DEFINE_AUTO_VALUE(duckdb_prepared_statement, duck_prepared, duckdb_destroy_prepare)
DEFINE_AUTO_VALUE(duckdb_extracted_statements, duck_extracted, duckdb_destroy_extracted)
DEFINE_AUTO_VALUE(duckdb_data_chunk, duck_chunk, duckdb_destroy_data_chunk)
DEFINE_AUTO_VALUE(duckdb_logical_type, duck_logical_type, duckdb_destroy_logical_type)
DEFINE_AUTO_VALUE(duckdb_error_data, duck_error_data, duckdb_destroy_error_data)
DEFINE_AUTO_VALUE(duckdb_arrow_converted_schema, duck_converted_schema, duckdb_destroy_arrow_converted_schema)
DEFINE_AUTO_VALUE(duckdb_config, duck_config, duckdb_destroy_config)
DEFINE_AUTO_VALUE(duckdb_value, duck_value, duckdb_destroy_value)

#endif
