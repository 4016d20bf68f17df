/* The time column of a model: which types it may have, and the SQL that compares with it. */
#include "strategy/writer.h"
#include "window/zone.h"

bool time_is_zoned(Str type) {
    TimeColumnKind kind;
    return time_column_kind(type, &kind) && kind == TIME_COLUMN_ZONED;
}

bool time_is_text(Str type) {
    return str_equal_fold(type, STR("VARCHAR"));
}

Status time_check_type(const Writer *writer, Str name, Str type, bool may_be_text, Error *err) {
    TimeColumnKind kind;
    if (time_column_kind(type, &kind) || (may_be_text && time_is_text(type))) {
        return OK;
    }
    (void)error_set(err, ERROR_EXECUTION,
                    "model '" STR_FMT "': time column '" STR_FMT "' is " STR_FMT ", not a DATE or TIMESTAMP",
                    STR_ARG(writer->input->model), STR_ARG(name), STR_ARG(type));
    error_code(err, STR("time_type"));
    error_hint(err, "cast it in the query: CAST(" STR_FMT " AS TIMESTAMP) AS " STR_FMT, STR_ARG(name), STR_ARG(name));
    return FAILED;
}

void time_event(StrBuf *sql, Str type, Str column) {
    if (time_is_zoned(type)) {
        strbuf_format(sql, "(" STR_FMT " AT TIME ZONE 'UTC')", STR_ARG(column));
    } else {
        strbuf_format(sql, "CAST(" STR_FMT " AS TIMESTAMP)", STR_ARG(column));
    }
}

void time_window(StrBuf *sql, Str column, Str start, Str end) {
    if (start.size == 0) {
        strbuf_format(sql, STR_FMT " IS NOT NULL", STR_ARG(column));
        return;
    }
    strbuf_format(sql, STR_FMT " >= " STR_FMT, STR_ARG(column), STR_ARG(start));
    if (end.size > 0) {
        strbuf_format(sql, " AND " STR_FMT " < " STR_FMT, STR_ARG(column), STR_ARG(end));
    }
}
