/* Fills the holes of a statement's template (writer.h). A template is ours: a hole that is not known is a fault. */
#include "strategy/writer.h"

/* The statement while it is put together: own text gathers in `text`, and the source goes in whole, with its places. */
typedef struct Assembly {
    const Writer *writer;
    StrBuf text;
    SqlText parts[8]; /* a statement reads the source at most a few times */
    size_t part_count;
} Assembly;

static void add_part(Assembly *assembly, SqlText part) {
    assert(assembly->part_count < COUNT_OF(assembly->parts));
    assembly->parts[assembly->part_count++] = part;
}

static void end_own_text(Assembly *assembly) {
    add_part(assembly, sql_text_own(assembly->writer->arena, strbuf_copy(&assembly->text, assembly->writer->arena)));
    strbuf_clear(&assembly->text);
}

/* --- Holes that stand for one thing ------------------------------------------------------------------------------- */

static void fill_target(Assembly *assembly) {
    sql_relation(&assembly->text, assembly->writer->input->target);
}

static void fill_rows(Assembly *assembly) {
    assert(assembly->writer->rows.size > 0);
    strbuf_append(&assembly->text, assembly->writer->rows);
}

static void fill_input(Assembly *assembly) {
    end_own_text(assembly);
    add_part(assembly, assembly->writer->source);
}

static void fill_window_on(Assembly *assembly, Str column) {
    AUTO(strbuf) StrBuf quoted = {0};
    sql_identifier(&quoted, column);
    time_window(&assembly->text, strbuf_str(&quoted), assembly->writer->input->window_start,
                assembly->writer->input->window_end);
}

/* On the source's own spelling: an engine that minds case knows no other in {input}. */
static void fill_within(Assembly *assembly) {
    const Writer *writer = assembly->writer;
    bool takes_all = writer->takes_untimed && writer->input->window_start.size == 0;
    if (!writer->is_windowed || takes_all) {
        return;
    }
    strbuf_text(&assembly->text, writer->takes_untimed ? " WHERE (" : " WHERE ");
    fill_window_on(assembly, writer->time->source_name);
    if (writer->takes_untimed) {
        strbuf_text(&assembly->text, ") OR ");
        sql_identifier(&assembly->text, writer->time->source_name);
        strbuf_text(&assembly->text, " IS NULL");
    }
}

static void fill_window(Assembly *assembly) {
    fill_window_on(assembly, assembly->writer->time->name);
}

static void fill_produced(Assembly *assembly) {
    const BoundColumnVec *columns = &assembly->writer->columns;
    for (size_t i = 0; i < columns->count; i++) {
        strbuf_text(&assembly->text, i > 0 ? ", " : "");
        strbuf_append(&assembly->text, columns->items[i].value);
        strbuf_text(&assembly->text, " AS ");
        sql_identifier(&assembly->text, columns->items[i].name);
    }
}

static void fill_definitions(Assembly *assembly) {
    const BoundColumnVec *columns = &assembly->writer->columns;
    for (size_t i = 0; i < columns->count; i++) {
        strbuf_text(&assembly->text, i > 0 ? ", " : "");
        sql_identifier(&assembly->text, columns->items[i].name);
        strbuf_char(&assembly->text, ' ');
        strbuf_append(&assembly->text, columns->items[i].type);
    }
}

static void fill_time(Assembly *assembly) {
    sql_identifier(&assembly->text, assembly->writer->time->name);
}

static void fill_time_text(Assembly *assembly) {
    sql_literal(&assembly->text, assembly->writer->time->name);
}

static void fill_now(Assembly *assembly) {
    strbuf_append(&assembly->text, assembly->writer->input->now);
}

static const struct SimpleHole {
    Str name;
    void (*fill)(Assembly *assembly);
} simple_holes[] = {
    {STR_INIT("target"), fill_target},           {STR_INIT("rows"), fill_rows}, {STR_INIT("input"), fill_input},
    {STR_INIT("within"), fill_within},           {STR_INIT("now"), fill_now},   {STR_INIT("produced"), fill_produced},
    {STR_INIT("time text"), fill_time_text},     {STR_INIT("time"), fill_time}, {STR_INIT("window"), fill_window},
    {STR_INIT("definitions"), fill_definitions},
};

static bool fill_simple(Assembly *assembly, Str hole) {
    for (size_t i = 0; i < COUNT_OF(simple_holes); i++) {
        if (str_equal(hole, simple_holes[i].name)) {
            simple_holes[i].fill(assembly);
            return true;
        }
    }
    return false;
}

/* --- Holes with a word -------------------------------------------------------------------------------------------- */

static bool take_word(Str hole, Str name, Str *word_out) {
    if (!str_starts_with(hole, name)) {
        return false;
    }
    *word_out = str_skip(hole, name.size);
    return true;
}

static bool column_is_in(const BoundColumn *column, Str set) {
    return str_equal(set, STR("all")) || column->is_key == str_equal(set, STR("keys"));
}

static void fill_pattern(Assembly *assembly, Str pattern, size_t index) {
    const BoundColumn *column = &assembly->writer->columns.items[index];
    for (size_t i = 0; i < pattern.size; i++) {
        if (pattern.ptr[i] == '@') {
            sql_identifier(&assembly->text, column->name);
        } else if (pattern.ptr[i] == '$') {
            sql_literal(&assembly->text, column->name);
        } else if (pattern.ptr[i] == '#') {
            strbuf_format(&assembly->text, "c%zu", index);
        } else {
            strbuf_char(&assembly->text, pattern.ptr[i]);
        }
    }
}

static const char *separator_of(char mark) {
    switch (mark) {
    case '&':
        return " AND ";
    case '|':
        return " OR ";
    case '*':
        return "";
    default:
        return NULL;
    }
}

/* `hole` is "SET PATTERN", with a mark after SET when it is not a list. */
static void fill_set(Assembly *assembly, Str hole) {
    size_t blank = str_find_char(hole, ' ');
    assert(blank != STR_NOT_FOUND);
    const char *separator = separator_of(hole.ptr[blank - 1]);
    Str set = str_slice(hole, 0, separator != NULL ? blank - 1 : blank);
    assert(str_equal(set, STR("all")) || str_equal(set, STR("keys")) || str_equal(set, STR("values")));
    bool is_first = true;
    for (size_t i = 0; i < assembly->writer->columns.count; i++) {
        if (column_is_in(&assembly->writer->columns.items[i], set)) {
            strbuf_text(&assembly->text, is_first ? "" : separator != NULL ? separator : ", ");
            fill_pattern(assembly, str_skip(hole, blank + 1), i);
            is_first = false;
        }
    }
}

static void fill_event(Assembly *assembly, Str alias) {
    const BoundColumn *time = assembly->writer->time;
    AUTO(strbuf) StrBuf column = {0};
    strbuf_append(&column, alias);
    strbuf_char(&column, '.');
    sql_identifier(&column, time->name);
    time_event(&assembly->text, time->type, strbuf_str(&column));
}

static void fill(Assembly *assembly, Str hole) {
    Str word;
    if (fill_simple(assembly, hole)) {
        return;
    }
    if (take_word(hole, STR("work "), &word)) {
        sql_relation(&assembly->text, writer_work(assembly->writer, word));
    } else if (take_word(hole, STR("event "), &word)) {
        fill_event(assembly, word);
    } else {
        fill_set(assembly, hole);
    }
}

SqlText template_fill(const Writer *writer, Str text) {
    Assembly assembly = {.writer = writer};
    for (size_t i = 0; i < text.size; i++) {
        if (text.ptr[i] != '{') {
            strbuf_char(&assembly.text, text.ptr[i]);
            continue;
        }
        size_t length = str_find_char(str_skip(text, i), '}');
        assert(length != STR_NOT_FOUND);
        fill(&assembly, str_slice(text, i + 1, i + length));
        i += length;
    }
    end_own_text(&assembly);
    strbuf_deinit(&assembly.text);
    return sql_text_concat(writer->arena, assembly.parts, assembly.part_count);
}
