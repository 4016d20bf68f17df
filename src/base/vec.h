/* Growing arrays of one type, in an arena: DEFINE_VEC(StrVec, str_vec, Str) makes the struct and
 *   void str_vec_push(Arena *arena, StrVec *vec, Str item).
 * Growing leaves the old block to the arena, so a vector costs at most twice its items. A zeroed vector is empty. */
#ifndef INTERLACE_BASE_VEC_H
#define INTERLACE_BASE_VEC_H

#include "base/arena.h"
#include "base/str.h"

#include <string.h>

#define DEFINE_VEC(Type, name, Item)                                                                                   \
    typedef struct Type {                                                                                              \
        Item *items;                                                                                                   \
        size_t count, capacity;                                                                                        \
    } Type;                                                                                                            \
    static inline void name##_push(Arena *arena, Type *vec, Item item) {                                               \
        if (vec->count == vec->capacity) {                                                                             \
            size_t capacity = vec->capacity == 0 ? 8 : vec->capacity * 2;                                              \
            Item *items = (Item *)arena_alloc_array(arena, capacity, sizeof(Item));                                    \
            if (vec->count > 0) {                                                                                      \
                memcpy(items, vec->items, vec->count * sizeof(Item));                                                  \
            }                                                                                                          \
            vec->items = items;                                                                                        \
            vec->capacity = capacity;                                                                                  \
        }                                                                                                              \
        vec->items[vec->count++] = item;                                                                               \
    }

DEFINE_VEC(StrVec, str_vec, Str)
DEFINE_VEC(IndexVec, index_vec, size_t)

bool str_vec_contains(const StrVec *vec, Str item);
bool str_vec_contains_fold(const StrVec *vec, Str item); /* ASCII letters without case */
bool index_vec_contains(const IndexVec *vec, size_t item);
void str_vec_sort(StrVec *vec); /* byte order */

#endif
