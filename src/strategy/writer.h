/* Writer: what the strategies share while they write a plan's statements. The columns are bound once; every statement
 * is then a template with holes, so that its SQL can be read in the code as it will run. Private to strategy/.
 *
 *     writer_begin  →  stage_…, keys_…, writer_step …  →  writer_end (drops the working tables)
 *
 * Holes of a template:
 *     {target}        the target
 *     {rows}          what holds the source's rows under the target's names and types: a stage, or the target itself
 *     {input}         the source as it came: the query in parentheses, or the table that Python filled
 *     {within}        " WHERE …" that keeps of {input} the rows of the window; nothing when there is no window
 *     {window}        the condition that a row of the target lies in the window
 *     {produced}      the select list that turns {input} into {rows}
 *     {definitions}   the columns with their types, as CREATE TABLE wants them
 *     {work NAME}     a working table of this plan
 *     {now}           the transaction's instant
 *     {event ALIAS}   the event time of a row of ALIAS, a TIMESTAMP
 *     {time}          the name of the time column; {time text}: as a text literal
 *     {SET PATTERN}   PATTERN for each column of SET, joined by ", ". In it @ is the column's name, $ the name as text,
 *                     # the short name (c0, c1, …) of working tables whose own columns must not meet the user's
 *     {SET& PATTERN}  the same joined by " AND "; {SET| PATTERN} by " OR "; {SET* PATTERN} by nothing
 * SET is `all`, `keys` or `values` (all but the keys). Names are quoted. */
#ifndef INTERLACE_STRATEGY_WRITER_H
#define INTERLACE_STRATEGY_WRITER_H

#include "strategy/strategy.h"

/* One column of the source and where it goes. */
typedef struct BoundColumn {
    Str name; /* as the target spells it; a new column as the source does */
    Str type; /* as it is stored after this plan */
    Str source_name, source_type;
    Str value; /* SQL over {input}: the value as it is stored */
    bool is_key;
    bool may_not_cast; /* values of the source may not convert to the stored type */
} BoundColumn;
DEFINE_VEC(BoundColumnVec, bound_column_vec, BoundColumn)

/* Columns of the target that the source does not give and that no comparison looks at, each text with a leading comma:
 * templates. */
typedef struct ExtraColumns {
    const char *definitions; /* , "x" VARCHAR */
    const char *names;       /* , "x" */
    const char *values;      /* , 1 AS "x" */
} ExtraColumns;

typedef struct Writer {
    const StrategyInput *input;
    StrategyKind kind;
    Arena *arena;
    StrategyStatementVec *statements;
    StrVec *notes; /* may be NULL */

    BoundColumnVec columns;
    const BoundColumn *time; /* the time column; NULL: none */
    ExtraColumns extra;
    bool is_owned;                /* the target is interlace's own table */
    bool is_first;                /* the plan makes the target */
    bool is_windowed;             /* {within} restricts {input} */
    bool takes_untimed;           /* … and lets rows without a time pass as well */
    Str rows;                     /* quoted; set by stage_… */
    SqlText source;               /* {input} */
    StrVec working;               /* names of the working tables that exist */
    StrategyStatementVec evolves; /* ALTERs that wait until the source has been checked */
} Writer;

/* Binds the columns and refuses what cannot be written (errors of strategy_write). */
MUST_CHECK Status writer_begin(Writer *writer, Error *err);
/* The target, which is there, has the column. */
bool writer_has_bookkeeping(const Writer *writer, Str name);
void writer_step(Writer *writer, StatementRole role, const char *text);
void writer_refuse(Writer *writer, RefusalKind refusal, const char *text);
/* Makes the working table {work NAME} of the query in the template `select`. */
void writer_make_work(Writer *writer, const char *name, const char *select);
/* The ALTERs: after the checks, before the first write. */
void writer_evolve(Writer *writer);
void writer_end(Writer *writer);

SqlRelation writer_work(const Writer *writer, Str name);
void writer_note(Writer *writer, const char *format, ...) PRINTF_LIKE(2, 3);

/* template.c: a statement with its holes filled. */
SqlText template_fill(const Writer *writer, Str text);

/* columns.c: binds the source's columns to the target's, by name (spec 01 §12.3, 02 §14). */
MUST_CHECK Status columns_bind(Writer *writer, Error *err);
BoundColumn *columns_find(const Writer *writer, Str name); /* without case; NULL: none */
/* Adds a column that is computed from the others and written and compared like them. */
void columns_add_computed(Writer *writer, Str name, Str type, Str value);

/* types.c: what becomes of a stored type when values of another arrive. */
typedef enum TypeChange {
    TYPE_SAME,
    TYPE_WIDENS, /* the stored type has to become the new one */
    TYPE_FITS,   /* every value converts to the stored type */
    TYPE_CASTS   /* values are cast to the stored type, which may fail */
} TypeChange;
TypeChange type_change(Str stored, Str arriving);
/* As PostgreSQL spells the type that its extension stores values of `type` as. */
Str type_in_postgres(Str type, Arena *arena);
/* Some integers change when the stored type becomes `widened`. */
bool type_widening_rounds(Str stored, Str widened);

/* time_column.c */
bool time_is_zoned(Str type);
bool time_is_text(Str type);
/* ExecutionError (code time_type): no type of times. Text is one for scd alone, which casts it. */
MUST_CHECK Status time_check_type(const Writer *writer, Str name, Str type, bool may_be_text, Error *err);
/* The value of the quoted or qualified `column` of a time's type as a TIMESTAMP: a date is its midnight, a zoned value
 * its UTC time, whatever the zone of the session. */
void time_event(StrBuf *sql, Str type, Str column);
/* `column` lies in [start, end); both empty: it has a time. */
void time_window(StrBuf *sql, Str column, Str start, Str end);

/* utc_text.c: the text of `value` as a session in UTC writes it, zoned timestamps inside of it too. */
void time_utc_text(StrBuf *sql, Str type, Str value, Arena *arena);

/* stage.c */
/* Reads the source once, into a table that is then {rows}. A table that Python filled is taken as it is when nothing
 * has to be done to its rows and `is_changed` does not say that they will be written to. */
void stage_source(Writer *writer, bool is_changed);
/* What stands between the source and being read as {produced}: nothing, unless values have to be cast that may not
 * convert. Then the source is held as it came, and looked through. */
void stage_check_casts(Writer *writer);
/* Makes the target with the rows of the template `select` (all columns, then the extra ones); {rows} is then the
 * target. */
void stage_create_target(Writer *writer, const char *select);
/* The whole first build of strategies that only need the source's rows in it. */
void stage_first_build(Writer *writer);
/* The first build, or else the staged source; then the checks of its keys, which must not repeat. */
void stage_keyed(Writer *writer);
/* The same of a source that is the whole state: there equal rows become one before. */
void stage_set(Writer *writer);

/* keys.c: what is refused before the first write. {rows} must be there. */
void keys_refuse_null(Writer *writer);
void keys_refuse_null_time(Writer *writer);
/* Any key value (with `by_event`: key and event time) that is there more than once. */
void keys_refuse_repeated(Writer *writer);
/* The same after rows that are equal in all columns have become one. */
void keys_collapse(Writer *writer, bool by_event);

/* upsert.c: {rows} into the target by key. Matched rows are written where the template `changed` holds of `target` and
 * `source` (NULL: always). */
void upsert(Writer *writer, const char *changed);
/* The same, and rows of the target that match nothing are deleted, in one statement; false: nothing was written, since
 * this engine or this table wants several. */
bool upsert_whole(Writer *writer, const char *changed);

#endif
