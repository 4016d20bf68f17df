/* The comparison: project × what was promoted × what was built. */
#include "plan/plan.h"

#include "plan/delivery.h"
#include "plan/plan_history.h"
#include "plan/snapshot_index.h"
#include "project/physical_objects.h"

#include <stdlib.h>

typedef struct Comparison {
    Plan *plan;
    const PlanState *state;
    const PlanOptions *options;
    SnapshotIndex snapshots;
    const Pointer **promoted; /* a model's pointer; NULL: not in the environment */
    Selection selection;
    const ChangeProof *proofs; /* one a model */
} Comparison;

/* ---- What the state says of each model. */

static const Snapshot *find_snapshot(const Comparison *comparison, const Pointer *pointer) {
    return snapshot_index_find(&comparison->snapshots, pointer->model, pointer->fingerprint, pointer->revision);
}

/* What another environment delivered is not taken over for a delivery of its own. */
static bool delivers_itself(const Plan *plan, const Model *model) {
    return model_is_terminal(model) && model_delivers_in(model, plan->environment);
}

static void find_promoted(Comparison *comparison) {
    Plan *plan = comparison->plan;
    size_t count = plan->project->model_count;
    comparison->promoted = ARENA_NEW_ARRAY(plan->arena, const Pointer *, count);
    plan->current = ARENA_NEW_ARRAY(plan->arena, const Snapshot *, count);
    bool *is_modified = ARENA_NEW_ARRAY(plan->arena, bool, count);

    const PointerVec *pointers = &comparison->state->pointers;
    for (size_t i = 0; i < pointers->count; i++) {
        const Pointer *pointer = &pointers->items[i];
        const Model *model = project_find(plan->project, pointer->model);
        if (model != NULL && !(comparison->state->is_adopted && delivers_itself(plan, model))) {
            comparison->promoted[model->index] = pointer;
            plan->current[model->index] = find_snapshot(comparison, pointer);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const Pointer *pointer = comparison->promoted[i];
        is_modified[i] = pointer == NULL || !str_equal(pointer->fingerprint, plan->project->models[i]->fingerprint);
    }
    plan->is_modified = is_modified;
}

static Status select_models(Comparison *comparison, Error *err) {
    Plan *plan = comparison->plan;
    SelectionOptions selection = {
        .select = comparison->options->select,
        .exclude = comparison->options->exclude,
        .is_modified = plan->is_modified,
    };
    TRY(selection_resolve(plan->project, &selection, plan->arena, &comparison->selection, err));
    selection_grow(plan->project, plan->is_modified, &comparison->selection);
    return OK;
}

/* ---- Changes. */

static const Model *first_changed_upstream(const Plan *plan, const Model *model) {
    for (size_t i = 0; i < model->upstreams.count; i++) {
        size_t upstream = model->upstreams.items[i];
        if (plan->is_modified[upstream]) {
            return plan->project->models[upstream];
        }
    }
    return NULL;
}

/* An ephemeral model has no record of its own text: when no upstream changed, its text did. */
static ChangeReason reason_of(const Comparison *comparison, const Model *model) {
    const Snapshot *previous = comparison->plan->current[model->index];
    if (comparison->promoted[model->index] == NULL) {
        return REASON_NEW;
    }
    if (previous != NULL) {
        bool is_same_text = str_equal(previous->local_fingerprint, model->local_fingerprint);
        return is_same_text ? REASON_UPSTREAM : REASON_DEFINITION;
    }
    if (model->materialise != MATERIALISE_EPHEMERAL) {
        return REASON_SNAPSHOT_GONE;
    }
    return first_changed_upstream(comparison->plan, model) != NULL ? REASON_UPSTREAM : REASON_DEFINITION;
}

/* There is a table of interlace's own, whose rows a rebuild would lose and which a copy can carry over (spec 02 §13).
 */
static bool goes_on_from_copy(const Comparison *comparison, const Model *model) {
    const Snapshot *previous = comparison->plan->current[model->index];
    if (!comparison->options->forward_only || previous == NULL) {
        return false;
    }
    bool was_owned = previous->physical_name.size > 0 && previous->physical_catalog.size == 0 && !previous->is_view;
    return was_owned && model->materialise == MATERIALISE_VIRTUAL && strategy_is_accumulating(model->strategy) &&
           str_equal(previous->engine, model->engine);
}

/* The columns of a query by its text alone, without types; none: it does not tell. */
static DuckColumnVec columns_by_text(const Model *model, Arena *arena) {
    DuckColumnVec columns = {0};
    size_t count = model->facts == NULL ? 0 : model->facts->output_names.count;
    for (size_t i = 0; i < count; i++) {
        Str name = model->facts->output_names.items[i];
        if (name.size == 0) {
            return (DuckColumnVec){0};
        }
        duck_column_vec_push(arena, &columns, (DuckColumn){.name = name});
    }
    return columns;
}

/* A change of a delivery holds from the next one on, unless its columns do not fit; what only the engine can tell is
 * refused before the first row. */
static Status classify_delivery(const Comparison *comparison, PlanChange *change, Error *err) {
    const Model *model = change->model;
    Arena *arena = comparison->plan->arena;
    change->category = CATEGORY_FORWARD_ONLY;
    DuckColumnVec columns = columns_by_text(model, arena);
    const Snapshot *last = delivery_find_last(&comparison->state->snapshots, model);
    bool is_gated = !model_delivers_in(model, comparison->plan->environment);
    if (is_gated || last == NULL || columns.count == 0) {
        return OK;
    }
    return delivery_classify(model, &columns, last, arena, &change->category, &change->blocking, err);
}

static ChangeCategory category_of_proof(const Comparison *comparison, const Model *model) {
    const ChangeProof *proof = &comparison->proofs[model->index];
    if (proof->impact == IMPACT_CLEAN) {
        return CATEGORY_NON_BREAKING;
    }
    if (goes_on_from_copy(comparison, model)) {
        return CATEGORY_FORWARD_ONLY;
    }
    return proof->is_breaking ? CATEGORY_BREAKING : CATEGORY_NON_BREAKING;
}

static Status classify(const Comparison *comparison, PlanChange *change, Error *err) {
    if (change->type == CHANGE_ADDED) {
        return OK;
    }
    if (model_is_terminal(change->model)) {
        return classify_delivery(comparison, change, err);
    }
    change->category = category_of_proof(comparison, change->model);
    return OK;
}

static PlanChange compare_model(const Comparison *comparison, const Model *model) {
    const Pointer *pointer = comparison->promoted[model->index];
    const Snapshot *previous = comparison->plan->current[model->index];
    const ChangeProof *proof = &comparison->proofs[model->index];
    ChangeReason reason = reason_of(comparison, model);
    const Model *upstream = reason == REASON_UPSTREAM ? first_changed_upstream(comparison->plan, model) : NULL;
    return (PlanChange){
        .model = model,
        .name = model->name,
        .type = pointer == NULL ? CHANGE_ADDED : CHANGE_MODIFIED,
        .reason = reason,
        .reason_upstream = upstream == NULL ? STR_EMPTY : upstream->name,
        .impacted_columns = proof->impacted,
        .proof = proof,
        .previous_fingerprint = pointer == NULL ? STR_EMPTY : pointer->fingerprint,
        .new_fingerprint = model->fingerprint,
        .previous_sql = previous == NULL ? STR_EMPTY : previous->definition_sql,
        .new_sql = model->kind == MODEL_SQL ? model->query.text : STR_EMPTY,
    };
}

/* Never a reuse: another table of this version has another history. */
static Status go_on_from_copy(const Comparison *comparison, PlanTask *task, Error *err) {
    const Snapshot *previous = comparison->plan->current[task->model->index];
    TRY(plan_history(previous, task->model, comparison->plan->arena, &task->history, err));
    return history_check_definition(task->history, task->model, err);
}

/* The rows are those that the environment shows; only the version moves. */
static bool keeps_rows(const Comparison *comparison, const Model *model) {
    return model_has_relation(model) && comparison->plan->current[model->index] != NULL &&
           comparison->proofs[model->index].impact == IMPACT_CLEAN;
}

static void keep_rows(const Comparison *comparison, PlanTask *task) {
    bool is_view = task->model->materialise == MATERIALISE_VIEW;
    task->snapshot = is_view ? NULL : comparison->plan->current[task->model->index];
    if (!comparison->options->rebuild_all) {
        task->action = is_view ? TASK_RECREATE : TASK_REUSE;
    }
}

static PlanTask task_of(const Comparison *comparison, const Model *model, ChangeCategory category) {
    PlanTask task = {.model = model, .action = TASK_BUILD, .category = category};
    if (model->materialise == MATERIALISE_EPHEMERAL) {
        task.action = TASK_RECORD;
    } else if (category == CATEGORY_FORWARD_ONLY && !model_is_terminal(model)) {
        return task; /* its history is read by go_on_from_copy */
    } else if (keeps_rows(comparison, model)) {
        keep_rows(comparison, &task);
    } else if (model_has_relation(model) && !comparison->options->rebuild_all) {
        task.snapshot = snapshot_index_find_checked(&comparison->snapshots, &comparison->state->shown, model->name,
                                                    model->fingerprint);
        task.action = task.snapshot == NULL ? TASK_BUILD : TASK_REUSE;
    }
    return task;
}

/* ---- Indexes and constraints: a new table has none, another one those that are recorded. */

static void add_lines(Plan *plan, const char *sign, const PhysicalObjectVec *objects) {
    for (size_t i = 0; i < objects->count; i++) {
        str_vec_push(plan->arena, &plan->physical,
                     str_format(plan->arena, "%s %s " STR_FMT, sign, physical_kind_word(objects->items[i].kind),
                                STR_ARG(objects->items[i].name)));
    }
}

static void add_physical(Plan *plan, const Model *model, const Snapshot *table, bool needs_action) {
    bool is_gated = model->materialise == MATERIALISE_TABLE && !model_delivers_in(model, plan->environment);
    Str record = table == NULL ? STR_EMPTY : table->physical_objects;
    if (is_gated || (model->physical_json.size == 0 && record.size == 0)) {
        return;
    }
    PhysicalObjectVec wanted, recorded;
    StrVec warnings;
    physical_objects_wanted(plan->project, model, plan->arena, &wanted, &warnings);
    physical_objects_from_json(record, plan->arena, &recorded);
    PhysicalObjectVec gone = physical_objects_without(&recorded, &wanted, plan->arena);
    PhysicalObjectVec come = physical_objects_without(&wanted, &recorded, plan->arena);
    bool is_told = table != NULL && str_equal(table->physical_hash, model->physical_hash);
    size_t warning_count = is_told ? 0 : warnings.count;
    add_lines(plan, "-", &gone);
    add_lines(plan, "+", &come);
    for (size_t i = 0; i < warning_count; i++) {
        str_vec_push(plan->arena, &plan->warnings, warnings.items[i]);
    }
    if (needs_action && gone.count + come.count + warning_count > 0) {
        str_vec_push(plan->arena, &plan->physical_models, model->name);
    }
}

/* The record of the table that the task goes on from; NULL: it makes a new one. */
static const Snapshot *table_of_task(const Plan *plan, const PlanTask *task) {
    return task->model->materialise == MATERIALISE_TABLE ? plan->current[task->model->index] : task->snapshot;
}

static Status add_changed_model(Comparison *comparison, const Model *model, Error *err) {
    Plan *plan = comparison->plan;
    PlanChange change = compare_model(comparison, model);
    TRY(classify(comparison, &change, err));
    PlanTask task = task_of(comparison, model, change.category);
    if (change.category == CATEGORY_FORWARD_ONLY && !model_is_terminal(model)) {
        TRY(go_on_from_copy(comparison, &task, err));
    }
    change.reused = task.action == TASK_REUSE || task.action == TASK_RECREATE;
    plan->is_breaking = plan->is_breaking || change.category == CATEGORY_BREAKING;
    plan_change_vec_push(plan->arena, &plan->changes, change);
    plan_task_vec_push(plan->arena, &plan->tasks, task);
    add_physical(plan, model, table_of_task(plan, &task), false);
    return OK;
}

static void add_unchanged_model(Comparison *comparison, const Model *model) {
    Plan *plan = comparison->plan;
    const Snapshot *current = plan->current[model->index];
    if (current != NULL && !str_equal(current->metadata_hash, model->metadata_hash)) {
        str_vec_push(plan->arena, &plan->metadata, model->name);
    }
    if (current != NULL) {
        add_physical(plan, model, current, !comparison->options->rebuild_all);
    }
    if (comparison->options->rebuild_all) {
        plan_task_vec_push(plan->arena, &plan->tasks, task_of(comparison, model, CATEGORY_NONE));
    }
}

static int compare_names(const void *a, const void *b) {
    return str_compare(((const PlanChange *)a)->name, ((const PlanChange *)b)->name);
}

static void add_removed_models(Comparison *comparison) {
    Plan *plan = comparison->plan;
    size_t first = plan->changes.count;
    const PointerVec *pointers = &comparison->state->pointers;
    for (size_t i = 0; i < pointers->count; i++) {
        const Pointer *pointer = &pointers->items[i];
        if (project_find(plan->project, pointer->model) != NULL) {
            continue;
        }
        const Snapshot *previous = find_snapshot(comparison, pointer);
        plan_change_vec_push(plan->arena, &plan->changes,
                             (PlanChange){
                                 .name = pointer->model,
                                 .type = CHANGE_REMOVED,
                                 .reason = REASON_REMOVED,
                                 .previous_fingerprint = pointer->fingerprint,
                                 .previous_sql = previous == NULL ? STR_EMPTY : previous->definition_sql,
                             });
    }
    if (plan->changes.count > first) {
        qsort(plan->changes.items + first, plan->changes.count - first, sizeof *plan->changes.items, compare_names);
    }
}

/* All that no task puts: with a selection what the project does not have any more, too. */
static void adopt_pointers(Comparison *comparison) {
    Plan *plan = comparison->plan;
    bool *has_task = ARENA_NEW_ARRAY(plan->arena, bool, plan->project->model_count);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        has_task[plan->tasks.items[i].model->index] = true;
    }
    const PointerVec *pointers = &comparison->state->pointers;
    for (size_t i = 0; i < pointers->count; i++) {
        const Pointer *pointer = &pointers->items[i];
        const Model *model = project_find(plan->project, pointer->model);
        bool is_left = model == NULL ? comparison->selection.is_all : has_task[model->index];
        if (!is_left && (model == NULL || !delivers_itself(plan, model))) {
            KnownPointer adopted = {.pointer = pointer, .snapshot = find_snapshot(comparison, pointer)};
            known_pointer_vec_push(plan->arena, &plan->adopted, adopted);
        }
    }
}

static Status add_changes(Comparison *comparison, Error *err) {
    Plan *plan = comparison->plan;
    for (size_t i = 0; i < plan->project->model_count; i++) {
        if (!comparison->selection.contains[i]) {
            continue;
        }
        if (plan->is_modified[i]) {
            TRY(add_changed_model(comparison, plan->project->models[i], err));
        } else {
            add_unchanged_model(comparison, plan->project->models[i]);
        }
    }
    if (comparison->selection.is_all) {
        add_removed_models(comparison);
    }
    if (comparison->state->is_adopted) {
        adopt_pointers(comparison);
    }
    plan->is_empty = plan->changes.count == 0 && plan->metadata.count == 0 && plan->physical.count == 0 &&
                     plan->physical_models.count == 0;
    return OK;
}

static Status prove_changes(Comparison *comparison, Error *err) {
    Plan *plan = comparison->plan;
    bool *keeps_history = ARENA_NEW_ARRAY(plan->arena, bool, plan->project->model_count);
    for (size_t i = 0; i < plan->project->model_count; i++) {
        keeps_history[i] = goes_on_from_copy(comparison, plan->project->models[i]);
    }
    ProofRequest request = {
        .project = plan->project,
        .is_modified = plan->is_modified,
        .promoted = comparison->promoted,
        .current = plan->current,
        .keeps_history = keeps_history,
    };
    return change_proofs(&request, plan->arena, &comparison->proofs, err);
}

static Plan *plan_create(const Project *project, Str environment) {
    Arena *arena = arena_create();
    Plan *plan = ARENA_NEW(arena, Plan);
    plan->arena = arena;
    plan->project = project;
    plan->environment = str_copy(arena, environment);
    for (size_t i = 0; i < project->notes.count; i++) {
        str_vec_push(arena, &plan->warnings, project->notes.items[i]);
    }
    return plan;
}

Status plan_build(const Project *project, const PlanState *state, const PlanOptions *options, Plan **plan_out,
                  Error *err) {
    AUTO(plan) Plan *plan = plan_create(project, options->environment);
    bool is_of_another = state->compared_with.size > 0;
    plan->compared_with = is_of_another ? str_copy(plan->arena, state->compared_with) : plan->environment;
    Comparison comparison = {
        .plan = plan,
        .state = state,
        .options = options,
        .snapshots = snapshot_index_create(&state->snapshots, plan->arena),
    };
    find_promoted(&comparison);
    TRY(select_models(&comparison, err));
    TRY(prove_changes(&comparison, err));
    TRY(add_changes(&comparison, err));
    *plan_out = TAKE(plan);
    return OK;
}

void plan_destroy(Plan *plan) {
    if (plan != NULL) {
        arena_destroy(plan->arena); /* the plan itself lives in it */
    }
}

static Status refuse_blocking(const Plan *plan, Error *err) {
    for (size_t i = 0; i < plan->changes.count; i++) {
        const PlanChange *change = &plan->changes.items[i];
        if (change->blocking.size > 0) {
            return delivery_refuse(change->model, change->blocking, err);
        }
    }
    return OK;
}

Status plan_check_gate(const Plan *plan, bool force, Error *err) {
    TRY(refuse_blocking(plan, err));
    if (!plan->is_breaking || force) {
        return OK;
    }
    AUTO(arena) Arena *scratch = arena_create();
    StrVec names = {0};
    for (size_t i = 0; i < plan->changes.count; i++) {
        if (plan->changes.items[i].category == CATEGORY_BREAKING) {
            str_vec_push(scratch, &names, plan->changes.items[i].name);
        }
    }
    Str list = str_join(scratch, names.items, names.count, STR(", "));
    error_set(err, ERROR_BREAKING_PLAN, "plan has breaking changes (" STR_FMT "); re-run with --force to proceed",
              STR_ARG(list));
    error_code(err, STR("plan.breaking"));
    return FAILED;
}

Str plan_environment_text(const Plan *plan, Arena *arena) {
    if (str_equal(plan->compared_with, plan->environment)) {
        return plan->environment;
    }
    return str_format(arena, STR_FMT " against " STR_FMT, STR_ARG(plan->environment), STR_ARG(plan->compared_with));
}

static const char *const type_names[] = {
    [CHANGE_ADDED] = "added", [CHANGE_MODIFIED] = "modified", [CHANGE_REMOVED] = "removed"};
static_assert(COUNT_OF(type_names) == CHANGE_REMOVED + 1, "one name per ChangeType");

static const char *const category_names[] = {
    [CATEGORY_NONE] = NULL,
    [CATEGORY_BREAKING] = "breaking",
    [CATEGORY_NON_BREAKING] = "non_breaking",
    [CATEGORY_FORWARD_ONLY] = "forward_only",
};
static_assert(COUNT_OF(category_names) == CATEGORY_FORWARD_ONLY + 1, "one name per ChangeCategory");

const char *change_type_name(ChangeType type) {
    return type_names[type];
}

const char *change_category_name(ChangeCategory category) {
    return category_names[category];
}

const char *change_build_name(const PlanChange *change) {
    if (change->model == NULL || change->model->materialise == MATERIALISE_EPHEMERAL) {
        return "—";
    }
    if (model_is_terminal(change->model)) {
        return "deliver";
    }
    if (change->category == CATEGORY_FORWARD_ONLY) {
        return "copy + run";
    }
    return change->reused ? "reuse" : "rebuild";
}
