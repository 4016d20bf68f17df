/* Which Python runs the workers (spec 10 §6): the key `python`, else INTERLACE_PYTHON, else the active virtual
 * environment, else .venv of the project, else python3. The first two are someone's explicit wish: when they name
 * nothing that can run, nothing else is tried. */
#ifndef INTERLACE_PYTHON_INTERPRETER_H
#define INTERLACE_PYTHON_INTERPRETER_H

#include "config/project_config.h"

/* What the choice depends on, so that tests can set it. Empty: not set. */
typedef struct InterpreterSources {
    Str root;
    Str configured;          /* `python:` */
    Str environment;         /* INTERLACE_PYTHON */
    Str virtual_environment; /* VIRTUAL_ENV */
    Str search_path;         /* PATH */
} InterpreterSources;

InterpreterSources interpreter_sources(const ProjectConfig *config);

/* The path of the first that can run. ConfigurationError naming all that was tried. */
MUST_CHECK Status interpreter_choose(const InterpreterSources *sources, Arena *arena, Str *path_out, Error *err);

typedef struct Interpreter {
    Str path;     /* absolute; no script in between */
    Str identity; /* path, size and time of change: part of cache keys */
} Interpreter;

/* Chooses, and looks behind a script that only finds the interpreter (pyenv's shim costs more than Python's own start).
 * What is behind it is kept in the cache folder for as long as the script and what it depends on stay the same. */
MUST_CHECK Status interpreter_find(const ProjectConfig *config, Arena *arena, Interpreter *interpreter_out, Error *err);

#endif
