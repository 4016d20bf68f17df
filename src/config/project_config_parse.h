/* The part of loading that needs no disk, for project_config_load, tests and the fuzzer. */
#ifndef INTERLACE_CONFIG_PROJECT_CONFIG_PARSE_H
#define INTERLACE_CONFIG_PROJECT_CONFIG_PARSE_H

#include "config/project_config.h"
#include "config/variables.h"

typedef struct ConfigSources {
    Str root;         /* absolute */
    Str text;         /* of interlace.yaml; empty: all defaults */
    Str dotenv;       /* of .env */
    Str overlay_file; /* "interlace.dev.yaml"; empty: none */
    Str overlay_text;
    EnvironmentFunction *environment; /* NULL: none */
} ConfigSources;

MUST_CHECK Status project_config_parse(const ConfigSources *sources, Arena *arena, ProjectConfig **config_out,
                                       ErrorList *faults);

#endif
