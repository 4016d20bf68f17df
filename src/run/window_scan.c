#include "run/window_scan.h"

#include "config/dsn.h"
#include "sql/sql_splice.h"

#define DAY_US (INT64_C(86400) * 1000000)

/* ---- What the engine has. */

static Status describe_table(EngineConnection *connection, const RelationMap *relations, const TimeScan *scan,
                             Arena *arena, DuckColumnVec *columns_out, Error *err) {
    const SqlTableRef *table = &scan->owner->facts->tables.items[scan->table];
    const ModelReference *reference = &scan->owner->references[scan->table];
    SqlText query;
    if (reference->model != MODEL_NONE) {
        TRY(render_model_rows(relations, relations->project->models[reference->model], arena, &query, err));
    } else {
        Str written = str_slice(scan->owner->query.text, table->start, table->end);
        Str source = reference->input == INPUT_NONE ? written : relations->inputs[reference->input];
        query = sql_text_own(arena, str_format(arena, "SELECT * FROM " STR_FMT, STR_ARG(source)));
    }
    return engine_describe(connection, &query, arena, columns_out, err);
}

static bool has_any(const DuckColumnVec *columns, const StrVec *names) {
    for (size_t i = 0; i < names->count; i++) {
        if (duck_column_find(columns, names->items[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Without truncation the two columns are one, so their kinds are, too. */
static bool fits(const WindowScan *scan, TimeColumnKind output) {
    return scan->scan.units.count > 0 ? scan->kind == TIME_COLUMN_ZONED || output != TIME_COLUMN_ZONED
                                      : scan->kind == output;
}

static Status refuse_declared(const Model *model, const TimeScan *scan, Str table, const DuckColumn *column,
                              Error *err) {
    SourceSpan place = scan->declared->place.file.size > 0 ? scan->declared->place : model->place;
    if (column == NULL) {
        error_set_at(err, ERROR_EXECUTION, place, "model '" STR_FMT "': reads: " STR_FMT " has no column " STR_FMT,
                     STR_ARG(model->name), STR_ARG(table), STR_ARG(scan->column));
    } else {
        error_set_at(err, ERROR_EXECUTION, place,
                     "model '" STR_FMT "': reads: the column " STR_FMT " of " STR_FMT " is " STR_FMT
                     ", which is no date or timestamp",
                     STR_ARG(model->name), STR_ARG(column->name), STR_ARG(table), STR_ARG(column->type));
    }
    error_hint(err, "name a column of dates or timestamps of " STR_FMT " as time_column", STR_ARG(table));
    error_code(err, STR("reads.column"));
    return FAILED;
}

/* Of instants, days and hours depend on the zone's changes; the engine rounds nanoseconds before 1970 up, not down. */
static bool truncates_roughly(const WindowScan *scan, Str type) {
    return scan->kind == TIME_COLUMN_ZONED || str_equal_fold(type, STR("TIMESTAMP_NS"));
}

static Status add_scan(EngineConnection *connection, const RelationMap *relations, const Model *model,
                       TimeColumnKind output, const TimeScan *scan, Arena *arena, WindowScanVec *scans, Error *err) {
    DuckColumnVec columns = {0};
    TRY(describe_table(connection, relations, scan, arena, &columns, err));
    const DuckColumn *column = duck_column_find(&columns, scan->column);
    WindowScan found = {.scan = *scan};
    bool has_time = column != NULL && time_column_kind(column->type, &found.kind);
    if (scan->declared != NULL && !has_time) {
        return refuse_declared(model, scan, scan->owner->facts->tables.items[scan->table].name, column, err);
    }
    bool is_sound = has_time && !has_any(&columns, &scan->absent);
    if (scan->declared == NULL && !(is_sound && fits(&found, output))) {
        return OK;
    }
    found.is_widened = scan->declared == NULL && scan->units.count > 0 && truncates_roughly(&found, column->type);
    found.scan.column = column->name;
    window_scan_vec_push(arena, scans, found);
    return OK;
}

/* A date_trunc that somebody has defined in the warehouse means whatever it says there; so do the functions that widths
 * of buckets are made of. */
static Status may_trust_truncation(EngineConnection *connection, const TimeScans *found, bool *may_out, Error *err) {
    const Str functions[] = {STR("date_trunc"), STR("datetrunc"),  STR("time_bucket"), STR("trunc"),
                             STR("to_seconds"), STR("to_minutes"), STR("to_hours"),    STR("to_days"),
                             STR("to_weeks"),   STR("to_months"),  STR("to_quarters"), STR("to_years")};
    bool has_units = false, redefines = false;
    for (size_t i = 0; i < found->scans.count; i++) {
        has_units = has_units || found->scans.items[i].units.count > 0;
    }
    TRY(has_units ? engine_redefines(connection, functions, COUNT_OF(functions), &redefines, err) : OK);
    *may_out = !redefines;
    return OK;
}

Status window_scans_find(EngineConnection *connection, const RelationMap *relations, const Model *model,
                         TimeColumnKind output, Arena *arena, WindowScanVec *scans_out, Error *err) {
    TimeScans found = time_scans_find(relations->project, model, arena);
    bool may_trust = false;
    TRY(may_trust_truncation(connection, &found, &may_trust, err));
    *scans_out = (WindowScanVec){0};
    for (size_t i = 0; i < found.scans.count; i++) {
        const TimeScan *scan = &found.scans.items[i];
        if (may_trust || scan->units.count == 0) {
            TRY(add_scan(connection, relations, model, output, scan, arena, scans_out, err));
        }
    }
    return OK;
}

/* ---- Counting. */

/* In a database that another server or another library keeps. */
static bool is_foreign(const RelationMap *relations, const WindowScan *scan) {
    const SqlTableRef *table = &scan->scan.owner->facts->tables.items[scan->scan.table];
    Str alias = table->catalog.size > 0 ? table->catalog : table->schema;
    const EngineConfig *engine = project_config_engine(relations->project->config, scan->scan.owner->engine);
    for (size_t i = 0; i < engine->attach.count; i++) {
        const AttachConfig *attachment = &engine->attach.items[i];
        if (str_equal_fold(attachment->alias, alias)) {
            return dsn_is_postgres(attachment->uri) || dsn_has_scheme(attachment->uri);
        }
    }
    return false;
}

/* Only tables have row numbers. */
static Status is_table(EngineConnection *connection, Str source, Arena *arena, bool *is_table_out, Error *err) {
    AUTO(error) Error unbound = {0};
    DuckColumnVec columns;
    SqlText query = sql_text_own(arena, str_format(arena, "SELECT rowid FROM " STR_FMT, STR_ARG(source)));
    *is_table_out = !failed(engine_describe(connection, &query, arena, &columns, &unbound));
    if (unbound.kind == ERROR_INTERRUPTED) {
        error_move(err, &unbound);
        return FAILED;
    }
    return OK;
}

Str window_scan_source(const RelationMap *relations, const WindowScan *scan, Arena *arena) {
    const Model *owner = scan->scan.owner;
    const ModelReference *reference = &owner->references[scan->scan.table];
    const SqlTableRef *table = &owner->facts->tables.items[scan->scan.table];
    if (reference->model == MODEL_NONE) {
        bool is_relation = reference->input == INPUT_NONE && !table->is_file;
        return is_relation ? str_slice(owner->query.text, table->start, table->end) : STR_EMPTY;
    }
    SqlRelation relation = relations->items[reference->model];
    AUTO(strbuf) StrBuf sql = {0};
    sql_relation(&sql, relation);
    return relation.name.size > 0 ? strbuf_copy(&sql, arena) : STR_EMPTY;
}

Status window_scan_countable(EngineConnection *connection, const RelationMap *relations, const WindowScan *scan,
                             Arena *arena, Str *table_out, Error *err) {
    bool is_model = scan->scan.owner->references[scan->scan.table].model != MODEL_NONE;
    Str source = window_scan_source(relations, scan, arena);
    bool is_countable = source.size > 0 && (is_model || !is_foreign(relations, scan));
    if (is_countable) {
        TRY(is_table(connection, source, arena, &is_countable, err));
    }
    *table_out = is_countable ? source : STR_EMPTY;
    return OK;
}

/* ---- Ranges. */

static WallUs clamped(WallUs wall) {
    return wall < WALL_MIN ? WALL_MIN : wall > WALL_MAX ? WALL_MAX : wall;
}

/* time_bucket(width, c) < end holds for the c below the next boundary. Buckets are counted from 2000-01-03, a Monday,
 * or from 2000-01: on our lattice where a week, or a year, is a whole number of them. Otherwise a bucket's length
 * behind the end is far enough. */
static WallUs end_before_bucket(Str width, WallUs end, bool is_zoned) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    Grain grain;
    if (failed(grain_parse(width, &grain, &ignored))) {
        return WALL_MAX; /* months that do not fit into years */
    }
    bool is_on_lattice = grain.months > 0 ? 12 % grain.months == 0 : 7 * DAY_US % grain.size_us == 0;
    if (is_on_lattice && !is_zoned) {
        return grain_ceil(grain, end);
    }
    Grain month = {.months = 1};
    return grain.months > 0 ? grain_step(month, grain_ceil(month, end), grain.months) : clamped(end + grain.size_us);
}

/* trunc(c) < end holds for the c below the next boundary of the unit. */
static WallUs end_before_truncation(Str unit, WallUs end, bool is_zoned) {
    static const struct Unit {
        Str name;
        Grain grain;
    } units[] = {
        {STR_INIT("second"), {.size_us = 1000000}},   {STR_INIT("minute"), {.size_us = 60 * INT64_C(1000000)}},
        {STR_INIT("hour"), {.size_us = DAY_US / 24}}, {STR_INIT("day"), {.size_us = DAY_US}},
        {STR_INIT("week"), {.size_us = 7 * DAY_US}},  {STR_INIT("month"), {.months = 1}},
        {STR_INIT("quarter"), {.months = 3}},         {STR_INIT("year"), {.months = 12}},
    };
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (str_equal(units[i].name, unit)) {
            return grain_ceil(units[i].grain, end);
        }
    }
    return end_before_bucket(unit, end, is_zoned);
}

/* `count` spans of an entry of `reads:` away. A span of months begins on the first of one, and takes it whole. */
static WallUs moved(const ConfigValue *declared, const char *key, WallUs wall, int sign) {
    const ConfigValue *reach = config_find(declared, str_from(key));
    AUTO(error) Error ignored;
    error_init(&ignored);
    Grain grain;
    if (reach == NULL || failed(grain_parse(reach->text, &grain, &ignored))) { /* absent, or 0d */
        return wall;
    }
    if (grain.months == 0) {
        return clamped(wall + sign * grain.size_us);
    }
    Grain month = {.months = 1};
    WallUs edge = sign < 0 ? grain_floor(month, wall) : grain_ceil(month, wall);
    return grain_step(month, edge, sign * grain.months);
}

Window window_scan_range(const WindowScan *scan, Window window) {
    Window range = window;
    for (size_t i = 0; i < scan->scan.units.count; i++) {
        range.end = end_before_truncation(scan->scan.units.items[i], range.end, scan->kind == TIME_COLUMN_ZONED);
    }
    if (scan->scan.declared != NULL) {
        range.start = moved(scan->scan.declared, "before", range.start, -1);
        range.end = moved(scan->scan.declared, "after", range.end, 1);
    }
    if (scan->is_widened) {
        range = (Window){clamped(range.start - DAY_US), clamped(range.end + DAY_US)};
    }
    if (scan->kind == TIME_COLUMN_DATE) {
        Grain day = {.size_us = DAY_US};
        range = (Window){grain_floor(day, range.start), grain_ceil(day, range.end)};
    }
    return range;
}

Str window_condition(Str column, Window window, TimeColumnKind kind, const Zone *zone, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    sql_identifier(&sql, column);
    strbuf_text(&sql, " >= ");
    wall_literal(&sql, window.start, kind, zone);
    strbuf_text(&sql, " AND ");
    sql_identifier(&sql, column);
    strbuf_text(&sql, " < ");
    wall_literal(&sql, window.end, kind, zone);
    return strbuf_copy(&sql, arena);
}

Str window_scan_condition(const WindowScan *scan, Window window, const Zone *zone, Arena *arena) {
    return window_condition(scan->scan.column, window_scan_range(scan, window), scan->kind, zone, arena);
}

Str window_scan_condition_from(const WindowScan *scan, WallUs start, const Zone *zone, Arena *arena) {
    Window range = window_scan_range(scan, (Window){start, WALL_MAX});
    AUTO(strbuf) StrBuf sql = {0};
    sql_identifier(&sql, scan->scan.column);
    strbuf_text(&sql, " >= ");
    wall_literal(&sql, range.start, scan->kind, zone);
    return strbuf_copy(&sql, arena);
}

Str window_scan_condition_untimed(const WindowScan *scan, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    sql_identifier(&sql, scan->scan.column);
    strbuf_text(&sql, " IS NULL");
    return strbuf_copy(&sql, arena);
}

/* ---- Python models. */

Status window_scan_cut_rows(EngineConnection *connection, const Model *model, const Model *upstream, Window window,
                            const Zone *zone, Arena *arena, SqlText *rows, Error *err) {
    const ConfigValue *declared = time_scan_declared(model, upstream);
    if (declared == NULL) {
        return OK;
    }
    WindowScan scan = {.scan = {.declared = declared, .column = config_find(declared, STR("time_column"))->text}};
    DuckColumnVec columns = {0};
    TRY(engine_describe(connection, rows, arena, &columns, err));
    const DuckColumn *column = duck_column_find(&columns, scan.scan.column);
    if (column == NULL || !time_column_kind(column->type, &scan.kind)) {
        return refuse_declared(model, &scan.scan, upstream->name, column, err);
    }
    scan.scan.column = column->name;
    Str condition = window_scan_condition(&scan, window, zone, arena);
    const SqlText parts[] = {
        sql_text_own(arena, STR("SELECT * FROM (")), sql_text_as_body(rows, arena),
        sql_text_own(arena, str_format(arena, "\n) AS upstream WHERE " STR_FMT, STR_ARG(condition)))};
    *rows = sql_text_concat(arena, parts, COUNT_OF(parts));
    return OK;
}
