#include "run/environments.h"

#include "plan/snapshot_index.h"
#include "project/graph.h"
#include "run/apply.h"
#include "run/change_log.h"
#include "run/command_lock.h"
#include "run/notify.h"
#include "run/promotion.h"
#include "run/relations.h"

#define COMMAND_ROLLBACK "env rollback"

typedef struct Move {
    Session *session;
    const EnvironmentRequest *request;
    StateStore *state;
    StateLock *lock; /* NULL: a dry run */
    Arena *arena;
    SnapshotVec snapshots;
    SnapshotIndex index;
    PointerVec current;
    StrMap *current_by_model; /* → Pointer */
    Intent intent;
    EnvironmentMove *out;
} Move;

/* ---- Beginning and end */

static Status load(Move *move, Error *err) {
    TRY(state_load_snapshots(move->state, move->arena, &move->snapshots, err));
    move->index = snapshot_index_create(&move->snapshots, move->arena);
    TRY(state_load_pointers(move->state, move->request->environment, move->arena, &move->current, err));
    move->current_by_model = str_map_create(move->arena, STR_MAP_FOLD);
    for (size_t i = 0; i < move->current.count; i++) {
        str_map_put(move->current_by_model, move->current.items[i].model, &move->current.items[i]);
    }
    return OK;
}

static Status begin(Move *move, Str command, Error *err) {
    TRY(environment_check_name(move->request->environment, err));
    if (move->request->dry_run) {
        TRY(recovery_finish_if_needed(move->session, err));
        TRY(session_state_for_reading(move->session, &move->state, err));
    } else {
        TRY(command_lock(move->session, command, move->request->lock_timeout_us, &move->state, &move->lock, err));
    }
    move->intent = (Intent){.environment = move->request->environment, .command = command};
    return load(move, err);
}

/* What is new in an environment changes nothing that was read before: told only with a note. */
static void tell(Move *move, ChangeKind kind, const StrVec *models) {
    Str who = change_log_who(move->arena);
    for (size_t i = 0; i < models->count; i++) {
        if (move->request->note.size == 0 && !str_map_contains(move->current_by_model, models->items[i])) {
            continue;
        }
        StrVec hooks = {0};
        notify_choose(move->session->project, move->request->environment, models->items[i], move->arena, &hooks);
        change_record_vec_push(move->arena, &move->intent.changes,
                               (ChangeRecord){
                                   .kind = kind,
                                   .environment = move->request->environment,
                                   .model = models->items[i],
                                   .rows_before = CHANGE_ROWS_UNKNOWN,
                                   .rows_after = CHANGE_ROWS_UNKNOWN,
                                   .note = move->request->note,
                                   .who = who,
                                   .hooks = hooks,
                                   .is_begun = true,
                               });
    }
}

static Status carry_out(Move *move, Error *err) {
    if (move->request->dry_run || move->intent.put.count + move->intent.removed.count == 0) {
        return OK;
    }
    if (!str_equal(move->intent.command, STR(COMMAND_ENV_DROP))) {
        bool is_rollback = str_equal(move->intent.command, STR(COMMAND_ROLLBACK));
        ChangeKind kind = is_rollback ? CHANGED_BY_ROLLBACK : CHANGED_BY_PROMOTION;
        tell(move, kind, &move->out->repointed);
        tell(move, kind, &move->out->removed_views);
    }
    return promotion_carry_out(move->session, move->lock, &move->intent, &move->out->generation,
                               &move->out->kept_schemas, err);
}

/* ---- What moves */

static const Snapshot *snapshot_of(const Move *move, const Pointer *pointer) {
    return snapshot_index_find(&move->index, pointer->model, pointer->fingerprint, pointer->revision);
}

static bool is_delivered(const Snapshot *snapshot) {
    return snapshot != NULL && !snapshot_has_view(snapshot);
}

static bool is_same(const Pointer *a, const Pointer *b) {
    return a != NULL && str_equal(a->fingerprint, b->fingerprint) && a->revision == b->revision;
}

static void drop_view(Move *move, const Pointer *held) {
    if (snapshot_has_view(snapshot_of(move, held))) {
        const ProjectConfig *config = move->session->project->config;
        intent_view_vec_push(move->arena, &move->intent.views,
                             promotion_view_of_name(config, move->request->environment, held->model, move->arena));
        str_vec_push(move->arena, &move->out->removed_views, held->model);
    }
}

static void put_pointer(Move *move, const Pointer *wanted) {
    const Snapshot *snapshot = snapshot_of(move, wanted);
    const Pointer *held = str_map_find(move->current_by_model, wanted->model);
    if (is_delivered(snapshot)) {
        str_vec_push(move->arena, &move->out->skipped, wanted->model);
        return;
    }
    if (!promotion_put(move->session->project->config, move->arena, &move->intent, wanted, snapshot)) {
        if (held != NULL) {
            drop_view(move, held);
        }
        return;
    }
    if (!is_same(held, wanted)) {
        str_vec_push(move->arena, &move->out->repointed, wanted->model);
    }
}

static void remove_pointer(Move *move, const Pointer *held) {
    str_vec_push(move->arena, &move->intent.removed, held->model);
    drop_view(move, held);
}

/* What is delivered outside stays recorded: the next delivery is compared with it. */
static void remove_others(Move *move, const PointerVec *wanted) {
    StrMap *names = str_map_create(move->arena, STR_MAP_FOLD);
    for (size_t i = 0; i < wanted->count; i++) {
        str_map_put(names, wanted->items[i].model, &wanted->items[i]);
    }
    for (size_t i = 0; i < move->current.count; i++) {
        const Pointer *held = &move->current.items[i];
        if (!str_map_contains(names, held->model) && !is_delivered(snapshot_of(move, held))) {
            remove_pointer(move, held);
        }
    }
}

/* ---- Rollback */

static Status refuse_generation(const Move *move, int64_t newest, int64_t oldest, Error *err) {
    if (newest < oldest) {
        return error_set(err, ERROR_PLAN, "cannot roll '" STR_FMT "' back: there is no earlier generation",
                         STR_ARG(move->request->environment));
    }
    return error_set(err, ERROR_PLAN, "cannot roll '" STR_FMT "' back to generation %lld; valid targets: %lld to %lld",
                     STR_ARG(move->request->environment), (long long)move->out->target, (long long)oldest,
                     (long long)newest);
}

static Status find_target(Move *move, int64_t wanted, const Generation **target_out, Error *err) {
    GenerationVec generations = {0};
    TRY(state_load_generations(move->state, move->request->environment, move->arena, &generations, err));
    if (generations.count == 0) {
        return error_set(err, ERROR_PLAN, "environment '" STR_FMT "' has no history",
                         STR_ARG(move->request->environment));
    }
    bool is_dropped = move->current.count == 0;
    int64_t newest = generations.items[0].number - (is_dropped ? 0 : 1);
    int64_t oldest = generations.items[generations.count - 1].number;
    move->out->generation = generations.items[0].number;
    move->out->target = wanted == 0 ? newest : wanted;
    if (move->out->target < oldest || move->out->target > newest) {
        return refuse_generation(move, newest, oldest, err);
    }
    *target_out = &generations.items[generations.items[0].number - move->out->target];
    return OK;
}

static Status refuse_reclaimed(const Move *move, const PointerVec *wanted, Error *err) {
    PointerVec reclaimed = {0};
    StrVec names = {0};
    TRY(state_load_reclaimed(move->state, move->arena, &reclaimed, err));
    for (size_t i = 0; i < wanted->count; i++) {
        for (size_t r = 0; r < reclaimed.count; r++) {
            if (str_equal_fold(wanted->items[i].model, reclaimed.items[r].model) &&
                is_same(&reclaimed.items[r], &wanted->items[i])) {
                str_vec_push(move->arena, &names, wanted->items[i].model);
            }
        }
    }
    if (names.count == 0) {
        return OK;
    }
    Str list = str_join(move->arena, names.items, names.count, STR(", "));
    (void)error_set(err, ERROR_PLAN,
                    "cannot roll '" STR_FMT "' back to generation %lld: gc has reclaimed what it showed of " STR_FMT,
                    STR_ARG(move->request->environment), (long long)move->out->target, STR_ARG(list));
    error_code(err, STR("rollback.reclaimed"));
    error_hint(err, "nothing was moved; take the old definition back and apply it");
    return FAILED;
}

static void find_changed_in_place(Move *move, const Generation *target, const PointerVec *wanted) {
    for (size_t i = 0; i < wanted->count; i++) {
        const Snapshot *snapshot = snapshot_of(move, &wanted->items[i]);
        if (snapshot_has_view(snapshot) && !snapshot->is_view && snapshot->created_at > target->promoted_at) {
            str_vec_push(move->arena, &move->out->in_place, wanted->items[i].model);
        }
    }
}

static Status rollback(Move *move, int64_t generation, Error *err) {
    const Generation *target = NULL;
    PointerVec wanted = {0};
    TRY(begin(move, STR(COMMAND_ROLLBACK), err));
    TRY(find_target(move, generation, &target, err));
    TRY(state_load_generation(move->state, move->request->environment, target->number, move->arena, &wanted, err));
    TRY(refuse_reclaimed(move, &wanted, err));
    for (size_t i = 0; i < wanted.count; i++) {
        put_pointer(move, &wanted.items[i]);
    }
    remove_others(move, &wanted);
    find_changed_in_place(move, target, &wanted);
    return carry_out(move, err);
}

Status environment_rollback(Session *session, const EnvironmentRequest *request, int64_t generation, Arena *arena,
                            EnvironmentMove *move_out, Error *err) {
    Move move = {.session = session, .request = request, .arena = arena, .out = move_out};
    Status status = rollback(&move, generation, err);
    command_release(session, move.lock);
    return status;
}

/* ---- Taking over another environment's pointers */

static Status check_blocked(const ChecksRunResult *result, Str from, Error *err) {
    if (!result->is_blocked) {
        return OK;
    }
    AUTO(strbuf) StrBuf list = {0};
    for (size_t i = 0; i < result->results.count; i++) {
        const CheckResult *check = &result->results.items[i];
        if (!str_equal(check->status, STR("passed")) && str_equal(check->severity, STR("error"))) {
            strbuf_format(&list, "%s" STR_FMT "." STR_FMT, list.size == 0 ? "" : "; ", STR_ARG(check->model),
                          STR_ARG(check->check_name));
        }
    }
    return error_set(err, ERROR_CHECK,
                     "checks of '" STR_FMT "' failed "
                     "— nothing is promoted: " STR_FMT,
                     STR_ARG(from), STR_ARG(strbuf_str(&list)));
}

static Status run_checks(Move *move, Str from, const StrVec *names, Error *err) {
    AUTO(checks_run_result) ChecksRunResult *result = NULL;
    ChecksRunOptions options = {.environment = from, .select = names};
    TRY(checks_run(move->session, &options, &result, err));
    return check_blocked(result, from, err);
}

static Status choose(Move *move, Str from, const StrVec *names, const PointerVec *held, Error *err) {
    bool *is_used = ARENA_NEW_ARRAY(move->arena, bool, names->count);
    for (size_t i = 0; i < held->count; i++) {
        bool is_wanted = names->count == 0;
        for (size_t n = 0; n < names->count; n++) {
            bool is_this = str_equal_fold(names->items[n], held->items[i].model);
            is_used[n] = is_used[n] || is_this;
            is_wanted = is_wanted || is_this;
        }
        if (is_wanted) {
            put_pointer(move, &held->items[i]);
        }
    }
    for (size_t n = 0; n < names->count; n++) {
        if (!is_used[n]) {
            return error_set(err, ERROR_SELECTION, "'" STR_FMT "' is not in environment '" STR_FMT "'",
                             STR_ARG(names->items[n]), STR_ARG(from));
        }
    }
    return OK;
}

static Status promote(Move *move, Str from, const StrVec *names, Error *err) {
    PointerVec held = {0};
    TRY(begin(move, STR("env promote"), err));
    TRY(environment_check_name(from, err));
    TRY(state_load_pointers(move->state, from, move->arena, &held, err));
    if (held.count == 0) {
        return error_set(err, ERROR_PLAN, "No environment '" STR_FMT "'.", STR_ARG(from));
    }
    TRY(choose(move, from, names, &held, err));
    if (names->count == 0) {
        remove_others(move, &held);
    }
    TRY(run_checks(move, from, names, err));
    return carry_out(move, err);
}

Status environment_promote(Session *session, const EnvironmentRequest *request, Str from, const StrVec *names,
                           Arena *arena, EnvironmentMove *move_out, Error *err) {
    Move move = {.session = session, .request = request, .arena = arena, .out = move_out};
    Status status = promote(&move, from, names, err);
    command_release(session, move.lock);
    return status;
}

/* ---- Dropping */

static Status drop(Move *move, bool force, Error *err) {
    bool is_production = str_equal_fold(move->request->environment, STR("prod"));
    TRY(begin(move, STR(COMMAND_ENV_DROP), err));
    if (move->current.count == 0) {
        return error_set(err, ERROR_PLAN, "No environment '" STR_FMT "'.", STR_ARG(move->request->environment));
    }
    if (is_production && !force) {
        (void)error_set(err, ERROR_PLAN, "dropping prod takes the views of production away; --force does it");
        error_code(err, STR("env.production"));
        return FAILED;
    }
    for (size_t i = 0; i < move->current.count; i++) {
        remove_pointer(move, &move->current.items[i]);
    }
    return carry_out(move, err);
}

Status environment_drop(Session *session, const EnvironmentRequest *request, bool force, Arena *arena,
                        EnvironmentMove *move_out, Error *err) {
    Move move = {.session = session, .request = request, .arena = arena, .out = move_out};
    Status status = drop(&move, force, err);
    command_release(session, move.lock);
    return status;
}

/* ---- Looking */

static bool is_built_as_another(const Snapshot *snapshot, Arena *arena) {
    Str own = str_format(arena, "__" STR_FMT, STR_ARG(snapshot->fingerprint));
    return snapshot_has_view(snapshot) && str_find(snapshot->physical_name, own) == STR_NOT_FOUND;
}

Status environment_models(Session *session, Str environment, Arena *arena, ShownModelVec *models_out, Error *err) {
    StateStore *state = NULL;
    SnapshotVec snapshots = {0};
    PointerVec pointers = {0};
    TRY(environment_check_name(environment, err));
    TRY(recovery_finish_if_needed(session, err));
    TRY(session_state_for_reading(session, &state, err));
    TRY(state_load_snapshots(state, arena, &snapshots, err));
    TRY(state_load_pointers(state, environment, arena, &pointers, err));
    if (pointers.count == 0) {
        return error_set(err, ERROR_PLAN, "No environment '" STR_FMT "'.", STR_ARG(environment));
    }
    SnapshotIndex index = snapshot_index_create(&snapshots, arena);
    for (size_t i = 0; i < pointers.count; i++) {
        const Pointer *pointer = &pointers.items[i];
        const Snapshot *snapshot = snapshot_index_find(&index, pointer->model, pointer->fingerprint, pointer->revision);
        bool is_reused = snapshot != NULL && is_built_as_another(snapshot, arena);
        shown_model_vec_push(arena, models_out,
                             (ShownModel){.pointer = *pointer, .snapshot = snapshot, .is_reused = is_reused});
    }
    return OK;
}
