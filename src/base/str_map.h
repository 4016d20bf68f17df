/* Names to pointers, in an arena, in the order of insertion. Keys are borrowed: they must live as long as the map. */
#ifndef INTERLACE_BASE_STR_MAP_H
#define INTERLACE_BASE_STR_MAP_H

#include "base/arena.h"
#include "base/str.h"

typedef enum StrMapCase { STR_MAP_EXACT, STR_MAP_FOLD } StrMapCase; /* FOLD: ASCII letters without case */

typedef struct StrMapEntry {
    Str key;
    void *value;
} StrMapEntry;

typedef struct StrMap StrMap;

StrMap *str_map_create(Arena *arena, StrMapCase letter_case); /* lives and dies with the arena */
void *str_map_find(const StrMap *map, Str key);               /* NULL when absent */
bool str_map_contains(const StrMap *map, Str key);
void str_map_put(StrMap *map, Str key, void *value); /* replaces the value of a present key */
size_t str_map_count(const StrMap *map);
const StrMapEntry *str_map_entries(const StrMap *map); /* insertion order; valid until the next put */

#endif
