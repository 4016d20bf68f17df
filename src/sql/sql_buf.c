#include "sql/sql_buf.h"

/* `text` between quotes, each of its own quotes doubled. */
static void append_quoted(StrBuf *sql, Str text, char quote) {
    strbuf_reserve(sql, text.size + 2);
    strbuf_char(sql, quote);
    for (size_t i = 0; i < text.size; i++) {
        if (text.ptr[i] == quote) {
            strbuf_char(sql, quote);
        }
        strbuf_char(sql, text.ptr[i]);
    }
    strbuf_char(sql, quote);
}

void sql_identifier(StrBuf *sql, Str name) {
    append_quoted(sql, name, '"');
}

void sql_relation(StrBuf *sql, SqlRelation relation) {
    const Str qualifiers[] = {relation.catalog, relation.schema};
    for (size_t i = 0; i < COUNT_OF(qualifiers); i++) {
        if (qualifiers[i].size > 0) {
            sql_identifier(sql, qualifiers[i]);
            strbuf_char(sql, '.');
        }
    }
    sql_identifier(sql, relation.name);
}

bool sql_relation_equal(SqlRelation a, SqlRelation b) {
    return str_equal_fold(a.catalog, b.catalog) && str_equal_fold(a.schema, b.schema) && str_equal_fold(a.name, b.name);
}

Str sql_dotted_name(SqlRelation relation, Arena *arena) {
    const Str parts[] = {relation.catalog, relation.schema, relation.name};
    size_t first = relation.catalog.size > 0 ? 0 : relation.schema.size > 0 ? 1 : 2;
    return str_join(arena, parts + first, COUNT_OF(parts) - first, STR("."));
}

void sql_literal(StrBuf *sql, Str text) {
    append_quoted(sql, text, '\'');
}

void sql_identifier_list(StrBuf *sql, const Str *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            strbuf_text(sql, ", ");
        }
        sql_identifier(sql, names[i]);
    }
}

void sql_remote_call(StrBuf *sql, const char *function, Str alias, Str statement) {
    strbuf_format(sql, "%s(", function);
    sql_literal(sql, alias);
    strbuf_text(sql, ", ");
    sql_literal(sql, statement);
    strbuf_char(sql, ')');
}
