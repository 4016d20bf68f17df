#include "run/comparison.h"

#define RESULT_TABLE "temp.interlace__diff"

/* --- Columns ---------------------------------------------------------------------------------------------------------
 */

typedef enum TypeFamily { FAMILY_WHOLE, FAMILY_DECIMAL, FAMILY_FLOAT, FAMILY_MOMENT, FAMILY_OTHER } TypeFamily;

static TypeFamily family_of(Str type) {
    static const struct FamilyName {
        Str name;
        TypeFamily family;
    } names[] = {
        {STR_INIT("TINYINT"), FAMILY_WHOLE},       {STR_INIT("SMALLINT"), FAMILY_WHOLE},
        {STR_INIT("INTEGER"), FAMILY_WHOLE},       {STR_INIT("BIGINT"), FAMILY_WHOLE},
        {STR_INIT("HUGEINT"), FAMILY_WHOLE},       {STR_INIT("UTINYINT"), FAMILY_WHOLE},
        {STR_INIT("USMALLINT"), FAMILY_WHOLE},     {STR_INIT("UINTEGER"), FAMILY_WHOLE},
        {STR_INIT("UBIGINT"), FAMILY_WHOLE},       {STR_INIT("FLOAT"), FAMILY_FLOAT},
        {STR_INIT("DOUBLE"), FAMILY_FLOAT},        {STR_INIT("DATE"), FAMILY_MOMENT},
        {STR_INIT("TIMESTAMP"), FAMILY_MOMENT},    {STR_INIT("TIMESTAMP_S"), FAMILY_MOMENT},
        {STR_INIT("TIMESTAMP_MS"), FAMILY_MOMENT}, {STR_INIT("TIMESTAMP WITH TIME ZONE"), FAMILY_MOMENT},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_equal_fold(type, names[i].name)) {
            return names[i].family;
        }
    }
    bool is_decimal = str_starts_with_fold(type, STR("DECIMAL(")) && str_ends_with(type, STR(")"));
    return is_decimal ? FAMILY_DECIMAL : FAMILY_OTHER;
}

static bool is_number(TypeFamily family) {
    return family == FAMILY_WHOLE || family == FAMILY_DECIMAL || family == FAMILY_FLOAT;
}

bool comparison_is_number(Str type) {
    return is_number(family_of(type));
}

static bool is_float(const ComparedColumn *column) {
    TypeFamily left = family_of(column->left_type), right = family_of(column->right_type);
    return is_number(left) && is_number(right) && (left == FAMILY_FLOAT || right == FAMILY_FLOAT);
}

/* What both sides of a column are cast to before they are compared; NULL: the engine finds the type that holds both. */
static const char *compared_type(const ComparedColumn *column) {
    TypeFamily left = family_of(column->left_type), right = family_of(column->right_type);
    if (str_equal_fold(column->left_type, column->right_type)) {
        return NULL;
    }
    if (is_number(left) && is_number(right)) {
        return is_float(column) ? "DOUBLE" : NULL;
    }
    return left == FAMILY_MOMENT && right == FAMILY_MOMENT ? NULL : "VARCHAR";
}

static const ComparedColumn *find_column(const ComparedColumnVec *columns, Str name) {
    for (size_t i = 0; i < columns->count; i++) {
        if (str_equal_fold(columns->items[i].name, name)) {
            return &columns->items[i];
        }
    }
    return NULL;
}

static bool is_left_out(const StrVec *without, Str name) {
    return without != NULL && str_vec_contains_fold(without, name);
}

/* The common columns in the left side's order; what only one side has. */
static ComparedColumnVec match_columns(Comparison *comparison, const StrVec *without, Arena *arena) {
    ComparedColumnVec common = {0};
    const DuckColumnVec *left = &comparison->left.columns, *right = &comparison->right.columns;
    for (size_t i = 0; i < left->count; i++) {
        const DuckColumn *column = &left->items[i], *other = duck_column_find(right, column->name);
        if (is_left_out(without, column->name)) {
            continue;
        }
        if (other == NULL) {
            duck_column_vec_push(arena, &comparison->removed, *column);
            continue;
        }
        ComparedColumn both = {.name = column->name, .left_type = column->type, .right_type = other->type};
        compared_column_vec_push(arena, &common, both);
        if (!str_equal_fold(column->type, other->type)) {
            compared_column_vec_push(arena, &comparison->retyped, both);
        }
    }
    for (size_t i = 0; i < right->count; i++) {
        Str name = right->items[i].name;
        if (duck_column_find(left, name) == NULL && !is_left_out(without, name)) {
            duck_column_vec_push(arena, &comparison->added, right->items[i]);
        }
    }
    return common;
}

/* --- Key -------------------------------------------------------------------------------------------------------------
 */

static Status refuse_key(const Comparison *comparison, const ComparedColumnVec *common, Str name, Arena *arena,
                         Error *err) {
    bool is_left = duck_column_find(&comparison->left.columns, name) != NULL;
    bool is_right = duck_column_find(&comparison->right.columns, name) != NULL;
    if (is_left || is_right) {
        SqlRelation lacking = is_left ? comparison->right.relation : comparison->left.relation;
        return error_set(err, ERROR_SELECTION, "'" STR_FMT "' has no column '" STR_FMT "' to match rows by",
                         STR_ARG(sql_dotted_name(lacking, arena)), STR_ARG(name));
    }
    StrVec names = {0};
    for (size_t i = 0; i < common->count; i++) {
        str_vec_push(arena, &names, common->items[i].name);
    }
    Str left = sql_dotted_name(comparison->left.relation, arena);
    Str right = sql_dotted_name(comparison->right.relation, arena);
    const Str *nearest = str_nearest(name, names.items, names.count);
    (void)error_set(err, ERROR_SELECTION,
                    "neither '" STR_FMT "' nor '" STR_FMT "' has a column '" STR_FMT "' to match rows by",
                    STR_ARG(left), STR_ARG(right), STR_ARG(name));
    if (nearest != NULL) {
        error_hint(err, "did you mean '" STR_FMT "'?", STR_ARG(*nearest));
    }
    return FAILED;
}

static Status choose_key(Comparison *comparison, const ComparedColumnVec *common, const ComparisonOptions *options,
                         Arena *arena, StrVec *key_out, Error *err) {
    for (size_t i = 0; options->on != NULL && i < options->on->count; i++) {
        Str name = options->on->items[i];
        if (find_column(common, name) == NULL) {
            return refuse_key(comparison, common, name, arena, err);
        }
        if (!str_vec_contains_fold(key_out, name)) {
            str_vec_push(arena, key_out, name);
        }
    }
    if (key_out->count > 0) {
        return OK;
    }
    for (size_t i = 0; options->key != NULL && i < options->key->count; i++) {
        bool is_common = find_column(common, options->key->items[i]) != NULL;
        str_vec_push(arena, is_common ? key_out : &comparison->missing_keys, options->key->items[i]);
    }
    if (key_out->count > 0 && comparison->missing_keys.count == 0) {
        return OK;
    }
    *key_out = (StrVec){0};
    for (size_t i = 0; i < common->count; i++) {
        if (comparison->tolerance == 0 || !is_float(&common->items[i])) {
            str_vec_push(arena, key_out, common->items[i].name);
        }
    }
    return OK;
}

Status comparison_make(const ComparedSide *left, const ComparedSide *right, const ComparisonOptions *options,
                       Arena *arena, Comparison *comparison_out, Error *err) {
    assert(options->tolerance >= 0);
    assert(options->sample_limit >= 0);
    Comparison comparison = {
        .left = *left, .right = *right, .tolerance = options->tolerance, .sample_limit = options->sample_limit};
    StrVec key = {0};
    ComparedColumnVec common = match_columns(&comparison, options->without, arena);
    TRY(choose_key(&comparison, &common, options, arena, &key, err));
    comparison.key_count = key.count;
    for (size_t i = 0; i < key.count; i++) {
        compared_column_vec_push(arena, &comparison.columns, *find_column(&common, key.items[i]));
    }
    for (size_t i = 0; i < common.count; i++) {
        if (!str_vec_contains_fold(&key, common.items[i].name)) {
            compared_column_vec_push(arena, &comparison.columns, common.items[i]);
        }
    }
    *comparison_out = comparison;
    return OK;
}

/* --- Rows ------------------------------------------------------------------------------------------------------------
 * Inside the statements columns are called by their number, so that no name of a user can stand in the way: l3 and r3
 * are the two sides of the fourth one, "here" says that the side has a row. */

static void append_from(StrBuf *sql, const ComparedSide *side) {
    strbuf_text(sql, " FROM ");
    sql_relation(sql, side->relation);
    if (side->where.size > 0) {
        strbuf_format(sql, " WHERE (" STR_FMT "\n)", STR_ARG(side->where));
    }
}

Str comparison_count(const Comparison *comparison, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT (SELECT count(*)");
    append_from(&sql, &comparison->left);
    strbuf_text(&sql, "), (SELECT count(*)");
    append_from(&sql, &comparison->right);
    strbuf_char(&sql, ')');
    return strbuf_copy(&sql, arena);
}

/* Numbers `first` to `end` after a prefix: l0, l1, l2. */
static void append_numbered(StrBuf *sql, const char *prefix, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        strbuf_format(sql, "%s%s%zu", i == first ? "" : ", ", prefix, i);
    }
}

/* "id" AS c0, "v" AS c1: as they are, for keys and samples. */
static void append_columns(StrBuf *sql, const Comparison *comparison) {
    for (size_t i = 0; i < comparison->columns.count; i++) {
        strbuf_text(sql, i == 0 ? "" : ", ");
        sql_identifier(sql, comparison->columns.items[i].name);
        strbuf_format(sql, " AS c%zu", i);
    }
}

static void append_cast(StrBuf *sql, const char *type, const char *side, size_t index) {
    strbuf_format(sql, type == NULL ? "%s.c%zu" : "CAST(%s.c%zu AS ", side, index);
    if (type != NULL) {
        strbuf_format(sql, "%s)", type);
    }
}

static void append_distinct(StrBuf *sql, const Comparison *comparison, size_t index, const char *comparator) {
    const char *type = compared_type(&comparison->columns.items[index]);
    append_cast(sql, type, "l", index);
    strbuf_text(sql, comparator);
    append_cast(sql, type, "r", index);
}

/* Infinities and NaN equal themselves only: their difference is NaN, which is greater than any number. */
void comparison_append_differs(StrBuf *sql, const Comparison *comparison, size_t index) {
    append_distinct(sql, comparison, index, " IS DISTINCT FROM ");
    if (comparison->tolerance > 0 && is_float(&comparison->columns.items[index])) {
        strbuf_format(sql,
                      " AND NOT coalesce(abs(CAST(l.c%zu AS DOUBLE) - CAST(r.c%zu AS DOUBLE)) <= %.17g::DOUBLE, false)",
                      index, index, comparison->tolerance);
    }
}

/* A pair of rows of one key that differ in a value. */
static void append_differs(StrBuf *sql, const Comparison *comparison) {
    if (comparison->key_count == comparison->columns.count) {
        strbuf_text(sql, "false");
        return;
    }
    strbuf_text(sql, "l.here AND r.here AND (");
    for (size_t i = comparison->key_count; i < comparison->columns.count; i++) {
        strbuf_text(sql, i == comparison->key_count ? "(" : " OR (");
        comparison_append_differs(sql, comparison, i);
        strbuf_char(sql, ')');
    }
    strbuf_char(sql, ')');
}

static void append_key_match(StrBuf *sql, const Comparison *comparison) {
    for (size_t i = 0; i < comparison->key_count; i++) {
        strbuf_text(sql, i == 0 ? "" : " AND ");
        append_distinct(sql, comparison, i, " IS NOT DISTINCT FROM ");
    }
}

/* The rows of both sides, joined: l0, r0, …, whether a side has one, and whether they differ. */
static void append_joined(StrBuf *sql, const Comparison *comparison) {
    strbuf_text(sql, "SELECT l.here AS l_here, r.here AS r_here, ");
    for (size_t i = 0; i < comparison->columns.count; i++) {
        strbuf_format(sql, "l.c%zu AS l%zu, r.c%zu AS r%zu, ", i, i, i, i);
    }
    append_differs(sql, comparison);
    strbuf_text(sql, " AS differs");
}

/* --- What is kept of them --------------------------------------------------------------------------------------------
 */

static const struct KindRule {
    const char *sample;
    const char *where;
    const char *side; /* whose rows, and whose keys put them in order */
} kinds[] = {
    [ROWS_LEFT_ONLY] = {"left_sample", "r_here IS NULL", "l"},
    [ROWS_RIGHT_ONLY] = {"right_sample", "l_here IS NULL", "r"},
    [ROWS_CHANGED] = {"changed_sample", "differs", "l"},
};
static_assert(COUNT_OF(kinds) == ROWS_KIND_COUNT, "one row per ComparisonKind");

static void append_sample(StrBuf *sql, const Comparison *comparison, ComparisonKind kind, bool is_numbered) {
    const char *side = kinds[kind].side;
    strbuf_text(sql, ", arg_min({");
    for (size_t i = 0; i < comparison->columns.count; i++) {
        strbuf_format(sql, "%s'a%zu': %s%zu", i == 0 ? "" : ", ", i, side, i);
        if (kind == ROWS_CHANGED && i >= comparison->key_count) {
            strbuf_format(sql, ", 'b%zu': r%zu", i, i);
        }
    }
    strbuf_text(sql, "}, row(");
    append_numbered(sql, side, 0, comparison->key_count);
    if (is_numbered) {
        strbuf_format(sql, "%s%s_number", comparison->key_count > 0 ? ", " : "", side);
    }
    strbuf_format(sql, "), %lld) FILTER (WHERE %s) AS %s", (long long)comparison->sample_limit, kinds[kind].where,
                  kinds[kind].sample);
}

static void append_kept(StrBuf *sql, const Comparison *comparison, bool is_numbered) {
    strbuf_text(sql, "count(*) AS pairs, count(*) FILTER (WHERE r_here IS NULL) AS left_only, "
                     "count(*) FILTER (WHERE l_here IS NULL) AS right_only, "
                     "count(*) FILTER (WHERE differs) AS changed");
    for (size_t kind = 0; comparison->sample_limit > 0 && kind < ROWS_KIND_COUNT; kind++) {
        append_sample(sql, comparison, (ComparisonKind)kind, is_numbered);
    }
}

static void append_side(StrBuf *sql, const Comparison *comparison, const ComparedSide *side) {
    strbuf_text(sql, "(SELECT ");
    append_columns(sql, comparison);
    strbuf_text(sql, ", true AS here");
    append_from(sql, side);
    strbuf_char(sql, ')');
}

/* --- Unique keys -----------------------------------------------------------------------------------------------------
 * One join. Where a key has several rows the join has more pairs than there are rows, so that its result tells; the
 * LIMIT, which streams, keeps a key with a million rows on both sides from making a billion. Keys that only one side
 * has are counted for the same reason. */

void comparison_append_pairs(StrBuf *sql, const Comparison *comparison, const char *join) {
    strbuf_text(sql, "\nFROM ");
    append_side(sql, comparison, &comparison->left);
    strbuf_format(sql, " AS l\n%s ", join);
    append_side(sql, comparison, &comparison->right);
    strbuf_text(sql, " AS r\nON ");
    append_key_match(sql, comparison);
}

Str comparison_pair(const Comparison *comparison, int64_t left_count, int64_t right_count, Arena *arena) {
    assert(comparison->key_count > 0);
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE TEMP TABLE " RESULT_TABLE " AS SELECT ");
    append_kept(&sql, comparison, false);
    for (size_t kind = ROWS_LEFT_ONLY; kind <= ROWS_RIGHT_ONLY; kind++) {
        strbuf_text(&sql, ", count(DISTINCT row(");
        append_numbered(&sql, kinds[kind].side, 0, comparison->key_count);
        strbuf_format(&sql, ")) FILTER (WHERE %s) AS %s", kinds[kind].where,
                      kind == ROWS_LEFT_ONLY ? "left_keys" : "right_keys");
    }
    strbuf_text(&sql, ", 0 AS matched, 0 AS repeated_keys\nFROM (");
    append_joined(&sql, comparison);
    comparison_append_pairs(&sql, comparison, "FULL JOIN");
    strbuf_format(&sql, "\nLIMIT %lld)", (long long)left_count + (long long)right_count + 1);
    return strbuf_copy(&sql, arena);
}

bool comparison_is_unique(const ComparisonResult *result, int64_t left_count, int64_t right_count) {
    int64_t both = result->pairs - result->left_only - result->right_only;
    return both + result->left_only == left_count && both + result->right_only == right_count &&
           result->left_keys == result->left_only && result->right_keys == result->right_only;
}

/* --- Keys that repeat ------------------------------------------------------------------------------------------------
 */

/* A side's rows in the form in which both sides are compared, with its name in `is_left`. */
static void append_counted(StrBuf *sql, const Comparison *comparison, const ComparedSide *side, bool is_left) {
    strbuf_text(sql, "SELECT ");
    for (size_t i = 0; i < comparison->columns.count; i++) {
        append_cast(sql, compared_type(&comparison->columns.items[i]), "s", i);
        strbuf_format(sql, " AS c%zu, ", i);
    }
    strbuf_format(sql, "%s AS is_left FROM ", is_left ? "true" : "false");
    append_side(sql, comparison, side);
    strbuf_text(sql, " AS s");
}

/* What one side has more of a row than the other, each copy numbered within its key. */
static void append_surplus(StrBuf *sql, const Comparison *comparison, const char *more, const char *less) {
    size_t count = comparison->columns.count, key_count = comparison->key_count;
    strbuf_text(sql, "(SELECT *, row_number() OVER (");
    if (key_count > 0) {
        strbuf_text(sql, "PARTITION BY ");
        append_numbered(sql, "c", 0, key_count);
    }
    if (key_count < count) {
        strbuf_text(sql, " ORDER BY ");
        append_numbered(sql, "c", key_count, count);
    }
    strbuf_text(sql, ") AS number, true AS here FROM (SELECT ");
    append_numbered(sql, "c", 0, count);
    strbuf_format(sql, ", unnest(range(%s - %s)) AS copy FROM counted WHERE %s > %s))", more, less, more, less);
}

static void append_repeated_keys(StrBuf *sql, const Comparison *comparison) {
    if (comparison->key_count == 0) {
        strbuf_text(sql, ", 0 AS repeated_keys");
        return;
    }
    strbuf_text(sql, ", (SELECT count(*) FROM (SELECT 1 FROM counted GROUP BY ");
    append_numbered(sql, "c", 0, comparison->key_count);
    strbuf_text(sql, " HAVING sum(in_left) > 1 OR sum(in_right) > 1)) AS repeated_keys");
}

Str comparison_pair_repeated(const Comparison *comparison, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE TEMP TABLE " RESULT_TABLE " AS\nWITH counted AS MATERIALIZED (SELECT ");
    append_numbered(&sql, "c", 0, comparison->columns.count);
    strbuf_text(&sql, ", count(*) FILTER (WHERE is_left) AS in_left, "
                      "count(*) FILTER (WHERE NOT is_left) AS in_right\nFROM (");
    append_counted(&sql, comparison, &comparison->left, true);
    strbuf_text(&sql, "\nUNION ALL ");
    append_counted(&sql, comparison, &comparison->right, false);
    strbuf_text(&sql, ")\nGROUP BY ");
    append_numbered(&sql, "c", 0, comparison->columns.count);
    strbuf_text(&sql, ")\nSELECT ");
    append_kept(&sql, comparison, true);
    strbuf_text(&sql, ", 0 AS left_keys, 0 AS right_keys, "
                      "(SELECT coalesce(sum(least(in_left, in_right)), 0)::BIGINT FROM counted) AS matched");
    append_repeated_keys(&sql, comparison);
    strbuf_text(&sql, "\nFROM (");
    append_joined(&sql, comparison);
    strbuf_text(&sql, ", l.number AS l_number, r.number AS r_number\nFROM ");
    append_surplus(&sql, comparison, "in_left", "in_right");
    strbuf_text(&sql, " AS l\nFULL JOIN ");
    append_surplus(&sql, comparison, "in_right", "in_left");
    strbuf_text(&sql, " AS r\nON l.number = r.number");
    strbuf_text(&sql, comparison->key_count > 0 ? " AND " : "");
    append_key_match(&sql, comparison);
    strbuf_char(&sql, ')');
    return strbuf_copy(&sql, arena);
}

/* --- Results ---------------------------------------------------------------------------------------------------------
 */

const Str comparison_result =
    STR_INIT("SELECT pairs, left_only, right_only, changed, left_keys, right_keys, matched, repeated_keys "
             "FROM " RESULT_TABLE);

Str comparison_sample(ComparisonKind kind, Arena *arena) {
    return str_format(arena, "SELECT unnest(%s, max_depth := 2) FROM " RESULT_TABLE, kinds[kind].sample);
}

/* A column of the key may be called left_v already. */
static Str free_name(const StrVec *names, const char *prefix, Str name, Arena *arena) {
    Str wanted = str_format(arena, "%s" STR_FMT, prefix, STR_ARG(name));
    while (str_vec_contains_fold(names, wanted)) {
        wanted = str_format(arena, STR_FMT "_", STR_ARG(wanted));
    }
    return wanted;
}

StrVec comparison_sample_names(const Comparison *comparison, ComparisonKind kind, Arena *arena) {
    StrVec names = {0};
    for (size_t i = 0; i < comparison->columns.count; i++) {
        Str name = comparison->columns.items[i].name;
        if (kind == ROWS_CHANGED && i >= comparison->key_count) {
            str_vec_push(arena, &names, free_name(&names, "left_", name, arena));
            str_vec_push(arena, &names, free_name(&names, "right_", name, arena));
        } else {
            str_vec_push(arena, &names, name);
        }
    }
    return names;
}
