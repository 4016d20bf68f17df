#include "base/testing.h"
#include "config/dsn.h"
#include "config/project_config.h"

#define HIDDEN "\xE2\x80\xA6"

static void schemes_are_letters_before_a_colon(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool has_scheme;
    } cases[] = {
        {"md:x", true},
        {"postgresql://h/d", true},
        {"ducklake:a.db", true},
        {"s3://b/x", true},
        {"a/b:c", false},
        {"c:/x", false},
        {":memory:", false},
        {"x.duckdb", false},
        {"${A:-x}", false},
        {"1a:b", false},
        {"", false},
        {"_a:b", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (dsn_has_scheme(str_from(cases[i].text)) != cases[i].has_scheme) {
            fail_msg("%s", cases[i].text);
        }
    }
}

static void postgres_strings_must_name_a_host(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool names_host;
    } cases[] = {
        {"postgresql://u:p@db.example/x", true},
        {"postgres://db/x", true},
        {"postgresql://u:p@[::1]:5432/x", true},
        {"postgresql:///x", false},
        {"postgresql://u:p@/x", false},
        {"postgresql://:5432/x", false},
        {"postgresql:///x?host=/run", true},
        {"postgresql:///x?sslmode=require&hostaddr=10.0.0.1", true},
        {"postgresql:///x?host=", false},
        {"postgresql:///x?service=a", true},
        {"dbname=x", false},
        {"dbname=x host=db", true},
        {"host = db dbname = x", true},
        {"host='' dbname=x", false},
        {"host= dbname=x", true}, /* libpq too takes `dbname=x` for the host here */
        {"password='host=a' dbname=x", false},
        {"password=a\\ host=b", false},
        {"HOST=db", true},
        {"service=prod", true},
        {"postgres:dbname=x host=db", true},
        {"postgres:dbname=x", false},
        {"ducklake:postgres:dbname=x", false},
        {"ducklake:postgres:host=db dbname=x", true},
        {"ducklake:postgresql://db/x", true},
        {"", false},
        {"password='unclosed", false},
        {"host=\\", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (dsn_names_host(str_from(cases[i].text)) != cases[i].names_host) {
            fail_msg("%s", cases[i].text);
        }
    }
}

static void postgres_is_known_by_its_prefix(void **state) {
    (void)state;
    assert_true(dsn_is_postgres(STR("postgres:dbname=x")));
    assert_true(dsn_is_postgres(STR("POSTGRESQL://h/x")));
    assert_true(dsn_is_postgres(STR("ducklake:postgres:dbname=x")));
    assert_false(dsn_is_postgres(STR("ducklake:a.db")));
    assert_false(dsn_is_postgres(STR("postgres.duckdb")));
}

static void secrets_are_redacted(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const struct {
        const char *text, *redacted;
    } cases[] = {
        {"", ""},
        {"nothing here", "nothing here"},
        {"postgresql://u:p@h:5432/d", "postgresql://" HIDDEN "@h:5432/d"},
        {"postgresql://u:p/w?x#y@h/d", "postgresql://" HIDDEN "@h/d"},
        {"https://u:p@h/a@b", "https://" HIDDEN "@h/a@b"},
        {"https://h/a@b", "https://h/a@b"},
        {"s3://bucket/k", "s3://bucket/k"},
        {"host=h password=p,)&x dbname=d", "host=h password=" HIDDEN " dbname=d"},
        {"password = 'a b''c\\'d' host=h", "password = " HIDDEN " host=h"},
        {"password=a\\ b host=h", "password=" HIDDEN " host=h"},
        {"https://h/x?api_key=abc&y=1", "https://h/x?api_key=" HIDDEN "&y=1"},
        {"https://h/x?a=1&access_token=abc#f", "https://h/x?a=1&access_token=" HIDDEN "#f"},
        {"PGPASSWORD=x psql", "PGPASSWORD=" HIDDEN " psql"},
        {"PWD=secret", "PWD=" HIDDEN},
        {"ATTACH 'postgres:host=h password=p' AS a", "ATTACH 'postgres:host=h password=" HIDDEN "' AS a"},
        {"sas_url=x credential_id=y Authorization=z",
         "sas_url=" HIDDEN " credential_id=" HIDDEN " Authorization=" HIDDEN},
        {"CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b''c', REGION 'x')",
         "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET " HIDDEN ", REGION 'x')"},
        {"Duplicate key \"id: 1\"", "Duplicate key \"id: 1\""},
        {"ON t.order_key = s.order_key", "ON t.order_key = s.order_key"},
        {"password=", "password="},
        {"password", "password"},
        {"token='unclosed", "token=" HIDDEN},
        {"token=\\", "token=" HIDDEN},
        {"://u@h", "://u@h"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(config_redact_dsn(arena, str_from(cases[i].text)), cases[i].redacted, cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(schemes_are_letters_before_a_colon),
        TEST(postgres_strings_must_name_a_host),
        TEST(postgres_is_known_by_its_prefix),
        TEST(secrets_are_redacted),
    };
    return cmocka_run_group_tests_name("dsn", tests, NULL, NULL);
}
