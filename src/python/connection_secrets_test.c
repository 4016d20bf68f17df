/* Connections: what a model gets of them, and what nobody else sees. */
#include "python/connection_secrets.h"

#include "base/testing.h"

typedef struct Fixture {
    Arena *arena;
    Error err;
} Fixture;

static int open_fixture(void **state) {
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    error_init(&f->err);
    *state = f;
    return 0;
}

static int close_fixture(void **state) {
    Fixture *f = *state;
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static const ConfigValue *read_yaml(Fixture *f, const char *text) {
    ConfigValue *value = NULL;
    assert_done(yaml_read(str_from(text), STR("interlace.yaml"), 1, f->arena, &value, &f->err), &f->err);
    return value;
}

static void all_values_are_texts(void **state) {
    Fixture *f = *state;
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    connections_write(&json, read_yaml(f, "api:\n  type: http\n  base_url: http://h/\n  headers: {X-Id: 007, Y: true}\n"
                                          "pg: {type: postgres, dsn: 'host=h'}\n"));
    assert_str(strbuf_str(&text),
               "{\"api\":{\"type\":\"http\",\"base_url\":\"http://h/\",\"headers\":{\"X-Id\":\"007\",\"Y\":\"true\"}},"
               "\"pg\":{\"type\":\"postgres\",\"dsn\":\"host=h\"}}",
               "connections");
}

typedef struct SecretCase {
    const char *connection, *text, *hidden;
} SecretCase;

/* clang-format off */
static const SecretCase cases[] = {
    {"headers: {Authorization: Bearer abc123}", "sent Bearer abc123, then abc123", "sent …, then …"},
    {"headers: {X-API-Key: k-12345, Accept: text/csv}", "k-12345 text/csv", "… text/csv"},
    {"headers: {X-API-Key: abc}", "abc abc", "abc abc"},
    {"base_url: 'https://me:s3cret@host/x'", "cannot reach https://me:s3cret@host/x", "cannot reach https://me:…@host/x"},
    {"dsn: 'postgresql://me:p%40ss/w@host:5432/db'", "p%40ss/w and p@ss/w", "… and …"},
    {"dsn: 'host=h password = ''it\\''s me'' user=u'", "with it's me", "with …"},
    {"dsn: 'host=h password=plain1 user=u'", "plain1 u", "… u"},
    {"dsn: 'postgres://host/db?user=u&password=hunter2&x=y'", "hunter2 x=y", "… x=y"},
    {"dsn: 'postgres://host/db'", "postgres://host/db", "postgres://host/db"},
    {"headers: {T-Token: abcd, U-Token: abcdefgh}", "abcdefgh abcd", "… …"},
};
/* clang-format on */

static void test_10_3_secrets_are_hidden_by_value(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str yaml = str_format(f->arena, "c: {%s}", cases[i].connection);
        StrVec secrets = connections_secrets(read_yaml(f, yaml.ptr), f->arena);
        assert_str(secrets_hide(&secrets, str_from(cases[i].text), f->arena), cases[i].hidden, cases[i].connection);
    }
}

static void all_texts_of_an_error_are_looked_at(void **state) {
    Fixture *f = *state;
    StrVec secrets = connections_secrets(read_yaml(f, "c: {headers: {token: abc123}}"), f->arena);
    AUTO(error) Error err;
    error_init(&err);
    secrets_hide_in_error(&secrets, &err);
    error_set(&err, ERROR_EXECUTION, "no abc123");
    error_wrap(&err, "with abc123");
    error_hint(&err, "try abc123");
    error_detail(&err, STR("cause"), STR("abc123"));
    err.traceback = STR("x = 'abc123'");
    secrets_hide_in_error(&secrets, &err);
    assert_str(err.message, "no …", "message");
    assert_str(err.notes.items[0], "with …", "note");
    assert_str(err.hint, "try …", "hint");
    assert_str(error_detail_find(&err, STR("cause")), "…", "detail");
    assert_str(err.traceback, "x = '…'", "traceback");
}

static void no_connections_have_no_secrets(void **state) {
    Fixture *f = *state;
    StrVec secrets = connections_secrets(NULL, f->arena);
    assert_str(secrets_hide(&secrets, STR("text"), f->arena), "text", "text");
}

#define SECRETS_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void) {
    const struct CMUnitTest tests[] = {
        SECRETS_TEST(all_values_are_texts),
        SECRETS_TEST(test_10_3_secrets_are_hidden_by_value),
        SECRETS_TEST(all_texts_of_an_error_are_looked_at),
        SECRETS_TEST(no_connections_have_no_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
