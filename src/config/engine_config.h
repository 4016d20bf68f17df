/* From the keys of an engine to its EngineConfig. */
#ifndef INTERLACE_CONFIG_ENGINE_CONFIG_H
#define INTERLACE_CONFIG_ENGINE_CONFIG_H

#include "config/key_table.h"
#include "config/project_config.h"

typedef struct EngineSource {
    Str name;
    const ConfigValue *keys; /* its map, or the whole file for the engine made from top-level keys; checked for shape */
    Str root;                /* of the project, absolute */
    Str project_name;
} EngineSource;

/* Faults are names of settings; what only matters once the engine is opened is left to engine_config_check_usable. */
void engine_config_read(const EngineSource *source, const KeyCheck *check, EngineConfig *engine_out);

#endif
