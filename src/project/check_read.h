/* Reading the `checks:` of one model (spec 05 §1, §2), in a SQL header block or a Python declaration. */
#ifndef INTERLACE_PROJECT_CHECK_READ_H
#define INTERLACE_PROJECT_CHECK_READ_H

#include "project/project_load.h"

/* One entry of the list in whichever of its forms it was written. */
typedef struct CheckEntry {
    Str type_name;
    const ConfigValue *columns;    /* shorthand `not_null: id`; NULL otherwise */
    const ConfigValue *parameters; /* the map with the parameters; NULL when there is none */
    SourceSpan place;
} CheckEntry;

typedef struct CheckReader {
    ProjectLoad *load;
    const ModelDraft *draft;
    const Model *model;
    Check *check; /* the one being read */
} CheckReader;

/* check_parameters.c: columns, severity, and what the check's type takes; then its SQL is read. */
MUST_CHECK Status check_read_entry(CheckReader *reader, const CheckEntry *entry, Error *err);

/* check_sql.c: the texts of `query`, `expression` and `where` become CheckSql. */
MUST_CHECK Status check_read_query(CheckReader *reader, const ConfigValue *value, Error *err);
MUST_CHECK Status check_read_predicate(CheckReader *reader, const ConfigValue *value, const CheckSql **sql_out,
                                       Error *err);
/* The model `upstream` is read by the check: refuses what has no relation, and remembers the others. */
MUST_CHECK Status check_add_read(CheckReader *reader, const Model *upstream, Error *err);

MUST_CHECK Status check_read_severity(const Model *model, const ConfigValue *value, SourceSpan place,
                                      CheckSeverity *severity_out, Error *err);

/* DefinitionError "model 'M': check 'range': …", code check.value. */
Status check_refuse(const CheckReader *reader, const ConfigValue *value, Error *err, const char *format, ...)
    PRINTF_LIKE(4, 5);

#endif
