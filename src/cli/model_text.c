#include "cli/model_text.h"

StrVec model_upstream_names(const Project *project, const Model *model, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < model->upstreams.count; i++) {
        str_vec_push(arena, &names, project->models[model->upstreams.items[i]]->name);
    }
    return names;
}

Str model_upstream_text(const Project *project, const Model *model, Arena *arena) {
    StrVec names = model_upstream_names(project, model, arena);
    return str_join(arena, names.items, names.count, STR(", "));
}

bool project_uses_several_engines(const Project *project) {
    for (size_t i = 1; i < project->model_count; i++) {
        if (!str_equal(project->models[i]->engine, project->models[0]->engine)) {
            return true;
        }
    }
    return false;
}

Str number_text(Arena *arena, int64_t number) {
    Str digits = str_format(arena, "%lld", (long long)number);
    size_t sign_size = number < 0;
    AUTO(strbuf) StrBuf out = {0};
    for (size_t i = 0; i < digits.size; i++) {
        bool starts_group = i > sign_size && (digits.size - i) % 3 == 0;
        if (starts_group) {
            strbuf_char(&out, ',');
        }
        strbuf_char(&out, digits.ptr[i]);
    }
    return strbuf_copy(&out, arena);
}

static void append_count(Arena *arena, char sign, int64_t rows, StrBuf *out) {
    if (rows > 0) {
        strbuf_text(out, strbuf_str(out).size > 0 ? " " : "");
        strbuf_char(out, sign);
        strbuf_append(out, number_text(arena, rows));
    }
}

Str row_count_text(Arena *arena, const RowCounts *rows) {
    AUTO(strbuf) StrBuf text = {0};
    append_count(arena, '+', rows->inserted, &text);
    append_count(arena, '~', rows->updated, &text);
    append_count(arena, '-', rows->deleted, &text);
    return strbuf_copy(&text, arena);
}

static void write_columns(const Model *model, JsonWriter *writer) {
    json_key(writer, STR("columns"));
    json_begin_array(writer);
    for (size_t i = 0; i < model->contract.count; i++) {
        const ContractColumn *column = &model->contract.items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("name"), column->name);
        json_optional_text_field(writer, STR("type"), column->type);
        json_end_object(writer);
    }
    json_end_array(writer);
}

void model_write_fields(const Project *project, const Model *model, Arena *arena, JsonWriter *writer) {
    StrVec upstreams = model_upstream_names(project, model, arena);
    json_text_field(writer, STR("name"), model->name);
    json_text_field(writer, STR("output"), str_from(materialise_name(model->materialise)));
    json_text_field(writer, STR("strategy"), str_from(strategy_name(model->strategy)));
    json_text_field(writer, STR("engine"), model->engine);
    json_text_list_field(writer, STR("depends_on"), upstreams.items, upstreams.count);
    json_text_field(writer, STR("language"), model->kind == MODEL_SQL ? STR("sql") : STR("python"));
    json_text_list_field(writer, STR("tags"), model->tags.items, model->tags.count);
    json_optional_text_field(writer, STR("owner"), model->owner);
    json_optional_text_field(writer, STR("description"), model->description);
    json_key(writer, STR("schedule"));
    if (model->schedule == NULL) {
        json_null(writer);
    } else {
        json_config(writer, model->schedule);
    }
    json_text_field(writer, STR("fingerprint"), model->fingerprint);
    json_text_field(writer, STR("file"), model->place.file);
    write_columns(model, writer);
}
