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

/* SHA-256 would be a third of the work of a plan without changes: texts that many models share are hashed once, and
 * what an earlier command hashed is looked up by a hash that is several times as fast. */
typedef struct Hashing {
    Arena *scratch;
    StrMap *texts; /* text: Str of the project's arena */
    SqlCache *known;
} Hashing;

static Str hash_of_text(const Project *project, Hashing *hashing, Str text) {
    const Str *known = str_map_find(hashing->texts, text);
    if (known == NULL) {
        Str *hash = ARENA_NEW(hashing->scratch, Str);
        *hash = fingerprint_of_parts(project->arena, &text, 1);
        str_map_put(hashing->texts, text, hash);
        known = hash;
    }
    return *known;
}

/* An entry is both fingerprints, that of the model's own parts first. How many of the parts are its own need not be in
 * the key: an upstream's fingerprint is never the JSON of a configuration. */
static bool find_known(SqlCache *known, ContentHash key, Model *model, Arena *arena) {
    Str both = sql_cache_find(known, key);
    if (both.size == 0) {
        return false;
    }
    model->local_fingerprint = str_copy(arena, str_slice(both, 0, both.size / 2));
    model->fingerprint = str_copy(arena, str_skip(both, both.size / 2));
    return true;
}

static void add_known(SqlCache *known, ContentHash key, const Model *model, Arena *scratch) {
    Str both = str_format(scratch, STR_FMT STR_FMT, STR_ARG(model->local_fingerprint), STR_ARG(model->fingerprint));
    sql_cache_put(known, key, both);
}

static void hash_parts(Project *project, Model *model, const StrVec *parts, size_t own_count) {
    model->fingerprint =
        fingerprint_of_more_parts(project->arena, parts->items, own_count, parts->count, &model->local_fingerprint);
}

static void fingerprint_parts(Project *project, Model *model, const StrVec *parts, size_t own_count,
                              const Hashing *hashing) {
    if (hashing->known == NULL) {
        hash_parts(project, model, parts, own_count);
        return;
    }
    ContentHash key = content_hash_parts(parts->items, parts->count);
    if (!find_known(hashing->known, key, model, project->arena)) {
        hash_parts(project, model, parts, own_count);
        add_known(hashing->known, key, model, hashing->scratch);
    }
}

static void fingerprint_model(Project *project, Model *model, Hashing *hashing) {
    Arena *scratch = hashing->scratch;
    StrVec parts = {0};
    push_source_parts(scratch, model, &parts);
    str_vec_push(scratch, &parts, model->config_json);
    size_t own_count = parts.count;
    StrVec upstreams = upstream_fingerprints(scratch, project, model);
    for (size_t i = 0; i < upstreams.count; i++) {
        str_vec_push(scratch, &parts, upstreams.items[i]);
    }
    fingerprint_parts(project, model, &parts, own_count, hashing);
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
void fingerprint_project(Project *project, SqlCache *known) {
    AUTO(arena) Arena *scratch = arena_create();
    Hashing hashing = {.scratch = scratch, .texts = str_map_create(scratch, STR_MAP_EXACT), .known = known};
    for (size_t i = 0; i < project->model_count; i++) {
        fingerprint_model(project, project->models[i], &hashing);
    }
}
