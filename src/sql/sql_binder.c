#include "sql/sql_binder.h"

#include "base/str_map.h"
#include "duck/duck_error.h"
#include "sql/sql_comparison.h"
#include "sql/sql_splice.h"

#include <string.h>

#define COMPARE_TRIES_MAX 8

struct SqlBinder {
    DuckDatabase *own; /* NULL: a parser's engine */
    DuckConnection *connection;
    Arena *arena;
    StrMap *stubs; /* the columns of an empty table as SQL → its name */
};

static SqlBinder *binder_create(void) {
    SqlBinder *binder = heap_alloc_zeroed(1, sizeof *binder);
    binder->arena = arena_create();
    binder->stubs = str_map_create(binder->arena, STR_MAP_EXACT);
    return binder;
}

static Status connect(SqlBinder *binder, DuckDatabase *database, Error *err) {
    TRY(duck_connection_open(database, &binder->connection, err));
    return duck_execute(binder->connection, STR("PRAGMA disable_optimizer"), NULL, err);
}

Status sql_binder_open_beside(DuckParser *parser, SqlBinder **binder_out, Error *err) {
    AUTO(sql_binder) SqlBinder *binder = binder_create();
    TRY(connect(binder, duck_parser_database(parser), err));
    *binder_out = TAKE(binder);
    return OK;
}

Status sql_binder_open(Str root, SqlBinder **binder_out, Error *err) {
    AUTO(sql_binder) SqlBinder *binder = binder_create();
    const DuckSetting settings[] = {{STR("threads"), STR("1")}};
    DuckOpenOptions options = {
        .path = STR(":memory:"),
        .settings = settings,
        .setting_count = COUNT_OF(settings),
        .root = root,
    };
    TRY(duck_database_open(&options, &binder->own, err));
    TRY(connect(binder, binder->own, err));
    *binder_out = TAKE(binder);
    return OK;
}

void sql_binder_close(SqlBinder *binder) {
    if (binder == NULL) {
        return;
    }
    duck_connection_close(binder->connection);
    duck_database_close(binder->own);
    arena_destroy(binder->arena);
    free(binder);
}

void sql_binder_set(SqlBinder *binder, Str name, Str value) {
    AUTO(error) Error ignored = {0};
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SET SESSION ");
    sql_identifier(&sql, name);
    strbuf_text(&sql, " = ");
    sql_literal(&sql, value);
    (void)failed(duck_execute(binder->connection, strbuf_str(&sql), NULL, &ignored));
}

/* Tables with the same columns share one. It is seen by this connection alone. */
static Status find_stub(SqlBinder *binder, const DuckColumnVec *columns, Str *name_out, Error *err) {
    AUTO(strbuf) StrBuf body = {0};
    for (size_t i = 0; i < columns->count; i++) {
        strbuf_text(&body, i == 0 ? "(" : ", ");
        sql_identifier(&body, columns->items[i].name);
        strbuf_format(&body, " " STR_FMT, STR_ARG(columns->items[i].type));
    }
    strbuf_char(&body, ')');
    Str *known = str_map_find(binder->stubs, strbuf_str(&body));
    if (known != NULL) {
        *name_out = *known;
        return OK;
    }
    Str *name = ARENA_NEW(binder->arena, Str);
    *name = str_format(binder->arena, "interlace_stub_%zu", str_map_count(binder->stubs));
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_format(&sql, "CREATE TEMP TABLE " STR_FMT " " STR_FMT, STR_ARG(*name), STR_ARG(strbuf_str(&body)));
    TRY(duck_execute(binder->connection, strbuf_str(&sql), NULL, err));
    str_map_put(binder->stubs, strbuf_copy(&body, binder->arena), name);
    *name_out = *name;
    return OK;
}

Status sql_binder_splice(SqlBinder *binder, const SqlText *text, const SqlFacts *facts, const SqlBoundTable *tables,
                         Arena *arena, SqlText *spliced_out, Error *err) {
    SqlReplacement *replacements = ARENA_NEW_ARRAY(arena, SqlReplacement, facts->tables.count);
    for (size_t i = 0; i < facts->tables.count; i++) {
        if (tables[i].columns != NULL) {
            TRY(find_stub(binder, tables[i].columns, &replacements[i].relation.name, err));
        } else {
            replacements[i].source = tables[i].query;
        }
    }
    return sql_splice(text, facts, &(SqlSplice){.replacements = replacements}, arena, spliced_out, err);
}

static Status describe(SqlBinder *binder, const SqlText *text, Arena *arena, DuckColumnVec *columns_out, Error *err) {
    if (failed(duck_describe(binder->connection, text->text, arena, columns_out, err))) {
        sql_text_locate_error(text, err);
        return FAILED;
    }
    return OK;
}

/* --- Comparisons -------------------------------------------------------------------------------------------------- */

/* False: nothing more can be told, as the failure is about no sign of ours. */
static bool keep_equality(const SqlEqualityVec *equalities, const Error *failure) {
    SqlEquality *equality = sql_equality_at(equalities, failure->sql_offset);
    if (equality == NULL) {
        return false;
    }
    equality->is_kept = true;
    return true;
}

static Status refuse_comparison(Error *failure, Error *err) {
    error_hint(failure,
               "the engine would cast the text of each row, and fail at the first that does not fit; write the "
               "CAST or TRY_CAST that is meant");
    error_move(err, failure);
    return FAILED;
}

static Status compare_equalities(SqlBinder *binder, const SqlText *spliced, SqlEqualityVec *equalities, Arena *arena,
                                 Error *err) {
    for (size_t tries = 0; tries < equalities->count && tries < COMPARE_TRIES_MAX; tries++) {
        AUTO(error) Error failure = {0};
        SqlText strict;
        DuckColumnVec columns = {0};
        TRY(sql_equalities_strict(spliced, equalities, arena, &strict, err));
        if (!failed(describe(binder, &strict, arena, &columns, &failure))) {
            return OK;
        }
        if (sql_comparison_is_unlike(failure.message)) {
            return refuse_comparison(&failure, err);
        }
        if (!keep_equality(equalities, &failure)) {
            return OK;
        }
    }
    return OK;
}

/* The engine gives no place here. */
static Status compare_using(SqlBinder *binder, const SqlText *spliced, const SqlUsing *column, Arena *arena,
                            Error *err) {
    AUTO(error) Error failure = {0};
    SqlText strict;
    DuckColumnVec columns = {0};
    TRY(sql_using_strict(spliced, column, arena, &strict, err));
    if (failed(describe(binder, &strict, arena, &columns, &failure)) && sql_comparison_is_unlike(failure.message)) {
        error_place(&failure, sql_text_place(spliced, column->place, arena));
        return refuse_comparison(&failure, err);
    }
    return OK;
}

static Status compare_usings(SqlBinder *binder, const SqlText *spliced, const SqlUsingVec *usings, bool with_last,
                             Arena *arena, Error *err) {
    for (size_t i = 0; i < usings->count && i < COMPARE_TRIES_MAX; i++) {
        if (with_last || !usings->items[i].is_last) {
            TRY(compare_using(binder, spliced, &usings->items[i], arena, err));
        }
    }
    return OK;
}

/* The columns of the query from its strict form, which costs no more than the query itself; false: that has others, or
 * none. */
static bool describe_strict(SqlBinder *binder, const SqlText *strict, Arena *arena, DuckColumnVec *columns_out) {
    AUTO(error) Error ignored = {0};
    DuckColumnVec columns = {0};
    bool is_same = !failed(describe(binder, strict, arena, &columns, &ignored));
    for (size_t i = 0; i < columns.count; i++) {
        is_same = is_same && str_find_char(columns.items[i].name, '<') == STR_NOT_FOUND;
    }
    if (is_same) {
        *columns_out = columns;
    }
    return is_same;
}

Status sql_binder_describe(SqlBinder *binder, const SqlText *spliced, Arena *arena, DuckColumnVec *columns_out,
                           Error *err) {
    SqlText strict;
    SqlEqualityVec equalities = sql_equalities(spliced->text, arena);
    SqlUsingVec usings = sql_usings(spliced->text, arena);
    TRY(sql_all_strict(spliced, &equalities, &usings, arena, &strict, err));
    if (describe_strict(binder, &strict, arena, columns_out)) {
        return compare_usings(binder, spliced, &usings, false, arena, err);
    }
    TRY(describe(binder, spliced, arena, columns_out, err));
    TRY(compare_equalities(binder, spliced, &equalities, arena, err));
    return compare_usings(binder, spliced, &usings, true, arena, err);
}

/* --- What a failure says ------------------------------------------------------------------------------------------ */

static bool says(const Error *err, const char *words) {
    return str_find(err->message, str_from(words)) != STR_NOT_FOUND;
}

SqlBindVerdict sql_bind_verdict(const Error *err) {
    bool is_function = says(err, "Function with name") && says(err, "does not exist");
    if (duck_error_is_catalog(err)) {
        return is_function ? SQL_BIND_UNKNOWN_FUNCTION : SQL_BIND_UNDECIDED;
    }
    return duck_error_is_binder(err) ? SQL_BIND_WRONG : SQL_BIND_UNDECIDED;
}

/* What stands in `text` between `before` and `end`; empty: no such words. */
static Str name_behind(Str text, const char *before, char end) {
    size_t at = str_find(text, str_from(before));
    if (at == STR_NOT_FOUND) {
        return STR_EMPTY;
    }
    Str rest = str_skip(text, at + strlen(before));
    size_t size = str_find_char(rest, end);
    return size == STR_NOT_FOUND ? STR_EMPTY : str_slice(rest, 0, size);
}

/* `Referenced column "x" not found …`, `Table "t" does not have a column named "x"`, `… with name x does not exist!` */
Str sql_bind_subject(const Error *err) {
    static const struct {
        const char *before;
        char end;
    } marks[] = {{"Referenced column \"", '"'}, {"a column named \"", '"'}, {"Function with name ", ' '}};
    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        Str name = name_behind(err->message, marks[i].before, marks[i].end);
        if (name.size > 0) {
            return name;
        }
    }
    return STR_EMPTY;
}

Str sql_bind_candidate(Str advice) {
    return name_behind(advice, "Candidate bindings: \"", '"');
}
