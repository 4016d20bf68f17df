#include "config/dsn.h"

static bool is_scheme_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
}

bool dsn_has_scheme(Str text) {
    size_t colon = str_find_char(text, ':');
    if (colon == STR_NOT_FOUND || colon < 2 || !str_is_identifier(str_slice(text, 0, 1)) || text.ptr[0] == '_') {
        return false;
    }
    for (size_t i = 0; i < colon; i++) {
        if (!is_scheme_char(text.ptr[i])) {
            return false;
        }
    }
    return true;
}

static Str without_ducklake(Str text) {
    return str_starts_with_fold(text, STR("ducklake:")) ? str_skip(text, sizeof "ducklake:" - 1) : text;
}

bool dsn_is_postgres(Str text) {
    Str catalog = without_ducklake(text);
    return str_starts_with_fold(catalog, STR("postgres:")) || str_starts_with_fold(catalog, STR("postgresql:"));
}

/* DuckDB's own prefix, `postgres:dbname=x`, stands before a keyword string or before a whole URI. */
Str dsn_postgres_string(Str text) {
    Str rest = without_ducklake(text);
    size_t colon = str_find_char(rest, ':');
    bool is_prefix = dsn_is_postgres(rest) && !str_starts_with(str_skip(rest, colon), STR("://"));
    return is_prefix ? str_skip(rest, colon + 1) : rest;
}

static bool is_host_keyword(Str name) {
    return str_equal_fold(name, STR("host")) || str_equal_fold(name, STR("hostaddr")) ||
           str_equal_fold(name, STR("service"));
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Past a value of a keyword string: quoted with ' or up to a blank, `\` taking the next character as it is. */
static size_t skip_keyword_value(Str text, size_t at) {
    bool quoted = at < text.size && text.ptr[at] == '\'';
    at += quoted;
    while (at < text.size && (quoted ? text.ptr[at] != '\'' : !is_blank(text.ptr[at]))) {
        at += text.ptr[at] == '\\' ? 2 : 1;
    }
    at += quoted;
    return at < text.size ? at : text.size;
}

static bool keyword_string_names_host(Str text) {
    size_t at = 0;
    while (at < text.size) {
        size_t equals = str_find_char(str_skip(text, at), '=');
        if (equals == STR_NOT_FOUND) {
            return false;
        }
        Str name = str_trim(str_slice(text, at, at + equals));
        size_t value = at + equals + 1;
        while (value < text.size && is_blank(text.ptr[value])) {
            value++;
        }
        size_t end = skip_keyword_value(text, value);
        Str written = str_slice(text, value, end);
        if (is_host_keyword(name) && written.size > 0 && !str_equal(written, STR("''"))) {
            return true;
        }
        at = end;
    }
    return false;
}

static bool query_names_host(Str query) {
    while (query.size > 0) {
        size_t end = str_find_char(query, '&');
        Str pair = str_slice(query, 0, end);
        size_t equals = str_find_char(pair, '=');
        if (equals != STR_NOT_FOUND && equals + 1 < pair.size && is_host_keyword(str_slice(pair, 0, equals))) {
            return true;
        }
        query = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(query, end + 1);
    }
    return false;
}

static size_t find_any(Str text, Str characters) {
    for (size_t i = 0; i < text.size; i++) {
        if (str_find_char(characters, text.ptr[i]) != STR_NOT_FOUND) {
            return i;
        }
    }
    return text.size;
}

static bool uri_names_host(Str behind_scheme) {
    Str authority = str_slice(behind_scheme, 0, find_any(behind_scheme, STR("/?#")));
    size_t at_sign = str_find_last_char(authority, '@');
    Str host = at_sign == STR_NOT_FOUND ? authority : str_skip(authority, at_sign + 1);
    if (host.size > 0 && host.ptr[0] != ':') {
        return true;
    }
    size_t query = str_find_char(behind_scheme, '?');
    return query != STR_NOT_FOUND && query_names_host(str_skip(behind_scheme, query + 1));
}

bool dsn_names_host(Str text) {
    Str rest = dsn_postgres_string(text);
    size_t scheme_end = str_find(rest, STR("://"));
    bool is_uri = scheme_end != STR_NOT_FOUND && dsn_has_scheme(rest) && str_find_char(rest, ':') == scheme_end;
    return is_uri ? uri_names_host(str_skip(rest, scheme_end + 3)) : keyword_string_names_host(rest);
}
