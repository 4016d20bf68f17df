#include "run/session.h"

#include "base/files.h"
#include "base/hash.h"
#include "config/dsn.h"
#include "plan/delivery.h"
#include "plan/fingerprint.h"
#include "run/test_poller.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Events come from builder threads and from threads of the Python runtime. */
struct SessionLock {
    pthread_mutex_t mutex;
};

static struct SessionLock *session_lock_create(void) {
    struct SessionLock *lock = heap_alloc_zeroed(1, sizeof *lock);
    pthread_mutex_init(&lock->mutex, NULL);
    return lock;
}

static void session_lock_destroy(struct SessionLock *lock) {
    if (lock != NULL) {
        pthread_mutex_destroy(&lock->mutex);
        free(lock);
    }
}

void session_emit(Session *session, Event event) {
    if (session->events.emit == NULL) {
        return;
    }
    event.at = clock_now_us();
    pthread_mutex_lock(&session->emit_lock->mutex);
    session->events.emit(session->events.context, &event);
    pthread_mutex_unlock(&session->emit_lock->mutex);
}

void session_note(Session *session, const char *format, ...) {
    AUTO(arena) Arena *arena = arena_create();
    va_list arguments;
    va_start(arguments, format);
    Str text = str_format_v(arena, format, arguments);
    va_end(arguments);
    session_emit(session, (Event){.type = EVENT_NOTE, .text = text});
}

static void write_python_log(void *context, Str model, Str level, Str message) {
    Session *session = context;
    const Model *found = session->project == NULL ? NULL : project_find(session->project, model);
    session_emit(session, (Event){.type = EVENT_LOG, .model = found, .level = level, .text = message});
}

/* Discovery runs while the project is being loaded: its configuration exists, the Project does not yet. The runtime is
 * made on the first Python file, so that a project without Python never has one. */
static Status discover_python(void *context, const ProjectConfig *config, const PythonFileVec *files, Arena *arena,
                              const ConfigValue **manifest_out, ErrorList *faults) {
    Session *session = context;
    AUTO(error) Error err = {0};
    if (session->python != NULL) {
        PythonDiscovery again = python_runtime_discovery(session->python);
        return again.discover(again.context, config, files, arena, manifest_out, faults);
    }
    PythonOptions options = {
        .config = config,
        .workers_max = (size_t)config->parallelism,
        .log = {.write = write_python_log, .context = session},
        .no_cache = session->options.no_cache,
    };
    if (failed(python_runtime_create(&options, &session->python, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    PythonDiscovery discovery = python_runtime_discovery(session->python);
    return discovery.discover(discovery.context, config, files, arena, manifest_out, faults);
}

static Status check_root(Str root, ErrorList *faults) {
    AUTO(error) Error err = {0};
    Status status = project_config_check_root(root, &err);
    if (failed(status)) {
        error_list_take(faults, &err);
    }
    return status;
}

/* Relative paths in SQL mean the project, wherever the command was started: the engine resolves them against the
 * process's directory, and has no setting that covers reading, writing and globs alike. */
static Status enter_root(Str root, ErrorList *faults) {
    AUTO(arena) Arena *arena = arena_create();
    if (chdir(str_to_c(arena, root)) == 0) {
        return OK;
    }
    AUTO(error) Error err = {0};
    Status status = error_set_errno(&err, ERROR_CONFIGURATION, "cannot enter " STR_FMT, STR_ARG(root));
    error_list_take(faults, &err);
    return status;
}

/* Same for all models of the command; a scheduler gives its own, so that logs of both can be put together. */
static Str choose_run_id(Arena *arena) {
    Str given = str_from(getenv("INTERLACE_RUN_ID"));
    if (given.size > 0) {
        return str_copy(arena, given);
    }
    return random_hex(arena, 8);
}

static SqlCache *open_known_fingerprints(const ProjectOptions *options, const ProjectConfig *config) {
    AUTO(arena) Arena *scratch = arena_create();
    Str path = options->no_cache ? STR_EMPTY : path_join(scratch, config->cache_path, STR("fingerprints.bin"));
    return sql_cache_open(path, STR(FINGERPRINT_CACHE_VERSION));
}

static Status load_project(Session *session, const ProjectOptions *options, Project **project_out, ErrorList *faults) {
    Project *project = NULL;
    TRY(project_load(options, &project, faults));
    project_vec_push(session->arena, &session->loaded, project);
    AUTO(sql_cache) SqlCache *known = open_known_fingerprints(options, project->config);
    fingerprint_project(project, known);
    *project_out = project;
    return OK;
}

Status session_load_again(Session *session, const DynamicModelVec *dynamic, Project **project_out, ErrorList *faults) {
    ProjectOptions options = {
        .config = {.root = session->project->config->root, .overlay = session->options.overlay},
        .python = {.discover = discover_python, .context = session},
        .dynamic = dynamic,
        .no_cache = session->options.no_cache,
    };
    return load_project(session, &options, project_out, faults);
}

Status session_open(const SessionOptions *options, Session **session_out, ErrorList *faults) {
    TRY(check_root(options->root, faults));

    AUTO(session) Session *session = heap_alloc_zeroed(1, sizeof *session);
    session->options = *options;
    session->events = options->events;
    session->emit_lock = session_lock_create();
    session->arena = arena_create();
    session->run_id = choose_run_id(session->arena);

    ProjectOptions project_options = {
        .config = {.root = options->root, .overlay = options->overlay},
        .python = {.discover = discover_python, .context = session},
        .no_cache = options->no_cache,
    };
    TRY(load_project(session, &project_options, &session->project, faults));
    TRY(enter_root(session->project->config->root, faults));

    *session_out = TAKE(session);
    return OK;
}

void session_close_engine(Session *session) {
    test_poller_stop(TAKE(session->poller));
    engine_destroy(TAKE(session->engine));
}

void session_close(Session *session) {
    if (session == NULL) {
        return;
    }
    python_runtime_destroy(session->python);
    session_close_engine(session);
    state_store_close(session->state);
    for (size_t i = 0; i < session->loaded.count; i++) {
        project_destroy(session->loaded.items[i]);
    }
    arena_destroy(session->arena);
    session_lock_destroy(session->emit_lock);
    free(session);
}

Status session_state_for_reading(Session *session, StateStore **state_out, Error *err) {
    if (session->state == NULL) {
        TRY(state_store_open_existing(session->project->config->state_path, &session->state, err));
        session->state_is_writable = false;
    }
    *state_out = session->state;
    return OK;
}

static Status record_timezone(Session *session, Error *err) {
    Str recorded;
    TRY(state_timezone(session->state, session->arena, &recorded, err));
    Str configured = session->project->config->timezone;
    if (recorded.size == 0) {
        Str zone = configured.size > 0 ? configured : zone_local_name(session->arena);
        return state_set_timezone(session->state, zone, err);
    }
    if (configured.size > 0 && !str_equal(configured, recorded)) {
        return state_set_timezone(session->state, configured, err);
    }
    return OK;
}

Status session_state_for_writing(Session *session, StateStore **state_out, Error *err) {
    if (session->state != NULL && !session->state_is_writable) {
        state_store_close(TAKE(session->state));
    }
    if (session->state == NULL) {
        TRY(state_store_open(session->project->config->state_path, &session->state, err));
        session->state_is_writable = true;
        TRY(record_timezone(session, err));
    }
    *state_out = session->state;
    return OK;
}

/* The engine computes in the project's zone, whatever the host's: naive times mean its wall clock. */
static Status project_timezone(Session *session, Str *timezone_out, Error *err) {
    *timezone_out = session->project->config->timezone;
    if (timezone_out->size > 0) {
        return OK;
    }
    StateStore *state = NULL;
    TRY(session_state_for_reading(session, &state, err));
    TRY(state_timezone(state, session->arena, timezone_out, err));
    if (timezone_out->size == 0) {
        *timezone_out = zone_local_name(session->arena);
    }
    return OK;
}

Status session_zone(Session *session, const Zone **zone_out, Error *err) {
    Str name;
    TRY(project_timezone(session, &name, err));
    return zone_load(name, session->arena, zone_out, err);
}

static bool has_setting(const EngineConfig *config, Str name) {
    for (size_t i = 0; i < config->settings.count; i++) {
        if (str_equal_fold(config->settings.items[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Whoever only reads does without a database file that a first delivery is still to make. */
static void leave_out_missing(Session *session, const EngineConfig *config) {
    for (size_t i = 0; i < session->project->model_count; i++) {
        const Model *model = session->project->models[i];
        Str alias = model->materialise == MATERIALISE_TABLE ? delivery_place(model).catalog : STR_EMPTY;
        for (size_t a = 0; a < config->attach.count; a++) {
            const AttachConfig *attachment = &config->attach.items[a];
            bool is_file = !dsn_is_postgres(attachment->uri) && !dsn_has_scheme(attachment->uri);
            if (is_file && str_equal_fold(attachment->alias, alias) && !file_exists(attachment->uri)) {
                str_vec_push(session->arena, &session->unused_aliases, attachment->alias);
            }
        }
    }
}

static Status open_engine(Session *session, bool read_only, Error *err) {
    const ProjectConfig *project_config = session->project->config;
    const EngineConfig *configured = project_config_engine(project_config, project_config->default_engine);
    assert(configured != NULL);
    EngineConfig *config = ARENA_NEW(session->arena, EngineConfig);
    *config = *configured;

    if (!has_setting(config, STR("TimeZone"))) {
        Str zone;
        TRY(project_timezone(session, &zone, err));
        ConfigSettingVec settings = {0};
        for (size_t i = 0; i < configured->settings.count; i++) {
            config_setting_vec_push(session->arena, &settings, configured->settings.items[i]);
        }
        config_setting_vec_push(session->arena, &settings, (ConfigSetting){STR("TimeZone"), zone});
        config->settings = settings;
    }

    if (read_only) {
        leave_out_missing(session, config);
    }
    EngineOptions options = {
        .config = config,
        .root = project_config->root,
        .read_only = read_only,
        .writable_aliases = &session->writable_aliases,
        .unused_aliases = &session->unused_aliases,
    };
    TRY(engine_create(&options, &session->engine, err));
    session->engine_is_read_only = read_only;
    session->poller = read_only ? NULL : test_poller_start(session->engine);
    return OK;
}

static bool has_all(const StrVec *aliases, const StrVec *wanted) {
    for (size_t i = 0; i < wanted->count; i++) {
        if (!str_vec_contains(aliases, wanted->items[i])) {
            return false;
        }
    }
    return true;
}

static StrVec copy_names(Session *session, const StrVec *names) {
    StrVec copies = {0};
    for (size_t i = 0; i < names->count; i++) {
        str_vec_push(session->arena, &copies, str_copy(session->arena, names->items[i]));
    }
    return copies;
}

void session_use_attachments(Session *session, const StrVec *written, const StrVec *unused) {
    bool fits = has_all(&session->writable_aliases, written) && has_all(unused, &session->unused_aliases);
    if (!fits) {
        session_close_engine(session);
    }
    session->writable_aliases = copy_names(session, written);
    session->unused_aliases = copy_names(session, unused);
}

Status session_engine(Session *session, bool read_only, Engine **engine_out, Error *err) {
    if (session->engine != NULL && session->engine_is_read_only && !read_only) {
        engine_destroy(TAKE(session->engine));
    }
    if (session->engine == NULL) {
        TRY(open_engine(session, read_only, err));
    }
    *engine_out = session->engine;
    return OK;
}
