#include "run/targets.h"

#include "plan/delivery.h"
#include "project/graph.h"
#include "project/model_clock.h"
#include "run/forward_only.h"
#include "strategy/strategy.h"

typedef struct Targets {
    StateStore *state;
    const TargetRequest *request;
    Arena *arena;
    SnapshotVec snapshots;
    SnapshotIndex index;
    PointerVec shown;       /* of all environments, a model's together */
    StrMap *shown_by_model; /* → the first of its pointers */
    RelationMap relations;  /* those of the targets so far, and of the models without a task */

    /* Loaded for the first view (load_views). */
    bool has_views;
    StrMap *views;        /* "schema.name" → OwnedRelation */
    PointerVec reclaimed; /* by gc; generations may still name them */
} Targets;

LedgerKey ledger_key(const Model *model, SqlRelation relation) {
    return (LedgerKey){
        .engine = model->engine, .catalog = relation.catalog, .schema = relation.schema, .name = relation.name};
}

static Status load_state(Targets *targets, Error *err) {
    TRY(state_load_snapshots(targets->state, targets->arena, &targets->snapshots, err));
    TRY(state_load_all_pointers(targets->state, targets->arena, &targets->shown, err));
    targets->index = snapshot_index_create(&targets->snapshots, targets->arena);
    targets->shown_by_model = str_map_create(targets->arena, STR_MAP_FOLD);
    for (size_t i = targets->shown.count; i-- > 0;) {
        str_map_put(targets->shown_by_model, targets->shown.items[i].model, &targets->shown.items[i]);
    }
    return OK;
}

/* ---- What is there of a version. */

static int64_t newest_revision(const Targets *targets, const Model *model) {
    int64_t newest = 0;
    for (const SnapshotNode *node = snapshot_index_list(&targets->index, model->name); node != NULL;
         node = node->next) {
        const Snapshot *snapshot = node->snapshot;
        bool is_newer = str_equal(snapshot->fingerprint, model->fingerprint) && snapshot->revision > newest;
        newest = is_newer ? snapshot->revision : newest;
    }
    return newest;
}

/* What the environment shows of this very version; else one that was checked; else, of `task`, an earlier version that
 * holds the same rows. */
static const Snapshot *find_checked(const Targets *targets, const PlanTask *task) {
    const Model *model = task->model;
    const Snapshot *current = targets->request->plan->current[model->index];
    if (current != NULL && str_equal(current->fingerprint, model->fingerprint)) {
        return current;
    }
    const Snapshot *checked =
        snapshot_index_find_checked(&targets->index, &targets->shown, model->name, model->fingerprint);
    return task->snapshot != NULL ? task->snapshot : checked;
}

/* What environments show of a model, one after the other; NULL ends them. */
static const Pointer *first_shown(const Targets *targets, const Model *model) {
    return str_map_find(targets->shown_by_model, model->name);
}

static const Pointer *next_shown(const Targets *targets, const Pointer *pointer) {
    const Pointer *next = pointer + 1;
    bool is_last = next == targets->shown.items + targets->shown.count || !str_equal_fold(next->model, pointer->model);
    return is_last ? NULL : next;
}

Str target_owner(const SnapshotIndex *index, const Pointer *shown, const Pointer *end, SqlRelation relation) {
    for (const Pointer *pointer = shown; pointer < end && str_equal_fold(pointer->model, shown->model); pointer++) {
        const Snapshot *snapshot = snapshot_index_find(index, pointer->model, pointer->fingerprint, pointer->revision);
        if (snapshot != NULL && sql_relation_equal(relation_of_snapshot(snapshot), relation)) {
            return pointer->environment;
        }
    }
    return STR_EMPTY;
}

static Str owner_of(const Targets *targets, const Model *model, const Snapshot *snapshot) {
    const Pointer *first = first_shown(targets, model), *end = targets->shown.items + targets->shown.count;
    return first == NULL ? STR_EMPTY : target_owner(&targets->index, first, end, relation_of_snapshot(snapshot));
}

/* ---- One target. */

static SqlRelation relation_of_revision(const Targets *targets, const Model *model, int64_t revision) {
    Str name = physical_name(targets->arena, model, model->fingerprint);
    if (revision > 0) {
        name = str_format(targets->arena, STR_FMT "__r%lld", STR_ARG(name), (long long)revision);
    }
    return (SqlRelation){.schema = physical_schema(targets->arena, model), .name = name};
}

static bool is_relation_of(const Snapshot *snapshot, SqlRelation relation) {
    return sql_relation_equal(relation_of_snapshot(snapshot), relation);
}

/* May the version be recorded with this number and this relation? Not when the number stands for another relation, and
 * not when another version lives there: a reused version lives at the relation of an earlier one. */
static bool is_free(const Targets *targets, const Model *model, int64_t revision, SqlRelation relation) {
    for (const SnapshotNode *node = snapshot_index_list(&targets->index, model->name); node != NULL;
         node = node->next) {
        const Snapshot *snapshot = node->snapshot;
        bool is_same = str_equal(snapshot->fingerprint, model->fingerprint) && snapshot->revision == revision;
        if (is_same != is_relation_of(snapshot, relation)) {
            return false;
        }
    }
    return true;
}

/* A relation of its own for the version: number `first`, or the next one that is free. */
static void place_anew(const Targets *targets, const Model *model, int64_t first, BuildTarget *target) {
    target->revision = first;
    target->relation = relation_of_revision(targets, model, first);
    while (!is_free(targets, model, target->revision, target->relation)) {
        target->revision++;
        target->relation = relation_of_revision(targets, model, target->revision);
    }
}

/* The number under which the version is recorded at the relation of another one. */
static int64_t revision_at(const Targets *targets, const Model *model, const Snapshot *snapshot) {
    SqlRelation relation = relation_of_snapshot(snapshot);
    bool is_recorded = false;
    for (const SnapshotNode *node = snapshot_index_list(&targets->index, model->name); node != NULL;
         node = node->next) {
        bool is_same = str_equal(node->snapshot->fingerprint, model->fingerprint);
        if (is_same && is_relation_of(node->snapshot, relation)) {
            return node->snapshot->revision;
        }
        is_recorded = is_recorded || is_same;
    }
    return is_recorded ? newest_revision(targets, model) + 1 : 0;
}

static bool is_in_warehouse(const Targets *targets, SqlRelation relation) {
    const EngineCatalog *catalog = targets->request->catalog;
    return catalog == NULL || engine_catalog_kind(catalog, relation) != RELATION_ABSENT;
}

/* A relation that another environment owns is never written: the work goes to a copy (spec 02 §12). */
static void go_to_copy(const Targets *targets, const Model *model, Str owner, BuildTarget *target) {
    SqlRelation owned = target->relation;
    place_anew(targets, model, newest_revision(targets, model) + 1, target);
    target->is_served = false;
    target->owner = owner;
    if (strategy_is_accumulating(model->strategy)) {
        target->seed = owned;
    } else {
        target->is_there = false;
    }
}

static void place(const Targets *targets, const PlanTask *task, BuildTarget *target) {
    const Model *model = task->model;
    const Snapshot *checked = find_checked(targets, task);
    if (checked == NULL) {
        place_anew(targets, model, 0, target);
        return;
    }
    target->relation = relation_of_snapshot(checked);
    target->revision = revision_at(targets, model, checked);
    target->is_there = is_in_warehouse(targets, target->relation);
    target->previous = target->is_there ? target->relation : (SqlRelation){0};
    Str owner = owner_of(targets, model, checked);
    target->is_served = owner.size > 0 && target->is_there;
    if (target->is_served && !str_equal(owner, targets->request->plan->environment)) {
        go_to_copy(targets, model, owner, target);
    }
}

/* ---- The target of a view model. A recorded view stays what it is: over other relations it is another revision. So
 * nothing moves before the promotion, and a generation, whenever it is shown again, has views that fit its tables. */

static Status load_views(Targets *targets, Error *err) {
    OwnedRelationVec owned = {0};
    targets->has_views = true;
    targets->views = str_map_create(targets->arena, STR_MAP_FOLD);
    TRY(state_load_reclaimed(targets->state, targets->arena, &targets->reclaimed, err));
    TRY(engine_owned_relations(targets->request->connection, targets->arena, &owned, err));
    for (size_t i = 0; i < owned.count; i++) {
        if (owned.items[i].kind == RELATION_VIEW) {
            str_map_put(targets->views, sql_dotted_name(owned.items[i].relation, targets->arena), &owned.items[i]);
        }
    }
    return OK;
}

static bool reads_relations_of(const Targets *targets, const OwnedRelation *view, const Model *query) {
    const Project *project = targets->request->plan->project;
    for (size_t i = 0; i < query->upstreams.count; i++) {
        const Model *upstream = project->models[query->upstreams.items[i]];
        if (upstream->materialise != MATERIALISE_EPHEMERAL &&
            !view_text_reads(view->sql, targets->relations.items[upstream->index].name)) {
            return false;
        }
    }
    return true;
}

/* Is the snapshot's view there, and over the relations of this command? */
static bool fits(const Targets *targets, const Model *model, const Snapshot *snapshot) {
    const Project *project = targets->request->plan->project;
    const OwnedRelation *view =
        str_map_find(targets->views, sql_dotted_name(relation_of_snapshot(snapshot), targets->arena));
    bool is_fit = view != NULL && reads_relations_of(targets, view, model);
    IndexVec inlined = graph_inlined(project, model, targets->arena);
    for (size_t i = 0; i < inlined.count && is_fit; i++) {
        is_fit = reads_relations_of(targets, view, project->models[inlined.items[i]]);
    }
    return is_fit;
}

/* The one that the environment shows, else any. */
static const Snapshot *find_fitting(const Targets *targets, const Model *model) {
    const Snapshot *current = targets->request->plan->current[model->index];
    const Snapshot *found = NULL;
    for (const SnapshotNode *node = snapshot_index_list(&targets->index, model->name); node != NULL;
         node = node->next) {
        const Snapshot *snapshot = node->snapshot;
        bool is_checked = str_equal(snapshot->fingerprint, model->fingerprint) && snapshot->verified_at != 0;
        if (is_checked && (found == NULL || snapshot == current) && fits(targets, model, snapshot)) {
            found = snapshot;
        }
    }
    return found;
}

/* Behind those that were checked, and behind those that generations name although gc took them. */
static int64_t first_new_revision(const Targets *targets, const Model *model) {
    int64_t first = 0;
    for (const SnapshotNode *node = snapshot_index_list(&targets->index, model->name); node != NULL;
         node = node->next) {
        bool is_checked =
            str_equal(node->snapshot->fingerprint, model->fingerprint) && node->snapshot->verified_at != 0;
        first = is_checked && node->snapshot->revision >= first ? node->snapshot->revision + 1 : first;
    }
    for (size_t i = 0; i < targets->reclaimed.count; i++) {
        const Pointer *pointer = &targets->reclaimed.items[i];
        bool is_same =
            str_equal_fold(pointer->model, model->name) && str_equal(pointer->fingerprint, model->fingerprint);
        first = is_same && pointer->revision >= first ? pointer->revision + 1 : first;
    }
    return first;
}

static Status place_view(Targets *targets, const Model *model, BuildTarget *target, Error *err) {
    if (!targets->has_views) {
        TRY(load_views(targets, err));
    }
    const Snapshot *fitting = find_fitting(targets, model);
    if (fitting == NULL) {
        place_anew(targets, model, first_new_revision(targets, model), target);
        return OK;
    }
    target->relation = relation_of_snapshot(fitting);
    target->revision = fitting->revision;
    target->is_there = true;
    target->is_served = owner_of(targets, model, fitting).size > 0;
    return OK;
}

/* A version that was recorded before, by another environment or by a command that died, may be shown or rolled back to:
 * its table is left alone. */
static void place_beside(const Targets *targets, const Model *model, BuildTarget *target) {
    bool is_recorded = snapshot_index_find(&targets->index, model->name, model->fingerprint, 0) != NULL;
    place_anew(targets, model, is_recorded ? newest_revision(targets, model) + 1 : 0, target);
}

/* The history that the environment shows is copied into a table of its own. */
static Status place_forward(const Targets *targets, const Model *model, BuildTarget *target, Error *err) {
    const Snapshot *shown = targets->request->plan->current[model->index];
    target->seed = relation_of_snapshot(shown);
    target->previous = target->seed;
    if (!is_in_warehouse(targets, target->seed)) {
        return forward_only_missing(model, target->seed, err);
    }
    place_beside(targets, model, target);
    target->is_there = true;
    return OK;
}

static void set_shown(const Targets *targets, const Model *model, BuildTarget *target) {
    for (const Pointer *pointer = first_shown(targets, model); pointer != NULL;
         pointer = next_shown(targets, pointer)) {
        target->is_shown |= str_equal(pointer->fingerprint, model->fingerprint);
        target->last_shown = pointer->promoted_at > target->last_shown ? pointer->promoted_at : target->last_shown;
    }
}

/* An external table is written in place, and every commit is seen there. */
static Status place_external(const Targets *targets, const Model *model, BuildTarget *target, Error *err) {
    target->relation = delivery_place(model);
    target->is_external = true;
    set_shown(targets, model, target);
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

/* The command's, else the model's. A window that binds the clock has its own end, so that a day gives the same rows in
 * whatever batch it is asked for. */
static int64_t batch_grains(const Targets *targets, const Model *model, const BuildTarget *target) {
    int64_t grains = target->binds_clock ? 1 : targets->request->batch;
    if (grains > 0) {
        return grains;
    }
    return str_to_int64(model->batch, &grains) && grains > 0 ? grains : BATCH_AUTO;
}

static bool has_parameter_of_itself(const PythonDefinition *python) {
    for (size_t i = 0; i < python->parameters.count; i++) {
        ParameterKind kind = python->parameters.items[i].kind;
        if (kind == PARAMETER_THIS || kind == PARAMETER_CURSOR) {
            return true;
        }
    }
    return false;
}

bool target_reads_itself(const Model *model, const BuildTarget *target) {
    if (model->kind == MODEL_PYTHON) {
        return has_parameter_of_itself(model->python);
    }
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        if (str_equal_fold(model->facts->tables.items[i].name, target->relation.name)) {
            return true;
        }
    }
    return false;
}

/* A window that reads what the one before it has written waits for it. */
static int64_t batches_at_once(const Targets *targets, const Model *model, const BuildTarget *target) {
    int64_t asked = targets->request->concurrency, own = model->concurrency;
    if (target_reads_itself(model, target)) {
        return 1;
    }
    int64_t most = own == 0 || (asked > 0 && asked < own) ? asked : own;
    return most > 1 ? most : 1;
}

static Status plan_windows(const Targets *targets, const PlanTask *task, BuildTarget *target, Error *err) {
    const Model *model = task->model;
    WindowRequest windows = *targets->request->windows;
    windows.is_forward_only = task->history != NULL;
    target->is_windowed = true;
    target->binds_clock = model_binds_clock(targets->request->plan->project, model, targets->arena);
    target->batch = batch_grains(targets, model, target);
    target->concurrency = batches_at_once(targets, model, target);
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
static void keep_shown(const Targets *targets, const PlanTask *task, BuildTarget *target) {
    if (target->is_external) {
        return;
    }
    const Snapshot *checked = find_checked(targets, task);
    target->relation = relation_of_snapshot(checked);
    target->revision = revision_at(targets, task->model, checked);
    target->seed = (SqlRelation){0};
    target->owner = STR_EMPTY;
}

static Status decide(Targets *targets, const PlanTask *task, BuildTarget *target, Error *err) {
    const Model *model = task->model;
    if (model_is_terminal(model)) {
        target->is_gated = !model_delivers_in(model, targets->request->plan->environment);
        target->is_recorded = find_checked(targets, task) != NULL;
        target->last_delivery = delivery_find_last(&targets->snapshots, model);
    }
    if (model->materialise == MATERIALISE_TABLE) {
        TRY(place_external(targets, model, target, err));
        if (target->is_gated) {
            return OK;
        }
    } else if (!model_has_relation(model)) {
        return OK;
    } else if (model->materialise == MATERIALISE_VIEW && targets->request->connection != NULL) {
        TRY(place_view(targets, model, target, err));
    } else if (task->action == TASK_REUSE) {
        target->relation = relation_of_snapshot(task->snapshot);
        target->revision = revision_at(targets, model, task->snapshot);
        target->is_there = is_in_warehouse(targets, target->relation);
        if (target->is_there || model->strategy != STRATEGY_INCREMENTAL) {
            return OK;
        }
    } else if (task->history != NULL) {
        TRY(place_forward(targets, model, target, err));
    } else if (targets->request->keeps_shown && targets->request->plan->is_modified[model->index]) {
        place_beside(targets, model, target);
    } else {
        place(targets, task, target);
    }
    if (model->strategy == STRATEGY_INCREMENTAL) {
        TRY(plan_windows(targets, task, target, err));
        if (target->is_skipped && task->history == NULL) {
            keep_shown(targets, task, target);
        }
    }
    return OK;
}

Status targets_decide(StateStore *state, const TargetRequest *request, Arena *arena, BuildTarget **targets_out,
                      Error *err) {
    Targets targets = {.state = state, .request = request, .arena = arena};
    const PlanTaskVec *tasks = &request->plan->tasks;
    TRY(load_state(&targets, err));
    targets.relations = relation_map_from_plan(request->plan, arena);
    BuildTarget *items = ARENA_NEW_ARRAY(arena, BuildTarget, tasks->count);
    for (size_t i = 0; i < tasks->count; i++) {
        TRY(decide(&targets, &tasks->items[i], &items[i], err));
        targets.relations.items[tasks->items[i].model->index] = items[i].relation;
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
