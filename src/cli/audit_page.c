/* The report as Markdown and as HTML. */
#include "cli/audit_text.h"

static Str cell_at(const AuditTable *table, size_t row, size_t column) {
    return table->cells.items[row * table->column_count + column];
}

/* ---- Markdown. */

static void append_plain(StrBuf *out, Str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.ptr[i];
        if (strchr("\\|`*_<>[]#", c) != NULL && c != '\0') {
            strbuf_char(out, '\\');
        }
        strbuf_char(out, c == '\n' || c == '\r' ? ' ' : c);
    }
}

static void append_markdown_table(const AuditTable *table, StrBuf *out) {
    if (table->title.size > 0) {
        strbuf_format(out, "**" STR_FMT "**\n\n", STR_ARG(table->title));
    }
    for (size_t i = 0; i < table->column_count; i++) {
        strbuf_text(out, "| ");
        append_plain(out, str_from(table->columns[i].title));
        strbuf_char(out, ' ');
    }
    strbuf_text(out, "|\n");
    for (size_t i = 0; i < table->column_count; i++) {
        strbuf_text(out, table->columns[i].is_number ? "|---:" : "|---");
    }
    strbuf_text(out, "|\n");
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            strbuf_text(out, "| ");
            append_plain(out, cell_at(table, row, i));
            strbuf_char(out, ' ');
        }
        strbuf_text(out, "|\n");
    }
    strbuf_char(out, '\n');
}

void audit_append_markdown(const AuditText *text, StrBuf *out) {
    strbuf_text(out, "## ");
    append_plain(out, text->heading);
    strbuf_format(out, "\n\n" STR_FMT "\n\n", STR_ARG(text->verdict));
    for (size_t i = 0; i < text->models.count; i++) {
        const AuditSection *model = &text->models.items[i];
        strbuf_text(out, "### ");
        append_plain(out, model->heading);
        strbuf_text(out, "\n\n");
        for (size_t t = 0; t < model->tables.count; t++) {
            append_markdown_table(&model->tables.items[t], out);
        }
    }
}

/* ---- HTML. */

static const char *const style_sheet =
    "body{font:14px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1d232b}"
    "h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid #d5dae1}"
    "table{border-collapse:collapse;margin:.8rem 0;display:block;overflow-x:auto}"
    "caption{text-align:left;font-weight:600;padding:.3rem 0}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid #e6e9ee;text-align:left;white-space:nowrap}"
    "th{font-weight:600;color:#566070}.n{text-align:right;font-variant-numeric:tabular-nums}";

static void append_html(StrBuf *out, Str text) {
    static const struct {
        char c;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < text.size; i++) {
        const char *entity = NULL;
        for (size_t e = 0; e < COUNT_OF(entities); e++) {
            entity = text.ptr[i] == entities[e].c ? entities[e].entity : entity;
        }
        if (entity != NULL) {
            strbuf_text(out, entity);
        } else {
            strbuf_char(out, text.ptr[i]);
        }
    }
}

static void append_cell(StrBuf *out, const char *tag, bool is_number, Str text) {
    strbuf_format(out, "<%s%s>", tag, is_number ? " class=\"n\"" : "");
    append_html(out, text);
    strbuf_format(out, "</%s>", tag);
}

static void append_html_table(const AuditTable *table, StrBuf *out) {
    strbuf_text(out, "<table>\n");
    if (table->title.size > 0) {
        append_cell(out, "caption", false, table->title);
    }
    strbuf_text(out, "<thead><tr>");
    for (size_t i = 0; i < table->column_count; i++) {
        append_cell(out, "th", table->columns[i].is_number, str_from(table->columns[i].title));
    }
    strbuf_text(out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < table->row_count; row++) {
        strbuf_text(out, "<tr>");
        for (size_t i = 0; i < table->column_count; i++) {
            append_cell(out, "td", table->columns[i].is_number, cell_at(table, row, i));
        }
        strbuf_text(out, "</tr>\n");
    }
    strbuf_text(out, "</tbody></table>\n");
}

void audit_append_html(const AuditText *text, StrBuf *out) {
    strbuf_text(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta name=\"viewport\" content=\"width=device-width\">");
    append_cell(out, "title", false, text->heading);
    strbuf_format(out, "<style>%s</style></head><body>\n", style_sheet);
    append_cell(out, "h1", false, text->heading);
    append_cell(out, "p", false, text->verdict);
    for (size_t i = 0; i < text->models.count; i++) {
        const AuditSection *model = &text->models.items[i];
        strbuf_char(out, '\n');
        append_cell(out, "h2", false, model->heading);
        strbuf_char(out, '\n');
        for (size_t t = 0; t < model->tables.count; t++) {
            append_html_table(&model->tables.items[t], out);
        }
    }
    strbuf_text(out, "</body></html>\n");
}
