/* Reads the JSON of json_serialize_sql of DuckDB 1.5: the only file that knows it.
 *
 * Every member of every node must be in one of the tables below, with what it holds. A node or member that is not there
 * is refused, because a table name may hide in it: facts would be wrong, and the read-only fence would have a hole. */
#include "sql/query_engine.h"

#include "sql/engine_json.h"

#include <string.h>

typedef struct Reader {
    Str sql;
    Arena *arena;
    size_t depth;
    Error *err;
} Reader;

static Status read_expr(Reader *reader, const EngineJson *object, QueryExpr **expr_out);
static Status read_query(Reader *reader, const EngineJson *object, Query **query_out);
static Status read_source(Reader *reader, const EngineJson *object, QuerySource **source_out);

static Status enter(Reader *reader) {
    if (reader->depth == QUERY_DEPTH_MAX) {
        return error_set(reader->err, ERROR_COMPILATION, "the query is nested more than %d levels deep",
                         QUERY_DEPTH_MAX);
    }
    reader->depth++;
    return OK;
}

static Status unknown_part(Reader *reader, const char *what, Str name) {
    return error_set(reader->err, ERROR_COMPILATION,
                     "the engine's parser gave a %s '" STR_FMT "', which this version of interlace does not know", what,
                     STR_ARG(name));
}

/* A word of the engine in a table of this file, with its size, since most of the time here goes into looking words up.
 */
#define WORD(literal)                                                                                                  \
    { .ptr = literal, .size = sizeof(literal) - 1 }

/* str_equal that the compiler can see through: most words differ in size. */
static inline bool is_word(Str text, Str word) {
    return text.size == word.size && memcmp(text.ptr, word.ptr, word.size) == 0;
}

static bool is_any_of(Str text, const Str *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (is_word(text, words[i])) {
            return true;
        }
    }
    return false;
}

/* --- Structural hashes -------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 29);
}

static uint64_t hash_text(uint64_t hash, Str text, bool folds_case) {
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        hash = (hash ^ (folds_case && c >= 'A' && c <= 'Z' ? c + 32U : c)) * 0x100000001B3U;
    }
    return mix(hash, text.size);
}

/* The writer may leave such members out. It does so with defaults, too, but then both values cannot be confused. */
static bool is_default(const EngineJson *member) {
    switch (member->kind) {
    case ENGINE_JSON_NULL:
        return true;
    case ENGINE_JSON_STRING:
        return member->text.size == 0 && !is_word(member->key, STR("value"));
    case ENGINE_JSON_ARRAY:
        return member->first == NULL;
    case ENGINE_JSON_FALSE:
    case ENGINE_JSON_TRUE:
    case ENGINE_JSON_NUMBER:
    case ENGINE_JSON_OBJECT:
        return false;
    }
    return false;
}

/* Of an object without its member `left_out`; its members have their hashes. */
static uint64_t hash_members(const EngineJson *object, Str left_out) {
    uint64_t hash = 0xCBF29CE484222325U ^ object->kind;
    for (const EngineJson *member = object->first; member != NULL; member = member->next) {
        bool counts =
            object->kind == ENGINE_JSON_ARRAY ||
            !(is_default(member) || is_word(member->key, STR("query_location")) || is_word(member->key, left_out));
        if (counts) {
            hash = mix(hash_text(hash, member->key, false), member->hash);
        }
    }
    return hash;
}

/* Constants stand under "value"; all other texts are names and words of the engine, whose case does not matter. */
static void hash_nodes(EngineJsonDocument *document) {
    for (size_t i = document->count; i-- > 0;) {
        EngineJson *node = &document->nodes[i];
        bool is_container = node->kind == ENGINE_JSON_ARRAY || node->kind == ENGINE_JSON_OBJECT;
        node->hash = is_container ? hash_members(node, STR_EMPTY)
                                  : hash_text(0x100001B3U + node->kind, node->text, !is_word(node->key, STR("value")));
    }
}

/* --- Small values ------------------------------------------------------------------------------------------------- */

static size_t location(const EngineJson *object) {
    return engine_json_size(object, STR("query_location"), STR_NOT_FOUND);
}

static StrVec texts(Reader *reader, const EngineJson *array) {
    StrVec items = {0};
    for (const EngineJson *item = array == NULL ? NULL : array->first; item != NULL; item = item->next) {
        str_vec_push(reader->arena, &items, item->text);
    }
    return items;
}

static bool is_expression(const EngineJson *value) {
    return engine_json_find(value, STR("class")) != NULL;
}

/* --- Expressions -------------------------------------------------------------------------------------------------- */

/* What a member of an expression, or of a plain object inside one, holds. */
typedef enum FieldRole {
    FIELD_PLAIN,    /* words, constants and types: no reference in it */
    FIELD_OPERANDS, /* an expression, or lists and plain objects that hold expressions */
    FIELD_SUBQUERY,
    FIELD_EXCLUDED,           /* names */
    FIELD_EXCLUDED_QUALIFIED, /* {table, column} */
    FIELD_REPLACED,           /* {key, value} */
    FIELD_RENAMED             /* {key: {table, column}, value} */
} FieldRole;

typedef struct FieldRule {
    Str key;
    FieldRole role;
} FieldRule;

/* clang-format off */
static const FieldRule expression_fields[] = { /* the frequent ones first */
    {WORD("class"), FIELD_PLAIN},           {WORD("type"), FIELD_PLAIN},          {WORD("query_location"), FIELD_PLAIN},
    {WORD("alias"), FIELD_PLAIN},           {WORD("column_names"), FIELD_PLAIN},  {WORD("value"), FIELD_PLAIN},
    {WORD("children"), FIELD_OPERANDS},     {WORD("function_name"), FIELD_PLAIN}, {WORD("order_bys"), FIELD_OPERANDS},
    {WORD("is_operator"), FIELD_PLAIN},     {WORD("schema"), FIELD_PLAIN},        {WORD("catalog"), FIELD_PLAIN},
    {WORD("filter"), FIELD_OPERANDS},       {WORD("distinct"), FIELD_PLAIN},      {WORD("export_state"), FIELD_PLAIN},
    {WORD("left"), FIELD_OPERANDS},         {WORD("right"), FIELD_OPERANDS},      {WORD("child"), FIELD_OPERANDS},
    {WORD("cast_type"), FIELD_PLAIN},       {WORD("try_cast"), FIELD_PLAIN},      {WORD("collation"), FIELD_PLAIN},
    {WORD("input"), FIELD_OPERANDS},        {WORD("lower"), FIELD_OPERANDS},      {WORD("upper"), FIELD_OPERANDS},
    {WORD("case_checks"), FIELD_OPERANDS},  {WORD("else_expr"), FIELD_OPERANDS},
    {WORD("lhs"), FIELD_OPERANDS},          {WORD("expr"), FIELD_OPERANDS},       {WORD("syntax_type"), FIELD_PLAIN},
    {WORD("partitions"), FIELD_OPERANDS},   {WORD("orders"), FIELD_OPERANDS},     {WORD("start"), FIELD_PLAIN},
    {WORD("end"), FIELD_PLAIN},             {WORD("start_expr"), FIELD_OPERANDS}, {WORD("end_expr"), FIELD_OPERANDS},
    {WORD("offset_expr"), FIELD_OPERANDS},  {WORD("default_expr"), FIELD_OPERANDS}, {WORD("ignore_nulls"), FIELD_PLAIN},
    {WORD("filter_expr"), FIELD_OPERANDS},  {WORD("exclude_clause"), FIELD_PLAIN}, {WORD("arg_orders"), FIELD_OPERANDS},
    {WORD("subquery_type"), FIELD_PLAIN},   {WORD("subquery"), FIELD_SUBQUERY},   {WORD("comparison_type"), FIELD_PLAIN},
    {WORD("relation_name"), FIELD_PLAIN},   {WORD("columns"), FIELD_PLAIN},       {WORD("exclude_list"), FIELD_EXCLUDED},
    {WORD("qualified_exclude_list"), FIELD_EXCLUDED_QUALIFIED},             {WORD("replace_list"), FIELD_REPLACED},
    {WORD("rename_list"), FIELD_RENAMED},   {WORD("identifier"), FIELD_PLAIN},    {WORD("index"), FIELD_PLAIN},
};

/* Of objects that are no expression themselves: CASE branches, ORDER BY items, AT clauses, columns of PIVOT. */
static const FieldRule plain_object_fields[] = {
    {WORD("type"), FIELD_PLAIN},            {WORD("null_order"), FIELD_PLAIN},    {WORD("expression"), FIELD_OPERANDS},
    {WORD("orders"), FIELD_OPERANDS},       {WORD("when_expr"), FIELD_OPERANDS},  {WORD("then_expr"), FIELD_OPERANDS},
    {WORD("unit"), FIELD_PLAIN},            {WORD("expr"), FIELD_OPERANDS},       {WORD("pivot_expressions"), FIELD_OPERANDS},
    {WORD("unpivot_names"), FIELD_PLAIN},   {WORD("entries"), FIELD_OPERANDS},    {WORD("values"), FIELD_PLAIN},
    {WORD("star_expr"), FIELD_OPERANDS},    {WORD("alias"), FIELD_PLAIN},         {WORD("pivot_enum"), FIELD_PLAIN},
    {WORD("distinct_on_targets"), FIELD_OPERANDS}, {WORD("limit"), FIELD_OPERANDS}, {WORD("offset"), FIELD_OPERANDS},
};

static const struct ExpressionClass {
    Str name;
    QueryExprKind kind;
} expression_classes[] = {
    {WORD("COLUMN_REF"), QUERY_COLUMN},   {WORD("CONSTANT"), QUERY_CONSTANT},     {WORD("FUNCTION"), QUERY_FUNCTION},
    {WORD("COMPARISON"), QUERY_OPERATION}, {WORD("CONJUNCTION"), QUERY_OPERATION}, {WORD("OPERATOR"), QUERY_OPERATION},
    {WORD("CAST"), QUERY_OPERATION},      {WORD("CASE"), QUERY_OPERATION},        {WORD("STAR"), QUERY_STAR},
    {WORD("WINDOW"), QUERY_WINDOW},       {WORD("SUBQUERY"), QUERY_SUBQUERY},     {WORD("BETWEEN"), QUERY_OPERATION},
    {WORD("LAMBDA"), QUERY_LAMBDA},       {WORD("COLLATE"), QUERY_OPERATION},     {WORD("PARAMETER"), QUERY_OPERATION},
    {WORD("POSITIONAL_REFERENCE"), QUERY_POSITION}, {WORD("DEFAULT"), QUERY_OPERATION},
};
/* clang-format on */

static Status find_rule(Reader *reader, const FieldRule *rules, size_t count, const EngineJson *member,
                        FieldRole *role_out) {
    for (size_t i = 0; i < count; i++) {
        if (is_word(member->key, rules[i].key)) {
            *role_out = rules[i].role;
            return OK;
        }
    }
    return unknown_part(reader, "member", member->key);
}

/* All expressions in `value`, however they lie in lists and plain objects. */
static Status read_operands(Reader *reader, const EngineJson *value, QueryExprVec *operands) {
    if (value->kind == ENGINE_JSON_ARRAY) {
        for (const EngineJson *item = value->first; item != NULL; item = item->next) {
            TRY(read_operands(reader, item, operands));
        }
        return OK;
    }
    if (value->kind != ENGINE_JSON_OBJECT) {
        return OK;
    }
    if (is_expression(value)) {
        QueryExpr *operand = NULL;
        TRY(read_expr(reader, value, &operand));
        query_expr_vec_push(reader->arena, operands, operand);
        return OK;
    }
    for (const EngineJson *member = value->first; member != NULL; member = member->next) {
        FieldRole role = FIELD_PLAIN;
        TRY(find_rule(reader, plain_object_fields, COUNT_OF(plain_object_fields), member, &role));
        if (role == FIELD_OPERANDS) {
            TRY(read_operands(reader, member, operands));
        }
    }
    return OK;
}

static void read_excluded(Reader *reader, const EngineJson *list, QueryStarRuleVec *rules) {
    for (const EngineJson *item = list->first; item != NULL; item = item->next) {
        query_star_rule_vec_push(reader->arena, rules, (QueryStarRule){.column = item->text});
    }
}

static void read_excluded_qualified(Reader *reader, const EngineJson *list, QueryStarRuleVec *rules) {
    for (const EngineJson *item = list->first; item != NULL; item = item->next) {
        QueryStarRule rule = {.relation = engine_json_text(item, STR("table")),
                              .column = engine_json_text(item, STR("column"))};
        query_star_rule_vec_push(reader->arena, rules, rule);
    }
}

static void read_renamed(Reader *reader, const EngineJson *list, QueryStarRuleVec *rules) {
    for (const EngineJson *item = list->first; item != NULL; item = item->next) {
        const EngineJson *key = engine_json_find(item, STR("key"));
        QueryStarRule rule = {.relation = engine_json_text(key, STR("table")),
                              .column = engine_json_text(key, STR("column")),
                              .new_name = engine_json_text(item, STR("value"))};
        query_star_rule_vec_push(reader->arena, rules, rule);
    }
}

static Status read_replaced(Reader *reader, const EngineJson *list, QueryExprVec *operands) {
    for (const EngineJson *item = list->first; item != NULL; item = item->next) {
        const EngineJson *value = engine_json_find(item, STR("value"));
        QueryExpr *operand = NULL;
        if (value == NULL) {
            return unknown_part(reader, "member", list->key);
        }
        TRY(read_expr(reader, value, &operand));
        operand->alias = engine_json_text(item, STR("key"));
        query_expr_vec_push(reader->arena, operands, operand);
    }
    return OK;
}

/* The member "node" of a statement object. */
static Status read_statement(Reader *reader, const EngineJson *statement, Query **query_out) {
    for (const EngineJson *member = statement->first; member != NULL; member = member->next) {
        if (!is_word(member->key, STR("node")) && !is_word(member->key, STR("named_param_map"))) {
            return unknown_part(reader, "member", member->key);
        }
    }
    return read_query(reader, engine_json_find(statement, STR("node")), query_out);
}

static void take_partitions(Reader *reader, QueryExpr *window, size_t first) {
    for (size_t i = first; i < window->operands.count; i++) {
        query_expr_vec_push(reader->arena, &window->partitions, window->operands.items[i]);
    }
}

static Status read_field(Reader *reader, const EngineJson *member, QueryExpr *expr) {
    FieldRole role = FIELD_PLAIN;
    size_t operand_count = expr->operands.count;
    TRY(find_rule(reader, expression_fields, COUNT_OF(expression_fields), member, &role));
    if (member->kind == ENGINE_JSON_NULL) {
        return OK;
    }
    switch (role) {
    case FIELD_PLAIN:
        return OK;
    case FIELD_OPERANDS:
        TRY(read_operands(reader, member, &expr->operands));
        if (is_word(member->key, STR("partitions"))) {
            take_partitions(reader, expr, operand_count);
        }
        return OK;
    case FIELD_SUBQUERY:
        return read_statement(reader, member, &expr->subquery);
    case FIELD_REPLACED:
        return read_replaced(reader, member, &expr->operands);
    case FIELD_EXCLUDED:
        read_excluded(reader, member, &expr->rules);
        return OK;
    case FIELD_EXCLUDED_QUALIFIED:
        read_excluded_qualified(reader, member, &expr->rules);
        return OK;
    case FIELD_RENAMED:
        read_renamed(reader, member, &expr->rules);
        return OK;
    }
    return OK;
}

static Status read_expr_kind(Reader *reader, const EngineJson *object, QueryExprKind *kind_out) {
    Str name = engine_json_text(object, STR("class"));
    for (size_t i = 0; i < COUNT_OF(expression_classes); i++) {
        if (is_word(name, expression_classes[i].name)) {
            *kind_out = expression_classes[i].kind;
            return OK;
        }
    }
    return unknown_part(reader, "kind of expression", name);
}

/* Of a constant; empty for NULL, true and false. */
static Str constant_text(const EngineJson *object) {
    const EngineJson *value = engine_json_find(object, STR("value"));
    const EngineJson *text = value == NULL ? NULL : engine_json_find(value, STR("value"));
    bool has_text = text != NULL && (text->kind == ENGINE_JSON_STRING || text->kind == ENGINE_JSON_NUMBER);
    return has_text ? text->text : STR_EMPTY;
}

static Str plain_cast_type(const EngineJson *object) {
    const EngineJson *type = engine_json_find(object, STR("cast_type"));
    const EngineJson *parameters = type == NULL ? NULL : engine_json_find(type, STR("type_info"));
    bool has_parameters = parameters != NULL && parameters->kind != ENGINE_JSON_NULL;
    bool is_plain = type != NULL && !has_parameters && !engine_json_true(object, STR("try_cast"));
    return is_plain ? engine_json_text(type, STR("id")) : STR_EMPTY;
}

static Status read_expr(Reader *reader, const EngineJson *object, QueryExpr **expr_out) {
    TRY(enter(reader));
    QueryExpr *expr = ARENA_NEW(reader->arena, QueryExpr);
    TRY(read_expr_kind(reader, object, &expr->kind));
    expr->offset = location(object);
    expr->hash = hash_members(object, STR("alias"));
    expr->alias = engine_json_text(object, STR("alias"));
    switch (expr->kind) {
    case QUERY_COLUMN:
        expr->parts = texts(reader, engine_json_find(object, STR("column_names")));
        expr->is_quoted = expr->offset < reader->sql.size && reader->sql.ptr[expr->offset] == '"';
        break;
    case QUERY_STAR:
        expr->name = engine_json_text(object, STR("relation_name"));
        expr->is_columns = engine_json_true(object, STR("columns"));
        break;
    case QUERY_FUNCTION:
    case QUERY_WINDOW:
        expr->name = engine_json_text(object, STR("function_name"));
        expr->schema = engine_json_text(object, STR("schema"));
        expr->is_sign = engine_json_true(object, STR("is_operator"));
        expr->is_by_rows = str_ends_with(engine_json_text(object, STR("start")), STR("_ROWS")) ||
                           str_ends_with(engine_json_text(object, STR("end")), STR("_ROWS"));
        break;
    case QUERY_CONSTANT:
        expr->text = constant_text(object);
        break;
    case QUERY_OPERATION:
        expr->cast_type = plain_cast_type(object);
        break;
    case QUERY_POSITION:
    case QUERY_LAMBDA:
    case QUERY_SUBQUERY:
        break;
    }
    for (const EngineJson *member = object->first; member != NULL; member = member->next) {
        TRY(read_field(reader, member, expr));
    }
    reader->depth--;
    *expr_out = expr;
    return OK;
}

/* --- Sources ------------------------------------------------------------------------------------------------------ */

typedef Status (*ReadSourceMember)(Reader *reader, const EngineJson *member, QuerySource *source);

static Status member_plain(Reader *reader, const EngineJson *member, QuerySource *source) {
    (void)reader;
    (void)member;
    (void)source;
    return OK;
}

static Status member_exprs(Reader *reader, const EngineJson *member, QuerySource *source) {
    return read_operands(reader, member, &source->exprs);
}

static Status member_aggregates(Reader *reader, const EngineJson *member, QuerySource *source) {
    source->has_aggregates = member->first != NULL;
    return read_operands(reader, member, &source->exprs);
}

static Status member_groups(Reader *reader, const EngineJson *member, QuerySource *source) {
    source->groups = texts(reader, member);
    return OK;
}

static Status member_left(Reader *reader, const EngineJson *member, QuerySource *source) {
    return read_source(reader, member, &source->left);
}

static Status member_right(Reader *reader, const EngineJson *member, QuerySource *source) {
    return read_source(reader, member, &source->right);
}

static Status member_statement(Reader *reader, const EngineJson *member, QuerySource *source) {
    return read_statement(reader, member, &source->query);
}

static Status member_query(Reader *reader, const EngineJson *member, QuerySource *source) {
    return member->kind == ENGINE_JSON_NULL ? OK : read_query(reader, member, &source->query);
}

static Status member_column_aliases(Reader *reader, const EngineJson *member, QuerySource *source) {
    source->column_aliases = texts(reader, member);
    return OK;
}

static Status member_using(Reader *reader, const EngineJson *member, QuerySource *source) {
    source->using_columns = texts(reader, member);
    return OK;
}

static Status member_join_type(Reader *reader, const EngineJson *member, QuerySource *source) {
    (void)reader;
    source->gives_left_only = is_word(member->text, STR("SEMI")) || is_word(member->text, STR("ANTI"));
    bool is_inner = is_word(member->text, STR("INNER"));
    source->passes_left = is_inner || is_word(member->text, STR("LEFT")) || source->gives_left_only;
    source->passes_right = is_inner || is_word(member->text, STR("RIGHT"));
    return OK;
}

static Status member_ref_type(Reader *reader, const EngineJson *member, QuerySource *source) {
    (void)reader;
    source->is_natural = is_word(member->text, STR("NATURAL"));
    source->pairs_otherwise =
        !source->is_natural && !is_word(member->text, STR("REGULAR")) && !is_word(member->text, STR("CROSS"));
    return OK;
}

static Status member_sample(Reader *reader, const EngineJson *member, QuerySource *source) {
    (void)reader;
    source->is_sampled = member->kind != ENGINE_JSON_NULL;
    return OK;
}

static Status member_catalog(Reader *reader, const EngineJson *member, QuerySource *source) {
    (void)reader;
    source->catalog = member->text;
    return OK;
}

static Status member_schema(Reader *reader, const EngineJson *member, QuerySource *source) {
    (void)reader;
    source->schema = member->text;
    return OK;
}

static Status member_name(Reader *reader, const EngineJson *member, QuerySource *source) {
    (void)reader;
    source->name = member->text;
    return OK;
}

/* clang-format off */
static const struct SourceField {
    Str key;
    ReadSourceMember read;
} source_fields[] = {
    {WORD("type"), member_plain},              {WORD("alias"), member_plain},            {WORD("query_location"), member_plain},
    {WORD("sample"), member_sample},           {WORD("table_name"), member_name},        {WORD("schema_name"), member_schema},
    {WORD("catalog_name"), member_catalog},    {WORD("column_name_alias"), member_column_aliases},
    {WORD("at_clause"), member_exprs},         {WORD("left"), member_left},              {WORD("right"), member_right},
    {WORD("condition"), member_exprs},         {WORD("join_type"), member_join_type},    {WORD("ref_type"), member_ref_type},
    {WORD("using_columns"), member_using},     {WORD("delim_flipped"), member_plain},    {WORD("duplicate_eliminated_columns"), member_exprs},
    {WORD("is_implicit"), member_plain},       {WORD("subquery"), member_statement},     {WORD("function"), member_exprs},
    {WORD("with_ordinality"), member_plain},   {WORD("expected_names"), member_column_aliases},
    {WORD("expected_types"), member_plain},    {WORD("values"), member_exprs},           {WORD("source"), member_left},
    {WORD("aggregates"), member_aggregates},        {WORD("unpivot_names"), member_plain},    {WORD("pivots"), member_exprs},
    {WORD("groups"), member_groups},           {WORD("include_nulls"), member_plain},    {WORD("query"), member_query},
    {WORD("show_type"), member_plain},
};

static const struct SourceType {
    Str name;
    QuerySourceKind kind;
} source_types[] = {
    {WORD("BASE_TABLE"), QUERY_TABLE},         {WORD("SUBQUERY"), QUERY_SUBSELECT},      {WORD("JOIN"), QUERY_JOIN},
    {WORD("TABLE_FUNCTION"), QUERY_TABLE_FUNCTION}, {WORD("EXPRESSION_LIST"), QUERY_VALUES}, {WORD("PIVOT"), QUERY_PIVOT},
    {WORD("SHOW_REF"), QUERY_SHOW},            {WORD("EMPTY"), QUERY_NOTHING},
};
/* clang-format on */

static Status read_source_kind(Reader *reader, const EngineJson *object, QuerySourceKind *kind_out) {
    Str name = engine_json_text(object, STR("type"));
    for (size_t i = 0; i < COUNT_OF(source_types); i++) {
        if (is_word(name, source_types[i].name)) {
            *kind_out = source_types[i].kind;
            return OK;
        }
    }
    return unknown_part(reader, "kind of source", name);
}

static Status read_source_member(Reader *reader, const EngineJson *member, QuerySource *source) {
    for (size_t i = 0; i < COUNT_OF(source_fields); i++) {
        if (is_word(member->key, source_fields[i].key)) {
            return source_fields[i].read(reader, member, source);
        }
    }
    return unknown_part(reader, "member", member->key);
}

/* DESCRIBE t comes as DESCRIBE SELECT * FROM t, whose star has no place in the text. */
static void mark_described(Query *query) {
    bool is_made_up = query->projections.count == 1 && query->projections.items[0]->kind == QUERY_STAR &&
                      query->projections.items[0]->offset == STR_NOT_FOUND;
    if (is_made_up && query->source->kind == QUERY_TABLE) {
        query->source->is_described = true;
    }
}

static Status read_source(Reader *reader, const EngineJson *object, QuerySource **source_out) {
    TRY(enter(reader));
    QuerySource *source = ARENA_NEW(reader->arena, QuerySource);
    TRY(read_source_kind(reader, object, &source->kind));
    source->offset = location(object);
    source->alias = engine_json_text(object, STR("alias"));
    for (const EngineJson *member = object->first; member != NULL; member = member->next) {
        TRY(read_source_member(reader, member, source));
    }
    if (source->kind == QUERY_SHOW && source->query != NULL && source->query->kind == QUERY_SELECT) {
        mark_described(source->query);
    }
    reader->depth--;
    *source_out = source;
    return OK;
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

static Status read_modifiers(Reader *reader, const EngineJson *list, Query *query) {
    static const Str known[] = {WORD("ORDER_MODIFIER"), WORD("DISTINCT_MODIFIER"), WORD("LIMIT_MODIFIER"),
                                WORD("LIMIT_PERCENT_MODIFIER")};
    for (const EngineJson *item = list->first; item != NULL; item = item->next) {
        Str type = engine_json_text(item, STR("type"));
        if (!is_any_of(type, known, COUNT_OF(known))) {
            return unknown_part(reader, "clause", type);
        }
        query->has_order_by = query->has_order_by || is_word(type, STR("ORDER_MODIFIER"));
        query->has_distinct = query->has_distinct || is_word(type, STR("DISTINCT_MODIFIER"));
        query->has_limit = query->has_limit || str_starts_with(type, STR("LIMIT_"));
        size_t operand_count = query->modifiers.count;
        TRY(read_operands(reader, item, &query->modifiers));
        for (size_t i = operand_count; i < query->modifiers.count && is_word(type, STR("ORDER_MODIFIER")); i++) {
            query_expr_vec_push(reader->arena, &query->orders, query->modifiers.items[i]);
        }
        for (size_t i = operand_count; str_starts_with(type, STR("LIMIT_")) && i < query->modifiers.count; i++) {
            query_expr_vec_push(reader->arena, &query->limits, query->modifiers.items[i]);
        }
        query->has_distinct_on = query->has_distinct_on ||
                                 (is_word(type, STR("DISTINCT_MODIFIER")) && query->modifiers.count > operand_count);
    }
    return OK;
}

static Status read_cte(Reader *reader, const EngineJson *entry, Query *query) {
    static const Str known[] = {WORD("aliases"), WORD("query"), WORD("materialized"), WORD("key_targets")};
    const EngineJson *value = engine_json_find(entry, STR("value"));
    const EngineJson *body = engine_json_find(value, STR("query"));
    if (body == NULL) {
        return unknown_part(reader, "CTE", engine_json_text(entry, STR("key")));
    }
    for (const EngineJson *member = value->first; member != NULL; member = member->next) {
        if (!is_any_of(member->key, known, COUNT_OF(known))) {
            return unknown_part(reader, "member", member->key);
        }
    }
    QueryCte cte = {.name = engine_json_text(entry, STR("key")),
                    .column_aliases = texts(reader, engine_json_find(value, STR("aliases")))};
    TRY(read_statement(reader, body, &cte.query));
    query_cte_vec_push(reader->arena, &query->ctes, cte);
    return OK;
}

static Status read_ctes(Reader *reader, const EngineJson *cte_map, Query *query) {
    const EngineJson *map = engine_json_find(cte_map, STR("map"));
    for (const EngineJson *entry = map == NULL ? NULL : map->first; entry != NULL; entry = entry->next) {
        TRY(read_cte(reader, entry, query));
    }
    return OK;
}

static Status query_plain(Reader *reader, const EngineJson *member, Query *query) {
    (void)reader;
    (void)member;
    (void)query;
    return OK;
}

static Status query_projections(Reader *reader, const EngineJson *member, Query *query) {
    return read_operands(reader, member, &query->projections);
}

static Status query_filters(Reader *reader, const EngineJson *member, Query *query) {
    return read_operands(reader, member, &query->filters);
}

static Status query_groups(Reader *reader, const EngineJson *member, Query *query) {
    size_t filter_count = query->filters.count;
    TRY(read_operands(reader, member, &query->filters));
    for (size_t i = filter_count; i < query->filters.count; i++) {
        query_expr_vec_push(reader->arena, &query->groups, query->filters.items[i]);
    }
    return OK;
}

static Status query_source(Reader *reader, const EngineJson *member, Query *query) {
    return read_source(reader, member, &query->source);
}

static Status query_branch(Reader *reader, const EngineJson *member, Query *query) {
    Query *branch = NULL;
    TRY(read_query(reader, member, &branch));
    query_vec_push(reader->arena, &query->branches, branch);
    return OK;
}

static Status query_setop_type(Reader *reader, const EngineJson *member, Query *query) {
    (void)reader;
    query->is_by_name = str_ends_with(member->text, STR("_BY_NAME"));
    query->is_union = str_starts_with(member->text, STR("UNION"));
    return OK;
}

static Status query_setop_all(Reader *reader, const EngineJson *member, Query *query) {
    (void)reader;
    query->keeps_all = member->kind == ENGINE_JSON_TRUE;
    return OK;
}

static Status query_recursive_name(Reader *reader, const EngineJson *member, Query *query) {
    (void)reader;
    query->recursive_name = member->text;
    return OK;
}

static Status query_aggregates(Reader *reader, const EngineJson *member, Query *query) {
    (void)reader;
    query->groups_all = is_word(member->text, STR("FORCE_AGGREGATES"));
    return OK;
}

static Status query_group_sets(Reader *reader, const EngineJson *member, Query *query) {
    (void)reader;
    query->is_grouped = member->first != NULL;
    query->has_grouping_sets = query->is_grouped && member->first->next != NULL;
    return OK;
}

static Status query_sample(Reader *reader, const EngineJson *member, Query *query) {
    (void)reader;
    query->is_sampled = member->kind != ENGINE_JSON_NULL;
    return OK;
}

/* clang-format off */
static const struct QueryField {
    Str key;
    Status (*read)(Reader *reader, const EngineJson *member, Query *query);
} query_fields[] = {
    {WORD("type"), query_plain},              {WORD("modifiers"), read_modifiers},       {WORD("cte_map"), read_ctes},
    {WORD("select_list"), query_projections}, {WORD("from_table"), query_source},        {WORD("where_clause"), query_filters},
    {WORD("group_expressions"), query_groups}, {WORD("group_sets"), query_group_sets},  {WORD("aggregate_handling"), query_aggregates},
    {WORD("having"), query_filters},          {WORD("qualify"), query_filters},          {WORD("sample"), query_sample},
    {WORD("cte_name"), query_recursive_name},         {WORD("union_all"), query_setop_all},          {WORD("left"), query_branch},
    {WORD("right"), query_branch},            {WORD("aliases"), query_plain},            {WORD("key_targets"), query_filters},
    {WORD("setop_type"), query_setop_type},   {WORD("setop_all"), query_setop_all},
};

static const struct QueryType {
    Str name;
    QueryKind kind;
} query_types[] = {
    {WORD("SELECT_NODE"), QUERY_SELECT}, {WORD("SET_OPERATION_NODE"), QUERY_SET_OPERATION}, {WORD("RECURSIVE_CTE_NODE"), QUERY_RECURSIVE},
};
/* clang-format on */

static Status read_query_kind(Reader *reader, const EngineJson *object, QueryKind *kind_out) {
    Str name = engine_json_text(object, STR("type"));
    for (size_t i = 0; i < COUNT_OF(query_types); i++) {
        if (is_word(name, query_types[i].name)) {
            *kind_out = query_types[i].kind;
            return OK;
        }
    }
    return unknown_part(reader, "kind of query", name);
}

static Status read_query_member(Reader *reader, const EngineJson *member, Query *query) {
    for (size_t i = 0; i < COUNT_OF(query_fields); i++) {
        if (is_word(member->key, query_fields[i].key)) {
            return query_fields[i].read(reader, member, query);
        }
    }
    return unknown_part(reader, "member", member->key);
}

static void read_clause_hashes(const EngineJson *object, Query *query) {
    static const struct ClauseMember {
        Str key;
        QueryClause clause;
    } members[] = {
        {WORD("cte_map"), QUERY_CLAUSE_WITH},        {WORD("from_table"), QUERY_CLAUSE_FROM},
        {WORD("where_clause"), QUERY_CLAUSE_WHERE},  {WORD("group_expressions"), QUERY_CLAUSE_GROUP_BY},
        {WORD("group_sets"), QUERY_CLAUSE_GROUP_BY}, {WORD("aggregate_handling"), QUERY_CLAUSE_GROUP_BY},
        {WORD("having"), QUERY_CLAUSE_HAVING},       {WORD("qualify"), QUERY_CLAUSE_QUALIFY},
        {WORD("modifiers"), QUERY_CLAUSE_ORDER_BY},  {WORD("sample"), QUERY_CLAUSE_SAMPLE},
    };
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const EngineJson *member = engine_json_find(object, members[i].key);
        uint64_t *hash = &query->clause_hashes[members[i].clause];
        *hash = mix(*hash, member == NULL || is_default(member) ? 0 : member->hash);
    }
}

static Status read_query(Reader *reader, const EngineJson *object, Query **query_out) {
    TRY(enter(reader));
    Query *query = ARENA_NEW(reader->arena, Query);
    TRY(read_query_kind(reader, object, &query->kind));
    for (const EngineJson *member = object->first; member != NULL; member = member->next) {
        TRY(read_query_member(reader, member, query));
    }
    if (query->kind == QUERY_SELECT && query->source == NULL) {
        return unknown_part(reader, "query without", STR("from_table"));
    }
    query->hash = hash_members(object, STR_EMPTY);
    query->rest_hash = hash_members(object, STR("select_list"));
    read_clause_hashes(object, query);
    reader->depth--;
    *query_out = query;
    return OK;
}

/* --- The reply ---------------------------------------------------------------------------------------------------- */

/* The byte of the `index`th character; the parser counts the position of a refusal in characters. */
static size_t byte_of_character(Str text, size_t index) {
    size_t offset = 0;
    while (offset < text.size && index > 0) {
        do {
            offset++;
        } while (offset < text.size && ((unsigned char)text.ptr[offset] & 0xC0) == 0x80);
        index--;
    }
    return offset;
}

static void read_refusal(Str sql, const EngineJson *root, EngineReply *reply) {
    int64_t character = 0;
    bool has_position = str_to_int64(engine_json_text(root, STR("position")), &character) && character >= 0;
    reply->is_refused = true;
    reply->is_syntax = is_word(engine_json_text(root, STR("error_type")), STR("parser"));
    reply->refusal = engine_json_text(root, STR("error_message"));
    reply->offset = has_position ? byte_of_character(sql, (size_t)character) : STR_NOT_FOUND;
}

Status query_read_reply(Str sql, Str json, Arena *arena, EngineReply *reply_out, Error *err) {
    EngineJsonDocument document = {0};
    TRY(engine_json_parse(json, arena, &document, err));
    const EngineJson *root = &document.nodes[0];
    EngineReply reply = {.refusal = STR_EMPTY, .offset = STR_NOT_FOUND};
    if (engine_json_true(root, STR("error"))) {
        read_refusal(sql, root, &reply);
        *reply_out = reply;
        return OK;
    }
    hash_nodes(&document);
    const EngineJson *statements = engine_json_find(root, STR("statements"));
    const EngineJson *first = statements == NULL ? NULL : statements->first;
    for (const EngineJson *item = first; item != NULL; item = item->next) {
        reply.statement_count++;
    }
    Reader reader = {.sql = sql, .arena = arena, .err = err};
    if (reply.statement_count == 1) {
        TRY(read_statement(&reader, first, &reply.query));
    }
    *reply_out = reply;
    return OK;
}
