#include "sql/sql_splice.h"

#include "sql/sql_lexer.h"

/* --- Names in place of names -------------------------------------------------------------------------------------- */

static bool is_replaced(const SqlReplacement *replacement) {
    return replacement->relation.name.size > 0 || replacement->source.size > 0 || replacement->filter.size > 0;
}

/* The name by which the rest of the query knows the table. A name without quotes is folded as PostgreSQL does, so that
 * the quoted alias still answers to `Orders.id`; DuckDB does not mind the case. */
static void append_alias(StrBuf *sql, const SqlTableRef *table, Arena *arena) {
    strbuf_text(sql, " AS ");
    sql_identifier(sql, table->name_quoted ? table->name : str_lower(arena, table->name));
}

/* `TABLE orders` is a query by its own, whose word goes when another query takes its place. */
static size_t start_with_table_word(Str sql, const SqlTableRef *table) {
    SqlLexer lexer = sql_lexer(sql);
    SqlToken before = {.kind = SQL_TOKEN_END};
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END || token.kind == SQL_TOKEN_INVALID || token.start >= table->start) {
            return sql_token_is_word(sql, before, "table") ? before.start : table->start;
        }
        before = token;
    }
}

static void append_replacement(StrBuf *sql, Str text, const SqlTableRef *table, const SqlReplacement *replacement) {
    if (replacement->relation.name.size > 0) {
        sql_relation(sql, replacement->relation);
    } else if (replacement->source.size > 0) {
        strbuf_append(sql, replacement->source);
    } else {
        strbuf_append(sql, str_slice(text, table->start, table->end));
    }
}

static SqlEdit table_edit(Str text, const SqlTableRef *table, const SqlReplacement *replacement, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    assert(replacement->filter.size == 0 || (table->takes_alias && !table->is_file));
    size_t start = table->start;
    if (replacement->filter.size > 0) {
        strbuf_text(&sql, "(SELECT * FROM ");
        append_replacement(&sql, text, table, replacement);
        strbuf_format(&sql, " WHERE " STR_FMT ")", STR_ARG(replacement->filter));
    } else {
        append_replacement(&sql, text, table, replacement);
        if (replacement->source.size > 0 && !table->takes_alias) {
            start = start_with_table_word(text, table);
        }
    }
    if (table->takes_alias && !table->has_alias) {
        append_alias(&sql, table, arena);
    }
    SqlText name = sql_text_own(arena, strbuf_copy(&sql, arena));
    return (SqlEdit){.start = start, .end = table->end, .replacement = name};
}

/* schema.table.column does not find an aliased table: its schema is cut when a table of that name was replaced. */
static bool loses_prefix(const SqlColumnPrefix *prefix, const SqlFacts *facts, const SqlReplacement *replacements) {
    for (size_t i = 0; i < facts->tables.count; i++) {
        const SqlTableRef *table = &facts->tables.items[i];
        if (is_replaced(&replacements[i]) && str_equal_fold(table->schema, prefix->schema) &&
            str_equal_fold(table->name, prefix->table)) {
            return true;
        }
    }
    return false;
}

static void add_name_edits(Str text, const SqlFacts *facts, const SqlReplacement *replacements, Arena *arena,
                           SqlEditVec *edits) {
    for (size_t i = 0; i < facts->tables.count; i++) {
        if (is_replaced(&replacements[i])) {
            sql_edit_vec_push(arena, edits, table_edit(text, &facts->tables.items[i], &replacements[i], arena));
        }
    }
    for (size_t i = 0; i < facts->prefixes.count; i++) {
        const SqlColumnPrefix *prefix = &facts->prefixes.items[i];
        if (loses_prefix(prefix, facts, replacements)) {
            sql_edit_vec_push(arena, edits, (SqlEdit){.start = prefix->start, .end = prefix->end});
        }
    }
}

/* --- Inlined models ----------------------------------------------------------------------------------------------- */

/* DESCRIBE and SUMMARIZE take no WITH in front: they go into a subquery. */
static bool is_described(Str sql, size_t offset) {
    static const char *const words[] = {"DESCRIBE", "DESC", "SUMMARIZE", "SHOW"};
    SqlLexer lexer = {.text = sql, .offset = offset};
    SqlToken first = sql_lexer_next_code(&lexer);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (sql_token_is_word(sql, first, words[i])) {
            return true;
        }
    }
    return false;
}

static SqlText cte_text(const SqlInlined *inlined, const char *before, const char *behind, Arena *arena) {
    AUTO(strbuf) StrBuf head = {0};
    strbuf_text(&head, before);
    sql_identifier(&head, inlined->cte_name);
    strbuf_text(&head, " AS (");
    const SqlText parts[] = {sql_text_own(arena, strbuf_copy(&head, arena)), sql_text_as_body(&inlined->body, arena),
                             sql_text_own(arena, str_format(arena, ")%s", behind))};
    return sql_text_concat(arena, parts, COUNT_OF(parts));
}

static SqlEdit insertion(size_t offset, SqlText text) {
    return (SqlEdit){.start = offset, .end = offset, .replacement = text};
}

static void add_inlined_edits(const SqlText *text, const SqlFacts *facts, const SqlInlined *inlined, size_t count,
                              Arena *arena, SqlEditVec *edits) {
    size_t offset = facts->with_offset;
    bool is_wrapped = count > 0 && !facts->has_with && is_described(text->text, offset);
    const char *last_separator = facts->has_with ? ", " : is_wrapped ? " FROM (" : " ";
    for (size_t i = 0; i < count; i++) {
        const char *before = facts->has_with && i == 0 ? " " : i == 0 ? "WITH " : "";
        const char *behind = i + 1 < count ? ", " : last_separator;
        sql_edit_vec_push(arena, edits, insertion(offset, cte_text(&inlined[i], before, behind, arena)));
    }
    if (is_wrapped) {
        size_t end = sql_text_as_body(text, arena).text.size;
        sql_edit_vec_push(arena, edits, insertion(end, sql_text_own(arena, STR(")"))));
    }
}

/* --- Names of files ----------------------------------------------------------------------------------------------- */

/* 'x.csv' without an escape: what else may name a file stays as it is. A scheme (s3://…), ~ and an absolute name do not
 * depend on where the reader stands. */
static bool is_relative_file(Str literal) {
    bool is_plain = literal.size > 2 && literal.ptr[0] == '\'';
    Str name = is_plain ? str_slice(literal, 1, literal.size - 1) : STR_EMPTY;
    return is_plain && name.ptr[0] != '/' && name.ptr[0] != '~' && str_find(name, STR("://")) == STR_NOT_FOUND &&
           str_find_char(name, '\n') == STR_NOT_FOUND;
}

static void add_file_edit(Str sql, SqlToken token, Str root, Arena *arena, SqlEditVec *edits) {
    if (token.kind != SQL_TOKEN_STRING || !is_relative_file(sql_token_text(sql, token))) {
        return;
    }
    AUTO(strbuf) StrBuf literal = {0};
    sql_literal(&literal, root);
    literal.size--; /* the name goes on inside the quotes, with its own doubled ones */
    strbuf_char(&literal, '/');
    strbuf_append(&literal, str_slice(sql, token.start + 1, token.end));
    SqlText text = sql_text_own(arena, strbuf_copy(&literal, arena));
    sql_edit_vec_push(arena, edits, (SqlEdit){.start = token.start, .end = token.end, .replacement = text});
}

/* The first argument: 'a.csv' or ['a.csv', 'b.csv']. */
static void add_argument_edits(Str sql, const SqlFunctionRef *function, Str root, Arena *arena, SqlEditVec *edits) {
    SqlLexer lexer = {.text = sql, .offset = function->start};
    SqlToken token = sql_lexer_next_code(&lexer);
    while (token.kind != SQL_TOKEN_END && !sql_token_is(sql, token, "(")) { /* the name and its schema */
        token = sql_lexer_next_code(&lexer);
    }
    token = sql_lexer_next_code(&lexer);
    if (!sql_token_is(sql, token, "[")) {
        add_file_edit(sql, token, root, arena, edits);
        return;
    }
    do {
        token = sql_lexer_next_code(&lexer);
        add_file_edit(sql, token, root, arena, edits);
        token = sql_lexer_next_code(&lexer);
    } while (sql_token_is(sql, token, ","));
}

static void add_file_edits(Str sql, const SqlFacts *facts, Str root, Arena *arena, SqlEditVec *edits) {
    for (size_t i = 0; i < facts->tables.count; i++) {
        const SqlTableRef *table = &facts->tables.items[i];
        SqlToken name = {.kind = SQL_TOKEN_STRING, .start = table->start, .end = table->end};
        if (table->is_file) {
            add_file_edit(sql, name, root, arena, edits);
        }
    }
    for (size_t i = 0; i < facts->functions.count; i++) {
        const SqlFunctionRef *function = &facts->functions.items[i];
        bool reads_files = function->in_from && function->start < sql.size &&
                           str_vec_contains(&facts->file_readers, str_lower(arena, function->name));
        if (reads_files) {
            add_argument_edits(sql, function, root, arena, edits);
        }
    }
}

/* --- Reads of the clock ------------------------------------------------------------------------------------------- */

/* In brackets, since now().year() and now()::DATE may follow. */
static SqlEdit clock_edit(const SqlClockRead *read, Str expression, Arena *arena) {
    const char *format = read->kind == SQL_CLOCK_AGE ? STR_FMT ", " : "(" STR_FMT ")";
    Str text = str_format(arena, format, STR_ARG(expression));
    return (SqlEdit){.start = read->start, .end = read->end, .replacement = sql_text_own(arena, text)};
}

bool sql_clock_read_stays(const SqlClockRead *read, const StrVec *columns) {
    return read->output.size > 0 && str_vec_contains_fold(columns, read->output);
}

static Status add_clock_edits(const SqlText *text, const SqlFacts *facts, const SqlSplice *splice, Arena *arena,
                              SqlEditVec *edits, Error *err) {
    for (size_t i = 0; i < facts->clock_reads.count; i++) {
        const SqlClockRead *read = &facts->clock_reads.items[i];
        if (splice->clock_columns != NULL && sql_clock_read_stays(read, splice->clock_columns)) {
            continue;
        }
        if (read->end > text->text.size) {
            return error_set(err, ERROR_COMPILATION,
                             "the engine's parser gave no place for the read of the clock '" STR_FMT
                             "', so it cannot be replaced",
                             STR_ARG(read->name));
        }
        sql_edit_vec_push(arena, edits, clock_edit(read, splice->clock[read->kind], arena));
    }
    return OK;
}

/* --- Names of items ----------------------------------------------------------------------------------------------- */

static bool has_edit_within(const SqlEditVec *edits, size_t count, const SqlUnnamedItem *item) {
    for (size_t i = 0; i < count; i++) {
        if (edits->items[i].start >= item->start && edits->items[i].end <= item->end) {
            return true;
        }
    }
    return false;
}

/* `edits` holds what was replaced so far. */
static void add_item_name_edits(const SqlFacts *facts, Arena *arena, SqlEditVec *edits) {
    size_t replaced_count = edits->count;
    for (size_t i = 0; i < facts->unnamed_items.count; i++) {
        const SqlUnnamedItem *item = &facts->unnamed_items.items[i];
        if (has_edit_within(edits, replaced_count, item)) {
            AUTO(strbuf) StrBuf alias = {0};
            strbuf_text(&alias, " AS ");
            sql_identifier(&alias, item->name);
            sql_edit_vec_push(arena, edits, insertion(item->end, sql_text_own(arena, strbuf_copy(&alias, arena))));
        }
    }
}

Status sql_splice(const SqlText *text, const SqlFacts *facts, const SqlSplice *splice, Arena *arena,
                  SqlText *spliced_out, Error *err) {
    SqlEditVec edits = {0};
    add_name_edits(text->text, facts, splice->replacements, arena, &edits);
    if (splice->clock != NULL) {
        TRY(add_clock_edits(text, facts, splice, arena, &edits, err));
    }
    if (splice->file_root.size > 0) {
        add_file_edits(text->text, facts, splice->file_root, arena, &edits);
    }
    if (!splice->is_expression) {
        add_item_name_edits(facts, arena, &edits);
    }
    add_inlined_edits(text, facts, splice->inlined, splice->inlined_count, arena, &edits);
    if (edits.count == 0) {
        *spliced_out = *text;
        return OK;
    }
    return sql_text_edit(text, &edits, arena, spliced_out, err);
}

/* --- Helpers for the callers -------------------------------------------------------------------------------------- */

Str sql_unused_cte_name(const SqlFacts *facts, Str wanted, Arena *arena) {
    Str name = wanted;
    for (size_t suffix = 2; str_vec_contains_fold(&facts->cte_names, name); suffix++) {
        name = str_format(arena, STR_FMT "_%zu", STR_ARG(wanted), suffix);
    }
    return name;
}

SqlText sql_text_as_body(const SqlText *text, Arena *arena) {
    SqlLexer lexer = sql_lexer(text->text);
    size_t end = 0;
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        if (token.kind == SQL_TOKEN_END || token.kind == SQL_TOKEN_INVALID) {
            break;
        }
        if (!sql_token_is(text->text, token, ";")) {
            end = token.end;
        }
    }
    return sql_text_slice(text, 0, end, arena);
}
