/* How many columns a text takes on a terminal, and how data is shown so that it cannot drive one. */
#ifndef INTERLACE_CLI_TEXT_WIDTH_H
#define INTERLACE_CLI_TEXT_WIDTH_H

#include "base/str.h"

/* Columns: wide characters count 2, combining ones 0. For text that text_append_visible made. */
size_t text_width(Str text);

/* Appends `text` with every control character, direction override and byte that is no UTF-8 in escaped form: \n, \t,
 * \x1b, \u202e. Everything else, brackets included, is appended as it is. */
void text_append_visible(StrBuf *out, Str text);
Str text_visible(Arena *arena, Str text); /* the text itself when nothing had to be escaped */

/* At most `width` columns; `ellipsis` stands at the end of what was cut. A `width` below the ellipsis' gives nothing.
 */
Str text_cut(Arena *arena, Str text, size_t width, Str ellipsis);

#endif
