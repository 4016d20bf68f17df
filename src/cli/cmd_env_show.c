/* What environments serve: of one, and where two differ. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "run/environments.h"
#include "run/relations.h"

static Str relation_text(const Snapshot *snapshot, Arena *arena) {
    bool has_relation = snapshot != NULL && snapshot->physical_name.size > 0;
    return has_relation ? sql_dotted_name(relation_of_snapshot(snapshot), arena) : STR_EMPTY;
}

/* ---- show */

static void print_models_as_json(Cli *cli, Str environment, const ShownModelVec *models) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_text_field(writer, STR("environment"), environment);
    json_key(writer, STR("models"));
    json_begin_array(writer);
    for (size_t i = 0; i < models->count; i++) {
        const ShownModel *model = &models->items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("model"), model->pointer.model);
        json_text_field(writer, STR("fingerprint"), model->pointer.fingerprint);
        json_int_field(writer, STR("revision"), model->pointer.revision);
        json_text_field(writer, STR("promoted_at"), time_format_iso(cli->arena, model->pointer.promoted_at));
        json_optional_text_field(writer, STR("relation"), relation_text(model->snapshot, cli->arena));
        json_bool_field(writer, STR("reused"), model->is_reused);
        json_end_object(writer);
    }
    json_end_array(writer);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_models(Cli *cli, Str environment, const ShownModelVec *models) {
    static const TableColumn columns[] = {{.title = "Model", .is_name = true},
                                          {.title = "Fingerprint", .is_dim = true},
                                          {.title = "Promoted", .is_dim = true},
                                          {.title = "Relation", .is_dim = true},
                                          {.title = "Reused"}};
    Str title = str_format(cli->arena, "Environment " STR_FMT, STR_ARG(environment));
    Table *table = table_create(cli->arena, title, columns, COUNT_OF(columns));
    for (size_t i = 0; i < models->count; i++) {
        const ShownModel *model = &models->items[i];
        TableCell cells[] = {
            CELL(model->pointer.model),
            CELL(model->pointer.fingerprint),
            CELL(str_slice(time_format_iso(cli->arena, model->pointer.promoted_at), 0, 19)),
            CELL(relation_text(model->snapshot, cli->arena)),
            CELL(model->is_reused ? STR("yes") : STR_EMPTY),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

Status command_env_show(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    ShownModelVec models = {0};
    Str environment = invocation_argument(cli->invocation, 0);
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(environment_models(session, environment, cli->arena, &models, &err));
    if (cli_wants_json(cli)) {
        print_models_as_json(cli, environment, &models);
    } else {
        print_models(cli, environment, &models);
    }
    return OK;
}

/* ---- diff */

typedef struct Difference {
    Str model;
    const Pointer *left, *right; /* NULL: not in that environment */
} Difference;
DEFINE_VEC(DifferenceVec, difference_vec, Difference)

static bool is_same(const Pointer *left, const Pointer *right) {
    return left != NULL && right != NULL && str_equal(left->fingerprint, right->fingerprint) &&
           left->revision == right->revision;
}

/* Both are sorted by name. */
static DifferenceVec find_differences(const ShownModelVec *left, const ShownModelVec *right, Arena *arena) {
    DifferenceVec differences = {0};
    size_t l = 0, r = 0;
    while (l < left->count || r < right->count) {
        const Pointer *a = l < left->count ? &left->items[l].pointer : NULL;
        const Pointer *b = r < right->count ? &right->items[r].pointer : NULL;
        int order = a == NULL ? 1 : b == NULL ? -1 : str_compare(a->model, b->model);
        const Pointer *only_a = order <= 0 ? a : NULL, *only_b = order >= 0 ? b : NULL;
        if (!is_same(only_a, only_b)) {
            difference_vec_push(
                arena, &differences,
                (Difference){.model = only_a != NULL ? only_a->model : only_b->model, .left = only_a, .right = only_b});
        }
        l += only_a != NULL;
        r += only_b != NULL;
    }
    return differences;
}

static void print_differences_as_json(Cli *cli, const DifferenceVec *differences) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < differences->count; i++) {
        const Difference *difference = &differences->items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("model"), difference->model);
        json_optional_text_field(writer, STR("left"),
                                 difference->left == NULL ? STR_EMPTY : difference->left->fingerprint);
        json_optional_text_field(writer, STR("right"),
                                 difference->right == NULL ? STR_EMPTY : difference->right->fingerprint);
        json_end_object(writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static void print_differences(Cli *cli, Str left, Str right, const DifferenceVec *differences) {
    if (differences->count == 0) {
        cli_line(cli, "'" STR_FMT "' and '" STR_FMT "' serve the same.", STR_ARG(left), STR_ARG(right));
        return;
    }
    TableColumn columns[] = {{.title = "Model", .is_name = true},
                             {.title = str_to_c(cli->arena, left)},
                             {.title = str_to_c(cli->arena, right)}};
    Table *table = table_create(cli->arena, STR("Differences"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < differences->count; i++) {
        const Difference *difference = &differences->items[i];
        TableCell cells[] = {
            CELL(difference->model),
            CELL(difference->left == NULL ? STR_EMPTY : difference->left->fingerprint),
            CELL(difference->right == NULL ? STR_EMPTY : difference->right->fingerprint),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

Status command_env_diff(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    ShownModelVec left = {0}, right = {0};
    Str left_name = invocation_argument(cli->invocation, 0), right_name = invocation_argument(cli->invocation, 1);
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(environment_models(session, left_name, cli->arena, &left, &err));
    CLI_TRY(environment_models(session, right_name, cli->arena, &right, &err));
    DifferenceVec differences = find_differences(&left, &right, cli->arena);
    if (cli_wants_json(cli)) {
        print_differences_as_json(cli, &differences);
    } else {
        print_differences(cli, left_name, right_name, &differences);
    }
    return OK;
}
