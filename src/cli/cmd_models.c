#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/model_text.h"
#include "cli/table.h"

#include "project/selector.h"
#include "run/apply.h"

/* --- Selection -------------------------------------------------------------------------------------------------------
 */

static bool asks_for_state(const StrVec *selectors) {
    for (size_t i = 0; i < selectors->count; i++) {
        if (str_find(selectors->items[i], STR("state:")) != STR_NOT_FOUND) {
            return true;
        }
    }
    return false;
}

/* Only `state:` needs what is recorded of the environment; everything else comes from the project alone. */
static Status load_modified(Cli *cli, Session *session, Plan **plan_out, ErrorList *faults) {
    const Invocation *invocation = cli->invocation;
    if (!asks_for_state(invocation_list(invocation, OPTION_SELECT)) &&
        !asks_for_state(invocation_list(invocation, OPTION_EXCLUDE))) {
        return OK;
    }
    PlanOptions options = {.environment = invocation_text(invocation, OPTION_ENV)};
    return plan_for_reading(session, &options, plan_out, faults);
}

static bool has_tag(const Model *model, const StrVec *tags) {
    for (size_t i = 0; i < tags->count; i++) {
        if (str_vec_contains(&model->tags, tags->items[i])) {
            return true;
        }
    }
    return tags->count == 0;
}

static Status select_models(Cli *cli, const Project *project, const Plan *plan, Selection *selection_out, Error *err) {
    SelectionOptions options = {
        .select = invocation_list(cli->invocation, OPTION_SELECT),
        .exclude = invocation_list(cli->invocation, OPTION_EXCLUDE),
        .is_modified = plan == NULL ? NULL : plan->is_modified,
    };
    TRY(selection_resolve(project, &options, cli->arena, selection_out, err));
    const StrVec *tags = invocation_list(cli->invocation, OPTION_TAG);
    for (size_t i = 0; i < project->model_count; i++) {
        selection_out->contains[i] = selection_out->contains[i] && has_tag(project->models[i], tags);
    }
    return OK;
}

/* --- Result ----------------------------------------------------------------------------------------------------------
 */

static void print_json(Cli *cli, const Project *project, const Selection *selection) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < project->model_count; i++) {
        if (selection->contains[i]) {
            json_begin_object(writer);
            model_write_fields(project, project->models[i], cli->arena, writer);
            json_end_object(writer);
        }
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static void print_table(Cli *cli, const Project *project, const Selection *selection) {
    static const TableColumn columns_one_engine[] = {{.title = "Model", .is_name = true},
                                                     {.title = "Output"},
                                                     {.title = "Strategy"},
                                                     {.title = "Depends on", .is_dim = true}};
    static const TableColumn columns_engines[] = {{.title = "Model", .is_name = true},
                                                  {.title = "Output"},
                                                  {.title = "Strategy"},
                                                  {.title = "Engine"},
                                                  {.title = "Depends on", .is_dim = true}};
    bool with_engine = project_uses_several_engines(project);
    Table *table = with_engine
                       ? table_create(cli->arena, STR("Models"), columns_engines, COUNT_OF(columns_engines))
                       : table_create(cli->arena, STR("Models"), columns_one_engine, COUNT_OF(columns_one_engine));
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        if (!selection->contains[i]) {
            continue;
        }
        TableCell cells[COUNT_OF(columns_engines)];
        size_t count = 0;
        cells[count++] = CELL(model->name);
        cells[count++] = CELL(str_from(materialise_name(model->materialise)));
        cells[count++] = CELL(str_from(strategy_name(model->strategy)));
        if (with_engine) {
            cells[count++] = CELL(model->engine);
        }
        cells[count++] = CELL(model_upstream_text(project, model, cli->arena));
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

Status command_models(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    AUTO(plan) Plan *plan = NULL;
    Selection selection = {0};
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    TRY(load_modified(cli, session, &plan, faults));
    CLI_TRY(select_models(cli, session->project, plan, &selection, &err));

    if (cli_wants_json(cli)) {
        print_json(cli, session->project, &selection);
    } else if (session->project->model_count == 0) {
        cli_line(cli, "No models.");
    } else {
        print_table(cli, session->project, &selection);
    }
    return OK;
}
