/* Where workers find the Python package `interlace`: it is in the binary as a zip, which is written to the cache folder
 * once. The folder that INTERLACE_SDK_PATH names (the one above `interlace/`) is used in its place: for working on it.
 */
#ifndef INTERLACE_PYTHON_SDK_H
#define INTERLACE_PYTHON_SDK_H

#include "config/project_config.h"

typedef struct Sdk {
    Str path;     /* for sys.path */
    Str identity; /* another text for another content: part of cache keys */
} Sdk;

MUST_CHECK Status sdk_locate(const ProjectConfig *config, Arena *arena, Sdk *sdk_out, Error *err);

#endif
