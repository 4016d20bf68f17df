#include "strategy/time_column.h"

static const struct TimeType {
    Str name;
    TimeKind kind;
} time_types[] = {
    {STR_INIT("TIMESTAMP"), TIME_NAIVE},    {STR_INIT("TIMESTAMP_S"), TIME_NAIVE},
    {STR_INIT("TIMESTAMP_MS"), TIME_NAIVE}, {STR_INIT("TIMESTAMP_NS"), TIME_NAIVE},
    {STR_INIT("DATETIME"), TIME_NAIVE},     {STR_INIT("TIMESTAMP WITH TIME ZONE"), TIME_ZONED},
    {STR_INIT("TIMESTAMPTZ"), TIME_ZONED},  {STR_INIT("DATE"), TIME_DATE},
    {STR_INIT("VARCHAR"), TIME_TEXT},       {STR_INIT("TEXT"), TIME_TEXT},
};

TimeKind time_kind(Str type) {
    for (size_t i = 0; i < COUNT_OF(time_types); i++) {
        if (str_equal_fold(type, time_types[i].name)) {
            return time_types[i].kind;
        }
    }
    return TIME_NONE;
}

void time_event(StrBuf *sql, TimeKind kind, Str column) {
    if (kind == TIME_ZONED) {
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
