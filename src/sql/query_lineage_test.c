/* Lineage of single queries: tables of cases, the corpus, and texts whose paths are far more than their words. */
#include "sql/sql_fixture.h"

#include "base/files.h"
#include "config/config_value.h"
#include "sql/query_lineage.h"
#include "sql/query_lineage_codec.h"

/* up(id, v, w, k, tags, props), other(id, k, x); unknown tables are all others. */
static LineageTable get_table(void *context, const QuerySource *source) {
    static Str up_names[] = {STR_INIT("id"), STR_INIT("v"),    STR_INIT("w"),
                             STR_INIT("k"),  STR_INIT("tags"), STR_INIT("props")};
    static Str other_names[] = {STR_INIT("id"), STR_INIT("k"), STR_INIT("x")};
    static const StrVec up = {.items = up_names, .count = COUNT_OF(up_names)};
    static const StrVec other = {.items = other_names, .count = COUNT_OF(other_names)};
    const StrVec *columns = str_equal(source->name, STR("up")) ? &up : NULL;
    (void)context;
    return (LineageTable){.name = source->name, .columns = str_equal(source->name, STR("other")) ? &other : columns};
}

static const LineageTables tables = {.get = get_table};

static Str sources_form(Arena *arena, const LineageSourceVec *sources) {
    StrVec texts = {0};
    for (size_t i = 0; i < sources->count; i++) {
        const LineageSource *source = &sources->items[i];
        str_vec_push(arena, &texts,
                     str_format(arena, STR_FMT "." STR_FMT, STR_ARG(source->table), STR_ARG(source->column)));
    }
    return str_join(arena, texts.items, texts.count, STR(" "));
}

/* "a<up.v up.w; b<; rows up.k; open up; opaque" */
static Str lineage_form(Arena *arena, const QueryLineage *lineage) {
    StrVec parts = {0};
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        const LineageOutput *output = &lineage->outputs.items[i];
        Str sources = sources_form(arena, &output->sources);
        str_vec_push(arena, &parts, str_format(arena, STR_FMT "<" STR_FMT, STR_ARG(output->name), STR_ARG(sources)));
    }
    if (lineage->is_open) {
        Str open = str_join(arena, lineage->open_tables.items, lineage->open_tables.count, STR(" "));
        Str rest = sources_form(arena, &lineage->rest);
        str_vec_push(arena, &parts, str_format(arena, "open " STR_FMT "|" STR_FMT, STR_ARG(open), STR_ARG(rest)));
    }
    if (lineage->rows.count > 0) {
        str_vec_push(arena, &parts, str_format(arena, "rows " STR_FMT, STR_ARG(sources_form(arena, &lineage->rows))));
    }
    if (lineage->is_opaque) {
        str_vec_push(arena, &parts, STR("opaque"));
    }
    return str_join(arena, parts.items, parts.count, STR("; "));
}

static QueryLineage follow(SqlFixture *f, Str sql, const LineageTables *of) {
    QueryLineage lineage;
    query_lineage(parse(f, sql), of, f->arena, &lineage);
    return lineage;
}

typedef struct LineageCase {
    const char *sql, *expected;
} LineageCase;

/* As bytes and back it is the same; bytes that are cut off or changed are none, or safe to read. */
static void check_codec(SqlFixture *f, const LineageCase *of, const QueryLineage *lineage) {
    AUTO(strbuf) StrBuf bytes = {0};
    QueryLineage again = {0};
    query_lineage_encode(lineage, &bytes);
    assert_true(query_lineage_decode(strbuf_str(&bytes), f->arena, &again));
    check_text(of->sql, lineage_form(f->arena, &again), of->expected);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_false(query_lineage_decode(str_slice(strbuf_str(&bytes), 0, size), f->arena, &again));
    }
}

static void check_cases(SqlFixture *f, const LineageCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        QueryLineage lineage = follow(f, str_from(cases[i].sql), &tables);
        check_text(cases[i].sql, lineage_form(f->arena, &lineage), cases[i].expected);
        check_codec(f, &cases[i], &lineage);
    }
}

/* clang-format off */
static const LineageCase values[] = {
    {"SELECT id, v AS a, u.w, 1 AS one, now() AS t FROM up u", "id<up.id; a<up.v; w<up.w; one<; t<"},
    {"SELECT CASE WHEN v > 1 THEN w ELSE id END AS c FROM up", "c<up.v up.w up.id"},
    {"SELECT count(*) AS n, sum(v) FILTER (WHERE w > 0) AS s FROM up", "n<; s<up.v up.w"},
    {"SELECT sum(v) OVER (PARTITION BY k ORDER BY w) AS s FROM up", "s<up.v up.k up.w"},
    {"SELECT v * 2 AS d, d + w AS e FROM up", "d<up.v; e<up.v up.w"},
    {"SELECT props.page.url AS url, props['ref'] AS r FROM up", "url<up.props; r<up.props"},
    {"SELECT up.props.ref AS r, main.up.v FROM main.up", "r<up.props; v<up.v"},
    {"SELECT up FROM up", "up<up.id up.v up.w up.k up.tags up.props"},
    {"SELECT list_transform(tags, x -> x + v) AS l, props -> 'a' AS j FROM up", "l<up.tags up.v; j<up.props"},
    {"SELECT list_reduce(tags, lambda a, b: a + b + w) AS r FROM up", "r<up.tags up.w"},
    {"SELECT v.round() AS r FROM up", "r<up.v"},
    {"SELECT current_date AS d FROM up", "d<"},
    {"SELECT current_date AS d FROM nowhere", "d<"},
    {"SELECT \"current_date\" AS d FROM nowhere", "d<nowhere.current_date"},
    {"SELECT (SELECT max(n.z) FROM nowhere n WHERE n.k = u.k) AS m FROM up u", "m<nowhere.z nowhere.k up.k"},
    {"SELECT x AS x FROM nowhere", "x<nowhere.x"},
    {"SELECT count(*), x FROM nowhere", "<; x<nowhere.x"},
    {"SELECT zz FROM up", "zz<up.id up.v up.w up.k up.tags up.props; opaque"},
    {"SELECT zz FROM a, b", "zz<a.zz b.zz; opaque"},
    {"SELECT (SELECT max(n.z) FROM nowhere n WHERE n.k = q) AS m FROM b", "m<nowhere.z nowhere.k nowhere.q b.q; opaque"},
    {"SELECT v, y FROM up, b", "v<up.v; y<b.y"},
    {"SELECT (SELECT max(x) FROM other o WHERE o.k = up.k) AS m FROM up", "m<other.x other.k up.k"},
    {"SELECT EXISTS (FROM other o WHERE o.id = up.id) AS e FROM up", "e<other.id other.k other.x up.id"},
    {"SELECT v IN (SELECT x FROM other) AS i FROM up", "i<other.x up.v"},
    {"SELECT ARRAY(SELECT x FROM other) AS l", "l<other.x"},
};
static const LineageCase stars[] = {
    {"FROM other", "id<other.id; k<other.k; x<other.x"},
    {"SELECT * EXCLUDE (k) REPLACE (x + id AS x) RENAME (id AS i) FROM other", "i<other.id; x<other.x other.id"},
    {"SELECT o.*, up.v FROM other o, up", "id<other.id; k<other.k; x<other.x; v<up.v"},
    {"SELECT COLUMNS('^[a-k]') FROM other", "open |other.id other.k other.x"},
    {"SELECT COLUMNS('i.*') FROM other", "id<other.id"},
    {"SELECT COLUMNS(['k', 'x']) FROM other", "k<other.k; x<other.x"},
    {"SELECT COLUMNS(* EXCLUDE (k)) FROM other", "id<other.id; x<other.x"},
    {"SELECT coalesce(*COLUMNS(['k', 'x'])) AS c FROM other", "c<other.id other.k other.x; open |other.id other.k other.x"},
    {"SELECT COLUMNS(c -> c LIKE '%d') FROM other", "open |other.id other.k other.x"},
    {"SELECT * FROM nowhere", "open nowhere|"},
    {"SELECT * EXCLUDE (a) RENAME (b AS c) FROM nowhere", "c<nowhere.b; open nowhere|"},
    {"SELECT a, b FROM (SELECT * REPLACE (x + 1 AS a) FROM nowhere)", "a<nowhere.x; b<nowhere.b"},
    {"SELECT * FROM other a JOIN other b ON a.id = b.k",
     "id<other.id; k<other.k; x<other.x; id_1<other.id; k_1<other.k; x_1<other.x; rows other.id other.k"},
};
static const LineageCase sources[] = {
    {"WITH c AS (SELECT id, v + 1 AS vv FROM up) SELECT c.id, sum(vv) OVER (PARTITION BY c.id) AS s FROM c",
     "id<up.id; s<up.v up.id"},
    {"WITH c AS (SELECT id FROM up), d AS (WITH c AS (SELECT k AS id FROM other) FROM c) SELECT d.id, c.id AS i FROM d, c",
     "id<other.k; i<up.id"},
    {"WITH up AS (SELECT id, v AS q FROM up) SELECT q FROM up", "q<up.v"},
    {"WITH c(a, b) AS (SELECT id, v FROM up) SELECT b FROM c AS d(p, q) JOIN c ON p = a",
     "b<up.v; rows up.id"},
    {"SELECT t.b FROM (SELECT id, v FROM up) AS t(a, b)", "b<up.v"},
    {"WITH RECURSIVE t(a, b) AS (SELECT id, v FROM up UNION ALL SELECT b, a FROM t) SELECT a FROM t", "a<up.id up.v"},
    {"WITH RECURSIVE t AS (SELECT id, 0 AS n FROM up UNION ALL SELECT o.k, n + o.x FROM t JOIN other o ON o.id = t.id) SELECT id, n FROM t",
     "id<up.id other.k; n<other.x; rows other.id up.id other.k"},
    {"SELECT id, l.m FROM up, LATERAL (SELECT max(x) AS m FROM other o WHERE o.k = up.k) l",
     "id<up.id; m<other.x; rows other.k up.k"},
    {"SELECT t.tag FROM up u, unnest(u.tags) AS t(tag)", "tag<up.tags; rows up.tags"},
    {"SELECT unnest(tags) AS tag FROM up", "tag<up.tags; rows up.tags"},
    {"SELECT * FROM (VALUES (1, 2)) v(a, b)", "a<; b<; open |"},
    {"SELECT g FROM range(3) t(g)", "g<"},
    {"SELECT id, up.k, x FROM up JOIN other USING (id)", "id<up.id other.id; k<up.k; x<other.x; rows up.id other.id"},
    {"SELECT * FROM other NATURAL JOIN (SELECT id, v FROM up)",
     "id<other.id up.id; k<other.k; x<other.x; v<up.v; rows other.id up.id"},
    {"SELECT * FROM other SEMI JOIN up USING (id)", "id<other.id up.id; k<other.k; x<other.x; rows other.id up.id"},
    {"SELECT id AS a, v AS b FROM up UNION ALL SELECT k, x FROM other", "a<up.id other.k; b<up.v other.x"},
    {"SELECT id FROM up UNION SELECT k FROM other", "id<up.id other.k; rows up.id other.k"},
    {"SELECT id FROM up EXCEPT ALL SELECT k FROM other", "id<up.id other.k; rows up.id other.k"},
    {"SELECT id, v FROM up UNION ALL BY NAME SELECT x, id FROM other", "id<up.id other.id; v<up.v; x<other.x"},
    {"SELECT * FROM (PIVOT other ON k IN (1, 2) USING sum(x) GROUP BY id)",
     "id<other.id; open |other.x other.k; rows other.id other.x other.k"},
    {"SELECT id, name FROM (UNPIVOT other ON k, x INTO NAME name VALUE val)",
     "id<other.id other.k other.x; name<other.id other.k other.x; rows other.id other.k other.x"},
};
static const LineageCase rows[] = {
    {"SELECT id FROM up WHERE v > 1", "id<up.id; rows up.v"},
    {"SELECT k, sum(v) AS s FROM up GROUP BY k HAVING min(w) > 0", "k<up.k; s<up.v; rows up.k up.w"},
    {"SELECT k + 1 AS kk, sum(v) AS s FROM up GROUP BY 1", "kk<up.k; s<up.v; rows up.k"},
    {"SELECT k AS g, sum(v) AS s FROM up GROUP BY ALL", "g<up.k; s<up.v; rows up.k"},
    {"SELECT id FROM up QUALIFY row_number() OVER (PARTITION BY k ORDER BY w) = 1", "id<up.id; rows up.k up.w"},
    {"SELECT DISTINCT id, v FROM up", "id<up.id; v<up.v; rows up.id up.v"},
    {"SELECT DISTINCT ON (k) id FROM up ORDER BY k, w", "id<up.id; rows up.k up.w"},
    {"SELECT id FROM up ORDER BY v", "id<up.id"},
    {"SELECT id FROM up ORDER BY v LIMIT 3", "id<up.id; rows up.v"},
    {"SELECT id, w AS v FROM up ORDER BY v LIMIT 3", "id<up.id; v<up.w; rows up.w"},
    {"SELECT id FROM up WHERE EXISTS (SELECT 1 FROM other o WHERE o.k = up.k)", "id<up.id; rows other.k up.k"},
    {"SELECT a.id FROM up a LEFT JOIN other b ON a.k = b.k", "id<up.id; rows up.k other.k"},
    {"SELECT n FROM (SELECT count(*) AS n FROM up WHERE v > 1)", "n<; rows up.v"},
};
/* clang-format on */

static void test_05_7_1_values_are_traced(void **state) {
    check_cases(*state, values, COUNT_OF(values));
}

static void stars_are_expanded(void **state) {
    check_cases(*state, stars, COUNT_OF(stars));
}

static void test_05_7_2_ctes_joins_and_set_operations_are_traced_through(void **state) {
    check_cases(*state, sources, COUNT_OF(sources));
}

static void clauses_that_decide_rows_are_row_influence(void **state) {
    check_cases(*state, rows, COUNT_OF(rows));
}

/* --- The corpus --------------------------------------------------------------------------------------------------- */

static Str written_name(Arena *arena, const QuerySource *source) {
    return source->schema.size == 0
               ? source->name
               : str_format(arena, STR_FMT "." STR_FMT, STR_ARG(source->schema), STR_ARG(source->name));
}

typedef struct Corpus {
    Arena *arena;
    const ConfigValue *schema;
} Corpus;

static LineageTable get_corpus_table(void *context, const QuerySource *source) {
    const Corpus *corpus = context;
    LineageTable table = {.name = written_name(corpus->arena, source)};
    const ConfigValue *declared = config_find(corpus->schema, table.name);
    if (declared != NULL) {
        StrVec *names = ARENA_NEW(corpus->arena, StrVec);
        for (size_t i = 0; i < declared->count; i++) {
            str_vec_push(corpus->arena, names, declared->entries[i].key);
        }
        table.columns = names;
    }
    return table;
}

static Str sorted_form(Arena *arena, const LineageSourceVec *found) {
    StrVec texts = {0};
    for (size_t i = 0; i < found->count; i++) {
        const LineageSource *source = &found->items[i];
        str_vec_push(arena, &texts,
                     str_format(arena, STR_FMT "." STR_FMT, STR_ARG(source->table), STR_ARG(source->column)));
    }
    str_vec_sort(&texts);
    return str_join(arena, texts.items, texts.count, STR(" "));
}

static void check_corpus_model(SqlFixture *f, Corpus *corpus, const ConfigValue *model) {
    const ConfigValue *expected = config_find(model, STR("lineage"));
    Str sql = STR_EMPTY, file = config_find(model, STR("file"))->text;
    Str path = path_join(f->arena, STR("tests/corpus/sql"), file);
    assert_false(failed(file_read(path, SQL_TEXT_MAX, f->arena, &sql, &f->err)));
    LineageTables of = {.get = get_corpus_table, .context = corpus};
    QueryLineage lineage = follow(f, sql, &of);
    assert_false(lineage.is_opaque);
    assert_int_equal(lineage.outputs.count, expected->count);
    for (size_t i = 0; i < expected->count; i++) {
        StrVec texts = {0};
        LineageSourceVec found = {0};
        for (size_t s = 0; s < expected->entries[i].value->count; s++) {
            str_vec_push(f->arena, &texts, expected->entries[i].value->items[s]->text);
        }
        str_vec_sort(&texts);
        Str name = expected->entries[i].key;
        assert_true(query_lineage_find(&lineage, name, f->arena, &found));
        check_text(str_to_c(f->arena, str_format(f->arena, STR_FMT " " STR_FMT, STR_ARG(file), STR_ARG(name))),
                   sorted_form(f->arena, &found),
                   str_to_c(f->arena, str_join(f->arena, texts.items, texts.count, STR(" "))));
    }
}

static void the_corpus_has_the_lineage_of_its_manifest(void **state) {
    SqlFixture *f = *state;
    Str json = STR_EMPTY;
    ConfigValue *manifest = NULL;
    assert_false(failed(file_read(STR("tests/corpus/sql/manifest.json"), SQL_TEXT_MAX, f->arena, &json, &f->err)));
    assert_false(failed(json_read(json, STR("manifest.json"), f->arena, &manifest, &f->err)));
    Corpus corpus = {.arena = f->arena, .schema = config_find(manifest, STR("schema"))};
    const ConfigValue *models = config_find(manifest, STR("models"));
    size_t checked = 0;
    for (size_t i = 0; i < models->count; i++) {
        bool is_ours = str_equal(config_find(models->items[i], STR("dialect"))->text, STR("duckdb"));
        if (is_ours && config_find(models->items[i], STR("lineage")) != NULL) {
            check_corpus_model(f, &corpus, models->items[i]);
            checked++;
        }
    }
    assert_true(checked >= 25);
}

/* --- Cost --------------------------------------------------------------------------------------------------------- */

/* 2^40 paths: it only ends when every CTE is followed once. */
static void chains_and_diamonds_of_ctes_are_followed_once(void **state) {
    SqlFixture *f = *state;
    StrBuf sql = {0};
    strbuf_text(&sql, "WITH c0 AS (SELECT id, v FROM up)");
    for (size_t i = 1; i <= 80; i++) {
        size_t other = i <= 40 ? i - 1 : 0; /* diamonds, then a chain */
        strbuf_format(&sql, ", c%zu AS (SELECT a.id, a.v + b.v AS v FROM c%zu a JOIN c%zu b ON a.id = b.id)", i, i - 1,
                      other);
    }
    strbuf_text(&sql, " SELECT * FROM c80");
    QueryLineage lineage = follow(f, strbuf_str(&sql), &tables);
    check_text("80 levels", lineage_form(f->arena, &lineage), "id<up.id; v<up.v; rows up.id");
    strbuf_deinit(&sql);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_05_7_1_values_are_traced),
        cmocka_unit_test(stars_are_expanded),
        cmocka_unit_test(test_05_7_2_ctes_joins_and_set_operations_are_traced_through),
        cmocka_unit_test(clauses_that_decide_rows_are_row_influence),
        cmocka_unit_test(the_corpus_has_the_lineage_of_its_manifest),
        cmocka_unit_test(chains_and_diamonds_of_ctes_are_followed_once),
    };
    return cmocka_run_group_tests_name("query lineage", tests, sql_fixture_setup, sql_fixture_teardown);
}
