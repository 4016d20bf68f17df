/* From a user's file through macros, vars, inlined models and spliced names to the engine, and back: an error of the
 * engine is shown in the file, line and column that the user wrote. */
#include "sql/sql_fixture.h"

#include "duck/duck_connection.h"
#include "sql/sql_lexer.h"

static const char macros_sql[] =
    "-- ä\ncreate macro taxed(x) as x * (1 + rate);\ncreate macro größer(a, b) as taxed(a) > b;";
static const char eph_sql[] = "-- ephemeral\nselect id, amount,\n  'größe' as label, misspelt\nfrom raw.orders";
static const SqlVar vars[] = {{.name = {"region", 6}, .literal = {"'Köln'", 7}}};

typedef struct Chain {
    SqlFixture *f;
    SqlMacroSet *macros;
    SqlText ephemeral;
} Chain;

static Chain chain_of(SqlFixture *f) {
    Chain chain = {.f = f, .macros = sql_macro_set_create(f->arena)};
    assert_false(failed(
        sql_macro_set_read(chain.macros, source_file(f->arena, "macros/tax.sql", str_from(macros_sql)), &f->err)));
    SqlText eph = whole_file(f->arena, source_file(f->arena, "models/eph.sql", str_from(eph_sql)));
    chain.ephemeral = splice_all(f, &eph, (SqlRelation){.schema = STR("phys"), .name = STR("orders__1f2e")});
    return chain;
}

/* Expanded, with "eph" inlined and all other tables made physical, inside a statement of ours. */
static SqlText statement_of(Chain *chain, const char *model) {
    SqlFixture *f = chain->f;
    SqlText text = whole_file(f->arena, source_file(f->arena, "models/größen.sql", str_from(model))), spliced = {0};
    if (failed(sql_expand(&text, chain->macros, vars, 1, f->arena, &text, &f->err))) {
        fail_msg(STR_FMT, STR_ARG(f->err.message));
    }
    const SqlFacts *facts = analyze(f, text.text).facts;
    SqlReplacement *replacements = ARENA_NEW_ARRAY(f->arena, SqlReplacement, facts->tables.count);
    SqlInlined inlined = {.cte_name = STR("_eph_eph"), .body = chain->ephemeral};
    bool reads_ephemeral = false;
    for (size_t i = 0; i < facts->tables.count; i++) {
        bool is_ephemeral = str_equal(facts->tables.items[i].name, STR("eph"));
        replacements[i].relation = is_ephemeral ? (SqlRelation){.name = STR("_eph_eph")}
                                                : (SqlRelation){.schema = STR("phys"), .name = STR("orders__1f2e")};
        reads_ephemeral = reads_ephemeral || is_ephemeral;
    }
    SqlSplice splice = {.replacements = replacements, .inlined = &inlined, .inlined_count = reads_ephemeral};
    assert_false(failed(sql_splice(&text, facts, &splice, f->arena, &spliced, &f->err)));
    const SqlText parts[] = {sql_text_own(f->arena, STR("CREATE TABLE phys.\"x__größe\" AS (")),
                             sql_text_as_body(&spliced, f->arena), sql_text_own(f->arena, STR("\n)"))};
    return sql_text_concat(f->arena, parts, 3);
}

/* The engine's own place of the error, mapped back: "file:line:column". */
static Str engine_place(Chain *chain, const SqlText *statement) {
    SqlFixture *f = chain->f;
    error_clear(&f->err);
    if (!failed(duck_execute(duck_parser_connection(f->parser), statement->text, NULL, &f->err))) {
        fail_msg("no error: " STR_FMT, STR_ARG(statement->text));
    }
    if (f->err.sql_offset == STR_NOT_FOUND) {
        fail_msg("no place: " STR_FMT "\n" STR_FMT, STR_ARG(f->err.message), STR_ARG(statement->text));
    }
    sql_text_locate_error(statement, &f->err);
    SourceSpan place = f->err.place;
    Str text = str_format(f->arena, STR_FMT ":%zu:%zu", STR_ARG(place.file), place.line, place.column);
    error_clear(&f->err);
    return text;
}

static void errors_of_the_engine_come_home(void **state) {
    SqlFixture *f = *state;
    Chain chain = chain_of(f);
    DuckConnection *connection = duck_parser_connection(f->parser);
    Str schema = STR("CREATE SCHEMA phys; CREATE TABLE phys.orders__1f2e (id INT, amount DOUBLE, rate DOUBLE)");
    assert_false(failed(duck_execute(connection, schema, NULL, &f->err)));
    static const struct {
        const char *model, *place;
    } cases[] = {
        /* in the model: before, between and behind spliced names, vars and macros */
        {"select 'äöü', idd from raw.orders", "models/größen.sql:1:15"},
        {"select\n  'ä', id from raw.orders o\nwhere o.amount > 1 and o.nope = var('region')",
         "models/größen.sql:3:24"},
        {"select var('region') as ort,\n  taxed(amount), nope from raw.orders", "models/größen.sql:2:18"},
        {"select a.id from raw.orders a join raw.orders b on a.id = b.id where b.größe = 1", "models/größen.sql:1:70"},
        {"select id from raw.orders where taxed(nope) > 1", "models/größen.sql:1:39"},
        {"select id from raw.orders where taxed(\n  nope + 1) > 1", "models/größen.sql:2:3"},
        {"with größe as (select * from raw.orders) select größe.nope from größe", "models/größen.sql:1:49"},
        {"select unknown_function(id) from raw.orders", "models/größen.sql:1:8"},
        /* in a macro's body, also of a macro called by a macro */
        {"select taxed(id) from (select id from raw.orders)", "macros/tax.sql:2:35"},
        {"select größer(id, 1) from (select id from raw.orders)", "macros/tax.sql:2:35"},
        /* in the inlined model */
        {"select 'ä', label from eph", "models/eph.sql:3:21"},
        {"with a as (select 1) select * from a, eph", "models/eph.sql:3:21"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlText statement = statement_of(&chain, cases[i].model);
        check_text(cases[i].model, engine_place(&chain, &statement), cases[i].place);
    }
}

static void a_physical_name_that_is_missing_is_shown_at_the_name_written(void **state) {
    SqlFixture *f = *state;
    Chain chain = chain_of(f);
    SqlText model =
        whole_file(f->arena, source_file(f->arena, "models/a.sql", STR("select 'ß',\n  id from raw.orders")));
    SqlText spliced = splice_all(f, &model, (SqlRelation){.schema = STR("phys"), .name = STR("gone")});
    check_text("missing", engine_place(&chain, &spliced), "models/a.sql:2:11");
}

static void syntax_errors_come_home_through_macros(void **state) {
    SqlFixture *f = *state;
    Chain chain = chain_of(f);
    SqlText text =
        whole_file(f->arena, source_file(f->arena, "models/a.sql", STR("select 'größe', taxed(1),\n frm raw . . x")));
    SqlAnalysis analysis = {0};
    assert_false(failed(sql_expand(&text, chain.macros, vars, 1, f->arena, &text, &f->err)));
    assert_true(failed(sql_analyze(f->analyzer, text.text, f->arena, &analysis, &f->err)));
    sql_text_locate_error(&text, &f->err);
    check_text("syntax", error_line(&f->err, f->arena), "syntax error at or near \".\" (models/a.sql:2:10)");
    error_clear(&f->err);
}

/* Bytes of the user's that survive all steps map to themselves, for each text of the corpus. */
static void bytes_map_to_themselves_through_all_steps(void **state) {
    SqlFixture *f = *state;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        SourceFile *file = source_file(f->arena, "a.sql", texts.items[i]);
        SqlText text = whole_file(f->arena, file);
        SqlText spliced = splice_all(f, &text, (SqlRelation){.schema = STR("phys"), .name = STR("t")});
        for (size_t k = 0; k < spliced.segment_count; k++) {
            const SqlSegment *segment = &spliced.segments[k];
            size_t end = k + 1 < spliced.segment_count ? spliced.segments[k + 1].start : spliced.text.size;
            assert_ptr_equal(segment->file, file);
            for (size_t at = segment->start; segment->verbatim && at < end; at++) {
                assert_int_equal(spliced.text.ptr[at], file->content.ptr[segment->file_offset + at - segment->start]);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_the_engine_come_home),
        cmocka_unit_test(a_physical_name_that_is_missing_is_shown_at_the_name_written),
        cmocka_unit_test(syntax_errors_come_home_through_macros),
        cmocka_unit_test(bytes_map_to_themselves_through_all_steps),
    };
    return cmocka_run_group_tests_name("sql places", tests, sql_fixture_setup, sql_fixture_teardown);
}
