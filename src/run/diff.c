#include "run/diff.h"

#include "project/selector.h"
#include "run/environments.h"
#include "run/input_access.h"
#include "run/query_watchdog.h"
#include "run/relations.h"

#define NO_TIME_LIMIT_US (INT64_MAX / 2)

typedef struct Diff {
    Session *session;
    const DiffRequest *request;
    Arena *arena;
    EngineConnection *connection;
    StrMap *left, *right; /* what the environments show: model → ShownModel *; `right` is NULL for two tables */
    DiffItemVec *items;
} Diff;

/* --- Environments ----------------------------------------------------------------------------------------------------
 */

static Status load_environment(const Diff *diff, Str environment, StrMap **shown_out, Error *err) {
    ShownModelVec models = {0};
    TRY(environment_models(diff->session, environment, diff->arena, &models, err));
    StrMap *shown = str_map_create(diff->arena, STR_MAP_FOLD);
    for (size_t i = 0; i < models.count; i++) {
        str_map_put(shown, models.items[i].pointer.model, &models.items[i]);
    }
    *shown_out = shown;
    return OK;
}

/* NULL: not built there. A snapshot without a schema has no table: it is of a file. */
static const Snapshot *find_built(const StrMap *shown, const Model *model) {
    const ShownModel *found = str_map_find(shown, model->name);
    bool is_built = found != NULL && found->snapshot != NULL && found->snapshot->physical_schema.size > 0;
    return is_built ? found->snapshot : NULL;
}

static Status select_models(const Diff *diff, Selection *selection_out, Error *err) {
    const Project *project = diff->session->project;
    bool *is_modified = ARENA_NEW_ARRAY(diff->arena, bool, project->model_count);
    for (size_t i = 0; i < project->model_count; i++) {
        const ShownModel *shown = str_map_find(diff->left, project->models[i]->name);
        is_modified[i] = shown == NULL || !str_equal(shown->pointer.fingerprint, project->models[i]->fingerprint);
    }
    SelectionOptions options = {
        .select = diff->request->select, .exclude = diff->request->exclude, .is_modified = is_modified};
    return selection_resolve(project, &options, diff->arena, selection_out, err);
}

/* --- One comparison --------------------------------------------------------------------------------------------------
 */

static void add_message(const Diff *diff, DiffItem *item, Str message) {
    item->message = item->message.size == 0
                        ? message
                        : str_format(diff->arena, STR_FMT "; " STR_FMT, STR_ARG(item->message), STR_ARG(message));
}

static void explain(const Diff *diff, DiffItem *item) {
    const TableDiff *found = &item->diff;
    Arena *arena = diff->arena;
    const StrVec *missing = &found->comparison.missing_keys;
    if (missing->count > 0) {
        Str names = str_join(arena, missing->items, missing->count, STR(", "));
        add_message(diff, item,
                    str_format(arena, "a side lacks " STR_FMT " of the key: whole rows are compared", STR_ARG(names)));
    }
    if (found->comparison.columns.count == 0) {
        add_message(diff, item, STR("no common columns"));
    }
    if (found->is_same_relation) {
        add_message(diff, item, STR("both sides are the same table"));
    }
    if (found->repeated_keys > 0) {
        bool is_whole = found->comparison.key_count == found->comparison.columns.count;
        add_message(diff, item,
                    str_format(arena, "%lld %s: compared as multisets", (long long)found->repeated_keys,
                               is_whole ? "row(s) stand there more than once" : "key(s) have several rows"));
    }
}

static void tell_absent(const Diff *diff, DiffItem *item) {
    const TableDiff *found = &item->diff;
    Str label = found->left_is_absent ? item->left.label : item->right.label;
    add_message(diff, item,
                found->left_is_absent && found->right_is_absent
                    ? STR("there is no table on either side")
                    : str_format(diff->arena, "the table of '" STR_FMT "' is gone from the warehouse", STR_ARG(label)));
}

static Status compare(const Diff *diff, SqlRelation left, SqlRelation right, DiffItem *item, Error *err) {
    TableDiffRequest request = {
        .left = left, .right = right, .options = diff->request->options, .schema_only = diff->request->schema_only};
    request.options.key = item->model == NULL ? NULL : &item->model->key;
    TRY(table_diff_run(diff->connection, &request, diff->arena, &item->diff, err));
    item->is_compared = !item->diff.left_is_absent && !item->diff.right_is_absent;
    item->differs = table_diff_differs(&item->diff);
    if (item->is_compared) {
        explain(diff, item);
    } else {
        tell_absent(diff, item);
    }
    return OK;
}

/* --- Models of two environments --------------------------------------------------------------------------------------
 */

static bool is_open(const Diff *diff, const Snapshot *snapshot) {
    return str_equal(snapshot->engine, diff->session->project->config->default_engine);
}

static Str relation_text(const Diff *diff, const Snapshot *snapshot) {
    return snapshot == NULL ? STR_EMPTY : sql_dotted_name(relation_of_snapshot(snapshot), diff->arena);
}

/* What keeps two snapshots from being compared; empty: nothing. */
static Str obstacle(const Diff *diff, const Snapshot *left, const Snapshot *right) {
    const DiffRequest *request = diff->request;
    if (left == NULL && right == NULL) {
        return STR("not built in either");
    }
    if (left == NULL || right == NULL) {
        return str_format(diff->arena, "not built in '" STR_FMT "'",
                          STR_ARG(left == NULL ? request->environment : request->against));
    }
    const Snapshot *closed = !is_open(diff, left) ? left : !is_open(diff, right) ? right : NULL;
    return closed == NULL
               ? STR_EMPTY
               : str_format(diff->arena, "on engine '" STR_FMT "', which cannot be read together with '" STR_FMT "'",
                            STR_ARG(closed->engine), STR_ARG(diff->session->project->config->default_engine));
}

static Status compare_model(const Diff *diff, const Model *model, Error *err) {
    const Snapshot *left = find_built(diff->left, model), *right = find_built(diff->right, model);
    DiffItem item = {.model = model,
                     .left = {diff->request->environment, relation_text(diff, left)},
                     .right = {diff->request->against, relation_text(diff, right)},
                     .message = obstacle(diff, left, right)};
    if (item.message.size > 0) {
        item.differs = left != NULL || right != NULL;
    } else if (failed(compare(diff, relation_of_snapshot(left), relation_of_snapshot(right), &item, err))) {
        return error_wrap(err, "comparing model '" STR_FMT "'", STR_ARG(model->name));
    }
    diff_item_vec_push(diff->arena, diff->items, item);
    return OK;
}

static Status compare_models(const Diff *diff, Error *err) {
    const Project *project = diff->session->project;
    Selection selection = {0};
    TRY(select_models(diff, &selection, err));
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        bool has_table = model_has_relation(model) || model->materialise == MATERIALISE_TABLE;
        if (selection.contains[i] && has_table) {
            TRY(compare_model(diff, model, err));
        }
    }
    return OK;
}

/* --- Two tables ------------------------------------------------------------------------------------------------------
 */

/* The next part of a dotted name, without its quotes; false when it is none. */
static bool take_part(Str *rest, Arena *arena, Str *part_out) {
    AUTO(strbuf) StrBuf part = {0};
    bool is_quoted = str_starts_with(*rest, STR("\""));
    size_t i = is_quoted ? 1 : 0;
    for (; i < rest->size && (is_quoted || rest->ptr[i] != '.'); i++) {
        if (is_quoted && rest->ptr[i] == '"') {
            if (i + 1 == rest->size || rest->ptr[i + 1] != '"') {
                is_quoted = false;
                i++;
                break;
            }
            i++;
        }
        strbuf_char(&part, rest->ptr[i]);
    }
    bool is_whole = !is_quoted && part.size > 0 && (i == rest->size || rest->ptr[i] == '.');
    *rest = str_skip(*rest, i);
    *part_out = strbuf_copy(&part, arena);
    return is_whole;
}

static Status parse_table(Str text, Arena *arena, SqlRelation *relation_out, Error *err) {
    Str parts[3] = {0};
    size_t count = 0;
    bool is_sound = true;
    for (Str rest = text; is_sound; rest = str_skip(rest, 1)) {
        is_sound = count < COUNT_OF(parts) && take_part(&rest, arena, &parts[count]);
        count++;
        if (rest.size == 0) {
            break;
        }
    }
    if (!is_sound) {
        return error_set(err, ERROR_USAGE,
                         "'" STR_FMT "' is no table: name, schema.name or alias.schema.name was expected",
                         STR_ARG(text));
    }
    *relation_out = (SqlRelation){.catalog = count == 3 ? parts[0] : STR_EMPTY,
                                  .schema = count >= 2 ? parts[count - 2] : STR_EMPTY,
                                  .name = parts[count - 1]};
    return OK;
}

static Status relation_of_model(Diff *diff, const Model *model, SqlRelation *relation_out, Error *err) {
    if (!model_has_relation(model) && model->materialise != MATERIALISE_TABLE) {
        return error_set(err, ERROR_SELECTION, "model '" STR_FMT "' has no table: it is of output %s",
                         STR_ARG(model->name), materialise_name(model->materialise));
    }
    if (diff->left == NULL) {
        TRY(load_environment(diff, diff->request->environment, &diff->left, err));
    }
    const Snapshot *snapshot = find_built(diff->left, model);
    if (snapshot == NULL) {
        return error_set(err, ERROR_SELECTION, "model '" STR_FMT "' is not built in '" STR_FMT "'",
                         STR_ARG(model->name), STR_ARG(diff->request->environment));
    }
    *relation_out = relation_of_snapshot(snapshot);
    return OK;
}

static Status find_table(Diff *diff, Str text, SqlRelation *relation_out, Error *err) {
    const Model *model = project_find(diff->session->project, text);
    return model != NULL ? relation_of_model(diff, model, relation_out, err)
                         : parse_table(text, diff->arena, relation_out, err);
}

static Status refuse_absent(const Diff *diff, Str text, Error *err) {
    const Project *project = diff->session->project;
    StrVec names = {0};
    for (size_t i = 0; i < project->model_count; i++) {
        str_vec_push(diff->arena, &names, project->models[i]->name);
    }
    const Str *nearest = str_nearest(text, names.items, names.count);
    (void)error_set(err, ERROR_SELECTION, "there is no table '" STR_FMT "' in engine '" STR_FMT "'", STR_ARG(text),
                    STR_ARG(project->config->default_engine));
    if (nearest != NULL) {
        error_hint(err, "did you mean '" STR_FMT "'?", STR_ARG(*nearest));
    }
    return FAILED;
}

static Status compare_tables(Diff *diff, SqlRelation left, SqlRelation right, Error *err) {
    DiffItem item = {.left = {STR("source"), sql_dotted_name(left, diff->arena)},
                     .right = {STR("target"), sql_dotted_name(right, diff->arena)}};
    TRY(compare(diff, left, right, &item, err));
    if (!item.is_compared) {
        return refuse_absent(diff, item.diff.left_is_absent ? diff->request->source : diff->request->target, err);
    }
    if (item.diff.comparison.columns.count == 0) {
        (void)error_set(err, ERROR_SELECTION, "'" STR_FMT "' and '" STR_FMT "' have no common columns",
                        STR_ARG(diff->request->source), STR_ARG(diff->request->target));
        error_hint(err, "rows are matched by columns of both: rename them in a view, then name the key with --on");
        return FAILED;
    }
    diff_item_vec_push(diff->arena, diff->items, item);
    return OK;
}

/* --- The command -----------------------------------------------------------------------------------------------------
 */

/* What views read must be readable here too. */
static Status connect(Diff *diff, Error *err) {
    const Project *project = diff->session->project;
    Engine *engine = NULL;
    TRY(session_engine(diff->session, true, &engine, err));
    if (!engine_database_exists(engine)) {
        return error_set(err, ERROR_PLAN, "there is no warehouse yet: nothing is built");
    }
    TRY(engine_connect(engine, &diff->connection, err));
    bool *is_read = input_flags(project->config, diff->arena);
    input_flags_add_views(project, is_read);
    return input_access_prepare(diff->connection, project->config, is_read, err);
}

/* Ctrl-C ends a statement at once. */
static Status compare_watched(Diff *diff, SqlRelation source, SqlRelation target, Error *err) {
    QueryWatchdog *watchdog = NULL;
    TRY(connect(diff, err));
    DuckConnection *duck = engine_connection_duck(diff->connection);
    if (duck == NULL) {
        return error_set(err, ERROR_PLAN, "tables of engine '" STR_FMT "' cannot be compared yet",
                         STR_ARG(diff->session->project->config->default_engine));
    }
    TRY(query_watchdog_start(duck, NO_TIME_LIMIT_US, &watchdog, err));
    Status status = diff->right != NULL ? compare_models(diff, err) : compare_tables(diff, source, target, err);
    (void)query_watchdog_stop(watchdog);
    return status;
}

static Status run(Diff *diff, Error *err) {
    const DiffRequest *request = diff->request;
    SqlRelation source = {0}, target = {0};
    if (request->against.size > 0) {
        TRY(load_environment(diff, request->environment, &diff->left, err));
        TRY(load_environment(diff, request->against, &diff->right, err));
    } else {
        TRY(find_table(diff, request->source, &source, err));
        TRY(find_table(diff, request->target, &target, err));
    }
    return compare_watched(diff, source, target, err);
}

Status diff_run(Session *session, const DiffRequest *request, Arena *arena, DiffItemVec *items_out, Error *err) {
    Diff diff = {.session = session, .request = request, .arena = arena, .items = items_out};
    Status status = run(&diff, err);
    engine_release(diff.connection);
    return status;
}
