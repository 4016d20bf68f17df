/* A look at a regular expression before any data is: mistakes that RE2, which the engine uses, would refuse. What
 * passes here may still be refused by the engine; what fails here certainly is. */
#ifndef INTERLACE_PROJECT_CHECK_REGEX_H
#define INTERLACE_PROJECT_CHECK_REGEX_H

#include "base/str.h"

/* NULL when nothing is wrong, else what is: "an unclosed (". */
const char *regex_find_fault(Str regex);

#endif
