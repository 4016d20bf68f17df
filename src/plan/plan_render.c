/* A plan as JSON (spec 03 §5) and as the comment of a pull request. Both are the same for the same plan. */
#include "plan/plan.h"

#include <string.h>

/* ---- JSON. */

static void write_optional_name(JsonWriter *writer, Str key, const char *name) {
    json_optional_text_field(writer, key, str_from(name));
}

static void write_empty_list(JsonWriter *writer, Str key) {
    json_text_list_field(writer, key, NULL, 0);
}

/* A header block leaves the end of its line behind. Indentation of the first line of text stays. */
static Str without_blank_lines(Str sql) {
    size_t start = 0;
    for (size_t i = 0;
         i < sql.size && (sql.ptr[i] == ' ' || sql.ptr[i] == '\t' || sql.ptr[i] == '\r' || sql.ptr[i] == '\n'); i++) {
        start = sql.ptr[i] == '\n' ? i + 1 : start;
    }
    return str_skip(sql, start);
}

static void write_change(JsonWriter *writer, const PlanChange *change) {
    json_begin_object(writer);
    json_text_field(writer, STR("name"), change->name);
    json_text_field(writer, STR("change_type"), str_from(change_type_name(change->type)));
    write_optional_name(writer, STR("category"), change_category_name(change->category));
    json_optional_text_field(writer, STR("previous_fingerprint"), change->previous_fingerprint);
    json_optional_text_field(writer, STR("new_fingerprint"), change->new_fingerprint);
    json_text_list_field(writer, STR("impacted_columns"), change->impacted_columns.items,
                         change->impacted_columns.count);
    json_optional_text_field(writer, STR("new_sql"), without_blank_lines(change->new_sql));
    json_optional_text_field(writer, STR("previous_sql"), without_blank_lines(change->previous_sql));
    json_bool_field(writer, STR("reused"), change->reused);
    json_end_object(writer);
}

/* "model: reason" */
static void write_blocking(const Plan *plan, JsonWriter *writer) {
    AUTO(arena) Arena *scratch = arena_create();
    StrVec lines = {0};
    for (size_t i = 0; i < plan->changes.count; i++) {
        const PlanChange *change = &plan->changes.items[i];
        if (change->blocking.size > 0) {
            str_vec_push(scratch, &lines,
                         str_format(scratch, STR_FMT ": " STR_FMT, STR_ARG(change->name), STR_ARG(change->blocking)));
        }
    }
    json_text_list_field(writer, STR("blocking"), lines.items, lines.count);
}

void plan_write_json(const Plan *plan, JsonWriter *writer) {
    json_begin_object(writer);
    json_text_field(writer, STR("environment"), plan->environment);
    if (!str_equal(plan->compared_with, plan->environment)) {
        json_text_field(writer, STR("compared_with"), plan->compared_with);
    }
    json_key(writer, STR("changes"));
    json_begin_array(writer);
    for (size_t i = 0; i < plan->changes.count; i++) {
        write_change(writer, &plan->changes.items[i]);
    }
    json_end_array(writer);
    write_empty_list(writer, STR("transfers"));
    json_text_list_field(writer, STR("physical"), plan->physical.items, plan->physical.count);
    write_empty_list(writer, STR("drift"));
    json_text_list_field(writer, STR("metadata"), plan->metadata.items, plan->metadata.count);
    json_text_list_field(writer, STR("warnings"), plan->warnings.items, plan->warnings.count);
    write_blocking(plan, writer);
    json_bool_field(writer, STR("breaking"), plan->is_breaking);
    json_bool_field(writer, STR("empty"), plan->is_empty);
    json_end_object(writer);
}

/* ---- Markdown. */

#define MARKER "<!-- interlace-plan -->\n"
#define MARKDOWN_SIZE_MAX ((size_t)60000) /* bytes, so never more characters */
#define SUMMARY_ITEMS_MAX ((size_t)20)

/* Names are identifiers, but notes and removed names come from elsewhere: nothing may end the cell or the line. */
static void append_inline(StrBuf *out, Str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.ptr[i];
        if (c == '|') {
            strbuf_text(out, "\\|");
        } else {
            strbuf_char(out, c == '\n' || c == '\r' || c == '`' ? ' ' : c);
        }
    }
}

static void append_name(StrBuf *out, Str name) {
    strbuf_char(out, '`');
    append_inline(out, name);
    strbuf_char(out, '`');
}

/* "- Breaking: `a`, `b` and 7 more"; nothing when there is no name. */
static void append_name_list(StrBuf *out, const char *title, const Str *names, size_t count) {
    if (count == 0) {
        return;
    }
    size_t shown = count < SUMMARY_ITEMS_MAX ? count : SUMMARY_ITEMS_MAX;
    strbuf_format(out, "- %s: ", title);
    for (size_t i = 0; i < shown; i++) {
        strbuf_text(out, i == 0 ? "" : ", ");
        append_name(out, names[i]);
    }
    if (shown < count) {
        strbuf_format(out, " and %zu more", count - shown);
    }
    strbuf_char(out, '\n');
}

static bool is_breaking(const PlanChange *change) {
    return change->category == CATEGORY_BREAKING;
}

static bool is_reused(const PlanChange *change) {
    return change->reused;
}

static void append_changes_that(StrBuf *out, const char *title, const Plan *plan,
                                bool (*is_listed)(const PlanChange *change)) {
    AUTO(arena) Arena *scratch = arena_create();
    StrVec names = {0};
    for (size_t i = 0; i < plan->changes.count; i++) {
        if (is_listed(&plan->changes.items[i])) {
            str_vec_push(scratch, &names, plan->changes.items[i].name);
        }
    }
    append_name_list(out, title, names.items, names.count);
}

static void append_summary(StrBuf *out, const Plan *plan) {
    AUTO(strbuf) StrBuf summary = {0};
    append_changes_that(&summary, "Breaking", plan, is_breaking);
    append_changes_that(&summary, "Reuse", plan, is_reused);
    append_name_list(&summary, "Physical", plan->physical.items, plan->physical.count);
    append_name_list(&summary, "Metadata only", plan->metadata.items, plan->metadata.count);
    for (size_t i = 0; i < plan->warnings.count && i < SUMMARY_ITEMS_MAX; i++) {
        strbuf_text(&summary, "- Note: ");
        append_inline(&summary, plan->warnings.items[i]);
        strbuf_char(&summary, '\n');
    }
    if (summary.size > 0) {
        strbuf_char(out, '\n');
        strbuf_append(out, strbuf_str(&summary));
    }
}

static void append_row(StrBuf *out, const PlanChange *change) {
    const char *category = change_category_name(change->category);
    strbuf_text(out, "| ");
    append_name(out, change->name);
    strbuf_format(out, " | %s | %s | %s |\n", change_type_name(change->type), category == NULL ? "—" : category,
                  change_build_name(change));
}

/* The rows that fit into `size_max` bytes of `out`, and how many did not. */
static void append_table(StrBuf *out, const Plan *plan, size_t size_max) {
    static const char omitted_form[] = "\n%zu more rows are not shown; `interlace plan` prints all.\n";
    size_t rows_size_max = size_max - sizeof omitted_form - 20;
    strbuf_text(out, "\n| Model | Change | Category | Build |\n|---|---|---|---|\n");
    size_t shown = 0;
    for (; shown < plan->changes.count; shown++) {
        size_t before = out->size;
        append_row(out, &plan->changes.items[shown]);
        if (out->size > rows_size_max) {
            out->size = before;
            break;
        }
    }
    if (shown < plan->changes.count) {
        strbuf_format(out, omitted_form, plan->changes.count - shown);
    }
}

void plan_write_markdown(const Plan *plan, StrBuf *out) {
    static const char gate[] = "\nBreaking changes are applied only with `--force`.\n";
    size_t size_max = out->size + MARKDOWN_SIZE_MAX - sizeof gate;
    strbuf_text(out, MARKER);
    AUTO(arena) Arena *scratch = arena_create();
    strbuf_format(out, "## Plan for `" STR_FMT "`\n", STR_ARG(plan_environment_text(plan, scratch)));
    if (plan->is_empty) {
        strbuf_text(out, "\nNo changes.\n");
    }
    append_summary(out, plan);
    if (plan->changes.count > 0) {
        append_table(out, plan, size_max);
    }
    if (plan->is_breaking) {
        strbuf_text(out, gate);
    }
}
