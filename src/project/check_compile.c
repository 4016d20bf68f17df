/* From a check to its two queries: how many failures there are, and which rows they are (spec 05 §2). Both are written
 * from one description: which rows of the table are bad. */
#include "project/check.h"

#include "base/clock.h"
#include "config/scalar.h"
#include "sql/sql_splice.h"

/* ---- Writing a query that holds texts of the user. */

typedef struct QueryWriter {
    Arena *arena;
    const Check *check;
    const CheckContext *context;
    StrBuf own; /* not yet in `text` */
    SqlText text;
} QueryWriter;

static void query_writer_deinit(QueryWriter *writer) {
    strbuf_deinit(&writer->own);
}
DEFINE_AUTO_VALUE(QueryWriter, query_writer, query_writer_deinit)

static void append(QueryWriter *writer, const SqlText *text) {
    SqlText parts[] = {writer->text, sql_text_own(writer->arena, strbuf_copy(&writer->own, writer->arena)), *text};
    strbuf_clear(&writer->own);
    writer->text = sql_text_concat(writer->arena, parts, COUNT_OF(parts));
}

static SqlText take_query(QueryWriter *writer) {
    SqlText nothing = {0};
    append(writer, &nothing);
    return writer->text;
}

/* ---- Tables */

static Status relation_of(const QueryWriter *writer, size_t model, SqlRelation *relation_out, Error *err) {
    const CheckContext *context = writer->context;
    *relation_out = model == writer->check->model ? context->table : context->relation_of(context->context, model);
    if (relation_out->name.size > 0) {
        return OK;
    }
    return error_set_at(err, ERROR_CHECK, writer->check->place,
                        "check '" STR_FMT "' reads a model that is not built in this environment",
                        STR_ARG(writer->check->name));
}

/* The user's SQL with physical names. */
static Status splice_names(const QueryWriter *writer, const CheckSql *sql, bool is_expression, SqlText *spliced_out,
                           Error *err) {
    size_t count = sql->facts->tables.count;
    SqlReplacement *replacements = ARENA_NEW_ARRAY(writer->arena, SqlReplacement, count);
    for (size_t i = 0; i < count; i++) {
        if (sql->references[i].model != MODEL_NONE) {
            TRY(relation_of(writer, sql->references[i].model, &replacements[i].relation, err));
        } else if (sql->references[i].input != INPUT_NONE) {
            replacements[i].source = writer->context->inputs[sql->references[i].input];
        }
    }
    SqlSplice splice = {.replacements = replacements, .is_expression = is_expression};
    return sql_splice(&sql->text, sql->facts, &splice, writer->arena, spliced_out, err);
}

/* "(expression)", cut from the query it was read in. */
static Status append_predicate(QueryWriter *writer, const CheckSql *sql, Error *err) {
    SqlText spliced;
    TRY(splice_names(writer, sql, true, &spliced, err));
    SqlText predicate = sql_text_slice(&spliced, sizeof CHECK_PREDICATE_HEAD - 1, spliced.text.size, writer->arena);
    append(writer, &predicate);
    return OK;
}

static void append_from(QueryWriter *writer) {
    strbuf_text(&writer->own, " FROM ");
    sql_relation(&writer->own, writer->context->table);
    strbuf_text(&writer->own, " AS ");
    sql_identifier(&writer->own, writer->check->alias);
}

/* " WHERE (…)", or nothing. */
static Status append_where(QueryWriter *writer, Error *err) {
    if (writer->check->where_sql == NULL) {
        return OK;
    }
    strbuf_text(&writer->own, " WHERE ");
    return append_predicate(writer, writer->check->where_sql, err);
}

/* "alias"."column" */
static void append_column(QueryWriter *writer, size_t index) {
    sql_identifier(&writer->own, writer->check->alias);
    strbuf_char(&writer->own, '.');
    sql_identifier(&writer->own, writer->check->columns.items[index]);
}

static void append_columns(QueryWriter *writer) {
    for (size_t i = 0; i < writer->check->columns.count; i++) {
        strbuf_text(&writer->own, i == 0 ? "" : ", ");
        append_column(writer, i);
    }
}

/* A whole number of another base, as YAML reads it (0x1F), is written in tens. */
static void append_number(QueryWriter *writer, const ConfigValue *value) {
    int64_t number;
    if (!value->quoted && scalar_to_int(value->text, &number)) {
        strbuf_format(&writer->own, "%lld", (long long)number);
    } else {
        strbuf_append(&writer->own, value->text);
    }
}

/* A text takes the type of the column it is compared with. So does a boolean: `yes` may be meant as either. */
static bool is_number(const ConfigValue *value) {
    return value->is_number && !value->quoted;
}

static void append_value(QueryWriter *writer, const ConfigValue *value) {
    if (is_number(value)) {
        append_number(writer, value);
    } else {
        sql_literal(&writer->own, value->text);
    }
}

/* Bounds are numbers also when they are written in quotes. */
static void append_bound(QueryWriter *writer, const ConfigValue *value) {
    double number;
    if (is_number(value) || str_to_double(value->text, &number)) {
        append_number(writer, value);
    } else {
        sql_literal(&writer->own, value->text);
    }
}

/* ---- Which rows are bad: a predicate that is true for them; NULL is as good as false. */

static Status bad_not_null(QueryWriter *writer, Error *err) {
    (void)err;
    for (size_t i = 0; i < writer->check->columns.count; i++) {
        strbuf_text(&writer->own, i == 0 ? "" : " OR ");
        append_column(writer, i);
        strbuf_text(&writer->own, " IS NULL");
    }
    return OK;
}

/* " AND column NOT IN (…)" for the numbers, or for the others: in one list both would be compared as text. */
static void append_not_in(QueryWriter *writer, bool numbers) {
    const ConfigValue *values = writer->check->values;
    bool is_open = false;
    for (size_t i = 0; i < values->count; i++) {
        if (is_number(values->items[i]) != numbers) {
            continue;
        }
        if (!is_open) {
            strbuf_text(&writer->own, " AND ");
            append_column(writer, 0);
        }
        strbuf_text(&writer->own, is_open ? ", " : " NOT IN (");
        append_value(writer, values->items[i]);
        is_open = true;
    }
    strbuf_text(&writer->own, is_open ? ")" : "");
}

static Status bad_accepted_values(QueryWriter *writer, Error *err) {
    (void)err;
    append_column(writer, 0);
    strbuf_text(&writer->own, " IS NOT NULL");
    append_not_in(writer, true);
    append_not_in(writer, false);
    return OK;
}

static Status bad_range(QueryWriter *writer, Error *err) {
    (void)err;
    const Check *check = writer->check;
    if (check->minimum != NULL) {
        append_column(writer, 0);
        strbuf_text(&writer->own, " < ");
        append_bound(writer, check->minimum);
    }
    strbuf_text(&writer->own, check->minimum != NULL && check->maximum != NULL ? " OR " : "");
    if (check->maximum != NULL) {
        append_column(writer, 0);
        strbuf_text(&writer->own, " > ");
        append_bound(writer, check->maximum);
    }
    return OK;
}

static Status bad_pattern(QueryWriter *writer, Error *err) {
    (void)err;
    strbuf_text(&writer->own, "NOT regexp_matches(CAST(");
    append_column(writer, 0);
    strbuf_text(&writer->own, " AS VARCHAR), ");
    sql_literal(&writer->own, writer->check->regex);
    strbuf_text(&writer->own, ")");
    return OK;
}

/* NOT EXISTS: with NOT IN a single NULL among the parents would hide every orphan. */
static Status bad_relationships(QueryWriter *writer, Error *err) {
    SqlRelation parent;
    TRY(relation_of(writer, writer->check->to, &parent, err));
    append_column(writer, 0);
    strbuf_text(&writer->own, " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ");
    sql_relation(&writer->own, parent);
    strbuf_text(&writer->own, " AS interlace__parent WHERE interlace__parent.");
    sql_identifier(&writer->own, writer->check->field);
    strbuf_text(&writer->own, " = ");
    append_column(writer, 0);
    strbuf_text(&writer->own, ")");
    return OK;
}

static Status bad_expression(QueryWriter *writer, Error *err) {
    strbuf_text(&writer->own, "NOT ");
    return append_predicate(writer, writer->check->expression_sql, err);
}

/* ---- Queries */

/* "(bad)", or "(bad) AND (where)". */
static Status append_bad(QueryWriter *writer, Status (*write_bad)(QueryWriter *, Error *), Error *err) {
    strbuf_text(&writer->own, "(");
    TRY(write_bad(writer, err));
    strbuf_text(&writer->own, ")");
    if (writer->check->where_sql == NULL) {
        return OK;
    }
    strbuf_text(&writer->own, " AND ");
    return append_predicate(writer, writer->check->where_sql, err);
}

static Status append_bad_rows(QueryWriter *writer, Status (*write_bad)(QueryWriter *, Error *), Error *err) {
    append_from(writer);
    strbuf_text(&writer->own, " WHERE ");
    TRY(append_bad(writer, write_bad, err));
    if (writer->context->rows.size > 0) {
        strbuf_format(&writer->own, " AND (" STR_FMT ")", STR_ARG(writer->context->rows));
    }
    return OK;
}

/* NULLs group together, so two NULL keys are one duplicate. */
static Status count_unique(QueryWriter *writer, Error *err) {
    strbuf_text(&writer->own, "SELECT count(*) AS failures FROM (SELECT 1");
    append_from(writer);
    TRY(append_where(writer, err));
    strbuf_text(&writer->own, " GROUP BY ");
    append_columns(writer);
    strbuf_text(&writer->own, " HAVING count(*) > 1) AS interlace__duplicates");
    return OK;
}

static Status rows_unique(QueryWriter *writer, Error *err) {
    strbuf_text(&writer->own, "SELECT *");
    append_from(writer);
    TRY(append_where(writer, err));
    strbuf_text(&writer->own, " QUALIFY count(*) OVER (PARTITION BY ");
    append_columns(writer);
    strbuf_text(&writer->own, ") > 1");
    return OK;
}

static void append_zone(QueryWriter *writer) {
    if (writer->context->timezone.size == 0) {
        strbuf_text(&writer->own, "current_setting('TimeZone')");
    } else {
        sql_literal(&writer->own, writer->context->timezone);
    }
}

/* The newest time as an instant: a time without a zone is wall time of the project's zone, a date is its midnight.
 * Adding an interval refuses columns that are no times. */
static Status count_freshness(QueryWriter *writer, Error *err) {
    Str cutoff = time_format_iso(writer->arena, clock_now_us() - writer->check->max_age_us);
    strbuf_text(&writer->own,
                "SELECT CASE WHEN newest IS NULL OR CASE WHEN typeof(newest) = 'TIMESTAMP WITH TIME ZONE' "
                "THEN CAST(newest AS TIMESTAMPTZ) ELSE timezone(");
    append_zone(writer);
    strbuf_text(&writer->own, ", CAST(newest AS TIMESTAMP)) END < CAST(");
    sql_literal(&writer->own, cutoff);
    strbuf_text(&writer->own, " AS TIMESTAMPTZ) THEN 1 ELSE 0 END AS failures FROM (SELECT max(");
    append_column(writer, 0);
    strbuf_text(&writer->own, " + INTERVAL 0 SECOND) AS newest");
    append_from(writer);
    TRY(append_where(writer, err));
    strbuf_text(&writer->own, ") AS interlace__newest");
    return OK;
}

static Status count_rows(QueryWriter *writer, Error *err) {
    (void)err;
    const Check *check = writer->check;
    strbuf_text(&writer->own, "SELECT CASE WHEN ");
    if (check->minimum != NULL) {
        strbuf_text(&writer->own, "count(*) < ");
        append_bound(writer, check->minimum);
    }
    strbuf_text(&writer->own, check->minimum != NULL && check->maximum != NULL ? " OR " : "");
    if (check->maximum != NULL) {
        strbuf_text(&writer->own, "count(*) > ");
        append_bound(writer, check->maximum);
    }
    strbuf_text(&writer->own, " THEN 1 ELSE 0 END AS failures");
    append_from(writer);
    return OK;
}

static Status append_user_query(QueryWriter *writer, const char *head, Error *err) {
    SqlText spliced;
    TRY(splice_names(writer, writer->check->query_sql, false, &spliced, err));
    SqlText body = sql_text_as_body(&spliced, writer->arena);
    strbuf_text(&writer->own, head);
    strbuf_text(&writer->own, " FROM (");
    append(writer, &body);
    strbuf_text(&writer->own, ") AS interlace__rows");
    return OK;
}

static Status count_query(QueryWriter *writer, Error *err) {
    return append_user_query(writer, "SELECT count(*) AS failures", err);
}

static Status rows_query(QueryWriter *writer, Error *err) {
    return append_user_query(writer, "SELECT *", err);
}

/* A check that judges rows has `bad`; the others write their queries whole, and one that judges the table has no rows.
 */
typedef struct CheckCompiler {
    Status (*bad)(QueryWriter *writer, Error *err);
    Status (*count)(QueryWriter *writer, Error *err);
    Status (*rows)(QueryWriter *writer, Error *err);
} CheckCompiler;

/* clang-format off */
static const CheckCompiler compilers[CHECK_TYPE_COUNT] = {
    [CHECK_NOT_NULL]        = {.bad = bad_not_null},
    [CHECK_UNIQUE]          = {.count = count_unique, .rows = rows_unique},
    [CHECK_ACCEPTED_VALUES] = {.bad = bad_accepted_values},
    [CHECK_RANGE]           = {.bad = bad_range},
    [CHECK_PATTERN]         = {.bad = bad_pattern},
    [CHECK_FRESHNESS]       = {.count = count_freshness},
    [CHECK_RELATIONSHIPS]   = {.bad = bad_relationships},
    [CHECK_ROW_COUNT]       = {.count = count_rows},
    [CHECK_EXPRESSION]      = {.bad = bad_expression},
    [CHECK_SQL]             = {.count = count_query, .rows = rows_query},
};
/* clang-format on */

Status check_compile(const Check *check, const CheckContext *context, Arena *arena, SqlText *query_out, Error *err) {
    assert(check->type != CHECK_PYTHON);
    AUTO(query_writer) QueryWriter writer = {.arena = arena, .check = check, .context = context};
    const CheckCompiler *compiler = &compilers[check->type];
    if (compiler->bad != NULL) {
        strbuf_text(&writer.own, "SELECT count(*) AS failures");
        TRY(append_bad_rows(&writer, compiler->bad, err));
    } else {
        TRY(compiler->count(&writer, err));
    }
    *query_out = take_query(&writer);
    return OK;
}

static bool has_tables(const CheckSql *sql) {
    return sql != NULL && sql->facts->tables.count > 0;
}

bool check_judges_rows(const Check *check) {
    return compilers[check->type].bad != NULL && check->type != CHECK_RELATIONSHIPS &&
           !has_tables(check->expression_sql) && !has_tables(check->where_sql);
}

static bool is_lasting(const CheckSql *sql) {
    return sql == NULL || (sql->facts->clock_reads.count == 0 && sql->facts->file_readers.count == 0);
}

bool check_verdict_lasts(const Check *check) {
    return check_judges_rows(check) && is_lasting(check->expression_sql) && is_lasting(check->where_sql);
}

Status check_compile_together(const Check *const *checks, size_t count, const CheckContext *context, Arena *arena,
                              SqlText *query_out, Error *err) {
    assert(count > 0);
    AUTO(query_writer) QueryWriter writer = {.arena = arena, .context = context};
    for (size_t i = 0; i < count; i++) {
        assert(check_judges_rows(checks[i]));
        writer.check = checks[i];
        strbuf_text(&writer.own, i == 0 ? "SELECT count(CASE WHEN " : ", count(CASE WHEN ");
        TRY(append_bad(&writer, compilers[checks[i]->type].bad, err));
        strbuf_text(&writer.own, " THEN 1 END)");
    }
    append_from(&writer);
    *query_out = take_query(&writer);
    return OK;
}

Status check_failing_rows_query(const Check *check, const CheckContext *context, size_t limit, Arena *arena,
                                SqlText *query_out, Error *err) {
    AUTO(query_writer) QueryWriter writer = {.arena = arena, .check = check, .context = context};
    const CheckCompiler *compiler = &compilers[check->type];
    if (compiler->bad == NULL && compiler->rows == NULL) {
        *query_out = sql_text_own(arena, STR_EMPTY);
        return OK;
    }
    if (compiler->bad != NULL) {
        strbuf_text(&writer.own, "SELECT *");
        TRY(append_bad_rows(&writer, compiler->bad, err));
    } else {
        TRY(compiler->rows(&writer, err));
    }
    strbuf_format(&writer.own, " LIMIT %zu", limit);
    *query_out = take_query(&writer);
    return OK;
}
