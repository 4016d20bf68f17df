/* config_redact_dsn: one pass over the text, which may be a DSN, a URL, or an error or statement that holds some. It
 * hides rather too much than too little. */
#include "config/project_config.h"

typedef struct Redaction {
    Str text;
    size_t at; /* what is before is written */
    bool in_secret_statement;
    StrBuf *out;
} Redaction;

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool ends_text_of_uri(char c) {
    return is_blank(c) || c == '\'' || c == '"' || c == '<' || c == '>';
}

static char char_at(Str text, size_t at) {
    return at < text.size ? text.ptr[at] : '\0';
}

static bool ends_with_fold(Str s, Str suffix) {
    return s.size >= suffix.size && str_equal_fold(str_skip(s, s.size - suffix.size), suffix);
}

static bool contains_fold(Str s, Str word) {
    for (size_t i = 0; i + word.size <= s.size; i++) {
        if (str_starts_with_fold(str_skip(s, i), word)) {
            return true;
        }
    }
    return false;
}

/* Words in the names of what is secret. In a longer text, such as a statement, names abound that have some of them at
 * the front and mean something else: `key_columns`, `token_count`. */
static const struct SecretWord {
    Str word;
    bool only_last; /* in such a text */
} secret_words[] = {
    {STR_INIT("password"), true}, {STR_INIT("token"), true}, {STR_INIT("secret"), true},
    {STR_INIT("pwd"), true},      {STR_INIT("key"), true},   {STR_INIT("credential"), false},
    {STR_INIT("auth"), false},    {STR_INIT("sas"), false},  {STR_INIT("cookie"), false},
};

static bool is_secret_name(Str name) {
    for (size_t i = 0; i < COUNT_OF(secret_words); i++) {
        const struct SecretWord *secret = &secret_words[i];
        if (secret->only_last ? ends_with_fold(name, secret->word) : contains_fold(name, secret->word)) {
            return true;
        }
    }
    return false;
}

bool config_is_secret_header(Str name) {
    for (size_t i = 0; i < COUNT_OF(secret_words); i++) {
        if (contains_fold(name, secret_words[i].word)) {
            return true;
        }
    }
    return false;
}

/* scheme://user:password@host: the authority ends at the first `/`, `?` or `#`. A PostgreSQL password may hold those
 * unescaped, so there the last `@` counts. Behind the user part, or STR_NOT_FOUND. */
static size_t find_user_end(Str text, size_t authority, bool postgres) {
    size_t user_end = STR_NOT_FOUND;
    for (size_t i = authority; i < text.size && !ends_text_of_uri(text.ptr[i]); i++) {
        char c = text.ptr[i];
        if (c == '@') {
            user_end = i;
        } else if (!postgres && (c == '/' || c == '?' || c == '#')) {
            break;
        }
    }
    return user_end;
}

static bool redact_user(Redaction *redaction, size_t scheme_start) {
    Str text = redaction->text;
    if (!str_starts_with(str_skip(text, redaction->at), STR("://"))) {
        return false;
    }
    bool postgres = str_starts_with_fold(str_skip(text, scheme_start), STR("postgres"));
    size_t user_end = find_user_end(text, redaction->at + 3, postgres);
    strbuf_text(redaction->out, "://");
    redaction->at += 3;
    if (user_end != STR_NOT_FOUND) {
        strbuf_text(redaction->out, CONFIG_HIDDEN);
        redaction->at = user_end;
    }
    return true;
}

/* Past a quoted value; a doubled quote or a backslash does not end it. */
static size_t skip_quoted(Str text, size_t at) {
    char quote = text.ptr[at];
    for (at++; at < text.size; at++) {
        bool doubled = text.ptr[at] == quote && char_at(text, at + 1) == quote;
        if (doubled || text.ptr[at] == '\\') {
            at++;
        } else if (text.ptr[at] == quote) {
            return at + 1;
        }
    }
    return text.size;
}

/* In a URI's query a value ends at `&`; elsewhere that may be part of a password. */
static size_t skip_bare_value(Str text, size_t at, bool in_query) {
    while (at < text.size && !is_blank(text.ptr[at]) && text.ptr[at] != '\'' && text.ptr[at] != '"' &&
           !(in_query && (text.ptr[at] == '&' || text.ptr[at] == '#'))) {
        at += text.ptr[at] == '\\' ? 2 : 1;
    }
    return at < text.size ? at : text.size;
}

/* Where the value begins that belongs to a name ending at `name_end`; STR_NOT_FOUND when there is none. A name that
 * ends in `key` is often a column in SQL, hence it needs `=` at both of its sides; and CREATE SECRET has no `=`. */
static size_t find_value(const Redaction *redaction, Str name, size_t name_end) {
    Str text = redaction->text;
    size_t at = name_end;
    while (is_blank(char_at(text, at))) {
        at++;
    }
    if (char_at(text, at) != '=') {
        bool quoted_next = at > name_end && (char_at(text, at) == '\'' || char_at(text, at) == '"');
        return redaction->in_secret_statement && quoted_next ? at : STR_NOT_FOUND;
    }
    size_t value = at + 1;
    while (is_blank(char_at(text, value))) {
        value++;
    }
    bool spaced = value != name_end + 1;
    return spaced && ends_with_fold(name, STR("key")) ? STR_NOT_FOUND : value;
}

static void redact_pair(Redaction *redaction, Str name, char before) {
    size_t value = find_value(redaction, name, redaction->at);
    if (before == '.' || value == STR_NOT_FOUND || value >= redaction->text.size) {
        return;
    }
    strbuf_append(redaction->out, str_slice(redaction->text, redaction->at, value));
    strbuf_text(redaction->out, CONFIG_HIDDEN);
    char first = redaction->text.ptr[value];
    bool quoted = first == '\'' || first == '"';
    redaction->at = quoted ? skip_quoted(redaction->text, value)
                           : skip_bare_value(redaction->text, value, before == '?' || before == '&');
}

static void redact_from_name(Redaction *redaction) {
    size_t start = redaction->at;
    size_t end = start;
    while (end < redaction->text.size && is_name_char(redaction->text.ptr[end])) {
        end++;
    }
    Str name = str_slice(redaction->text, start, end);
    strbuf_append(redaction->out, name);
    redaction->at = end;
    if (!redact_user(redaction, start) && is_secret_name(name)) {
        redact_pair(redaction, name, start == 0 ? '\0' : redaction->text.ptr[start - 1]);
    }
}

Str config_redact_dsn(Arena *arena, Str text) {
    AUTO(strbuf) StrBuf out = {0};
    Redaction redaction = {
        .text = text,
        .in_secret_statement = contains_fold(text, STR("create")) && contains_fold(text, STR("secret")),
        .out = &out,
    };
    while (redaction.at < text.size) {
        if (is_name_char(text.ptr[redaction.at])) {
            redact_from_name(&redaction);
        } else {
            strbuf_char(&out, text.ptr[redaction.at++]);
        }
    }
    return strbuf_copy(&out, arena);
}
