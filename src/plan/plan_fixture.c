#include "plan/plan_fixture.h"

int fixture_setup(void **state) {
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    error_init(&f->err);
    *state = f;
    return 0;
}

int fixture_teardown(void **state) {
    Fixture *f = *state;
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static Str json_or_empty(const char *json) {
    return json == NULL ? STR("{}") : str_from(json);
}

static void connect_upstreams(Fixture *f, Project *project, Model *model, const char *names) {
    Str rest = str_from(names);
    while (rest.size > 0) {
        size_t end = str_find_char(rest, ' ');
        Model *upstream = str_map_find(project->by_name, str_slice(rest, 0, end));
        assert_non_null(upstream);
        index_vec_push(f->arena, &model->upstreams, upstream->index);
        index_vec_push(f->arena, &upstream->downstreams, model->index);
        rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, end + 1);
    }
}

static void add_model(Fixture *f, Project *project, const ModelSpec *spec) {
    Model *model = ARENA_NEW(f->arena, Model);
    model->index = project->model_count++;
    model->name = str_from(spec->name);
    model->schema = STR("main");
    model->base = model->name;
    model->kind = MODEL_SQL;
    model->materialise = spec->materialise;
    model->config_json =
        str_format(f->arena, "%s%s", spec->config == NULL ? "{}" : spec->config, materialise_name(spec->materialise));
    model->strategy = spec->strategy;
    model->engine = STR("default");
    model->time_column = str_from(spec->time_column);
    if (spec->key != NULL) {
        str_vec_push(f->arena, &model->key, str_from(spec->key));
    }
    model->metadata_json = json_or_empty(spec->metadata);
    model->physical_json = STR_EMPTY;
    model->query.text = str_from(spec->sql);
    model->canonical_digest = str_lower(f->arena, model->query.text);
    project->models[model->index] = model;
    str_map_put(project->by_name, model->name, model);
    connect_upstreams(f, project, model, spec->upstreams);
}

Project *fixture_project(Fixture *f, const ModelSpec *specs, size_t count) {
    Project *project = ARENA_NEW(f->arena, Project);
    project->arena = f->arena;
    project->models = ARENA_NEW_ARRAY(f->arena, Model *, count);
    project->by_name = str_map_create(f->arena, STR_MAP_FOLD);
    for (size_t i = 0; i < count; i++) {
        add_model(f, project, &specs[i]);
    }
    fingerprint_project(project, NULL);
    return project;
}

/* As the project writes it, but for what no plan reads. */
static Str recorded_config(Fixture *f, const Model *model) {
    Str key = model->key.count == 0 ? STR_EMPTY : str_format(f->arena, "\"" STR_FMT "\"", STR_ARG(model->key.items[0]));
    Str time = model->time_column.size == 0 ? STR("null")
                                            : str_format(f->arena, "\"" STR_FMT "\"", STR_ARG(model->time_column));
    return str_format(f->arena, "{\"key\":[" STR_FMT "],\"strategy\":\"%s\",\"time_column\":" STR_FMT "}", STR_ARG(key),
                      strategy_name(model->strategy), STR_ARG(time));
}

static Snapshot snapshot_of(Fixture *f, const Model *model) {
    return (Snapshot){
        .name = model->name,
        .fingerprint = model->fingerprint,
        .local_fingerprint = model->local_fingerprint,
        .metadata_hash = model->metadata_hash,
        .definition_sql = model->query.text,
        .physical_name = model->name,
        .engine = model->engine,
        .columns_json = STR("[{\"name\":\"id\",\"type\":\"INTEGER\"}]"),
        .config_json = recorded_config(f, model),
        .created_at = 1000,
        .verified_at = 2000,
    };
}

static Snapshot *find_recorded(Fixture *f, const Model *model) {
    for (size_t i = 0; i < f->state.snapshots.count; i++) {
        Snapshot *snapshot = &f->state.snapshots.items[i];
        if (str_equal(snapshot->name, model->name) && str_equal(snapshot->fingerprint, model->fingerprint)) {
            return snapshot;
        }
    }
    return NULL;
}

void fixture_apply(Fixture *f, const Project *project) {
    f->state.pointers = (PointerVec){0};
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        Pointer pointer = {.model = model->name, .fingerprint = model->fingerprint, .promoted_at = 5000};
        pointer_vec_push(f->arena, &f->state.pointers, pointer);
        if (model->materialise != MATERIALISE_EPHEMERAL && find_recorded(f, model) == NULL) {
            snapshot_vec_push(f->arena, &f->state.snapshots, snapshot_of(f, model));
        }
    }
}

Snapshot *fixture_snapshot(Fixture *f, const char *name) {
    for (size_t i = f->state.snapshots.count; i-- > 0;) {
        if (str_equal(f->state.snapshots.items[i].name, str_from(name))) {
            return &f->state.snapshots.items[i];
        }
    }
    fail_msg("no snapshot of %s", name);
    return NULL;
}

Plan *fixture_plan(Fixture *f, const Project *project, const char *selector) {
    StrVec select = {0};
    if (selector != NULL) {
        str_vec_push(f->arena, &select, str_from(selector));
    }
    PlanOptions options = {.environment = STR("prod"), .select = selector == NULL ? NULL : &select};
    Plan *plan = NULL;
    if (failed(plan_build(project, &f->state, &options, &plan, &f->err))) {
        fail_msg("%.*s", STR_ARG(f->err.message));
    }
    return plan;
}

static void assert_words(const StrBuf *words, const char *expected) {
    if (!str_equal(str_trim(strbuf_str(words)), str_from(expected))) {
        fail_msg("'%.*s' is not '%s'", STR_ARG(strbuf_str(words)), expected);
    }
}

void assert_changes(const Plan *plan, const char *expected) {
    AUTO(strbuf) StrBuf words = {0};
    for (size_t i = 0; i < plan->changes.count; i++) {
        const PlanChange *change = &plan->changes.items[i];
        const char *category = change_category_name(change->category);
        strbuf_format(&words, "%.*s:%s:%s:%s ", STR_ARG(change->name), change_type_name(change->type),
                      category == NULL ? "-" : category, change_build_name(change));
    }
    assert_words(&words, expected);
}

void assert_tasks(const Plan *plan, const char *expected) {
    static const char *const actions[] = {
        [TASK_BUILD] = "build", [TASK_REUSE] = "reuse", [TASK_RECREATE] = "recreate", [TASK_RECORD] = "record"};
    AUTO(strbuf) StrBuf words = {0};
    for (size_t i = 0; i < plan->tasks.count; i++) {
        const PlanTask *task = &plan->tasks.items[i];
        assert_int_equal(task->action == TASK_REUSE, task->snapshot != NULL);
        strbuf_format(&words, "%.*s:%s ", STR_ARG(task->model->name), actions[task->action]);
    }
    assert_words(&words, expected);
}
