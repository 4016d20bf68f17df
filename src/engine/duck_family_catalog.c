/* The catalog questions of the DuckDB family. */
#include "engine/duck_family.h"

#include "duck/duck_error.h"

/* Schemas that are ours alone. `_` is a wildcard of LIKE, hence starts_with. */
#define OWNED_SCHEMA "starts_with(lower(schema_name), 'interlace__')"
#define OWN_DATABASE "database_name = current_database() AND NOT internal"

static RelationKind kind_of_cell(const DuckCell *cell) {
    return str_equal(cell->text, STR("table")) ? RELATION_TABLE : RELATION_VIEW;
}

Status family_relations(void *session, Arena *arena, EngineRelationVec *relations_out, Error *err) {
    const Str sql = STR("SELECT schema_name, table_name, 'table' FROM duckdb_tables() WHERE " OWN_DATABASE
                        " UNION ALL SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE " OWN_DATABASE);
    DuckRows rows;
    EngineRelationVec relations = {0};

    TRY(family_query(session, sql, arena, &rows, err));
    for (size_t row = 0; row < rows.row_count; row++) {
        EngineRelation relation = {
            .schema = duck_cell(&rows, row, 0)->text,
            .name = duck_cell(&rows, row, 1)->text,
            .kind = kind_of_cell(duck_cell(&rows, row, 2)),
        };
        engine_relation_vec_push(arena, &relations, relation);
    }
    *relations_out = relations;
    return OK;
}

Status family_owned_relations(void *session, Arena *arena, OwnedRelationVec *relations_out, Error *err) {
    const Str sql =
        STR("SELECT schema_name, table_name, 'table', '' FROM duckdb_tables() WHERE " OWN_DATABASE " AND " OWNED_SCHEMA
            " UNION ALL SELECT schema_name, view_name, 'view', sql FROM duckdb_views() WHERE " OWN_DATABASE
            " AND " OWNED_SCHEMA " ORDER BY 1, 2");
    DuckRows rows;
    OwnedRelationVec relations = {0};

    TRY(family_query(session, sql, arena, &rows, err));
    for (size_t row = 0; row < rows.row_count; row++) {
        OwnedRelation relation = {
            .relation = {.schema = duck_cell(&rows, row, 0)->text, .name = duck_cell(&rows, row, 1)->text},
            .kind = kind_of_cell(duck_cell(&rows, row, 2)),
            .sql = duck_cell(&rows, row, 3)->text,
        };
        owned_relation_vec_push(arena, &relations, relation);
    }
    *relations_out = relations;
    return OK;
}

/* The engine stores the text of a view in its own spelling: … AS SELECT * FROM interlace__silver."orders__0a…"; */
#define VIEW_BODY "' AS SELECT \\* FROM (\"(?:[^\"]|\"\")+\"|[^\" .]+)\\.(\"(?:[^\"]|\"\")+\"|[^\" .;]+);?\\s*$'"

static Str unquote(Arena *arena, Str name) {
    if (!str_starts_with(name, STR("\""))) {
        return name;
    }
    AUTO(strbuf) StrBuf plain = {0};
    for (size_t i = 1; i + 1 < name.size; i++) {
        strbuf_char(&plain, name.ptr[i]);
        i += name.ptr[i] == '"'; /* doubled */
    }
    return strbuf_copy(&plain, arena);
}

Status family_environment_views(void *session, Arena *arena, EngineViewVec *views_out, Error *err) {
    const Str sql = STR("SELECT schema_name, view_name, regexp_extract(sql, " VIEW_BODY ", 1),"
                        " regexp_extract(sql, " VIEW_BODY ", 2) FROM duckdb_views()"
                        " WHERE " OWN_DATABASE " AND NOT " OWNED_SCHEMA " AND regexp_matches(sql, " VIEW_BODY ")"
                        " ORDER BY schema_name, view_name");
    DuckRows rows;
    EngineViewVec views = {0};

    TRY(family_query(session, sql, arena, &rows, err));
    for (size_t row = 0; row < rows.row_count; row++) {
        EngineView view = {
            .schema = duck_cell(&rows, row, 0)->text,
            .name = duck_cell(&rows, row, 1)->text,
            .target.schema = unquote(arena, duck_cell(&rows, row, 2)->text),
            .target.name = unquote(arena, duck_cell(&rows, row, 3)->text),
        };
        if (str_starts_with_fold(view.target.schema, STR("interlace__"))) {
            engine_view_vec_push(arena, &views, view);
        }
    }
    *views_out = views;
    return OK;
}

static bool has_schema(const DuckRows *present, Str schema) {
    for (size_t row = 0; row < present->row_count; row++) {
        if (str_equal_fold(duck_cell(present, row, 0)->text, schema)) {
            return true;
        }
    }
    return false;
}

/* "warehouse"."orders" may then mean the database's or the schema's: the engine refuses every such name, for readers
 * too. */
static Status check_not_database_name(void *session, const StrVec *schemas, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    DuckRows rows;
    TRY(family_query(session, STR("SELECT current_database()"), arena, &rows, err));
    Str database = duck_cell(&rows, 0, 0)->text;
    for (size_t i = 0; i < schemas->count; i++) {
        if (str_equal_fold(schemas->items[i], database)) {
            (void)error_set(err, ERROR_CONFIGURATION,
                            "schema '" STR_FMT "' has the name of the database: DuckDB cannot tell them apart",
                            STR_ARG(schemas->items[i]));
            error_code(err, STR("schema.ambiguous"));
            return FAILED;
        }
    }
    return OK;
}

Status family_missing_schemas(void *session, const StrVec *wanted, Arena *arena, StrVec *missing_out, Error *err) {
    const Str sql = STR("SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database()");
    DuckRows present;
    StrVec missing = {0};

    TRY(check_not_database_name(session, wanted, err));
    TRY(family_query(session, sql, arena, &present, err));
    for (size_t i = 0; i < wanted->count; i++) {
        if (!has_schema(&present, wanted->items[i])) {
            str_vec_push(arena, &missing, wanted->items[i]);
        }
    }
    *missing_out = missing;
    return OK;
}

/* --- One relation, wherever it lies ------------------------------------------------------------------------------- */

static Status count(FamilySession *session, StrBuf *sql, int64_t *count_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    DuckRows rows;
    TRY(family_query(session, strbuf_str(sql), arena, &rows, err));
    return duck_rows_int(&rows, count_out, err);
}

static void where_equal_fold(StrBuf *sql, const char *column, Str name) {
    strbuf_format(sql, " AND lower(%s) = lower(", column);
    sql_literal(sql, name);
    strbuf_char(sql, ')');
}

static void where_catalog(StrBuf *sql, Str catalog) {
    if (catalog.size == 0) {
        strbuf_text(sql, " AND database_name = current_database()");
    } else {
        where_equal_fold(sql, "database_name", catalog);
    }
}

/* "Table with name x does not exist", where x or s.x is what was asked for. */
static bool says_absent(const Error *err, SqlRelation relation) {
    const Str start = STR("Table with name ");
    Str message = err->message;
    if (err->kind != ERROR_EXECUTION || !str_starts_with(message, start)) {
        return false;
    }
    size_t end = str_find(message, STR(" does not exist"));
    Str named = end == STR_NOT_FOUND ? STR_EMPTY : str_slice(message, start.size, end);
    AUTO(arena) Arena *arena = arena_create();
    Str qualified = str_format(arena, "\"" STR_FMT "." STR_FMT "\"", STR_ARG(relation.schema), STR_ARG(relation.name));
    return str_equal_fold(named, relation.name) || str_equal_fold(named, qualified);
}

/* A view of this name whose source is gone and has the same name gives the same error. */
static Status is_view(FamilySession *session, SqlRelation relation, bool *is_view_out, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    int64_t found = 0;

    strbuf_text(&sql, "SELECT count(*) FROM duckdb_views() WHERE true");
    where_catalog(&sql, relation.catalog);
    where_equal_fold(&sql, "schema_name", relation.schema.size > 0 ? relation.schema : STR("main"));
    where_equal_fold(&sql, "view_name", relation.name);
    TRY(count(session, &sql, &found, err));
    *is_view_out = found > 0;
    return OK;
}

Status family_relation_columns(void *session, SqlRelation relation, Arena *arena, bool *exists_out,
                               DuckColumnVec *columns_out, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    bool is_broken_view = false;

    if (relation.catalog.size > 0) {
        family_refresh(session);
    }
    strbuf_text(&sql, "SELECT * FROM ");
    sql_relation(&sql, relation);
    if (!failed(family_describe(session, strbuf_str(&sql), arena, columns_out, err))) {
        *exists_out = true;
        return OK;
    }
    if (!says_absent(err, relation)) {
        return FAILED;
    }
    AUTO(error) Error question = {0};
    if (failed(is_view(session, relation, &is_broken_view, &question))) {
        error_move(err, &question);
        return FAILED;
    }
    if (is_broken_view) {
        return FAILED;
    }
    error_clear(err);
    *exists_out = false;
    *columns_out = (DuckColumnVec){0};
    return OK;
}

/* --- Schemas of others -------------------------------------------------------------------------------------------- */

static Status schema_exists(FamilySession *session, Str catalog, Str schema, bool *exists_out, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    int64_t found = 0;

    strbuf_text(&sql, "SELECT count(*) FROM duckdb_schemas() WHERE true");
    where_catalog(&sql, catalog);
    where_equal_fold(&sql, "schema_name", schema);
    TRY(count(session, &sql, &found, err));
    *exists_out = found > 0;
    return OK;
}

Status family_create_external_schema(void *session, Str catalog, Str schema, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    bool exists = false;

    TRY(schema_exists(session, catalog, schema, &exists, err));
    if (exists) {
        return OK;
    }
    strbuf_text(&sql, "CREATE SCHEMA IF NOT EXISTS ");
    sql_identifier(&sql, catalog);
    strbuf_char(&sql, '.');
    sql_identifier(&sql, schema);
    if (failed(family_execute(session, strbuf_str(&sql), NULL, err))) {
        error_hint(err, "create schema '" STR_FMT "' in '" STR_FMT "' by hand, or grant the right to create it",
                   STR_ARG(schema), STR_ARG(catalog));
        return error_wrap(err, "creating schema '" STR_FMT "' in '" STR_FMT "'", STR_ARG(schema), STR_ARG(catalog));
    }
    return OK;
}

Status family_load_extension(void *session, Str name, Error *err) {
    FamilySession *family = session;
    return duck_database_load_extension(family->database->duck, name, err);
}
