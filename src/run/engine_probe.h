/* Whether an engine of the configuration can be opened, for looking only. */
#ifndef INTERLACE_RUN_ENGINE_PROBE_H
#define INTERLACE_RUN_ENGINE_PROBE_H

#include "engine/engine.h"

/* `said_out` is a constant text, empty when there is nothing to add: of a database that the first apply makes, that it
 * is not there. Fails with the engine's own error. */
MUST_CHECK Status engine_probe(const ProjectConfig *config, const EngineConfig *engine, Str *said_out, Error *err);

#endif
