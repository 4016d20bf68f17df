#include "project/selector.h"

#include "project/graph.h"

/* ---- One token: ["+"] core ["+"] */

typedef struct SelectorToken {
    Str core;
    bool with_ancestors, with_descendants;
} SelectorToken;

typedef struct Selector {
    const Project *project;
    const SelectionOptions *options;
    Arena *arena;
    bool *matches; /* of the token that is looked at */
} Selector;

static SelectorToken read_token(Str text) {
    SelectorToken token = {.core = text};
    if (str_starts_with(token.core, STR("+"))) {
        token.with_ancestors = true;
        token.core = str_skip(token.core, 1);
    }
    if (str_ends_with(token.core, STR("+"))) {
        token.with_descendants = true;
        token.core = str_slice(token.core, 0, token.core.size - 1);
    }
    return token;
}

/* `*` stands for any text, `?` for one character. The last star takes back what did not fit, so there is no recursion.
 */
static bool glob_matches(Str pattern, Str text) {
    size_t p = 0, t = 0, star = STR_NOT_FOUND, star_text = 0;
    while (t < text.size) {
        if (p < pattern.size && (pattern.ptr[p] == '?' || (pattern.ptr[p] != '*' && pattern.ptr[p] == text.ptr[t]))) {
            p++;
            t++;
        } else if (p < pattern.size && pattern.ptr[p] == '*') {
            star = p++;
            star_text = t;
        } else if (star != STR_NOT_FOUND) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.size && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.size;
}

/* ---- Kinds of cores. Each marks what it matches, or says why nothing does. */

/* A name is exact; one in other letters is at least near. */
static Status match_name(Selector *selector, Str name, Error *err) {
    const Model *model = project_find(selector->project, name);
    if (model != NULL && str_equal(model->name, name)) {
        selector->matches[model->index] = true;
        return OK;
    }
    AUTO(error) Error unknown;
    error_init(&unknown);
    bool is_near = !failed(project_get(selector->project, name, &model, &unknown));
    error_set(err, ERROR_SELECTION, "unknown model in selector: '" STR_FMT "'", STR_ARG(name));
    if (is_near) {
        error_hint(err, "did you mean '" STR_FMT "'?", STR_ARG(model->name));
    } else if (unknown.hint.size > 0) {
        error_hint(err, STR_FMT, STR_ARG(unknown.hint));
    }
    return FAILED;
}

static Status match_glob(Selector *selector, Str pattern, Error *err) {
    bool any = false;
    for (size_t i = 0; i < selector->project->model_count; i++) {
        if (glob_matches(pattern, selector->project->models[i]->name)) {
            selector->matches[i] = any = true;
        }
    }
    return any ? OK : error_set(err, ERROR_SELECTION, "no model's name matches '" STR_FMT "'", STR_ARG(pattern));
}

static Status refuse_tag(const Selector *selector, Str tag, Error *err) {
    StrVec tags = {0};
    for (size_t i = 0; i < selector->project->model_count; i++) {
        const StrVec *own = &selector->project->models[i]->tags;
        for (size_t k = 0; k < own->count; k++) {
            if (!str_vec_contains(&tags, own->items[k])) {
                str_vec_push(selector->arena, &tags, own->items[k]);
            }
        }
    }
    str_vec_sort(&tags);
    Str known = tags.count == 0 ? STR("none") : str_join(selector->arena, tags.items, tags.count, STR(", "));
    return error_set(err, ERROR_SELECTION, "no model has the tag '" STR_FMT "'; known tags: " STR_FMT, STR_ARG(tag),
                     STR_ARG(known));
}

static Status match_tag(Selector *selector, Str tag, Error *err) {
    bool any = false;
    for (size_t i = 0; i < selector->project->model_count; i++) {
        if (str_vec_contains(&selector->project->models[i]->tags, tag)) {
            selector->matches[i] = any = true;
        }
    }
    return any ? OK : refuse_tag(selector, tag, err);
}

static bool is_at_path(Str file, Str path) {
    if (!str_starts_with(file, path)) {
        return false;
    }
    return file.size == path.size || str_ends_with(path, STR("/")) || file.ptr[path.size] == '/';
}

static Status match_path(Selector *selector, Str written, Error *err) {
    Str path = written;
    while (str_starts_with(path, STR("./"))) {
        path = str_skip(path, 2);
    }
    bool any = false;
    for (size_t i = 0; i < selector->project->model_count && path.size > 0; i++) {
        if (is_at_path(selector->project->models[i]->place.file, path)) {
            selector->matches[i] = any = true;
        }
    }
    return any ? OK : error_set(err, ERROR_SELECTION, "no model is defined under '" STR_FMT "'", STR_ARG(written));
}

static Status match_state(Selector *selector, Str kind, Error *err) {
    if (!str_equal(kind, STR("modified"))) {
        return error_set(err, ERROR_SELECTION, "unknown selector 'state:" STR_FMT "'; there is state:modified",
                         STR_ARG(kind));
    }
    if (selector->options->is_modified == NULL) {
        return error_set(err, ERROR_SELECTION,
                         "this command compares with no environment, so it cannot select state:modified");
    }
    for (size_t i = 0; i < selector->project->model_count; i++) {
        selector->matches[i] = selector->options->is_modified[i];
    }
    return OK;
}

typedef struct SelectorMethod {
    Str prefix;
    Status (*match)(Selector *selector, Str value, Error *err);
} SelectorMethod;

/* clang-format off */
static const SelectorMethod methods[] = {
    {STR_INIT("tag:"),   match_tag},
    {STR_INIT("path:"),  match_path},
    {STR_INIT("state:"), match_state},
};
/* clang-format on */

static Status match_core(Selector *selector, Str core, Error *err) {
    for (size_t i = 0; i < COUNT_OF(methods); i++) {
        if (str_starts_with(core, methods[i].prefix)) {
            return methods[i].match(selector, str_skip(core, methods[i].prefix.size), err);
        }
    }
    if (str_find_char(core, ':') != STR_NOT_FOUND) {
        return error_set(err, ERROR_SELECTION,
                         "unknown kind of selector '" STR_FMT "'; there are tag:, path: and state:", STR_ARG(core));
    }
    if (str_find_char(core, '*') != STR_NOT_FOUND || str_find_char(core, '?') != STR_NOT_FOUND) {
        return match_glob(selector, core, err);
    }
    return match_name(selector, core, err);
}

/* ---- Tokens */

/* Adds everything reachable from a match in one walk, however many matches there are. */
static void add_reachable(const Selector *selector, GraphDirection direction, bool *flags) {
    const Project *project = selector->project;
    bool is_up = direction == GRAPH_UPSTREAM;
    bool *reached = ARENA_NEW_ARRAY(selector->arena, bool, project->model_count);
    for (size_t step = 0; step < project->model_count; step++) {
        /* Models are in dependency order: each comes after all that can mark it. */
        size_t i = is_up ? project->model_count - 1 - step : step;
        if (!reached[i] && !selector->matches[i]) {
            continue;
        }
        flags[i] = true;
        const IndexVec *next = is_up ? &project->models[i]->upstreams : &project->models[i]->downstreams;
        for (size_t k = 0; k < next->count; k++) {
            reached[next->items[k]] = true;
        }
    }
}

static Status add_token(Selector *selector, Str text, bool *flags, Error *err) {
    SelectorToken token = read_token(text);
    if (token.core.size == 0) {
        return error_set(err, ERROR_SELECTION, "selector '" STR_FMT "' names no model", STR_ARG(text));
    }
    size_t count = selector->project->model_count;
    selector->matches = ARENA_NEW_ARRAY(selector->arena, bool, count);
    TRY(match_core(selector, token.core, err));
    for (size_t i = 0; i < count; i++) {
        flags[i] = flags[i] || selector->matches[i];
    }
    if (token.with_ancestors) {
        add_reachable(selector, GRAPH_UPSTREAM, flags);
    }
    if (token.with_descendants) {
        add_reachable(selector, GRAPH_DOWNSTREAM, flags);
    }
    return OK;
}

static bool is_separator(char c) {
    return c == ',' || c == ' ' || (c >= '\t' && c <= '\r');
}

/* Tokens of one option, separated by blanks or commas. */
static Status add_option(Selector *selector, Str option, bool *flags, size_t *tokens, Error *err) {
    size_t at = 0;
    while (at < option.size) {
        size_t end = at;
        while (end < option.size && !is_separator(option.ptr[end])) {
            end++;
        }
        if (end > at) {
            (*tokens)++;
            TRY(add_token(selector, str_slice(option, at, end), flags, err));
        }
        at = end + 1;
    }
    return OK;
}

static Status add_options(Selector *selector, const StrVec *options, bool *flags, size_t *tokens, Error *err) {
    for (size_t i = 0; options != NULL && i < options->count; i++) {
        TRY(add_option(selector, options->items[i], flags, tokens, err));
    }
    return OK;
}

Status selection_resolve(const Project *project, const SelectionOptions *options, Arena *arena,
                         Selection *selection_out, Error *err) {
    Selector selector = {.project = project, .options = options, .arena = arena};
    size_t count = project->model_count, selected = 0, excluded = 0;
    bool *contains = ARENA_NEW_ARRAY(arena, bool, count);
    bool *removed = ARENA_NEW_ARRAY(arena, bool, count);
    TRY(add_options(&selector, options->select, contains, &selected, err));
    TRY(add_options(&selector, options->exclude, removed, &excluded, err));
    for (size_t i = 0; i < count; i++) {
        contains[i] = (selected == 0 || contains[i]) && !removed[i];
    }
    *selection_out = (Selection){.is_all = selected == 0 && excluded == 0, .contains = contains, .count = count};
    return OK;
}

/* Upstreams come before their readers, so one walk from the last model to the first reaches them all. */
void selection_grow(const Project *project, const bool *is_modified, Selection *selection) {
    for (size_t i = project->model_count; i-- > 0;) {
        const IndexVec *upstreams = &project->models[i]->upstreams;
        for (size_t k = 0; selection->contains[i] && k < upstreams->count; k++) {
            size_t upstream = upstreams->items[k];
            selection->contains[upstream] = selection->contains[upstream] || is_modified[upstream];
        }
    }
}
