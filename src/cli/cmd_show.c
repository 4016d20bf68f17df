/* All about one model: what it is, what an environment serves of it, how that looks. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/model_text.h"
#include "cli/rows_text.h"
#include "cli/table.h"

#include "project/check.h"
#include "run/arrow_type_name.h"
#include "run/environments.h"
#include "run/model_preview.h"
#include "run/relations.h"

/* What a listing of the columns needs no row for. */
#define ROWS_OF_PROFILE 1

typedef struct Shown {
    const Project *project;
    const Model *model;
    Str environment;
    bool is_promoted;
    ShownModel promoted;
    ModelPreview preview;
} Shown;

/* ---- Gathering */

/* An environment that does not exist serves nothing of it: an answer, too. */
static Status find_promoted(Cli *cli, Session *session, Shown *shown, Error *err) {
    ShownModelVec models = {0};
    if (failed(environment_models(session, shown->environment, cli->arena, &models, err))) {
        bool is_absent = err->kind == ERROR_PLAN;
        if (is_absent) {
            error_clear(err);
        }
        return is_absent ? OK : FAILED;
    }
    for (size_t i = 0; i < models.count; i++) {
        if (str_equal_fold(models.items[i].pointer.model, shown->model->name)) {
            shown->promoted = models.items[i];
            shown->is_promoted = true;
        }
    }
    return OK;
}

static Status look(Cli *cli, Session *session, int64_t rows, Shown *shown, Error *err) {
    TRY(find_promoted(cli, session, shown, err));
    if (!shown->is_promoted) {
        shown->preview.unavailable =
            str_format(cli->arena, "not promoted in '" STR_FMT "'", STR_ARG(shown->environment));
        return OK;
    }
    int64_t limit = rows > 0 ? rows : ROWS_OF_PROFILE;
    if (failed(model_preview(session, shown->model, shown->environment, limit, cli->arena, &shown->preview, err))) {
        /* The warehouse is busy or gone: everything else can still be said. */
        shown->preview = (ModelPreview){.unavailable = error_line(err, cli->arena)};
        error_clear(err);
    }
    return OK;
}

/* ---- Text */

static void line(Cli *cli, const char *title, Str text) {
    if (text.size > 0) {
        cli_line(cli, "  %-12s " STR_FMT, title, STR_ARG(text));
    }
}

static Str joined(Cli *cli, const StrVec *names) {
    return str_join(cli->arena, names->items, names->count, STR(", "));
}

static Str output_text(Cli *cli, const Model *model) {
    Str key =
        model->key.count == 0 ? STR_EMPTY : str_format(cli->arena, " on " STR_FMT, STR_ARG(joined(cli, &model->key)));
    return str_format(cli->arena, "%s, %s" STR_FMT, materialise_name(model->materialise),
                      strategy_name(model->strategy), STR_ARG(key));
}

static StrVec downstream_names(const Project *project, const Model *model, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *reader = project->models[i];
        for (size_t u = 0; u < reader->upstreams.count; u++) {
            if (reader->upstreams.items[u] == model->index) {
                str_vec_push(arena, &names, reader->name);
            }
        }
    }
    return names;
}

static StrVec check_names(const Model *model, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < model->checks.count; i++) {
        str_vec_push(arena, &names, model->checks.items[i]->name);
    }
    return names;
}

static Str promoted_text(Cli *cli, const Shown *shown) {
    const Snapshot *snapshot = shown->promoted.snapshot;
    if (!shown->is_promoted) {
        return STR("not promoted");
    }
    Str version = str_equal(shown->promoted.pointer.fingerprint, shown->model->fingerprint) ? STR("this version")
                                                                                            : STR("an older version");
    if (snapshot == NULL) {
        return version;
    }
    Str built = str_slice(time_format_iso(cli->arena, snapshot->created_at), 0, 19);
    Str relation = sql_dotted_name(relation_of_snapshot(snapshot), cli->arena);
    return str_format(cli->arena, STR_FMT ", written " STR_FMT ", %s; " STR_FMT, STR_ARG(version), STR_ARG(built),
                      snapshot->verified_at > 0 ? "checks passed" : "not checked", STR_ARG(relation));
}

static void print_facts(Cli *cli, const Shown *shown) {
    const Model *model = shown->model;
    StrVec readers = downstream_names(shown->project, model, cli->arena);
    StrVec checks = check_names(model, cli->arena);
    cli_line(cli, STR_FMT, STR_ARG(model->name));
    line(cli, "output", output_text(cli, model));
    line(cli, "file", str_format(cli->arena, STR_FMT ":%zu", STR_ARG(model->place.file), model->place.line));
    line(cli, "description", model->description);
    line(cli, "owner", model->owner);
    line(cli, "tags", joined(cli, &model->tags));
    line(cli, "depends on", model_upstream_text(shown->project, model, cli->arena));
    line(cli, "read by", joined(cli, &readers));
    line(cli, "checks", joined(cli, &checks));
    line(cli, "fingerprint", model->fingerprint);
    line(cli, str_to_c(cli->arena, shown->environment), promoted_text(cli, shown));
}

static TableCell measure_cell(const Shown *shown, size_t column, ProfileMeasure measure) {
    const DuckCell *cell = model_preview_measure(&shown->preview, column, measure);
    return cell->kind == DUCK_CELL_NULL ? CELL(STR_EMPTY) : CELL(cell->text);
}

static void print_profile(Cli *cli, const Shown *shown) {
    static const TableColumn columns[] = {
        {.title = "Column", .is_name = true},     {.title = "Type"}, {.title = "Nulls", .is_number = true},
        {.title = "Distinct", .is_number = true}, {.title = "Min"},  {.title = "Max"}};
    const DuckColumnVec *found = &shown->preview.rows.columns;
    Table *table = table_create(cli->arena, STR("Columns"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < found->count; i++) {
        TableCell cells[] = {
            CELL(found->items[i].name),
            CELL(arrow_type_name(found->items[i].type, cli->arena)),
            measure_cell(shown, i, PROFILE_NULLS),
            measure_cell(shown, i, PROFILE_DISTINCT),
            measure_cell(shown, i, PROFILE_MIN),
            measure_cell(shown, i, PROFILE_MAX),
        };
        table_add(table, cells);
    }
    strbuf_char(&cli->text, '\n');
    table_write(table, &cli->out, &cli->text);
}

static void print_text(Cli *cli, const Shown *shown, int64_t rows) {
    print_facts(cli, shown);
    if (shown->preview.unavailable.size > 0) {
        if (shown->is_promoted) {
            line(cli, "rows", shown->preview.unavailable);
        }
    } else {
        print_profile(cli, shown);
    }
    if (rows > 0 && shown->preview.unavailable.size == 0) {
        strbuf_char(&cli->text, '\n');
        rows_print_table(cli, STR("Rows"), &shown->preview.rows, NULL);
    }
    if (shown->model->kind == MODEL_SQL) {
        cli_line(cli, "\n" STR_FMT, STR_ARG(str_trim(shown->model->query.text)));
    }
}

/* ---- JSON */

static void write_built(Cli *cli, const Shown *shown, JsonWriter *writer) {
    const Snapshot *snapshot = shown->promoted.snapshot;
    json_key(writer, STR("promoted"));
    if (!shown->is_promoted) {
        json_null(writer);
        return;
    }
    json_begin_object(writer);
    json_text_field(writer, STR("fingerprint"), shown->promoted.pointer.fingerprint);
    json_int_field(writer, STR("revision"), shown->promoted.pointer.revision);
    json_text_field(writer, STR("promoted_at"), time_format_iso(cli->arena, shown->promoted.pointer.promoted_at));
    json_bool_field(writer, STR("reused"), shown->promoted.is_reused);
    if (snapshot != NULL) {
        json_text_field(writer, STR("relation"), sql_dotted_name(relation_of_snapshot(snapshot), cli->arena));
        json_text_field(writer, STR("written_at"), time_format_iso(cli->arena, snapshot->created_at));
        json_bool_field(writer, STR("verified"), snapshot->verified_at > 0);
    }
    json_end_object(writer);
}

static void write_profile(Cli *cli, const ModelPreview *preview, JsonWriter *writer) {
    json_key(writer, STR("profile"));
    json_begin_array(writer);
    for (size_t i = 0; i < preview->rows.columns.count; i++) {
        const DuckColumn *column = &preview->rows.columns.items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("column"), column->name);
        json_text_field(writer, STR("type"), arrow_type_name(column->type, cli->arena));
        rows_write_measures(preview, i, writer);
        json_end_object(writer);
    }
    json_end_array(writer);
}

static void write_preview(Cli *cli, const Shown *shown, int64_t rows, JsonWriter *writer) {
    bool is_available = shown->preview.unavailable.size == 0;
    size_t shown_rows = rows > 0 ? shown->preview.rows.row_count : 0;
    json_bool_field(writer, STR("available"), is_available);
    json_optional_text_field(writer, STR("message"), shown->preview.unavailable);
    write_profile(cli, &shown->preview, writer);
    json_key(writer, STR("rows"));
    json_begin_array(writer);
    for (size_t i = 0; i < shown_rows; i++) {
        rows_write_row(&shown->preview.rows, i, writer);
    }
    json_end_array(writer);
}

static void print_json(Cli *cli, const Shown *shown, int64_t rows) {
    StrVec checks = check_names(shown->model, cli->arena);
    Str sql = shown->model->kind == MODEL_SQL ? str_trim(shown->model->query.text) : STR_EMPTY;
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    model_write_fields(shown->project, shown->model, cli->arena, writer);
    json_text_list_field(writer, STR("checks"), checks.items, checks.count);
    json_optional_text_field(writer, STR("sql"), sql);
    json_text_field(writer, STR("environment"), shown->environment);
    write_built(cli, shown, writer);
    write_preview(cli, shown, rows, writer);
    json_end_object(writer);
    cli_json_end(cli);
}

/* ---- Command */

static Status print_definition(Cli *cli, const Model *model, Error *err) {
    if (model->kind != MODEL_SQL) {
        return error_set(err, ERROR_PLAN, "'" STR_FMT "' is a Python model: its definition is " STR_FMT,
                         STR_ARG(model->name), STR_ARG(model->place.file));
    }
    cli_line(cli, STR_FMT, STR_ARG(str_trim(model->query.text)));
    return OK;
}

static Status show(Cli *cli, Session *session, Error *err) {
    Shown shown = {.project = session->project, .environment = invocation_text(cli->invocation, OPTION_ENV)};
    int64_t rows = invocation_number(cli->invocation, OPTION_SAMPLE);
    TRY(project_get(session->project, invocation_argument(cli->invocation, 0), &shown.model, err));
    if (invocation_flag(cli->invocation, OPTION_SQL) && !cli_wants_json(cli)) {
        return print_definition(cli, shown.model, err);
    }
    TRY(look(cli, session, rows, &shown, err));
    if (cli_wants_json(cli)) {
        print_json(cli, &shown, rows);
    } else {
        print_text(cli, &shown, rows);
    }
    return OK;
}

Status command_show(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    bool has_window = invocation_list(cli->invocation, OPTION_WINDOW)->count > 0;
    if (invocation_flag(cli->invocation, OPTION_RENDERED)) {
        return command_render(cli, faults);
    }
    if (has_window) {
        CLI_TRY(error_set(&err, ERROR_USAGE, "--window is only of use with --rendered"));
    }
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(show(cli, session, &err));
    return OK;
}
