#include "duck/duck_fixture.h"
#include "duck/statement_kinds.h"

static void kinds_are_read_from_the_telling_words(void **state) {
    (void)state;
    static const struct {
        const char *sql, *kinds;
    } cases[] = {
        {"", ""},
        {"-- SELECT", ""},
        {" ; ;/* x */; ", ""},
        {"select 1", "SELECT"},
        {"FROM t", "SELECT"},
        {"VALUES (1)", "SELECT"},
        {"TABLE t;", "SELECT"},
        {"((SELECT 1))", "SELECT"},
        {"PIVOT t ON k", "SELECT"},
        {"DESCRIBE t", "SELECT"},
        {"insert into t values (1)", "INSERT"},
        {"CREATE TABLE t AS SELECT 1", "CREATE"},
        {"/* a /* nested */ INSERT */ SELECT 1 -- ; DELETE", "SELECT"},
        {"WITH a AS (INSERT INTO x SELECT 1) SELECT 1", "SELECT"},
        {"WITH RECURSIVE a(x) AS (SELECT ')' UNION SELECT 2), \"select\" AS (SELECT 1) INSERT INTO t FROM a", "INSERT"},
        {"WITH a AS MATERIALIZED (SELECT 1) FROM a", "SELECT"},
        {"SELECT ';'; SELECT \";\"; SELECT $$;$$; SELECT $a$;$b$;$a$; SELECT e'\\';'",
         "SELECT,SELECT,SELECT,SELECT,SELECT"},
        {"SELECT a$b; DELETE FROM c$d", "SELECT,DELETE"},
        {"SELECT $1; UPDATE t SET a = $name", "SELECT,UPDATE"},
        {"SELECT 'it''s;'; DROP TABLE t", "SELECT,DROP"},
        {"SELECT 'not closed; DROP", "SELECT"},
        {"SELECT 1 /* not closed; DROP", "SELECT"},
        {"BEGIN; COMMIT", "BEGIN,COMMIT"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        StrVec kinds = statement_kinds(str_from(cases[i].sql), arena);
        assert_str(str_join(arena, kinds.items, kinds.count, STR(",")), cases[i].kinds);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_read_from_the_telling_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
