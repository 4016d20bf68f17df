#include "project/physical_objects.h"

#include "base/hash.h"
#include "config/dsn.h"
#include "config/json_writer.h"
#include "config/scalar.h"
#include "project/model_refusal.h"

#define NAME_SIZE_MAX 63 /* the shortest limit among the engines: PostgreSQL's */
#define HASH_DIGITS 8

/* ---- Kinds and places */

typedef enum Enforcement { CREATED, AS_INDEX, NOT_ENFORCED } Enforcement;

typedef struct KindRow {
    Str name;           /* in the record; of constraints also in the declaration */
    const char *word;   /* in the plan */
    const char *prefix; /* of the generated name */
    Enforcement at[PLACE_COUNT];
} KindRow;

/* clang-format off */
static const KindRow kinds[] = {
    /*                                                                            DuckDB        DuckLake      PostgreSQL */
    [PHYSICAL_INDEX]        = {STR_INIT("index"),        "index",      "",       {CREATED,      NOT_ENFORCED, CREATED}},
    [PHYSICAL_UNIQUE_INDEX] = {STR_INIT("unique_index"), "index",      "uniq__", {CREATED,      NOT_ENFORCED, CREATED}},
    [PHYSICAL_PRIMARY_KEY]  = {STR_INIT("primary_key"),  "constraint", "pk",     {AS_INDEX,     NOT_ENFORCED, CREATED}},
    [PHYSICAL_UNIQUE]       = {STR_INIT("unique"),       "constraint", "uniq__", {AS_INDEX,     NOT_ENFORCED, CREATED}},
    [PHYSICAL_NOT_NULL]     = {STR_INIT("not_null"),     "constraint", "nn__",   {CREATED,      CREATED,      CREATED}},
    [PHYSICAL_CHECK]        = {STR_INIT("check"),        "constraint", "chk__",  {NOT_ENFORCED, NOT_ENFORCED, CREATED}},
    [PHYSICAL_FOREIGN_KEY]  = {STR_INIT("foreign_key"),  "constraint", "fk__",   {AS_INDEX,     NOT_ENFORCED, CREATED}},
};
/* clang-format on */
static_assert(COUNT_OF(kinds) == PHYSICAL_KIND_COUNT, "one row per PhysicalKind");

static const char *const place_names[] = {
    [PLACE_DUCKDB] = "DuckDB", [PLACE_DUCKLAKE] = "DuckLake", [PLACE_POSTGRES] = "PostgreSQL"};
static_assert(COUNT_OF(place_names) == PLACE_COUNT, "one name per PhysicalPlace");

static bool find_kind(Str name, PhysicalKind *kind_out) {
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (str_equal(kinds[i].name, name)) {
            *kind_out = (PhysicalKind)i;
            return true;
        }
    }
    return false;
}

const char *physical_kind_word(PhysicalKind kind) {
    return kinds[kind].word;
}

PhysicalPlace physical_place(const Project *project, const Model *model) {
    const EngineConfig *engine = project_config_engine(project->config, model->engine);
    if (model->materialise != MATERIALISE_TABLE) {
        return str_equal(engine->type, STR("ducklake")) ? PLACE_DUCKLAKE : PLACE_DUCKDB;
    }
    Str alias = str_slice(model->target, 0, str_find_char(model->target, '.'));
    for (size_t i = 0; i < engine->attach.count; i++) {
        if (str_equal_fold(engine->attach.items[i].alias, alias) && dsn_is_postgres(engine->attach.items[i].uri)) {
            return PLACE_POSTGRES;
        }
    }
    return PLACE_DUCKDB;
}

/* ---- Names */

static Str shorten(Str name, Arena *arena) {
    if (name.size <= NAME_SIZE_MAX) {
        return name;
    }
    Str hash = str_slice(sha256_hex(arena, name), 0, HASH_DIGITS);
    Str head = str_slice(name, 0, NAME_SIZE_MAX - HASH_DIGITS - 2);
    return str_format(arena, STR_FMT "__" STR_FMT, STR_ARG(head), STR_ARG(hash));
}

static Str generated_name(const Model *model, const PhysicalObject *object, Arena *arena) {
    Str columns = str_join(arena, object->columns.items, object->columns.count, STR("__"));
    Str suffix = columns;
    if (object->kind == PHYSICAL_PRIMARY_KEY) {
        suffix = STR_EMPTY;
    } else if (object->kind == PHYSICAL_CHECK) {
        suffix = str_slice(sha256_hex(arena, object->expression), 0, HASH_DIGITS);
    }
    return shorten(str_format(arena, "il__" STR_FMT "__%s" STR_FMT, STR_ARG(model->base), kinds[object->kind].prefix,
                              STR_ARG(suffix)),
                   arena);
}

Str physical_created_name(const PhysicalObject *object, Str table, bool is_owned, Arena *arena) {
    if (!is_owned) {
        return object->name;
    }
    Str hash = str_slice(sha256_hex(arena, table), 0, HASH_DIGITS);
    return shorten(str_format(arena, STR_FMT "__" STR_FMT, STR_ARG(object->name), STR_ARG(hash)), arena);
}

/* ---- Reading the declaration, whose form was checked (project/model_physical.c) */

typedef struct ObjectReader {
    const Model *model;
    Arena *arena;
    PhysicalObjectVec *objects;
} ObjectReader;

static StrVec texts_of(const ConfigValue *value, Arena *arena) {
    StrVec texts = {0};
    if (value != NULL && value->kind == CONFIG_SCALAR) {
        str_vec_push(arena, &texts, value->text);
    }
    for (size_t i = 0; value != NULL && value->kind == CONFIG_LIST && i < value->count; i++) {
        str_vec_push(arena, &texts, value->items[i]->text);
    }
    return texts;
}

static void add_object(const ObjectReader *reader, PhysicalObject object, Str name) {
    object.name = name.size > 0 ? name : generated_name(reader->model, &object, reader->arena);
    physical_object_vec_push(reader->arena, reader->objects, object);
}

static void read_index(const ObjectReader *reader, const ConfigValue *value) {
    bool is_unique = false;
    bool is_map = value->kind == CONFIG_MAP;
    (void)scalar_to_bool(config_text(value, STR("unique")), &is_unique);
    PhysicalObject object = {
        .kind = is_unique ? PHYSICAL_UNIQUE_INDEX : PHYSICAL_INDEX,
        .columns = texts_of(is_map ? config_find(value, STR("columns")) : value, reader->arena),
    };
    add_object(reader, object, config_text(value, STR("name")));
}

static void read_not_null(const ObjectReader *reader, const StrVec *columns, Str name) {
    for (size_t i = 0; i < columns->count; i++) {
        PhysicalObject object = {.kind = PHYSICAL_NOT_NULL};
        str_vec_push(reader->arena, &object.columns, columns->items[i]);
        add_object(reader, object, name); /* a name goes with one column only */
    }
}

/* {type: parameters}, or {type: …, parameters …} */
static void read_constraint(const ObjectReader *reader, const ConfigValue *value) {
    Str type = config_text(value, STR("type"));
    const ConfigValue *parameters = type.size > 0 ? value : value->entries[0].value;
    PhysicalObject object = {0};
    if (!find_kind(type.size > 0 ? type : value->entries[0].key, &object.kind)) {
        return;
    }
    bool is_map = parameters->kind == CONFIG_MAP;
    Str name = config_text(parameters, STR("name"));
    object.columns = texts_of(is_map ? config_find(parameters, STR("columns")) : parameters, reader->arena);
    object.expression = config_text(parameters, STR("expression"));
    object.to = config_text(parameters, STR("to"));
    object.fields = texts_of(config_find(parameters, STR("fields")), reader->arena);
    if (object.kind == PHYSICAL_NOT_NULL) {
        read_not_null(reader, &object.columns, name);
    } else {
        add_object(reader, object, name);
    }
}

/* One value stands for a list of one. */
static void read_all(const ObjectReader *reader, const ConfigValue *value,
                     void (*read)(const ObjectReader *reader, const ConfigValue *value)) {
    if (value == NULL || value->kind == CONFIG_NULL) {
        return;
    }
    size_t count = value->kind == CONFIG_LIST ? value->count : 1;
    for (size_t i = 0; i < count; i++) {
        read(reader, value->kind == CONFIG_LIST ? value->items[i] : value);
    }
}

static bool is_managed(const Model *model, Str part) {
    return !str_equal(config_text(model->schema_policy, part), STR("ignore"));
}

static PhysicalObjectVec declared_objects(const Model *model, Arena *arena) {
    PhysicalObjectVec objects = {0};
    ObjectReader reader = {model, arena, &objects};
    read_all(&reader, is_managed(model, STR("indexes")) ? model->indexes : NULL, read_index);
    read_all(&reader, is_managed(model, STR("constraints")) ? model->constraints : NULL, read_constraint);
    return objects;
}

static const PhysicalObject *find_namesake(const PhysicalObjectVec *objects, size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (str_equal_fold(objects->items[i].name, objects->items[index].name)) {
            return &objects->items[i];
        }
    }
    return NULL;
}

Status physical_objects_check(const Model *model, Arena *arena, Error *err) {
    PhysicalObjectVec objects = declared_objects(model, arena);
    for (size_t i = 0; i < objects.count; i++) {
        const PhysicalObject *object = &objects.items[i], *namesake = find_namesake(&objects, i);
        if (namesake != NULL) {
            bool is_index = object->kind == PHYSICAL_INDEX || object->kind == PHYSICAL_UNIQUE_INDEX;
            Str key = is_index ? STR("indexes") : STR("constraints");
            (void)model_refuse(
                model, model_key_place(model, key), "physical.name", err,
                "two of its indexes and constraints, " STR_FMT " and " STR_FMT ", have the name '" STR_FMT "'",
                STR_ARG(kinds[namesake->kind].name), STR_ARG(kinds[object->kind].name), STR_ARG(object->name));
            error_hint(err, "give one of them another `name:`, or take it out when it says the same");
            return FAILED;
        }
    }
    return OK;
}

/* ---- What becomes of it in its place */

static void warn(const Model *model, PhysicalPlace place, const PhysicalObject *object, const char *outcome,
                 Arena *arena, StrVec *warnings) {
    str_vec_push(arena, warnings,
                 str_format(arena, "model '" STR_FMT "': %s does not enforce " STR_FMT " " STR_FMT "; %s",
                            STR_ARG(model->name), place_names[place], STR_ARG(kinds[object->kind].name),
                            STR_ARG(object->name), outcome));
}

/* DuckDB finds a duplicate where a transaction deletes rows and updates others, and a unique index stands beside
 * another one: full_merge does just that. */
static void warn_of_unique(const Model *model, PhysicalPlace place, const PhysicalObjectVec *objects, Arena *arena,
                           StrVec *warnings) {
    bool is_full_merge = model->strategy == STRATEGY_FULL_MERGE && place == PLACE_DUCKDB;
    for (size_t i = 0; is_full_merge && objects->count > 1 && i < objects->count; i++) {
        if (objects->items[i].kind == PHYSICAL_UNIQUE_INDEX) {
            str_vec_push(
                arena, warnings,
                str_format(arena,
                           "model '" STR_FMT "': full_merge may fail over the unique index " STR_FMT
                           " beside another one, with a duplicate that is none; declare a check `unique` instead",
                           STR_ARG(model->name), STR_ARG(objects->items[i].name)));
        }
    }
}

void physical_objects_wanted(const Project *project, const Model *model, Arena *arena, PhysicalObjectVec *objects_out,
                             StrVec *warnings_out) {
    bool has_table = model->materialise == MATERIALISE_VIRTUAL || model->materialise == MATERIALISE_TABLE;
    PhysicalObjectVec declared = has_table ? declared_objects(model, arena) : (PhysicalObjectVec){0};
    PhysicalPlace place = physical_place(project, model);
    PhysicalObjectVec objects = {0};
    StrVec warnings = {0};
    for (size_t i = 0; i < declared.count; i++) {
        PhysicalObject object = declared.items[i];
        Enforcement enforcement = kinds[object.kind].at[place];
        if (enforcement == NOT_ENFORCED) {
            warn(model, place, &object, "nothing is created for it", arena, &warnings);
            continue;
        }
        if (enforcement == AS_INDEX) {
            warn(model, place, &object, "a plain index is created in its place", arena, &warnings);
            object = (PhysicalObject){.kind = PHYSICAL_INDEX, .name = object.name, .columns = object.columns};
        }
        physical_object_vec_push(arena, &objects, object);
    }
    warn_of_unique(model, place, &objects, arena, &warnings);
    *objects_out = objects;
    *warnings_out = warnings;
}

/* ---- The record */

Str physical_objects_to_json(const PhysicalObjectVec *objects, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_array(&json);
    for (size_t i = 0; i < objects->count; i++) {
        const PhysicalObject *object = &objects->items[i];
        json_begin_object(&json);
        json_text_field(&json, STR("kind"), kinds[object->kind].name);
        json_text_field(&json, STR("name"), object->name);
        json_text_list_field(&json, STR("columns"), object->columns.items, object->columns.count);
        json_text_field(&json, STR("expression"), object->expression);
        json_text_field(&json, STR("to"), object->to);
        json_text_list_field(&json, STR("fields"), object->fields.items, object->fields.count);
        json_bool_field(&json, STR("found"), object->is_found);
        json_end_object(&json);
    }
    json_end_array(&json);
    return strbuf_copy(&text, arena);
}

void physical_objects_from_json(Str json, Arena *arena, PhysicalObjectVec *objects_out) {
    PhysicalObjectVec objects = {0};
    ConfigValue *list = NULL;
    AUTO(error) Error ignored; /* the header says what an unreadable record means */
    error_init(&ignored);
    bool is_read = json.size > 0 && !failed(json_read(json, STR("physical objects"), arena, &list, &ignored));
    for (size_t i = 0; is_read && list->kind == CONFIG_LIST && i < list->count; i++) {
        const ConfigValue *map = list->items[i];
        PhysicalObject object = {
            .name = config_text(map, STR("name")),
            .columns = texts_of(config_find(map, STR("columns")), arena),
            .expression = config_text(map, STR("expression")),
            .to = config_text(map, STR("to")),
            .fields = texts_of(config_find(map, STR("fields")), arena),
            .is_found = str_equal(config_text(map, STR("found")), STR("true")),
        };
        if (find_kind(config_text(map, STR("kind")), &object.kind)) {
            physical_object_vec_push(arena, &objects, object);
        }
    }
    *objects_out = objects;
}

/* ---- Comparing */

static bool texts_equal(const StrVec *a, const StrVec *b) {
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        equal = str_equal(a->items[i], b->items[i]);
    }
    return equal;
}

bool physical_object_equal(const PhysicalObject *a, const PhysicalObject *b) {
    return a->kind == b->kind && str_equal(a->name, b->name) && str_equal(a->expression, b->expression) &&
           str_equal(a->to, b->to) && texts_equal(&a->columns, &b->columns) && texts_equal(&a->fields, &b->fields);
}

PhysicalObjectVec physical_objects_without(const PhysicalObjectVec *objects, const PhysicalObjectVec *others,
                                           Arena *arena) {
    PhysicalObjectVec left = {0};
    for (size_t i = 0; i < objects->count; i++) {
        bool is_found = false;
        for (size_t k = 0; k < others->count; k++) {
            is_found = is_found || physical_object_equal(&objects->items[i], &others->items[k]);
        }
        if (!is_found) {
            physical_object_vec_push(arena, &left, objects->items[i]);
        }
    }
    return left;
}
