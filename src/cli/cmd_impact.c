/* What a column reaches. */
#include "cli/cli.h"
#include "cli/columns_of_models.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/text_width.h"

static Str source_text(Arena *arena, const LineageSource *source) {
    return str_format(arena, STR_FMT "." STR_FMT, STR_ARG(source->table), STR_ARG(source->column));
}

/* The edge that was walked: "raw.amount -> agg.total". */
static Str via_text(Arena *arena, const ImpactColumn *column) {
    LineageSource reached = {.table = column->model->name, .column = column->column};
    Str from = source_text(arena, &column->via), to = source_text(arena, &reached);
    return str_format(arena, STR_FMT " -> " STR_FMT, STR_ARG(from), STR_ARG(to));
}

static StrVec model_names(Arena *arena, const ModelVec *models) {
    StrVec names = {0};
    for (size_t i = 0; i < models->count; i++) {
        str_vec_push(arena, &names, models->items[i]->name);
    }
    return names;
}

static StrVec check_names(Arena *arena, const ImpactCheckVec *checks) {
    StrVec names = {0};
    for (size_t i = 0; i < checks->count; i++) {
        const ImpactCheck *item = &checks->items[i];
        str_vec_push(arena, &names,
                     str_format(arena, STR_FMT "." STR_FMT, STR_ARG(item->model->name), STR_ARG(item->check->name)));
    }
    return names;
}

typedef struct ImpactNames {
    StrVec opaque, rows, checks, terminals;
} ImpactNames;

static ImpactNames names_of(Arena *arena, const Impact *impact) {
    return (ImpactNames){.opaque = model_names(arena, &impact->opaque_consumers),
                         .rows = model_names(arena, &impact->row_influence),
                         .checks = check_names(arena, &impact->checks),
                         .terminals = model_names(arena, &impact->terminals)};
}

static void print_json(Cli *cli, const Impact *impact, const ImpactNames *names) {
    JsonWriter *writer = cli_json_begin(cli);
    LineageSource source = {.table = impact->model->name, .column = impact->column};
    json_begin_object(writer);
    json_text_field(writer, STR("source"), source_text(cli->arena, &source));
    json_key(writer, STR("impacted"));
    json_begin_array(writer);
    for (size_t i = 0; i < impact->impacted.count; i++) {
        const ImpactColumn *column = &impact->impacted.items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("model"), column->model->name);
        json_text_field(writer, STR("column"), column->column);
        json_text_field(writer, STR("via"), via_text(cli->arena, column));
        json_end_object(writer);
    }
    json_end_array(writer);
    json_text_list_field(writer, STR("opaque_consumers"), names->opaque.items, names->opaque.count);
    json_text_list_field(writer, STR("row_influence"), names->rows.items, names->rows.count);
    json_text_list_field(writer, STR("checks"), names->checks.items, names->checks.count);
    json_text_list_field(writer, STR("terminals"), names->terminals.items, names->terminals.count);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_columns(Cli *cli, const Impact *impact) {
    static const TableColumn columns[] = {
        {.title = "Model", .is_name = true}, {.title = "Column"}, {.title = "Via", .is_dim = true}};
    if (impact->impacted.count == 0) {
        return;
    }
    Table *table = table_create(cli->arena, STR("Impact"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < impact->impacted.count; i++) {
        const ImpactColumn *column = &impact->impacted.items[i];
        TableCell cells[] = {CELL(column->model->name), CELL(column->column), CELL(via_text(cli->arena, column))};
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

static void print_names(Cli *cli, const char *what, const StrVec *names) {
    if (names->count > 0) {
        Str joined = text_visible(cli->arena, str_join(cli->arena, names->items, names->count, STR(", ")));
        cli_line(cli, "%s: " STR_FMT, what, STR_ARG(joined));
    }
}

static void print_text(Cli *cli, const Impact *impact, const ImpactNames *names) {
    bool is_read = impact->impacted.count + names->opaque.count + names->rows.count > 0;
    print_columns(cli, impact);
    if (!is_read) {
        cli_line(cli, "Nothing downstream reads " STR_FMT "." STR_FMT ".", STR_ARG(impact->model->name),
                 STR_ARG(text_visible(cli->arena, impact->column)));
    }
    print_names(cli, "Opaque, may use every column", &names->opaque);
    print_names(cli, "Decides the rows of", &names->rows);
    print_names(cli, "Checks", &names->checks);
    print_names(cli, "Delivered by", &names->terminals);
}

Status command_impact(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    ColumnLineage columns;
    Impact impact;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(columns_of_models(cli, session, &columns, &err));
    CLI_TRY(impact_of(&columns, invocation_argument(cli->invocation, 0), cli->arena, &impact, &err));
    ImpactNames names = names_of(cli->arena, &impact);
    if (cli_wants_json(cli)) {
        print_json(cli, &impact, &names);
    } else {
        print_text(cli, &impact, &names);
    }
    return OK;
}
