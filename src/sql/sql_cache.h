/* SqlCache: bytes by content hash, in one file that is read whole. Reading checks only the header and the index; an
 * entry is checked when it is looked up, so that 2,000 entries cost about a millisecond. Bytes of any kind are safe to
 * open: a file that is damaged, cut off or of another version counts as empty. Processes may open and close the same
 * file at the same time: the file is replaced whole, the last one wins. One thread at a time. */
#ifndef INTERLACE_SQL_SQL_CACHE_H
#define INTERLACE_SQL_SQL_CACHE_H

#include "base/hash.h"

typedef struct SqlCache SqlCache;

/* `path` empty: only in memory. `version` names all that the meaning of the entries depends on. */
SqlCache *sql_cache_open(Str path, Str version);

/* An entry's bytes, until close; empty when there is none. It counts as used. */
Str sql_cache_find(SqlCache *cache, ContentHash key);
void sql_cache_put(SqlCache *cache, ContentHash key, Str bytes); /* copies */

/* Writes the file anew when something was put, atomically; a file that cannot be written is no error. Entries that were
 * not used are dropped then, but not at the first such time: a command may look at a part of the project only. */
#define SQL_CACHE_UNUSED_MAX 4
void sql_cache_close(SqlCache *cache); /* NULL is fine */
DEFINE_AUTO(SqlCache, sql_cache, sql_cache_close)

#endif
