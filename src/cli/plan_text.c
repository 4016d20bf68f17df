#include "cli/plan_text.h"

#include "cli/table.h"
#include "cli/text_diff.h"
#include "cli/text_width.h"
#include "project/time_scan.h"

/* --- Table -----------------------------------------------------------------------------------------------------------
 */

static const Style change_styles[] = {
    [CHANGE_ADDED] = STYLE_GOOD, [CHANGE_MODIFIED] = STYLE_CHANGED, [CHANGE_REMOVED] = STYLE_BAD};
static const Style category_styles[] = {[CATEGORY_NONE] = STYLE_PLAIN,
                                        [CATEGORY_BREAKING] = STYLE_BAD,
                                        [CATEGORY_NON_BREAKING] = STYLE_GOOD,
                                        [CATEGORY_FORWARD_ONLY] = STYLE_CALM};

/* One for each change; NULL where nothing is to be done. */
static const PlanTask **tasks_of_changes(const Plan *plan, Arena *arena) {
    const PlanTask **by_model = ARENA_NEW_ARRAY(arena, const PlanTask *, plan->project->model_count);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        by_model[plan->tasks.items[i].model->index] = &plan->tasks.items[i];
    }
    const PlanTask **tasks = ARENA_NEW_ARRAY(arena, const PlanTask *, plan->changes.count);
    for (size_t i = 0; i < plan->changes.count; i++) {
        const Model *model = plan->changes.items[i].model;
        tasks[i] = model == NULL ? NULL : by_model[model->index];
    }
    return tasks;
}

static TableCell build_cell(const Plan *plan, const PlanTask *task) {
    static const struct BuildWord {
        Str text;
        Style style;
    } words[] = {
        [TASK_BUILD] = {STR_INIT("rebuild"), STYLE_PLAIN},
        [TASK_REUSE] = {STR_INIT("reuse"), STYLE_CALM},
        [TASK_RECREATE] = {STR_INIT("reuse"), STYLE_CALM},
        [TASK_RECORD] = {STR_INIT(""), STYLE_PLAIN},
    };
    if (task != NULL && task->history != NULL) {
        return CELL_STYLED(STR("copy + run"), STYLE_CALM);
    }
    if (task != NULL && model_is_terminal(task->model)) {
        bool is_gated = !model_delivers_in(task->model, plan->environment);
        return is_gated ? CELL_STYLED(STR("gated"), STYLE_CALM) : CELL(STR("deliver"));
    }
    return task == NULL ? CELL(STR_EMPTY) : CELL_STYLED(words[task->action].text, words[task->action].style);
}

static void append_table(Cli *cli, const Plan *plan) {
    static const TableColumn columns[] = {{.title = "Model", .is_name = true},
                                          {.title = "Change"},
                                          {.title = "Category"},
                                          {.title = "Build", .is_dim = true}};
    Str title = str_format(cli->arena, "Plan " STR_FMT " " STR_FMT, STR_ARG(cli_glyph(cli, GLYPH_DOT)),
                           STR_ARG(plan_environment_text(plan, cli->arena)));
    Table *table = table_create(cli->arena, title, columns, COUNT_OF(columns));
    const PlanTask **tasks = tasks_of_changes(plan, cli->arena);
    for (size_t i = 0; i < plan->changes.count; i++) {
        const PlanChange *change = &plan->changes.items[i];
        TableCell cells[] = {
            CELL(change->name),
            CELL_STYLED(str_from(change_type_name(change->type)), change_styles[change->type]),
            CELL_STYLED(str_from(change_category_name(change->category)), category_styles[change->category]),
            build_cell(plan, tasks[i]),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

/* --- Lines below the table -------------------------------------------------------------------------------------------
 */

static void append_reuse_line(Cli *cli, const Plan *plan) {
    size_t reused = 0;
    for (size_t i = 0; i < plan->tasks.count; i++) {
        TaskAction action = plan->tasks.items[i].action;
        reused += action == TASK_REUSE || action == TASK_RECREATE;
    }
    if (reused > 0) {
        cli_line(cli, "%zu model(s) reuse what was built before.", reused);
    }
}

static void append_labelled(Cli *cli, const char *label, Style style, Str text) {
    style_append(&cli->text, &cli->out, style, str_from(label));
    strbuf_text(&cli->text, ": ");
    text_append_visible(&cli->text, text);
    strbuf_char(&cli->text, '\n');
}

static void append_notes(Cli *cli, const Plan *plan) {
    for (size_t i = 0; i < plan->physical.count; i++) {
        append_labelled(cli, "physical", STYLE_CALM, plan->physical.items[i]);
    }
    if (plan->metadata.count > 0) {
        Str names = str_join(cli->arena, plan->metadata.items, plan->metadata.count, STR(", "));
        append_labelled(cli, "metadata", STYLE_CALM,
                        str_format(cli->arena, STR_FMT " (nothing to build)", STR_ARG(names)));
    }
    for (size_t i = 0; i < plan->warnings.count; i++) {
        append_labelled(cli, "note", STYLE_CHANGED, plan->warnings.items[i]);
    }
    if (plan->project->model_count == 0) {
        append_labelled(cli, "note", STYLE_CHANGED, STR("the project has no models"));
    }
}

static void append_gate(Cli *cli, const Plan *plan) {
    StrVec breaking = {0};
    for (size_t i = 0; i < plan->changes.count; i++) {
        const PlanChange *change = &plan->changes.items[i];
        if (change->blocking.size > 0) {
            append_labelled(cli, "blocking", STYLE_BAD,
                            str_format(cli->arena, STR_FMT ": " STR_FMT " (--force does not help)",
                                       STR_ARG(change->name), STR_ARG(change->blocking)));
        } else if (change->category == CATEGORY_BREAKING) {
            str_vec_push(cli->arena, &breaking, change->name);
        }
    }
    if (breaking.count > 0) {
        Str names = str_join(cli->arena, breaking.items, breaking.count, STR(", "));
        append_labelled(cli, "breaking", STYLE_BAD,
                        str_format(cli->arena, STR_FMT " (apply needs --force)", STR_ARG(names)));
    }
}

/* --- Why, and what ---------------------------------------------------------------------------------------------------
 */

static Str proof_text(const ChangeProof *proof, Arena *arena) {
    if (proof->place.file.size == 0) {
        return proof->reason;
    }
    return str_format(arena, STR_FMT " (" STR_FMT ":%zu:%zu)", STR_ARG(proof->reason), STR_ARG(proof->place.file),
                      proof->place.line, proof->place.column);
}

static Str reason_text(const PlanChange *change, const Plan *plan, Arena *arena) {
    switch (change->reason) {
    case REASON_NEW:
        return str_format(arena, "not in '" STR_FMT "' yet", STR_ARG(plan->compared_with));
    case REASON_DEFINITION:
    case REASON_UPSTREAM:
        return proof_text(change->proof, arena);
    case REASON_SNAPSHOT_GONE:
        return STR("the record of what is live is missing");
    case REASON_REMOVED:
        return STR("no longer in the project");
    }
    return STR_EMPTY;
}

static Str action_text(const PlanTask *task) {
    static const Str texts[] = {
        [TASK_BUILD] = STR_INIT("; has to be built"),
        [TASK_REUSE] = STR_INIT("; this version was built before, so its table is reused"),
        [TASK_RECREATE] =
            STR_INIT("; its rows are proven to be the same: the view is made anew over the present tables"),
        [TASK_RECORD] = STR_INIT("; part of the queries that read it, so nothing is built"),
    };
    if (task != NULL && task->history != NULL) {
        return STR("; its rows are copied, and the new definition goes on from there");
    }
    if (task != NULL && task->action == TASK_REUSE &&
        !str_equal(task->snapshot->fingerprint, task->model->fingerprint)) {
        return STR("; its rows are proven to be the same, so its table is kept");
    }
    return task == NULL ? STR_EMPTY : texts[task->action];
}

/* What a window of an incremental model reads of its sources; a removed model is none. */
static void append_scans(Cli *cli, const Plan *plan, const Model *model) {
    StrVec lines = model == NULL ? (StrVec){0} : time_scans_explain(plan->project, model, cli->arena);
    for (size_t i = 0; i < lines.count; i++) {
        cli_line(cli, "  " STR_FMT, STR_ARG(lines.items[i]));
    }
}

static void append_explanation(Cli *cli, const Plan *plan) {
    const PlanTask **tasks = tasks_of_changes(plan, cli->arena);
    strbuf_text(&cli->text, plan->changes.count > 0 ? "\n" : "");
    for (size_t i = 0; i < plan->changes.count; i++) {
        const PlanChange *change = &plan->changes.items[i];
        Str reason = reason_text(change, plan, cli->arena);
        cli_line(cli, STR_FMT ": " STR_FMT STR_FMT, STR_ARG(change->name), STR_ARG(reason),
                 STR_ARG(action_text(tasks[i])));
        append_scans(cli, plan, change->model);
    }
}

/* What a person wrote: the SQL, or the Python function. */
static Str text_before(const Plan *plan, const PlanChange *change) {
    const Snapshot *live = change->model == NULL ? NULL : plan->current[change->model->index];
    return change->previous_sql.size > 0 || live == NULL ? change->previous_sql : live->definition_source;
}

static Str text_after(const PlanChange *change) {
    const Model *model = change->model;
    return change->new_sql.size > 0 || model == NULL || model->python == NULL ? change->new_sql : model->python->source;
}

static void append_diffs(Cli *cli, const Plan *plan) {
    for (size_t i = 0; i < plan->changes.count; i++) {
        const PlanChange *change = &plan->changes.items[i];
        Str before = text_before(plan, change), after = text_after(change);
        if (str_equal(before, after)) {
            continue;
        }
        Str title = str_format(cli->arena, "--- " STR_FMT " (live)\n+++ " STR_FMT, STR_ARG(change->name),
                               STR_ARG(change->name));
        strbuf_char(&cli->text, '\n');
        style_append(&cli->text, &cli->out, STYLE_TITLE, title);
        strbuf_char(&cli->text, '\n');
        text_diff_append(before, after, &cli->out, &cli->text);
    }
}

void plan_text_append(Cli *cli, const Plan *plan, PlanTextOptions options) {
    if (plan->changes.count > 0) {
        append_table(cli, plan);
        append_reuse_line(cli, plan);
    } else if (plan->physical.count == 0) {
        cli_line(cli, "No changes for " STR_FMT ".", STR_ARG(plan_environment_text(plan, cli->arena)));
    }
    append_gate(cli, plan);
    append_notes(cli, plan);
    if (options.explain) {
        append_explanation(cli, plan);
    }
    if (options.diff) {
        append_diffs(cli, plan);
    }
}
