#include "plan/change_proof.h"

#include "plan/fingerprint.h"
#include "sql/query_consumed.h"
#include "sql/query_determined.h"
#include "sql/query_diff.h"
#include "strategy/strategy.h"

typedef struct Proving {
    const ProofRequest *request;
    Arena *arena;
    Arena *trees;    /* what is parsed: gone when all is proven */
    Query **queries; /* a model's query, once it was read */
    ChangeProof *proofs;
} Proving;

/* ---- One verdict of a model. A worse one takes the place of a better one; columns of both count. */

static bool is_worse(const ChangeProof *a, const ChangeProof *b) {
    return a->impact != b->impact ? a->impact > b->impact : a->is_breaking && !b->is_breaking;
}

static void add_names(Arena *arena, StrVec *names, const StrVec *more) {
    for (size_t i = 0; i < more->count; i++) {
        if (!str_vec_contains_fold(names, more->items[i])) {
            str_vec_push(arena, names, str_copy(arena, more->items[i]));
        }
    }
}

/* Names of a query live no longer than its tree. */
static StrVec copy_names(const Proving *proving, const StrVec *names) {
    StrVec copies = {0};
    add_names(proving->arena, &copies, names);
    return copies;
}

static void take_verdict(const Proving *proving, ChangeProof *proof, const ChangeProof *verdict) {
    ChangeProof merged = is_worse(verdict, proof) || proof->reason.size == 0 ? *verdict : *proof;
    const ChangeProof *other = is_worse(verdict, proof) || proof->reason.size == 0 ? proof : verdict;
    StrVec *lists[] = {&merged.added, &merged.touched, &merged.impacted};
    const StrVec *more[] = {&other->added, &other->touched, &other->impacted};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        StrVec names = {0};
        add_names(proving->arena, &names, lists[i]);
        add_names(proving->arena, &names, more[i]);
        *lists[i] = names;
    }
    merged.is_breaking = proof->is_breaking || verdict->is_breaking;
    *proof = merged;
}

#define VERDICT(proving, ...) str_format((proving)->arena, __VA_ARGS__)

/* ---- Reading queries. */

static Status read_model(Proving *proving, const Model *model, const Query **query_out, Error *err) {
    Query **query = &proving->queries[model->index];
    if (*query == NULL) {
        TRY(query_reader_read(proving->request->project->queries, model->query.text, proving->trees, query, err));
    }
    *query_out = *query;
    return OK;
}

/* ---- Was what is shown built from what is shown of its upstreams? */

/* False: an upstream is not in the environment. */
static bool promoted_upstreams(const Proving *proving, const Model *model, StrVec *fingerprints_out) {
    for (size_t i = 0; i < model->upstreams.count; i++) {
        const Pointer *pointer = proving->request->promoted[model->upstreams.items[i]];
        if (pointer == NULL) {
            return false;
        }
        str_vec_push(proving->arena, fingerprints_out, pointer->fingerprint);
    }
    return true;
}

static bool is_unedited_over_promoted(const Proving *proving, const Model *model) {
    StrVec upstreams = {0};
    Str shown = proving->request->promoted[model->index]->fingerprint;
    return promoted_upstreams(proving, model, &upstreams) &&
           str_equal(fingerprint_over(model, &upstreams, proving->arena), shown);
}

static bool is_recorded_over_promoted(const Proving *proving, const Model *model, const Snapshot *previous) {
    AUTO(error) Error unreadable = {0}; /* then it is not proven */
    StrVec upstreams = {0};
    Str fingerprint = STR_EMPTY;
    error_init(&unreadable);
    return promoted_upstreams(proving, model, &upstreams) &&
           !failed(fingerprint_of_text(previous->definition_sql, previous->config_json, &upstreams, proving->arena,
                                       &fingerprint, &unreadable)) &&
           str_equal(fingerprint, previous->fingerprint);
}

/* ---- The model's own edit. */

static ChangeProof all_may_differ(Str reason) {
    return (ChangeProof){.impact = IMPACT_ALL, .is_breaking = true, .reason = reason};
}

static bool is_same_value(const ConfigValue *a, const ConfigValue *b) {
    bool is_same = a->kind == b->kind && a->count == b->count && str_equal(a->text, b->text);
    for (size_t i = 0; is_same && i < a->count; i++) {
        const ConfigValue *other = a->kind == CONFIG_MAP ? config_find(b, a->entries[i].key) : b->items[i];
        is_same = other != NULL && is_same_value(a->kind == CONFIG_MAP ? a->entries[i].value : a->items[i], other);
    }
    return is_same;
}

/* The keys of the configuration that differ: "`key`, `strategy`". */
static Str changed_keys(const Proving *proving, Str before, Str after) {
    AUTO(error) Error unreadable = {0};
    ConfigValue *old = NULL, *new = NULL;
    StrVec keys = {0};
    error_init(&unreadable);
    if (failed(json_read(before, STR("state"), proving->arena, &old, &unreadable)) ||
        failed(json_read(after, STR("model"), proving->arena, &new, &unreadable)) || new->kind != CONFIG_MAP) {
        return STR_EMPTY;
    }
    for (size_t i = 0; i < new->count; i++) {
        const ConfigValue *other = config_find(old, new->entries[i].key);
        if (other == NULL || !is_same_value(other, new->entries[i].value)) {
            str_vec_push(proving->arena, &keys, VERDICT(proving, "`" STR_FMT "`", STR_ARG(new->entries[i].key)));
        }
    }
    return str_join(proving->arena, keys.items, keys.count, STR(", "));
}

static ChangeProof prove_configuration(const Proving *proving, const Model *model, const Snapshot *previous) {
    Str keys = changed_keys(proving, previous->config_json, model->config_json);
    return all_may_differ(
        VERDICT(proving, "its configuration changed%s" STR_FMT, keys.size > 0 ? ": " : "", STR_ARG(keys)));
}

static ChangeProof prove_python(const Model *model, const Snapshot *previous) {
    bool is_same_function = str_equal(previous->definition_source, model->python->source);
    return all_may_differ(is_same_function ? STR("a helper, a constant or a captured value of its function changed")
                                           : STR("its function changed"));
}

static ChangeProof proof_of_diff(const Proving *proving, const Model *model, const QueryDiff *diff) {
    static const ChangeImpact impacts[] = {
        [QUERY_DIFF_NONE] = IMPACT_CLEAN,
        [QUERY_DIFF_ADDED] = IMPACT_ADDITIVE,
        [QUERY_DIFF_TOUCHED] = IMPACT_TOUCHED,
        [QUERY_DIFF_ALL] = IMPACT_ALL,
    };
    ChangeProof proof = {
        .impact = impacts[diff->kind],
        .is_breaking = diff->kind >= QUERY_DIFF_TOUCHED,
        .added = copy_names(proving, &diff->added),
        .touched = copy_names(proving, &diff->touched),
        .reason = diff->reason,
    };
    proof.impacted = diff->kind == QUERY_DIFF_ADDED ? proof.added : proof.touched;
    if (diff->offset != STR_NOT_FOUND) {
        proof.place = sql_text_place(&model->query, diff->offset, proving->arena);
    }
    return proof;
}

static Status prove_edit(Proving *proving, const Model *model, const Snapshot *previous, ChangeProof *proof_out,
                         Error *err) {
    if (model->kind == MODEL_PYTHON || previous->definition_sql.size == 0) {
        *proof_out = model->kind == MODEL_PYTHON && previous->definition_source.size > 0
                         ? prove_python(model, previous)
                         : all_may_differ(STR("it was a model of another kind"));
        return OK;
    }
    if (!str_equal(previous->config_json, model->config_json)) {
        *proof_out = prove_configuration(proving, model, previous);
        return OK;
    }
    const Query *after = NULL;
    Query *before = NULL;
    AUTO(error) Error unreadable = {0};
    error_init(&unreadable);
    TRY(read_model(proving, model, &after, err));
    if (failed(query_reader_read(proving->request->project->queries, previous->definition_sql, proving->trees, &before,
                                 &unreadable))) {
        *proof_out = all_may_differ(STR("its text changed, and the engine no longer reads the old one"));
        return OK;
    }
    QueryDiff diff;
    query_diff(&(QueryVersion){.text = previous->definition_sql, .query = before},
               &(QueryVersion){.text = model->query.text, .query = after}, proving->arena, &diff);
    *proof_out = proof_of_diff(proving, model, &diff);
    if (diff.kind != QUERY_DIFF_ALL && !is_recorded_over_promoted(proving, model, previous)) {
        *proof_out =
            all_may_differ(STR("it was built from other versions of its upstreams than the environment shows"));
    }
    return OK;
}

static Status prove_own(Proving *proving, const Model *model, ChangeProof *proof_out, Error *err) {
    const Snapshot *previous = proving->request->current[model->index];
    bool is_ephemeral = model->materialise == MATERIALISE_EPHEMERAL;
    if (proving->request->promoted[model->index] == NULL) {
        *proof_out = (ChangeProof){.impact = IMPACT_ALL, .reason = STR("it is new")};
    } else if (previous == NULL && !is_ephemeral) {
        *proof_out = all_may_differ(STR("the record of what is live is missing"));
    } else if (proving->request->project->queries == NULL) {
        *proof_out = all_may_differ(STR("nothing was compared"));
    } else if (previous != NULL && !str_equal(previous->local_fingerprint, model->local_fingerprint)) {
        return prove_edit(proving, model, previous, proof_out, err);
    } else if (!is_unedited_over_promoted(proving, model)) {
        *proof_out = all_may_differ(
            is_ephemeral ? STR("its definition changed")
                         : STR("it was built from other versions of its upstreams than the environment shows"));
    } else {
        *proof_out = (ChangeProof){.impact = IMPACT_CLEAN, .reason = STR_EMPTY};
    }
    return OK;
}

/* ---- What one changed upstream does to the model. */

static Status read_consumption(Proving *proving, const Model *model, const Model *upstream,
                               QueryConsumption *consumption_out, Error *err) {
    if (model->kind == MODEL_PYTHON) {
        *consumption_out =
            (QueryConsumption){.all_reason = STR("it is a Python model"), .open_reason = STR("it is a Python model")};
        return OK;
    }
    const Query *query = NULL;
    TRY(read_model(proving, model, &query, err));
    size_t count = 0;
    size_t *offsets = ARENA_NEW_ARRAY(proving->trees, size_t, model->facts->tables.count);
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        if (model->references[i].model == upstream->index) {
            offsets[count++] = model->facts->tables.items[i].start;
        }
    }
    query_consumed(query, offsets, count, proving->arena, consumption_out);
    if (count == 0) { /* `depends_on` says that it reads it; how, nobody knows */
        consumption_out->all_reason = consumption_out->open_reason = STR("only `depends_on` names it");
        consumption_out->passes_on = false;
    }
    return OK;
}

static StrVec common_names(const Proving *proving, const StrVec *a, const StrVec *b) {
    StrVec common = {0};
    for (size_t i = 0; i < a->count; i++) {
        if (str_vec_contains_fold(b, a->items[i])) {
            str_vec_push(proving->arena, &common, str_copy(proving->arena, a->items[i]));
        }
    }
    return common;
}

static Str quoted_list(const Proving *proving, const StrVec *names) {
    Str list = str_join(proving->arena, names->items, names->count, STR("', '"));
    return VERDICT(proving, "'" STR_FMT "'", STR_ARG(list));
}

static ChangeProof judge_touched(const Proving *proving, const Model *upstream, const ChangeProof *change,
                                 const QueryConsumption *use) {
    ChangeProof verdict = {.impact = IMPACT_ALL, .is_breaking = change->is_breaking, .upstream = upstream};
    Str touched = quoted_list(proving, &change->touched);
    StrVec hits = common_names(proving, &use->columns, &change->touched);
    if (use->all_reason.size > 0) {
        verdict.reason =
            VERDICT(proving, "may use any column of " STR_FMT " (" STR_FMT "), of which " STR_FMT " changed",
                    STR_ARG(upstream->name), STR_ARG(use->all_reason), STR_ARG(touched));
        return verdict;
    }
    if (hits.count > 0) {
        verdict.impacted = hits;
        verdict.reason = VERDICT(proving, "uses " STR_FMT " of " STR_FMT ", which changed",
                                 STR_ARG(quoted_list(proving, &hits)), STR_ARG(upstream->name));
        return verdict;
    }
    verdict.impact = IMPACT_CLEAN;
    verdict.is_breaking = false;
    verdict.reason = VERDICT(proving, "uses none of the columns of " STR_FMT " that changed: " STR_FMT,
                             STR_ARG(upstream->name), STR_ARG(touched));
    return verdict;
}

static ChangeProof judge_added(const Proving *proving, const Model *upstream, const ChangeProof *change,
                               const QueryConsumption *use) {
    ChangeProof verdict = {.impact = IMPACT_ALL, .is_breaking = change->is_breaking, .upstream = upstream};
    StrVec captured = common_names(proving, &change->added, &use->loose);
    Str added = quoted_list(proving, &change->added);
    if (captured.count > 0) {
        verdict.reason = VERDICT(proving, "has the name " STR_FMT ", which may now be the new column of " STR_FMT,
                                 STR_ARG(quoted_list(proving, &captured)), STR_ARG(upstream->name));
        return verdict;
    }
    if (use->open_reason.size > 0) {
        verdict.reason = VERDICT(proving, "takes new columns of " STR_FMT " (" STR_FMT "), which has " STR_FMT " now",
                                 STR_ARG(upstream->name), STR_ARG(use->open_reason), STR_ARG(added));
        verdict.impact = use->passes_on ? IMPACT_ADDITIVE : IMPACT_ALL;
        verdict.is_breaking = verdict.is_breaking && !use->passes_on;
        verdict.added = use->passes_on ? change->added : (StrVec){0};
        return verdict;
    }
    verdict.impact = IMPACT_CLEAN;
    verdict.is_breaking = false;
    verdict.reason = VERDICT(proving, "does not see the new columns of " STR_FMT ": " STR_FMT, STR_ARG(upstream->name),
                             STR_ARG(added));
    return verdict;
}

static Status judge_upstream(Proving *proving, const Model *model, const Model *upstream, ChangeProof *proof,
                             Error *err) {
    const ChangeProof *change = &proving->proofs[upstream->index];
    ChangeProof verdict = {.impact = IMPACT_CLEAN, .upstream = upstream};
    if (change->impact == IMPACT_NONE) {
        return OK;
    }
    if (change->impact == IMPACT_CLEAN || change->impact == IMPACT_ALL) {
        verdict.impact = change->impact;
        verdict.is_breaking = change->is_breaking;
        verdict.reason = VERDICT(proving,
                                 change->impact == IMPACT_ALL ? "the rows of " STR_FMT " may differ"
                                                              : "the rows of " STR_FMT " are the same",
                                 STR_ARG(upstream->name));
        take_verdict(proving, proof, &verdict);
        return OK;
    }
    QueryConsumption use;
    TRY(read_consumption(proving, model, upstream, &use, err));
    if (change->touched.count > 0) {
        verdict = judge_touched(proving, upstream, change, &use);
        take_verdict(proving, proof, &verdict);
    }
    if (change->added.count > 0) {
        verdict = judge_added(proving, upstream, change, &use);
        take_verdict(proving, proof, &verdict);
    }
    return OK;
}

/* ---- What is built again must come out the same, or its old columns are not the old ones. */

static Status judge_rebuild(Proving *proving, const Model *model, ChangeProof *proof, Error *err) {
    bool is_added = proving->request->promoted[model->index] == NULL;
    if (model_is_terminal(model)) { /* delivered again in any case */
        proof->impact = IMPACT_ALL;
        return OK;
    }
    if (proof->impact == IMPACT_CLEAN || is_added || proving->request->keeps_history[model->index]) {
        return OK;
    }
    if (model->materialise == MATERIALISE_VIRTUAL && strategy_is_accumulating(model->strategy) && !proof->is_breaking) {
        ChangeProof verdict =
            all_may_differ(VERDICT(proving, STR_FMT ", and a new table has none of the rows that strategy %s kept",
                                   STR_ARG(proof->reason), strategy_name(model->strategy)));
        verdict.upstream = proof->upstream;
        *proof = verdict;
        return OK;
    }
    if (proof->impact == IMPACT_ALL) {
        return OK;
    }
    const Query *query = NULL;
    TRY(read_model(proving, model, &query, err));
    Str chance = query_undetermined(query, proving->arena);
    if (chance.size > 0) {
        ChangeProof verdict = all_may_differ(
            VERDICT(proving, STR_FMT ", and built again its old columns may come out otherwise: " STR_FMT,
                    STR_ARG(proof->reason), STR_ARG(chance)));
        verdict.upstream = proof->upstream;
        verdict.place = proof->place;
        *proof = verdict;
    }
    return OK;
}

static Status prove(Proving *proving, const Model *model, Error *err) {
    ChangeProof *proof = &proving->proofs[model->index];
    TRY(prove_own(proving, model, proof, err));
    for (size_t i = 0; i < model->upstreams.count && !(proof->impact == IMPACT_ALL && proof->is_breaking); i++) {
        TRY(judge_upstream(proving, model, proving->request->project->models[model->upstreams.items[i]], proof, err));
    }
    return judge_rebuild(proving, model, proof, err);
}

Status change_proofs(const ProofRequest *request, Arena *arena, const ChangeProof **proofs_out, Error *err) {
    AUTO(arena) Arena *trees = arena_create();
    size_t count = request->project->model_count;
    Proving proving = {
        .request = request,
        .arena = arena,
        .trees = trees,
        .queries = ARENA_NEW_ARRAY(trees, Query *, count),
        .proofs = ARENA_NEW_ARRAY(arena, ChangeProof, count),
    };
    for (size_t i = 0; i < count; i++) {
        if (request->is_modified[i]) {
            TRY(prove(&proving, request->project->models[i], err));
        }
    }
    *proofs_out = proving.proofs;
    return OK;
}
