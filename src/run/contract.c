#include "run/contract.h"

#include "config/json_writer.h"
#include "plan/plan_history.h"

/* Spellings of one type; the last word of a row is the engine's own. */
static const struct TypeSynonym {
    const char *written, *canonical;
} type_synonyms[] = {
    {"INT", "INTEGER"},
    {"INT4", "INTEGER"},
    {"SIGNED", "INTEGER"},
    {"INT8", "BIGINT"},
    {"LONG", "BIGINT"},
    {"INT2", "SMALLINT"},
    {"SHORT", "SMALLINT"},
    {"INT1", "TINYINT"},
    {"TEXT", "VARCHAR"},
    {"STRING", "VARCHAR"},
    {"CHAR", "VARCHAR"},
    {"BPCHAR", "VARCHAR"},
    {"FLOAT8", "DOUBLE"},
    {"DOUBLEPRECISION", "DOUBLE"},
    {"FLOAT4", "FLOAT"},
    {"REAL", "FLOAT"},
    {"BOOL", "BOOLEAN"},
    {"LOGICAL", "BOOLEAN"},
    {"TIMESTAMPTZ", "TIMESTAMPWITHTIMEZONE"},
    {"DATETIME", "TIMESTAMP"},
    {"TIMESTAMPWITHOUTTIMEZONE", "TIMESTAMP"},
    {"BYTEA", "BLOB"},
    {"BINARY", "BLOB"},
    {"VARBINARY", "BLOB"},
    {"DECIMAL", "DECIMAL(18,3)"},
    {"NUMERIC", "DECIMAL(18,3)"},
};

/* Upper case without blanks, a leading NUMERIC( as DECIMAL(, then by the table. */
static Str canonical_type(Str type, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < type.size; i++) {
        char c = type.ptr[i];
        if (c != ' ') {
            strbuf_char(&text, c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
        }
    }
    Str upper = strbuf_copy(&text, arena);
    for (size_t i = 0; i < COUNT_OF(type_synonyms); i++) {
        if (str_equal(upper, str_from(type_synonyms[i].written))) {
            return str_from(type_synonyms[i].canonical);
        }
    }
    if (str_starts_with(upper, STR("NUMERIC("))) {
        return str_format(arena, "DECIMAL(" STR_FMT, STR_ARG(str_skip(upper, STR("NUMERIC(").size)));
    }
    return upper;
}

static void collect_faults(const Model *model, const DuckColumnVec *columns, Arena *arena, StrVec *missing,
                           StrVec *mismatched) {
    for (size_t i = 0; i < model->contract.count; i++) {
        const ContractColumn *wanted = &model->contract.items[i];
        const DuckColumn *found = duck_column_find(columns, wanted->name);
        if (found == NULL) {
            str_vec_push(arena, missing, wanted->name);
        } else if (wanted->type.size > 0 &&
                   !str_equal(canonical_type(wanted->type, arena), canonical_type(found->type, arena))) {
            str_vec_push(arena, mismatched,
                         str_format(arena, STR_FMT " is " STR_FMT ", expected " STR_FMT, STR_ARG(wanted->name),
                                    STR_ARG(found->type), STR_ARG(wanted->type)));
        }
    }
}

Status contract_check(const Model *model, const DuckColumnVec *columns, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StrVec missing = {0}, mismatched = {0};
    collect_faults(model, columns, arena, &missing, &mismatched);
    if (missing.count == 0 && mismatched.count == 0) {
        return OK;
    }
    AUTO(strbuf) StrBuf text = {0};
    if (missing.count > 0) {
        Str list = str_join(arena, missing.items, missing.count, STR(", "));
        strbuf_format(&text, "is missing contracted column(s): " STR_FMT, STR_ARG(list));
    }
    if (mismatched.count > 0) {
        Str list = str_join(arena, mismatched.items, mismatched.count, STR("; "));
        strbuf_format(&text, "%sbreaks its contract: column " STR_FMT, missing.count > 0 ? ", and " : "",
                      STR_ARG(list));
    }
    return error_set_at(err, ERROR_SCHEMA, model->place, "model '" STR_FMT "' " STR_FMT, STR_ARG(model->name),
                        STR_ARG(strbuf_str(&text)));
}

Str columns_to_json(const DuckColumnVec *columns, Arena *arena) {
    AUTO(strbuf) StrBuf out = {0};
    JsonWriter writer;
    json_writer_init(&writer, &out, JSON_COMPACT);
    json_begin_array(&writer);
    for (size_t i = 0; i < columns->count; i++) {
        json_begin_object(&writer);
        json_text_field(&writer, STR("name"), columns->items[i].name);
        json_text_field(&writer, STR("type"), columns->items[i].type);
        json_end_object(&writer);
    }
    json_end_array(&writer);
    return strbuf_copy(&out, arena);
}

Status columns_from_json(Str json, Arena *arena, DuckColumnVec *columns_out, Error *err) {
    return plan_recorded_columns(&(Snapshot){.columns_json = json}, arena, columns_out, NULL, err);
}
