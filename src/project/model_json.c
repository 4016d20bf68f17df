/* The JSON parts that fingerprints hash (spec 03 §1): compact, keys sorted, defaults written out, so that writing a default
 * into a block changes nothing. */
#include "project/project_load.h"

#include "config/json_writer.h"

static void config_field(JsonWriter *json, Str key, const ConfigValue *value) {
    json_key(json, key);
    if (value == NULL || value->kind == CONFIG_NULL || (value->kind != CONFIG_SCALAR && value->count == 0)) {
        json_null(json);
        return;
    }
    json_config(json, value);
}

static void list_field(JsonWriter *json, Str key, const StrVec *list) {
    json_text_list_field(json, key, list->items, list->count);
}

/* Nothing of a name, a path or a machine is in here. Keys in byte order. */
static void write_config(JsonWriter *json, const Model *model) {
    json_begin_object(json);
    json_optional_text_field(json, STR("clock"), model->clock);
    list_field(json, STR("clock_columns"), &model->clock_columns);
    json_optional_text_field(json, STR("cursor"), model->cursor);
    json_text_field(json, STR("dialect"), model->dialect);
    json_text_field(json, STR("engine"), model->engine);
    list_field(json, STR("environments"), &model->environments);
    json_optional_text_field(json, STR("format"), model->format);
    json_key(json, STR("inputs"));
    json_begin_object(json);
    json_end_object(json);
    json_optional_text_field(json, STR("interval"), model->interval);
    list_field(json, STR("key"), &model->key);
    json_text_field(json, STR("materialise"), str_from(materialise_name(model->materialise)));
    config_field(json, STR("options"), model->options);
    json_optional_text_field(json, STR("path"), model->path);
    config_field(json, STR("reads"), model->reads);
    json_text_field(json, STR("strategy"), str_from(strategy_name(model->strategy)));
    json_optional_text_field(json, STR("target"), model->target);
    json_optional_text_field(json, STR("time_column"), model->time_column);
    json_end_object(json);
}

static void given_text_field(JsonWriter *json, Str key, Str text) {
    if (text.size > 0) {
        json_text_field(json, key, text);
    }
}

static void given_config_field(JsonWriter *json, Str key, const ConfigValue *value) {
    if (value != NULL) {
        json_key(json, key);
        json_config(json, value);
    }
}

static void write_check_parameters(JsonWriter *json, const Project *project, const Check *check) {
    json_begin_object(json);
    given_text_field(json, STR("expression"), check->expression);
    given_text_field(json, STR("field"), check->field);
    given_config_field(json, STR("max"), check->maximum);
    if (check->type == CHECK_FRESHNESS) {
        json_int_field(json, STR("max_age_us"), check->max_age_us);
    }
    given_config_field(json, STR("min"), check->minimum);
    given_text_field(json, STR("query"), check->query);
    given_text_field(json, STR("regex"), check->regex);
    if (check->to != MODEL_NONE) {
        json_text_field(json, STR("to"), project->models[check->to]->name);
    }
    given_config_field(json, STR("values"), check->values);
    given_text_field(json, STR("where"), check->where);
    json_end_object(json);
}

static void write_check(JsonWriter *json, const Project *project, const Check *check) {
    json_begin_object(json);
    json_text_list_field(json, STR("columns"), check->columns.items, check->columns.count);
    json_optional_text_field(json, STR("description"), check->description);
    json_text_field(json, STR("name"), check->name);
    json_key(json, STR("params"));
    write_check_parameters(json, project, check);
    json_text_field(json, STR("severity"), str_from(check_severity_name(check->severity)));
    json_text_field(json, STR("type"), str_from(check_type_name(check->type)));
    json_end_object(json);
}

static void write_contract(JsonWriter *json, const Model *model) {
    json_key(json, STR("columns"));
    if (!model->has_contract) {
        json_null(json);
        return;
    }
    json_begin_array(json);
    for (size_t i = 0; i < model->contract.count; i++) {
        json_begin_object(json);
        json_text_field(json, STR("name"), model->contract.items[i].name);
        json_optional_text_field(json, STR("type"), model->contract.items[i].type);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_metadata(JsonWriter *json, const Project *project, const Model *model) {
    json_begin_object(json);
    json_key(json, STR("checks"));
    json_begin_array(json);
    for (size_t i = 0; i < model->checks.count; i++) {
        write_check(json, project, model->checks.items[i]);
    }
    json_end_array(json);
    write_contract(json, model);
    json_optional_text_field(json, STR("description"), model->description);
    json_optional_text_field(json, STR("owner"), model->owner);
    list_field(json, STR("tags"), &model->tags);
    json_end_object(json);
}

static bool is_given(const ConfigValue *value) {
    return value != NULL && (value->kind == CONFIG_SCALAR || value->count > 0);
}

static void write_physical(JsonWriter *json, const Model *model) {
    if (!is_given(model->indexes) && !is_given(model->constraints) && !is_given(model->schema_policy)) {
        return;
    }
    json_begin_object(json);
    config_field(json, STR("constraints"), model->constraints);
    config_field(json, STR("indexes"), model->indexes);
    config_field(json, STR("schema"), model->schema_policy);
    json_end_object(json);
}

/* What a SQL file without a block declares depends on its engine alone. */
static bool is_plain(const Model *model) {
    return model->kind == MODEL_SQL && model->declaration == NULL && model->checks.count == 0;
}

static bool shares_parts(const Model *model, const Model *other) {
    return other != NULL && is_plain(model) && str_equal(model->engine, other->engine) &&
           str_equal(model->dialect, other->dialect);
}

static void write_parts(const Project *project, Model *model, StrBuf *text) {
    JsonWriter json;
    strbuf_clear(text);
    json_writer_init(&json, text, JSON_COMPACT);
    write_config(&json, model);
    model->config_json = strbuf_copy(text, project->arena);

    strbuf_clear(text);
    json_writer_init(&json, text, JSON_COMPACT);
    write_metadata(&json, project, model);
    model->metadata_json = strbuf_copy(text, project->arena);

    strbuf_clear(text);
    json_writer_init(&json, text, JSON_COMPACT);
    write_physical(&json, model);
    model->physical_json = strbuf_copy(text, project->arena);
}

void project_write_json_parts(ProjectLoad *load) {
    AUTO(strbuf) StrBuf text = {0};
    const Project *project = load->project;
    const Model *plain = NULL; /* the last one whose parts were written */
    for (size_t i = 0; i < project->model_count; i++) {
        Model *model = project->models[i];
        if (shares_parts(model, plain)) {
            model->config_json = plain->config_json;
            model->metadata_json = plain->metadata_json;
            model->physical_json = plain->physical_json;
            continue;
        }
        write_parts(project, model, &text);
        if (is_plain(model)) {
            plain = model;
        }
    }
}
