/* ${NAME} and ${NAME:-text} in parsed values, filled from the process environment, then `.env`, then the text. */
#ifndef INTERLACE_CONFIG_VARIABLES_H
#define INTERLACE_CONFIG_VARIABLES_H

#include "base/str_map.h"
#include "config/config_value.h"

typedef const char *EnvironmentFunction(const char *name); /* NULL when not set */

typedef struct Variables {
    EnvironmentFunction *environment; /* NULL: none */
    StrMap *dotenv;                   /* name to `Str *` */
    Arena *arena;                     /* of the filled texts */
} Variables;

/* `KEY=VALUE` lines, the last of one name winning. Lines of another shape are passed over. */
StrMap *dotenv_parse(Arena *arena, Str text);

/* All scalars below `value`; a plain one is typed again afterwards. What is not set and has no default stays as
 * written. */
void variables_fill(const Variables *variables, ConfigValue *value);

/* Adds each ${NAME} that stands in `text` to `names`, in that form, once. */
void variables_collect(Str text, Arena *arena, StrVec *names);

#endif
