#include "cli/audit_text.h"

#include "cli/model_text.h"

#define SHOWN_MEASURES 3 /* beside each other in the table of windows; JSON has all */

/* ---- Values of the report. */

static Str text_at(const ConfigValue *map, const char *key) {
    return config_text(map, str_from(key));
}

static size_t count_at(const ConfigValue *map, const char *key) {
    const ConfigValue *value = config_find(map, str_from(key));
    return value == NULL ? 0 : value->count;
}

static const ConfigValue *item_at(const ConfigValue *map, const char *key, size_t index) {
    return config_find(map, str_from(key))->items[index];
}

/* 3999910.3999999994 as 3,999,910.4: as many digits as a sum of floats has; other texts as they are. */
static Str figure_text(Str text, Arena *arena) {
    int64_t whole;
    double number;
    if (str_to_int64(text, &whole)) {
        return number_text(arena, whole);
    }
    if (!str_to_double(text, &number)) {
        return text;
    }
    Str short_text = str_format(arena, "%.15g", number);
    size_t point = str_find_char(short_text, '.');
    Str head = str_slice(short_text, 0, point), tail = point == STR_NOT_FOUND ? STR_EMPTY : str_skip(short_text, point);
    bool is_plain = str_to_int64(head, &whole) && whole != 0;
    return is_plain ? str_format(arena, STR_FMT STR_FMT, STR_ARG(number_text(arena, whole)), STR_ARG(tail))
                    : short_text;
}

static Str count_text(const ConfigValue *map, const char *key, Arena *arena) {
    return figure_text(text_at(map, key), arena);
}

static Str day_text(Str time) {
    Str midnight = STR("T00:00:00");
    return str_ends_with(time, midnight) ? str_slice(time, 0, time.size - midnight.size) : time;
}

/* "-2.10 %"; "new" where there was nothing before. */
static Str percent_text(const ConfigValue *map, const char *key, Str before, Arena *arena) {
    double percent;
    if (!str_to_double(text_at(map, key), &percent)) {
        return before.size == 0 || str_equal(before, STR("0")) ? STR("new") : STR_EMPTY;
    }
    return percent == 0 ? STR("0 %") : str_format(arena, "%+.2f %%", percent);
}

/* ---- Tables. */

typedef struct Rows {
    Arena *arena;
    AuditTable table;
} Rows;

static Rows begin(Arena *arena, const char *title, const TableColumn *columns, size_t count) {
    return (Rows){arena, {.title = str_from(title), .columns = columns, .column_count = count}};
}

static void add(Rows *rows, const Str *cells) {
    for (size_t i = 0; i < rows->table.column_count; i++) {
        str_vec_push(rows->arena, &rows->table.cells, cells[i]);
    }
    rows->table.row_count++;
}

static void end(Rows *rows, AuditSection *section) {
    if (rows->table.row_count > 0) {
        audit_table_vec_push(rows->arena, &section->tables, rows->table);
    }
}

static void add_rows(const ConfigValue *model, AuditSection *section, Arena *arena) {
    static const TableColumn columns[] = {
        {.title = "Rows old", .is_number = true}, {.title = "Rows new", .is_number = true},
        {.title = "Change", .is_number = true},   {.title = "Added", .is_number = true},
        {.title = "Removed", .is_number = true},  {.title = "Changed", .is_number = true},
        {.title = "By", .is_dim = true}};
    const ConfigValue *rows = config_find(model, STR("rows")), *keys = config_find(model, STR("keys"));
    Rows table = begin(arena, "", columns, COUNT_OF(columns));
    StrVec names = {0};
    for (size_t i = 0; i < count_at(keys, "by"); i++) {
        str_vec_push(arena, &names, item_at(keys, "by", i)->text);
    }
    bool has_key = names.count > 0;
    Str key = str_join(arena, names.items, names.count, STR(", "));
    bool repeat = str_equal(text_at(keys, "repeat"), STR("true"));
    Str by = !has_key ? STR("whole rows") : repeat ? str_format(arena, STR_FMT " (repeats)", STR_ARG(key)) : key;
    add(&table,
        (Str[]){count_text(rows, "old", arena), count_text(rows, "new", arena),
                percent_text(rows, "change", text_at(rows, "old"), arena), count_text(keys, "added", arena),
                count_text(keys, "removed", arena), has_key ? count_text(keys, "changed", arena) : STR_EMPTY, by});
    end(&table, section);
}

static void add_columns(const ConfigValue *model, AuditSection *section, Arena *arena) {
    static const TableColumn columns[] = {
        {.title = "Column", .is_name = true},     {.title = "Changed", .is_number = true},
        {.title = "Sum old", .is_number = true},  {.title = "Sum new", .is_number = true},
        {.title = "Change", .is_number = true},   {.title = "NULLs old", .is_number = true},
        {.title = "NULLs new", .is_number = true}};
    const ConfigValue *all = config_find(model, STR("columns"));
    Rows table = begin(arena, "Columns", columns, COUNT_OF(columns));
    for (size_t i = 0; i < all->count; i++) {
        const ConfigValue *column = all->entries[i].value;
        Str old = text_at(column, "sum_old"), new = text_at(column, "sum_new");
        bool has_sums = old.size > 0 || new.size > 0;
        add(&table, (Str[]){all->entries[i].key, count_text(column, "changed", arena),
                            count_text(column, "sum_old", arena), count_text(column, "sum_new", arena),
                            has_sums ? percent_text(column, "sum_change", old, arena) : STR_EMPTY,
                            count_text(column, "nulls_old", arena), count_text(column, "nulls_new", arena)});
    }
    end(&table, section);
}

static TableColumn *window_columns(const ConfigValue *sums, size_t measures, Arena *arena) {
    TableColumn *columns = ARENA_NEW_ARRAY(arena, TableColumn, 3 + 2 * measures);
    columns[0] = (TableColumn){.title = "Window", .is_name = true};
    columns[1] = (TableColumn){.title = "Rows old", .is_number = true};
    columns[2] = (TableColumn){.title = "Rows new", .is_number = true};
    for (size_t i = 0; i < measures; i++) {
        Str name = sums->entries[i].key;
        columns[3 + 2 * i] =
            (TableColumn){.title = str_format(arena, STR_FMT " old", STR_ARG(name)).ptr, .is_number = true};
        columns[4 + 2 * i] =
            (TableColumn){.title = str_format(arena, STR_FMT " new", STR_ARG(name)).ptr, .is_number = true};
    }
    return columns;
}

static void add_windows(const ConfigValue *model, AuditSection *section, Arena *arena) {
    size_t count = count_at(model, "moved_windows");
    if (count == 0) {
        return;
    }
    const ConfigValue *first = config_find(item_at(model, "moved_windows", 0), STR("sums"));
    size_t measures = first->count < SHOWN_MEASURES ? first->count : SHOWN_MEASURES;
    Rows table = begin(arena, "Windows that moved most", window_columns(first, measures, arena), 3 + 2 * measures);
    for (size_t row = 0; row < count; row++) {
        const ConfigValue *window = item_at(model, "moved_windows", row);
        const ConfigValue *sums = config_find(window, STR("sums"));
        Str *cells = ARENA_NEW_ARRAY(arena, Str, table.table.column_count);
        Str name = text_at(window, "window");
        cells[0] = name.size == 0 ? STR("(no time)") : name;
        cells[1] = count_text(window, "rows_old", arena);
        cells[2] = count_text(window, "rows_new", arena);
        for (size_t i = 0; i < measures; i++) {
            cells[3 + 2 * i] = count_text(sums->entries[i].value, "old", arena);
            cells[4 + 2 * i] = count_text(sums->entries[i].value, "new", arena);
        }
        add(&table, cells);
    }
    end(&table, section);
}

static Str key_text(const ConfigValue *moved, Arena *arena) {
    const ConfigValue *key = config_find(moved, STR("key"));
    StrVec parts = {0};
    for (size_t i = 0; i < key->count; i++) {
        str_vec_push(arena, &parts, key->entries[i].value->text);
    }
    return str_join(arena, parts.items, parts.count, STR(", "));
}

static bool is_same(const ConfigValue *a, const ConfigValue *b) {
    return a->kind == b->kind && str_equal(a->text, b->text);
}

/* A line for each value that differs. */
static void add_keys(const ConfigValue *model, AuditSection *section, Arena *arena) {
    static const TableColumn columns[] = {{.title = "Key", .is_name = true},
                                          {.title = "Is"},
                                          {.title = "Column", .is_name = true},
                                          {.title = "Old", .is_number = true},
                                          {.title = "New", .is_number = true}};
    Rows table = begin(arena, "Keys that moved most", columns, COUNT_OF(columns));
    for (size_t row = 0; row < count_at(model, "moved_keys"); row++) {
        const ConfigValue *moved = item_at(model, "moved_keys", row);
        const ConfigValue *values = config_find(moved, STR("values"));
        Str key = key_text(moved, arena), kind = text_at(moved, "kind");
        bool is_told = false;
        for (size_t i = 0; i < values->count; i++) {
            const ConfigValue *pair = values->entries[i].value;
            if (!is_same(config_find(pair, STR("old")), config_find(pair, STR("new")))) {
                add(&table, (Str[]){key, kind, values->entries[i].key, text_at(pair, "old"), text_at(pair, "new")});
                is_told = true;
            }
        }
        if (!is_told) {
            add(&table, (Str[]){key, kind, STR_EMPTY, STR_EMPTY, STR_EMPTY});
        }
    }
    end(&table, section);
}

static void add_thresholds(const ConfigValue *model, AuditSection *section, Arena *arena) {
    static const TableColumn columns[] = {{.title = "Threshold", .is_name = true},
                                          {.title = "At most", .is_number = true},
                                          {.title = "Difference", .is_number = true},
                                          {.title = "Change", .is_number = true},
                                          {.title = "Verdict"}};
    Rows table = begin(arena, "Thresholds", columns, COUNT_OF(columns));
    for (size_t i = 0; i < count_at(model, "thresholds"); i++) {
        const ConfigValue *threshold = item_at(model, "thresholds", i);
        bool is_known = str_equal(text_at(threshold, "is_known"), STR("true"));
        bool holds = str_equal(text_at(threshold, "holds"), STR("true"));
        add(&table, (Str[]){text_at(threshold, "measure"), text_at(threshold, "limit"),
                            count_text(threshold, "difference", arena),
                            is_known ? percent_text(threshold, "change", STR_EMPTY, arena) : STR_EMPTY,
                            holds      ? STR("accept")
                            : is_known ? STR("needs acceptance")
                                       : STR("needs acceptance: no such count, and no column with a sum")});
    }
    end(&table, section);
}

static void add_checks(const ConfigValue *model, AuditSection *section, Arena *arena) {
    static const TableColumn columns[] = {{.title = "Check", .is_name = true},
                                          {.title = "Severity"},
                                          {.title = "Status"},
                                          {.title = "Failures", .is_number = true},
                                          {.title = "Message", .is_dim = true}};
    Rows table = begin(arena, "Checks on what readers would see", columns, COUNT_OF(columns));
    for (size_t i = 0; i < count_at(model, "checks"); i++) {
        const ConfigValue *check = item_at(model, "checks", i);
        add(&table, (Str[]){text_at(check, "name"), text_at(check, "severity"), text_at(check, "status"),
                            count_text(check, "failures", arena), text_at(check, "message")});
    }
    end(&table, section);
}

/* ---- The whole. */

static Str verdict_word(Str verdict) {
    return str_equal(verdict, STR("accept"))    ? STR("accept")
           : str_equal(verdict, STR("blocked")) ? STR("blocked: a check fails")
                                                : STR("needs acceptance");
}

static Str verdict_sentence(const ConfigValue *report, Arena *arena) {
    Str verdict = text_at(report, "verdict"), id = text_at(report, "id");
    if (str_equal(verdict, STR("accept"))) {
        return STR("All thresholds hold and no error check fails.");
    }
    return str_equal(verdict, STR("blocked"))
               ? STR("Error checks fail on what readers would see: this cannot be published.")
               : str_format(arena,
                            "Thresholds do not hold: `interlace backfill publish " STR_FMT
                            "` needs --accept MODEL.MEASURE for each.",
                            STR_ARG(id));
}

AuditText audit_text(const ConfigValue *report, Arena *arena) {
    static void (*const parts[])(const ConfigValue *, AuditSection *, Arena *) = {
        add_rows, add_columns, add_thresholds, add_checks, add_windows, add_keys,
    };
    Str id = text_at(report, "id"), environment = text_at(report, "environment");
    Str start = day_text(item_at(report, "range", 0)->text), finish = day_text(item_at(report, "range", 1)->text);
    AuditText text = {.verdict = verdict_sentence(report, arena)};
    text.heading = str_format(arena, "Audit of campaign " STR_FMT " over '" STR_FMT "', " STR_FMT " to " STR_FMT,
                              STR_ARG(id), STR_ARG(environment), STR_ARG(start), STR_ARG(finish));
    for (size_t i = 0; i < count_at(report, "models"); i++) {
        const ConfigValue *model = item_at(report, "models", i);
        Str name = text_at(model, "name"), verdict = verdict_word(text_at(model, "verdict"));
        AuditSection section = {.heading = str_format(arena, STR_FMT ": " STR_FMT, STR_ARG(name), STR_ARG(verdict))};
        for (size_t p = 0; p < COUNT_OF(parts); p++) {
            parts[p](model, &section, arena);
        }
        audit_section_vec_push(arena, &text.models, section);
    }
    return text;
}
