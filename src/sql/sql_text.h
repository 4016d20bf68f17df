/* SqlText: a text of SQL that knows, for each byte, where in the user's files it came from. Spliced names, inlined
 * models, expanded macros and the statements of a strategy keep this map, so that an error of the engine can be shown
 * in the file the user wrote. Immutable; lives in the arena it was made in. */
#ifndef INTERLACE_SQL_SQL_TEXT_H
#define INTERLACE_SQL_SQL_TEXT_H

#include "base/error.h"
#include "sql/sql_buf.h"

typedef struct SourceFile {
    Str path;    /* relative to the project root */
    Str content; /* whole file, for lines and columns */
} SourceFile;

typedef struct SqlSegment {
    size_t start;           /* first byte in the text; a segment ends where the next begins */
    const SourceFile *file; /* NULL: text of our own without a place */
    size_t file_offset;     /* where it came from */
    bool verbatim;          /* byte i of the segment is byte file_offset + i; else all bytes map to file_offset */
} SqlSegment;

typedef struct SqlText {
    Str text;
    const SqlSegment *segments; /* sorted by start; the first starts at 0; none for an empty text */
    size_t segment_count;
} SqlText;

SqlText sql_text_from_file(Arena *arena, const SourceFile *file, size_t start,
                           size_t end);                        /* file bytes [start, end) */
SqlText sql_text_own(Arena *arena, Str text);                  /* no place */
SqlText sql_text_all_rows(Arena *arena, SqlRelation relation); /* SELECT * FROM "schema"."name"; no place */

/* Replaces [start, end) of a text; start == end inserts. A replacement without segments of a file takes the place of
 * what it replaces. */
typedef struct SqlEdit {
    size_t start, end;
    SqlText replacement;
} SqlEdit;
DEFINE_VEC(SqlEditVec, sql_edit_vec, SqlEdit)

/* Edits in any order; overlapping ones are refused (ERROR_INTERNAL), several insertions at one place keep their order.
 */
MUST_CHECK Status sql_text_edit(const SqlText *text, const SqlEditVec *edits, Arena *arena, SqlText *edited_out,
                                Error *err);
SqlText sql_text_slice(const SqlText *text, size_t start, size_t end, Arena *arena); /* bytes [start, end) */
SqlText sql_text_copy(const SqlText *text, Arena *arena); /* text and segments; files are still borrowed */
SqlText sql_text_concat(Arena *arena, const SqlText *parts, size_t count);

/* The place of byte `offset`; an empty file when it has none. */
SourceSpan sql_text_place(const SqlText *text, size_t offset, Arena *arena);

/* Gives `err` the place its sql_offset points at, when it has one and err->place is empty. */
void sql_text_locate_error(const SqlText *text, Error *err);

#endif
