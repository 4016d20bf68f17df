/* Configuration blocks as they were read before: YAML is by far the dearest part of loading a project that has not
 * changed. Keyed by the block's own text; places are kept relative to it, so a block that moved in its file is found.
 * Only blocks that read are kept. Any bytes are safe to find in the file. One thread at a time. */
#ifndef INTERLACE_PROJECT_BLOCK_CACHE_H
#define INTERLACE_PROJECT_BLOCK_CACHE_H

#include "config/config_value.h"
#include "sql/sql_cache.h"

/* Raised when yaml_read gives another value for some text, or the form of the bytes changes. */
#define BLOCK_CACHE_VERSION "blocks 1"

/* `cache_directory` empty: only in memory. It is closed by sql_cache_close. */
SqlCache *block_cache_open(Str cache_directory);

/* yaml_read through the cache. `cache` may be NULL. */
MUST_CHECK Status block_cache_read(SqlCache *cache, Str text, Str file, size_t first_line, Arena *arena,
                                   ConfigValue **value_out, Error *err);

#endif
