#include "plan/delivery.h"

#include "plan/plan_history.h"
#include "strategy/strategy.h"

/* ---- The place. */

SqlRelation delivery_place(const Model *model) {
    if (model->materialise == MATERIALISE_FILE) {
        return (SqlRelation){.name = model->path};
    }
    size_t first = str_find_char(model->target, '.'); /* there are one or two: checked when the project loaded */
    size_t last = str_find_last_char(model->target, '.');
    return (SqlRelation){
        .catalog = str_slice(model->target, 0, first),
        .schema = first == last ? STR("main") : str_slice(model->target, first + 1, last),
        .name = str_skip(model->target, last + 1),
    };
}

bool delivery_is_shared(const Model *a, const Model *b) {
    SqlRelation left = delivery_place(a), right = delivery_place(b);
    return str_equal_fold(left.catalog, right.catalog) && str_equal_fold(left.schema, right.schema) &&
           str_equal_fold(left.name, right.name);
}

static bool is_at(const Snapshot *snapshot, SqlRelation place) {
    return str_equal_fold(snapshot->physical_catalog, place.catalog) &&
           str_equal_fold(snapshot->physical_schema, place.schema) &&
           str_equal_fold(snapshot->physical_name, place.name);
}

const Snapshot *delivery_find_last(const SnapshotVec *snapshots, const Model *model) {
    SqlRelation place = delivery_place(model);
    const Snapshot *last = NULL;
    for (size_t i = 0; i < snapshots->count; i++) {
        const Snapshot *snapshot = &snapshots->items[i];
        bool is_delivery = str_equal_fold(snapshot->name, model->name) && snapshot->verified_at != 0 &&
                           snapshot->columns_json.size > 0 && is_at(snapshot, place);
        if (is_delivery && (last == NULL || snapshot->verified_at > last->verified_at)) {
            last = snapshot;
        }
    }
    return last;
}

/* ---- Its columns. */

static const DuckColumn *bookkeeping(const Model *model) {
    static const DuckColumn none = {0};
    return model->materialise == MATERIALISE_TABLE ? strategy_bookkeeping(model->strategy) : &none;
}

static void write_column(JsonWriter *writer, const Model *model, const DuckColumn *column) {
    json_begin_object(writer);
    json_text_field(writer, STR("name"), column->name);
    json_text_field(writer, STR("type"), column->type);
    if (str_vec_contains_fold(&model->key, column->name)) {
        json_bool_field(writer, STR("key"), true);
    }
    json_end_object(writer);
}

Str delivery_columns_json(const Model *model, const DuckColumnVec *columns, Arena *arena) {
    AUTO(strbuf) StrBuf out = {0};
    JsonWriter writer;
    json_writer_init(&writer, &out, JSON_COMPACT);
    json_begin_array(&writer);
    for (size_t i = 0; i < columns->count; i++) {
        write_column(&writer, model, &columns->items[i]);
    }
    for (const DuckColumn *own = bookkeeping(model); own->name.size > 0; own++) {
        write_column(&writer, model, own);
    }
    json_end_array(&writer);
    return strbuf_copy(&out, arena);
}

/* ---- The comparison. */

static bool is_same_key(const StrVec *a, const StrVec *b) {
    for (size_t i = 0; i < a->count; i++) {
        if (!str_vec_contains_fold(b, a->items[i])) {
            return false;
        }
    }
    return a->count == b->count;
}

static Str missing_bookkeeping(const Model *model, const DuckColumnVec *delivered) {
    const DuckColumn *own = bookkeeping(model);
    while (own->name.size > 0 && duck_column_find(delivered, own->name) != NULL) {
        own++;
    }
    return own->name;
}

static bool is_bookkeeping(const Model *model, Str name) {
    const DuckColumn *own = bookkeeping(model);
    while (own->name.size > 0 && !str_equal(own->name, name)) {
        own++;
    }
    return own->name.size > 0;
}

/* Why a delivered column cannot take what comes now; empty: it can. */
static Str column_reason(const Model *model, const DuckColumnVec *columns, const DuckColumn *delivered,
                         bool *is_widened, Arena *arena) {
    const DuckColumn *now = duck_column_find(columns, delivered->name);
    if (now == NULL) {
        return is_bookkeeping(model, delivered->name)
                   ? STR_EMPTY
                   : str_format(arena, "column '" STR_FMT "' is gone", STR_ARG(delivered->name));
    }
    if (now->type.size == 0 || str_equal_fold(now->type, delivered->type)) {
        return STR_EMPTY;
    }
    *is_widened = strategy_type_widens(delivered->type, now->type);
    return *is_widened ? STR_EMPTY
                       : str_format(arena, "column '" STR_FMT "' is " STR_FMT " instead of " STR_FMT,
                                    STR_ARG(now->name), STR_ARG(now->type), STR_ARG(delivered->type));
}

static Str breaking_reason(const Model *model, const DuckColumnVec *columns, const DuckColumnVec *delivered,
                           const StrVec *key, bool *is_additive, Arena *arena) {
    for (size_t i = 0; i < delivered->count; i++) {
        bool is_widened = false;
        Str reason = column_reason(model, columns, &delivered->items[i], &is_widened, arena);
        if (reason.size > 0) {
            return reason;
        }
        *is_additive = *is_additive || is_widened;
    }
    if (key->count > 0 && model->key.count > 0 && !is_same_key(key, &model->key)) {
        Str before = str_join(arena, key->items, key->count, STR(", "));
        Str now = str_join(arena, model->key.items, model->key.count, STR(", "));
        return str_format(arena, "its key is (" STR_FMT ") instead of (" STR_FMT ")", STR_ARG(now), STR_ARG(before));
    }
    Str missing = missing_bookkeeping(model, delivered);
    if (missing.size > 0) {
        return str_format(arena, "strategy %s needs the column " STR_FMT, strategy_name(model->strategy),
                          STR_ARG(missing));
    }
    for (size_t i = 0; i < columns->count; i++) {
        *is_additive = *is_additive || duck_column_find(delivered, columns->items[i].name) == NULL;
    }
    return STR_EMPTY;
}

Status delivery_classify(const Model *model, const DuckColumnVec *columns, const Snapshot *last, Arena *arena,
                         ChangeCategory *category_out, Str *reason_out, Error *err) {
    DuckColumnVec delivered = {0};
    StrVec key = {0};
    TRY(plan_recorded_columns(last, arena, &delivered, &key, err));
    bool is_additive = false;
    *reason_out = breaking_reason(model, columns, &delivered, &key, &is_additive, arena);
    *category_out = reason_out->size > 0 ? CATEGORY_BREAKING
                    : is_additive        ? CATEGORY_NON_BREAKING
                                         : CATEGORY_FORWARD_ONLY;
    return OK;
}

Status delivery_refuse(const Model *model, Str reason, Error *err) {
    bool is_file = model->materialise == MATERIALISE_FILE;
    error_set_at(err, ERROR_PLAN, model->place,
                 "model '" STR_FMT "': the change does not fit what was delivered to " STR_FMT ": " STR_FMT,
                 STR_ARG(model->name), STR_ARG(is_file ? model->path : model->target), STR_ARG(reason));
    error_hint(err, "deliver to another %s, which leaves the old one as it is; --force does not help",
               is_file ? "path:" : "target:");
    error_code(err, STR("plan.delivery"));
    error_detail(err, STR("model"), model->name);
    return FAILED;
}
