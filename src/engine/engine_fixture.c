#include "engine/engine_fixture.h"

#include "base/files.h"
#include "config/lake_catalog.h"

/* As the configuration would resolve it. */
static Str database_path(Ground *g, Str type, Str database) {
    bool is_lake = str_equal(type, STR("ducklake"));
    return path_join(g->arena, g->folder, is_lake ? lake_catalog_read(database).target : database);
}

int ground_open(void **state, Str type, Str database) {
    Ground *g = heap_alloc_zeroed(1, sizeof *g);
    g->arena = arena_create();
    error_init(&g->err);
    g->folder = fixture_folder(g->arena);
    g->config = (EngineConfig){
        .name = STR("default"),
        .type = type,
        .database = database,
        .database_path = database_path(g, type, database),
        .dialect = STR("duckdb"),
        .alias = STR("shop"),
    };
    g->options = (EngineOptions){.config = &g->config, .root = g->folder};
    assert_ok(engine_create(&g->options, &g->engine, &g->err), &g->err);
    *state = g;
    return 0;
}

int ground_close(void **state) {
    Ground *g = *state;
    engine_destroy(g->engine);
    file_remove_tree(g->folder);
    error_deinit(&g->err);
    arena_destroy(g->arena);
    free(g);
    return 0;
}

void ground_reopen(Ground *g, const StrVec *writable_aliases) {
    engine_destroy(TAKE(g->engine));
    g->options.writable_aliases = writable_aliases;
    assert_ok(engine_create(&g->options, &g->engine, &g->err), &g->err);
}

EngineConnection *ground_connect(Ground *g) {
    EngineConnection *connection = NULL;
    assert_ok(engine_connect(g->engine, &connection, &g->err), &g->err);
    return connection;
}

int64_t changed(Ground *g, EngineConnection *connection, const char *text) {
    int64_t count = 0;
    SqlText sql = sql_text_own(g->arena, str_from(text));
    assert_ok(engine_execute(connection, &sql, &count, &g->err), &g->err);
    return count;
}

void run(Ground *g, EngineConnection *connection, const char *text) {
    (void)changed(g, connection, text);
}

void run_failing(Ground *g, EngineConnection *connection, const char *text) {
    SqlText sql = sql_text_own(g->arena, str_from(text));
    assert_failed(engine_execute(connection, &sql, NULL, &g->err));
}

int64_t number(Ground *g, EngineConnection *connection, const char *text) {
    int64_t found = 0;
    SqlText sql = sql_text_own(g->arena, str_from(text));
    assert_ok(engine_query_int(connection, &sql, &found, &g->err), &g->err);
    return found;
}

Str columns_text(Ground *g, EngineConnection *connection, const char *catalog, const char *schema, const char *name) {
    SqlRelation relation = {.catalog = str_from(catalog), .schema = str_from(schema), .name = str_from(name)};
    DuckColumnVec columns = {0};
    bool exists = false;
    if (failed(engine_relation_columns(connection, relation, g->arena, &exists, &columns, &g->err))) {
        return g->err.message;
    }
    AUTO(strbuf) StrBuf text = {0};
    strbuf_text(&text, exists ? "" : "absent");
    for (size_t i = 0; i < columns.count; i++) {
        strbuf_format(&text, "%s" STR_FMT " " STR_FMT, i > 0 ? ", " : "", STR_ARG(columns.items[i].name),
                      STR_ARG(columns.items[i].type));
    }
    return strbuf_copy(&text, g->arena);
}
