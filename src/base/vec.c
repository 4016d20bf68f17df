/* Searching and sorting of the two vectors that every folder uses. */
#include "base/vec.h"

#include <stdlib.h>

bool str_vec_contains(const StrVec *vec, Str item) {
    for (size_t i = 0; i < vec->count; i++) {
        if (str_equal(vec->items[i], item)) {
            return true;
        }
    }
    return false;
}

bool str_vec_contains_fold(const StrVec *vec, Str item) {
    for (size_t i = 0; i < vec->count; i++) {
        if (str_equal_fold(vec->items[i], item)) {
            return true;
        }
    }
    return false;
}

bool index_vec_contains(const IndexVec *vec, size_t item) {
    for (size_t i = 0; i < vec->count; i++) {
        if (vec->items[i] == item) {
            return true;
        }
    }
    return false;
}

static int compare_items(const void *a, const void *b) {
    return str_compare(*(const Str *)a, *(const Str *)b);
}

void str_vec_sort(StrVec *vec) {
    if (vec->count > 1) {
        qsort(vec->items, vec->count, sizeof *vec->items, compare_items);
    }
}
