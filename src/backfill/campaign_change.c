#include "backfill/campaign_change.h"

#include "backfill/campaign_area.h"
#include "plan/plan_history.h"
#include "run/forward_only.h"
#include "strategy/strategy.h"

/* ---- What is kept of the old version. */

/* A rebuild from nothing would lose rows; a history by event time is told again from its first event. */
static bool keeps_rows(const Model *model) {
    bool is_told_again = model->strategy == STRATEGY_SCD && model->time_column.size > 0;
    return model->materialise == MATERIALISE_VIRTUAL && strategy_is_accumulating(model->strategy) && !is_told_again;
}

static Status read_history(const Campaign *campaign, const Model *model, const History **history_out, Error *err) {
    const Snapshot *shown = campaign->plan->current[model->index];
    if (!snapshot_has_view(shown) || shown->is_view) {
        return error_set(err, ERROR_PLAN, "what '" STR_FMT "' serves has no table whose rows could be kept",
                         STR_ARG(campaign->plan->environment));
    }
    TRY(plan_history(shown, model, campaign->arena, history_out, err));
    return history_check_definition(*history_out, model, err);
}

static bool is_there(const Campaign *campaign, const Snapshot *shown) {
    return engine_catalog_kind(campaign->build.catalog, relation_of_snapshot(shown)) != RELATION_ABSENT;
}

static bool is_changed(const Campaign *campaign, const Model *model) {
    return campaign->plan->is_modified[model->index] && !model_is_terminal(model);
}

void campaign_read_histories(Campaign *campaign) {
    for (size_t i = 0; i < campaign->plan->tasks.count; i++) {
        PlanTask *task = &campaign->plan->tasks.items[i];
        const Snapshot *shown = campaign->plan->current[task->model->index];
        const History *history = NULL;
        bool goes_on = shown != NULL && is_changed(campaign, task->model) && keeps_rows(task->model) &&
                       str_equal(shown->engine, task->model->engine) && is_there(campaign, shown);
        AUTO(error) Error refused = {0}; /* campaign_refuse_change asks again, and tells it */
        if (goes_on && !failed(read_history(campaign, task->model, &history, &refused))) {
            task->history = history;
            task->category = CATEGORY_FORWARD_ONLY;
        }
    }
}

static bool is_placed_anew(const Campaign *campaign, const CampaignModel *model, const BuildTarget *decided) {
    const Snapshot *shown = campaign->plan->current[model->model->index];
    return shown != NULL && model_has_relation(model->model) && !model_is_terminal(model->model) &&
           !sql_relation_equal(decided->relation, relation_of_snapshot(shown));
}

void campaign_take_target(Campaign *campaign, CampaignModel *model, const BuildTarget *decided) {
    const Snapshot *shown = campaign->plan->current[model->model->index];
    model->target = model->put = *decided;
    model->is_changed = is_changed(campaign, model->model);
    model->moves = model->is_changed || is_placed_anew(campaign, model, decided);
    if (model->moves && shown != NULL) {
        bool goes_on =
            model->task->history != NULL || (!model->is_changed && strategy_is_accumulating(model->model->strategy));
        model->target.relation = relation_of_snapshot(shown);
        model->target.revision = shown->revision;
        model->target.is_there = is_there(campaign, shown);
        model->target.seed = (SqlRelation){0};
        if (goes_on) { /* whatever the ledger knows of it */
            model->put.seed = model->target.relation;
            model->put.is_there = true;
        }
    }
    campaign->shown.items[model->model->index] = model->target.relation;
    model->shown = model->target.relation;
}

/* ---- Refusals. */

static Str build_anew_hint(const Campaign *campaign, const Model *model) {
    return str_format(campaign->arena,
                      "take that change back, or `interlace apply --select " STR_FMT
                      "` builds the table anew, with its past",
                      STR_ARG(model->name));
}

/* The model is named by who tells it. */
static Str without_name(const Campaign *campaign, const Model *model, Str message) {
    Str name = str_format(campaign->arena, "model '" STR_FMT "' ", STR_ARG(model->name));
    return str_starts_with(message, name)
               ? str_format(campaign->arena, "it " STR_FMT, STR_ARG(str_skip(message, name.size)))
               : str_copy(campaign->arena, message);
}

static void refuse_error(const Campaign *campaign, CampaignModel *model, const Error *err) {
    campaign_refuse(model, model->model->place, without_name(campaign, model->model, err->message),
                    build_anew_hint(campaign, model->model));
}

/* Its version has the upstream's in it: rows made of another one would be taken for rows of this. Changed upstreams are
 * selected with it (selection_grow). */
static bool refuse_upstream(const Campaign *campaign, CampaignModel *model) {
    const Project *project = campaign->session->project;
    for (size_t i = 0; i < model->model->upstreams.count; i++) {
        const Model *upstream = project->models[model->model->upstreams.items[i]];
        const CampaignModel *selected = campaign_model_at(campaign, upstream->index);
        if (!campaign->plan->is_modified[upstream->index] || (selected != NULL && selected->part != PART_REFUSED)) {
            continue;
        }
        campaign_refuse(model, model->model->place,
                        str_format(campaign->arena,
                                   "it reads '" STR_FMT "', whose definition has changed, too, and which cannot take "
                                   "part",
                                   STR_ARG(upstream->name)),
                        str_format(campaign->arena,
                                   "`interlace apply --select " STR_FMT "` makes its new definition live first",
                                   STR_ARG(upstream->name)));
        return true;
    }
    return false;
}

static bool refuse_place(const Campaign *campaign, CampaignModel *model, const Snapshot *shown) {
    const Model *of = model->model;
    Str reason = STR_EMPTY;
    if (of->materialise == MATERIALISE_EPHEMERAL && campaign_pointer(campaign, of->name) == NULL) {
        reason =
            str_format(campaign->arena, "'" STR_FMT "' does not serve it yet", STR_ARG(campaign->plan->environment));
    } else if (of->materialise == MATERIALISE_EPHEMERAL && shown != NULL) {
        reason = STR("it has a relation, and is inlined from now on");
    } else if (shown != NULL && shown->physical_catalog.size > 0) {
        reason = STR("it was delivered outside of the warehouse, and is not from now on");
    } else if (shown != NULL && !str_equal(shown->engine, of->engine)) {
        reason = STR("it moves to another engine");
    }
    if (reason.size > 0) {
        campaign_refuse(model, of->place, reason,
                        str_format(campaign->arena, "`interlace apply --select " STR_FMT "` makes that live first",
                                   STR_ARG(of->name)));
    }
    return reason.size > 0;
}

static bool refuse_history(const Campaign *campaign, CampaignModel *model) {
    AUTO(error) Error err = {0};
    const History *history = NULL;
    bool is_refused = keeps_rows(model->model) && model->task->history == NULL && model->target.is_there &&
                      failed(read_history(campaign, model->model, &history, &err));
    if (is_refused) {
        refuse_error(campaign, model, &err);
    }
    return is_refused;
}

/* ---- What is said of it. */

static void note_change(const Campaign *campaign, CampaignModel *model) {
    const PlanChangeVec *changes = &campaign->plan->changes;
    Str environment = campaign->plan->environment;
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i].model != model->model) {
            continue;
        }
        Str upstream = changes->items[i].reason_upstream;
        Str who = upstream.size > 0 ? str_format(campaign->arena, "what it reads ('" STR_FMT "')", STR_ARG(upstream))
                                    : STR("its definition");
        Str rest = model->task->history != NULL ? STR("; rows outside of the windows stay as they are") : STR_EMPTY;
        str_vec_push(campaign->arena, &model->notes,
                     str_format(campaign->arena,
                                STR_FMT " has changed since '" STR_FMT
                                        "' took it over: publication makes the new version "
                                        "live" STR_FMT,
                                STR_ARG(who), STR_ARG(environment), STR_ARG(rest)));
    }
}

bool campaign_refuse_change(const Campaign *campaign, CampaignModel *model) {
    const Snapshot *shown = campaign->plan->current[model->model->index];
    if (!model->is_changed) {
        return false;
    }
    if (refuse_upstream(campaign, model) || refuse_place(campaign, model, shown) ||
        (shown != NULL && refuse_history(campaign, model))) {
        return true;
    }
    note_change(campaign, model);
    return false;
}

/* ---- Relations that stand in. */

static Status stand_in_view(const Campaign *campaign, Str name, const SqlText *query, SqlRelation *relation_out,
                            Error *err) {
    *relation_out = (SqlRelation){.catalog = STR("temp"), .schema = STR("main"), .name = name};
    return campaign_create_view(campaign, *relation_out, query, err);
}

/* The rows that are kept, with the columns that the new version adds. */
static SqlText kept_rows(const Campaign *campaign, const CampaignModel *model, SqlRelation shape) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT * FROM ");
    sql_relation(&sql, model->target.relation);
    strbuf_text(&sql, " UNION ALL BY NAME SELECT * FROM ");
    sql_relation(&sql, shape);
    return sql_text_own(campaign->arena, strbuf_copy(&sql, campaign->arena));
}

static bool refuse_columns(const Campaign *campaign, CampaignModel *model, const DuckColumnVec *given) {
    AUTO(error) Error err = {0};
    bool is_refused =
        model->task->history != NULL && failed(forward_only_check_seed(model->task, model->target.relation, given,
                                                                       campaign->connection, campaign->arena, &err));
    if (is_refused) {
        refuse_error(campaign, model, &err);
    }
    return is_refused;
}

Status campaign_stand_in(Campaign *campaign, CampaignModel *model, Error *err) {
    const Model *of = model->model;
    SqlRelation *item = &campaign->shown.items[of->index];
    DuckColumnVec given = {0};
    SqlRelation shape;
    SqlText query;
    if (of->kind != MODEL_SQL || model->part == PART_REFUSED || model->target.relation.name.size == 0) {
        return OK; /* a Python function says what it gives when it is called */
    }
    TRY(render_model_query(&campaign->shown, of, campaign->arena, &query, err));
    TRY(engine_describe(campaign->connection, &query, campaign->arena, &given, err));
    if (refuse_columns(campaign, model, &given)) {
        return OK;
    }
    if (model->part == PART_VIEW) {
        return stand_in_view(campaign, str_format(campaign->arena, "interlace_view_%zu", of->index), &query, item, err);
    }
    TRY(engine_create_temporary(campaign->connection, str_format(campaign->arena, "interlace_shape_%zu", of->index),
                                &given, &shape, err));
    if (model->task->history == NULL) {
        *item = shape;
        return OK;
    }
    SqlText rows = kept_rows(campaign, model, shape);
    return stand_in_view(campaign, str_format(campaign->arena, "interlace_kept_%zu", of->index), &rows, item, err);
}
