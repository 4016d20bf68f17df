/* The rows of two environments, or of two tables, beside each other. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/model_text.h"
#include "cli/rows_text.h"
#include "cli/table.h"
#include "cli/text_width.h"

#include "run/diff.h"

#define DIFF_LIMIT_MAX 1000

/* --- What was asked --------------------------------------------------------------------------------------------------
 */

static bool is_given(const Cli *cli, OptionId id) {
    return cli->invocation->options[id].is_given;
}

static Status check_mode(const Cli *cli, Error *err) {
    bool has_against = is_given(cli, OPTION_AGAINST);
    bool has_source = is_given(cli, OPTION_SOURCE), has_target = is_given(cli, OPTION_TARGET);
    if (!has_against && !(has_source && has_target)) {
        return error_set(err, ERROR_USAGE,
                         has_source   ? "--source needs --target: the table to compare with"
                         : has_target ? "--target needs --source: the table to compare with"
                                      : "diff needs --against ENV, or --source and --target");
    }
    if (has_against && (has_source || has_target)) {
        return error_set(err, ERROR_USAGE,
                         "--against compares environments, --source and --target two tables: not both");
    }
    if (!has_against && (is_given(cli, OPTION_SELECT) || is_given(cli, OPTION_EXCLUDE))) {
        return error_set(err, ERROR_USAGE, "--select and --exclude go with --against");
    }
    return OK;
}

static Status read_tolerance(const Cli *cli, double *tolerance_out, Error *err) {
    Str text = invocation_text(cli->invocation, OPTION_TOLERANCE);
    if (!str_to_double(text, tolerance_out) || !(*tolerance_out >= 0 && *tolerance_out <= 1e300)) {
        return error_set(err, ERROR_USAGE, "--tolerance must be a number from 0, as 0.001 or 1e-9; got '" STR_FMT "'",
                         STR_ARG(text));
    }
    return OK;
}

static Status read_request(const Cli *cli, DiffRequest *request_out, Error *err) {
    const Invocation *invocation = cli->invocation;
    int64_t limit = invocation_number(invocation, OPTION_DIFF_LIMIT);
    *request_out = (DiffRequest){
        .environment = invocation_text(invocation, OPTION_ENV),
        .against = invocation_text(invocation, OPTION_AGAINST),
        .source = invocation_text(invocation, OPTION_SOURCE),
        .target = invocation_text(invocation, OPTION_TARGET),
        .select = invocation_list(invocation, OPTION_SELECT),
        .exclude = invocation_list(invocation, OPTION_EXCLUDE),
        .options = {.on = invocation_list(invocation, OPTION_ON),
                    .sample_limit = limit < DIFF_LIMIT_MAX ? limit : DIFF_LIMIT_MAX},
        .schema_only = invocation_flag(invocation, OPTION_SCHEMA),
    };
    TRY(check_mode(cli, err));
    return read_tolerance(cli, &request_out->options.tolerance, err);
}

/* --- JSON ------------------------------------------------------------------------------------------------------------
 */

static StrVec key_names(const Comparison *comparison, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < comparison->key_count; i++) {
        str_vec_push(arena, &names, comparison->columns.items[i].name);
    }
    return names;
}

static void write_names(const DuckColumnVec *columns, Str field, JsonWriter *writer) {
    json_key(writer, field);
    json_begin_array(writer);
    for (size_t i = 0; i < columns->count; i++) {
        json_text(writer, columns->items[i].name);
    }
    json_end_array(writer);
}

static void write_schema(const Comparison *comparison, JsonWriter *writer) {
    json_key(writer, STR("schema"));
    json_begin_object(writer);
    write_names(&comparison->added, STR("added"), writer);
    write_names(&comparison->removed, STR("removed"), writer);
    json_key(writer, STR("type_changed"));
    json_begin_array(writer);
    for (size_t i = 0; i < comparison->retyped.count; i++) {
        const ComparedColumn *column = &comparison->retyped.items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("column"), column->name);
        json_text_field(writer, STR("left"), column->left_type);
        json_text_field(writer, STR("right"), column->right_type);
        json_end_object(writer);
    }
    json_end_array(writer);
    json_end_object(writer);
}

static void write_sample(const DuckRows *rows, Str field, JsonWriter *writer) {
    json_key(writer, field);
    json_begin_array(writer);
    for (size_t row = 0; row < rows->row_count; row++) {
        rows_write_object(rows, row, writer);
    }
    json_end_array(writer);
}

static void write_rows(const TableDiff *diff, Arena *arena, JsonWriter *writer) {
    StrVec keys = key_names(&diff->comparison, arena);
    json_key(writer, STR("rows"));
    if (!diff->has_rows) {
        json_null(writer);
        return;
    }
    json_begin_object(writer);
    json_int_field(writer, STR("left_count"), diff->left_count);
    json_int_field(writer, STR("right_count"), diff->right_count);
    json_int_field(writer, STR("left_only"), diff->left_only);
    json_int_field(writer, STR("right_only"), diff->right_only);
    json_int_field(writer, STR("changed"), diff->changed);
    json_int_field(writer, STR("matched"), diff->matched);
    json_text_list_field(writer, STR("keys"), keys.items, keys.count);
    if (diff->is_same_relation) {
        json_null_field(writer, STR("duplicate_keys"));
    } else {
        json_int_field(writer, STR("duplicate_keys"), diff->repeated_keys);
    }
    write_sample(&diff->samples[ROWS_LEFT_ONLY], STR("left_only_sample"), writer);
    write_sample(&diff->samples[ROWS_RIGHT_ONLY], STR("right_only_sample"), writer);
    write_sample(&diff->samples[ROWS_CHANGED], STR("changed_sample"), writer);
    json_end_object(writer);
}

static void write_item(const DiffItem *item, Arena *arena, JsonWriter *writer) {
    json_begin_object(writer);
    json_optional_text_field(writer, STR("left"), item->left.relation);
    json_optional_text_field(writer, STR("right"), item->right.relation);
    json_optional_text_field(writer, STR("model"), item->model == NULL ? STR_EMPTY : item->model->name);
    if (item->is_compared) {
        write_schema(&item->diff.comparison, writer);
    } else {
        json_null_field(writer, STR("schema"));
    }
    write_rows(&item->diff, arena, writer);
    json_optional_text_field(writer, STR("message"), item->message);
    json_bool_field(writer, STR("differs"), item->differs);
    json_end_object(writer);
}

static void print_json(Cli *cli, const DiffItemVec *items) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < items->count; i++) {
        write_item(&items->items[i], cli->arena, writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

/* --- Text ------------------------------------------------------------------------------------------------------------
 */

static void print_sides(Cli *cli, const DiffItem *item) {
    static const TableColumn columns[] = {{.title = "Side"}, {.title = "In"}, {.title = "Table", .is_name = true}};
    Table *table =
        table_create(cli->arena, item->model == NULL ? STR("Tables") : item->model->name, columns, COUNT_OF(columns));
    table_add(table, (TableCell[]){CELL(STR("left")), CELL(item->left.label), CELL(item->left.relation)});
    table_add(table, (TableCell[]){CELL(STR("right")), CELL(item->right.label), CELL(item->right.relation)});
    table_write(table, &cli->out, &cli->text);
}

static void print_column(Cli *cli, Style style, const char *sign, Str name, Str type) {
    Str line = str_format(cli->arena, "%s " STR_FMT " " STR_FMT, sign, STR_ARG(text_visible(cli->arena, name)),
                          STR_ARG(text_visible(cli->arena, type)));
    style_append(&cli->text, &cli->out, style, line);
    strbuf_char(&cli->text, '\n');
}

static void print_schema(Cli *cli, const Comparison *comparison) {
    for (size_t i = 0; i < comparison->added.count; i++) {
        print_column(cli, STYLE_GOOD, "+", comparison->added.items[i].name, comparison->added.items[i].type);
    }
    for (size_t i = 0; i < comparison->removed.count; i++) {
        print_column(cli, STYLE_BAD, "-", comparison->removed.items[i].name, comparison->removed.items[i].type);
    }
    for (size_t i = 0; i < comparison->retyped.count; i++) {
        const ComparedColumn *column = &comparison->retyped.items[i];
        Str types = str_format(cli->arena, STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(column->left_type),
                               STR_ARG(cli_glyph(cli, GLYPH_ARROW)), STR_ARG(column->right_type));
        print_column(cli, STYLE_CHANGED, "~", column->name, types);
    }
}

static void print_counts(Cli *cli, const TableDiff *diff) {
    const struct {
        const char *what;
        int64_t rows;
    } counts[] = {{"left", diff->left_count}, {"right", diff->right_count},   {"matched", diff->matched},
                  {"changed", diff->changed}, {"left only", diff->left_only}, {"right only", diff->right_only}};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (i > 0) {
            strbuf_format(&cli->text, " " STR_FMT " ", STR_ARG(cli_glyph(cli, GLYPH_DOT)));
        }
        strbuf_format(&cli->text, "%s " STR_FMT, counts[i].what, STR_ARG(number_text(cli->arena, counts[i].rows)));
    }
    bool is_whole = diff->comparison.key_count == diff->comparison.columns.count;
    StrVec keys = key_names(&diff->comparison, cli->arena);
    Str by = is_whole ? STR("whole row") : str_join(cli->arena, keys.items, keys.count, STR(", "));
    strbuf_format(&cli->text, " (by " STR_FMT ")\n", STR_ARG(text_visible(cli->arena, by)));
}

static bool cells_differ(const DuckRows *rows, size_t left, size_t right) {
    for (size_t row = 0; row < rows->row_count; row++) {
        const DuckCell *a = duck_cell(rows, row, left), *b = duck_cell(rows, row, right);
        if ((a->kind == DUCK_CELL_NULL) != (b->kind == DUCK_CELL_NULL) || !str_equal(a->text, b->text)) {
            return true;
        }
    }
    return false;
}

/* All columns; of changed rows the key, and the values that differ in a row that is shown. */
static IndexVec shown_columns(Cli *cli, const TableDiff *diff, ComparisonKind kind) {
    IndexVec shown = {0};
    const DuckRows *rows = &diff->samples[kind];
    for (size_t i = 0; i < rows->columns.count; i++) {
        size_t behind_key = i - diff->comparison.key_count;
        bool is_value = kind == ROWS_CHANGED && i >= diff->comparison.key_count;
        size_t left = is_value ? i - behind_key % 2 : i;
        if (!is_value || cells_differ(rows, left, left + 1)) {
            index_vec_push(cli->arena, &shown, i);
        }
    }
    return shown;
}

static void print_sample(Cli *cli, const DiffItem *item, ComparisonKind kind) {
    const DuckRows *rows = &item->diff.samples[kind];
    if (rows->row_count == 0) {
        return;
    }
    IndexVec shown = shown_columns(cli, &item->diff, kind);
    Str label = kind == ROWS_LEFT_ONLY ? item->left.label : item->right.label;
    Str title = kind == ROWS_CHANGED ? STR("Changed") : str_format(cli->arena, "Only in " STR_FMT, STR_ARG(label));
    rows_print_table(cli, title, rows, &shown);
}

static void print_item(Cli *cli, const DiffItem *item) {
    print_sides(cli, item);
    if (item->is_compared) {
        print_schema(cli, &item->diff.comparison);
    }
    if (item->is_compared && !item->diff.has_rows && !item->differs) {
        cli_line(cli, "The columns are the same.");
    }
    if (item->diff.has_rows) {
        print_counts(cli, &item->diff);
    }
    if (item->message.size > 0) {
        cli_line(cli, STR_FMT, STR_ARG(text_visible(cli->arena, item->message)));
    }
    for (size_t kind = 0; kind < ROWS_KIND_COUNT; kind++) {
        print_sample(cli, item, (ComparisonKind)kind);
    }
    strbuf_char(&cli->text, '\n');
}

static void print_text(Cli *cli, const DiffItemVec *items, size_t differing) {
    if (items->count == 0) {
        cli_line(cli, "No comparable models (ephemeral and file outputs are skipped).");
        return;
    }
    for (size_t i = 0; i < items->count; i++) {
        print_item(cli, &items->items[i]);
    }
    const char *what = items->items[0].model != NULL ? "model(s)" : "pair of tables";
    cli_line(cli, "%zu of %zu %s differ.", differing, items->count, what);
}

/* --- Command ---------------------------------------------------------------------------------------------------------
 */

static void print_result(Cli *cli, const DiffItemVec *items) {
    size_t differing = 0;
    for (size_t i = 0; i < items->count; i++) {
        differing += items->items[i].differs;
    }
    if (cli_wants_json(cli)) {
        print_json(cli, items);
    } else {
        print_text(cli, items, differing);
    }
    cli->exit_code = differing > 0 ? 1 : 0;
}

Status command_diff(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    DiffRequest request;
    DiffItemVec items = {0};
    CLI_TRY(read_request(cli, &request, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(diff_run(session, &request, cli->arena, &items, &err));
    print_result(cli, &items);
    return OK;
}
