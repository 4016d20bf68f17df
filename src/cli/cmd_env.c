#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "run/apply.h"

/* How an environment compares with the project as it is now. */
typedef struct EnvironmentState {
    EnvironmentSummary summary;
    Str views;      /* where its views are: main.* or dev__*.* */
    size_t drift;   /* models whose promoted version is not the compiled one, or which are not in it */
    size_t removed; /* pointers of models that the project has no longer */
} EnvironmentState;

static bool is_production(Str environment) {
    return str_equal(environment, STR("prod"));
}

static Str views_pattern(Str environment, Arena *arena) {
    return is_production(environment) ? STR("main.*") : str_format(arena, STR_FMT "__*.*", STR_ARG(environment));
}

static size_t count_drift(const Project *project, const StrMap *promoted) {
    size_t drift = 0;
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        const Pointer *pointer = str_map_find(promoted, model->name);
        drift += pointer == NULL || !str_equal(pointer->fingerprint, model->fingerprint);
    }
    return drift;
}

static Status compare(const Project *project, StateStore *state, EnvironmentSummary summary, Arena *arena,
                      EnvironmentState *state_out, Error *err) {
    PointerVec pointers = {0};
    TRY(state_load_pointers(state, summary.name, arena, &pointers, err));
    StrMap *promoted = str_map_create(arena, STR_MAP_FOLD);
    size_t removed = 0;
    for (size_t i = 0; i < pointers.count; i++) {
        str_map_put(promoted, pointers.items[i].model, &pointers.items[i]);
        removed += project_find(project, pointers.items[i].model) == NULL;
    }
    *state_out = (EnvironmentState){
        .summary = summary,
        .views = views_pattern(summary.name, arena),
        .drift = count_drift(project, promoted),
        .removed = removed,
    };
    return OK;
}

/* --- Result ----------------------------------------------------------------------------------------------------------
 */

static void print_json(Cli *cli, const EnvironmentState *states, size_t count) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        const EnvironmentState *state = &states[i];
        json_begin_object(writer);
        json_text_field(writer, STR("name"), state->summary.name);
        json_text_field(writer, STR("views"), state->views);
        json_int_field(writer, STR("models"), (int64_t)state->summary.pointer_count);
        json_int_field(writer, STR("drift"), (int64_t)state->drift);
        json_int_field(writer, STR("removed"), (int64_t)state->removed);
        json_int_field(writer, STR("generation"), state->summary.generation);
        json_text_field(writer, STR("promoted_at"), time_format_iso(cli->arena, state->summary.promoted_at));
        json_end_object(writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static Str count_text(Arena *arena, size_t count) {
    return count == 0 ? STR_EMPTY : str_format(arena, "%zu", count);
}

static void print_table(Cli *cli, const EnvironmentState *states, size_t count) {
    static const TableColumn columns[] = {
        {.title = "Environment", .is_name = true}, {.title = "Views", .is_dim = true},
        {.title = "Models", .is_number = true},    {.title = "Drift", .is_number = true},
        {.title = "Removed", .is_number = true},   {.title = "Generation", .is_number = true},
        {.title = "Promoted", .is_dim = true},
    };
    Table *table = table_create(cli->arena, STR("Environments"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < count; i++) {
        const EnvironmentState *state = &states[i];
        Str views = is_production(state->summary.name)
                        ? str_format(cli->arena, STR_FMT " (production)", STR_ARG(state->views))
                        : state->views;
        TableCell cells[] = {
            CELL(state->summary.name),
            CELL(views),
            CELL(str_format(cli->arena, "%zu", state->summary.pointer_count)),
            CELL_STYLED(count_text(cli->arena, state->drift), STYLE_CHANGED),
            CELL_STYLED(count_text(cli->arena, state->removed), STYLE_BAD),
            CELL(count_text(cli->arena, (size_t)state->summary.generation)),
            CELL(str_slice(time_format_iso(cli->arena, state->summary.promoted_at), 0, 19)),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

static Status list_environments(Cli *cli, Session *session, Error *err) {
    StateStore *store = NULL;
    EnvironmentSummaryVec summaries = {0};
    TRY(recovery_finish_if_needed(session, err));
    TRY(session_state_for_reading(session, &store, err));
    TRY(state_load_environments(store, cli->arena, &summaries, err));

    EnvironmentState *states = ARENA_NEW_ARRAY(cli->arena, EnvironmentState, summaries.count);
    for (size_t i = 0; i < summaries.count; i++) {
        TRY(compare(session->project, store, summaries.items[i], cli->arena, &states[i], err));
    }
    if (cli_wants_json(cli)) {
        print_json(cli, states, summaries.count);
    } else if (summaries.count == 0) {
        cli_line(cli, "No environments promoted yet " STR_FMT " run interlace apply.",
                 STR_ARG(cli_glyph(cli, GLYPH_DASH)));
    } else {
        print_table(cli, states, summaries.count);
    }
    return OK;
}

Status command_env_list(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(list_environments(cli, session, &err));
    return OK;
}
