/* Lineage of models: what a model reads and what reads it, through any number of steps. Tables that are not models
 * ("external") are shown beside them. */
#include "cli/cli.h"
#include "cli/columns_of_models.h"
#include "cli/commands.h"
#include "cli/model_text.h"
#include "cli/table.h"
#include "cli/text_width.h"

#include "project/graph.h"

typedef struct Lineage {
    const Project *project;
    const Model *model;           /* NULL: the whole graph */
    bool *upstream, *downstream;  /* a flag a model of the project; `model` itself is in neither */
    bool *shown;                  /* either of them, and `model` */
    StrVec external;              /* tables that shown models up to `model` read, as written, sorted */
    const ColumnLineage *columns; /* NULL: not asked for */
} Lineage;

/* --- The neighbourhood -----------------------------------------------------------------------------------------------
 */

/* Marks what is at most `depth` steps away. */
static void reach(const Project *project, size_t start, GraphDirection direction, int64_t depth, Arena *arena,
                  bool *reached) {
    IndexVec level = {0};
    index_vec_push(arena, &level, start);
    for (int64_t step = 0; step < depth && level.count > 0; step++) {
        IndexVec next = {0};
        for (size_t i = 0; i < level.count; i++) {
            const Model *model = project->models[level.items[i]];
            const IndexVec *neighbours = direction == GRAPH_UPSTREAM ? &model->upstreams : &model->downstreams;
            for (size_t n = 0; n < neighbours->count; n++) {
                size_t neighbour = neighbours->items[n];
                if (!reached[neighbour]) {
                    reached[neighbour] = true;
                    index_vec_push(arena, &next, neighbour);
                }
            }
        }
        level = next;
    }
}

static StrVec external_tables(const Model *model, Arena *arena) {
    StrVec names = {0};
    if (model->kind != MODEL_SQL) {
        return names;
    }
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        Str name = sql_dotted_name(sql_table_relation(&model->facts->tables.items[i]), arena);
        if (model->references[i].model == MODEL_NONE && !str_vec_contains(&names, name)) {
            str_vec_push(arena, &names, name);
        }
    }
    return names;
}

static void find_external(Lineage *lineage, Arena *arena) {
    for (size_t i = 0; i < lineage->project->model_count; i++) {
        bool reads_for_it = lineage->upstream[i] || lineage->model == NULL || lineage->model->index == i;
        if (!reads_for_it) {
            continue;
        }
        StrVec names = external_tables(lineage->project->models[i], arena);
        for (size_t n = 0; n < names.count; n++) {
            if (!str_vec_contains(&lineage->external, names.items[n])) {
                str_vec_push(arena, &lineage->external, names.items[n]);
            }
        }
    }
    str_vec_sort(&lineage->external);
}

static Lineage find_lineage(const Project *project, const Model *model, int64_t depth, Arena *arena) {
    Lineage lineage = {
        .project = project,
        .model = model,
        .upstream = ARENA_NEW_ARRAY(arena, bool, project->model_count),
        .downstream = ARENA_NEW_ARRAY(arena, bool, project->model_count),
        .shown = ARENA_NEW_ARRAY(arena, bool, project->model_count),
    };
    if (model != NULL) {
        reach(project, model->index, GRAPH_UPSTREAM, depth, arena, lineage.upstream);
        reach(project, model->index, GRAPH_DOWNSTREAM, depth, arena, lineage.downstream);
    }
    for (size_t i = 0; i < project->model_count; i++) {
        lineage.shown[i] = model == NULL || model->index == i || lineage.upstream[i] || lineage.downstream[i];
    }
    find_external(&lineage, arena);
    return lineage;
}

static StrVec marked_names(const Project *project, const bool *marks, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < project->model_count; i++) {
        if (marks[i]) {
            str_vec_push(arena, &names, project->models[i]->name);
        }
    }
    str_vec_sort(&names);
    return names;
}

/* --- Text ------------------------------------------------------------------------------------------------------------
 */

static void print_names(Cli *cli, const char *label, const StrVec *names) {
    Str joined = str_join(cli->arena, names->items, names->count, STR(", "));
    Str shown = names->count == 0 ? cli_glyph(cli, GLYPH_DASH) : text_visible(cli->arena, joined);
    strbuf_text(&cli->text, "  ");
    style_append(&cli->text, &cli->out, STYLE_DIM, str_from(label));
    cli_line(cli, " " STR_FMT, STR_ARG(shown));
}

static Str source_name(const LineageSource *source, Arena *arena) {
    return str_format(arena, STR_FMT "." STR_FMT, STR_ARG(source->table), STR_ARG(source->column));
}

static StrVec source_names(const LineageSourceVec *sources, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < sources->count; i++) {
        str_vec_push(arena, &names, source_name(&sources->items[i], arena));
    }
    return names;
}

static void print_columns_text(Cli *cli, const Model *model, const ModelLineage *lineage) {
    style_append(&cli->text, &cli->out, STYLE_TITLE, model->name);
    cli_line(cli, " columns%s", lineage->is_opaque ? " (opaque)" : "");
    if (lineage->outputs.count == 0) {
        cli_line(cli, "  (column lineage unavailable)");
    }
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        const LineageOutput *output = &lineage->outputs.items[i];
        StrVec names = source_names(&output->sources, cli->arena);
        Str joined = text_visible(cli->arena, str_join(cli->arena, names.items, names.count, STR(", ")));
        Str name = text_visible(cli->arena, output->name);
        Str sources = names.count == 0 ? cli_glyph(cli, GLYPH_DASH) : joined;
        cli_line(cli, "  " STR_FMT " " STR_FMT " " STR_FMT "%s", STR_ARG(name), STR_ARG(cli_glyph(cli, GLYPH_FROM)),
                 STR_ARG(sources), lineage->is_opaque ? " (opaque)" : "");
    }
}

static void print_model_text(Cli *cli, const Lineage *lineage) {
    StrVec upstream = marked_names(lineage->project, lineage->upstream, cli->arena);
    StrVec downstream = marked_names(lineage->project, lineage->downstream, cli->arena);
    style_append(&cli->text, &cli->out, STYLE_TITLE, lineage->model->name);
    strbuf_char(&cli->text, '\n');
    print_names(cli, "upstream:", &upstream);
    print_names(cli, "downstream:", &downstream);
    if (lineage->external.count > 0) {
        print_names(cli, "external:", &lineage->external);
    }
}

static void print_graph_text(Cli *cli, const Lineage *lineage) {
    static const TableColumn columns[] = {
        {.title = "Model", .is_name = true}, {.title = "Reads", .is_dim = true}, {.title = "External", .is_dim = true}};
    if (lineage->project->model_count == 0) {
        cli_line(cli, "No models.");
        return;
    }
    Table *table =
        table_create(cli->arena, STR("Lineage"), columns, COUNT_OF(columns) - (lineage->external.count == 0));
    for (size_t i = 0; i < lineage->project->model_count; i++) {
        const Model *model = lineage->project->models[i];
        StrVec external = external_tables(model, cli->arena);
        TableCell cells[] = {CELL(model->name), CELL(model_upstream_text(lineage->project, model, cli->arena)),
                             CELL(str_join(cli->arena, external.items, external.count, STR(", ")))};
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

static void print_text(Cli *cli, const Lineage *lineage) {
    if (lineage->model == NULL) {
        print_graph_text(cli, lineage);
    } else {
        print_model_text(cli, lineage);
    }
    for (size_t i = 0; lineage->columns != NULL && i < lineage->project->model_count; i++) {
        const Model *model = lineage->project->models[i];
        if (lineage->model == NULL || lineage->model == model) {
            print_columns_text(cli, model, &lineage->columns->models[i]);
        }
    }
}

/* --- Edges -----------------------------------------------------------------------------------------------------------
 */

/* Calls `edge` for each dependency between two shown models, in dependency order. */
static void each_edge(const Lineage *lineage, void (*edge)(void *context, Str upstream, Str model), void *context) {
    for (size_t i = 0; i < lineage->project->model_count; i++) {
        const Model *model = lineage->project->models[i];
        for (size_t u = 0; lineage->shown[i] && u < model->upstreams.count; u++) {
            size_t upstream = model->upstreams.items[u];
            if (lineage->shown[upstream]) {
                edge(context, lineage->project->models[upstream]->name, model->name);
            }
        }
    }
}

/* --- JSON ------------------------------------------------------------------------------------------------------------
 */

static void write_json_edge(void *context, Str upstream, Str model) {
    JsonWriter *writer = context;
    json_begin_array(writer);
    json_text(writer, upstream);
    json_text(writer, model);
    json_end_array(writer);
}

static void write_json_columns(Cli *cli, const ModelLineage *lineage, JsonWriter *writer) {
    StrVec rows = source_names(&lineage->rows, cli->arena);
    json_key(writer, STR("columns"));
    json_begin_object(writer);
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        StrVec names = source_names(&lineage->outputs.items[i].sources, cli->arena);
        json_text_list_field(writer, lineage->outputs.items[i].name, names.items, names.count);
    }
    json_end_object(writer);
    json_text_list_field(writer, STR("row_influence"), rows.items, rows.count);
    json_bool_field(writer, STR("opaque"), lineage->is_opaque);
}

/* The columns of one model stand beside its name, those of the whole graph under the names of its models. */
static void write_json_lineage(Cli *cli, const Lineage *lineage, JsonWriter *writer) {
    if (lineage->model != NULL) {
        write_json_columns(cli, &lineage->columns->models[lineage->model->index], writer);
        return;
    }
    json_key(writer, STR("columns"));
    json_begin_object(writer);
    for (size_t i = 0; i < lineage->project->model_count; i++) {
        json_key(writer, lineage->project->models[i]->name);
        json_begin_object(writer);
        write_json_columns(cli, &lineage->columns->models[i], writer);
        json_end_object(writer);
    }
    json_end_object(writer);
}

static void print_json(Cli *cli, const Lineage *lineage) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    if (lineage->model != NULL) {
        StrVec upstream = marked_names(lineage->project, lineage->upstream, cli->arena);
        StrVec downstream = marked_names(lineage->project, lineage->downstream, cli->arena);
        json_text_field(writer, STR("model"), lineage->model->name);
        json_text_list_field(writer, STR("upstream"), upstream.items, upstream.count);
        json_text_list_field(writer, STR("downstream"), downstream.items, downstream.count);
    } else {
        json_key(writer, STR("models"));
        json_begin_array(writer);
        for (size_t i = 0; i < lineage->project->model_count; i++) {
            json_text(writer, lineage->project->models[i]->name);
        }
        json_end_array(writer);
    }
    json_text_list_field(writer, STR("external"), lineage->external.items, lineage->external.count);
    json_key(writer, STR("edges"));
    json_begin_array(writer);
    each_edge(lineage, write_json_edge, writer);
    json_end_array(writer);
    if (lineage->columns != NULL) {
        write_json_lineage(cli, lineage, writer);
    }
    json_end_object(writer);
    cli_json_end(cli);
}

/* --- Graphviz --------------------------------------------------------------------------------------------------------
 */

static void append_dot_name(StrBuf *out, Str name) {
    strbuf_char(out, '"');
    for (size_t i = 0; i < name.size; i++) {
        if (name.ptr[i] == '"' || name.ptr[i] == '\\') {
            strbuf_char(out, '\\');
        }
        strbuf_char(out, name.ptr[i]);
    }
    strbuf_char(out, '"');
}

static void write_dot_edge(void *context, Str upstream, Str model) {
    StrBuf *out = context;
    strbuf_text(out, "  ");
    append_dot_name(out, upstream);
    strbuf_text(out, " -> ");
    append_dot_name(out, model);
    strbuf_text(out, ";\n");
}

static void each_external_edge(const Lineage *lineage, Arena *arena,
                               void (*edge)(void *context, Str upstream, Str model), void *context) {
    for (size_t i = 0; i < lineage->project->model_count; i++) {
        StrVec names = external_tables(lineage->project->models[i], arena);
        for (size_t n = 0; n < names.count; n++) {
            if (lineage->shown[i] && str_vec_contains(&lineage->external, names.items[n])) {
                edge(context, names.items[n], lineage->project->models[i]->name);
            }
        }
    }
}

static void write_dot_external(const Lineage *lineage, Arena *arena, StrBuf *out) {
    for (size_t i = 0; i < lineage->external.count; i++) {
        strbuf_text(out, "  ");
        append_dot_name(out, lineage->external.items[i]);
        strbuf_text(out, " [style=dashed];\n");
    }
    each_external_edge(lineage, arena, write_dot_edge, out);
}

/* Calls `edge` for each pair of a source and a column of a shown model, both as "table.column"; with an opaque mark. */
static void each_column_edge(const Lineage *lineage, Arena *arena, void (*edge)(void *context, Str source, Str column),
                             void *context) {
    for (size_t i = 0; lineage->columns != NULL && i < lineage->project->model_count; i++) {
        const LineageOutputVec *outputs = &lineage->columns->models[i].outputs;
        for (size_t o = 0; lineage->shown[i] && o < outputs->count; o++) {
            LineageSource column = {.table = lineage->project->models[i]->name, .column = outputs->items[o].name};
            StrVec sources = source_names(&outputs->items[o].sources, arena);
            for (size_t s = 0; s < sources.count; s++) {
                edge(context, sources.items[s], source_name(&column, arena));
            }
        }
    }
}

static void write_dot_column_edge(void *context, Str source, Str column) {
    StrBuf *out = context;
    strbuf_text(out, "  ");
    append_dot_name(out, source);
    strbuf_text(out, " -> ");
    append_dot_name(out, column);
    strbuf_text(out, " [color=grey];\n");
}

static void print_dot(Cli *cli, const Lineage *lineage) {
    StrBuf *out = &cli->text;
    strbuf_text(out, "digraph lineage {\n  rankdir=LR;\n  node [shape=box];\n");
    for (size_t i = 0; i < lineage->project->model_count; i++) {
        const Model *model = lineage->project->models[i];
        if (lineage->shown[i]) {
            strbuf_text(out, "  ");
            append_dot_name(out, model->name);
            strbuf_text(out, model == lineage->model ? " [style=bold];\n" : ";\n");
        }
    }
    each_edge(lineage, write_dot_edge, out);
    write_dot_external(lineage, cli->arena, out);
    each_column_edge(lineage, cli->arena, write_dot_column_edge, out);
    strbuf_text(out, "}\n");
}

/* --- Mermaid ---------------------------------------------------------------------------------------------------------
 */

/* Nodes have numbers, since Mermaid takes few characters in their names. */
typedef struct Mermaid {
    StrBuf *out;
    StrMap *nodes;
    Arena *arena;
    const char *arrow;
} Mermaid;

static void append_mermaid_text(StrBuf *out, Str text) {
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '"' || c == '#' || c == '<' || c == '>' || c == '&' || c < ' ') {
            strbuf_format(out, "#%d;", c);
        } else {
            strbuf_char(out, text.ptr[i]);
        }
    }
}

static size_t mermaid_node(Mermaid *mermaid, Str name) {
    size_t *number = str_map_find(mermaid->nodes, name);
    if (number == NULL) {
        number = ARENA_NEW(mermaid->arena, size_t);
        *number = str_map_count(mermaid->nodes);
        str_map_put(mermaid->nodes, name, number);
        strbuf_format(mermaid->out, "  n%zu[\"", *number);
        append_mermaid_text(mermaid->out, name);
        strbuf_text(mermaid->out, "\"]\n");
    }
    return *number;
}

static void write_mermaid_edge(void *context, Str upstream, Str model) {
    Mermaid *mermaid = context;
    size_t from = mermaid_node(mermaid, upstream), to = mermaid_node(mermaid, model);
    strbuf_format(mermaid->out, "  n%zu %s n%zu\n", from, mermaid->arrow, to);
}

static void print_mermaid(Cli *cli, const Lineage *lineage) {
    Mermaid mermaid = {
        .out = &cli->text, .nodes = str_map_create(cli->arena, STR_MAP_EXACT), .arena = cli->arena, .arrow = "-->"};
    strbuf_text(mermaid.out, "flowchart LR\n");
    for (size_t i = 0; i < lineage->project->model_count; i++) {
        if (lineage->shown[i]) {
            (void)mermaid_node(&mermaid, lineage->project->models[i]->name);
        }
    }
    each_edge(lineage, write_mermaid_edge, &mermaid);
    each_external_edge(lineage, cli->arena, write_mermaid_edge, &mermaid);
    mermaid.arrow = "-.->";
    each_column_edge(lineage, cli->arena, write_mermaid_edge, &mermaid);
}

/* --- Command ---------------------------------------------------------------------------------------------------------
 */

static const struct LineageFormat {
    Str name;
    void (*print)(Cli *cli, const Lineage *lineage);
} formats[] = {
    {STR_INIT("text"), print_text},
    {STR_INIT("json"), print_json},
    {STR_INIT("dot"), print_dot},
    {STR_INIT("mermaid"), print_mermaid},
};

static void print_lineage(Cli *cli, const Lineage *lineage) {
    Str wanted = cli_wants_json(cli) ? STR("json") : invocation_text(cli->invocation, OPTION_LINEAGE_FORMAT);
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (str_equal(wanted, formats[i].name)) {
            formats[i].print(cli, lineage);
        }
    }
}

Status command_lineage(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));

    const Model *model = NULL;
    Str name = invocation_argument(cli->invocation, 0);
    if (name.size > 0) {
        CLI_TRY(project_get(session->project, name, &model, &err));
    }
    int64_t depth = invocation_number(cli->invocation, OPTION_DEPTH);
    Lineage lineage = find_lineage(session->project, model, depth == 0 ? INT64_MAX : depth, cli->arena);
    ColumnLineage columns;
    if (invocation_flag(cli->invocation, OPTION_COLUMNS)) {
        CLI_TRY(columns_of_models(cli, session, &columns, &err));
        lineage.columns = &columns;
    }
    print_lineage(cli, &lineage);
    return OK;
}
