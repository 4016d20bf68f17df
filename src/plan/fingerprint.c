#include "plan/fingerprint.h"

#include "base/hash.h"
#include "base/str_map.h"
#include "sql/sql_lexer.h"

/* What was written: the parts that the model's own text gives. */
static void push_source_parts(Arena *arena, const Model *model, StrVec *parts) {
    if (model->kind == MODEL_SQL) {
        str_vec_push(arena, parts, model->canonical_digest);
        return;
    }
    str_vec_push(arena, parts, model->python->canonical);
    str_vec_push(arena, parts, model->python->captured);
}

static StrVec upstream_fingerprints(Arena *arena, const Project *project, const Model *model) {
    StrVec fingerprints = {0};
    for (size_t i = 0; i < model->upstreams.count; i++) {
        str_vec_push(arena, &fingerprints, project->models[model->upstreams.items[i]]->fingerprint);
    }
    str_vec_sort(&fingerprints);
    return fingerprints;
}

/* Hashing is most of the work of a plan without changes, so texts that many models share are hashed once. */
typedef struct Hashing {
    Arena *scratch;
    StrMap *known; /* text: Str of the project's arena */
} Hashing;

static Str hash_of_text(const Project *project, Hashing *hashing, Str text) {
    const Str *known = str_map_find(hashing->known, text);
    if (known == NULL) {
        Str *hash = ARENA_NEW(hashing->scratch, Str);
        *hash = fingerprint_of_parts(project->arena, &text, 1);
        str_map_put(hashing->known, text, hash);
        known = hash;
    }
    return *known;
}

static void fingerprint_model(const Project *project, Model *model, Hashing *hashing) {
    Arena *scratch = hashing->scratch;
    StrVec parts = {0};
    push_source_parts(scratch, model, &parts);
    str_vec_push(scratch, &parts, model->config_json);
    size_t own_count = parts.count;
    StrVec upstreams = upstream_fingerprints(scratch, project, model);
    for (size_t i = 0; i < upstreams.count; i++) {
        str_vec_push(scratch, &parts, upstreams.items[i]);
    }
    model->fingerprint =
        fingerprint_of_more_parts(project->arena, parts.items, own_count, parts.count, &model->local_fingerprint);
    model->metadata_hash = hash_of_text(project, hashing, model->metadata_json);
    model->physical_hash =
        model->physical_json.size == 0 ? STR_EMPTY : hash_of_text(project, hashing, model->physical_json);
}

static Str fingerprint_of_own(StrVec *own, const StrVec *upstreams, Arena *arena) {
    StrVec sorted = {0};
    for (size_t i = 0; i < upstreams->count; i++) {
        str_vec_push(arena, &sorted, upstreams->items[i]);
    }
    str_vec_sort(&sorted);
    for (size_t i = 0; i < sorted.count; i++) {
        str_vec_push(arena, own, sorted.items[i]);
    }
    return fingerprint_of_parts(arena, own->items, own->count);
}

Str fingerprint_over(const Model *model, const StrVec *upstreams, Arena *arena) {
    StrVec own = {0};
    push_source_parts(arena, model, &own);
    str_vec_push(arena, &own, model->config_json);
    return fingerprint_of_own(&own, upstreams, arena);
}

Status fingerprint_of_text(Str sql, Str config_json, const StrVec *upstreams, Arena *arena, Str *fingerprint_out,
                           Error *err) {
    AUTO(strbuf) StrBuf form = {0};
    StrVec own = {0};
    TRY(sql_canonical_form(sql, &form, err));
    str_vec_push(arena, &own, sha256_hex(arena, strbuf_str(&form)));
    str_vec_push(arena, &own, config_json);
    *fingerprint_out = fingerprint_of_own(&own, upstreams, arena);
    return OK;
}

/* Models stand in dependency order: those above are done when one is reached. */
void fingerprint_project(Project *project) {
    AUTO(arena) Arena *scratch = arena_create();
    Hashing hashing = {.scratch = scratch, .known = str_map_create(scratch, STR_MAP_EXACT)};
    for (size_t i = 0; i < project->model_count; i++) {
        fingerprint_model(project, project->models[i], &hashing);
    }
}
