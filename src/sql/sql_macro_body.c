#include "sql/sql_macro_body.h"

/* A range of tokens [first, last] in which names of the body's own hide parameters. */
typedef struct InnerScope {
    size_t first, last;
    size_t open_first, open_last; /* a part of it that sees nothing of it: the list of a comprehension; 0, 0: none */
    StrVec names;
    bool is_lambda;
} InnerScope;
DEFINE_VEC(InnerScopeVec, inner_scope_vec, InnerScope)

/* What the brackets around a token are. */
typedef struct Level {
    bool is_query;  /* ( SELECT … */
    bool is_struct; /* { key: value } */
    bool in_from;   /* behind the FROM of the query, before its next clause */
} Level;

typedef struct BodyScan {
    const SqlTokens *body;
    const StrVec *parameters;
    Arena *arena;
    InnerScopeVec scopes;
} BodyScan;

/* --- Words -------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const char *const query_starts[] = {"SELECT", "WITH", "FROM", "VALUES", "TABLE", "PIVOT", "UNPIVOT", "DESCRIBE", "SUMMARIZE"};

static const char *const clauses_behind_from[] = {
    "SELECT", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT",
};

/* Behind any other word a word is an alias, a type or a keyword. */
static const char *const words_before_expressions[] = {
    "SELECT", "DISTINCT", "ALL", "WHERE", "ON", "AND", "OR", "NOT", "CASE", "WHEN", "THEN", "ELSE", "BETWEEN", "SYMMETRIC",
    "IN", "LIKE", "ILIKE", "GLOB", "TO", "ESCAPE", "BY", "HAVING", "QUALIFY", "LIMIT", "OFFSET", "INTERVAL", "FROM", "FOR",
    "ZONE", "VALUES", "ANY", "SOME", "ROWS", "RANGE", "GROUPS", "IF", "PLACING", "BOTH", "LEADING", "TRAILING", "LAMBDA",
};

/* The functions whose argument `x -> …` is a lambda; elsewhere the arrow is JSON's. */
static const char *const lambda_functions[] = {
    "list_transform", "array_transform", "list_apply", "array_apply", "apply", "list_filter", "array_filter", "filter",
    "list_reduce", "array_reduce", "reduce", "columns",
};
/* clang-format on */

#define IS_ANY(scan, index, words) sql_tokens_is_any((scan)->body, (index), (words), COUNT_OF(words))

static bool is(const BodyScan *scan, size_t index, const char *sign) {
    return sql_tokens_is(scan->body, index, sign);
}

static bool is_word(const BodyScan *scan, size_t index, const char *word) {
    return sql_tokens_is_word(scan->body, index, word);
}

static bool is_opening(const BodyScan *scan, size_t index) {
    return is(scan, index, "(") || is(scan, index, "[") || is(scan, index, "{");
}

static bool is_closing(const BodyScan *scan, size_t index) {
    return is(scan, index, ")") || is(scan, index, "]") || is(scan, index, "}");
}

/* The last token before the comma or bracket that ends the item in which `index` stands. */
static size_t item_end(const BodyScan *scan, size_t index) {
    size_t depth = 0;
    for (size_t i = index; i < scan->body->list.count; i++) {
        if (depth == 0 && i > index && (is(scan, i, ",") || is_closing(scan, i))) {
            return i - 1;
        }
        depth += is_opening(scan, i);
        depth -= depth > 0 && is_closing(scan, i);
    }
    return scan->body->list.count - 1;
}

/* --- Lambdas and comprehensions ----------------------------------------------------------------------------------- */

/* Names from `first` with commas between, up to a token that is neither. */
static StrVec names_from(const BodyScan *scan, size_t first) {
    StrVec names = {0};
    for (size_t i = first; sql_tokens_is_name(scan->body, i) && !is_word(scan, i, "IN"); i += 2) {
        str_vec_push(scan->arena, &names, sql_tokens_name(scan->body, i, scan->arena));
        if (!is(scan, i + 1, ",")) {
            break;
        }
    }
    return names;
}

static void add_scope(BodyScan *scan, InnerScope scope) {
    if (scope.names.count > 0) {
        inner_scope_vec_push(scan->arena, &scan->scopes, scope);
    }
}

/* lambda a, b: … */
static void find_lambda(BodyScan *scan, size_t index) {
    StrVec names = is_word(scan, index, "LAMBDA") ? names_from(scan, index + 1) : (StrVec){0};
    if (names.count > 0 && is(scan, index + 2 * names.count, ":")) {
        size_t colon = index + 2 * names.count;
        add_scope(scan, (InnerScope){.first = index, .last = item_end(scan, colon), .names = names, .is_lambda = true});
    }
}

/* a -> …, (a, b) -> … as an argument of a function that takes a lambda; `call` is its opening bracket. */
static void find_arrow(BodyScan *scan, size_t index, size_t call) {
    bool is_argument = index == call + 1 || is(scan, index - 1, ",");
    bool is_list = is(scan, index, "(");
    if (!is_argument || call == 0 || !IS_ANY(scan, call - 1, lambda_functions)) {
        return;
    }
    StrVec names = names_from(scan, index + is_list);
    size_t arrow = is_list ? index + 1 + 2 * names.count : index + 1;
    bool is_arrow = names.count > 0 && is(scan, arrow, "->") && (!is_list || is(scan, arrow - 1, ")"));
    if (is_arrow) {
        names.count = is_list ? names.count : 1;
        add_scope(scan, (InnerScope){.first = index, .last = item_end(scan, arrow), .names = names, .is_lambda = true});
    }
}

/* The first of `word` at the level inside the bracket `open`; `close` when there is none. */
static size_t find_at_level(const BodyScan *scan, size_t open, size_t from, size_t close, const char *word) {
    size_t depth = 0;
    (void)open;
    for (size_t i = from; i < close; i++) {
        if (depth == 0 && is_word(scan, i, word)) {
            return i;
        }
        depth += is_opening(scan, i);
        depth -= depth > 0 && is_closing(scan, i);
    }
    return close;
}

/* [… FOR x, i IN list IF …]: the names hold everywhere but in the list. */
static void find_comprehension(BodyScan *scan, size_t open) {
    size_t close = is(scan, open, "[") ? sql_tokens_close(scan->body, open) : STR_NOT_FOUND;
    if (close == STR_NOT_FOUND) {
        return;
    }
    size_t for_word = find_at_level(scan, open, open + 1, close, "FOR");
    size_t in_word = find_at_level(scan, open, for_word, close, "IN");
    if (in_word == close) {
        return;
    }
    size_t if_word = find_at_level(scan, open, in_word, close, "IF");
    add_scope(scan, (InnerScope){.first = open,
                                 .last = close,
                                 .open_first = in_word,
                                 .open_last = if_word - 1,
                                 .names = names_from(scan, for_word + 1),
                                 .is_lambda = true});
}

/* --- Where expressions may stand ---------------------------------------------------------------------------------- */

static bool is_extract_part(const BodyScan *scan, size_t index) {
    return is_word(scan, index + 1, "FROM") && is(scan, index - 1, "(") && is_word(scan, index - 2, "EXTRACT");
}

static bool is_distinct_from(const BodyScan *scan, size_t from_word) {
    return is_word(scan, from_word - 1, "DISTINCT") &&
           (is_word(scan, from_word - 2, "IS") || is_word(scan, from_word - 2, "NOT"));
}

static bool is_table_place(const BodyScan *scan, size_t index, Level level) {
    size_t before = index - 1;
    bool follows_from = level.is_query && is_word(scan, before, "FROM") && !is_distinct_from(scan, before);
    return follows_from || is_word(scan, before, "JOIN") || (level.in_from && is(scan, before, ","));
}

/* Behind a word that starts an expression, an operator, an opening bracket, a comma or a colon; first in the body. */
static bool may_start_expression(const BodyScan *scan, size_t index) {
    SqlToken before = sql_tokens_at(scan->body, index - 1);
    switch (before.kind) {
    case SQL_TOKEN_WORD:
        return IS_ANY(scan, index - 1, words_before_expressions);
    case SQL_TOKEN_OPERATOR:
        return !is(scan, index - 1, "::");
    case SQL_TOKEN_PUNCTUATION:
        return !is_closing(scan, index - 1) && !is(scan, index - 1, ".");
    case SQL_TOKEN_END:
        return true;
    case SQL_TOKEN_QUOTED:
    case SQL_TOKEN_STRING:
    case SQL_TOKEN_NUMBER:
    case SQL_TOKEN_PARAMETER:
    case SQL_TOKEN_COMMENT:
    case SQL_TOKEN_INVALID:
        return false;
    }
    return false;
}

/* name AS ( … ): a CTE or a window. */
static bool is_definition(const BodyScan *scan, size_t index) {
    static const char *const words[] = {"MATERIALIZED", "NOT"};
    return is_word(scan, index + 1, "AS") && (is(scan, index + 2, "(") || IS_ANY(scan, index + 2, words));
}

/* Names something instead of reading it: qualifies, is called, names an argument, a key, a CTE. */
static bool is_name_of_what_follows(const BodyScan *scan, size_t index, Level level) {
    return is(scan, index + 1, ".") || is_definition(scan, index) || is(scan, index + 1, "(") ||
           is(scan, index + 1, ":=") || is(scan, index + 1, "=>") || (level.is_struct && is(scan, index + 1, ":"));
}

static bool may_be_column(const BodyScan *scan, size_t index, Level level) {
    return may_start_expression(scan, index) && !is_name_of_what_follows(scan, index, level) &&
           !is_table_place(scan, index, level) && !is_extract_part(scan, index);
}

/* --- Levels of brackets ------------------------------------------------------------------------------------------- */

static Level level_inside(const BodyScan *scan, size_t open) {
    return (Level){.is_query = is(scan, open, "(") && IS_ANY(scan, open + 1, query_starts),
                   .is_struct = is(scan, open, "{")};
}

static void enter_clause(const BodyScan *scan, size_t index, Level *level) {
    if (level->is_query && is_word(scan, index, "FROM") && !is_distinct_from(scan, index)) {
        level->in_from = true;
    } else if (IS_ANY(scan, index, clauses_behind_from)) {
        level->in_from = false;
    }
}

/* Calls `visit` for each token with the level it stands in and the bracket that opened it. */
typedef void (*VisitToken)(BodyScan *scan, size_t index, Level level, const IndexVec *opened, void *context);

static void visit_tokens(BodyScan *scan, VisitToken visit, void *context) {
    Level levels[SQL_TOKENS_DEPTH_MAX + 1] = {0};
    IndexVec opened = {0};
    for (size_t i = 0; i < scan->body->list.count; i++) {
        if (is_closing(scan, i) && opened.count > 0) {
            opened.count--;
        }
        enter_clause(scan, i, &levels[opened.count]);
        visit(scan, i, levels[opened.count], &opened, context);
        if (is_opening(scan, i) && opened.count < SQL_TOKENS_DEPTH_MAX) {
            index_vec_push(scan->arena, &opened, i);
            levels[opened.count] = level_inside(scan, i);
        }
    }
}

/* --- Names given inside ------------------------------------------------------------------------------------------- */

static size_t find_parameter(const BodyScan *scan, Str name) {
    for (size_t i = 0; i < scan->parameters->count; i++) {
        if (str_equal_fold(scan->parameters->items[i], name)) {
            return i;
        }
    }
    return STR_NOT_FOUND;
}

static bool is_alias(const BodyScan *scan, size_t index) {
    bool is_table = is_word(scan, index - 1, "JOIN");
    bool qualifies = is(scan, index + 1, ".") || is(scan, index - 1, ".") || is(scan, index - 1, "::");
    return sql_tokens_is_name(scan->body, index) && !is_table && !qualifies && !may_start_expression(scan, index);
}

/* An alias hides the parameter in all subqueries around it: those see it, or may. */
static void find_alias(BodyScan *scan, size_t index, const IndexVec *opened) {
    Str name = is_alias(scan, index) ? sql_tokens_name(scan->body, index, scan->arena) : STR_EMPTY;
    if (name.size == 0 || find_parameter(scan, name) == STR_NOT_FOUND) {
        return;
    }
    for (size_t i = 0; i < opened->count; i++) {
        size_t open = opened->items[i], close = sql_tokens_close(scan->body, open);
        if (level_inside(scan, open).is_query && close != STR_NOT_FOUND) {
            InnerScope scope = {.first = open, .last = close};
            str_vec_push(scan->arena, &scope.names, name);
            add_scope(scan, scope);
            return;
        }
    }
}

static void visit_scopes(BodyScan *scan, size_t index, Level level, const IndexVec *opened, void *context) {
    (void)level;
    (void)context;
    find_lambda(scan, index);
    find_comprehension(scan, index);
    if (opened->count > 0) {
        find_arrow(scan, index, opened->items[opened->count - 1]);
        find_alias(scan, index, opened);
    }
}

/* --- Uses --------------------------------------------------------------------------------------------------------- */

static bool is_inside(const InnerScope *scope, size_t index) {
    bool is_open = scope->open_last > 0 && index >= scope->open_first && index <= scope->open_last;
    return index >= scope->first && index <= scope->last && !is_open;
}

static bool is_hidden(const BodyScan *scan, size_t index, Str name) {
    for (size_t i = 0; i < scan->scopes.count; i++) {
        const InnerScope *scope = &scan->scopes.items[i];
        if (is_inside(scope, index) && str_vec_contains_fold(&scope->names, name)) {
            return true;
        }
    }
    return false;
}

static StrVec lambda_names_at(const BodyScan *scan, size_t index) {
    StrVec names = {0};
    for (size_t i = 0; i < scan->scopes.count; i++) {
        const InnerScope *scope = &scan->scopes.items[i];
        for (size_t k = 0; scope->is_lambda && is_inside(scope, index) && k < scope->names.count; k++) {
            str_vec_push(scan->arena, &names, scope->names.items[k]);
        }
    }
    return names;
}

static void visit_uses(BodyScan *scan, size_t index, Level level, const IndexVec *opened, void *context) {
    SqlParameterUseVec *uses = context;
    (void)opened;
    if (!sql_tokens_is_name(scan->body, index)) {
        return;
    }
    Str name = sql_tokens_name(scan->body, index, scan->arena);
    size_t parameter = find_parameter(scan, name);
    if (parameter == STR_NOT_FOUND || !may_be_column(scan, index, level) || is_hidden(scan, index, name)) {
        return;
    }
    SqlToken token = sql_tokens_at(scan->body, index);
    SqlParameterUse use = {
        .start = token.start, .end = token.end, .parameter = parameter, .inner_names = lambda_names_at(scan, index)};
    sql_parameter_use_vec_push(scan->arena, uses, use);
}

SqlParameterUseVec sql_macro_parameter_uses(const SqlTokens *body, const StrVec *parameters, Arena *arena) {
    SqlParameterUseVec uses = {0};
    BodyScan scan = {.body = body, .parameters = parameters, .arena = arena};
    if (parameters->count > 0) {
        visit_tokens(&scan, visit_scopes, NULL);
        visit_tokens(&scan, visit_uses, &uses);
    }
    return uses;
}
