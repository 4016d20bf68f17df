#include "project/model_key_readers.h"

#include "base/clock.h"
#include "config/scalar.h"
#include "project/graph.h"
#include "project/model_refusal.h"

Status key_refuse(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err,
                  const char *format, ...) {
    AUTO(strbuf) StrBuf text = {0};
    va_list arguments;
    va_start(arguments, format);
    strbuf_format_v(&text, format, arguments);
    va_end(arguments);
    return model_refuse(reader->model, model_place_of(reader->model, value->place), "key.value", err,
                        "key '" STR_FMT "' %s", STR_ARG(key->name), strbuf_c(&text));
}

Status key_text(const ModelReader *reader, const ModelKey *key, const char *what, const ConfigValue *value,
                Str *text_out, Error *err) {
    if (value->kind != CONFIG_SCALAR) {
        return key_refuse(reader, key, value, err, "must have a text %s, not %s", what, config_kind_name(value->kind));
    }
    if (value->text.size == 0) {
        return key_refuse(reader, key, value, err, "must not have an empty text %s", what);
    }
    *text_out = value->text;
    return OK;
}

Status key_list(const ModelReader *reader, const ModelKey *key, const char *what, const ConfigValue *value,
                StrVec *list_out, Error *err) {
    StrVec list = {0};
    if (value->kind == CONFIG_MAP) {
        return key_refuse(reader, key, value, err, "must be a text or a list of texts, not a map");
    }
    bool is_list = value->kind == CONFIG_LIST;
    size_t count = is_list ? value->count : 1;
    for (size_t i = 0; i < count; i++) {
        Str text;
        TRY(key_text(reader, key, what, is_list ? value->items[i] : value, &text, err));
        str_vec_push(reader->arena, &list, text);
    }
    *list_out = list;
    return OK;
}

Status key_known(const ModelReader *reader, const ModelKey *key, const ConfigValue *map, const Str *known,
                 size_t known_count, Error *err) {
    if (map->kind != CONFIG_MAP) {
        return key_refuse(reader, key, map, err, "must hold a map here, not %s", config_kind_name(map->kind));
    }
    for (size_t i = 0; i < map->count; i++) {
        const ConfigEntry *entry = &map->entries[i];
        bool is_known = false;
        for (size_t k = 0; k < known_count && !is_known; k++) {
            is_known = str_equal(known[k], entry->key);
        }
        if (is_known) {
            continue;
        }
        const Str *nearest = str_nearest(entry->key, known, known_count);
        Str all = str_join(reader->arena, known, known_count, STR(", "));
        model_refuse(reader->model, model_place_of(reader->model, entry->place), "key.unknown", err,
                     "key '" STR_FMT "' has no '" STR_FMT "'; it takes " STR_FMT, STR_ARG(key->name),
                     STR_ARG(entry->key), STR_ARG(all));
        if (nearest != NULL) {
            error_hint(err, "did you mean '" STR_FMT "'?", STR_ARG(*nearest));
        }
        return FAILED;
    }
    return OK;
}

/* ---- Into a field of the model */

static void *field_of(const ModelReader *reader, const ModelKey *key) {
    return (char *)reader->model + key->field;
}

static void store_text(ModelReader *reader, const ModelKey *key, Str text) {
    if (key->field != MODEL_FIELD_NONE) {
        *(Str *)field_of(reader, key) = text;
    }
}

static void store_list(ModelReader *reader, const ModelKey *key, StrVec list) {
    if (key->field != MODEL_FIELD_NONE) {
        *(StrVec *)field_of(reader, key) = list;
    }
}

static void store_number(ModelReader *reader, const ModelKey *key, int64_t number) {
    if (key->field != MODEL_FIELD_NONE) {
        *(int64_t *)field_of(reader, key) = number;
    }
}

Status read_value(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    (void)err;
    if (key->field != MODEL_FIELD_NONE) {
        *(const ConfigValue **)field_of(reader, key) = value;
    }
    return OK;
}

Status read_text(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    if (value->kind != CONFIG_SCALAR) {
        return key_refuse(reader, key, value, err, "must be a text, not %s", config_kind_name(value->kind));
    }
    store_text(reader, key, value->text);
    return OK;
}

Status read_word(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    TRY(read_text(reader, key, value, err));
    return value->text.size > 0 ? OK : key_refuse(reader, key, value, err, "must not be empty");
}

Status read_list(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    StrVec list;
    TRY(key_list(reader, key, "in it", value, &list, err));
    store_list(reader, key, list);
    return OK;
}

static Status refuse_repeats(const ModelReader *reader, const ModelKey *key, const ConfigValue *value,
                             const StrVec *list, Error *err) {
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (str_equal_fold(list->items[i], list->items[k])) {
                return key_refuse(reader, key, value, err, "names '" STR_FMT "' twice", STR_ARG(list->items[i]));
            }
        }
    }
    return OK;
}

Status read_unique_list(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    StrVec list;
    TRY(key_list(reader, key, "in it", value, &list, err));
    TRY(refuse_repeats(reader, key, value, &list, err));
    store_list(reader, key, list);
    return OK;
}

static Status read_number_from(ModelReader *reader, const ModelKey *key, const ConfigValue *value, int64_t minimum,
                               Error *err) {
    int64_t number;
    if (value->kind != CONFIG_SCALAR) {
        return key_refuse(reader, key, value, err, "must be a whole number, not %s", config_kind_name(value->kind));
    }
    if (!str_to_int64(value->text, &number) || number < minimum) {
        return key_refuse(reader, key, value, err, "must be a whole number of at least %lld, not '" STR_FMT "'",
                          (long long)minimum, STR_ARG(value->text));
    }
    store_number(reader, key, number);
    return OK;
}

Status read_count(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    return read_number_from(reader, key, value, 0, err);
}

Status read_positive(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    return read_number_from(reader, key, value, 1, err);
}

Status read_flag(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    bool flag;
    return value->kind == CONFIG_SCALAR && scalar_to_bool(value->text, &flag)
               ? OK
               : key_refuse(reader, key, value, err, "must be true or false");
}

Status read_map(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    if (value->kind != CONFIG_MAP) {
        return key_refuse(reader, key, value, err, "must be a map, not %s", config_kind_name(value->kind));
    }
    return read_value(reader, key, value, err);
}

/* ---- Words with a meaning */

Status read_name(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    return read_word(reader, key, value, err); /* its form is checked with all names: model_name.h */
}

Status read_materialise(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    reader->has_materialise = false;
    if (value->kind != CONFIG_SCALAR) {
        return key_refuse(reader, key, value, err, "must be a text, not %s", config_kind_name(value->kind));
    }
    reader->has_materialise = materialise_parse(value->text, &reader->model->materialise);
    return reader->has_materialise
               ? OK
               : model_refuse(reader->model, model_place_of(reader->model, value->place), "combo.materialise", err,
                              "materialise '" STR_FMT "' is not one of ephemeral, file, table, view, virtual",
                              STR_ARG(value->text));
}

typedef struct RenamedStrategy {
    Str old_name, new_name;
} RenamedStrategy;

/* clang-format off */
static const RenamedStrategy renamed_strategies[] = {
    {STR_INIT("full"),         STR_INIT("replace")},
    {STR_INIT("merge_by_key"), STR_INIT("merge")},
    {STR_INIT("scd_type_2"),   STR_INIT("scd")},
    {STR_INIT("scd2"),         STR_INIT("scd")},
};
/* clang-format on */

static Status refuse_strategy(const ModelReader *reader, const ConfigValue *value, Error *err) {
    SourceSpan place = model_place_of(reader->model, value->place);
    for (size_t i = 0; i < COUNT_OF(renamed_strategies); i++) {
        if (str_equal(renamed_strategies[i].old_name, value->text)) {
            return model_refuse(reader->model, place, "combo.strategy", err,
                                "strategy '" STR_FMT "' is now called " STR_FMT, STR_ARG(value->text),
                                STR_ARG(renamed_strategies[i].new_name));
        }
    }
    return model_refuse(reader->model, place, "combo.strategy", err,
                        "strategy '" STR_FMT
                        "' is not one of append, full_merge, hash_merge, incremental, merge, replace, scd",
                        STR_ARG(value->text));
}

Status read_strategy(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    reader->has_strategy = false;
    if (value->kind != CONFIG_SCALAR) {
        return key_refuse(reader, key, value, err, "must be a text, not %s", config_kind_name(value->kind));
    }
    reader->has_strategy = strategy_parse(value->text, &reader->model->strategy);
    return reader->has_strategy ? OK : refuse_strategy(reader, value, err);
}

/* ---- Grains */

static const Str grain_units[] = {STR_INIT("s"), STR_INIT("m"), STR_INIT("h"),
                                  STR_INIT("d"), STR_INIT("w"), STR_INIT("mo")};

static bool is_grain_unit(Str unit) {
    for (size_t i = 0; i < COUNT_OF(grain_units); i++) {
        if (str_equal(grain_units[i], unit)) {
            return true;
        }
    }
    return false;
}

/* Years have to be made of whole grains, or grains of whole years. */
static bool is_month_count(int64_t count) {
    return 12 % count == 0 || count % 12 == 0;
}

bool grain_normalise(Str text, Arena *arena, Str *grain_out) {
    Str grain = str_trim(text);
    size_t digits = 0;
    while (digits < grain.size && grain.ptr[digits] >= '0' && grain.ptr[digits] <= '9') {
        digits++;
    }
    Str unit = str_trim(str_skip(grain, digits));
    int64_t count;
    if (!str_to_int64(str_slice(grain, 0, digits), &count) || count < 1 || !is_grain_unit(unit)) {
        return false;
    }
    if (str_equal(unit, STR("mo")) && !is_month_count(count)) {
        return false;
    }
    *grain_out = str_format(arena, "%lld" STR_FMT, (long long)count, STR_ARG(unit));
    return true;
}

Status read_interval(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    TRY(read_word(reader, key, value, err));
    Str grain;
    if (!grain_normalise(value->text, reader->arena, &grain)) {
        return model_refuse(reader->model, model_place_of(reader->model, value->place), "grain.syntax", err,
                            "interval '" STR_FMT
                            "' is no grain: write a whole number and one of s, m, h, d, w, mo, as in `6h`",
                            STR_ARG(value->text));
    }
    store_text(reader, key, grain);
    return OK;
}

/* ---- Times and amounts */

static bool is_iso_time(Str text) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    TimeUs time_us;
    return !failed(time_parse_iso(text, &time_us, &ignored));
}

Status read_backfill(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    TRY(read_word(reader, key, value, err));
    if (str_equal(value->text, STR("auto")) || str_equal(value->text, STR("none")) || is_iso_time(value->text)) {
        return OK;
    }
    return key_refuse(reader, key, value, err, "must be auto, none, or an ISO date or timestamp, not '" STR_FMT "'",
                      STR_ARG(value->text));
}

Status read_duration(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    TRY(read_word(reader, key, value, err));
    AUTO(error) Error ignored;
    error_init(&ignored);
    int64_t duration_us;
    double seconds;
    bool is_duration = !failed(duration_parse(value->text, &duration_us, &ignored)) && duration_us > 0;
    if (is_duration || (str_to_double(value->text, &seconds) && seconds > 0)) {
        return OK;
    }
    return key_refuse(reader, key, value, err,
                      "must be a duration as in `30m`, or a number of seconds, not '" STR_FMT "'",
                      STR_ARG(value->text));
}

Status read_batch(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    int64_t count;
    if (value->kind == CONFIG_SCALAR &&
        (str_equal(value->text, STR("auto")) || (str_to_int64(value->text, &count) && count >= 1))) {
        store_text(reader, key, value->text);
        return OK;
    }
    return key_refuse(reader, key, value, err, "must be auto or a whole number of at least 1");
}

Status read_clock(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    TRY(read_word(reader, key, value, err));
    if (str_equal(value->text, STR("forbid")) || str_equal(value->text, STR("window")) ||
        str_equal(value->text, STR("wall"))) {
        return OK;
    }
    return key_refuse(reader, key, value, err, "must be forbid, window or wall, not '" STR_FMT "'",
                      STR_ARG(value->text));
}

Status read_environments(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    StrVec names;
    TRY(key_list(reader, key, "in it", value, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        AUTO(error) Error rule;
        error_init(&rule);
        if (failed(environment_check_name(names.items[i], &rule))) {
            return key_refuse(reader, key, value, err, "names no environment: " STR_FMT, STR_ARG(rule.message));
        }
    }
    TRY(refuse_repeats(reader, key, value, &names, err));
    str_vec_sort(&names);
    store_list(reader, key, names);
    return OK;
}

/* ---- Maps */

static Status add_contract_column(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Str name,
                                  Str type, Error *err) {
    ContractColumnVec *contract = &reader->model->contract;
    for (size_t i = 0; i < contract->count; i++) {
        if (str_equal_fold(contract->items[i].name, name)) {
            return key_refuse(reader, key, value, err, "names '" STR_FMT "' twice", STR_ARG(name));
        }
    }
    contract_column_vec_push(reader->arena, contract, (ContractColumn){.name = name, .type = type});
    return OK;
}

static Status read_column_map(ModelReader *reader, const ModelKey *key, const ConfigValue *map, Error *err) {
    for (size_t i = 0; i < map->count; i++) {
        const ConfigEntry *entry = &map->entries[i];
        Str type = STR_EMPTY;
        if (entry->key.size == 0) {
            return key_refuse(reader, key, map, err, "must not have an empty column name");
        }
        if (entry->value->kind != CONFIG_NULL) {
            TRY(key_text(reader, key, "or null as the type of a column", entry->value, &type, err));
        }
        TRY(add_contract_column(reader, key, entry->value, entry->key, str_trim(type), err));
    }
    return OK;
}

Status read_columns(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    reader->model->has_contract = value->kind == CONFIG_SCALAR || value->count > 0;
    if (value->kind == CONFIG_MAP) {
        return read_column_map(reader, key, value, err);
    }
    StrVec names;
    TRY(key_list(reader, key, "as the name of a column", value, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        TRY(add_contract_column(reader, key, value, names.items[i], STR_EMPTY, err));
    }
    return OK;
}

/* "1%", "0", "2.5" */
static bool is_threshold(Str text) {
    Str number = str_ends_with(text, STR("%")) ? str_slice(text, 0, text.size - 1) : text;
    double amount;
    return str_to_double(str_trim(number), &amount) && amount >= 0;
}

Status read_audit(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    TRY(read_map(reader, key, value, err));
    for (size_t i = 0; i < value->count; i++) {
        const ConfigValue *threshold = value->entries[i].value;
        Str text;
        TRY(key_text(reader, key, "as a threshold", threshold, &text, err));
        if (!is_threshold(text)) {
            return key_refuse(reader, key, threshold, err,
                              "must have a number or a percentage as a threshold, not '" STR_FMT "'", STR_ARG(text));
        }
    }
    return OK;
}

static Status check_reach(const ModelReader *reader, const ModelKey *key, const ConfigValue *map, Str name,
                          Error *err) {
    const ConfigValue *value = config_find(map, name);
    if (value == NULL || value->kind == CONFIG_NULL) {
        return OK;
    }
    Str text, grain;
    TRY(key_text(reader, key, "as the reach of a window", value, &text, err));
    if (grain_normalise(text, reader->arena, &grain) || str_starts_with(text, STR("0"))) {
        return OK;
    }
    return key_refuse(reader, key, value, err, "must have a span as in `1d` for " STR_FMT ", not '" STR_FMT "'",
                      STR_ARG(name), STR_ARG(text));
}

Status read_reads(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    static const Str known[] = {STR_INIT("time_column"), STR_INIT("before"), STR_INIT("after")};
    TRY(read_map(reader, key, value, err));
    for (size_t i = 0; i < value->count; i++) {
        const ConfigValue *upstream = value->entries[i].value;
        TRY(key_known(reader, key, upstream, known, COUNT_OF(known), err));
        TRY(check_reach(reader, key, upstream, STR("before"), err));
        TRY(check_reach(reader, key, upstream, STR("after"), err));
    }
    return OK;
}

Status read_lineage(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    TRY(read_map(reader, key, value, err));
    for (size_t i = 0; i < value->count; i++) {
        StrVec sources;
        TRY(key_list(reader, key, "as a source of a column", value->entries[i].value, &sources, err));
    }
    return OK;
}
