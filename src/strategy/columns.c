/* Binds the source's columns to the target's by name, and writes what the target must become for them. */
#include "strategy/writer.h"

BoundColumn *columns_find(const Writer *writer, Str name) {
    for (size_t i = 0; i < writer->columns.count; i++) {
        if (str_equal_fold(writer->columns.items[i].name, name)) {
            return &writer->columns.items[i];
        }
    }
    return NULL;
}

void columns_add_computed(Writer *writer, Str name, Str type, Str value) {
    BoundColumn column = {.name = name, .type = type, .source_name = name, .source_type = type, .value = value};
    bound_column_vec_push(writer->arena, &writer->columns, column);
}

/* --- Evolution of the target -------------------------------------------------------------------------------------- */

static void push_evolve(Writer *writer, const StrBuf *sql) {
    StrategyStatement statement = {
        .role = STATEMENT_EVOLVE,
        .sql = sql_text_own(writer->arena, strbuf_copy(sql, writer->arena)),
    };
    strategy_statement_vec_push(writer->arena, &writer->evolves, statement);
}

static void append_alter(StrBuf *sql, SqlRelation table, const char *action, Str column, const char *before_type,
                         Str type) {
    strbuf_text(sql, "ALTER TABLE ");
    sql_relation(sql, table);
    strbuf_format(sql, " %s ", action);
    sql_identifier(sql, column);
    strbuf_format(sql, "%s" STR_FMT, before_type, STR_ARG(type));
}

/* The server alters the table. What the engine knows of it is old then, and it would misread the rows: an ALTER of its
 * own, in which there is nothing to do, makes it look again. */
static void push_remote_alter(Writer *writer, const char *action, Str column, const char *before_type, Str type) {
    SqlRelation target = writer->input->target;
    SqlRelation there = {.schema = target.schema, .name = target.name};
    AUTO(strbuf) StrBuf alter = {0};
    AUTO(strbuf) StrBuf call = {0};
    AUTO(strbuf) StrBuf look_again = {0};
    append_alter(&alter, there, action, column, before_type, type_in_postgres(type, writer->arena));
    sql_remote_call(&call, "CALL postgres_execute", target.catalog, strbuf_str(&alter));
    append_alter(&look_again, target, "ADD COLUMN IF NOT EXISTS", column, " ", STR("BOOLEAN"));
    push_evolve(writer, &call);
    push_evolve(writer, &look_again);
}

static void push_alter(Writer *writer, const char *action, Str column, const char *before_type, Str type) {
    if (writer->input->capabilities->remote_alter) {
        push_remote_alter(writer, action, column, before_type, type);
        return;
    }
    AUTO(strbuf) StrBuf sql = {0};
    append_alter(&sql, writer->input->target, action, column, before_type, type);
    push_evolve(writer, &sql);
}

static bool policy_is(const Writer *writer, Str policy) {
    return !writer->is_owned && str_equal(writer->input->schema_policy, policy);
}

static Status refuse_change(const Writer *writer, Str column, const char *what, Error *err) {
    Str model = writer->input->model;
    (void)error_set(err, ERROR_PLAN, "model '" STR_FMT "': column '" STR_FMT "' %s, and its schema policy is reject",
                    STR_ARG(model), STR_ARG(column), what);
    error_code(err, STR("schema_rejected"));
    error_detail(err, STR("model"), model);
    error_detail(err, STR("column"), column);
    error_hint(err, "change the target by hand, or set `schema: {columns: additive}` on the model");
    return FAILED;
}

static Status add_column(Writer *writer, const BoundColumn *column, Error *err) {
    if (policy_is(writer, STR("reject"))) {
        return refuse_change(writer, column->name, "is not in the target", err);
    }
    if (policy_is(writer, STR("ignore"))) {
        return OK;
    }
    push_alter(writer, "ADD COLUMN", column->name, " ", column->type);
    writer_note(writer, "column '" STR_FMT "' (" STR_FMT ") is added", STR_ARG(column->name), STR_ARG(column->type));
    return OK;
}

/* The first stored integer that DOUBLE would round. */
static void refuse_rounding(Writer *writer, Str column, Str widened) {
    AUTO(strbuf) StrBuf sql = {0};
    AUTO(strbuf) StrBuf name = {0};
    sql_identifier(&name, column);
    Str quoted = strbuf_str(&name);
    strbuf_text(&sql, "SELECT ");
    sql_literal(&sql, column);
    strbuf_format(&sql, ", CAST(" STR_FMT " AS VARCHAR), ", STR_ARG(quoted));
    sql_literal(&sql, widened);
    strbuf_text(&sql, " FROM ");
    sql_relation(&sql, writer->input->target);
    strbuf_format(&sql, " WHERE CAST(CAST(" STR_FMT " AS DOUBLE) AS HUGEINT) <> " STR_FMT " LIMIT 1", STR_ARG(quoted),
                  STR_ARG(quoted));
    StrategyStatement statement = {
        .role = STATEMENT_REFUSE,
        .refusal = REFUSAL_CAST,
        .sql = sql_text_own(writer->arena, strbuf_copy(&sql, writer->arena)),
    };
    strategy_statement_vec_push(writer->arena, &writer->evolves, statement);
}

static void widen_column(Writer *writer, BoundColumn *column, Str stored) {
    column->type = column->source_type;
    if (type_widening_rounds(stored, column->type)) {
        refuse_rounding(writer, column->name, column->type);
    }
    push_alter(writer, "ALTER COLUMN", column->name, " TYPE ", column->type);
    writer_note(writer, "column '" STR_FMT "' is widened from " STR_FMT " to " STR_FMT, STR_ARG(column->name),
                STR_ARG(stored), STR_ARG(column->type));
}

static void cast_value(Writer *writer, BoundColumn *column) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CAST(");
    sql_identifier(&sql, column->source_name);
    strbuf_format(&sql, " AS " STR_FMT ")", STR_ARG(column->type));
    column->value = strbuf_copy(&sql, writer->arena);
}

static Status fit_type(Writer *writer, BoundColumn *column, const DuckColumn *stored, Error *err) {
    TypeChange change = type_change(stored->type, column->source_type);
    if (change == TYPE_SAME || policy_is(writer, STR("ignore"))) {
        return OK;
    }
    if (change == TYPE_WIDENS) {
        widen_column(writer, column, stored->type);
        return OK;
    }
    if (change == TYPE_CASTS && policy_is(writer, STR("reject"))) {
        Str what = str_format(writer->arena, "is " STR_FMT " in the target and " STR_FMT " in the query",
                              STR_ARG(stored->type), STR_ARG(column->source_type));
        return refuse_change(writer, column->name, str_to_c(writer->arena, what), err);
    }
    column->type = stored->type;
    column->may_not_cast = change == TYPE_CASTS;
    cast_value(writer, column);
    return OK;
}

/* --- Binding ------------------------------------------------------------------------------------------------------ */

static Status bind_column(Writer *writer, const DuckColumn *source, Error *err) {
    const DuckColumnVec *target_columns = writer->input->target_columns;
    const DuckColumn *stored = target_columns != NULL ? duck_column_find(target_columns, source->name) : NULL;
    AUTO(strbuf) StrBuf quoted = {0};
    sql_identifier(&quoted, source->name);
    BoundColumn column = {
        .name = stored != NULL ? stored->name : source->name,
        .type = source->type,
        .source_name = source->name,
        .source_type = source->type,
        .value = strbuf_copy(&quoted, writer->arena),
    };
    if (stored != NULL) {
        TRY(fit_type(writer, &column, stored, err));
    } else if (target_columns != NULL) {
        TRY(add_column(writer, &column, err));
    }
    bound_column_vec_push(writer->arena, &writer->columns, column);
    return OK;
}

static Status refuse_repeated_names(const Writer *writer, Error *err) {
    const DuckColumnVec *columns = writer->input->columns;
    StrVec repeated = {0};
    for (size_t i = 0; i < columns->count; i++) {
        if (duck_column_find(columns, columns->items[i].name) != &columns->items[i] &&
            !str_vec_contains(&repeated, columns->items[i].name)) {
            str_vec_push(writer->arena, &repeated, columns->items[i].name);
        }
    }
    if (repeated.count == 0) {
        return OK;
    }
    Str names = str_join(writer->arena, repeated.items, repeated.count, STR(", "));
    (void)error_set(err, ERROR_EXECUTION, "model '" STR_FMT "': the query has more than one column named " STR_FMT,
                    STR_ARG(writer->input->model), STR_ARG(names));
    error_code(err, STR("duplicate_column"));
    error_hint(err, "give each column of the query a name of its own");
    return FAILED;
}

/* The server would cut the name off without a word, and not find it again. */
static Status check_length(const Writer *writer, const char *what, Str name, Error *err) {
    size_t limit = writer->input->capabilities->name_limit;
    if (limit == 0 || name.size <= limit) {
        return OK;
    }
    (void)error_set(err, ERROR_PLAN,
                    "model '" STR_FMT "': the name of %s '" STR_FMT "' has %zu bytes, and the target keeps only %zu",
                    STR_ARG(writer->input->model), what, STR_ARG(name), name.size, limit);
    error_code(err, STR("name_length"));
    error_hint(err, "give it a shorter name");
    return FAILED;
}

static Status check_lengths(const Writer *writer, Error *err) {
    TRY(check_length(writer, "schema", writer->input->target.schema, err));
    TRY(check_length(writer, "table", writer->input->target.name, err));
    for (size_t i = 0; i < writer->columns.count; i++) {
        TRY(check_length(writer, "column", writer->columns.items[i].name, err));
    }
    return OK;
}

static Status missing_column(const Writer *writer, const char *what, Str name, Error *err) {
    AUTO(strbuf) StrBuf names = {0};
    for (size_t i = 0; i < writer->columns.count; i++) {
        strbuf_text(&names, i > 0 ? ", " : "");
        strbuf_append(&names, writer->columns.items[i].name);
    }
    (void)error_set(err, ERROR_EXECUTION,
                    "model '" STR_FMT "': %s column '" STR_FMT "' is not among the columns of the query: " STR_FMT,
                    STR_ARG(writer->input->model), what, STR_ARG(name), STR_ARG(strbuf_str(&names)));
    error_code(err, STR("column_missing"));
    error_detail(err, STR("model"), writer->input->model);
    error_detail(err, STR("column"), name);
    return FAILED;
}

static Status bind_keys(Writer *writer, Error *err) {
    const StrVec *key = writer->input->key;
    for (size_t i = 0; key != NULL && i < key->count; i++) {
        BoundColumn *column = columns_find(writer, key->items[i]);
        if (column == NULL) {
            return missing_column(writer, "key", key->items[i], err);
        }
        column->is_key = true;
    }
    return OK;
}

static Status bind_time(Writer *writer, Error *err) {
    Str name = writer->input->time_column;
    if (name.size == 0) {
        return OK;
    }
    writer->time = columns_find(writer, name);
    return writer->time != NULL ? OK : missing_column(writer, "time", name, err);
}

Status columns_bind(Writer *writer, Error *err) {
    const DuckColumnVec *columns = writer->input->columns;
    TRY(refuse_repeated_names(writer, err));
    for (size_t i = 0; i < columns->count; i++) {
        TRY(bind_column(writer, &columns->items[i], err));
    }
    TRY(check_lengths(writer, err));
    TRY(bind_keys(writer, err));
    return bind_time(writer, err);
}
