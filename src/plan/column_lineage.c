#include "plan/column_lineage.h"

/* --- Models that are SQL ------------------------------------------------------------------------------------------ */

typedef struct Builder {
    const ColumnLineageInput *input;
    Arena *arena;
    ModelLineage *models;
    StrVec **names; /* of each model whose columns are all known */
} Builder;

static LineageTable find_table(const Builder *builder, const Model *model, size_t index) {
    const SqlTableRef *table = &model->facts->tables.items[index];
    ModelReference reference = model->references[index];
    SqlRelation relation = sql_table_relation(table);
    if (reference.model != MODEL_NONE) {
        return (LineageTable){.name = builder->input->project->models[reference.model]->name,
                              .columns = builder->names[reference.model]};
    }
    bool is_external = !table->is_file && reference.input == INPUT_NONE;
    return (LineageTable){.name = sql_dotted_name(relation, builder->arena),
                          .columns = is_external ? builder->input->external(builder->input->context, relation) : NULL};
}

static const LineageTable *find_tables(const Builder *builder, const Model *model) {
    LineageTable *tables = ARENA_NEW_ARRAY(builder->arena, LineageTable, model->facts->tables.count);
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        tables[i] = find_table(builder, model, i);
    }
    return tables;
}

/* What the tables of one query are, by their places in its text. */
typedef struct Tables {
    const Model *model;
    const LineageTable *items;
    Arena *arena;
} Tables;

static LineageTable get_table(void *context, const QuerySource *source) {
    const Tables *tables = context;
    const SqlTableRefVec *places = &tables->model->facts->tables;
    for (size_t i = 0; i < places->count; i++) {
        if (places->items[i].start == source->offset) {
            return tables->items[i];
        }
    }
    SqlRelation written = {.catalog = source->catalog, .schema = source->schema, .name = source->name};
    return (LineageTable){.name = sql_dotted_name(written, tables->arena)};
}

void column_lineage_trace(const Query *query, const Model *model, const LineageTable *tables, Arena *arena,
                          QueryLineage *lineage_out) {
    Tables context = {.model = model, .items = tables, .arena = arena};
    query_lineage(query, &(LineageTables){.get = get_table, .context = &context}, arena, lineage_out);
}

static StrVec contract_names(Arena *arena, const Model *model) {
    StrVec names = {0};
    for (size_t i = 0; i < model->contract.count; i++) {
        str_vec_push(arena, &names, model->contract.items[i].name);
    }
    return names;
}

static void push_output(Builder *builder, ModelLineage *lineage, Str name, LineageSourceVec sources) {
    LineageOutput output = {.name = name, .sources = sources};
    lineage_output_vec_push(builder->arena, &lineage->outputs, output);
}

/* Names from elsewhere for a query that does not tell all of its own. */
static void name_outputs(Builder *builder, const StrVec *names, ModelLineage *lineage) {
    for (size_t i = 0; i < names->count; i++) {
        LineageSourceVec sources = {0};
        (void)query_lineage_find(&lineage->query, names->items[i], builder->arena, &sources);
        push_output(builder, lineage, names->items[i], sources);
    }
    for (size_t i = 0; i < lineage->query.outputs.count; i++) { /* what is new since then */
        const LineageOutput *output = &lineage->query.outputs.items[i];
        if (output->name.size > 0 && !str_vec_contains_fold(names, output->name)) {
            push_output(builder, lineage, output->name, output->sources);
        }
    }
}

/* Items without a name are called as the relation that was built from this version calls them, else by their place. */
static void keep_outputs(Builder *builder, KnownColumns known, ModelLineage *lineage) {
    const LineageOutputVec *outputs = &lineage->query.outputs;
    bool is_same = known.names != NULL && known.is_current && known.names->count == outputs->count;
    for (size_t i = 0; i < outputs->count; i++) {
        Str name = outputs->items[i].name;
        if (name.size == 0) {
            name = is_same ? known.names->items[i] : str_format(builder->arena, "column %zu", i + 1);
        }
        push_output(builder, lineage, name, outputs->items[i].sources);
    }
}

static Status trace_sql(Builder *builder, const Model *model, ModelLineage *lineage, Error *err) {
    const ColumnLineageInput *input = builder->input;
    TRY(input->trace(input->context, model, find_tables(builder, model), builder->arena, &lineage->query, err));
    KnownColumns known = builder->input->known(builder->input->context, model);
    StrVec contract = contract_names(builder->arena, model);
    lineage->rows = lineage->query.rows;
    lineage->is_opaque = lineage->query.is_opaque;
    lineage->is_complete = !lineage->query.is_open || (known.names != NULL && known.is_current);
    if (!lineage->query.is_open) {
        keep_outputs(builder, known, lineage);
        return OK;
    }
    bool is_certain = lineage->query.rest.count == 0 && lineage->query.open_tables.count == 1;
    lineage->is_opaque = lineage->is_opaque || !(lineage->is_complete && is_certain);
    name_outputs(builder, known.names != NULL ? known.names : &contract, lineage);
    return OK;
}

/* --- Models that are Python --------------------------------------------------------------------------------------- */

static const LineageOutput *find_output(const ModelLineage *lineage, Str name) {
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        if (str_equal_fold(lineage->outputs.items[i].name, name)) {
            return &lineage->outputs.items[i];
        }
    }
    return NULL;
}

/* All names of its upstreams' columns, for a model of which nothing is known. */
static StrVec upstream_names(Builder *builder, const Model *model) {
    StrVec names = {0};
    for (size_t i = 0; i < model->upstreams.count; i++) {
        const LineageOutputVec *outputs = &builder->models[model->upstreams.items[i]].outputs;
        for (size_t o = 0; o < outputs->count; o++) {
            if (!str_vec_contains_fold(&names, outputs->items[o].name)) {
                str_vec_push(builder->arena, &names, outputs->items[o].name);
            }
        }
    }
    return names;
}

/* The guess about a column of a Python model: the columns of that name in what the model reads. */
static LineageSourceVec same_named(Builder *builder, const Model *model, Str name) {
    LineageSourceVec sources = {0};
    for (size_t i = 0; i < model->upstreams.count; i++) {
        size_t upstream = model->upstreams.items[i];
        const LineageOutput *output = find_output(&builder->models[upstream], name);
        if (output != NULL) {
            LineageSource source = {.table = builder->input->project->models[upstream]->name, .column = output->name};
            lineage_source_vec_push(builder->arena, &sources, source);
        }
    }
    return sources;
}

static LineageSourceVec declared_sources(Builder *builder, const Model *model, Str output) {
    LineageSourceVec sources = {0};
    for (size_t i = 0; i < model->declared_sources.count; i++) {
        const DeclaredSource *source = &model->declared_sources.items[i];
        if (str_equal_fold(source->output, output)) {
            lineage_source_vec_push(builder->arena, &sources,
                                    (LineageSource){.table = builder->input->project->models[source->model]->name,
                                                    .column = source->column});
        }
    }
    return sources;
}

/* What somebody knows of its columns, and what it declares itself; else those that it may hand on. */
static StrVec python_names(Builder *builder, const Model *model, KnownColumns known) {
    StrVec names = {0};
    StrVec given = known.names != NULL ? *known.names : contract_names(builder->arena, model);
    bool is_guess = given.count + model->declared_outputs.count == 0;
    for (size_t i = 0; i < given.count; i++) {
        str_vec_push(builder->arena, &names, given.items[i]);
    }
    for (size_t i = 0; i < model->declared_outputs.count; i++) {
        if (!str_vec_contains_fold(&given, model->declared_outputs.items[i])) {
            str_vec_push(builder->arena, &names, model->declared_outputs.items[i]);
        }
    }
    return is_guess ? upstream_names(builder, model) : names;
}

static void trace_python(Builder *builder, const Model *model, ModelLineage *lineage) {
    KnownColumns known = builder->input->known(builder->input->context, model);
    StrVec names = python_names(builder, model, known);
    lineage->is_opaque = model->declared_outputs.count == 0;
    for (size_t i = 0; i < names.count; i++) {
        bool is_declared = str_vec_contains_fold(&model->declared_outputs, names.items[i]);
        push_output(builder, lineage, names.items[i],
                    is_declared ? declared_sources(builder, model, names.items[i])
                                : same_named(builder, model, names.items[i]));
        lineage->is_opaque = lineage->is_opaque || !is_declared;
    }
    lineage->is_complete = known.names != NULL && known.is_current;
}

/* --- The project -------------------------------------------------------------------------------------------------- */

static StrVec *output_names(Builder *builder, const ModelLineage *lineage) {
    StrVec *names = ARENA_NEW(builder->arena, StrVec);
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        str_vec_push(builder->arena, names, lineage->outputs.items[i].name);
    }
    return names;
}

Status column_lineage_build(const ColumnLineageInput *input, Arena *arena, ColumnLineage *lineage_out, Error *err) {
    const Project *project = input->project;
    Builder builder = {
        .input = input,
        .arena = arena,
        .models = ARENA_NEW_ARRAY(arena, ModelLineage, project->model_count),
        .names = ARENA_NEW_ARRAY(arena, StrVec *, project->model_count),
    };
    for (size_t i = 0; i < project->model_count; i++) { /* upstreams first */
        const Model *model = project->models[i];
        ModelLineage *lineage = &builder.models[i];
        if (model->kind == MODEL_SQL) {
            TRY(trace_sql(&builder, model, lineage, err));
        } else {
            trace_python(&builder, model, lineage);
        }
        builder.names[i] = lineage->is_complete ? output_names(&builder, lineage) : NULL;
    }
    *lineage_out = (ColumnLineage){.project = project, .models = builder.models};
    return OK;
}
