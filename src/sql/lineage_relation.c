#include "sql/lineage_relation.h"

/* --- Sets --------------------------------------------------------------------------------------------------------- */

void lineage_columns_init(LineageColumns *columns, Arena *arena) {
    *columns = (LineageColumns){.arena = arena, .numbers = str_map_create(arena, STR_MAP_FOLD)};
}

static size_t number_of(LineageColumns *columns, Str table, Str column) {
    Arena *arena = columns->arena;
    Str key = str_format(arena, STR_FMT "\x1f" STR_FMT, STR_ARG(table), STR_ARG(column));
    size_t *number = str_map_find(columns->numbers, key);
    if (number == NULL) {
        number = ARENA_NEW(arena, size_t);
        *number = columns->items.count;
        str_map_put(columns->numbers, key, number);
        lineage_source_vec_push(arena, &columns->items, (LineageSource){.table = table, .column = column});
        index_vec_push(arena, &columns->visited, 0);
    }
    return *number;
}

void column_set_add(LineageColumns *columns, ColumnSet *set, Str table, Str column) {
    size_t number = number_of(columns, table, column);
    if (!index_vec_contains(set, number)) {
        index_vec_push(columns->arena, set, number);
    }
}

void column_set_union(LineageColumns *columns, ColumnSet *set, const ColumnSet *more) {
    size_t mark = ++columns->unions;
    for (size_t i = 0; i < set->count; i++) {
        columns->visited.items[set->items[i]] = mark;
    }
    for (size_t i = 0; i < more->count; i++) {
        size_t number = more->items[i];
        if (columns->visited.items[number] != mark) {
            columns->visited.items[number] = mark;
            index_vec_push(columns->arena, set, number);
        }
    }
}

LineageSourceVec column_set_sources(const LineageColumns *columns, const ColumnSet *set) {
    LineageSourceVec sources = {0};
    for (size_t i = 0; i < set->count; i++) {
        lineage_source_vec_push(columns->arena, &sources, columns->items.items[set->items[i]]);
    }
    return sources;
}

/* --- Relations ---------------------------------------------------------------------------------------------------- */

const RelationColumn *relation_find(const Relation *relation, Str name) {
    for (size_t i = 0; i < relation->columns.count; i++) {
        if (str_equal_fold(relation->columns.items[i].name, name)) {
            return &relation->columns.items[i];
        }
    }
    return NULL;
}

RelationMatch relation_match(const Relation *relation, Str name) {
    if (relation_find(relation, name) != NULL) {
        return RELATION_HAS;
    }
    bool may_have = relation->is_open && !(relation->rest.count == 0 && str_vec_contains_fold(&relation->absent, name));
    return may_have ? RELATION_MAY_HAVE : RELATION_HAS_NOT;
}

bool relation_add_column(LineageColumns *columns, const Relation *relation, Str name, ColumnSet *set) {
    const RelationColumn *column = relation_find(relation, name);
    if (column != NULL) {
        column_set_union(columns, set, &column->sources);
        return true;
    }
    bool is_absent = str_vec_contains_fold(&relation->absent, name);
    for (size_t i = 0; i < relation->open_tables.count && !is_absent; i++) {
        column_set_add(columns, set, relation->open_tables.items[i], name);
    }
    column_set_union(columns, set, &relation->rest);
    return relation->open_tables.count + (relation->rest.count > 0) <= 1;
}

void relation_add_all(LineageColumns *columns, const Relation *relation, ColumnSet *set) {
    for (size_t i = 0; i < relation->columns.count; i++) {
        column_set_union(columns, set, &relation->columns.items[i].sources);
    }
    for (size_t i = 0; i < relation->open_tables.count; i++) {
        column_set_add(columns, set, relation->open_tables.items[i], LINEAGE_ANY);
    }
    column_set_union(columns, set, &relation->rest);
}

void relation_open(LineageColumns *columns, Relation *relation, const Relation *more) {
    relation->is_open = relation->is_open || more->is_open;
    for (size_t i = 0; i < more->open_tables.count; i++) {
        if (!str_vec_contains(&relation->open_tables, more->open_tables.items[i])) {
            str_vec_push(columns->arena, &relation->open_tables, more->open_tables.items[i]);
        }
    }
    column_set_union(columns, &relation->rest, &more->rest);
}

static Str free_name(Arena *arena, const Relation *relation, Str name) {
    Str tried = name;
    for (size_t number = 1; name.size > 0 && relation_find(relation, tried) != NULL; number++) {
        tried = str_format(arena, STR_FMT "_%zu", STR_ARG(name), number);
    }
    return tried;
}

void relation_push(LineageColumns *columns, Relation *relation, Str name, const ColumnSet *sources) {
    RelationColumn column = {.name = free_name(columns->arena, relation, name)};
    column_set_union(columns, &column.sources, sources);
    relation_column_vec_push(columns->arena, &relation->columns, column);
}

void relation_rename(LineageColumns *columns, Relation *relation, const StrVec *names) {
    if (names->count == 0) {
        return;
    }
    if (!relation->is_open) {
        for (size_t i = 0; i < names->count && i < relation->columns.count; i++) {
            relation->columns.items[i].name = names->items[i];
        }
        return;
    }
    ColumnSet all = {0}; /* which of its columns gets which name is not known */
    relation_add_all(columns, relation, &all);
    RelationColumnVec listed = {0};
    for (size_t i = 0; i < names->count; i++) {
        RelationColumn column = {.name = names->items[i]};
        column_set_union(columns, &column.sources, &all);
        relation_column_vec_push(columns->arena, &listed, column);
    }
    relation->columns = listed;
}
