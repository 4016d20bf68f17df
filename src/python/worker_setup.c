#include "python/worker_setup.h"

#include <pthread.h>

struct WorkerSetup {
    Arena *arena; /* guarded by lock */
    pthread_mutex_t lock;
    bool is_found; /* guarded by lock; what follows is const from then on */
    Interpreter interpreter;
    Sdk sdk;
    WorkerOptions options;
};

WorkerSetup *worker_setup_create(const ProjectConfig *config) {
    WorkerSetup *setup = heap_alloc_zeroed(1, sizeof *setup);
    setup->arena = arena_create();
    pthread_mutex_init(&setup->lock, NULL);
    setup->options = (WorkerOptions){
        .config = config,
        .interpreter = &setup->interpreter,
        .sdk = &setup->sdk,
        .spawner = spawner_create(),
    };
    return setup;
}

void worker_setup_destroy(WorkerSetup *setup) {
    if (setup != NULL) {
        spawner_destroy(setup->options.spawner);
        pthread_mutex_destroy(&setup->lock);
        arena_destroy(setup->arena);
        free(setup);
    }
}

/* The lock is held. */
static Status find(WorkerSetup *setup, Error *err) {
    TRY(interpreter_find(setup->options.config, setup->arena, &setup->interpreter, err));
    TRY(sdk_locate(setup->options.config, setup->arena, &setup->sdk, err));
    setup->is_found = true;
    return OK;
}

Status worker_setup_get(WorkerSetup *setup, const WorkerOptions **options_out, Error *err) {
    pthread_mutex_lock(&setup->lock);
    Status status = setup->is_found ? OK : find(setup, err);
    pthread_mutex_unlock(&setup->lock);
    *options_out = &setup->options;
    return status;
}
