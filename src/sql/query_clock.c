#include "sql/query_clock.h"

#include "sql/sql_lexer.h"

#include <stdlib.h>

/* clang-format off */
static const struct ClockName {
    Str name;
    SqlClockKind kind;
    bool is_word; /* also without brackets, unquoted, where no column has that name */
} clock_names[] = {
    {STR_INIT("now"),                    SQL_CLOCK_INSTANT,      false},
    {STR_INIT("current_timestamp"),      SQL_CLOCK_INSTANT,      true},
    {STR_INIT("get_current_timestamp"),  SQL_CLOCK_INSTANT,      false},
    {STR_INIT("transaction_timestamp"),  SQL_CLOCK_INSTANT,      false},
    {STR_INIT("statement_timestamp"),    SQL_CLOCK_INSTANT,      false},
    {STR_INIT("clock_timestamp"),        SQL_CLOCK_INSTANT,      false},
    {STR_INIT("localtimestamp"),         SQL_CLOCK_TIMESTAMP,    true},
    {STR_INIT("current_localtimestamp"), SQL_CLOCK_TIMESTAMP,    false},
    {STR_INIT("today"),                  SQL_CLOCK_DATE,         false},
    {STR_INIT("current_date"),           SQL_CLOCK_DATE,         true},
    {STR_INIT("localtime"),              SQL_CLOCK_TIME,         true},
    {STR_INIT("current_localtime"),      SQL_CLOCK_TIME,         false},
    {STR_INIT("current_time"),           SQL_CLOCK_INSTANT_TIME, true},
    {STR_INIT("get_current_time"),       SQL_CLOCK_INSTANT_TIME, false},
};
/* clang-format on */

/* False when it is no read of the clock: a call of that name, or the word alone. */
static bool find_kind(Str name, bool is_word, size_t operand_count, SqlClockKind *kind_out) {
    if (operand_count == 1 && str_equal_fold(name, STR("age"))) {
        *kind_out = SQL_CLOCK_AGE;
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(clock_names); i++) {
        if (str_equal_fold(name, clock_names[i].name) && (!is_word || clock_names[i].is_word)) {
            *kind_out = clock_names[i].kind;
            return true;
        }
    }
    return false;
}

/* From the first token behind the name to the bracket that closes the call. */
static void set_call_place(Str sql, SqlClockRead *read) {
    SqlLexer lexer = {.text = sql, .offset = read->start};
    SqlToken token = sql_lexer_next_code(&lexer);
    while (token.kind != SQL_TOKEN_END && !sql_token_is(sql, token, "(")) { /* the name and its schema */
        token = sql_lexer_next_code(&lexer);
    }
    if (read->kind == SQL_CLOCK_AGE) {
        read->start = read->end = token.end;
        return;
    }
    for (size_t depth = 0; token.kind != SQL_TOKEN_END; token = sql_lexer_next_code(&lexer)) {
        depth += sql_token_is(sql, token, "(");
        depth -= sql_token_is(sql, token, ")");
        if (depth == 0) {
            break;
        }
    }
    read->end = token.end;
}

/* Of the token there; the parser words some operators as calls, which stand at no name. */
static bool is_name(Str sql, size_t offset) {
    SqlLexer lexer = {.text = sql, .offset = offset};
    SqlToken token = sql_lexer_next_code(&lexer);
    return token.start == offset && (token.kind == SQL_TOKEN_WORD || token.kind == SQL_TOKEN_QUOTED);
}

static bool is_bare_word(const QueryExpr *expr) {
    return expr->kind == QUERY_COLUMN && expr->parts.count == 1 && !expr->is_quoted;
}

static bool is_call(const QueryExpr *expr) {
    return expr->kind == QUERY_FUNCTION || expr->kind == QUERY_WINDOW;
}

static bool find_read(const QueryExpr *expr, Str *name_out, SqlClockKind *kind_out) {
    if (!is_call(expr) && !is_bare_word(expr)) {
        return false;
    }
    *name_out = is_call(expr) ? expr->name : expr->parts.items[0];
    return find_kind(*name_out, !is_call(expr), expr->operands.count, kind_out);
}

bool query_clock_is_read(const QueryExpr *expr) {
    Str name;
    SqlClockKind kind;
    return find_read(expr, &name, &kind);
}

void query_clock_add(const QueryExpr *expr, Str sql, Str output, Arena *arena, SqlClockReadVec *reads) {
    Str name;
    SqlClockKind kind;
    if (!find_read(expr, &name, &kind)) {
        return;
    }
    SqlClockRead read = {.name = str_lower(arena, name), .kind = kind, .output = output};
    read.start = read.end = STR_NOT_FOUND;
    if (expr->offset < sql.size && is_name(sql, expr->offset)) {
        read.start = expr->offset;
        read.end = expr->offset + name.size;
        if (is_call(expr)) {
            set_call_place(sql, &read);
        }
    }
    sql_clock_read_vec_push(arena, reads, read);
}

static int compare_reads(const void *left, const void *right) {
    const SqlClockRead *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

void query_clock_sort(SqlClockReadVec *reads) {
    if (reads->count < 2) {
        return;
    }
    qsort(reads->items, reads->count, sizeof *reads->items, compare_reads);
    size_t kept = 1;
    for (size_t i = 1; i < reads->count; i++) {
        SqlClockRead *last = &reads->items[kept - 1];
        if (reads->items[i].start != last->start || last->start == STR_NOT_FOUND) {
            reads->items[kept++] = reads->items[i];
        } else if (!str_equal(last->output, reads->items[i].output)) {
            last->output = STR_EMPTY;
        }
    }
    reads->count = kept;
}
