#include "python/worker_environment.h"

#include <unistd.h>

DEFINE_VEC(VariableVec, variable_vec, const char *)

static bool has_name(Str variable, Str name) {
    return str_starts_with(variable, name) && variable.size > name.size && variable.ptr[name.size] == '=';
}

/* INTERLACE_…TOKEN…: keys of our own API are none of user code's business. */
static bool is_token(Str variable) {
    Str name = str_slice(variable, 0, str_find_char(variable, '='));
    return str_starts_with(name, STR("INTERLACE_")) && str_find(name, STR("TOKEN")) != STR_NOT_FOUND;
}

static bool is_replaced(Str variable) {
    return has_name(variable, STR("PYTHONPATH")) || has_name(variable, STR("INTERLACE_PYTHONPATH"));
}

static void add(Arena *arena, VariableVec *variables, const char *name, Str value) {
    variable_vec_push(arena, variables, str_format(arena, "%s=" STR_FMT, name, STR_ARG(value)).ptr);
}

Status worker_environment(Str sdk_path, Arena *arena, const char *const **variables_out, Error *err) {
    if (str_find_char(sdk_path, ':') != STR_NOT_FOUND) {
        return error_set(err, ERROR_CONFIGURATION,
                         "Python's search path cannot hold '" STR_FMT "', because of its ':'; move the project",
                         STR_ARG(sdk_path));
    }
    VariableVec variables = {0};
    for (char **variable = environ; *variable != NULL; variable++) {
        Str text = str_from(*variable);
        if (!is_token(text) && !is_replaced(text)) {
            variable_vec_push(arena, &variables, *variable);
        }
    }
    const char *inherited = getenv("PYTHONPATH");
    Str path = sdk_path;
    if (inherited != NULL && *inherited != '\0') {
        add(arena, &variables, "INTERLACE_PYTHONPATH", str_from(inherited));
        path = str_format(arena, STR_FMT ":%s", STR_ARG(sdk_path), inherited);
    }
    add(arena, &variables, "PYTHONPATH", path);
    variable_vec_push(arena, &variables, NULL);
    *variables_out = variables.items;
    return OK;
}
