#include "plan/window_fixture.h"

IntervalSet windows_of(const char *text) {
    IntervalSet set = {0};
    Str rest = str_from(text);
    while (rest.size > 0) {
        size_t end = str_find_char(rest, ' ');
        Str item = str_slice(rest, 0, end);
        size_t slash = str_find_char(item, '/');
        Str start = str_copy(arena, str_slice(item, 0, slash));
        Str stop = str_copy(arena, str_skip(item, slash + 1));
        interval_set_add(arena, &set, (Window){at(start.ptr), at(stop.ptr)});
        rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, end + 1);
    }
    return set;
}

Str windows_text(const IntervalSet *set) {
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < set->count; i++) {
        strbuf_format(&text, "%s" STR_FMT "/" STR_FMT, i == 0 ? "" : " ",
                      STR_ARG(wall_format(arena, set->items[i].start, false)),
                      STR_ARG(wall_format(arena, set->items[i].end, false)));
    }
    return strbuf_copy(&text, arena);
}

Model incremental_model(const char *interval, const char *backfill, int64_t lookback) {
    return (Model){
        .name = STR("sales"),
        .strategy = STRATEGY_INCREMENTAL,
        .time_column = STR("day"),
        .interval = str_from(interval == NULL ? "1d" : interval),
        .backfill = str_from(backfill == NULL ? "auto" : backfill),
        .lookback = lookback,
        .place = {.file = STR("models/sales.sql"), .line = 1, .column = 1},
    };
}
