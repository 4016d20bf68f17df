#include "sql/sql_fixture.h"

#include "base/files.h"

#include <stdio.h>
#include <stdlib.h>

int sql_fixture_setup(void **state) {
    SqlFixture *fixture = heap_alloc_zeroed(1, sizeof *fixture);
    fixture->arena = arena_create();
    error_init(&fixture->err);
    if (failed(sql_analyzer_open(STR_EMPTY, &fixture->analyzer, &fixture->err)) ||
        failed(sql_analyzer_parser(fixture->analyzer, &fixture->parser, &fixture->err))) {
        fprintf(stderr, STR_FMT "\n", STR_ARG(fixture->err.message));
        return -1;
    }
    *state = fixture;
    return 0;
}

int sql_fixture_teardown(void **state) {
    SqlFixture *fixture = *state;
    sql_analyzer_close(fixture->analyzer);
    error_deinit(&fixture->err);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

void check_text(const char *what, Str actual, const char *expected) {
    if (!str_equal(actual, str_from(expected))) {
        fail_msg("%s\n  expected: %s\n  got:      " STR_FMT, what, expected, STR_ARG(actual));
    }
}

/* --- Forms -------------------------------------------------------------------------------------------------------- */

static void append_word(StrBuf *form, Str word) {
    strbuf_char(form, ' ');
    strbuf_append(form, word);
}

static void append_list(StrBuf *form, const char *name, const StrVec *items) {
    if (items->count > 0) {
        append_word(form, str_from(name));
        for (size_t i = 0; i < items->count; i++) {
            append_word(form, items->items[i].size == 0 ? STR("-") : items->items[i]);
        }
    }
}

static void append_tables(StrBuf *form, Str sql, const SqlTableRefVec *tables) {
    for (size_t i = 0; i < tables->count; i++) {
        const SqlTableRef *table = &tables->items[i];
        append_word(form, str_slice(sql, table->start, table->end));
        strbuf_text(form, table->has_alias ? "*" : "");
        strbuf_text(form, table->takes_alias ? "" : "!");
    }
}

static void append_functions(StrBuf *form, const SqlFunctionRefVec *functions) {
    for (size_t i = 0; i < functions->count; i++) {
        if (i == 0) {
            strbuf_text(form, " functions");
        }
        append_word(form, functions->items[i].name);
        strbuf_text(form, functions->items[i].in_from ? "()" : "");
    }
}

static void append_clock_reads(StrBuf *form, Str sql, const SqlClockReadVec *reads) {
    for (size_t i = 0; i < reads->count; i++) {
        const SqlClockRead *read = &reads->items[i];
        strbuf_text(form, i == 0 ? " clock" : "");
        append_word(form, read->kind == SQL_CLOCK_AGE ? read->name : str_slice(sql, read->start, read->end));
        if (read->output.size > 0) {
            strbuf_format(form, "=" STR_FMT, STR_ARG(read->output));
        }
    }
}

Str facts_form(Arena *arena, Str sql, const SqlFacts *facts) {
    AUTO(strbuf) StrBuf form = {0};
    append_tables(&form, sql, &facts->tables);
    for (size_t i = 0; i < facts->prefixes.count; i++) {
        const SqlColumnPrefix *prefix = &facts->prefixes.items[i];
        strbuf_text(&form, i == 0 ? " prefixes" : "");
        append_word(&form, str_slice(sql, prefix->start, prefix->end));
    }
    append_functions(&form, &facts->functions);
    append_clock_reads(&form, sql, &facts->clock_reads);
    append_list(&form, "readers", &facts->file_readers);
    append_list(&form, "ctes", &facts->cte_names);
    append_list(&form, "gives", &facts->output_names);
    strbuf_format(&form, " %s %zu", facts->has_with ? "with" : "at", facts->with_offset);
    strbuf_text(&form, facts->has_top_order_by ? " order" : "");
    return str_trim(strbuf_copy(&form, arena));
}

/* --- Calls that must succeed, or fail ----------------------------------------------------------------------------- */

static void check_ok(SqlFixture *fixture, Status status, Str sql) {
    if (failed(status)) {
        fail_msg("%.*s\n  failed: " STR_FMT, (int)sql.size, sql.ptr,
                 STR_ARG(error_line(&fixture->err, fixture->arena)));
    }
}

SqlAnalysis analyze(SqlFixture *fixture, Str sql) {
    SqlAnalysis analysis = {0};
    check_ok(fixture, sql_analyze(fixture->analyzer, sql, fixture->arena, &analysis, &fixture->err), sql);
    return analysis;
}

Query *parse(SqlFixture *fixture, Str sql) {
    Query *query = NULL;
    check_ok(fixture, query_parse(fixture->parser, sql, fixture->arena, &query, &fixture->err), sql);
    return query;
}

Str analysis_error(SqlFixture *fixture, Str sql) {
    SqlAnalysis analysis = {0};
    error_clear(&fixture->err);
    if (!failed(sql_analyze(fixture->analyzer, sql, fixture->arena, &analysis, &fixture->err))) {
        fail_msg("%.*s\n  did not fail", (int)sql.size, sql.ptr);
    }
    assert_int_equal(fixture->err.kind, ERROR_COMPILATION);
    Str text =
        fixture->err.sql_offset == STR_NOT_FOUND
            ? str_copy(fixture->arena, fixture->err.message)
            : str_format(fixture->arena, STR_FMT " @%zu", STR_ARG(fixture->err.message), fixture->err.sql_offset);
    error_clear(&fixture->err);
    return text;
}

SourceFile *source_file(Arena *arena, const char *path, Str text) {
    SourceFile *file = ARENA_NEW(arena, SourceFile);
    *file = (SourceFile){.path = str_from(path), .content = text};
    return file;
}

SqlText whole_file(Arena *arena, const SourceFile *file) {
    return sql_text_from_file(arena, file, 0, file->content.size);
}

SqlText splice_all(SqlFixture *fixture, const SqlText *text, SqlRelation relation) {
    SqlAnalysis analysis = analyze(fixture, text->text);
    SqlReplacement *replacements = ARENA_NEW_ARRAY(fixture->arena, SqlReplacement, analysis.facts->tables.count);
    for (size_t i = 0; i < analysis.facts->tables.count; i++) {
        replacements[i].relation = relation;
    }
    SqlText spliced = {0};
    SqlSplice splice = {.replacements = replacements};
    check_ok(fixture, sql_splice(text, analysis.facts, &splice, fixture->arena, &spliced, &fixture->err), text->text);
    return spliced;
}

/* --- Corpus ------------------------------------------------------------------------------------------------------- */

static bool is_query_file(Str name) {
    static const char *const others[] = {"012", "070", "072", "082", "086", "087",
                                         "088", "089", "090", "091", "092", "093"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        if (str_equal(str_slice(name, 7, 10), str_from(others[i]))) {
            return false;
        }
    }
    return str_ends_with(name, STR(".sql"));
}

StrVec corpus_texts(Arena *arena, StrVec *names_out) {
    StrVec texts = {0};
    FileEntryVec entries = {0};
    AUTO(error) Error err;
    error_init(&err);
    Str root = STR("tests/corpus/sql");
    if (failed(directory_walk(root, STR_EMPTY, arena, &entries, &err))) {
        fail_msg(STR_FMT, STR_ARG(err.message));
    }
    for (size_t i = 0; i < entries.count; i++) {
        Str text = STR_EMPTY;
        if (!is_query_file(path_base_name(entries.items[i].path))) {
            continue;
        }
        if (failed(file_read(path_join(arena, root, entries.items[i].path), SQL_TEXT_MAX, arena, &text, &err))) {
            fail_msg(STR_FMT, STR_ARG(err.message));
        }
        str_vec_push(arena, &texts, text);
        str_vec_push(arena, names_out, entries.items[i].path);
    }
    return texts;
}

/* --- Random ------------------------------------------------------------------------------------------------------- */

uint64_t random_next(Random *random) {
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return random->state;
}

size_t random_below(Random *random, size_t limit) {
    return (size_t)((random_next(random) >> 11) % limit);
}
