/* Dependency order by Kahn's method: a heap of models whose upstreams all have a place gives the one with the smallest
 * name next. What is left when the heap is empty holds a cycle; each is reported and cut, and the rest goes on. */
#include "project/project_load.h"

#include "project/input_scan.h"

#include <stdlib.h>

typedef struct Heap {
    ModelDraft **items;
    size_t count;
} Heap;

static bool comes_first(const ModelDraft *a, const ModelDraft *b) {
    return str_compare(a->model->name, b->model->name) < 0;
}

static void swap(Heap *heap, size_t a, size_t b) {
    ModelDraft *kept = heap->items[a];
    heap->items[a] = heap->items[b];
    heap->items[b] = kept;
}

static void heap_push(Heap *heap, ModelDraft *draft) {
    size_t at = heap->count++;
    heap->items[at] = draft;
    while (at > 0 && comes_first(heap->items[at], heap->items[(at - 1) / 2])) {
        swap(heap, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static ModelDraft *heap_pop(Heap *heap) {
    ModelDraft *first = heap->items[0];
    heap->items[0] = heap->items[--heap->count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++) {
            if (comes_first(heap->items[child], heap->items[least])) {
                least = child;
            }
        }
        if (least == at) {
            return first;
        }
        swap(heap, at, least);
        at = least;
    }
}

/* ---- The walk. Indexes of models are places in load->drafts until assign_places. */

typedef struct Ordering {
    ProjectLoad *load;
    Arena *scratch;
    IndexVec *readers; /* a draft each: who reads it */
    Heap ready;
    ModelDraft **placed;
    size_t placed_count;
    bool *is_placed; /* a draft each; also true for one that was cut out of a cycle */
} Ordering;

static Ordering ordering_create(ProjectLoad *load, Arena *scratch) {
    size_t count = load->drafts.count;
    Ordering ordering = {
        .load = load,
        .scratch = scratch,
        .readers = ARENA_NEW_ARRAY(scratch, IndexVec, count),
        .ready = {.items = ARENA_NEW_ARRAY(scratch, ModelDraft *, count + 1)},
        .placed = ARENA_NEW_ARRAY(scratch, ModelDraft *, count),
        .is_placed = ARENA_NEW_ARRAY(scratch, bool, count),
    };
    for (size_t i = 0; i < count; i++) {
        ModelDraft *draft = load->drafts.items[i];
        draft->waiting = draft->upstreams.count;
        for (size_t k = 0; k < draft->upstreams.count; k++) {
            index_vec_push(scratch, &ordering.readers[draft->upstreams.items[k]->index], i);
        }
        if (draft->waiting == 0) {
            heap_push(&ordering.ready, draft);
        }
    }
    return ordering;
}

static void place(Ordering *ordering, ModelDraft *draft) {
    size_t index = draft->model->index;
    ordering->is_placed[index] = true;
    ordering->placed[ordering->placed_count++] = draft;
    const IndexVec *readers = &ordering->readers[index];
    for (size_t i = 0; i < readers->count; i++) {
        ModelDraft *reader = ordering->load->drafts.items[readers->items[i]];
        reader->waiting--;
        if (reader->waiting == 0 && !ordering->is_placed[readers->items[i]]) {
            heap_push(&ordering->ready, reader);
        }
    }
}

static void place_ready(Ordering *ordering) {
    while (ordering->ready.count > 0) {
        place(ordering, heap_pop(&ordering->ready));
    }
}

/* ---- Cycles */

static ModelDraft *unplaced_upstream(const Ordering *ordering, const ModelDraft *draft) {
    for (size_t i = 0; i < draft->upstreams.count; i++) {
        size_t index = draft->upstreams.items[i]->index;
        if (!ordering->is_placed[index]) {
            return ordering->load->drafts.items[index];
        }
    }
    return NULL;
}

static ModelDraft *first_unplaced(const Ordering *ordering) {
    ModelDraft *first = NULL;
    for (size_t i = 0; i < ordering->load->drafts.count; i++) {
        ModelDraft *draft = ordering->load->drafts.items[i];
        if (!ordering->is_placed[i] && (first == NULL || comes_first(draft, first))) {
            first = draft;
        }
    }
    return first;
}

/* Every model that is left waits for one that is left, so a walk upstream comes back to where it was. */
static ModelDraftVec find_cycle(const Ordering *ordering) {
    size_t *step = ARENA_NEW_ARRAY(ordering->scratch, size_t, ordering->load->drafts.count);
    ModelDraftVec path = {0};
    ModelDraft *draft = first_unplaced(ordering);
    while (step[draft->model->index] == 0) {
        model_draft_vec_push(ordering->scratch, &path, draft);
        step[draft->model->index] = path.count;
        draft = unplaced_upstream(ordering, draft);
    }
    size_t start = step[draft->model->index] - 1;
    return (ModelDraftVec){.items = path.items + start, .count = path.count - start, .capacity = path.count - start};
}

static void append_model(StrBuf *text, const Model *model) {
    strbuf_format(text, STR_FMT " (" STR_FMT ")", STR_ARG(model->name), STR_ARG(model->place.file));
}

/* From the smallest name on, in the direction of reading: "a (…) → b (…) → a". */
static Status refuse_cycle(const ModelDraftVec *cycle, Error *err) {
    size_t first = 0;
    for (size_t i = 1; i < cycle->count; i++) {
        if (comes_first(cycle->items[i], cycle->items[first])) {
            first = i;
        }
    }
    AUTO(strbuf) StrBuf path = {0};
    for (size_t i = 0; i < cycle->count; i++) {
        append_model(&path, cycle->items[(first + i) % cycle->count]->model);
        strbuf_text(&path, " → ");
    }
    const Model *start = cycle->items[first]->model;
    error_set_at(err, ERROR_DEPENDENCY, start->place, "models read each other in a cycle: %s" STR_FMT, strbuf_c(&path),
                 STR_ARG(start->name));
    error_code(err, STR("graph.cycle"));
    return FAILED;
}

static void cut_cycle(Ordering *ordering) {
    ModelDraftVec cycle = find_cycle(ordering);
    AUTO(error) Error err;
    error_init(&err);
    (void)refuse_cycle(&cycle, &err);
    project_fault(ordering->load, &err);
    for (size_t i = 0; i < cycle.count; i++) {
        ordering->is_placed[cycle.items[i]->model->index] = true;
    }
    for (size_t i = 0; i < cycle.count; i++) {
        place(ordering, cycle.items[i]);
    }
}

/* ---- Places */

static int compare_indexes(const void *a, const void *b) {
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

static void sort_indexes(IndexVec *indexes) {
    if (indexes->count > 1) {
        qsort(indexes->items, indexes->count, sizeof *indexes->items, compare_indexes);
    }
}

static void number_models(const Ordering *ordering) {
    Project *project = ordering->load->project;
    project->model_count = ordering->placed_count;
    project->models = ARENA_NEW_ARRAY(project->arena, Model *, project->model_count);
    for (size_t i = 0; i < project->model_count; i++) {
        project->models[i] = ordering->placed[i]->model;
        project->models[i]->index = i;
        ordering->load->drafts.items[i] = ordering->placed[i];
    }
}

/* Readers come in the order of the project, so their lists are ascending. */
static void link_models(ProjectLoad *load) {
    for (size_t i = 0; i < load->drafts.count; i++) {
        const ModelDraft *draft = load->drafts.items[i];
        for (size_t k = 0; k < draft->upstreams.count; k++) {
            Model *upstream = draft->upstreams.items[k];
            index_vec_push(load->arena, &draft->model->upstreams, upstream->index);
            index_vec_push(load->arena, &upstream->downstreams, i);
        }
        sort_indexes(&draft->model->upstreams);
    }
}

static void write_references(ProjectLoad *load, const ModelDraft *draft) {
    size_t count = draft->is_analyzed ? draft->model->facts->tables.count : 0;
    ModelReference *references = ARENA_NEW_ARRAY(load->arena, ModelReference, count);
    for (size_t i = 0; i < count; i++) {
        const Model *upstream = draft->tables[i];
        references[i] = (ModelReference){
            .model = upstream == NULL ? MODEL_NONE : upstream->index,
            .input = upstream == NULL ? input_find(load->config, &draft->model->facts->tables.items[i]) : INPUT_NONE,
        };
    }
    draft->model->references = references;
}

static void write_parameters(const ModelDraft *draft) {
    PythonDefinition *python = draft->python;
    for (size_t i = 0; python != NULL && i < python->parameters.count; i++) {
        const Model *model = draft->parameter_models[i];
        python->parameters.items[i].model = model == NULL ? MODEL_NONE : model->index;
    }
}

void project_order_models(ProjectLoad *load) {
    AUTO(arena) Arena *scratch = arena_create();
    Ordering ordering = ordering_create(load, scratch);
    place_ready(&ordering);
    while (ordering.placed_count < load->drafts.count) {
        cut_cycle(&ordering);
        place_ready(&ordering);
    }
    number_models(&ordering);
    link_models(load);
    for (size_t i = 0; i < load->drafts.count; i++) {
        write_references(load, load->drafts.items[i]);
        write_parameters(load->drafts.items[i]);
    }
}
