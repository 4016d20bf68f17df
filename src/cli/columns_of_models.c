#include "cli/columns_of_models.h"

#include "base/files.h"
#include "plan/plan_history.h"
#include "plan/snapshot_index.h"
#include "run/source_columns.h"
#include "sql/query_engine.h"
#include "sql/query_lineage_codec.h"
#include "sql/sql_cache.h"

typedef struct Known {
    const Project *project;
    SqlCache *cache;      /* text and the columns of its tables → its lineage */
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
    const DuckColumnVec *columns = source_columns_find(known->sources, table, SOURCE_LIVE);
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

/* ---- Queries */

static ContentHash cache_key(const Model *model, const LineageTable *tables, Arena *arena) {
    StrVec parts = {0};
    str_vec_push(arena, &parts, model->query.text);
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        const StrVec *names = tables[i].columns;
        str_vec_push(arena, &parts, tables[i].name);
        str_vec_push(arena, &parts, names == NULL ? STR("unknown") : str_format(arena, "%zu columns", names->count));
        for (size_t n = 0; names != NULL && n < names->count; n++) {
            str_vec_push(arena, &parts, names->items[n]);
        }
    }
    return content_hash_parts(parts.items, parts.count);
}

static Status trace_anew(const Known *known, const Model *model, const LineageTable *tables, Arena *scratch,
                         StrBuf *bytes, Error *err) {
    Query *query = NULL;
    QueryLineage lineage;
    if (failed(query_reader_read(known->project->queries, model->query.text, scratch, &query, err))) {
        sql_text_locate_error(&model->query, err);
        return error_wrap(err, "reading the query of model '" STR_FMT "'", STR_ARG(model->name));
    }
    column_lineage_trace(query, model, tables, scratch, &lineage);
    query_lineage_encode(&lineage, bytes);
    return OK;
}

static Status trace(void *context, const Model *model, const LineageTable *tables, Arena *arena,
                    QueryLineage *lineage_out, Error *err) {
    const Known *known = context;
    AUTO(arena) Arena *scratch = arena_create();
    ContentHash key = cache_key(model, tables, scratch);
    Str cached = sql_cache_find(known->cache, key);
    if (cached.size > 0 && query_lineage_decode(str_copy(arena, cached), arena, lineage_out)) {
        return OK;
    }
    AUTO(strbuf) StrBuf bytes = {0};
    TRY(trace_anew(known, model, tables, scratch, &bytes, err));
    sql_cache_put(known->cache, key, strbuf_str(&bytes));
    bool is_sound = query_lineage_decode(strbuf_copy(&bytes, arena), arena, lineage_out);
    assert(is_sound);
    (void)is_sound;
    return OK;
}

Status columns_of_models(Cli *cli, Session *session, ColumnLineage *lineage_out, Error *err) {
    const Project *project = session->project;
    Str path =
        session->options.no_cache ? STR_EMPTY : path_join(cli->arena, project->config->cache_path, STR("lineage.bin"));
    AUTO(source_columns) SourceColumns *sources = source_columns_open(session, true);
    AUTO(sql_cache) SqlCache *cache = sql_cache_open(path, STR(QUERY_LINEAGE_VERSION ", " QUERY_READER_VERSION));
    Known known = {
        .project = project,
        .cache = cache,
        .models = ARENA_NEW_ARRAY(cli->arena, KnownColumns, project->model_count),
        .sources = sources,
        .arena = cli->arena,
    };
    TRY(read_promoted(cli, session, known.models, err));
    const ColumnLineageInput input = {
        .project = project, .trace = trace, .known = known_of, .external = external_of, .context = &known};
    return column_lineage_build(&input, cli->arena, lineage_out, err);
}
