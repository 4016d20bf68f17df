/* Macro calls and var('…') become text. One pass replaces every call that stands in the text, those inside arguments
 * too; what the bodies bring in is for the next pass. A text that still holds calls after ten passes is refused. Vars
 * come last, so they may stand in macros, and their values are never looked into.
 *
 * A recursive macro may double its text in each pass, so recursion is looked for before the first pass, and all that
 * macros make is bounded. */
#include "sql/sql_macro_internal.h"

#include "sql/sql_analyzer.h"

#define PASS_COUNT_MAX 10
#define CALL_COUNT_MAX 50000
#define MADE_SIZE_MAX ((size_t)256 << 10) /* bytes of all bodies with their arguments, those inside others too */

DEFINE_VEC(SqlTextVec, sql_text_vec, SqlText)

typedef struct Expander {
    const SqlMacroSet *macros;
    bool has_macros;
    size_t call_count; /* replaced so far */
    size_t made_size;  /* bytes that took their place */
    Arena *arena;      /* of all that is only needed on the way */
    Error *err;
} Expander;

/* A call in the text: name ( … ) */
typedef struct MacroCall {
    const MacroDefinition *definition;
    const SqlMacro *macro;
    const SqlParameterUseVec *uses;
    size_t name, open, close; /* tokens */
    SqlTextVec arguments;
} MacroCall;

static Status expand_calls(Expander *expander, const SqlText *text, size_t depth, SqlText *expanded_out,
                           size_t *count_out);

/* Fails with a DefinitionError at a byte of the text. */
#define FAIL_AT(expander, text, offset, ...)                                                                           \
    error_set_at((expander)->err, ERROR_DEFINITION, sql_text_place((text), (offset), (expander)->arena), __VA_ARGS__)

/* --- Finding calls ------------------------------------------------------------------------------------------------ */

/* WITH name(columns) AS ( … ) is no call. */
static bool is_cte_head(const SqlTokens *tokens, size_t close) {
    return sql_tokens_is_word(tokens, close + 1, "AS") &&
           (sql_tokens_is(tokens, close + 2, "(") || sql_tokens_is_word(tokens, close + 2, "MATERIALIZED") ||
            sql_tokens_is_word(tokens, close + 2, "NOT"));
}

/* What a call of `name` at `index` would open and close; false when there is none. */
static bool find_call_brackets(const SqlTokens *tokens, size_t index, size_t *close_out) {
    bool is_named = sql_tokens_is_name(tokens, index) && sql_tokens_is(tokens, index + 1, "(");
    if (!is_named || sql_tokens_is(tokens, index - 1, ".") || sql_tokens_is_word(tokens, index - 1, "AS")) {
        return false;
    }
    *close_out = sql_tokens_close(tokens, index + 1);
    return *close_out != STR_NOT_FOUND;
}

static bool find_call(Expander *expander, const SqlTokens *tokens, size_t index, MacroCall *call_out) {
    size_t close = 0;
    if (!sql_tokens_is(tokens, index + 1, "(")) {
        return false;
    }
    const MacroDefinition *found =
        sql_tokens_is_name(tokens, index)
            ? str_map_find(expander->macros->macros, sql_tokens_name(tokens, index, expander->arena))
            : NULL;
    if (found == NULL || !find_call_brackets(tokens, index, &close) || is_cte_head(tokens, close)) {
        return false;
    }
    *call_out = (MacroCall){.definition = found,
                            .macro = &found->macro,
                            .uses = &found->uses,
                            .name = index,
                            .open = index + 1,
                            .close = close};
    return true;
}

/* --- Arguments ---------------------------------------------------------------------------------------------------- */

static SqlText tokens_slice(Expander *expander, const SqlText *text, const SqlTokens *tokens, size_t first,
                            size_t last) {
    return sql_text_slice(text, sql_tokens_at(tokens, first).start, sql_tokens_at(tokens, last).end, expander->arena);
}

/* Tokens [first, end) of one argument. */
static Status add_argument(Expander *expander, const SqlText *text, const SqlTokens *tokens, size_t first, size_t end,
                           MacroCall *call) {
    size_t start = sql_tokens_at(tokens, first).start;
    if (first == end) {
        return FAIL_AT(expander, text, start, "an argument of macro '" STR_FMT "' is empty",
                       STR_ARG(call->macro->name));
    }
    if (sql_tokens_is_name(tokens, first) &&
        (sql_tokens_is(tokens, first + 1, ":=") || sql_tokens_is(tokens, first + 1, "=>"))) {
        return FAIL_AT(expander, text, start, "macro '" STR_FMT "' takes its arguments by position, not by name",
                       STR_ARG(call->macro->name));
    }
    sql_text_vec_push(expander->arena, &call->arguments, tokens_slice(expander, text, tokens, first, end - 1));
    return OK;
}

static Status split_arguments(Expander *expander, const SqlText *text, const SqlTokens *tokens, MacroCall *call) {
    size_t first = call->open + 1;
    for (size_t i = first; i < call->close; i++) {
        bool opens = sql_tokens_is(tokens, i, "(") || sql_tokens_is(tokens, i, "[") || sql_tokens_is(tokens, i, "{");
        if (opens) {
            i = sql_tokens_close(tokens, i); /* there is one: the call's own brackets are sound */
        } else if (sql_tokens_is(tokens, i, ",")) {
            TRY(add_argument(expander, text, tokens, first, i, call));
            first = i + 1;
        }
    }
    bool is_empty_list = call->arguments.count == 0 && first == call->close;
    return is_empty_list ? OK : add_argument(expander, text, tokens, first, call->close, call);
}

static Status check_argument_count(Expander *expander, const SqlText *text, size_t offset, const MacroCall *call) {
    const StrVec *parameters = &call->macro->parameters;
    if (call->arguments.count == parameters->count) {
        return OK;
    }
    Str list = str_join(expander->arena, parameters->items, parameters->count, STR(", "));
    return FAIL_AT(expander, text, offset, "macro '" STR_FMT "' takes %zu argument%s (" STR_FMT "), but %zu %s given",
                   STR_ARG(call->macro->name), parameters->count, parameters->count == 1 ? "" : "s", STR_ARG(list),
                   call->arguments.count, call->arguments.count == 1 ? "is" : "are");
}

static Status read_arguments(Expander *expander, const SqlText *text, const SqlTokens *tokens, size_t depth,
                             MacroCall *call) {
    TRY(split_arguments(expander, text, tokens, call));
    TRY(check_argument_count(expander, text, sql_tokens_at(tokens, call->name).start, call));
    for (size_t i = 0; i < call->arguments.count; i++) {
        size_t ignored = 0;
        TRY(expand_calls(expander, &call->arguments.items[i], depth + 1, &call->arguments.items[i], &ignored));
    }
    return OK;
}

/* --- Putting arguments into the body ------------------------------------------------------------------------------ */

static SqlText in_parentheses(Expander *expander, SqlText text) {
    const SqlText parts[] = {sql_text_own(expander->arena, STR("(")), text, sql_text_own(expander->arena, STR(")"))};
    return sql_text_concat(expander->arena, parts, COUNT_OF(parts));
}

/* One token, or all of it in parentheses. */
static bool stands_alone(const SqlTokens *tokens) {
    bool is_bracketed = sql_tokens_is(tokens, 0, "(") && sql_tokens_close(tokens, 0) == tokens->list.count - 1;
    return tokens->list.count == 1 || is_bracketed;
}

/* A lambda's variable in the macro would change what the argument means. */
static Status check_capture(Expander *expander, const SqlMacro *macro, const SqlText *argument, const SqlTokens *tokens,
                            const SqlParameterUse *use) {
    for (size_t i = 0; i < tokens->list.count; i++) {
        bool is_free =
            sql_tokens_is_name(tokens, i) && !sql_tokens_is(tokens, i - 1, ".") && !sql_tokens_is(tokens, i + 1, "(");
        Str name = is_free ? sql_tokens_name(tokens, i, expander->arena) : STR_EMPTY;
        for (size_t k = 0; is_free && k < use->inner_names.count; k++) {
            if (str_equal_fold(name, use->inner_names.items[k])) {
                return FAIL_AT(expander, argument, sql_tokens_at(tokens, i).start,
                               "argument '" STR_FMT "' of macro '" STR_FMT
                               "' would be taken for the variable of that name in the macro's lambda",
                               STR_ARG(name), STR_ARG(macro->name));
            }
        }
    }
    return OK;
}

static Status add_use_edit(Expander *expander, const MacroCall *call, const SqlParameterUse *use,
                           const SqlTokens *tokens, SqlEditVec *edits) {
    SqlText argument = call->arguments.items[use->parameter];
    TRY(check_capture(expander, call->macro, &argument, tokens, use));
    SqlText replacement = stands_alone(tokens) ? argument : in_parentheses(expander, argument);
    SqlEdit edit = {.start = use->start, .end = use->end, .replacement = replacement};
    sql_edit_vec_push(expander->arena, edits, edit);
    return OK;
}

/* A text beyond the limit is refused before it is made. */
static Status check_made_size(Expander *expander, const MacroCall *call) {
    expander->made_size += call->macro->body.text.size;
    for (size_t i = 0; i < call->uses->count; i++) {
        expander->made_size += call->arguments.items[call->uses->items[i].parameter].text.size;
    }
    if (expander->made_size > MADE_SIZE_MAX) {
        return error_set_at(expander->err, ERROR_DEFINITION, call->macro->place,
                            "macro '" STR_FMT "' grows too large: the macros of one query may make %zu bytes",
                            STR_ARG(call->macro->name), MADE_SIZE_MAX);
    }
    return OK;
}

static Status apply_macro(Expander *expander, const MacroCall *call, SqlText *applied_out) {
    const SqlMacro *macro = call->macro;
    SqlEditVec edits = {0};
    SqlText applied = {0};
    TRY(check_made_size(expander, call));
    SqlTokens *tokens = ARENA_NEW_ARRAY(expander->arena, SqlTokens, call->arguments.count);
    for (size_t i = 0; i < call->arguments.count; i++) {
        tokens[i] = sql_tokens(call->arguments.items[i].text, expander->arena);
    }
    for (size_t i = 0; i < call->uses->count; i++) {
        const SqlParameterUse *use = &call->uses->items[i];
        TRY(add_use_edit(expander, call, use, &tokens[use->parameter], &edits));
    }
    TRY(sql_text_edit(&macro->body, &edits, expander->arena, &applied, expander->err));
    *applied_out = in_parentheses(expander, applied);
    return OK;
}

/* --- Passes ------------------------------------------------------------------------------------------------------- */

static Status add_call_edit(Expander *expander, const SqlText *text, const SqlTokens *tokens, size_t depth,
                            MacroCall *call, SqlEditVec *edits) {
    if (++expander->call_count > CALL_COUNT_MAX) {
        return error_set_at(expander->err, ERROR_DEFINITION, call->macro->place,
                            "macro '" STR_FMT "' is used too often, or is recursive: more than %d calls in one query",
                            STR_ARG(call->macro->name), CALL_COUNT_MAX);
    }
    SqlEdit edit = {.start = sql_tokens_at(tokens, call->name).start, .end = sql_tokens_at(tokens, call->close).end};
    TRY(read_arguments(expander, text, tokens, depth, call));
    TRY(apply_macro(expander, call, &edit.replacement));
    sql_edit_vec_push(expander->arena, edits, edit);
    return OK;
}

/* One pass; `count_out`: calls replaced. */
static Status expand_calls(Expander *expander, const SqlText *text, size_t depth, SqlText *expanded_out,
                           size_t *count_out) {
    SqlTokens tokens = sql_tokens(text->text, expander->arena);
    SqlEditVec edits = {0};
    if (depth > SQL_TOKENS_DEPTH_MAX) {
        return FAIL_AT(expander, text, 0, "macro calls are nested more than %d levels deep", SQL_TOKENS_DEPTH_MAX);
    }
    for (size_t i = 0; i < tokens.list.count; i++) {
        MacroCall call;
        if (find_call(expander, &tokens, i, &call)) {
            TRY(add_call_edit(expander, text, &tokens, depth, &call, &edits));
            i = call.close;
        }
    }
    *count_out = edits.count;
    if (edits.count == 0) {
        *expanded_out = *text;
        return OK;
    }
    return sql_text_edit(text, &edits, expander->arena, expanded_out, expander->err);
}

static Status too_many_passes(Expander *expander, const SqlText *text) {
    SqlTokens tokens = sql_tokens(text->text, expander->arena);
    for (size_t i = 0; i < tokens.list.count; i++) {
        MacroCall call;
        if (find_call(expander, &tokens, i, &call)) {
            return error_set_at(expander->err, ERROR_DEFINITION, call.macro->place,
                                "macro '" STR_FMT "' is nested too deeply: after %d passes its calls are not used up",
                                STR_ARG(call.macro->name), PASS_COUNT_MAX);
        }
    }
    return OK;
}

/* --- Recursion ---------------------------------------------------------------------------------------------------- */

/* The macros that are being looked into, the outermost first. Chains beyond the passes are refused by these. */
typedef struct CallPath {
    const MacroDefinition *items[PASS_COUNT_MAX];
    size_t count;
    bool *is_done; /* by index: its calls were looked into */
} CallPath;

/* "it calls itself", "a calls b, b calls a". */
static Status refuse_circle(Expander *expander, const CallPath *path, size_t first) {
    const SqlMacro *macro = &path->items[first]->macro;
    AUTO(strbuf) StrBuf circle = {0};
    for (size_t i = first; i < path->count; i++) {
        const MacroDefinition *called = path->items[i + 1 < path->count ? i + 1 : first];
        strbuf_format(&circle, "%s" STR_FMT " calls " STR_FMT, i == first ? "" : ", ",
                      STR_ARG(path->items[i]->macro.name), STR_ARG(called->macro.name));
    }
    Str reason = first + 1 == path->count ? STR("it calls itself") : strbuf_str(&circle);
    return error_set_at(expander->err, ERROR_DEFINITION, macro->place, "macro '" STR_FMT "' is recursive: " STR_FMT,
                        STR_ARG(macro->name), STR_ARG(reason));
}

static Status check_calls(Expander *expander, Str sql, CallPath *path);

static Status check_called(Expander *expander, const MacroDefinition *called, CallPath *path) {
    for (size_t i = 0; i < path->count; i++) {
        if (path->items[i] == called) {
            return refuse_circle(expander, path, i);
        }
    }
    if (path->is_done[called->index] || path->count == COUNT_OF(path->items)) {
        return OK;
    }
    path->items[path->count++] = called;
    TRY(check_calls(expander, called->macro.body.text, path));
    path->count--;
    path->is_done[called->index] = true;
    return OK;
}

static Status check_calls(Expander *expander, Str sql, CallPath *path) {
    SqlTokens tokens = sql_tokens(sql, expander->arena);
    for (size_t i = 0; i < tokens.list.count; i++) {
        MacroCall call;
        if (find_call(expander, &tokens, i, &call)) {
            TRY(check_called(expander, call.definition, path));
        }
    }
    return OK;
}

static Status check_recursion(Expander *expander, const SqlText *text) {
    CallPath path = {.is_done = ARENA_NEW_ARRAY(expander->arena, bool, str_map_count(expander->macros->macros))};
    return check_calls(expander, text->text, &path);
}

static Status expand_macros(Expander *expander, const SqlText *text, SqlText *expanded_out) {
    *expanded_out = *text;
    if (!expander->has_macros) {
        return OK;
    }
    TRY(check_recursion(expander, text));
    for (size_t pass = 0; pass < PASS_COUNT_MAX; pass++) {
        size_t count = 0;
        TRY(expand_calls(expander, expanded_out, 0, expanded_out, &count));
        if (count == 0) {
            return OK;
        }
    }
    return too_many_passes(expander, expanded_out);
}

/* --- Is there anything to do? ------------------------------------------------------------------------------------- */

static bool is_word_byte(char c) {
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || (c & 0x80) != 0;
}

static bool is_known_word(const Expander *expander, Str word) {
    bool is_var = word.size == 3 && str_equal_fold(word, STR("var"));
    return is_var || (expander->has_macros && str_map_contains(expander->macros->macros, word));
}

/* A name that quotes alone make possible is not found by looking at words. */
static bool has_unusual_name(const SqlMacroSet *macros) {
    const StrMapEntry *entries = str_map_entries(macros->macros);
    for (size_t i = 0; i < str_map_count(macros->macros); i++) {
        for (size_t k = 0; k < entries[i].key.size; k++) {
            if (!is_word_byte(entries[i].key.ptr[k])) {
                return true;
            }
        }
    }
    return false;
}

/* Somewhere, also within a longer word. */
static bool has_var_from(Str sql, char first) {
    for (size_t at = str_find_char(sql, first); at != STR_NOT_FOUND; at = str_find_char(sql, first)) {
        if (str_starts_with_fold(str_skip(sql, at), STR("var"))) {
            return true;
        }
        sql = str_skip(sql, at + 1);
    }
    return false;
}

/* Most texts use no macro, and a plan looks at all of them: this is a tenth of the work of reading tokens. Words in
 * strings and comments count, too; that only costs time. */
static bool may_have_calls(const Expander *expander, Str sql) {
    if (!expander->has_macros) {
        return has_var_from(sql, 'v') || has_var_from(sql, 'V');
    }
    size_t start = 0;
    for (size_t i = 0; i <= sql.size; i++) {
        if (i < sql.size && is_word_byte(sql.ptr[i])) {
            continue;
        }
        if (i > start && is_known_word(expander, str_slice(sql, start, i))) {
            return true;
        }
        start = i + 1;
    }
    return has_unusual_name(expander->macros);
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

Status sql_expand(const SqlText *text, const SqlMacroSet *macros, const SqlVar *vars, size_t var_count, Arena *arena,
                  SqlText *expanded_out, Error *err) {
    Expander expander = {.macros = macros, .has_macros = sql_macro_set_count(macros) > 0, .err = err};
    if (!may_have_calls(&expander, text->text)) {
        *expanded_out = *text;
        return OK;
    }
    AUTO(arena) Arena *scratch = arena_create();
    SqlText expanded = {0};
    expander.arena = scratch;
    TRY(expand_macros(&expander, text, &expanded));
    TRY(sql_vars_expand(&expanded, vars, var_count, scratch, &expanded, err));
    if (expanded.text.size > SQL_TEXT_MAX) {
        return FAIL_AT(&expander, text, 0, "the macros of this query expand to more than %zu bytes", SQL_TEXT_MAX);
    }
    bool is_unchanged = expanded.segments == text->segments && expanded.text.ptr == text->text.ptr;
    *expanded_out = is_unchanged ? *text : sql_text_copy(&expanded, arena);
    return OK;
}
