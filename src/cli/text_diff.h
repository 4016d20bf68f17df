/* The difference of two texts, line by line, in the unified form (`@@ -1,3 +1,4 @@`). */
#ifndef INTERLACE_CLI_TEXT_DIFF_H
#define INTERLACE_CLI_TEXT_DIFF_H

#include "cli/terminal.h"

/* Appends hunks with three lines of context; nothing when the texts are equal. Two texts that are long and share little
 * (over 4 million pairs of lines to compare) are shown as removed and added as a whole. */
void text_diff_append(Str before, Str after, const Terminal *terminal, StrBuf *out);

#endif
