/* Reads CREATE MACRO statements. Only tokens are looked at: a plan of an unchanged project loads no engine. So a body's
 * brackets and ends are checked here; the rest of its syntax is the engine's to refuse where the macro is used, and the
 * place it names is then in the macro's file. */
#include "sql/sql_macro_internal.h"

SqlMacroSet *sql_macro_set_create(Arena *arena) {
    SqlMacroSet *set = ARENA_NEW(arena, SqlMacroSet);
    *set = (SqlMacroSet){.arena = arena, .macros = str_map_create(arena, STR_MAP_FOLD)};
    return set;
}

size_t sql_macro_set_count(const SqlMacroSet *set) {
    return str_map_count(set->macros);
}

/* --- One statement ------------------------------------------------------------------------------------------------ */

typedef struct MacroReader {
    SqlMacroSet *set;
    const SourceFile *file;
    SqlTokens tokens;
    size_t index; /* of the next token */
    Error *err;
} MacroReader;

static SourceSpan place_of(const MacroReader *reader, size_t index) {
    SqlToken token = sql_tokens_at(&reader->tokens, index);
    TextPosition position = str_position(reader->file->content, token.start);
    return (SourceSpan){.file = reader->file->path, .line = position.line, .column = position.column};
}

static Status fail(MacroReader *reader, size_t index, const char *message) {
    return error_set_at(reader->err, ERROR_DEFINITION, place_of(reader, index), "%s", message);
}

static bool is(const MacroReader *reader, size_t index, const char *sign) {
    return sql_tokens_is(&reader->tokens, index, sign);
}

static bool is_word(const MacroReader *reader, size_t index, const char *word) {
    return sql_tokens_is_word(&reader->tokens, index, word);
}

static bool take_word(MacroReader *reader, const char *word) {
    bool is_there = is_word(reader, reader->index, word);
    reader->index += is_there;
    return is_there;
}

/* CREATE [OR REPLACE] MACRO | FUNCTION */
static Status read_head(MacroReader *reader) {
    size_t start = reader->index;
    bool is_create = take_word(reader, "CREATE");
    if (is_create && take_word(reader, "OR")) {
        is_create = take_word(reader, "REPLACE");
    }
    if (!is_create || !(take_word(reader, "MACRO") || take_word(reader, "FUNCTION"))) {
        return fail(reader, start, "a macro file holds only CREATE MACRO name(parameters) AS expression statements");
    }
    return OK;
}

static Status read_name(MacroReader *reader, SqlMacro *macro) {
    size_t index = reader->index;
    if (!sql_tokens_is_name(&reader->tokens, index)) {
        return fail(reader, index, "a macro's name is expected here");
    }
    macro->place = place_of(reader, index);
    macro->name = sql_tokens_name(&reader->tokens, index, reader->set->arena);
    if (is(reader, index + 1, ".")) {
        return fail(reader, index, "a macro's name has no schema: macros are not objects of the warehouse");
    }
    if (!is(reader, index + 1, "(")) {
        return fail(reader, index + 1, "( and the macro's parameters are expected behind its name");
    }
    reader->index += 2;
    return OK;
}

static Status read_parameter(MacroReader *reader, SqlMacro *macro) {
    size_t index = reader->index;
    if (!sql_tokens_is_name(&reader->tokens, index)) {
        return fail(reader, index, "a parameter's name is expected here");
    }
    Str name = sql_tokens_name(&reader->tokens, index, reader->set->arena);
    if (is(reader, index + 1, ":=") || is(reader, index + 1, "=>") || is(reader, index + 1, "=") ||
        is_word(reader, index + 1, "DEFAULT")) {
        return fail(reader, index, "a macro's parameter cannot have a default value");
    }
    if (sql_tokens_is_name(&reader->tokens, index + 1)) {
        return fail(reader, index + 1, "a macro's parameter has no type");
    }
    if (str_vec_contains_fold(&macro->parameters, name)) {
        return fail(reader, index, "two parameters of the macro have this name");
    }
    str_vec_push(reader->set->arena, &macro->parameters, name);
    reader->index++;
    return OK;
}

static Status read_parameters(MacroReader *reader, SqlMacro *macro) {
    while (!is(reader, reader->index, ")")) {
        TRY(read_parameter(reader, macro));
        bool is_last = is(reader, reader->index, ")");
        if (!is_last && !is(reader, reader->index, ",")) {
            return fail(reader, reader->index, "a comma or ) is expected behind a macro's parameter");
        }
        reader->index += !is_last;
    }
    reader->index++;
    if (!take_word(reader, "AS")) {
        return fail(reader, reader->index, "AS and an expression are expected behind a macro's parameters");
    }
    return OK;
}

/* --- The body ----------------------------------------------------------------------------------------------------- */

static Status check_start(MacroReader *reader, size_t first) {
    static const char *const queries[] = {"SELECT", "WITH",    "FROM",     "VALUES",
                                          "PIVOT",  "UNPIVOT", "DESCRIBE", "SUMMARIZE"};
    if (is_word(reader, first, "TABLE")) {
        return fail(reader, first, "a table macro cannot be expanded; write a model instead");
    }
    if (sql_tokens_is_any(&reader->tokens, first, queries, COUNT_OF(queries))) {
        return fail(reader, first,
                    "a macro's body is an expression, not a query; write a model, or put a scalar subquery in ()");
    }
    return OK;
}

/* Moves behind the body's last token: the next semicolon outside of brackets, or the end. */
static Status skip_body(MacroReader *reader) {
    while (reader->index < reader->tokens.list.count && !is(reader, reader->index, ";")) {
        size_t index = reader->index;
        SqlToken token = sql_tokens_at(&reader->tokens, index);
        bool opens = is(reader, index, "(") || is(reader, index, "[") || is(reader, index, "{");
        bool closes = is(reader, index, ")") || is(reader, index, "]") || is(reader, index, "}");
        size_t close = opens ? sql_tokens_close(&reader->tokens, index) : index;
        if (token.kind == SQL_TOKEN_INVALID) {
            return fail(reader, index, "this string, name or comment does not end");
        }
        if (closes || close == STR_NOT_FOUND) {
            return fail(reader, index, "this bracket has no counterpart");
        }
        if (is(reader, index, ",")) {
            return fail(reader, index, "a macro has one body: variants with other parameters are not supported");
        }
        reader->index = close + 1;
    }
    return OK;
}

static Status check_end(MacroReader *reader, size_t last) {
    static const char *const words[] = {"AND",     "OR",   "NOT",  "LIKE", "ILIKE", "IN",
                                        "BETWEEN", "CASE", "WHEN", "THEN", "ELSE"};
    bool is_operator = sql_tokens_at(&reader->tokens, last).kind == SQL_TOKEN_OPERATOR && !is(reader, last, "!");
    if (is_operator || is(reader, last, ".") || sql_tokens_is_any(&reader->tokens, last, words, COUNT_OF(words))) {
        return fail(reader, last, "the macro's body ends in the middle of an expression");
    }
    return OK;
}

static Status read_body(MacroReader *reader, SqlMacro *macro) {
    size_t first = reader->index;
    TRY(check_start(reader, first));
    TRY(skip_body(reader));
    if (reader->index == first) {
        return fail(reader, first, "the macro has no body");
    }
    size_t last = reader->index - 1;
    TRY(check_end(reader, last));
    macro->body = sql_text_from_file(reader->set->arena, reader->file, sql_tokens_at(&reader->tokens, first).start,
                                     sql_tokens_at(&reader->tokens, last).end);
    reader->index++; /* the semicolon */
    return OK;
}

static Status add_macro(MacroReader *reader, const SqlMacro *macro) {
    const MacroDefinition *earlier = str_map_find(reader->set->macros, macro->name);
    if (earlier != NULL) {
        return error_set_at(reader->err, ERROR_DEFINITION, macro->place,
                            "macro '" STR_FMT "' is already defined in " STR_FMT ":%zu", STR_ARG(macro->name),
                            STR_ARG(earlier->macro.place.file), earlier->macro.place.line);
    }
    Arena *arena = reader->set->arena;
    SqlTokens body = sql_tokens(macro->body.text, arena);
    MacroDefinition *definition = ARENA_NEW(arena, MacroDefinition);
    *definition = (MacroDefinition){.macro = *macro,
                                    .uses = sql_macro_parameter_uses(&body, &macro->parameters, arena),
                                    .index = str_map_count(reader->set->macros)};
    str_map_put(reader->set->macros, definition->macro.name, definition);
    return OK;
}

static Status read_macro(MacroReader *reader) {
    SqlMacro macro = {0};
    TRY(read_head(reader));
    TRY(read_name(reader, &macro));
    TRY(read_parameters(reader, &macro));
    TRY(read_body(reader, &macro));
    return add_macro(reader, &macro);
}

Status sql_macro_set_read(SqlMacroSet *set, const SourceFile *file, Error *err) {
    MacroReader reader = {.set = set, .file = file, .tokens = sql_tokens(file->content, set->arena), .err = err};
    while (reader.index < reader.tokens.list.count) {
        if (is(&reader, reader.index, ";")) {
            reader.index++;
            continue;
        }
        TRY(read_macro(&reader));
    }
    return OK;
}
