#include "run/physical.h"

PhysicalWork physical_work(const Project *project, const Model *model, SqlRelation relation, Str record, Arena *arena) {
    PhysicalWork work = {
        .place = physical_place(project, model),
        .relation = relation,
        .is_owned = model->materialise != MATERIALISE_TABLE,
    };
    StrVec warnings; /* the plan told them */
    physical_objects_wanted(project, model, arena, &work.wanted, &warnings);
    physical_objects_from_json(record, arena, &work.recorded);
    return work;
}

/* ---- Statements. PostgreSQL's go through its attachment as they are: DuckDB knows none of its constraints. */

static SqlRelation table_of(const PhysicalWork *work) {
    SqlRelation table = work->relation;
    if (work->place == PLACE_POSTGRES) {
        table.catalog = STR_EMPTY;
    }
    return table;
}

static SqlRelation named_beside(const PhysicalWork *work, Str name) {
    SqlRelation relation = table_of(work);
    relation.name = name;
    return relation;
}

static void append_columns(const StrVec *columns, StrBuf *sql) {
    strbuf_text(sql, " (");
    sql_identifier_list(sql, columns->items, columns->count);
    strbuf_char(sql, ')');
}

static void append_alter(const PhysicalWork *work, StrBuf *sql) {
    strbuf_text(sql, "ALTER TABLE ");
    sql_relation(sql, table_of(work));
}

static void append_null_rule(const PhysicalWork *work, const PhysicalObject *object, const char *verb, StrBuf *sql) {
    append_alter(work, sql);
    strbuf_text(sql, " ALTER COLUMN ");
    sql_identifier(sql, object->columns.items[0]);
    strbuf_format(sql, " %s NOT NULL", verb);
}

static void append_create_index(const PhysicalWork *work, const PhysicalObject *object, Str name, StrBuf *sql) {
    strbuf_text(sql, object->kind == PHYSICAL_UNIQUE_INDEX ? "CREATE UNIQUE INDEX " : "CREATE INDEX ");
    sql_identifier(sql, name);
    strbuf_text(sql, " ON ");
    sql_relation(sql, table_of(work));
    append_columns(&object->columns, sql);
}

/* schema.table, each part quoted. */
static void append_reference(Str to, StrBuf *sql) {
    for (Str rest = to; rest.size > 0;) {
        size_t end = str_find_char(rest, '.');
        sql_identifier(sql, str_slice(rest, 0, end));
        rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, end + 1);
        strbuf_text(sql, rest.size > 0 ? "." : "");
    }
}

static void append_constraint(const PhysicalWork *work, const PhysicalObject *object, Str name, StrBuf *sql) {
    append_alter(work, sql);
    strbuf_text(sql, " ADD CONSTRAINT ");
    sql_identifier(sql, name);
    switch (object->kind) {
    case PHYSICAL_PRIMARY_KEY:
        strbuf_text(sql, " PRIMARY KEY");
        append_columns(&object->columns, sql);
        return;
    case PHYSICAL_UNIQUE:
        strbuf_text(sql, " UNIQUE");
        append_columns(&object->columns, sql);
        return;
    case PHYSICAL_CHECK:
        strbuf_text(sql, " CHECK (");
        strbuf_append(sql, object->expression);
        strbuf_text(sql, "\n)");
        return;
    case PHYSICAL_FOREIGN_KEY:
        strbuf_text(sql, " FOREIGN KEY");
        append_columns(&object->columns, sql);
        strbuf_text(sql, " REFERENCES ");
        append_reference(object->to, sql);
        append_columns(&object->fields, sql);
        return;
    case PHYSICAL_INDEX:
    case PHYSICAL_UNIQUE_INDEX:
    case PHYSICAL_NOT_NULL:
    case PHYSICAL_KIND_COUNT:
        assert(false); /* no constraint of the table */
        return;
    }
}

static bool is_index(const PhysicalObject *object) {
    return object->kind == PHYSICAL_INDEX || object->kind == PHYSICAL_UNIQUE_INDEX;
}

static void append_create(const PhysicalWork *work, const PhysicalObject *object, Str name, StrBuf *sql) {
    if (object->kind == PHYSICAL_NOT_NULL) {
        append_null_rule(work, object, "SET", sql);
    } else if (is_index(object)) {
        append_create_index(work, object, name, sql);
    } else {
        append_constraint(work, object, name, sql);
    }
}

static void append_drop(const PhysicalWork *work, const PhysicalObject *object, Str name, StrBuf *sql) {
    if (object->kind == PHYSICAL_NOT_NULL) {
        append_null_rule(work, object, "DROP", sql);
    } else if (is_index(object)) {
        strbuf_text(sql, "DROP INDEX IF EXISTS ");
        sql_relation(sql, named_beside(work, name));
    } else {
        append_alter(work, sql);
        strbuf_text(sql, " DROP CONSTRAINT IF EXISTS ");
        sql_identifier(sql, name);
    }
}

static Status execute(const PhysicalWork *work, EngineConnection *connection, Str statement, Error *err) {
    AUTO(strbuf) StrBuf call = {0};
    if (work->place == PLACE_POSTGRES) {
        sql_remote_call(&call, "CALL postgres_execute", work->relation.catalog, statement);
        statement = strbuf_str(&call);
    }
    return engine_execute_own(connection, statement, err);
}

typedef void StatementWriter(const PhysicalWork *work, const PhysicalObject *object, Str name, StrBuf *sql);

static Status execute_for(const PhysicalWork *work, EngineConnection *connection, const PhysicalObject *object,
                          StatementWriter *write, Arena *arena, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    write(work, object, physical_created_name(object, work->relation.name, work->is_owned, arena), &sql);
    if (failed(execute(work, connection, strbuf_str(&sql), err))) {
        return error_wrap(err, "changing %s " STR_FMT, physical_kind_word(object->kind), STR_ARG(object->name));
    }
    return OK;
}

/* ---- What is there: names of indexes and constraints, and columns that may not be NULL as "column NOT NULL". */

static void append_duckdb_question(const PhysicalWork *work, StrBuf *sql) {
    AUTO(strbuf) StrBuf table = {0};
    strbuf_text(&table, " WHERE database_name = ");
    if (work->relation.catalog.size > 0) {
        sql_literal(&table, work->relation.catalog);
    } else {
        strbuf_text(&table, "current_database()");
    }
    strbuf_text(&table, " AND schema_name = ");
    sql_literal(&table, work->relation.schema);
    strbuf_text(&table, " AND table_name = ");
    sql_literal(&table, work->relation.name);
    strbuf_format(sql,
                  "SELECT index_name FROM duckdb_indexes()%s UNION ALL "
                  "SELECT column_name || ' NOT NULL' FROM duckdb_columns()%s AND NOT is_nullable",
                  strbuf_c(&table), strbuf_c(&table));
}

static void append_postgres_question(const PhysicalWork *work, StrBuf *sql) {
    AUTO(strbuf) StrBuf name = {0};
    AUTO(strbuf) StrBuf table = {0};
    AUTO(strbuf) StrBuf question = {0};
    sql_relation(&name, table_of(work));
    sql_literal(&table, strbuf_str(&name));
    const char *regclass = strbuf_c(&table);
    strbuf_format(&question,
                  "SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
                  "WHERE i.indrelid = %s::regclass UNION "
                  "SELECT conname::text FROM pg_constraint WHERE conrelid = %s::regclass AND contype <> 'n' UNION "
                  "SELECT attname::text || ' NOT NULL' FROM pg_attribute "
                  "WHERE attrelid = %s::regclass AND attnum > 0 AND attnotnull",
                  regclass, regclass, regclass);
    sql_remote_call(sql, "SELECT * FROM postgres_query", work->relation.catalog, strbuf_str(&question));
}

static Status list_present(const PhysicalWork *work, EngineConnection *connection, Arena *arena, StrVec *names_out,
                           Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    StrVec names = {0};
    if (work->place == PLACE_POSTGRES) {
        append_postgres_question(work, &sql);
    } else {
        append_duckdb_question(work, &sql);
    }
    SqlText text = sql_text_own(arena, strbuf_copy(&sql, arena));
    DuckRows rows;
    TRY(engine_query(connection, &text, arena, &rows, err));
    for (size_t i = 0; i < rows.row_count; i++) {
        str_vec_push(arena, &names, duck_cell(&rows, i, 0)->text);
    }
    *names_out = names;
    return OK;
}

static bool is_present(const PhysicalWork *work, const StrVec *present, const PhysicalObject *object, Arena *arena) {
    Str name = object->kind == PHYSICAL_NOT_NULL
                   ? str_format(arena, STR_FMT " NOT NULL", STR_ARG(object->columns.items[0]))
                   : physical_created_name(object, work->relation.name, work->is_owned, arena);
    return str_vec_contains_fold(present, name);
}

/* ---- Creating */

static PhysicalObject *find_recorded(const PhysicalWork *work, const PhysicalObject *object) {
    for (size_t i = 0; i < work->recorded.count; i++) {
        if (physical_object_equal(&work->recorded.items[i], object)) {
            return &work->recorded.items[i];
        }
    }
    return NULL;
}

/* A rule on a column that stands already may be somebody else's; an object of our name is ours. */
static Status create_one(PhysicalWork *work, EngineConnection *connection, PhysicalObject *object,
                         const StrVec *present, Arena *arena, Error *err) {
    const PhysicalObject *recorded = find_recorded(work, object);
    object->is_found = recorded != NULL && recorded->is_found;
    if (!is_present(work, present, object, arena)) {
        object->is_found = false;
        return execute_for(work, connection, object, append_create, arena, err);
    }
    if (recorded == NULL && object->kind == PHYSICAL_NOT_NULL && !work->is_owned) {
        object->is_found = true;
    }
    return OK;
}

static Status create_some(PhysicalWork *work, EngineConnection *connection, bool of_columns, const StrVec *present,
                          Arena *arena, Error *err) {
    for (size_t i = 0; i < work->wanted.count; i++) {
        PhysicalObject *object = &work->wanted.items[i];
        if ((object->kind == PHYSICAL_NOT_NULL) == of_columns) {
            TRY(create_one(work, connection, object, present, arena, err));
        }
    }
    return OK;
}

Status physical_create(PhysicalWork *work, EngineConnection *connection, Arena *arena, Error *err) {
    if (work->relation.name.size == 0 || work->wanted.count == 0) {
        return OK;
    }
    StrVec present;
    TRY(list_present(work, connection, arena, &present, err));
    TRY(create_some(work, connection, true, &present, arena, err)); /* no column is altered under an index */
    return create_some(work, connection, false, &present, arena, err);
}

/* ---- Bringing a table up to date */

static bool alters_a_column(const PhysicalWork *work, const PhysicalObjectVec *gone, const StrVec *present,
                            Arena *arena) {
    bool alters = false;
    for (size_t i = 0; i < gone->count; i++) {
        alters = alters || (gone->items[i].kind == PHYSICAL_NOT_NULL && !gone->items[i].is_found);
    }
    for (size_t i = 0; i < work->wanted.count; i++) {
        const PhysicalObject *object = &work->wanted.items[i];
        alters = alters || (object->kind == PHYSICAL_NOT_NULL && !is_present(work, present, object, arena));
    }
    return alters;
}

static Status drop_some(const PhysicalWork *work, EngineConnection *connection, const PhysicalObjectVec *objects,
                        bool of_columns, Arena *arena, Error *err) {
    for (size_t i = 0; i < objects->count; i++) {
        const PhysicalObject *object = &objects->items[i];
        if ((object->kind == PHYSICAL_NOT_NULL) == of_columns && !object->is_found) {
            TRY(execute_for(work, connection, object, append_drop, arena, err));
        }
    }
    return OK;
}

static Status drop_all(const PhysicalWork *work, EngineConnection *connection, const PhysicalObjectVec *objects,
                       Arena *arena, Error *err) {
    TRY(drop_some(work, connection, objects, false, arena, err));
    return drop_some(work, connection, objects, true, arena, err);
}

/* What goes, and on DuckDB also the indexes that a column cannot be altered under: they are made anew behind it. */
static PhysicalObjectVec objects_to_drop(const PhysicalWork *work, const StrVec *present, Arena *arena) {
    PhysicalObjectVec gone = physical_objects_without(&work->recorded, &work->wanted, arena);
    bool clears_indexes = work->place == PLACE_DUCKDB && alters_a_column(work, &gone, present, arena);
    for (size_t i = 0; clears_indexes && i < work->wanted.count; i++) {
        const PhysicalObject *object = &work->wanted.items[i];
        if (is_index(object) && is_present(work, present, object, arena)) {
            physical_object_vec_push(arena, &gone, *object);
        }
    }
    return gone;
}

Status physical_reconcile(PhysicalWork *work, EngineConnection *connection, Arena *arena, Error *err) {
    if (work->relation.name.size == 0 || work->wanted.count + work->recorded.count == 0) {
        return OK;
    }
    StrVec present;
    TRY(list_present(work, connection, arena, &present, err));
    PhysicalObjectVec gone = objects_to_drop(work, &present, arena);
    TRY(engine_begin(connection, err));
    if (failed(drop_all(work, connection, &gone, arena, err)) || failed(engine_commit(connection, err))) {
        engine_rollback(connection);
        return FAILED;
    }
    TRY(engine_begin(connection, err));
    if (failed(physical_create(work, connection, arena, err)) || failed(engine_commit(connection, err))) {
        engine_rollback(connection);
        return FAILED;
    }
    return OK;
}

Str physical_record(const PhysicalWork *work, Arena *arena) {
    bool was_ever = work->relation.name.size > 0 && work->wanted.count + work->recorded.count > 0;
    return was_ever ? physical_objects_to_json(&work->wanted, arena) : STR_EMPTY;
}
