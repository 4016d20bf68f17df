/* The engine library libduckdb.so: found and loaded on first need, so that a command without SQL does not pay for it.
 *
 * Looked for, in this order: the file that INTERLACE_DUCKDB_LIB names (nothing else, when set); libduckdb.so beside the
 * running binary; ../lib/interlace/libduckdb.so from there. Versions other than the tried ones are refused, unless
 * INTERLACE_DUCKDB_FORCE=1. The outcome, good or bad, holds for the rest of the process. Any thread.
 *
 * Calls of duckdb.h go through generated stubs that load by themselves, but can only end the process when that fails:
 * duck_library_load comes before the first of them. */
#ifndef INTERLACE_DUCK_DUCK_LIBRARY_H
#define INTERLACE_DUCK_DUCK_LIBRARY_H

#include "base/error.h"

/* ConfigurationError (code engine.library): not found, not loadable, functions missing, version not tried. */
MUST_CHECK Status duck_library_load(Error *err);

/* Both NULL before a load that succeeded. */
const char *duck_library_path(void);
const char *duck_library_version_text(void); /* "v1.5.5" */

#endif
