/* The tokens that a path of a file model or of an input may hold: ${date} (2026-07-01), ${datetime}
 * (20260701T083000Z), both UTC, and ${workspace}, the name of the project's folder. */
#ifndef INTERLACE_CONFIG_PATH_TOKENS_H
#define INTERLACE_CONFIG_PATH_TOKENS_H

#include "base/clock.h"
#include "base/str.h"

/* The first ${…} in `path` that is no token, also one that is not closed; empty when all are. */
Str path_tokens_unknown(Str path);

/* Unknown ones stay as they are. */
Str path_tokens_expand(Str path, Str root, TimeUs now, Arena *arena);

#endif
