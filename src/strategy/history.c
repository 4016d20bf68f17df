#include "strategy/history.h"

#include "strategy/writer.h"

static Status refuse(const Model *model, const char *code, Str what, Error *err) {
    (void)error_set_at(err, ERROR_PLAN, model->place,
                       "model '" STR_FMT "' cannot go on from a copy of its history: " STR_FMT, STR_ARG(model->name),
                       STR_ARG(what));
    error_code(err, str_from(code));
    error_detail(err, STR("model"), model->name);
    error_hint(err, "take that change back, or apply without --forward-only, which builds the table anew");
    return FAILED;
}

/* ---- Definition. */

static bool may_follow(StrategyKind before, StrategyKind after) {
    return before == after || (before == STRATEGY_MERGE && after == STRATEGY_HASH_MERGE);
}

/* The ledger of incremental and the versions of scd were cut by it; elsewhere it only orders what arrives. */
static bool is_of_the_rows(StrategyKind strategy) {
    return strategy == STRATEGY_INCREMENTAL || strategy == STRATEGY_SCD;
}

static Str name_or_none(Str name) {
    return name.size > 0 ? name : STR("none");
}

Status history_check_definition(const History *history, const Model *model, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    if (!may_follow(history->strategy, model->strategy)) {
        Str what = str_format(scratch, "strategy %s kept its rows in another way than %s does",
                              strategy_name(history->strategy), strategy_name(model->strategy));
        return refuse(model, "forward_only.strategy", what, err);
    }
    if (is_of_the_rows(model->strategy) && !str_equal_fold(history->time_column, model->time_column)) {
        Str what = str_format(scratch,
                              "time_column was " STR_FMT " and is " STR_FMT ", so what is recorded as filled "
                              "would mean something else",
                              STR_ARG(name_or_none(history->time_column)), STR_ARG(name_or_none(model->time_column)));
        return refuse(model, "forward_only.time_column", what, err);
    }
    return OK;
}

/* ---- Columns. */

/* A type that the query gave before is no change, whatever the table has widened to since. */
static bool fits(const History *history, const DuckColumn *stored, const DuckColumn *given) {
    const DuckColumn *before = duck_column_find(&history->given, given->name);
    if (before != NULL && str_equal_fold(before->type, given->type)) {
        return true;
    }
    TypeChange change = type_change(stored->type, given->type);
    return change == TYPE_SAME || change == TYPE_WIDENS;
}

static Status check_types(const History *history, const Model *model, const DuckColumnVec *stored,
                          const DuckColumnVec *given, Error *err) {
    AUTO(strbuf) StrBuf changes = {0};
    for (size_t i = 0; i < given->count; i++) {
        const DuckColumn *column = &given->items[i];
        const DuckColumn *old = duck_column_find(stored, column->name);
        if (old != NULL && !fits(history, old, column)) {
            strbuf_format(&changes, "%s" STR_FMT " (" STR_FMT " to " STR_FMT ")", changes.size > 0 ? ", " : "",
                          STR_ARG(column->name), STR_ARG(old->type), STR_ARG(column->type));
        }
    }
    if (changes.size == 0) {
        return OK;
    }
    AUTO(arena) Arena *scratch = arena_create();
    Str what = str_format(scratch, "the type of %s changes: " STR_FMT,
                          str_find_char(strbuf_str(&changes), ',') == STR_NOT_FOUND ? "a column" : "columns",
                          STR_ARG(strbuf_str(&changes)));
    return refuse(model, "forward_only.type", what, err);
}

static Status check_key_columns(const Model *model, const DuckColumnVec *stored, Error *err) {
    for (size_t i = 0; i < model->key.count; i++) {
        Str column = model->key.items[i];
        if (duck_column_find(stored, column) == NULL) {
            AUTO(arena) Arena *scratch = arena_create();
            Str what =
                str_format(scratch, "its rows have no column '" STR_FMT "', which is now in the key", STR_ARG(column));
            return refuse(model, "forward_only.key", what, err);
        }
    }
    return OK;
}

Status history_check_columns(const History *history, const Model *model, const DuckColumnVec *stored,
                             const DuckColumnVec *given, Error *err) {
    TRY(check_types(history, model, stored, given, err));
    return history_has_other_key(history, model) ? check_key_columns(model, stored, err) : OK;
}

/* ---- Key. */

/* A key of more columns than before is unique too, but they may be NULL. */
bool history_has_other_key(const History *history, const Model *model) {
    bool is_same = history->key.count == model->key.count;
    for (size_t i = 0; is_same && i < model->key.count; i++) {
        is_same = str_vec_contains_fold(&history->key, model->key.items[i]);
    }
    return !is_same && model->key.count > 0;
}

static void append_key(StrBuf *sql, const Model *model, const char *separator, const char *suffix) {
    for (size_t i = 0; i < model->key.count; i++) {
        strbuf_text(sql, i > 0 ? separator : "");
        sql_identifier(sql, model->key.items[i]);
        strbuf_text(sql, suffix);
    }
}

SqlText history_repeats_query(const Model *model, SqlRelation table, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT ");
    append_key(&sql, model, ", ", "");
    strbuf_text(&sql, ", count(*) FROM ");
    sql_relation(&sql, table);
    if (model->strategy == STRATEGY_SCD) {
        strbuf_text(&sql, " WHERE \"" STRATEGY_TO_COLUMN "\" IS NULL");
    }
    strbuf_text(&sql, " GROUP BY ");
    append_key(&sql, model, ", ", "");
    strbuf_text(&sql, " HAVING count(*) > 1 ORDER BY count(*) DESC, ");
    append_key(&sql, model, ", ", "");
    strbuf_text(&sql, " LIMIT 5");
    return sql_text_own(arena, strbuf_copy(&sql, arena));
}

SqlText history_nulls_query(const Model *model, SqlRelation table, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT ");
    append_key(&sql, model, ", ", "");
    strbuf_text(&sql, " FROM ");
    sql_relation(&sql, table);
    strbuf_text(&sql, " WHERE ");
    append_key(&sql, model, " OR ", " IS NULL");
    strbuf_text(&sql, " LIMIT 5");
    return sql_text_own(arena, strbuf_copy(&sql, arena));
}
