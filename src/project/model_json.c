/* The JSON parts that fingerprints hash (spec 03 §1): compact, keys sorted, defaults written out, so that writing a
 * default into a block changes nothing. */
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

/* The watched inputs that the model's own query reads, each once: name to digest of the files. */
static void write_inputs(JsonWriter *json, const ProjectLoad *load, const Model *model) {
    const InputConfigVec *inputs = &load->config->inputs;
    StrVec pairs = {0}; /* name=digest */
    for (size_t i = 0; i < inputs->count; i++) {
        if (load->input_digests.items[i].size > 0 && model_reads_input(model, i)) {
            str_vec_push(load->arena, &pairs,
                         str_format(load->arena, STR_FMT "=" STR_FMT, STR_ARG(inputs->items[i].name),
                                    STR_ARG(load->input_digests.items[i])));
        }
    }
    str_vec_sort(&pairs);
    json_begin_object(json);
    for (size_t i = 0; i < pairs.count; i++) {
        size_t split = str_find_char(pairs.items[i], '=');
        json_text_field(json, str_slice(pairs.items[i], 0, split), str_skip(pairs.items[i], split + 1));
    }
    json_end_object(json);
}

/* Nothing of a name, a path or a machine is in here. Keys in byte order. */
static void write_config(JsonWriter *json, const ProjectLoad *load, const Model *model) {
    json_begin_object(json);
    json_optional_text_field(json, STR("clock"), model->clock);
    list_field(json, STR("clock_columns"), &model->clock_columns);
    json_optional_text_field(json, STR("cursor"), model->cursor);
    json_text_field(json, STR("dialect"), model->dialect);
    json_text_field(json, STR("engine"), model->engine);
    list_field(json, STR("environments"), &model->environments);
    json_optional_text_field(json, STR("format"), model->format);
    json_key(json, STR("inputs"));
    write_inputs(json, load, model);
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
    json_begin_object(json);
    config_field(json, STR("constraints"), model->constraints);
    config_field(json, STR("indexes"), model->indexes);
    config_field(json, STR("schema"), model->schema_policy);
    json_end_object(json);
}

/* ---- Models that declare nothing of a part share its text: most of a large project does. */

/* Nothing but engine, dialect and how it is materialised would be in its config; inputs would be. */
static bool has_plain_config(const ProjectLoad *load, const Model *model) {
    return load->config->inputs.count == 0 && model->strategy == STRATEGY_REPLACE && !model_is_terminal(model) &&
           model->key.count == 0 && model->cursor.size == 0;
}

static bool has_plain_metadata(const Model *model) {
    return model->checks.count == 0 && !model->has_contract && model->description.size == 0 && model->owner.size == 0 &&
           model->tags.count == 0;
}

/* The last plain model of each kind whose parts were written. */
typedef struct PlainParts {
    const Model *config[MATERIALISE_COUNT];
    const Model *metadata;
} PlainParts;

static bool shares_config(const ProjectLoad *load, const Model *model, const Model *other) {
    return other != NULL && has_plain_config(load, model) && str_equal(model->engine, other->engine) &&
           str_equal(model->dialect, other->dialect);
}

typedef struct PartWriter {
    const ProjectLoad *load;
    const Project *project;
    StrBuf *text; /* of the part that is being written */
    PlainParts plain;
} PartWriter;

static JsonWriter begin_part(PartWriter *writer) {
    JsonWriter json;
    strbuf_clear(writer->text);
    json_writer_init(&json, writer->text, JSON_COMPACT);
    return json;
}

static Str end_part(PartWriter *writer) {
    return strbuf_copy(writer->text, writer->project->arena);
}

static void write_config_part(PartWriter *writer, Model *model) {
    const Model **plain = &writer->plain.config[model->materialise];
    if (shares_config(writer->load, model, *plain)) {
        model->config_json = (*plain)->config_json;
        return;
    }
    JsonWriter json = begin_part(writer);
    write_config(&json, writer->load, model);
    model->config_json = end_part(writer);
    if (has_plain_config(writer->load, model)) {
        *plain = model;
    }
}

static void write_metadata_part(PartWriter *writer, Model *model) {
    bool is_plain = has_plain_metadata(model);
    if (is_plain && writer->plain.metadata != NULL) {
        model->metadata_json = writer->plain.metadata->metadata_json;
        return;
    }
    JsonWriter json = begin_part(writer);
    write_metadata(&json, writer->project, model);
    model->metadata_json = end_part(writer);
    if (is_plain) {
        writer->plain.metadata = model;
    }
}

static void write_physical_part(PartWriter *writer, Model *model) {
    model->physical_json = STR_EMPTY;
    if (is_given(model->indexes) || is_given(model->constraints) || is_given(model->schema_policy)) {
        JsonWriter json = begin_part(writer);
        write_physical(&json, model);
        model->physical_json = end_part(writer);
    }
}

void project_write_json_parts(ProjectLoad *load) {
    AUTO(strbuf) StrBuf text = {0};
    PartWriter writer = {.load = load, .project = load->project, .text = &text};
    for (size_t i = 0; i < load->project->model_count; i++) {
        write_config_part(&writer, load->project->models[i]);
        write_metadata_part(&writer, load->project->models[i]);
        write_physical_part(&writer, load->project->models[i]);
    }
}
