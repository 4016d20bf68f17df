#include "python/connection_secrets.h"

#define SECRET_SIZE_MIN 4

/* ---- What a model gets */

static void write_texts(JsonWriter *json, const ConfigValue *map) {
    json_begin_object(json);
    for (size_t i = 0; i < map->count; i++) {
        const ConfigValue *value = map->entries[i].value;
        if (value->kind == CONFIG_MAP) {
            json_key(json, map->entries[i].key);
            write_texts(json, value);
        } else if (value->kind == CONFIG_SCALAR) {
            json_text_field(json, map->entries[i].key, value->text);
        }
    }
    json_end_object(json);
}

void connections_write(JsonWriter *json, const ConfigValue *connections) {
    if (connections == NULL || connections->kind != CONFIG_MAP) {
        json_begin_object(json);
        json_end_object(json);
    } else {
        write_texts(json, connections);
    }
}

/* ---- What is secret */

static void add_secret(Arena *arena, StrVec *secrets, Str value) {
    if (value.size >= SECRET_SIZE_MIN && !str_vec_contains(secrets, value)) {
        str_vec_push(arena, secrets, value);
    }
}

static void add_headers(Arena *arena, StrVec *secrets, const ConfigValue *headers) {
    for (size_t i = 0; headers != NULL && headers->kind == CONFIG_MAP && i < headers->count; i++) {
        Str value = str_trim(headers->entries[i].value->text);
        if (!config_is_secret_header(headers->entries[i].key)) {
            continue;
        }
        add_secret(arena, secrets, value);
        size_t blank = str_find_last_char(value, ' '); /* "Bearer abc": also without its scheme */
        if (blank != STR_NOT_FOUND) {
            add_secret(arena, secrets, str_skip(value, blank + 1));
        }
    }
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A value out of a URI, as written and as it is meant. */
static void add_uri_secret(Arena *arena, StrVec *secrets, Str value) {
    AUTO(strbuf) StrBuf plain = {0};
    for (size_t i = 0; i < value.size; i++) {
        bool is_escape = value.ptr[i] == '%' && i + 2 < value.size && hex_digit(value.ptr[i + 1]) >= 0 &&
                         hex_digit(value.ptr[i + 2]) >= 0;
        if (is_escape) {
            strbuf_char(&plain, (char)(hex_digit(value.ptr[i + 1]) * 16 + hex_digit(value.ptr[i + 2])));
            i += 2;
        } else {
            strbuf_char(&plain, value.ptr[i]);
        }
    }
    add_secret(arena, secrets, value);
    add_secret(arena, secrets, strbuf_copy(&plain, arena));
}

/* scheme://user:password@host: the last `@` counts, since passwords are often written unescaped. */
static void add_user_password(Arena *arena, StrVec *secrets, Str uri) {
    size_t scheme = str_find(uri, STR("://"));
    if (scheme == STR_NOT_FOUND) {
        return;
    }
    Str rest = str_skip(uri, scheme + 3);
    size_t at = str_find_last_char(rest, '@');
    Str user = at == STR_NOT_FOUND ? STR_EMPTY : str_slice(rest, 0, at);
    size_t colon = str_find_char(user, ':');
    if (colon != STR_NOT_FOUND) {
        add_uri_secret(arena, secrets, str_skip(user, colon + 1));
    }
}

/* The value of a keyword string, which may stand in quotes: 'it''s' and 'it\'s' are "it's". */
static Str keyword_value(Arena *arena, Str text) {
    AUTO(strbuf) StrBuf value = {0};
    bool is_quoted = text.size > 0 && text.ptr[0] == '\'';
    for (size_t i = is_quoted ? 1 : 0; i < text.size; i++) {
        char c = text.ptr[i];
        if (c == '\\' && i + 1 < text.size) {
            c = text.ptr[++i];
        } else if (is_quoted ? c == '\'' : c == ' ' || c == '&') {
            break;
        }
        strbuf_char(&value, c);
    }
    return strbuf_copy(&value, arena);
}

/* `password = …` of a keyword string, `?password=…` of a URI; sslpassword as well. */
static void add_named_passwords(Arena *arena, StrVec *secrets, Str dsn) {
    static const Str name = STR_INIT("password");
    for (size_t i = 0; i + name.size < dsn.size; i++) {
        if (!str_starts_with_fold(str_skip(dsn, i), name)) {
            continue;
        }
        Str rest = str_trim(str_skip(dsn, i + name.size));
        if (str_starts_with(rest, STR("="))) {
            add_uri_secret(arena, secrets, keyword_value(arena, str_trim(str_skip(rest, 1))));
        }
    }
}

static void add_connection(Arena *arena, StrVec *secrets, const ConfigValue *connection) {
    static const Str addresses[] = {STR_INIT("base_url"), STR_INIT("dsn")};
    add_headers(arena, secrets, config_find(connection, STR("headers")));
    for (size_t i = 0; i < COUNT_OF(addresses); i++) {
        const ConfigValue *value = config_find(connection, addresses[i]);
        if (value != NULL && value->kind == CONFIG_SCALAR) {
            add_user_password(arena, secrets, value->text);
            add_named_passwords(arena, secrets, value->text);
        }
    }
}

/* One that is part of another comes after it: else the rest of the longer one would stay. */
static void sort_longest_first(StrVec *secrets) {
    for (size_t i = 1; i < secrets->count; i++) {
        for (size_t k = i; k > 0 && secrets->items[k].size > secrets->items[k - 1].size; k--) {
            Str shorter = secrets->items[k - 1];
            secrets->items[k - 1] = secrets->items[k];
            secrets->items[k] = shorter;
        }
    }
}

StrVec connections_secrets(const ConfigValue *connections, Arena *arena) {
    StrVec secrets = {0};
    for (size_t i = 0; connections != NULL && connections->kind == CONFIG_MAP && i < connections->count; i++) {
        add_connection(arena, &secrets, connections->entries[i].value);
    }
    sort_longest_first(&secrets);
    return secrets;
}

/* ---- Hiding */

static Str hide_one(Str secret, Str text, Arena *arena) {
    size_t at = str_find(text, secret);
    if (at == STR_NOT_FOUND) {
        return text;
    }
    AUTO(strbuf) StrBuf out = {0};
    for (; at != STR_NOT_FOUND; at = str_find(text, secret)) {
        strbuf_append(&out, str_slice(text, 0, at));
        strbuf_text(&out, CONFIG_HIDDEN);
        text = str_skip(text, at + secret.size);
    }
    strbuf_append(&out, text);
    return strbuf_copy(&out, arena);
}

Str secrets_hide(const StrVec *secrets, Str text, Arena *arena) {
    for (size_t i = 0; i < secrets->count; i++) {
        text = hide_one(secrets->items[i], text, arena);
    }
    return text;
}

void secrets_hide_in_error(const StrVec *secrets, Error *err) {
    if (err->arena == NULL) {
        return;
    }
    err->message = secrets_hide(secrets, err->message, err->arena);
    err->hint = secrets_hide(secrets, err->hint, err->arena);
    err->traceback = secrets_hide(secrets, err->traceback, err->arena);
    for (size_t i = 0; i < err->notes.count; i++) {
        err->notes.items[i] = secrets_hide(secrets, err->notes.items[i], err->arena);
    }
    for (size_t i = 0; i < err->details.count; i++) {
        error_detail_hide(&err->details.items[i], secrets_hide(secrets, err->details.items[i].value, err->arena));
    }
}
