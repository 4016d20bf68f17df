#include "run/engine_probe.h"

Status engine_probe(const ProjectConfig *config, const EngineConfig *engine, Str *said_out, Error *err) {
    AUTO(engine) Engine *opened = NULL;
    EngineOptions options = {.config = engine, .root = config->root, .read_only = true};
    *said_out = STR_EMPTY;
    TRY(engine_config_check_usable(engine, err));
    TRY(engine_create(&options, &opened, err));
    EngineConnection *connection = NULL;
    if (!engine_database_exists(opened)) {
        *said_out = STR("not made yet");
        return OK;
    }
    Status status = engine_connect(opened, &connection, err);
    engine_release(connection);
    return status;
}
