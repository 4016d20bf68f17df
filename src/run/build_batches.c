/* Which batches the due windows of a model make. `auto` joins as many as stay below `batch_rows` rows of the sources.
 * How many rows a grain has is counted where that costs little beside reading them: in the tables of DuckDB (or a lake)
 * whose scans the windows cut. Where that cannot be done, the rows that the model's own table holds a filled grain
 * stand for it. A query that reads all of its sources for each window gets one batch: more of them would read more. */
#include "run/build_step.h"

#include "window/row_batches.h"

#define COUNTS_MAX 10000 /* of one probe: beyond, several grains are counted together */

static void count_scan(const Build *build, const WindowScan *scan, Str table, Window hull, StrBuf *sql) {
    Str condition = window_scan_condition(scan, hull, build->context->zone, build->arena);
    strbuf_text(sql, sql->size == 0 ? "SELECT " : " UNION ALL SELECT ");
    wall_group(sql, scan->scan.column, build->target.grain, hull.start, build->context->zone);
    strbuf_format(sql, " AS w, count(*) AS n FROM " STR_FMT " WHERE " STR_FMT " GROUP BY 1", STR_ARG(table),
                  STR_ARG(condition));
}

static Status read_counts(Build *build, Str scans, Window hull, int64_t step, GrainRowsVec *counts_out, Error *err) {
    Grain grain = build->target.grain;
    DuckRows rows;
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT epoch_us(");
    wall_bucket(&sql, STR("w"), grain, step, hull.start, build->context->zone);
    strbuf_format(&sql, "), CAST(sum(n) AS BIGINT) FROM (" STR_FMT ") GROUP BY 1 ORDER BY 1", STR_ARG(scans));
    SqlText query = sql_text_own(build->arena, strbuf_copy(&sql, build->arena));
    TRY(engine_query(build->connection, &query, build->arena, &rows, err));
    for (size_t i = 0; i < rows.row_count; i++) {
        GrainRows count;
        bool is_read = str_to_int64(duck_cell(&rows, i, 0)->text, &count.window.start) &&
                       str_to_int64(duck_cell(&rows, i, 1)->text, &count.rows);
        if (!is_read) {
            return error_set(err, ERROR_INTERNAL, "a count of rows a window is no number");
        }
        count.window.end = grain_step(grain, count.window.start, step);
        grain_rows_vec_push(build->arena, counts_out, count);
    }
    return OK;
}

/* `is_counted_out` false: no source can be counted cheaply. */
static Status count_sources(Build *build, GrainRowsVec *counts_out, bool *is_counted_out, Error *err) {
    Window hull = interval_set_hull(&build->target.work.due);
    int64_t step = (grain_count(build->target.grain, hull.start, hull.end) + COUNTS_MAX - 1) / COUNTS_MAX;
    AUTO(strbuf) StrBuf scans = {0};
    for (size_t i = 0; i < build->scans.count; i++) {
        Str table;
        TRY(window_scan_countable(build->connection, build->context->relations, &build->scans.items[i], build->arena,
                                  &table, err));
        if (table.size > 0) {
            count_scan(build, &build->scans.items[i], table, hull, &scans);
        }
    }
    *is_counted_out = scans.size > 0;
    return scans.size > 0 ? read_counts(build, strbuf_str(&scans), hull, step, counts_out, err) : OK;
}

static Status count_own_rows(Build *build, GrainRowsVec *counts_out, Error *err) {
    const BuildTarget *target = &build->target;
    int64_t filled = interval_set_grains(&target->filled, target->grain);
    if (!target->is_there || target->is_external || filled == 0) {
        return OK;
    }
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT count(*) FROM ");
    sql_relation(&sql, target->seed.name.size > 0 ? target->seed : target->relation);
    SqlText query = sql_text_own(build->arena, strbuf_copy(&sql, build->arena));
    int64_t rows;
    TRY(engine_query_int(build->connection, &query, &rows, err));
    Window hull = interval_set_hull(&target->work.due);
    double due = (double)grain_count(target->grain, hull.start, hull.end);
    grain_rows_vec_push(build->arena, counts_out, (GrainRows){hull, (int64_t)((double)rows / (double)filled * due)});
    return OK;
}

static Status count_rows(Build *build, GrainRowsVec *counts_out, Error *err) {
    bool is_counted = false;
    bool reads_all = build->task->model->kind == MODEL_SQL && build->scans.count == 0;
    if (reads_all) {
        return OK;
    }
    TRY(count_sources(build, counts_out, &is_counted, err));
    return is_counted ? OK : count_own_rows(build, counts_out, err);
}

static void turn_around(WindowVec *batches) {
    for (size_t i = 0; i < batches->count / 2; i++) {
        Window other = batches->items[i];
        batches->items[i] = batches->items[batches->count - 1 - i];
        batches->items[batches->count - 1 - i] = other;
    }
}

Status build_batches(Build *build, WindowVec *batches_out, Error *err) {
    const BuildTarget *target = &build->target;
    if (target->batch == BATCH_AUTO && interval_set_grains(&target->work.due, target->grain) > 1) {
        GrainRowsVec counts = {0};
        TRY(count_rows(build, &counts, err));
        row_batches(build->arena, &target->work.due, target->grain, &counts, build->task->model->batch_rows,
                    batches_out);
    } else {
        interval_set_batches(build->arena, &target->work.due, target->grain, target->batch, batches_out);
    }
    if (build->context->options->newest_first) {
        turn_around(batches_out);
    }
    return OK;
}
