#include "project/sql_file.h"

#include "base/files.h"
#include "sql/sql_analyzer.h"
#include "sql/sql_lexer.h"

#define BLOCK_KEY STR("interlace")

static SourceSpan place_at(const SourceFile *source, size_t offset) {
    TextPosition position = str_position(source->content, offset);
    return (SourceSpan){.file = source->path, .line = position.line, .column = position.column};
}

static Status check_text(const SourceFile *source, Error *err) {
    size_t bad = str_find_invalid_utf8(source->content);
    if (bad != STR_NOT_FOUND) {
        error_set_at(err, ERROR_DEFINITION, place_at(source, bad), "'" STR_FMT "' is not UTF-8: byte 0x%02X",
                     STR_ARG(source->path), (unsigned)(unsigned char)source->content.ptr[bad]);
        error_hint(err, "save the file as UTF-8");
        error_code(err, STR("file.encoding"));
        return FAILED;
    }
    size_t nul = str_find_char(source->content, '\0');
    if (nul != STR_NOT_FOUND) {
        error_set_at(err, ERROR_DEFINITION, place_at(source, nul), "'" STR_FMT "' holds a NUL byte: it is no text",
                     STR_ARG(source->path));
        error_code(err, STR("file.encoding"));
        return FAILED;
    }
    return OK;
}

Status source_file_read(Str root, Str path, Arena *arena, const SourceFile **source_out, Error *err) {
    Str content;
    AUTO(error) Error cause;
    error_init(&cause);
    if (failed(file_read(path_join(arena, root, path), SQL_TEXT_MAX, arena, &content, &cause))) {
        error_set_at(err, ERROR_DEFINITION, (SourceSpan){.file = path}, STR_FMT, STR_ARG(cause.message));
        error_code(err, STR("file.unreadable"));
        return FAILED;
    }
    SourceFile *source = ARENA_NEW(arena, SourceFile);
    source->path = path;
    source->content = str_starts_with(content, STR("\xEF\xBB\xBF")) ? str_skip(content, 3) : content;
    TRY(check_text(source, err));
    *source_out = source;
    return OK;
}

/* What the steps of one split share. */
typedef struct Splitter {
    const SourceFile *source;
    SqlCache *blocks;
    Arena *arena;
} Splitter;

/* ---- One comment: is it a configuration block, and what does it hold? */

/* The first thing in the comment is the key, plain or quoted, in block or flow style: then it must read as one. */
static bool is_meant_as_block(Str inside) {
    Str rest = str_trim(inside);
    if (str_starts_with(rest, STR("{"))) {
        rest = str_trim(str_skip(rest, 1));
    }
    char quote = rest.size > 0 && (rest.ptr[0] == '"' || rest.ptr[0] == '\'') ? rest.ptr[0] : '\0';
    rest = str_skip(rest, quote == '\0' ? 0 : 1);
    if (!str_starts_with(rest, BLOCK_KEY)) {
        return false;
    }
    rest = str_skip(rest, BLOCK_KEY.size);
    if (quote != '\0') {
        rest = rest.size > 0 && rest.ptr[0] == quote ? str_skip(rest, 1) : STR_EMPTY;
    }
    return str_starts_with(str_trim(rest), STR(":"));
}

/* YAML is read from behind the comment sign, so columns of its first line count from there. Nesting is limited by the
 * reader. */
static void shift_first_line(ConfigValue *value, size_t line, size_t columns) {
    if (value->place.line == line) {
        value->place.column += columns;
    }
    for (size_t i = 0; i < value->count; i++) {
        if (value->kind == CONFIG_LIST) {
            shift_first_line(value->items[i], line, columns);
            continue;
        }
        ConfigEntry *entry = &value->entries[i];
        if (entry->place.line == line) {
            entry->place.column += columns;
        }
        shift_first_line(entry->value, line, columns);
    }
}

static Status read_yaml(const Splitter *splitter, Str inside, size_t inside_offset, ConfigValue **document_out,
                        Error *err) {
    SourceSpan start = place_at(splitter->source, inside_offset);
    if (failed(
            block_cache_read(splitter->blocks, inside, start.file, start.line, splitter->arena, document_out, err))) {
        if (err->place.line == start.line && err->place.column > 0) {
            err->place.column += start.column - 1;
        }
        return FAILED;
    }
    shift_first_line(*document_out, start.line, start.column - 1);
    return OK;
}

static const ConfigEntry *find_entry(const ConfigValue *map, Str key) {
    for (size_t i = 0; map->kind == CONFIG_MAP && i < map->count; i++) {
        if (str_equal(map->entries[i].key, key)) {
            return &map->entries[i];
        }
    }
    return NULL;
}

static Status block_error(SourceSpan place, Error *err, const char *message) {
    error_set_at(err, ERROR_CONFIGURATION, place, "%s", message);
    error_code(err, STR("block.form"));
    return FAILED;
}

/* A key beside `interlace` was meant to stand under it: one level of indentation is missing. */
static Status check_siblings(const ConfigValue *document, Error *err) {
    for (size_t i = 0; i < document->count; i++) {
        const ConfigEntry *entry = &document->entries[i];
        if (str_equal(entry->key, BLOCK_KEY)) {
            continue;
        }
        error_set_at(err, ERROR_CONFIGURATION, entry->place,
                     "the configuration block holds '" STR_FMT "' beside 'interlace:', where it has no effect",
                     STR_ARG(entry->key));
        error_hint(err, "indent it under 'interlace:', or move it into a comment of its own");
        error_code(err, STR("block.form"));
        return FAILED;
    }
    return OK;
}

static Status check_block(const ConfigEntry *entry, const ConfigValue *document, Error *err) {
    TRY(check_siblings(document, err));
    if (entry->value->kind != CONFIG_NULL && entry->value->kind != CONFIG_MAP) {
        error_set_at(err, ERROR_CONFIGURATION, entry->value->place,
                     "'interlace:' must hold a map of model keys, not %s", config_kind_name(entry->value->kind));
        error_code(err, STR("block.form"));
        return FAILED;
    }
    return OK;
}

/* Gives the entry `interlace` of a block, NULL for a comment that is none. */
static Status read_comment(const Splitter *splitter, SqlToken token, const ConfigEntry **entry_out, Error *err) {
    const SourceFile *source = splitter->source;
    *entry_out = NULL;
    Str comment = sql_token_text(source->content, token);
    if (!str_starts_with(comment, STR("/*")) || str_find(comment, BLOCK_KEY) == STR_NOT_FOUND) {
        return OK;
    }
    Str inside = str_slice(comment, 2, comment.size - 2);
    bool is_meant = is_meant_as_block(inside);
    ConfigValue *document;
    if (failed(read_yaml(splitter, inside, token.start + 2, &document, err))) {
        return is_meant ? error_wrap(err, "reading the configuration block") : OK;
    }
    const ConfigEntry *entry = find_entry(document, BLOCK_KEY);
    if (entry == NULL) {
        return is_meant ? block_error(place_at(source, token.start), err,
                                      "the configuration block is not a map with the key 'interlace'")
                        : OK;
    }
    TRY(check_block(entry, document, err));
    *entry_out = entry;
    return OK;
}

/* ---- The file */

/* Comments up to the first token. The lexer is left behind the block, or at the start when there is none. */
static Status find_block(const Splitter *splitter, SqlLexer *lexer, const ConfigEntry **entry_out,
                         size_t *block_offset_out, Error *err) {
    SqlLexer ahead = *lexer;
    for (;;) {
        SqlToken token = sql_lexer_next(&ahead);
        if (token.kind != SQL_TOKEN_COMMENT) {
            return OK;
        }
        TRY(read_comment(splitter, token, entry_out, err));
        if (*entry_out != NULL) {
            *block_offset_out = token.start;
            *lexer = ahead;
            return OK;
        }
    }
}

/* Everything behind the block, or the whole file: no comment may be a block that is not first in its place. */
static Status refuse_other_blocks(const Splitter *splitter, SqlLexer lexer, bool has_header, Error *err) {
    const SourceFile *source = splitter->source;
    if (str_find(str_skip(source->content, lexer.offset), BLOCK_KEY) == STR_NOT_FOUND) {
        return OK;
    }
    for (;;) {
        SqlToken token = sql_lexer_next(&lexer);
        if (token.kind == SQL_TOKEN_END || token.kind == SQL_TOKEN_INVALID) {
            return OK; /* an unfinished token is the analyzer's to report */
        }
        const ConfigEntry *entry = NULL;
        if (token.kind == SQL_TOKEN_COMMENT) {
            TRY(read_comment(splitter, token, &entry, err));
        }
        if (entry != NULL) {
            return block_error(place_at(source, token.start), err,
                               has_header ? "a second configuration block: a model has one"
                                          : "a configuration block must stand before the query");
        }
    }
}

Status sql_file_split(const SourceFile *source, SqlCache *blocks, Arena *arena, SqlFile *file_out, Error *err) {
    Splitter splitter = {.source = source, .blocks = blocks, .arena = arena};
    SqlFile file = {.source = source};
    SqlLexer lexer = sql_lexer(source->content);
    if (str_find(source->content, BLOCK_KEY) != STR_NOT_FOUND) {
        const ConfigEntry *entry = NULL;
        size_t block_offset = 0;
        TRY(find_block(&splitter, &lexer, &entry, &block_offset, err));
        if (entry != NULL) {
            file.has_header = true;
            file.header = entry->value->kind == CONFIG_MAP ? entry->value : NULL;
            file.header_line = str_position(source->content, block_offset).line;
        }
        TRY(refuse_other_blocks(&splitter, lexer, file.has_header, err));
    }
    size_t start = file.has_header ? lexer.offset : 0;
    file.body = sql_text_from_file(arena, source, start, source->content.size);
    *file_out = file;
    return OK;
}
