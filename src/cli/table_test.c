#include "cli/table.h"

#include "base/testing.h"

static const Terminal plain = {.descriptor = -1, .is_unicode = true};
static const Terminal ascii = {.descriptor = -1};
static const Terminal colored = {.descriptor = -1, .is_unicode = true, .has_color = true};

static const TableColumn columns[] = {
    {.title = "Model", .is_name = true}, {.title = "Rows", .is_number = true}, {.title = "Note", .is_dim = true}};

static Table *sample(Arena *arena) {
    Table *table = table_create(arena, STR("Results"), columns, COUNT_OF(columns));
    table_add(table, (TableCell[]){CELL(STR("orders")), CELL(STR("+12")), CELL(STR("new"))});
    table_add(table, (TableCell[]){CELL(STR("\xE6\x97\xA5")), CELL_STYLED(STR("1,234"), STYLE_GOOD), CELL(STR_EMPTY)});
    return table;
}

static void assert_table(Table *table, const Terminal *terminal, const char *expected) {
    AUTO(strbuf) StrBuf out = {0};
    table_write(table, terminal, &out);
    assert_str(strbuf_str(&out), expected, "table");
}

static void columns_are_aligned_by_display_width(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    assert_table(sample(arena), &plain,
                 "Results\n"
                 "Model    Rows  Note\n"
                 "───────────────────\n"
                 "orders    +12  new\n"
                 "日      1,234  —\n");
}

static void without_utf8_there_are_stand_ins(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    assert_table(sample(arena), &ascii,
                 "Results\n"
                 "Model    Rows  Note\n"
                 "-------------------\n"
                 "orders    +12  new\n"
                 "日      1,234  -\n");
}

static void colours_do_not_change_the_layout(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    assert_table(sample(arena), &colored,
                 "\x1b[1mResults\x1b[0m\n"
                 "\x1b[1mModel\x1b[0m    \x1b[1mRows\x1b[0m  \x1b[1mNote\x1b[0m\n"
                 "\x1b[2m───────────────────\x1b[0m\n"
                 "orders    +12  \x1b[2mnew\x1b[0m\n"
                 "日      \x1b[32m1,234\x1b[0m  \x1b[2m—\x1b[0m\n");
}

static void data_cannot_break_a_row(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const TableColumn one[] = {{.title = "v"}};
    Table *table = table_create(arena, STR_EMPTY, one, 1);
    table_add(table, (TableCell[]){CELL(STR("a\nb\x1b[2J"))});
    assert_table(table, &plain, "v\n───────────\na\\nb\\x1b[2J\n");
}

static void a_table_without_rows_shows_its_header(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Table *table = table_create(arena, STR_EMPTY, columns, COUNT_OF(columns));
    assert_table(table, &plain, "Model  Rows  Note\n─────────────────\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(columns_are_aligned_by_display_width),
                                       TEST(without_utf8_there_are_stand_ins), TEST(colours_do_not_change_the_layout),
                                       TEST(data_cannot_break_a_row), TEST(a_table_without_rows_shows_its_header)};
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
