/* "Did you mean …": the edit distance that also counts two swapped neighbours as one slip (optimal string alignment).
 */
#include "base/str.h"

/* Longer words are names nobody misspells by a letter or two, and the table below stays small. */
#define NEAREST_SIZE_MAX ((size_t)80)

static char lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t edit_distance(Str a, Str b) {
    size_t rows[3][NEAREST_SIZE_MAX + 1];
    size_t *before = rows[0], *previous = rows[1], *current = rows[2];
    for (size_t k = 0; k <= b.size; k++) {
        previous[k] = k;
    }
    for (size_t i = 1; i <= a.size; i++) {
        current[0] = i;
        for (size_t k = 1; k <= b.size; k++) {
            bool same = lower(a.ptr[i - 1]) == lower(b.ptr[k - 1]);
            size_t best = smaller(previous[k - 1] + !same, smaller(previous[k], current[k - 1]) + 1);
            if (i > 1 && k > 1 && lower(a.ptr[i - 1]) == lower(b.ptr[k - 2]) &&
                lower(a.ptr[i - 2]) == lower(b.ptr[k - 1])) {
                best = smaller(best, before[k - 2] + 1);
            }
            current[k] = best;
        }
        size_t *oldest = before;
        before = previous;
        previous = current;
        current = oldest;
    }
    return previous[b.size];
}

const Str *str_nearest(Str word, const Str *candidates, size_t count) {
    if (word.size > NEAREST_SIZE_MAX) {
        return NULL;
    }
    size_t allowed = word.size / 3 > 1 ? word.size / 3 : 1;
    const Str *nearest = NULL;
    size_t nearest_distance = allowed + 1;
    for (size_t i = 0; i < count; i++) {
        if (candidates[i].size > NEAREST_SIZE_MAX) {
            continue;
        }
        size_t distance = edit_distance(word, candidates[i]);
        /* A candidate that shares no letter with the word is not near, however short both are. */
        size_t longer = word.size > candidates[i].size ? word.size : candidates[i].size;
        if (distance < nearest_distance && distance < longer) {
            nearest = &candidates[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}
