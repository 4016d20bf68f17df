#include "cli/columns_of_models.h"

#include "plan/plan_history.h"
#include "plan/snapshot_index.h"

/* By a model's index; no names: nothing of it is promoted. */
typedef struct Promoted {
    KnownColumns *models;
} Promoted;

static KnownColumns known_of(void *context, const Model *model) {
    const Promoted *promoted = context;
    return promoted->models[model->index];
}

static Status read_known(const Snapshot *snapshot, Arena *arena, KnownColumns *known, Error *err) {
    DuckColumnVec columns = {0};
    StrVec *names = ARENA_NEW(arena, StrVec);
    TRY(plan_recorded_columns(snapshot, arena, &columns, NULL, err));
    for (size_t i = 0; i < columns.count; i++) {
        str_vec_push(arena, names, columns.items[i].name);
    }
    known->names = names;
    return OK;
}

static Status read_promoted(Cli *cli, Session *session, Promoted *promoted, Error *err) {
    StateStore *store = NULL;
    SnapshotVec snapshots = {0};
    PointerVec pointers = {0};
    Str environment = invocation_text(cli->invocation, OPTION_ENV);
    TRY(session_state_for_reading(session, &store, err));
    TRY(state_load_snapshots(store, cli->arena, &snapshots, err));
    TRY(state_load_pointers(store, environment, cli->arena, &pointers, err));
    SnapshotIndex index = snapshot_index_create(&snapshots, cli->arena);
    for (size_t i = 0; i < pointers.count; i++) {
        const Pointer *pointer = &pointers.items[i];
        const Model *model = project_find(session->project, pointer->model);
        const Snapshot *snapshot = snapshot_index_find(&index, pointer->model, pointer->fingerprint, pointer->revision);
        if (model != NULL && snapshot != NULL && snapshot->columns_json.size > 0) {
            KnownColumns *known = &promoted->models[model->index];
            known->is_current = str_equal(pointer->fingerprint, model->fingerprint);
            TRY(read_known(snapshot, cli->arena, known, err));
        }
    }
    return OK;
}

static Status read_query(const Project *project, const Model *model, Arena *arena, const Query **query_out,
                         Error *err) {
    Query *query = NULL;
    if (failed(query_reader_read(project->queries, model->query.text, arena, &query, err))) {
        sql_text_locate_error(&model->query, err);
        return error_wrap(err, "reading the query of model '" STR_FMT "'", STR_ARG(model->name));
    }
    *query_out = query;
    return OK;
}

Status columns_of_models(Cli *cli, Session *session, ColumnLineage *lineage_out, Error *err) {
    const Project *project = session->project;
    const Query **queries = ARENA_NEW_ARRAY(cli->arena, const Query *, project->model_count);
    Promoted promoted = {.models = ARENA_NEW_ARRAY(cli->arena, KnownColumns, project->model_count)};
    TRY(read_promoted(cli, session, &promoted, err));
    for (size_t i = 0; i < project->model_count; i++) {
        if (project->models[i]->kind == MODEL_SQL) {
            TRY(read_query(project, project->models[i], cli->arena, &queries[i], err));
        }
    }
    const ColumnLineageInput input = {.project = project, .queries = queries, .known = known_of, .context = &promoted};
    column_lineage_build(&input, cli->arena, lineage_out);
    return OK;
}
