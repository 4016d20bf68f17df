/* The errors of sources that break a promise, from the rows that the REFUSE statements gave (spec 02 §2). */
#include "engine/rows_json.h"
#include "strategy/strategy.h"

#include <inttypes.h>

static Str cell_text(const DuckCell *cell) {
    return cell->kind == DUCK_CELL_NULL ? STR("NULL") : cell->text;
}

static int64_t cell_number(const DuckRows *rows, size_t row, size_t column) {
    int64_t number = 0;
    (void)str_to_int64(duck_cell(rows, row, column)->text, &number); /* a count of the engine */
    return number;
}

/* {"id": 1, …} of the columns [start, end). */
static void write_cells(JsonWriter *json, const DuckRows *rows, size_t row, size_t start, size_t end) {
    json_begin_object(json);
    for (size_t i = start; i < end; i++) {
        json_key(json, rows->columns.items[i].name);
        rows_write_cell(duck_cell(rows, row, i), json);
    }
    json_end_object(json);
}

static void detail_number(Error *err, Str key, int64_t number) {
    error_detail_json(err, key, str_format(err->arena, "%" PRId64, number));
}

static void detail_names(Error *err, Str key, const StrVec *names) {
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_array(&json);
    for (size_t i = 0; i < names->count; i++) {
        json_text(&json, names->items[i]);
    }
    json_end_array(&json);
    error_detail_json(err, key, strbuf_str(&text));
}

/* --- Keys --------------------------------------------------------------------------------------------------------- */

enum { REPEAT_TOTALS = 2 }; /* columns before the key: repeated values, rows over which they repeat */

static void detail_repeats(Error *err, const DuckRows *rows) {
    size_t count_column = rows->columns.count - 1;
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_array(&json);
    for (size_t row = 0; row < rows->row_count; row++) {
        json_begin_object(&json);
        json_key(&json, STR("key"));
        write_cells(&json, rows, row, REPEAT_TOTALS, count_column);
        json_int_field(&json, STR("count"), cell_number(rows, row, count_column));
        json_end_object(&json);
    }
    json_end_array(&json);
    error_detail_json(err, STR("sample"), strbuf_str(&text));
}

static Status refuse_duplicate_key(const StrategyInput *input, const DuckRows *rows, Error *err) {
    size_t count_column = rows->columns.count - 1;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf samples = {0};
    StrVec key = {0};
    for (size_t i = REPEAT_TOTALS; i < count_column; i++) {
        str_vec_push(arena, &key, rows->columns.items[i].name);
    }
    for (size_t row = 0; row < rows->row_count; row++) {
        strbuf_text(&samples, row > 0 ? ", (" : "(");
        for (size_t i = REPEAT_TOTALS; i < count_column; i++) {
            strbuf_text(&samples, i > REPEAT_TOTALS ? ", " : "");
            strbuf_append(&samples, cell_text(duck_cell(rows, row, i)));
        }
        strbuf_format(&samples, ") x%" PRId64, cell_number(rows, row, count_column));
    }
    int64_t repeated = cell_number(rows, 0, 0);
    int64_t repeated_rows = cell_number(rows, 0, 1);
    (void)error_set(err, ERROR_EXECUTION,
                    "model '" STR_FMT "': key (" STR_FMT ") is not unique in the source: %" PRId64 " key value%s "
                    "over %" PRId64 " rows, e.g. " STR_FMT,
                    STR_ARG(input->model), STR_ARG(str_join(arena, key.items, key.count, STR(", "))), repeated,
                    repeated == 1 ? " repeats" : "s repeat", repeated_rows, STR_ARG(strbuf_str(&samples)));
    error_code(err, STR("duplicate_key"));
    error_detail(err, STR("model"), input->model);
    detail_names(err, STR("key"), &key);
    detail_number(err, STR("repeated"), repeated);
    detail_number(err, STR("rows"), repeated_rows);
    detail_repeats(err, rows);
    error_hint(err, "make the query give one row for each key, or add a column to `key`");
    return FAILED;
}

/* Key columns with a NULL: the row has a flag for each key column, named after its place in the sample. */
static StrVec null_names(const DuckRows *rows, size_t sample_start, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 1; i < sample_start; i++) {
        bool is_null = str_equal(duck_cell(rows, 0, i)->text, STR("true"));
        int64_t place = 0;
        if (is_null && str_to_int64(str_skip(rows->columns.items[i].name, 1), &place)) {
            str_vec_push(arena, &names, rows->columns.items[sample_start + (size_t)place].name);
        }
    }
    return names;
}

static Status refuse_null_key(const StrategyInput *input, const DuckRows *rows, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf sample = {0};
    AUTO(strbuf) StrBuf text = {0};
    size_t sample_start = 1 + input->key->count;
    for (size_t i = sample_start; i < rows->columns.count; i++) {
        strbuf_format(&sample, "%s" STR_FMT ": " STR_FMT, i > sample_start ? ", " : "",
                      STR_ARG(rows->columns.items[i].name), STR_ARG(cell_text(duck_cell(rows, 0, i))));
    }
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_array(&json);
    write_cells(&json, rows, 0, sample_start, rows->columns.count);
    json_end_array(&json);

    int64_t total = cell_number(rows, 0, 0);
    StrVec names = null_names(rows, sample_start, arena);
    (void)error_set(err, ERROR_EXECUTION,
                    "model '" STR_FMT "': %" PRId64 " source row%s NULL in key column(s) " STR_FMT ", e.g. {" STR_FMT
                    "}",
                    STR_ARG(input->model), total, total == 1 ? " has" : "s have",
                    STR_ARG(str_join(arena, names.items, names.count, STR(", "))), STR_ARG(strbuf_str(&sample)));
    error_code(err, STR("null_key"));
    error_detail(err, STR("model"), input->model);
    detail_names(err, STR("key"), &names);
    detail_number(err, STR("rows"), total);
    error_detail_json(err, STR("sample"), strbuf_str(&text));
    error_hint(err, "filter those rows out in the query, or give them a value with coalesce");
    return FAILED;
}

/* --- Times and types ---------------------------------------------------------------------------------------------- */

static Status refuse_null_time(const StrategyInput *input, const DuckRows *rows, Error *err) {
    int64_t total = cell_number(rows, 0, 0);
    (void)error_set(err, ERROR_EXECUTION,
                    "model '" STR_FMT "': %" PRId64 " source row%s NULL in time column '" STR_FMT "'",
                    STR_ARG(input->model), total, total == 1 ? " has" : "s have", STR_ARG(input->time_column));
    error_code(err, STR("null_time"));
    error_detail(err, STR("model"), input->model);
    error_detail(err, STR("column"), input->time_column);
    detail_number(err, STR("rows"), total);
    error_hint(err, "filter those rows out in the query, or give them a time");
    return FAILED;
}

static Status refuse_cast(const StrategyInput *input, const DuckRows *rows, Error *err) {
    Str column = duck_cell(rows, 0, 0)->text;
    Str value = duck_cell(rows, 0, 1)->text;
    Str type = duck_cell(rows, 0, 2)->text;
    (void)error_set(err, ERROR_EXECUTION,
                    "model '" STR_FMT "': value '" STR_FMT "' of column '" STR_FMT "' does not convert to " STR_FMT,
                    STR_ARG(input->model), STR_ARG(value), STR_ARG(column), STR_ARG(type));
    error_code(err, STR("cast"));
    error_detail(err, STR("model"), input->model);
    error_detail(err, STR("column"), column);
    error_detail(err, STR("value"), value);
    error_detail(err, STR("type"), type);
    error_hint(err, "the target stores " STR_FMT ": cast the column in the query", STR_ARG(type));
    return FAILED;
}

Status strategy_refusal(const StrategyInput *input, RefusalKind kind, const DuckRows *rows, Error *err) {
    assert(rows->row_count > 0);
    switch (kind) {
    case REFUSAL_DUPLICATE_KEY:
        return refuse_duplicate_key(input, rows, err);
    case REFUSAL_NULL_KEY:
        return refuse_null_key(input, rows, err);
    case REFUSAL_NULL_TIME:
        return refuse_null_time(input, rows, err);
    case REFUSAL_CAST:
        return refuse_cast(input, rows, err);
    case REFUSAL_NONE:
        break;
    }
    return error_set(err, ERROR_INTERNAL, "a statement that refuses nothing gave rows");
}
