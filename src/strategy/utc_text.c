/* The engine's text of a value as a session in UTC would write it, whatever the zone of the session is. Zoned
 * timestamps become their text inside of lists, structs and maps too; the engine then quotes that text as it would have
 * quoted the timestamp's. Types are read as the engine spells them. Those inside of a UNION stay as the session writes
 * them. */
#include "strategy/writer.h"

#include "sql/sql_lexer.h"

static const Str zoned = STR_INIT("TIMESTAMP WITH TIME ZONE");

static void write_value(StrBuf *sql, Str type, Str value, size_t depth, Arena *arena);

/* Behind the member at the start of `members`: its comma, or the end. */
static size_t member_end(Str members) {
    size_t depth = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < members.size; i++) {
        char c = members.ptr[i];
        is_quoted = is_quoted != (c == '"');
        depth += !is_quoted && c == '(';
        depth -= !is_quoted && c == ')';
        if (c == ',' && !is_quoted && depth == 0) {
            return i;
        }
    }
    return members.size;
}

static size_t name_end(Str member) {
    bool is_quoted = false;
    for (size_t i = 0; i < member.size; i++) {
        is_quoted = is_quoted != (member.ptr[i] == '"');
        if (member.ptr[i] == ' ' && !is_quoted) {
            return i;
        }
    }
    return member.size;
}

static void write_struct(StrBuf *sql, Str members, Str value, size_t depth, Arena *arena) {
    strbuf_format(sql, "CASE WHEN " STR_FMT " IS NOT NULL THEN struct_pack(", STR_ARG(value));
    for (bool is_first = true; members.size > 0; is_first = false) {
        size_t end = member_end(members);
        Str member = str_trim(str_slice(members, 0, end));
        size_t name = name_end(member);
        AUTO(strbuf) StrBuf field = {0};
        strbuf_format(&field, "struct_extract(" STR_FMT ", ", STR_ARG(value));
        sql_literal(&field, sql_identifier_name(arena, str_slice(member, 0, name)));
        strbuf_char(&field, ')');
        strbuf_text(sql, is_first ? "" : ", ");
        sql_identifier(sql, sql_identifier_name(arena, str_slice(member, 0, name)));
        strbuf_text(sql, " := ");
        write_value(sql, str_trim(str_skip(member, name)), strbuf_copy(&field, arena), depth, arena);
        members = end < members.size ? str_skip(members, end + 1) : STR_EMPTY;
    }
    strbuf_text(sql, ") END");
}

static void write_list(StrBuf *sql, Str element, Str value, size_t depth, Arena *arena) {
    Str item = str_format(arena, "item%zu", depth);
    strbuf_format(sql, "list_transform(" STR_FMT ", lambda " STR_FMT ": ", STR_ARG(value), STR_ARG(item));
    write_value(sql, element, item, depth + 1, arena);
    strbuf_char(sql, ')');
}

/* Unlike a list, an array does not quote the texts in it. */
static void write_array(StrBuf *sql, Str type, Str value, size_t depth, Arena *arena) {
    strbuf_text(sql, "CAST(");
    write_list(sql, str_slice(type, 0, str_find_last_char(type, '[')), value, depth, arena);
    strbuf_text(sql, " AS ");
    for (size_t at = str_find(type, zoned); at != STR_NOT_FOUND; at = str_find(type, zoned)) {
        strbuf_append(sql, str_slice(type, 0, at));
        strbuf_text(sql, "VARCHAR");
        type = str_skip(type, at + zoned.size);
    }
    strbuf_append(sql, type);
    strbuf_char(sql, ')');
}

static void write_map(StrBuf *sql, Str members, Str value, size_t depth, Arena *arena) {
    size_t end = member_end(members);
    Str entry = str_format(arena, "STRUCT(key " STR_FMT ", value " STR_FMT ")", STR_ARG(str_slice(members, 0, end)),
                           STR_ARG(str_trim(str_skip(members, end + 1))));
    strbuf_format(sql, "CASE WHEN " STR_FMT " IS NOT NULL THEN map_from_entries(", STR_ARG(value));
    write_list(sql, entry, str_format(arena, "map_entries(" STR_FMT ")", STR_ARG(value)), depth, arena);
    strbuf_text(sql, ") END");
}

static void write_instant(StrBuf *sql, Str value) {
    strbuf_format(sql,
                  "CASE WHEN isfinite(" STR_FMT ") THEN CAST(" STR_FMT " AT TIME ZONE 'UTC' AS VARCHAR) || '+00' "
                  "ELSE CAST(" STR_FMT " AS VARCHAR) END",
                  STR_ARG(value), STR_ARG(value), STR_ARG(value));
}

static bool take_members(Str type, Str head, Str *members_out) {
    bool is_taken = str_starts_with(type, head) && str_ends_with(type, STR(")"));
    *members_out = is_taken ? str_slice(type, head.size, type.size - 1) : STR_EMPTY;
    return is_taken;
}

static void write_value(StrBuf *sql, Str type, Str value, size_t depth, Arena *arena) {
    Str members;
    if (str_find(type, zoned) == STR_NOT_FOUND || str_starts_with(type, STR("UNION("))) {
        strbuf_append(sql, value);
    } else if (str_ends_with(type, STR("]")) && !str_ends_with(type, STR("[]"))) {
        write_array(sql, type, value, depth, arena);
    } else if (str_ends_with(type, STR("[]"))) {
        write_list(sql, str_slice(type, 0, str_find_last_char(type, '[')), value, depth, arena);
    } else if (take_members(type, STR("STRUCT("), &members)) {
        write_struct(sql, members, value, depth, arena);
    } else if (take_members(type, STR("MAP("), &members)) {
        write_map(sql, members, value, depth, arena);
    } else {
        write_instant(sql, value);
    }
}

void time_utc_text(StrBuf *sql, Str type, Str value, Arena *arena) {
    strbuf_text(sql, "CAST(");
    write_value(sql, type, value, 0, arena);
    strbuf_text(sql, " AS VARCHAR)");
}
