/* One case of the model tests: a database in memory with the fixtures and the models that it needs. */
#include "run/model_test_parts.h"

#include "base/files.h"
#include "project/input_scan.h"
#include "run/cancel.h"
#include "run/input_access.h"
#include "run/window_clock.h"

/* ---- What is needed. */

static const TestFile *fixture_of(const TestBuild *build, size_t model) {
    if (build->is_chosen[model]) {
        return NULL;
    }
    const TestFile *own = test_file_of_model(&build->test_case->fixtures, model);
    return own != NULL ? own : test_file_of_model(&build->shared->fixtures, model);
}

static Status refuse_python(const TestBuild *build, const Model *model, Error *err) {
    error_set(err, ERROR_PLAN,
              "'" STR_FMT "' is a Python model, which only runs in a test when it is selected; add " STR_FMT
              "/fixtures/" STR_FMT ".csv",
              STR_ARG(model->name), STR_ARG(build->test_case->folder), STR_ARG(model->name));
    error_code(err, STR("test.python"));
    return FAILED;
}

/* Against the order of dependencies: a model is looked at after all that read it. */
static Status find_needed(const TestBuild *build, Error *err) {
    const Project *project = &build->project;
    for (size_t i = project->model_count; i-- > 0;) {
        const Model *model = project->models[i];
        build->is_needed[i] = build->is_needed[i] || build->is_chosen[i];
        if (!build->is_needed[i] || fixture_of(build, i) != NULL) {
            continue;
        }
        if (model->kind == MODEL_PYTHON && !build->is_chosen[i]) {
            return refuse_python(build, model, err);
        }
        for (size_t u = 0; u < model->upstreams.count; u++) {
            build->is_needed[model->upstreams.items[u]] = true;
        }
    }
    return OK;
}

/* ---- The project as it is in a test. */

/* Whatever becomes of its rows in the warehouse, here a model is a table, and so is an ephemeral one with a fixture.
 * Reads of a clock that is fixed give that time in all columns. */
static void make_models(TestBuild *build) {
    const Project *project = build->session->project;
    build->project = *project;
    build->project.models = ARENA_NEW_ARRAY(build->arena, Model *, project->model_count);
    for (size_t i = 0; i < project->model_count; i++) {
        Model *model = ARENA_NEW(build->arena, Model);
        *model = *project->models[i];
        model->clock_columns = (StrVec){0};
        if (model->materialise != MATERIALISE_EPHEMERAL || fixture_of(build, i) != NULL) {
            model->materialise = MATERIALISE_VIRTUAL;
        }
        build->project.models[i] = model;
    }
}

static void make_relations(TestBuild *build) {
    build->relations = relation_map_create(&build->project, build->arena);
    build->inputs = input_scans(build->project.config, clock_now_us(), build->arena);
    build->relations.inputs = build->inputs;
    build->has_input_fixture = input_flags(build->project.config, build->arena);
    for (size_t i = 0; i < build->project.model_count; i++) {
        const Model *model = build->project.models[i];
        if (model_has_relation(model)) {
            build->relations.items[i] = (SqlRelation){.schema = model->schema, .name = model->base};
        }
    }
}

/* ---- The database. */

static Str zone_name(const TestBuild *build) {
    Str name = build->project.config->timezone;
    return name.size > 0 ? name : STR("UTC");
}

static Status open_database(TestBuild *build, Error *err) {
    const ProjectConfig *config = build->project.config;
    EngineConfig *engine = ARENA_NEW(build->arena, EngineConfig);
    *engine = (EngineConfig){
        .name = config->default_engine,
        .type = STR("duckdb"),
        .database = STR(":memory:"),
        .database_path = STR(":memory:"),
        .dialect = STR("duckdb"),
    };
    config_setting_vec_push(build->arena, &engine->settings, (ConfigSetting){STR("TimeZone"), zone_name(build)});
    EngineOptions options = {.config = engine, .root = config->root};
    TRY(engine_create(&options, &build->engine, err));
    return engine_connect(build->engine, &build->connection, err);
}

static Status execute(const TestBuild *build, Str sql, Error *err) {
    SqlText text = sql_text_own(build->arena, sql);
    return engine_execute(build->connection, &text, NULL, err);
}

static Status create_schemas(const TestBuild *build, Error *err) {
    StrVec schemas = {0};
    for (size_t i = 0; i < build->project.model_count; i++) {
        Str schema = build->project.models[i]->schema;
        if (build->is_needed[i] && !str_vec_contains_fold(&schemas, schema)) {
            str_vec_push(build->arena, &schemas, schema);
        }
    }
    return engine_create_schemas(build->connection, &schemas, err);
}

/* ---- Fixtures of what the project does not own. */

static bool is_attached(const TestBuild *build, Str name) {
    const ProjectConfig *config = build->project.config;
    const EngineConfig *engine = project_config_engine(config, config->default_engine);
    for (size_t i = 0; engine != NULL && i < engine->attach.count; i++) {
        if (str_equal_fold(engine->attach.items[i].alias, name)) {
            return true;
        }
    }
    return false;
}

/* `crm.orders` is a schema's table, unless the configuration attaches a database of that name. */
static SqlRelation source_relation(const TestBuild *build, const SqlTableRef *table) {
    if (table->catalog.size == 0 && is_attached(build, table->schema)) {
        return (SqlRelation){.catalog = table->schema, .schema = STR("main"), .name = table->name};
    }
    return (SqlRelation){
        .catalog = table->catalog,
        .schema = table->schema.size > 0 ? table->schema : STR("main"),
        .name = table->name,
    };
}

static Status make_room(const TestBuild *build, SqlRelation table, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    if (table.catalog.size > 0) {
        strbuf_text(&sql, "ATTACH IF NOT EXISTS ':memory:' AS ");
        sql_identifier(&sql, table.catalog);
        strbuf_text(&sql, "; ");
    }
    strbuf_text(&sql, "CREATE SCHEMA IF NOT EXISTS ");
    sql_relation(&sql, (SqlRelation){.schema = table.catalog, .name = table.schema});
    return execute(build, strbuf_str(&sql), err);
}

static Status load_input(const TestBuild *build, const TestFile *fixture, Error *err) {
    const InputConfig *input = &build->project.config->inputs.items[fixture->input];
    SqlRelation table = {.schema = STR("interlace__inputs"), .name = input->name};
    TRY(make_room(build, table, err));
    TRY(test_load_fixture(build, fixture, table, err));
    AUTO(strbuf) StrBuf scan = {0};
    strbuf_text(&scan, "(SELECT * FROM ");
    sql_relation(&scan, table);
    strbuf_text(&scan, ")");
    build->inputs[fixture->input] = strbuf_copy(&scan, build->arena);
    build->has_input_fixture[fixture->input] = true;
    return OK;
}

static bool is_overridden(const TestBuild *build, const TestFile *fixture) {
    const TestFileVec *own = &build->test_case->fixtures;
    for (size_t i = 0; i < own->count && build->test_case != build->shared; i++) {
        if (str_equal_fold(path_base_name(own->items[i].path), path_base_name(fixture->path))) {
            return true;
        }
    }
    return false;
}

static Status load_outside(const TestBuild *build, const TestFileVec *fixtures, bool is_shared, Error *err) {
    for (size_t i = 0; i < fixtures->count; i++) {
        const TestFile *fixture = &fixtures->items[i];
        if (fixture->model != MODEL_NONE || (is_shared && is_overridden(build, fixture))) {
            continue;
        }
        if (fixture->input != INPUT_NONE) {
            TRY(load_input(build, fixture, err));
            continue;
        }
        SqlRelation table = source_relation(build, fixture->source);
        TRY(make_room(build, table, err));
        TRY(test_load_fixture(build, fixture, table, err));
    }
    return OK;
}

/* Inputs without a fixture are read as in a build. */
static Status prepare_inputs(const TestBuild *build, Error *err) {
    const ProjectConfig *config = build->project.config;
    bool *is_read = input_flags(config, build->arena);
    for (size_t i = 0; i < build->project.model_count; i++) {
        if (build->is_needed[i] && fixture_of(build, i) == NULL) {
            input_flags_add_model(config, build->project.models[i], is_read);
        }
    }
    for (size_t i = 0; i < config->inputs.count; i++) {
        is_read[i] = is_read[i] && !build->has_input_fixture[i];
    }
    return input_access_prepare(build->connection, config, is_read, err);
}

/* ---- Models. */

static Status build_sql(const TestBuild *build, const Model *model, Error *err) {
    WindowBinding binding = {0};
    SqlText query;
    if (build->options->has_now) {
        const Zone *zone;
        TRY(zone_load(zone_name(build), build->arena, &zone, err));
        binding.clock = window_clock_literals(zone_wall(zone, build->options->now) + 1, zone, build->arena);
    }
    TRY(render_window_query(&build->relations, model, &binding, build->arena, &query, err));
    AUTO(strbuf) StrBuf head = {0};
    strbuf_text(&head, "CREATE TABLE ");
    sql_relation(&head, build->relations.items[model->index]);
    strbuf_text(&head, " AS ");
    SqlText parts[] = {sql_text_own(build->arena, strbuf_copy(&head, build->arena)), query};
    SqlText create = sql_text_concat(build->arena, parts, COUNT_OF(parts));
    return engine_execute(build->connection, &create, NULL, err);
}

static Str fault_text(const Error *err, Arena *arena) {
    Str place = err->place.file.size == 0 ? STR_EMPTY
                                          : str_format(arena, STR_FMT ":%zu:%zu: ", STR_ARG(err->place.file),
                                                       err->place.line, err->place.column);
    return str_format(arena, STR_FMT STR_FMT, STR_ARG(place), STR_ARG(err->message));
}

static const Model *broken_upstream(const TestBuild *build, const Model *model) {
    for (size_t i = 0; i < model->upstreams.count; i++) {
        const Model *upstream = build->project.models[model->upstreams.items[i]];
        if (build->faults[upstream->index].size > 0) {
            return upstream;
        }
    }
    return NULL;
}

static Status build_model(TestBuild *build, const Model *model, Error *err) {
    AUTO(error) Error fault = {0};
    const Model *broken = broken_upstream(build, model);
    if (broken != NULL) {
        build->faults[model->index] = str_format(build->arena, "not built: '" STR_FMT "' failed: " STR_FMT,
                                                 STR_ARG(broken->name), STR_ARG(build->faults[broken->index]));
        return OK;
    }
    if (model->materialise == MATERIALISE_EPHEMERAL) {
        return OK;
    }
    int64_t started_us = clock_monotonic_us();
    Status status =
        model->kind == MODEL_SQL ? build_sql(build, model, &fault) : test_build_python(build, model, &fault);
    if (failed(status)) {
        if (fault.kind == ERROR_INTERRUPTED || cancel_requested()) {
            error_move(err, &fault);
            return FAILED;
        }
        build->faults[model->index] = fault_text(&fault, build->arena);
    }
    build->seconds[model->index] = (double)(clock_monotonic_us() - started_us) / 1e6;
    return OK;
}

Status test_build_open(TestBuild *build, Error *err) {
    size_t count = build->session->project->model_count;
    build->is_needed = ARENA_NEW_ARRAY(build->arena, bool, count);
    build->faults = ARENA_NEW_ARRAY(build->arena, Str, count);
    build->seconds = ARENA_NEW_ARRAY(build->arena, double, count);
    make_models(build);
    make_relations(build);
    TRY(find_needed(build, err));
    TRY(open_database(build, err));
    return create_schemas(build, err);
}

Status test_build_models(TestBuild *build, Error *err) {
    if (build->test_case != build->shared) {
        TRY(load_outside(build, &build->shared->fixtures, true, err));
    }
    TRY(load_outside(build, &build->test_case->fixtures, false, err));
    TRY(prepare_inputs(build, err));
    for (size_t i = 0; i < build->project.model_count; i++) {
        if (!build->is_needed[i]) {
            continue;
        }
        const TestFile *fixture = fixture_of(build, i);
        if (fixture != NULL) {
            TRY(test_load_fixture(build, fixture, build->relations.items[i], err));
        } else {
            TRY(build_model(build, build->project.models[i], err));
        }
    }
    return OK;
}

void test_build_close(TestBuild *build) {
    engine_release(TAKE(build->connection));
    engine_destroy(TAKE(build->engine));
}
