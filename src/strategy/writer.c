#include "strategy/writer.h"

/* The source between parentheses. The line break ends a comment that the query may close with. */
static SqlText source_of(const StrategyInput *input, Arena *arena) {
    if (input->staged != NULL) {
        AUTO(strbuf) StrBuf name = {0};
        sql_relation(&name, *input->staged);
        return sql_text_own(arena, strbuf_copy(&name, arena));
    }
    SqlText parts[] = {sql_text_own(arena, STR("(")), input->source, sql_text_own(arena, STR("\n) AS source"))};
    return sql_text_concat(arena, parts, COUNT_OF(parts));
}

/* --- Columns that strategies keep for themselves ------------------------------------------------------------------ */

static Status refuse_reserved(const Writer *writer, Str name, Error *err) {
    (void)error_set(err, ERROR_PLAN,
                    "model '" STR_FMT "': the query gives a column '" STR_FMT "', which strategy %s writes itself",
                    STR_ARG(writer->input->model), STR_ARG(name), strategy_name(writer->kind));
    error_code(err, STR("bookkeeping_column"));
    error_hint(err, "rename the column in the query");
    return FAILED;
}

static Status refuse_missing(const Writer *writer, const StrVec *missing, Error *err) {
    Str names = str_join(writer->arena, missing->items, missing->count, STR(", "));
    (void)error_set(err, ERROR_PLAN, "model '" STR_FMT "': strategy %s needs the column(s) " STR_FMT " in the target",
                    STR_ARG(writer->input->model), strategy_name(writer->kind), STR_ARG(names));
    error_code(err, STR("bookkeeping_column"));
    error_detail(err, STR("columns"), names);
    error_hint(err, "use `strategy: merge`, or another target");
    return FAILED;
}

bool writer_has_bookkeeping(const Writer *writer, Str name) {
    return duck_column_find(writer->input->target_columns, name) != NULL;
}

static Status check_bookkeeping(const Writer *writer, Error *err) {
    StrVec missing = {0};
    bool is_made = writer->is_owned && writer->kind == STRATEGY_HASH_MERGE; /* in a copy of what merge kept */
    for (const DuckColumn *own = strategy_bookkeeping(writer->kind); own->name.size > 0; own++) {
        if (duck_column_find(writer->input->columns, own->name) != NULL) {
            return refuse_reserved(writer, own->name, err);
        }
        if (!writer->is_first && !is_made && !writer_has_bookkeeping(writer, own->name)) {
            str_vec_push(writer->arena, &missing, own->name);
        }
    }
    return missing.count == 0 ? OK : refuse_missing(writer, &missing, err);
}

static Status check_engine(const Writer *writer, Error *err) {
    bool needs_subquery = writer->kind == STRATEGY_SCD || writer->kind == STRATEGY_FULL_MERGE;
    if (!needs_subquery || writer->input->capabilities->mutation_subquery) {
        return OK;
    }
    (void)error_set(err, ERROR_PLAN,
                    "model '" STR_FMT "': engine '" STR_FMT "' cannot do strategy %s: its UPDATE and DELETE take no "
                    "subqueries",
                    STR_ARG(writer->input->model), STR_ARG(writer->input->engine), strategy_name(writer->kind));
    error_code(err, STR("engine_capability"));
    error_hint(err, "it can do replace, append, merge, hash_merge and incremental");
    return FAILED;
}

Status writer_begin(Writer *writer, Error *err) {
    const StrategyInput *input = writer->input;
    assert(input->columns != NULL);
    writer->is_owned = input->materialise != MATERIALISE_TABLE;
    writer->is_first = input->target_columns == NULL;
    writer->source = source_of(input, writer->arena);
    writer->extra = (ExtraColumns){"", "", ""};
    TRY(check_engine(writer, err));
    TRY(check_bookkeeping(writer, err));
    return columns_bind(writer, err);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

static void push(Writer *writer, StatementRole role, RefusalKind refusal, const char *text) {
    StrategyStatement statement = {.role = role, .refusal = refusal, .sql = template_fill(writer, str_from(text))};
    strategy_statement_vec_push(writer->arena, writer->statements, statement);
}

void writer_step(Writer *writer, StatementRole role, const char *text) {
    push(writer, role, REFUSAL_NONE, text);
}

void writer_refuse(Writer *writer, RefusalKind refusal, const char *text) {
    push(writer, STATEMENT_REFUSE, refusal, text);
}

SqlRelation writer_work(const Writer *writer, Str name) {
    SqlRelation relation = writer->input->scratch;
    relation.name = str_format(writer->arena, STR_FMT "_" STR_FMT, STR_ARG(relation.name), STR_ARG(name));
    return relation;
}

/* A table of the same name may be left from an attempt before this one. */
void writer_make_work(Writer *writer, const char *name, const char *select) {
    bool may_replace = writer->input->capabilities->create_or_replace;
    const char *temporary = writer->input->scratch.schema.size == 0 ? "TEMP " : "";
    if (!may_replace) {
        Str drop = str_format(writer->arena, "DROP TABLE IF EXISTS {work %s}", name);
        writer_step(writer, STATEMENT_STAGE, str_to_c(writer->arena, drop));
    }
    Str create = str_format(writer->arena, "CREATE %s%sTABLE {work %s} AS %s", may_replace ? "OR REPLACE " : "",
                            temporary, name, select);
    writer_step(writer, STATEMENT_STAGE, str_to_c(writer->arena, create));
    str_vec_push(writer->arena, &writer->working, str_from(name));
}

void writer_evolve(Writer *writer) {
    for (size_t i = 0; i < writer->evolves.count; i++) {
        strategy_statement_vec_push(writer->arena, writer->statements, writer->evolves.items[i]);
    }
}

void writer_end(Writer *writer) {
    for (size_t i = 0; i < writer->working.count; i++) {
        Str drop = str_format(writer->arena, "DROP TABLE {work " STR_FMT "}", STR_ARG(writer->working.items[i]));
        writer_step(writer, STATEMENT_DROP, str_to_c(writer->arena, drop));
    }
}

void writer_note(Writer *writer, const char *format, ...) {
    if (writer->notes == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    str_vec_push(writer->arena, writer->notes, str_format_v(writer->arena, format, arguments));
    va_end(arguments);
}
