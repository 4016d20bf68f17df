#include "config/path_tokens.h"

#include "base/files.h"

static Str date_text(Str root, TimeUs now, Arena *arena) {
    (void)root;
    return str_slice(time_format_iso(arena, now), 0, 10);
}

/* 2026-07-01T08:30:00[.123456]Z without its signs and its fraction. */
static Str datetime_text(Str root, TimeUs now, Arena *arena) {
    (void)root;
    Str iso = time_format_iso(arena, now);
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < STR("2026-07-01T08:30:00").size; i++) {
        if (iso.ptr[i] != '-' && iso.ptr[i] != ':') {
            strbuf_char(&text, iso.ptr[i]);
        }
    }
    strbuf_char(&text, 'Z');
    return strbuf_copy(&text, arena);
}

static Str workspace_text(Str root, TimeUs now, Arena *arena) {
    (void)now, (void)arena;
    return path_base_name(root);
}

typedef struct PathToken {
    Str text;
    Str (*value)(Str root, TimeUs now, Arena *arena);
} PathToken;

static const PathToken path_tokens[] = {
    {STR_INIT("${date}"), date_text},
    {STR_INIT("${datetime}"), datetime_text},
    {STR_INIT("${workspace}"), workspace_text},
};

static const PathToken *find_token(Str text) {
    for (size_t i = 0; i < COUNT_OF(path_tokens); i++) {
        if (str_equal(path_tokens[i].text, text)) {
            return &path_tokens[i];
        }
    }
    return NULL;
}

/* The next ${…} at or behind `offset`; an unclosed one reaches to the end. */
static bool next_token(Str path, size_t offset, size_t *start_out, Str *token_out) {
    Str rest = str_skip(path, offset);
    size_t start = str_find(rest, STR("${"));
    if (start == STR_NOT_FOUND) {
        return false;
    }
    rest = str_skip(rest, start);
    size_t end = str_find_char(rest, '}');
    *start_out = offset + start;
    *token_out = str_slice(rest, 0, end == STR_NOT_FOUND ? rest.size : end + 1);
    return true;
}

Str path_tokens_unknown(Str path) {
    size_t start = 0;
    Str token = STR_EMPTY;
    for (size_t offset = 0; next_token(path, offset, &start, &token); offset = start + token.size) {
        if (find_token(token) == NULL) {
            return token;
        }
    }
    return STR_EMPTY;
}

Str path_tokens_expand(Str path, Str root, TimeUs now, Arena *arena) {
    AUTO(strbuf) StrBuf expanded = {0};
    size_t offset = 0;
    size_t start = 0;
    Str text = STR_EMPTY;
    for (; next_token(path, offset, &start, &text); offset = start + text.size) {
        const PathToken *token = find_token(text);
        strbuf_append(&expanded, str_slice(path, offset, start));
        strbuf_append(&expanded, token == NULL ? text : token->value(root, now, arena));
    }
    strbuf_append(&expanded, str_skip(path, offset));
    return strbuf_copy(&expanded, arena);
}
