#include "run/doctor.h"

#include "base/files.h"
#include "duck/duck_library.h"
#include "run/command_lock.h"
#include "run/engine_probe.h"
#include "run/relations.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SPACE_LOW ((uint64_t)1 << 30) /* bytes: a build of some size fills the rest */
#define NAMES_MAX 5

typedef struct Doctor {
    const SessionOptions *options;
    Arena *arena;
    FindingVec *findings;
    const ProjectConfig *config;
    Session *session;
    StateStore *state;
    bool is_busy; /* another command holds the lock */
} Doctor;

static void add(Doctor *doctor, FindingStatus status, Str subject, Str message, Str hint) {
    finding_vec_push(doctor->arena, doctor->findings,
                     (Finding){.subject = subject, .status = status, .message = message, .hint = hint});
}

static void add_error(Doctor *doctor, FindingStatus status, Str subject, const Error *err) {
    add(doctor, status, subject, error_line(err, doctor->arena), str_copy(doctor->arena, err->hint));
}

static void add_faults(Doctor *doctor, Str subject, const ErrorList *faults) {
    for (size_t i = 0; i < faults->count; i++) {
        add_error(doctor, FINDING_PROBLEM, subject, &faults->items[i]);
    }
}

/* "a, b, c and 4 more" */
static Str some_names(const Doctor *doctor, const StrVec *names) {
    size_t shown = names->count < NAMES_MAX ? names->count : NAMES_MAX;
    Str text = str_join(doctor->arena, names->items, shown, STR(", "));
    return shown == names->count
               ? text
               : str_format(doctor->arena, STR_FMT " and %zu more", STR_ARG(text), names->count - shown);
}

/* ---- What the program itself needs */

static void look_at_program(Doctor *doctor) {
    AUTO(error) Error err = {0};
    if (failed(duck_library_load(&err))) {
        add_error(doctor, FINDING_PROBLEM, STR("program"), &err);
        return;
    }
    add(doctor, FINDING_OK, STR("program"),
        str_format(doctor->arena, "interlace %s, duckdb %s (%s), state format %d", INTERLACE_VERSION,
                   duck_library_version_text(), duck_library_path(), STATE_FORMAT_VERSION),
        STR_EMPTY);
}

/* ---- The project */

static void look_at_configuration(Doctor *doctor) {
    AUTO(error) Error err = {0};
    AUTO(error_list) ErrorList faults = {0};
    ProjectConfig *config = NULL;
    ConfigOptions options = {.root = path_absolute(doctor->arena, doctor->options->root),
                             .overlay = doctor->options->overlay};
    if (failed(project_config_check_root(options.root, &err))) {
        add_error(doctor, FINDING_PROBLEM, STR("configuration"), &err);
        return;
    }
    if (failed(project_config_load(&options, doctor->arena, &config, &faults))) {
        add_faults(doctor, STR("configuration"), &faults);
        return;
    }
    doctor->config = config;
    add(doctor, FINDING_OK, STR("configuration"), config->root, STR_EMPTY);
}

static void look_at_models(Doctor *doctor) {
    AUTO(error_list) ErrorList faults = {0};
    if (failed(session_open(doctor->options, &doctor->session, &faults)) ||
        failed(project_check_supported(doctor->session->project, &faults))) {
        add_faults(doctor, STR("models"), &faults);
        return;
    }
    const Project *project = doctor->session->project;
    size_t python = 0;
    for (size_t i = 0; i < project->model_count; i++) {
        python += project->models[i]->kind == MODEL_PYTHON;
    }
    add(doctor, FINDING_OK, STR("models"),
        str_format(doctor->arena, "%zu of SQL, %zu of Python", project->model_count - python, python), STR_EMPTY);
    for (size_t i = 0; i < project->notes.count; i++) {
        add(doctor, FINDING_WARNING, STR("models"), str_copy(doctor->arena, project->notes.items[i]), STR_EMPTY);
    }
}

/* ---- The state */

static void look_at_state(Doctor *doctor) {
    AUTO(error) Error err = {0};
    if (!file_exists(doctor->config->state_path)) {
        add(doctor, FINDING_OK, STR("state"), STR("not made yet"), STR_EMPTY);
        return;
    }
    if (access(str_to_c(doctor->arena, doctor->config->state_path), W_OK) != 0) {
        add(doctor, FINDING_PROBLEM, STR("state"),
            str_format(doctor->arena, STR_FMT " cannot be written: %s", STR_ARG(doctor->config->state_path),
                       strerror(errno)),
            STR_EMPTY);
    }
    if (failed(state_store_open_existing(doctor->config->state_path, &doctor->state, &err))) {
        add_error(doctor, FINDING_PROBLEM, STR("state"), &err);
        return;
    }
    add(doctor, FINDING_OK, STR("state"), doctor->config->state_path, STR_EMPTY);
}

static void look_at_lock(Doctor *doctor) {
    AUTO(error) Error err = {0};
    LockState lock;
    if (failed(state_lock_look(doctor->state, doctor->arena, &lock, &err))) {
        add_error(doctor, FINDING_PROBLEM, STR("lock"), &err);
        return;
    }
    if (!lock.is_held) {
        add(doctor, FINDING_OK, STR("lock"), STR("free"), STR_EMPTY);
        return;
    }
    doctor->is_busy = !lock.is_dead;
    Str message = str_format(doctor->arena, "%s by " STR_FMT, lock.is_dead ? "left behind" : "held",
                             STR_ARG(lock_holder_text(&lock.holder, doctor->arena)));
    add(doctor, lock.is_dead ? FINDING_WARNING : FINDING_OK, STR("lock"), message,
        lock.is_dead ? STR("the next command takes it over; interlace unlock --yes removes it now") : STR_EMPTY);
}

static void look_at_promotions(Doctor *doctor) {
    AUTO(error) Error err = {0};
    IntentVec intents = {0};
    if (failed(state_load_intents(doctor->state, doctor->arena, &intents, &err))) {
        add_error(doctor, FINDING_PROBLEM, STR("promotions"), &err);
        return;
    }
    for (size_t i = 0; i < intents.count && !doctor->is_busy; i++) {
        add(doctor, FINDING_WARNING, STR("promotions"),
            str_format(doctor->arena, "one of '" STR_FMT "' was interrupted", STR_ARG(intents.items[i].environment)),
            STR("the next command finishes it"));
    }
    if (intents.count == 0) {
        add(doctor, FINDING_OK, STR("promotions"), STR("none is unfinished"), STR_EMPTY);
    }
}

/* ---- The engines, and what should be in the warehouse */

static bool look_at_engine(Doctor *doctor, const EngineConfig *engine) {
    AUTO(error) Error err = {0};
    Str said = STR_EMPTY;
    Str subject = str_format(doctor->arena, "engine " STR_FMT, STR_ARG(engine->name));
    if (failed(engine_probe(doctor->config, engine, &said, &err))) {
        add_error(doctor, doctor->is_busy ? FINDING_WARNING : FINDING_PROBLEM, subject, &err);
        return false;
    }
    Str database = config_redact_dsn(doctor->arena, engine->database);
    add(doctor, FINDING_OK, subject,
        said.size > 0 ? str_format(doctor->arena, STR_FMT ": " STR_FMT, STR_ARG(database), STR_ARG(said)) : database,
        STR_EMPTY);
    return said.size == 0;
}

static void compare(Doctor *doctor, const SnapshotVec *snapshots, const OwnedRelationVec *owned) {
    Arena *arena = doctor->arena;
    StrMap *there = str_map_create(arena, STR_MAP_FOLD), *recorded = str_map_create(arena, STR_MAP_FOLD);
    StrVec lost = {0}, orphans = {0};
    for (size_t i = 0; i < owned->count; i++) {
        str_map_put(there, sql_dotted_name(owned->items[i].relation, arena), &owned->items[i]);
    }
    for (size_t i = 0; i < snapshots->count; i++) {
        const Snapshot *snapshot = &snapshots->items[i];
        Str key = sql_dotted_name(relation_of_snapshot(snapshot), arena);
        str_map_put(recorded, key, &snapshots->items[i]);
        if (snapshot_has_view(snapshot) && str_equal(snapshot->engine, doctor->config->default_engine) &&
            !str_map_contains(there, key) && !str_vec_contains(&lost, key)) {
            str_vec_push(arena, &lost, key);
        }
    }
    for (size_t i = 0; i < owned->count; i++) {
        Str key = sql_dotted_name(owned->items[i].relation, arena);
        if (!str_map_contains(recorded, key)) {
            str_vec_push(arena, &orphans, key);
        }
    }
    if (lost.count > 0) {
        add(doctor, FINDING_PROBLEM, STR("tables"),
            str_format(arena, "recorded, but not in the warehouse: " STR_FMT, STR_ARG(some_names(doctor, &lost))),
            STR("interlace run builds what prod shows again; interlace gc forgets what nobody shows"));
    }
    if (orphans.count > 0) {
        add(doctor, FINDING_WARNING, STR("tables"),
            str_format(arena, "of no recorded version: " STR_FMT, STR_ARG(some_names(doctor, &orphans))),
            STR("interlace gc drops them when they have been there for its grace"));
    }
    if (lost.count + orphans.count == 0) {
        add(doctor, FINDING_OK, STR("tables"), str_format(arena, "%zu, all recorded", owned->count), STR_EMPTY);
    }
}

static Status load_and_compare(Doctor *doctor, Error *err) {
    Engine *engine = NULL;
    AUTO(engine_connection) EngineConnection *connection = NULL;
    SnapshotVec snapshots = {0};
    OwnedRelationVec owned = {0};
    TRY(session_engine(doctor->session, true, &engine, err));
    TRY(engine_connect(engine, &connection, err));
    TRY(state_load_snapshots(doctor->state, doctor->arena, &snapshots, err));
    TRY(engine_owned_relations(connection, doctor->arena, &owned, err));
    compare(doctor, &snapshots, &owned);
    return OK;
}

static void look_at_warehouse(Doctor *doctor) {
    AUTO(error) Error err = {0};
    bool is_open = false;
    for (size_t i = 0; i < doctor->config->engines.count; i++) {
        const EngineConfig *engine = &doctor->config->engines.items[i];
        bool is_there = look_at_engine(doctor, engine);
        is_open = is_open || (is_there && str_equal(engine->name, doctor->config->default_engine));
    }
    /* While another command works, its tables are not recorded yet. */
    bool is_comparable = is_open && !doctor->is_busy && doctor->state != NULL && doctor->session != NULL;
    if (is_comparable && failed(load_and_compare(doctor, &err))) {
        add_error(doctor, FINDING_PROBLEM, STR("tables"), &err);
    }
}

/* ---- The disk */

static void look_at_disk(Doctor *doctor) {
    struct statvfs disk;
    const char *root = str_to_c(doctor->arena, doctor->config->root);
    if (access(root, W_OK) != 0) {
        add(doctor, FINDING_PROBLEM, STR("disk"),
            str_format(doctor->arena, "the project's folder cannot be written: %s", strerror(errno)), STR_EMPTY);
    }
    if (statvfs(root, &disk) != 0) {
        return;
    }
    uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    add(doctor, free_bytes < SPACE_LOW ? FINDING_WARNING : FINDING_OK, STR("disk"),
        str_format(doctor->arena, "%.1f GB free", (double)free_bytes / 1e9), STR_EMPTY);
}

/* ---- All */

void doctor_look(const SessionOptions *options, Arena *arena, FindingVec *findings_out) {
    Doctor doctor = {.options = options, .arena = arena, .findings = findings_out};
    look_at_program(&doctor);
    look_at_configuration(&doctor);
    if (doctor.config == NULL) {
        return;
    }
    look_at_models(&doctor);
    look_at_state(&doctor);
    if (doctor.state != NULL) {
        look_at_lock(&doctor);
        look_at_promotions(&doctor);
    }
    look_at_warehouse(&doctor);
    look_at_disk(&doctor);
    state_store_close(doctor.state);
    session_close(doctor.session);
}

const char *finding_status_name(FindingStatus status) {
    static const char *const names[] = {
        [FINDING_OK] = "ok", [FINDING_WARNING] = "warning", [FINDING_PROBLEM] = "problem"};
    return names[status];
}
