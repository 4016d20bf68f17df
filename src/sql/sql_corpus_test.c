/* The corpus of tests/corpus/sql against its manifest: the gate of an upgrade of the engine. */
#include "sql/sql_fixture.h"

#include "base/files.h"
#include "config/config_value.h"
#include "sql/sql_lexer.h"

static const ConfigValue *read_models(SqlFixture *f) {
    Str json = STR_EMPTY;
    ConfigValue *manifest = NULL;
    if (failed(file_read(STR("tests/corpus/sql/manifest.json"), SQL_TEXT_MAX, f->arena, &json, &f->err)) ||
        failed(json_read(json, STR("manifest.json"), f->arena, &manifest, &f->err))) {
        fail_msg(STR_FMT, STR_ARG(f->err.message));
    }
    return config_find(manifest, STR("models"));
}

static Str read_sql(SqlFixture *f, const ConfigValue *model) {
    Str sql = STR_EMPTY;
    Str path = path_join(f->arena, STR("tests/corpus/sql"), config_find(model, STR("file"))->text);
    if (failed(file_read(path, SQL_TEXT_MAX, f->arena, &sql, &f->err))) {
        fail_msg(STR_FMT, STR_ARG(f->err.message));
    }
    return sql;
}

static bool is_query(const ConfigValue *model) {
    static const char *const faults[] = {"non_select", "syntax_error", "duckdb_rejects"};
    bool is_dynamic_pivot = str_starts_with(config_find(model, STR("file"))->text, STR("duckdb_012"));
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        if (config_find(model, str_from(faults[i])) != NULL) {
            return false;
        }
    }
    return !is_dynamic_pivot;
}

/* --- What the manifest says --------------------------------------------------------------------------------------- */

static StrVec expected(Arena *arena, const ConfigValue *model, const char *key) {
    StrVec items = {0};
    const ConfigValue *list = config_find(model, str_from(key));
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        str_vec_push(arena, &items, list->items[i]->text);
    }
    str_vec_sort(&items);
    return items;
}

static Str joined(Arena *arena, StrVec items) {
    StrVec once = {0};
    str_vec_sort(&items);
    for (size_t i = 0; i < items.count; i++) {
        if (i == 0 || !str_equal(items.items[i - 1], items.items[i])) {
            str_vec_push(arena, &once, items.items[i]);
        }
    }
    return str_join(arena, once.items, once.count, STR(" "));
}

static StrVec tables_of(Arena *arena, const SqlFacts *facts, bool is_file) {
    StrVec names = {0};
    for (size_t i = 0; i < facts->tables.count; i++) {
        if (facts->tables.items[i].is_file == is_file) {
            str_vec_push(arena, &names, sql_dotted_name(sql_table_relation(&facts->tables.items[i]), arena));
        }
    }
    return names;
}

static StrVec table_functions_of(Arena *arena, const SqlFacts *facts) {
    StrVec names = {0};
    for (size_t i = 0; i < facts->functions.count; i++) {
        Str name = str_lower(arena, facts->functions.items[i].name);
        if (facts->functions.items[i].in_from && !str_equal(name, STR("unnest"))) {
            str_vec_push(arena, &names, name);
        }
    }
    return names;
}

static StrVec clock_names_of(Arena *arena, const SqlFacts *facts) {
    StrVec names = {0};
    for (size_t i = 0; i < facts->clock_reads.count; i++) {
        Str name = facts->clock_reads.items[i].name;
        if (!str_vec_contains(&names, name)) {
            str_vec_push(arena, &names, name);
        }
    }
    return names;
}

static void check_list(Arena *arena, const ConfigValue *model, const char *key, StrVec actual) {
    Str what = str_format(arena, STR_FMT " %s", STR_ARG(config_find(model, STR("file"))->text), key);
    check_text(str_to_c(arena, what), joined(arena, actual),
               str_to_c(arena, joined(arena, expected(arena, model, key))));
}

static void facts_are_those_of_the_manifest(void **state) {
    SqlFixture *f = *state;
    const ConfigValue *models = read_models(f);
    size_t count = 0;
    for (size_t i = 0; i < models->count; i++) {
        const ConfigValue *model = models->items[i];
        if (!is_query(model)) {
            continue;
        }
        const SqlFacts *facts = analyze(f, read_sql(f, model)).facts;
        check_list(f->arena, model, "sources", tables_of(f->arena, facts, false));
        check_list(f->arena, model, "files", tables_of(f->arena, facts, true));
        check_list(f->arena, model, "table_functions", table_functions_of(f->arena, facts));
        check_list(f->arena, model, "clock", clock_names_of(f->arena, facts));
        count++;
    }
    assert_int_equal(count, 81);
}

static void what_is_no_query_is_refused_at_a_place(void **state) {
    SqlFixture *f = *state;
    const ConfigValue *models = read_models(f);
    for (size_t i = 0; i < models->count; i++) {
        if (!is_query(models->items[i])) {
            assert_true(analysis_error(f, read_sql(f, models->items[i])).size > 0);
        }
    }
}

/* Each place holds the name it should, in quotes or not. */
static void places_hold_their_names(void **state) {
    SqlFixture *f = *state;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        const SqlFacts *facts = analyze(f, texts.items[i]).facts;
        for (size_t k = 0; k < facts->tables.count; k++) {
            const SqlTableRef *table = &facts->tables.items[k];
            Str written = str_slice(texts.items[i], table->start, table->end);
            StrVec parts = {0};
            SqlLexer lexer = sql_lexer(written);
            for (SqlToken token = sql_lexer_next_code(&lexer); token.kind != SQL_TOKEN_END;
                 token = sql_lexer_next_code(&lexer)) {
                if (token.kind == SQL_TOKEN_WORD || token.kind == SQL_TOKEN_QUOTED) {
                    str_vec_push(f->arena, &parts, sql_identifier_name(f->arena, sql_token_text(written, token)));
                }
            }
            Str name = str_join(f->arena, parts.items, parts.count, STR("."));
            if (!table->is_file) {
                check_text(str_to_c(f->arena, names.items[i]), name,
                           str_to_c(f->arena, sql_dotted_name(sql_table_relation(table), f->arena)));
            }
        }
    }
}

/* --- Splicing changes nothing but names --------------------------------------------------------------------------- */

static void append_query(StrBuf *form, const Query *query);

static void append_expr(StrBuf *form, const QueryExpr *expr) {
    strbuf_format(form, "(%d " STR_FMT " " STR_FMT, (int)expr->kind, STR_ARG(expr->alias), STR_ARG(expr->name));
    if (expr->parts.count > 0) { /* a schema in front may be gone */
        strbuf_format(form, " " STR_FMT, STR_ARG(expr->parts.items[expr->parts.count - 1]));
    }
    if (expr->kind == QUERY_CONSTANT) {
        strbuf_format(form, " %llx", (unsigned long long)expr->hash);
    }
    for (size_t i = 0; i < expr->operands.count; i++) {
        append_expr(form, expr->operands.items[i]);
    }
    if (expr->subquery != NULL) {
        append_query(form, expr->subquery);
    }
    strbuf_char(form, ')');
}

static void append_exprs(StrBuf *form, const QueryExprVec *exprs) {
    strbuf_char(form, '[');
    for (size_t i = 0; i < exprs->count; i++) {
        append_expr(form, exprs->items[i]);
    }
    strbuf_char(form, ']');
}

static void append_source(StrBuf *form, const QuerySource *source) {
    strbuf_format(form, "<%d", (int)source->kind);
    if (source->kind != QUERY_TABLE) {
        strbuf_format(form, " " STR_FMT, STR_ARG(source->alias));
    }
    if (source->left != NULL) {
        append_source(form, source->left);
    }
    if (source->right != NULL) {
        append_source(form, source->right);
    }
    if (source->query != NULL) {
        append_query(form, source->query);
    }
    append_exprs(form, &source->exprs);
    strbuf_char(form, '>');
}

static void append_query(StrBuf *form, const Query *query) {
    strbuf_format(form, "{%d", (int)query->kind);
    for (size_t i = 0; i < query->ctes.count; i++) {
        strbuf_format(form, " " STR_FMT "=", STR_ARG(query->ctes.items[i].name));
        append_query(form, query->ctes.items[i].query);
    }
    if (query->source != NULL) {
        append_source(form, query->source);
    }
    append_exprs(form, &query->projections);
    append_exprs(form, &query->filters);
    append_exprs(form, &query->modifiers);
    for (size_t i = 0; i < query->branches.count; i++) {
        append_query(form, query->branches.items[i]);
    }
    strbuf_char(form, '}');
}

static Str tree_form(SqlFixture *f, Str sql) {
    AUTO(strbuf) StrBuf form = {0};
    append_query(&form, parse(f, sql));
    return strbuf_copy(&form, f->arena);
}

static void splicing_changes_names_only(void **state) {
    SqlFixture *f = *state;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    SqlRelation relation = {.schema = STR("interlace__main"), .name = STR("t\"1")};
    for (size_t i = 0; i < texts.count; i++) {
        SqlText text = sql_text_own(f->arena, texts.items[i]);
        Str spliced = splice_all(f, &text, relation).text;
        Str before = tree_form(f, texts.items[i]), behind = tree_form(f, spliced);
        check_text(str_to_c(f->arena, names.items[i]), behind, str_to_c(f->arena, before));
        const SqlFacts *facts = analyze(f, spliced).facts;
        for (size_t k = 0; k < facts->tables.count; k++) {
            check_text("name", facts->tables.items[k].name, "t\"1");
        }
    }
}

static void inlining_leaves_the_query_as_it_is(void **state) {
    SqlFixture *f = *state;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        SqlText text = sql_text_own(f->arena, texts.items[i]), result = {0};
        SqlAnalysis analysis = analyze(f, texts.items[i]);
        SqlReplacement *replacements = ARENA_NEW_ARRAY(f->arena, SqlReplacement, analysis.facts->tables.count);
        SqlInlined model = {.cte_name = STR("_eph_x"), .body = sql_text_own(f->arena, STR("select 1 -- x"))};
        SqlSplice splice = {.replacements = replacements, .inlined = &model, .inlined_count = 1};
        assert_false(failed(sql_splice(&text, analysis.facts, &splice, f->arena, &result, &f->err)));
        const Query *query = parse(f, result.text);
        assert_true(query->ctes.count > 0);
        check_text(str_to_c(f->arena, names.items[i]), query->ctes.items[0].name, "_eph_x");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_those_of_the_manifest),
        cmocka_unit_test(what_is_no_query_is_refused_at_a_place),
        cmocka_unit_test(places_hold_their_names),
        cmocka_unit_test(splicing_changes_names_only),
        cmocka_unit_test(inlining_leaves_the_query_as_it_is),
    };
    return cmocka_run_group_tests_name("sql corpus", tests, sql_fixture_setup, sql_fixture_teardown);
}
