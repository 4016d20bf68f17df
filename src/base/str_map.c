/* Entries stand in an array in order of insertion; an open-addressed table of their indexes finds them. The table is
 * kept at most half full (entries grow with it), and a slot holds index + 1 (0 is free). Nothing is ever removed. */
#include "base/str_map.h"

#include <string.h>

#define STR_MAP_SLOTS_MIN ((size_t)16)

struct StrMap {
    Arena *arena;
    StrMapCase letter_case;
    StrMapEntry *entries;
    size_t count, capacity;
    size_t *slots;
    size_t slot_count; /* a power of two, or 0 while empty */
};

StrMap *str_map_create(Arena *arena, StrMapCase letter_case) {
    StrMap *map = ARENA_NEW(arena, StrMap);
    map->arena = arena;
    map->letter_case = letter_case;
    return map;
}

/* Sets bit 5 of each byte: of letters, their lower case; other bytes may become equal too, which costs a comparison. */
#define LOWER_CASE 0x2020202020202020u

/* Eight bytes a step, each with a multiplication whose high half is folded in; mixed once more at the end, because the
 * table uses the low bits. Whole texts are keys too. */
static size_t hash_key(const StrMap *map, Str key) {
    const uint64_t prime = 0x9E3779B97F4A7C15u;
    uint64_t fold = map->letter_case == STR_MAP_FOLD ? LOWER_CASE : 0;
    uint64_t hash = key.size * prime;
    for (size_t i = 0; i < key.size; i += sizeof hash) {
        uint64_t word = 0;
        size_t left = key.size - i;
        memcpy(&word, key.ptr + i, left < sizeof word ? left : sizeof word);
        hash = (hash ^ (word | fold)) * prime;
        hash ^= hash >> 32; /* a multiplication carries only upwards */
    }
    hash *= prime;
    return (size_t)(hash ^ (hash >> 32));
}

static bool keys_equal(const StrMap *map, Str a, Str b) {
    return map->letter_case == STR_MAP_FOLD ? str_equal_fold(a, b) : str_equal(a, b);
}

/* The slot that holds `key`, or the free one where it would go. */
static size_t find_slot(const StrMap *map, Str key) {
    size_t mask = map->slot_count - 1;
    size_t slot = hash_key(map, key) & mask;
    while (map->slots[slot] != 0 && !keys_equal(map, map->entries[map->slots[slot] - 1].key, key)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static StrMapEntry *find_entry(const StrMap *map, Str key) {
    if (map->slot_count == 0) {
        return NULL;
    }
    size_t slot = find_slot(map, key);
    return map->slots[slot] == 0 ? NULL : &map->entries[map->slots[slot] - 1];
}

void *str_map_find(const StrMap *map, Str key) {
    StrMapEntry *entry = find_entry(map, key);
    return entry == NULL ? NULL : entry->value;
}

bool str_map_contains(const StrMap *map, Str key) {
    return find_entry(map, key) != NULL;
}

static void grow_entries(StrMap *map) {
    map->capacity = map->capacity == 0 ? STR_MAP_SLOTS_MIN / 2 : map->capacity * 2;
    StrMapEntry *entries = ARENA_NEW_ARRAY(map->arena, StrMapEntry, map->capacity);
    if (map->count > 0) {
        memcpy(entries, map->entries, map->count * sizeof *entries);
    }
    map->entries = entries;
}

static void grow_slots(StrMap *map) {
    map->slot_count = map->slot_count == 0 ? STR_MAP_SLOTS_MIN : map->slot_count * 2;
    map->slots = ARENA_NEW_ARRAY(map->arena, size_t, map->slot_count);
    for (size_t i = 0; i < map->count; i++) {
        map->slots[find_slot(map, map->entries[i].key)] = i + 1;
    }
}

void str_map_put(StrMap *map, Str key, void *value) {
    StrMapEntry *present = find_entry(map, key);
    if (present != NULL) {
        present->value = value;
        return;
    }
    if (map->count == map->capacity) {
        grow_entries(map);
        grow_slots(map);
    }
    map->entries[map->count] = (StrMapEntry){.key = key, .value = value};
    map->slots[find_slot(map, key)] = map->count + 1;
    map->count++;
}

size_t str_map_count(const StrMap *map) {
    return map->count;
}

const StrMapEntry *str_map_entries(const StrMap *map) {
    return map->entries;
}
