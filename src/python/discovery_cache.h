/* DiscoveryCache: manifests by what they depend on, at .interlace/cache/discovery/<key>.json, the last 20 of them.
 *
 * The key covers what is known beforehand: package, interpreter, the project's Python files, variables, lock files.
 * What only an import shows (environment variables and data files that it read) is kept in the file with digests and
 * compared when it is read: a difference is a miss. */
#ifndef INTERLACE_PYTHON_DISCOVERY_CACHE_H
#define INTERLACE_PYTHON_DISCOVERY_CACHE_H

#include "project/project.h"
#include "python/worker.h"

Str discovery_key(const WorkerOptions *options, const PythonFileVec *files, Arena *arena);

/* The chunks of the manifest; `*chunks_out` is NULL when there is none that still holds. */
void discovery_cache_read(const ProjectConfig *config, Str key, Arena *arena, const ConfigValue **chunks_out);

/* `chunks` are JSON texts of manifest frames. A manifest with faults, of volatile files, or of files that changed while
 * they were imported is not kept; failing to write is no failure either: the next command asks Python again. */
void discovery_cache_write(const ProjectConfig *config, Str key, const PythonFileVec *files, const StrVec *chunks);

#endif
