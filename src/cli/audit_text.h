/* The report of an audit as tables of text, which a terminal, Markdown and a page of HTML all show. */
#ifndef INTERLACE_CLI_AUDIT_TEXT_H
#define INTERLACE_CLI_AUDIT_TEXT_H

#include "cli/table.h"
#include "config/config_value.h"

typedef struct AuditTable {
    Str title;
    const TableColumn *columns;
    size_t column_count;
    size_t row_count;
    StrVec cells; /* row by row; empty: nothing to tell */
} AuditTable;
DEFINE_VEC(AuditTableVec, audit_table_vec, AuditTable)

typedef struct AuditSection {
    Str heading;
    AuditTableVec tables;
} AuditSection;
DEFINE_VEC(AuditSectionVec, audit_section_vec, AuditSection)

typedef struct AuditText {
    Str heading; /* campaign, environment, range */
    Str verdict; /* one sentence, and what to do */
    AuditSectionVec models;
} AuditText;

/* Of a report as backfill/campaign_audit.h makes it. */
AuditText audit_text(const ConfigValue *report, Arena *arena);

void audit_append_markdown(const AuditText *text, StrBuf *out);
/* One file: no scripts, nothing is loaded from elsewhere. */
void audit_append_html(const AuditText *text, StrBuf *out);

#endif
