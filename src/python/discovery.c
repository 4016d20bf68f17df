/* Discovery of declarations: from the cache, else by a worker of its own that imports the project's files and is killed
 * afterwards. */
#include "base/clock.h"
#include "base/files.h"
#include "config/json_writer.h"
#include "python/discovery_cache.h"
#include "python/runtime_parts.h"
#include "python/worker_error.h"

#define IMPORT_TIMEOUT_MS 120000 /* of one file */
#define DISCOVERY_TASK 1

/* ---- Asking a worker */

typedef struct Inquiry {
    Worker *worker;
    Arena *arena;
    StrVec chunks;
    Str loading; /* the file that is being imported */
    bool is_done;
} Inquiry;

static Str write_request(const PythonFileVec *files, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_object(&json);
    json_text_field(&json, STR("t"), STR("discover"));
    json_int_field(&json, STR("task"), DISCOVERY_TASK);
    json_key(&json, STR("files"));
    json_begin_array(&json);
    for (size_t i = 0; i < files->count; i++) {
        if (!files->items[i].is_helper) {
            json_text(&json, files->items[i].path);
        }
    }
    json_end_array(&json);
    json_end_object(&json);
    return strbuf_copy(&text, arena);
}

static SourceSpan place_of(Str path) {
    return (SourceSpan){.file = path};
}

static Status take_frame(Inquiry *inquiry, Error *err) {
    const Frame *frame = worker_frame(inquiry->worker);
    switch (frame->type) {
    case FRAME_LOADING:
        inquiry->loading = str_copy(inquiry->arena, config_text(frame->fields, STR("path")));
        return OK;
    case FRAME_MANIFEST:
        str_vec_push(inquiry->arena, &inquiry->chunks, str_copy(inquiry->arena, frame->text));
        return OK;
    case FRAME_RESULT:
        inquiry->is_done = true;
        return OK;
    case FRAME_ERROR: {
        const WorkerErrorForm form = {STR("describing the Python models failed: "), STR_EMPTY, ERROR_INTERNAL};
        return worker_error_set(frame->fields, &form, err);
    }
    case FRAME_READY:
    case FRAME_OPEN_INPUT:
    case FRAME_OUTPUT:
    case FRAME_LOG:
    case FRAME_STALE:
    case FRAME_PONG:
    case FRAME_TYPE_COUNT:
        break;
    }
    return error_set(err, ERROR_EXECUTION, "protocol error: a frame that has no place in a discovery");
}

static Status take_event(Inquiry *inquiry, WorkerEvent event, Error *err) {
    switch (event) {
    case WORKER_FRAME:
        return take_frame(inquiry, err);
    case WORKER_DIED: {
        Str death = worker_death(inquiry->worker, inquiry->arena);
        return error_set_at(err, ERROR_DEFINITION, place_of(inquiry->loading),
                            "could not load " STR_FMT ": the Python worker " STR_FMT, STR_ARG(inquiry->loading),
                            STR_ARG(death));
    }
    case WORKER_TIMEOUT:
        return error_set_at(err, ERROR_DEFINITION, place_of(inquiry->loading),
                            "could not load " STR_FMT ": it was not imported within %d s", STR_ARG(inquiry->loading),
                            IMPORT_TIMEOUT_MS / 1000);
    case WORKER_READABLE:
        break;
    }
    return OK;
}

static Status converse(Inquiry *inquiry, const PythonFileVec *files, Error *err) {
    TRY(worker_send(inquiry->worker, write_request(files, inquiry->arena), -1, err));
    while (!inquiry->is_done) {
        WorkerEvent event;
        TRY(worker_wait(inquiry->worker, -1, IMPORT_TIMEOUT_MS, &event, err));
        TRY(take_event(inquiry, event, err));
    }
    return OK;
}

static void write_log(void *context, Str level, Str line) {
    const PythonLog *log = context;
    log->write(log->context, STR_EMPTY, level, line);
}

static Status ask_worker(PythonRuntime *runtime, const WorkerOptions *options, const PythonFileVec *files, Arena *arena,
                         StrVec *chunks_out, Error *err) {
    const PythonLog *log = &runtime->options.log;
    Inquiry inquiry = {.arena = arena};
    TRY(worker_start(options, &inquiry.worker, err));
    worker_begin_task(inquiry.worker, log->write == NULL ? (LogSink){0} : (LogSink){write_log, (void *)(uintptr_t)log});
    Status status = converse(&inquiry, files, err);
    worker_end_task(inquiry.worker);
    worker_close(inquiry.worker, 0);
    *chunks_out = inquiry.chunks;
    return status;
}

/* ---- The manifest: the chunks as one map */

static const Str manifest_keys[] = {STR_INIT("files"), STR_INIT("models"), STR_INIT("checks"), STR_INIT("streams")};

static size_t count_items(const ConfigValue *chunks, Str key) {
    size_t count = 0;
    for (size_t i = 0; i < chunks->count; i++) {
        const ConfigValue *list = config_find(chunks->items[i], key);
        count += list != NULL && list->kind == CONFIG_LIST ? list->count : 0;
    }
    return count;
}

static ConfigValue *join_lists(const ConfigValue *chunks, Str key, Arena *arena) {
    ConfigValue *joined = ARENA_NEW(arena, ConfigValue);
    size_t count = count_items(chunks, key);
    *joined = (ConfigValue){.kind = CONFIG_LIST, .items = ARENA_NEW_ARRAY(arena, ConfigValue *, count)};
    for (size_t i = 0; i < chunks->count; i++) {
        const ConfigValue *list = config_find(chunks->items[i], key);
        for (size_t k = 0; list != NULL && list->kind == CONFIG_LIST && k < list->count; k++) {
            joined->items[joined->count++] = list->items[k];
        }
    }
    return joined;
}

static const ConfigValue *join_chunks(const ConfigValue *chunks, Arena *arena) {
    ConfigValue *manifest = ARENA_NEW(arena, ConfigValue);
    *manifest = (ConfigValue){
        .kind = CONFIG_MAP,
        .entries = ARENA_NEW_ARRAY(arena, ConfigEntry, COUNT_OF(manifest_keys)),
        .count = COUNT_OF(manifest_keys),
    };
    for (size_t i = 0; i < COUNT_OF(manifest_keys); i++) {
        ConfigValue *list = join_lists(chunks, manifest_keys[i], arena);
        manifest->entries[i] = (ConfigEntry){.key = manifest_keys[i], .value = list};
    }
    return manifest;
}

static Status read_chunks(const StrVec *texts, Arena *arena, const ConfigValue **chunks_out, Error *err) {
    ConfigValue *chunks = ARENA_NEW(arena, ConfigValue);
    *chunks = (ConfigValue){
        .kind = CONFIG_LIST,
        .items = ARENA_NEW_ARRAY(arena, ConfigValue *, texts->count),
        .count = texts->count,
    };
    for (size_t i = 0; i < texts->count; i++) {
        TRY(json_read(texts->items[i], STR("manifest"), arena, &chunks->items[i], err));
    }
    *chunks_out = chunks;
    return OK;
}

/* ---- Faults of single files */

static void take_fault(const ConfigValue *file, const ConfigValue *fields, ErrorList *faults) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    Str path = config_text(file, STR("path"));
    const WorkerErrorForm form = {
        .raised = str_format(arena, "could not load " STR_FMT ": ", STR_ARG(path)),
        .refused = STR_EMPTY,
        .raised_kind = ERROR_DEFINITION,
    };
    worker_error_set(fields, &form, &err);
    error_place(&err, place_of(path));
    error_list_take(faults, &err);
}

static void take_faults(const ConfigValue *manifest, ErrorList *faults) {
    const ConfigValue *files = config_find(manifest, STR("files"));
    for (size_t i = 0; i < files->count; i++) {
        const ConfigValue *errors = config_find(files->items[i], STR("errors"));
        for (size_t k = 0; errors != NULL && errors->kind == CONFIG_LIST && k < errors->count; k++) {
            take_fault(files->items[i], errors->items[k], faults);
        }
    }
}

/* ---- */

static Status import_files(PythonRuntime *runtime, const WorkerOptions *options, const PythonFileVec *files, Str key,
                           Arena *arena, const ConfigValue **chunks_out, Error *err) {
    StrVec texts = {0};
    TRY(ask_worker(runtime, options, files, arena, &texts, err));
    TRY(read_chunks(&texts, arena, chunks_out, err));
    if (!runtime->options.no_cache) {
        discovery_cache_write(options->config, key, files, &texts);
    }
    return OK;
}

static Status find_chunks(PythonRuntime *runtime, const PythonFileVec *files, Arena *arena,
                          const ConfigValue **chunks_out, Error *err) {
    const WorkerOptions *options;
    TRY(worker_setup_get(runtime->setup, &options, err));
    Str key = discovery_key(options, files, arena);
    *chunks_out = NULL;
    if (!runtime->options.no_cache) {
        discovery_cache_read(options->config, key, arena, chunks_out);
    }
    return *chunks_out != NULL ? OK : import_files(runtime, options, files, key, arena, chunks_out, err);
}

/* Without a file that may declare something, nothing is started. */
static bool declares_nothing(const PythonFileVec *files) {
    for (size_t i = 0; i < files->count; i++) {
        if (!files->items[i].is_helper) {
            return false;
        }
    }
    return true;
}

Status discovery_run(void *context, const ProjectConfig *config, const PythonFileVec *files, Arena *arena,
                     const ConfigValue **manifest_out, ErrorList *faults) {
    (void)config; /* the runtime has it */
    AUTO(error) Error err;
    error_init(&err);
    const ConfigValue *chunks = NULL;
    const StrVec none = {0};
    Status status = declares_nothing(files) ? read_chunks(&none, arena, &chunks, &err)
                                            : find_chunks(context, files, arena, &chunks, &err);
    if (failed(status)) {
        error_list_take(faults, &err);
        return FAILED;
    }
    *manifest_out = join_chunks(chunks, arena);
    take_faults(*manifest_out, faults);
    return OK;
}
