#include "sql/sql_fixture.h"

#include "sql/sql_lexer.h"

/* --- Tokens ------------------------------------------------------------------------------------------------------- */

static const char kind_letters[] = {
    [SQL_TOKEN_END] = 'E',     [SQL_TOKEN_WORD] = 'w',      [SQL_TOKEN_QUOTED] = 'q',   [SQL_TOKEN_STRING] = 's',
    [SQL_TOKEN_NUMBER] = 'n',  [SQL_TOKEN_PARAMETER] = 'p', [SQL_TOKEN_OPERATOR] = 'o', [SQL_TOKEN_PUNCTUATION] = 'x',
    [SQL_TOKEN_COMMENT] = 'c', [SQL_TOKEN_INVALID] = '?'};

/* "w:select n:1" */
static Str tokens_form(Arena *arena, Str sql) {
    AUTO(strbuf) StrBuf form = {0};
    SqlLexer lexer = sql_lexer(sql);
    for (;;) {
        SqlToken token = sql_lexer_next(&lexer);
        if (token.kind == SQL_TOKEN_END) {
            return strbuf_copy(&form, arena);
        }
        strbuf_text(&form, form.size > 0 ? " " : "");
        strbuf_char(&form, kind_letters[token.kind]);
        strbuf_char(&form, ':');
        strbuf_append(&form, sql_token_text(sql, token));
        if (token.kind == SQL_TOKEN_INVALID) {
            return strbuf_copy(&form, arena);
        }
    }
}

static void tokens_are_those_of_the_engine(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *tokens;
    } cases[] = {
        {"", ""},
        {"select a1$ from _t", "w:select w:a1$ w:from w:_t"},
        {"größe 名前", "w:größe w:名前"},
        {"\"a\"\"b\".\"c\"", "q:\"a\"\"b\" x:. q:\"c\""},
        {"'it''s' e'it\\'s' E'\\\\' x'AB' b'01'", "s:'it''s' s:e'it\\'s' s:E'\\\\' s:x'AB' s:b'01'"},
        {"date'2026-01-01'", "w:date s:'2026-01-01'"},
        {"$$a'b$$ $t$ $$ $t$ $1 $name ?", "s:$$a'b$$ s:$t$ $$ $t$ p:$1 p:$name p:?"},
        {"1 1.5 .5 1. 1e5 1E-5 1.5e+3 1_000 0xFF 1..2",
         "n:1 n:1.5 n:.5 n:1. n:1e5 n:1E-5 n:1.5e+3 n:1_000 n:0xFF n:1 x:. n:.2"},
        {"1e", "n:1 w:e"},
        {"a.5", "w:a n:.5"},
        {"a=-1", "w:a o:= o:- n:1"},
        {"a@-1", "w:a o:@- n:1"},
        {"a->>'b' a->b a=>1 a:=1 a::int", "w:a o:->> s:'b' w:a o:-> w:b w:a o:=> n:1 w:a o::= n:1 w:a o::: w:int"},
        {"a<>b a!=b a!~~*b a||b a**b a//b a^@b",
         "w:a o:<> w:b w:a o:!= w:b w:a o:!~~* w:b w:a o:|| w:b w:a o:** w:b w:a o:// "
         "w:b w:a o:^@ w:b"},
        {"a--b\nc", "w:a c:--b w:c"},
        {"a/*b/*c*/d*/e", "w:a c:/*b/*c*/d*/ w:e"},
        {"a*/*x*/b", "w:a o:* c:/*x*/ w:b"},
        {"a+--x\nb", "w:a o:+ c:--x w:b"},
        {"{'a':[1:2]}", "x:{ s:'a' x:: x:[ n:1 x:: n:2 x:] x:}"},
        {"a\xC2\xA0"
         "b\xE2\x80\x83"
         "c\xE3\x80\x80\xEF\xBB\xBF"
         "d",
         "w:a w:b w:c w:d"},
        {"'a'\n  'b'", "s:'a'\n  'b'"},
        {"'a' -- x 'y'\n'b' 'c'", "s:'a' -- x 'y'\n'b' s:'c'"},
        {"'a' 'b'", "s:'a' s:'b'"},
        {"'a'\n/**/'b'", "s:'a' c:/**/ s:'b'"},
        {"'a'\ne'b'", "s:'a' s:e'b'"},
        {"'abc", "?:'abc"},
        {"x /* y", "w:x ?:/* y"},
        {"\"abc", "?:\"abc"},
        {"$a$ $b$", "?:$a$ $b$"},
        {"e'\\'", "?:e'\\'"},
        {"'a'\n'b", "?:'a'\n'b"},
        {"\\ \x01", "o:\\ o:\x01"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_text(cases[i].sql, tokens_form(f->arena, str_from(cases[i].sql)), cases[i].tokens);
    }
}

static void names_lose_their_quotes(void **state) {
    SqlFixture *f = *state;
    check_text("word", sql_identifier_name(f->arena, STR("Orders")), "Orders");
    check_text("quoted", sql_identifier_name(f->arena, STR("\"a \"\"b\"\"\"")), "a \"b\"");
    check_text("empty", sql_identifier_name(f->arena, STR("\"\"")), "");
}

static void unicode_blanks_become_spaces_but_not_in_quotes(void **state) {
    SqlFixture *f = *state;
    Str sql = STR("a\xC2\xA0"
                  "'b\xC2\xA0'\xE2\x80\x83\"\xE3\x80\x80\"/*\xC2\xA0*/");
    check_text("blanks", sql_blank_unicode_spaces(f->arena, sql), "a  'b\xC2\xA0'   \"\xE3\x80\x80\"/*\xC2\xA0*/");
    Str plain = STR("select größe");
    assert_ptr_equal(sql_blank_unicode_spaces(f->arena, plain).ptr, plain.ptr);
}

/* --- Canonical form ----------------------------------------------------------------------------------------------- */

static Str canonical(SqlFixture *f, Str sql) {
    AUTO(strbuf) StrBuf form = {0};
    if (failed(sql_canonical_form(sql, &form, &f->err))) {
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(sql), STR_ARG(f->err.message));
    }
    return strbuf_copy(&form, f->arena);
}

static void canonical_form_leaves_out_what_does_not_matter(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *form;
    } cases[] = {
        {"", ""},
        {" ; ", ""},
        {"SELECT  A\n--x\n,B /*y*/ FROM T ;;", "select a , b from t"},
        {"SELECT \"A\", 'A', 1E5, $X, 0XAB", "select \"A\" , 'A' , 1e5 , $x , 0xab"},
        {"select 1;select 2;", "select 1 ; select 2"},
        {"select 'a'\n 'b''c' -- d\n 'e'", "select 'ab''ce'"},
        {"select E'a\\'' \n'\\'b'", "select e'a\\'\\'b'"},
        {"select $T$ A $T$", "select $T$ A $T$"},
        {"a\xC2\xA0"
         "b",
         "a b"},
        {"x::INT-1", "x :: int - 1"},
        {"a -> b ->/*x*/c ->--x\nd ->>/*x*/e", "a -> b ->/**/ c ->/**/ d ->> e"},
        {"Ärger", "Ärger"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_text(cases[i].sql, canonical(f, str_from(cases[i].sql)), cases[i].form);
    }
}

static void canonical_form_is_its_own_canonical_form(void **state) {
    SqlFixture *f = *state;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        Str form = canonical(f, texts.items[i]);
        check_text("twice", canonical(f, form), str_to_c(f->arena, form));
    }
}

static void canonical_form_reads_as_the_same_query(void **state) {
    SqlFixture *f = *state;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        const Query *original = parse(f, texts.items[i]), *reread = parse(f, canonical(f, texts.items[i]));
        if (original->hash != reread->hash) {
            fail_msg(STR_FMT " reads differently", STR_ARG(names.items[i]));
        }
    }
}

static void canonical_form_refuses_what_does_not_end(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *message;
        size_t offset;
    } cases[] = {
        {"select 'a", "this string does not end", 7},
        {"select 1 /* a", "this comment does not end", 9},
        {"select \"a", "this quoted name does not end", 7},
        {"ä $$a", "this string does not end", 3},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(strbuf) StrBuf form = {0};
        assert_true(failed(sql_canonical_form(str_from(cases[i].sql), &form, &f->err)));
        check_text(cases[i].sql, f->err.message, cases[i].message);
        assert_int_equal(f->err.kind, ERROR_COMPILATION);
        assert_int_equal(f->err.sql_offset, cases[i].offset);
        error_clear(&f->err);
    }
}

/* --- Random changes ----------------------------------------------------------------------------------------------- */

static void append_random_gap(StrBuf *target, Random *random, bool may_break_lines) {
    static const char *const gaps[] = {" ", "  ", "\t", " /* x */ ", "/*'*/", "/* a /* \" */ { */", "\xC2\xA0"};
    static const char *const breaks[] = {"\n", " -- it's\n", "\r\n", "\n--\n", "\n\n  "};
    size_t pick = random_below(random, may_break_lines ? COUNT_OF(gaps) + COUNT_OF(breaks) : COUNT_OF(gaps));
    strbuf_text(target, pick < COUNT_OF(gaps) ? gaps[pick] : breaks[pick - COUNT_OF(gaps)]);
}

static void append_random_case(StrBuf *target, Random *random, Str word) {
    for (size_t i = 0; i < word.size; i++) {
        char c = word.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        strbuf_char(target, is_letter && random_below(random, 2) == 0 ? (char)(c ^ 0x20) : c);
    }
}

/* The same tokens with other comments, blanks and letter case. A line break between two string constants would join
 * them. */
static Str random_dress(Arena *arena, Str sql, bool may_fold, Random *random) {
    AUTO(strbuf) StrBuf target = {0};
    SqlLexer lexer = sql_lexer(sql);
    SqlTokenKind before = SQL_TOKEN_END;
    for (;;) {
        SqlToken token = sql_lexer_next_code(&lexer);
        bool joins = before == SQL_TOKEN_STRING && token.kind == SQL_TOKEN_STRING;
        strbuf_char(&target, ' '); /* no comment directly behind an arrow */
        append_random_gap(&target, random, !joins);
        if (token.kind == SQL_TOKEN_END) {
            return strbuf_copy(&target, arena);
        }
        bool folds =
            token.kind == SQL_TOKEN_WORD || token.kind == SQL_TOKEN_NUMBER || token.kind == SQL_TOKEN_PARAMETER;
        if (folds && may_fold) {
            append_random_case(&target, random, sql_token_text(sql, token));
        } else {
            strbuf_append(&target, sql_token_text(sql, token));
        }
        before = token.kind;
    }
}

static void random_dress_never_changes_the_form(void **state) {
    SqlFixture *f = *state;
    Random random = {.state = 88172645463325252U};
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        Str form = canonical(f, texts.items[i]);
        for (size_t round = 0; round < 200; round++) {
            AUTO(arena) Arena *scratch = arena_create();
            Str dressed = random_dress(scratch, texts.items[i], true, &random);
            AUTO(strbuf) StrBuf again = {0};
            assert_false(failed(sql_canonical_form(dressed, &again, &f->err)));
            if (!str_equal(strbuf_str(&again), form)) {
                fail_msg(STR_FMT "\n  form:   " STR_FMT "\n  before: " STR_FMT, STR_ARG(dressed),
                         STR_ARG(strbuf_str(&again)), STR_ARG(form));
            }
        }
    }
}

static void random_dress_never_changes_digest_and_tree(void **state) {
    SqlFixture *f = *state;
    Random random = {.state = 362436069362436069U};
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        SqlAnalysis original = analyze(f, texts.items[i]);
        uint64_t hash = parse(f, texts.items[i])->hash;
        for (size_t round = 0; round < 4; round++) {
            bool may_fold = round % 2 == 0; /* EXTRACT(YEAR …) becomes a constant, so case may count in the tree */
            Str dressed = random_dress(f->arena, texts.items[i], may_fold, &random);
            SqlAnalysis again = analyze(f, dressed);
            assert_true(str_equal(original.canonical_digest, again.canonical_digest));
            assert_int_equal(original.facts->tables.count, again.facts->tables.count);
            if (!may_fold && parse(f, dressed)->hash != hash) {
                fail_msg(STR_FMT "\nreads differently from " STR_FMT, STR_ARG(dressed), STR_ARG(names.items[i]));
            }
        }
    }
}

/* Leaves out, doubles or alters token `chosen`. */
static Str with_token_changed(Arena *arena, Str sql, SqlToken token, size_t way) {
    Str before = str_slice(sql, 0, token.start), behind = str_skip(sql, token.end), text = sql_token_text(sql, token);
    switch (way) {
    case 0:
        return str_format(arena, STR_FMT " " STR_FMT, STR_ARG(before), STR_ARG(behind));
    case 1:
        return str_format(arena, STR_FMT STR_FMT " " STR_FMT STR_FMT, STR_ARG(before), STR_ARG(text), STR_ARG(text),
                          STR_ARG(behind));
    default:
        return str_format(arena, STR_FMT " zz9 " STR_FMT, STR_ARG(before), STR_ARG(behind));
    }
}

/* Leaving out a `;` at an end, or doubling it, is meant to change nothing. */
static void any_change_of_a_token_changes_the_form(void **state) {
    SqlFixture *f = *state;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        Str form = canonical(f, texts.items[i]);
        SqlLexer lexer = sql_lexer(texts.items[i]);
        for (SqlToken token = sql_lexer_next_code(&lexer); token.kind != SQL_TOKEN_END;
             token = sql_lexer_next_code(&lexer)) {
            for (size_t way = 0; way < 3 && !sql_token_is(texts.items[i], token, ";"); way++) {
                AUTO(arena) Arena *scratch = arena_create();
                AUTO(strbuf) StrBuf again = {0};
                Str changed = with_token_changed(scratch, texts.items[i], token, way);
                assert_false(failed(sql_canonical_form(changed, &again, &f->err)));
                if (str_equal(strbuf_str(&again), form)) {
                    fail_msg(STR_FMT ": no change at byte %zu", STR_ARG(names.items[i]), token.start);
                }
            }
        }
    }
}

/* One byte of a string, a quoted name or a number. */
static void any_change_inside_a_constant_changes_the_form(void **state) {
    SqlFixture *f = *state;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        Str form = canonical(f, texts.items[i]);
        SqlLexer lexer = sql_lexer(texts.items[i]);
        for (SqlToken token = sql_lexer_next_code(&lexer); token.kind != SQL_TOKEN_END;
             token = sql_lexer_next_code(&lexer)) {
            bool is_plain_string = token.kind == SQL_TOKEN_STRING && texts.items[i].ptr[token.start] != '$';
            bool is_constant = is_plain_string || token.kind == SQL_TOKEN_QUOTED || token.kind == SQL_TOKEN_NUMBER;
            for (size_t at = token.start + 1; is_constant && at + 1 < token.end; at++) {
                Str copy = str_copy(f->arena, texts.items[i]);
                char c = copy.ptr[at];
                if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z')) {
                    continue;
                }
                if (token.kind == SQL_TOKEN_NUMBER && !(c >= '0' && c <= '9')) {
                    continue;
                }
                ((char *)(uintptr_t)copy.ptr)[at] = c == '7' ? '8' : c == 'q' ? 'r' : c <= '9' ? '7' : 'q';
                AUTO(strbuf) StrBuf again = {0};
                assert_false(failed(sql_canonical_form(copy, &again, &f->err)));
                if (str_equal(strbuf_str(&again), form)) {
                    fail_msg(STR_FMT ": no change at byte %zu", STR_ARG(names.items[i]), at);
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_the_engine),
        cmocka_unit_test(names_lose_their_quotes),
        cmocka_unit_test(unicode_blanks_become_spaces_but_not_in_quotes),
        cmocka_unit_test(canonical_form_leaves_out_what_does_not_matter),
        cmocka_unit_test(canonical_form_is_its_own_canonical_form),
        cmocka_unit_test(canonical_form_reads_as_the_same_query),
        cmocka_unit_test(canonical_form_refuses_what_does_not_end),
        cmocka_unit_test(random_dress_never_changes_the_form),
        cmocka_unit_test(random_dress_never_changes_digest_and_tree),
        cmocka_unit_test(any_change_of_a_token_changes_the_form),
        cmocka_unit_test(any_change_inside_a_constant_changes_the_form),
    };
    return cmocka_run_group_tests_name("sql lexer", tests, sql_fixture_setup, sql_fixture_teardown);
}
