/* Walks the engine's spelling of a type once: a name, what is in its brackets, and the [] behind. Nesting is that of
 * the engine's own types. */
#include "run/arrow_type_name.h"

typedef struct TypeWalk {
    Str text;
    size_t at;
} TypeWalk;

static void write_type(TypeWalk *walk, StrBuf *out);

/* clang-format off */
static const struct PlainType { Str name, arrow; } plain_types[] = {
    {STR_INIT("BOOLEAN"), STR_INIT("bool")},
    {STR_INIT("TINYINT"), STR_INIT("int8")},        {STR_INIT("UTINYINT"), STR_INIT("uint8")},
    {STR_INIT("SMALLINT"), STR_INIT("int16")},      {STR_INIT("USMALLINT"), STR_INIT("uint16")},
    {STR_INIT("INTEGER"), STR_INIT("int32")},       {STR_INIT("UINTEGER"), STR_INIT("uint32")},
    {STR_INIT("BIGINT"), STR_INIT("int64")},        {STR_INIT("UBIGINT"), STR_INIT("uint64")},
    {STR_INIT("HUGEINT"), STR_INIT("decimal128(38, 0)")}, {STR_INIT("UHUGEINT"), STR_INIT("decimal128(38, 0)")},
    {STR_INIT("FLOAT"), STR_INIT("float")},         {STR_INIT("DOUBLE"), STR_INIT("double")},
    {STR_INIT("VARCHAR"), STR_INIT("string")},      {STR_INIT("BLOB"), STR_INIT("binary")},
    {STR_INIT("BIT"), STR_INIT("binary")},          {STR_INIT("DATE"), STR_INIT("date32[day]")},
    {STR_INIT("TIME"), STR_INIT("time64[us]")},     {STR_INIT("TIME_NS"), STR_INIT("time64[ns]")},
    {STR_INIT("TIME WITH TIME ZONE"), STR_INIT("time64[us]")},
    {STR_INIT("TIMESTAMP"), STR_INIT("timestamp[us]")},      {STR_INIT("TIMESTAMP_S"), STR_INIT("timestamp[s]")},
    {STR_INIT("TIMESTAMP_MS"), STR_INIT("timestamp[ms]")},   {STR_INIT("TIMESTAMP_NS"), STR_INIT("timestamp[ns]")},
    {STR_INIT("TIMESTAMP WITH TIME ZONE"), STR_INIT("timestamp[us, tz=UTC]")},
    {STR_INIT("INTERVAL"), STR_INIT("month_day_nano_interval")},
};
/* clang-format on */

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static char peek(const TypeWalk *walk) {
    return walk->at < walk->text.size ? walk->text.ptr[walk->at] : '\0';
}

static bool take(TypeWalk *walk, char c) {
    bool is_there = peek(walk) == c;
    walk->at += is_there;
    return is_there;
}

static void skip_blanks(TypeWalk *walk) {
    while (take(walk, ' ')) {
    }
}

/* 'it''s' or "a ""b""": with its quotes. */
static Str take_quoted(TypeWalk *walk) {
    size_t start = walk->at;
    char quote = peek(walk);
    do {
        walk->at++; /* the quote that opens, or the second of a doubled one */
        while (walk->at < walk->text.size && peek(walk) != quote) {
            walk->at++;
        }
        walk->at += walk->at < walk->text.size;
    } while (peek(walk) == quote);
    return str_slice(walk->text, start, walk->at);
}

static Str take_until(TypeWalk *walk, Str ends) {
    size_t start = walk->at;
    while (walk->at < walk->text.size && str_find_char(ends, peek(walk)) == STR_NOT_FOUND) {
        walk->at++;
    }
    return str_slice(walk->text, start, walk->at);
}

/* To behind the bracket that closes. */
static void skip_arguments(TypeWalk *walk) {
    for (size_t depth = 1; depth > 0 && walk->at < walk->text.size;) {
        char c = peek(walk);
        if (c == '\'' || c == '"') {
            (void)take_quoted(walk);
            continue;
        }
        depth += c == '(';
        depth -= c == ')';
        walk->at++;
    }
}

/* --- Types with arguments; each ends behind its bracket ----------------------------------------------------------- */

static void write_decimal(TypeWalk *walk, StrBuf *out) {
    Str precision = take_until(walk, STR(",)"));
    (void)take(walk, ',');
    Str scale = str_trim(take_until(walk, STR(")")));
    (void)take(walk, ')');
    strbuf_format(out, "decimal128(" STR_FMT ", " STR_FMT ")", STR_ARG(precision), STR_ARG(scale));
}

static void write_field_name(TypeWalk *walk, StrBuf *out) {
    skip_blanks(walk);
    if (peek(walk) != '"') {
        strbuf_append(out, take_until(walk, STR(" ,)")));
        return;
    }
    Str quoted = take_quoted(walk);
    for (size_t i = 1; i + 1 < quoted.size; i++) {
        strbuf_char(out, quoted.ptr[i]);
        i += quoted.ptr[i] == '"';
    }
}

/* name TYPE, name TYPE …; a union numbers its members. */
static void write_fields(TypeWalk *walk, bool is_numbered, StrBuf *out) {
    size_t count = 0;
    do {
        strbuf_text(out, count == 0 ? "" : ", ");
        write_field_name(walk, out);
        strbuf_text(out, ": ");
        write_type(walk, out);
        if (is_numbered) {
            strbuf_format(out, "=%zu", count);
        }
        count++;
    } while (take(walk, ','));
    (void)take(walk, ')');
}

static void write_struct(TypeWalk *walk, StrBuf *out) {
    strbuf_text(out, "struct<");
    write_fields(walk, false, out);
    strbuf_char(out, '>');
}

static void write_union(TypeWalk *walk, StrBuf *out) {
    strbuf_text(out, "sparse_union<");
    write_fields(walk, true, out);
    strbuf_char(out, '>');
}

static void write_map(TypeWalk *walk, StrBuf *out) {
    strbuf_text(out, "map<");
    write_type(walk, out);
    strbuf_text(out, ", ");
    (void)take(walk, ',');
    write_type(walk, out);
    (void)take(walk, ')');
    strbuf_char(out, '>');
}

/* The engine numbers an enum's words with the smallest type that holds them. */
static void write_enum(TypeWalk *walk, StrBuf *out) {
    size_t count = 0;
    do {
        skip_blanks(walk);
        if (peek(walk) == '\'') {
            (void)take_quoted(walk);
            count++;
        }
    } while (take(walk, ','));
    (void)take(walk, ')');
    const char *indices = count <= UINT8_MAX ? "uint8" : count <= UINT16_MAX ? "uint16" : "uint32";
    strbuf_format(out, "dictionary<values=string, indices=%s, ordered=0>", indices);
}

static void write_other(TypeWalk *walk, StrBuf *out) {
    skip_arguments(walk);
    strbuf_text(out, "string");
}

/* --- All of them -------------------------------------------------------------------------------------------------- */

static void write_with_arguments(TypeWalk *walk, Str name, StrBuf *out) {
    static const struct {
        Str name;
        void (*write)(TypeWalk *walk, StrBuf *out);
    } writers[] = {
        {STR_INIT("DECIMAL"), write_decimal}, {STR_INIT("STRUCT"), write_struct}, {STR_INIT("UNION"), write_union},
        {STR_INIT("MAP"), write_map},         {STR_INIT("ENUM"), write_enum},
    };
    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        if (str_equal(name, writers[i].name)) {
            writers[i].write(walk, out);
            return;
        }
    }
    write_other(walk, out);
}

static Str plain_name(Str name) {
    for (size_t i = 0; i < COUNT_OF(plain_types); i++) {
        if (str_equal(name, plain_types[i].name)) {
            return plain_types[i].arrow;
        }
    }
    return STR("string");
}

/* Lists stand behind their item's type: INTEGER[][3]. */
static void write_lists(TypeWalk *walk, StrBuf *item, StrBuf *out) {
    while (take(walk, '[')) {
        Str size = take_until(walk, STR("]"));
        (void)take(walk, ']');
        AUTO(strbuf) StrBuf list = {0};
        strbuf_text(&list, size.size == 0 ? "list<item: " : "fixed_size_list<item: ");
        strbuf_append(&list, strbuf_str(item));
        strbuf_char(&list, '>');
        if (size.size > 0) {
            strbuf_format(&list, "[" STR_FMT "]", STR_ARG(size));
        }
        strbuf_clear(item);
        strbuf_append(item, strbuf_str(&list));
    }
    strbuf_append(out, strbuf_str(item));
}

static void write_type(TypeWalk *walk, StrBuf *out) {
    AUTO(strbuf) StrBuf item = {0};
    skip_blanks(walk);
    if (peek(walk) == '"') { /* a type of the user's own */
        (void)take_quoted(walk);
    }
    Str name = str_trim(take_until(walk, STR("([,)")));
    if (take(walk, '(')) {
        write_with_arguments(walk, name, &item);
    } else {
        strbuf_append(&item, plain_name(name));
    }
    write_lists(walk, &item, out);
}

Str arrow_type_name(Str type, Arena *arena) {
    AUTO(strbuf) StrBuf out = {0};
    TypeWalk walk = {.text = type};
    write_type(&walk, &out);
    return strbuf_copy(&out, arena);
}

Str arrow_type_parse(Str name, Arena *arena) {
    const Str decimal = STR("decimal128(");
    if (str_starts_with(name, decimal)) {
        return str_format(arena, "DECIMAL(" STR_FMT, STR_ARG(str_skip(name, decimal.size)));
    }
    for (size_t i = 0; i < COUNT_OF(plain_types); i++) {
        if (str_equal_fold(plain_types[i].arrow, name)) {
            return plain_types[i].name;
        }
    }
    return name;
}
