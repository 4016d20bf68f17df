#include "cli/columns_of_models.h"

#include "plan/plan_history.h"
#include "plan/snapshot_index.h"
#include "run/source_columns.h"

typedef struct Known {
    KnownColumns *models; /* by a model's index; no names: nothing of it is promoted */
    SourceColumns *sources;
    Arena *arena;
} Known;

static StrVec *column_names(const DuckColumnVec *columns, Arena *arena) {
    StrVec *names = ARENA_NEW(arena, StrVec);
    for (size_t i = 0; i < columns->count; i++) {
        str_vec_push(arena, names, str_copy(arena, columns->items[i].name));
    }
    return names;
}

static KnownColumns known_of(void *context, const Model *model) {
    const Known *known = context;
    return known->models[model->index];
}

static const StrVec *external_of(void *context, SqlRelation table) {
    const Known *known = context;
    const DuckColumnVec *columns = source_columns_find(known->sources, table, SOURCE_REMEMBERED);
    return columns == NULL ? NULL : column_names(columns, known->arena);
}

static Status read_known(const Snapshot *snapshot, Arena *arena, KnownColumns *known, Error *err) {
    DuckColumnVec columns = {0};
    TRY(plan_recorded_columns(snapshot, arena, &columns, NULL, err));
    known->names = column_names(&columns, arena);
    return OK;
}

static Status read_promoted(Cli *cli, Session *session, KnownColumns *models, Error *err) {
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
            KnownColumns *known = &models[model->index];
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
    AUTO(source_columns) SourceColumns *sources = source_columns_open(session, true);
    Known known = {
        .models = ARENA_NEW_ARRAY(cli->arena, KnownColumns, project->model_count),
        .sources = sources,
        .arena = cli->arena,
    };
    TRY(read_promoted(cli, session, known.models, err));
    for (size_t i = 0; i < project->model_count; i++) {
        if (project->models[i]->kind == MODEL_SQL) {
            TRY(read_query(project, project->models[i], cli->arena, &queries[i], err));
        }
    }
    const ColumnLineageInput input = {
        .project = project, .queries = queries, .known = known_of, .external = external_of, .context = &known};
    column_lineage_build(&input, cli->arena, lineage_out);
    return OK;
}
