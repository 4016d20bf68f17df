/* What the statements of a sound SQL text are, by their words. The engine says whether a text is sound, but names the
 * kind of a statement only once it is bound, and that takes its tables. Pure. */
#ifndef INTERLACE_DUCK_STATEMENT_KINDS_H
#define INTERLACE_DUCK_STATEMENT_KINDS_H

#include "base/vec.h"

/* "SELECT" for all that gives rows by itself (FROM …, VALUES, TABLE, PIVOT, DESCRIBE, …, with or without WITH); else
 * the telling word in capitals: "INSERT", "CREATE", … One item for each statement; empty ones do not count. */
StrVec statement_kinds(Str sql, Arena *arena);

#endif
