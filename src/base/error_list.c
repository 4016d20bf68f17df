#include "base/error.h"

#include <stdlib.h>

void error_list_init(ErrorList *list) {
    *list = (ErrorList){0};
}

void error_list_deinit(ErrorList *list) {
    for (size_t i = 0; i < list->count; i++) {
        error_deinit(&list->items[i]);
    }
    free(list->items);
    *list = (ErrorList){0};
}

static bool notes_equal(const StrVec *a, const StrVec *b) {
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!str_equal(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}

static bool places_equal(SourceSpan a, SourceSpan b) {
    return a.line == b.line && a.column == b.column && str_equal(a.file, b.file);
}

/* What error_line prints is the same. */
static bool lines_equal(const Error *a, const Error *b) {
    return places_equal(a->place, b->place) && str_equal(a->message, b->message) && notes_equal(&a->notes, &b->notes);
}

static bool list_has_line_of(const ErrorList *list, const Error *err) {
    for (size_t i = 0; i < list->count; i++) {
        if (lines_equal(&list->items[i], err)) {
            return true;
        }
    }
    return false;
}

void error_list_take(ErrorList *list, Error *err) {
    if (list_has_line_of(list, err)) {
        error_clear(err);
        return;
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 4 : list->capacity * 2;
        list->items = heap_realloc(list->items, list->capacity * sizeof *list->items);
    }
    error_init(&list->items[list->count]);
    error_move(&list->items[list->count], err);
    list->count++;
}

typedef struct SortedError {
    Error err;
    size_t arrival; /* qsort is not stable */
} SortedError;

static int compare_sizes(size_t a, size_t b) {
    return (a > b) - (a < b);
}

static int compare_errors(const void *left, const void *right) {
    const SortedError *a = left;
    const SortedError *b = right;
    int order = str_compare(a->err.place.file, b->err.place.file);
    order = order != 0 ? order : compare_sizes(a->err.place.line, b->err.place.line);
    order = order != 0 ? order : compare_sizes(a->err.place.column, b->err.place.column);
    return order != 0 ? order : compare_sizes(a->arrival, b->arrival);
}

void error_list_sort(ErrorList *list) {
    if (list->count < 2) {
        return;
    }
    SortedError *sorted = heap_alloc_zeroed(list->count, sizeof *sorted);
    for (size_t i = 0; i < list->count; i++) {
        sorted[i] = (SortedError){.err = list->items[i], .arrival = i};
    }
    qsort(sorted, list->count, sizeof *sorted, compare_errors);
    for (size_t i = 0; i < list->count; i++) {
        list->items[i] = sorted[i].err;
    }
    free(sorted);
}
