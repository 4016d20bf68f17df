#include "config/overlay.h"

DEFINE_VEC(MergedEntryVec, merged_entry_vec, ConfigEntry)

static const ConfigEntry *find_entry(const ConfigValue *map, Str key) {
    for (size_t i = 0; i < map->count; i++) {
        if (str_equal(map->entries[i].key, key)) {
            return &map->entries[i];
        }
    }
    return NULL;
}

ConfigValue *overlay_merge(Arena *arena, ConfigValue *base, ConfigValue *overlay) {
    if (base->kind != CONFIG_MAP || overlay->kind != CONFIG_MAP) {
        return overlay;
    }
    MergedEntryVec merged = {0};
    for (size_t i = 0; i < base->count; i++) {
        const ConfigEntry *above = find_entry(overlay, base->entries[i].key);
        if (above == NULL) {
            merged_entry_vec_push(arena, &merged, base->entries[i]);
        } else if (above->value->kind != CONFIG_NULL) {
            ConfigEntry entry = *above;
            entry.value = overlay_merge(arena, base->entries[i].value, above->value);
            merged_entry_vec_push(arena, &merged, entry);
        }
    }
    for (size_t i = 0; i < overlay->count; i++) {
        if (find_entry(base, overlay->entries[i].key) == NULL) {
            merged_entry_vec_push(arena, &merged, overlay->entries[i]);
        }
    }
    ConfigValue *map = ARENA_NEW(arena, ConfigValue);
    *map = *base;
    map->entries = merged.items;
    map->count = merged.count;
    return map;
}
