/* var('name') becomes a literal. Anything else named var is left to the engine. */
#include "sql/sql_macro_internal.h"

#include "sql/sql_tokens.h"

typedef struct VarExpander {
    const SqlVar *vars;
    size_t var_count;
    Arena *arena; /* of all that is only needed on the way */
    Error *err;
} VarExpander;

static Status unknown_var(VarExpander *expander, const SqlText *text, size_t offset, Str name) {
    Str *names = ARENA_NEW_ARRAY(expander->arena, Str, expander->var_count);
    for (size_t i = 0; i < expander->var_count; i++) {
        names[i] = expander->vars[i].name;
    }
    Status status = error_set_at(expander->err, ERROR_DEFINITION, sql_text_place(text, offset, expander->arena),
                                 "unknown var '" STR_FMT "'", STR_ARG(name));
    const Str *nearest = str_nearest(name, names, expander->var_count);
    Str known = str_join(expander->arena, names, expander->var_count, STR(", "));
    if (nearest != NULL) {
        error_hint(expander->err, "did you mean '" STR_FMT "'? Known vars: " STR_FMT, STR_ARG(*nearest),
                   STR_ARG(known));
    } else if (expander->var_count > 0) {
        error_hint(expander->err, "known vars: " STR_FMT, STR_ARG(known));
    } else {
        error_hint(expander->err, "the project has no vars; declare it under `vars` in interlace.yaml");
    }
    return status;
}

/* The name in 'name': only plain string constants count. */
static bool plain_string(Str token, Arena *arena, Str *content_out) {
    if (token.size < 2 || token.ptr[0] != '\'') {
        return false;
    }
    AUTO(strbuf) StrBuf content = {0};
    for (size_t i = 1; i + 1 < token.size; i++) {
        strbuf_char(&content, token.ptr[i]);
        i += token.ptr[i] == '\'';
    }
    *content_out = strbuf_copy(&content, arena);
    return true;
}

static bool is_var(VarExpander *expander, const SqlTokens *tokens, size_t index, Str *name_out) {
    bool is_call = sql_tokens_is_word(tokens, index, "var") && sql_tokens_is(tokens, index + 1, "(") &&
                   sql_tokens_at(tokens, index + 2).kind == SQL_TOKEN_STRING && sql_tokens_is(tokens, index + 3, ")") &&
                   !sql_tokens_is(tokens, index - 1, ".");
    return is_call && plain_string(sql_tokens_text(tokens, index + 2), expander->arena, name_out);
}

static const SqlVar *find_var(const VarExpander *expander, Str name) {
    for (size_t i = 0; i < expander->var_count; i++) {
        if (str_equal(expander->vars[i].name, name)) {
            return &expander->vars[i];
        }
    }
    return NULL;
}

/* `1 -var('n')` must not become `1 --5`, a comment. */
static SqlText var_text(VarExpander *expander, const SqlVar *var) {
    SqlText literal = sql_text_own(expander->arena, var->literal);
    bool has_sign = str_starts_with(var->literal, STR("-")) || str_starts_with(var->literal, STR("+"));
    const SqlText parts[] = {sql_text_own(expander->arena, STR("(")), literal, sql_text_own(expander->arena, STR(")"))};
    return has_sign ? sql_text_concat(expander->arena, parts, COUNT_OF(parts)) : literal;
}

Status sql_vars_expand(const SqlText *text, const SqlVar *vars, size_t var_count, Arena *arena, SqlText *expanded_out,
                       Error *err) {
    VarExpander expander = {.vars = vars, .var_count = var_count, .arena = arena, .err = err};
    SqlTokens tokens = sql_tokens(text->text, expander.arena);
    SqlEditVec edits = {0};
    for (size_t i = 0; i < tokens.list.count; i++) {
        Str name = STR_EMPTY;
        if (!is_var(&expander, &tokens, i, &name)) {
            continue;
        }
        SqlEdit edit = {.start = sql_tokens_at(&tokens, i).start, .end = sql_tokens_at(&tokens, i + 3).end};
        const SqlVar *var = find_var(&expander, name);
        if (var == NULL) {
            return unknown_var(&expander, text, edit.start, name);
        }
        edit.replacement = var_text(&expander, var);
        sql_edit_vec_push(expander.arena, &edits, edit);
    }
    if (edits.count == 0) {
        *expanded_out = *text;
        return OK;
    }
    return sql_text_edit(text, &edits, expander.arena, expanded_out, expander.err);
}
