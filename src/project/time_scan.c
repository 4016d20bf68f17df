#include "project/time_scan.h"

#include "project/graph.h"
#include "sql/sql_time_source.h"

/* ---- Proven. One step for each ephemeral model on the way. */

typedef struct Search {
    const Project *project;
    const Model *model;
    IndexVec inlined;
    Arena *arena;
    TimeScan scan;
} Search;

static size_t count_in(const Model *reader, const Model *ephemeral) {
    size_t count = 0;
    for (size_t i = 0; i < reader->facts->tables.count; i++) {
        count += reader->references[i].model == ephemeral->index;
    }
    return count;
}

/* In the query as it runs: another reader needs all of its rows. */
static bool is_read_once(const Search *search, const Model *ephemeral) {
    size_t count = count_in(search->model, ephemeral);
    for (size_t i = 0; i < search->inlined.count; i++) {
        count += count_in(search->project->models[search->inlined.items[i]], ephemeral);
    }
    return count == 1;
}

/* Names that a star before the time column must not give: known of an ephemeral model when it lists its columns. */
static bool has_none_of(const Model *ephemeral, const StrVec *names) {
    const StrVec *outputs = &ephemeral->facts->output_names;
    for (size_t i = 0; i < names->count; i++) {
        for (size_t k = 0; k < outputs->count; k++) {
            if (outputs->items[k].size == 0 || str_equal_fold(outputs->items[k], names->items[i])) {
                return false;
            }
        }
    }
    return names->count == 0 || outputs->count > 0;
}

static const Model *upstream_at(const Search *search, const Model *owner, size_t table) {
    size_t index = owner->references[table].model;
    return index == MODEL_NONE ? NULL : search->project->models[index];
}

/* Follows `column` of the owner's query one step down. */
static SqlTimeObstacle step(Search *search, const Model *owner, Str column) {
    const SqlTimeSource *source = sql_time_source_find(owner->facts, column);
    if (source->obstacle != SQL_TIME_PROVEN) {
        return source->obstacle;
    }
    TimeScan *scan = &search->scan;
    scan->owner = owner;
    scan->table = source->table;
    scan->column = source->column.size > 0 ? source->column : column;
    scan->absent = source->absent;
    for (size_t i = 0; i < source->units.count; i++) {
        str_vec_push(search->arena, &scan->units, source->units.items[i]);
    }
    return SQL_TIME_PROVEN;
}

/* An ephemeral model is upstream of its reader, so the way ends. */
static SqlTimeObstacle find_proven(Search *search) {
    SqlTimeObstacle obstacle = step(search, search->model, search->model->time_column);
    while (obstacle == SQL_TIME_PROVEN) {
        const Model *upstream = upstream_at(search, search->scan.owner, search->scan.table);
        if (upstream == NULL || upstream->materialise != MATERIALISE_EPHEMERAL) {
            return SQL_TIME_PROVEN;
        }
        if (!is_read_once(search, upstream)) {
            return SQL_TIME_SHARED;
        }
        if (upstream->kind != MODEL_SQL || !has_none_of(upstream, &search->scan.absent)) {
            return SQL_TIME_COMPUTED;
        }
        obstacle = step(search, upstream, search->scan.column);
    }
    return obstacle;
}

/* ---- Declared. */

static const ConfigValue *find_declared(const Model *model, Str name, Str other_name) {
    for (size_t i = 0; model->reads != NULL && i < model->reads->count; i++) {
        const ConfigEntry *entry = &model->reads->entries[i];
        const ConfigValue *column = config_find(entry->value, STR("time_column"));
        bool is_meant = str_equal_fold(entry->key, name) || str_equal_fold(entry->key, other_name);
        if (is_meant && column != NULL && column->text.size > 0) {
            return entry->value;
        }
    }
    return NULL;
}

const ConfigValue *time_scan_declared(const Model *model, const Model *upstream) {
    bool is_in_main = str_equal(upstream->schema, STR("main"));
    return find_declared(model, upstream->name, is_in_main ? upstream->base : upstream->name);
}

/* A model by its name, an external table as it is written. */
static const ConfigValue *declared_read(const Project *project, const Model *model, size_t table) {
    size_t upstream = model->references[table].model;
    if (upstream != MODEL_NONE) {
        return time_scan_declared(model, project->models[upstream]);
    }
    const SqlTableRef *ref = &model->facts->tables.items[table];
    Str written = str_slice(model->query.text, ref->start, ref->end);
    return find_declared(model, written, written);
}

static void add_declared(const Project *project, const Model *model, Arena *arena, TimeScanVec *scans) {
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        const SqlTableRef *table = &model->facts->tables.items[i];
        const ConfigValue *read = declared_read(project, model, i);
        if (read != NULL && table->takes_alias && !table->is_file) {
            Str column = config_find(read, STR("time_column"))->text;
            time_scan_vec_push(arena, scans,
                               (TimeScan){.owner = model, .table = i, .column = column, .declared = read});
        }
    }
}

static bool is_among(const TimeScanVec *scans, const TimeScan *scan) {
    for (size_t i = 0; i < scans->count; i++) {
        if (scans->items[i].owner == scan->owner && scans->items[i].table == scan->table) {
            return true;
        }
    }
    return false;
}

TimeScans time_scans_find(const Project *project, const Model *model, Arena *arena) {
    Search search = {
        .project = project, .model = model, .inlined = graph_inlined(project, model, arena), .arena = arena};
    TimeScans found = {.obstacle = find_proven(&search)};
    add_declared(project, model, arena, &found.scans);
    if (found.obstacle == SQL_TIME_PROVEN && !is_among(&found.scans, &search.scan)) {
        time_scan_vec_push(arena, &found.scans, search.scan);
    }
    return found;
}

/* ---- For people. */

static Str reach_of(const TimeScan *scan, const char *key) {
    const ConfigValue *reach = scan->declared == NULL ? NULL : config_find(scan->declared, str_from(key));
    return reach == NULL || reach->text.size == 0 ? STR("0d") : reach->text;
}

static Str scan_line(const TimeScan *scan, Arena *arena) {
    const SqlTableRef *table = &scan->owner->facts->tables.items[scan->table];
    Str name = str_slice(scan->owner->query.text, table->start, table->end);
    if (scan->declared == NULL) {
        return str_format(arena, "a window reads only its rows of " STR_FMT ", by " STR_FMT, STR_ARG(name),
                          STR_ARG(scan->column));
    }
    return str_format(arena,
                      "a window reads of " STR_FMT " what reads: declares, by " STR_FMT ": " STR_FMT
                      " before to " STR_FMT " after it",
                      STR_ARG(name), STR_ARG(scan->column), STR_ARG(reach_of(scan, "before")),
                      STR_ARG(reach_of(scan, "after")));
}

StrVec time_scans_explain(const Project *project, const Model *model, Arena *arena) {
    StrVec lines = {0};
    bool has_windows = model->kind == MODEL_SQL && model->facts != NULL && model->strategy == STRATEGY_INCREMENTAL &&
                       model->time_column.size > 0;
    if (!has_windows) {
        return lines;
    }
    TimeScans found = time_scans_find(project, model, arena);
    for (size_t i = 0; i < found.scans.count; i++) {
        str_vec_push(arena, &lines, scan_line(&found.scans.items[i], arena));
    }
    if (found.obstacle != SQL_TIME_PROVEN) {
        const char *why = sql_time_obstacle_text(found.obstacle);
        str_vec_push(arena, &lines, str_format(arena, "no pruning: %s", why));
    }
    return lines;
}
