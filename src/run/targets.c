#include "run/targets.h"

#include "plan/delivery.h"
#include "project/graph.h"
#include "run/apply_steps.h"
#include "run/forward_only.h"
#include "strategy/strategy.h"

/* One environment's view of a relation. */
typedef struct Reader {
    Str environment;
    TimeUs promoted_at;
} Reader;

typedef struct Targets {
    Session *session;
    StateStore *state;
    const TargetRequest *request;
    Arena *arena;
    SnapshotVec snapshots;
    StrVec environments;
    PointerVec *pointers; /* of each environment */
    PointerVec shown;     /* of all, those of prod first */
} Targets;

LedgerKey ledger_key(const Model *model, SqlRelation relation) {
    return (LedgerKey){
        .engine = model->engine, .catalog = relation.catalog, .schema = relation.schema, .name = relation.name};
}

static Status load_state(Targets *targets, Error *err) {
    EnvironmentSummaryVec environments = {0};
    TRY(state_load_snapshots(targets->state, targets->arena, &targets->snapshots, err));
    TRY(state_load_environments(targets->state, targets->arena, &environments, err));
    TRY(state_load_shown(targets->state, targets->arena, &targets->shown, err));
    targets->pointers = ARENA_NEW_ARRAY(targets->arena, PointerVec, environments.count);
    for (size_t i = 0; i < environments.count; i++) {
        Str name = environments.items[i].name;
        str_vec_push(targets->arena, &targets->environments, name);
        TRY(state_load_pointers(targets->state, name, targets->arena, &targets->pointers[i], err));
    }
    return OK;
}

/* ---- What is there of a version. */

static bool is_version(const Snapshot *snapshot, const Model *model) {
    return str_equal_fold(snapshot->name, model->name) && str_equal(snapshot->fingerprint, model->fingerprint);
}

static const Snapshot *find_revision(const Targets *targets, const Model *model, int64_t revision) {
    for (size_t i = 0; i < targets->snapshots.count; i++) {
        const Snapshot *snapshot = &targets->snapshots.items[i];
        if (is_version(snapshot, model) && snapshot->revision == revision) {
            return snapshot;
        }
    }
    return NULL;
}

static int64_t newest_revision(const Targets *targets, const Model *model) {
    int64_t newest = 0;
    for (size_t i = 0; i < targets->snapshots.count; i++) {
        const Snapshot *snapshot = &targets->snapshots.items[i];
        bool is_newer = is_version(snapshot, model) && snapshot->revision > newest;
        newest = is_newer ? snapshot->revision : newest;
    }
    return newest;
}

/* What the environment shows of this very version; else one that was checked. */
static const Snapshot *find_checked(const Targets *targets, const Model *model) {
    const Snapshot *current = targets->request->plan->current[model->index];
    if (current != NULL && str_equal(current->fingerprint, model->fingerprint)) {
        return current;
    }
    const Snapshot *found = NULL;
    for (size_t i = 0; i < targets->snapshots.count; i++) {
        const Snapshot *snapshot = &targets->snapshots.items[i];
        if (is_version(snapshot, model) && snapshot->verified_at != 0) {
            found = snapshot_preferred(&targets->shown, found, snapshot);
        }
    }
    return found;
}

static bool shows_relation(const Targets *targets, const Pointer *pointer, const Model *model,
                           const Snapshot *snapshot) {
    if (!str_equal_fold(pointer->model, model->name)) {
        return false;
    }
    for (size_t i = 0; i < targets->snapshots.count; i++) {
        const Snapshot *shown = &targets->snapshots.items[i];
        if (str_equal_fold(shown->name, pointer->model) && str_equal(shown->fingerprint, pointer->fingerprint) &&
            shown->revision == pointer->revision) {
            return str_equal(shown->physical_schema, snapshot->physical_schema) &&
                   str_equal(shown->physical_name, snapshot->physical_name);
        }
    }
    return false;
}

/* Who owns a relation: prod where it shows it, else the environment that showed it first (spec 04 §2). An empty name:
 * nobody shows it. */
static Str owner_of(const Targets *targets, const Model *model, const Snapshot *snapshot) {
    Reader owner = {0};
    for (size_t i = 0; i < targets->environments.count; i++) {
        for (size_t p = 0; p < targets->pointers[i].count; p++) {
            const Pointer *pointer = &targets->pointers[i].items[p];
            if (!shows_relation(targets, pointer, model, snapshot)) {
                continue;
            }
            bool is_prod = str_equal(targets->environments.items[i], STR("prod"));
            if (owner.environment.size == 0 || is_prod ||
                (pointer->promoted_at < owner.promoted_at && !str_equal(owner.environment, STR("prod")))) {
                owner = (Reader){targets->environments.items[i], pointer->promoted_at};
            }
        }
    }
    return owner.environment;
}

/* ---- One target. */

static SqlRelation relation_of_revision(const Targets *targets, const Model *model, int64_t revision) {
    Str name = physical_name(targets->arena, model, model->fingerprint);
    if (revision > 0) {
        name = str_format(targets->arena, STR_FMT "__r%lld", STR_ARG(name), (long long)revision);
    }
    return (SqlRelation){.schema = physical_schema(targets->arena, model), .name = name};
}

static bool is_in_warehouse(const Targets *targets, SqlRelation relation) {
    const EngineCatalog *catalog = targets->request->catalog;
    return catalog == NULL || engine_catalog_kind(catalog, relation) != RELATION_ABSENT;
}

/* A relation that another environment owns is never written: the work goes to a copy (spec 02 §12). */
static void go_to_copy(const Targets *targets, const Model *model, Str owner, BuildTarget *target) {
    SqlRelation owned = target->relation;
    target->revision = newest_revision(targets, model) + 1;
    target->relation = relation_of_revision(targets, model, target->revision);
    target->is_served = false;
    target->owner = owner;
    if (strategy_is_accumulating(model->strategy)) {
        target->seed = owned;
    } else {
        target->is_there = false;
    }
}

static void place(const Targets *targets, const Model *model, BuildTarget *target) {
    const Snapshot *checked = find_checked(targets, model);
    if (checked == NULL) {
        target->relation = relation_of_revision(targets, model, 0);
        return;
    }
    target->relation = relation_of_snapshot(checked);
    target->revision = checked->revision;
    target->is_there = is_in_warehouse(targets, target->relation);
    target->previous = target->is_there ? target->relation : (SqlRelation){0};
    Str owner = owner_of(targets, model, checked);
    target->is_served = owner.size > 0 && target->is_there;
    if (target->is_served && !str_equal(owner, targets->request->plan->environment)) {
        go_to_copy(targets, model, owner, target);
    }
}

/* The history that the environment shows is copied into a table of its own. A version that was recorded before, by
 * another environment or by a command that died, may be shown or rolled back to: its table is left alone. */
static Status place_forward(const Targets *targets, const Model *model, BuildTarget *target, Error *err) {
    const Snapshot *shown = targets->request->plan->current[model->index];
    target->seed = relation_of_snapshot(shown);
    target->previous = target->seed;
    if (!is_in_warehouse(targets, target->seed)) {
        return forward_only_missing(model, target->seed, err);
    }
    bool is_recorded = find_revision(targets, model, 0) != NULL;
    target->revision = is_recorded ? newest_revision(targets, model) + 1 : 0;
    target->relation = relation_of_revision(targets, model, target->revision);
    target->is_there = true;
    return OK;
}

/* An external table is written in place, and every commit is seen there. */
static Status place_external(const Targets *targets, const Model *model, BuildTarget *target, Error *err) {
    target->relation = delivery_place(model);
    target->is_external = true;
    if (target->is_gated) {
        return OK;
    }
    if (targets->request->connection != NULL) {
        DuckColumnVec columns = {0};
        TRY(engine_relation_columns(targets->request->connection, target->relation, targets->arena, &target->is_there,
                                    &columns, err));
    } else {
        IntervalSet filled = {0};
        LedgerKey key = ledger_key(model, target->relation);
        TRY(state_ledger_load(targets->state, &key, targets->arena, &filled, err));
        target->is_there = filled.count > 0;
    }
    target->is_served = target->is_there;
    target->previous = target->is_there ? target->relation : (SqlRelation){0};
    return OK;
}

/* ---- Its windows. */

static Status plan_windows(const Targets *targets, const PlanTask *task, BuildTarget *target, Error *err) {
    const Model *model = task->model;
    WindowRequest windows = *targets->request->windows;
    windows.is_forward_only = task->history != NULL;
    target->is_windowed = true;
    TRY(grain_parse(model->interval, &target->grain, err));
    bool is_there = target->is_there;
    if (is_there) {
        SqlRelation relation = target->seed.name.size > 0 ? target->seed : target->relation;
        LedgerKey key = ledger_key(model, relation);
        TRY(state_ledger_load(targets->state, &key, targets->arena, &target->filled, err));
    }
    TRY(window_plan(model, &target->filled, is_there, &windows, targets->arena, &target->work, err));
    target->is_skipped = is_there && !target->work.first_build && target->work.due.count == 0;
    if (target->work.first_build &&
        !target->is_external) { /* from nothing, whatever is there: the ledger knows none of it */
        target->is_there = false;
        target->seed = (SqlRelation){0};
    }
    return OK;
}

/* Nothing is due, so nothing is copied either. */
static void keep_shown(const Targets *targets, const Model *model, BuildTarget *target) {
    if (target->is_external) {
        return;
    }
    const Snapshot *checked = find_checked(targets, model);
    target->relation = relation_of_snapshot(checked);
    target->revision = checked->revision;
    target->seed = (SqlRelation){0};
    target->owner = STR_EMPTY;
}

static Status decide(const Targets *targets, const PlanTask *task, BuildTarget *target, Error *err) {
    const Model *model = task->model;
    if (model_is_terminal(model)) {
        target->is_gated = !str_vec_contains(&model->environments, targets->request->plan->environment);
        target->is_recorded = find_checked(targets, model) != NULL;
        target->last_delivery = delivery_find_last(&targets->snapshots, model);
    }
    if (model->materialise == MATERIALISE_TABLE) {
        TRY(place_external(targets, model, target, err));
        if (target->is_gated) {
            return OK;
        }
    } else if (!model_has_relation(model)) {
        return OK;
    } else if (task->action == TASK_REUSE) {
        target->relation = relation_of_snapshot(task->snapshot);
        target->revision = task->snapshot->revision;
        target->is_there = is_in_warehouse(targets, target->relation);
        if (target->is_there || model->strategy != STRATEGY_INCREMENTAL) {
            return OK;
        }
    } else if (task->history != NULL) {
        TRY(place_forward(targets, model, target, err));
    } else {
        place(targets, model, target);
    }
    if (model->strategy == STRATEGY_INCREMENTAL) {
        TRY(plan_windows(targets, task, target, err));
        if (target->is_skipped) {
            keep_shown(targets, model, target);
        }
    }
    return OK;
}

Status targets_decide(Session *session, StateStore *state, const TargetRequest *request, Arena *arena,
                      BuildTarget **targets_out, Error *err) {
    Targets targets = {.session = session, .state = state, .request = request, .arena = arena};
    const PlanTaskVec *tasks = &request->plan->tasks;
    TRY(load_state(&targets, err));
    BuildTarget *items = ARENA_NEW_ARRAY(arena, BuildTarget, tasks->count);
    for (size_t i = 0; i < tasks->count; i++) {
        TRY(decide(&targets, &tasks->items[i], &items[i], err));
    }
    *targets_out = items;
    return OK;
}

RelationMap relation_map_from_targets(const Plan *plan, const BuildTarget *targets, Arena *arena) {
    RelationMap map = relation_map_from_plan(plan, arena);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        map.items[plan->tasks.items[i].model->index] = targets[i].relation;
    }
    return map;
}
