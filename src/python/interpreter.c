#include "python/interpreter.h"

#include "base/files.h"
#include "base/hash.h"
#include "python/process_spawn.h"

#include <sys/stat.h>
#include <unistd.h>

InterpreterSources interpreter_sources(const ProjectConfig *config) {
    return (InterpreterSources){
        .root = config->root,
        .configured = config->python_interpreter,
        .environment = str_from(getenv("INTERLACE_PYTHON")),
        .virtual_environment = str_from(getenv("VIRTUAL_ENV")),
        .search_path = str_from(getenv("PATH")),
    };
}

/* ---- Candidates in order */

typedef struct Candidate {
    const char *source; /* as messages call it */
    Str name;           /* a path, or a command to be searched for; empty: not set */
    bool is_wish;       /* nothing else is tried */
} Candidate;
DEFINE_VEC(CandidateVec, candidate_vec, Candidate)

static bool can_run(Arena *arena, Str path) {
    struct stat info;
    const char *path_c = str_to_c(arena, path);
    return stat(path_c, &info) == 0 && S_ISREG(info.st_mode) && access(path_c, X_OK) == 0;
}

/* Empty when it is not found. */
static Str search_command(Str name, Str search_path, Arena *arena) {
    while (search_path.size > 0) {
        size_t end = str_find_char(search_path, ':');
        Str folder = str_slice(search_path, 0, end);
        Str path = path_join(arena, folder, name);
        if (str_starts_with(folder, STR("/")) && can_run(arena, path)) {
            return path;
        }
        search_path = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(search_path, end + 1);
    }
    return STR_EMPTY;
}

/* Empty when there is nothing that can run. */
static Str resolve(const Candidate *candidate, const InterpreterSources *sources, Arena *arena) {
    if (str_find_char(candidate->name, '/') == STR_NOT_FOUND) {
        return search_command(candidate->name, sources->search_path, arena);
    }
    Str path = path_join(arena, sources->root, candidate->name);
    return can_run(arena, path) ? path : STR_EMPTY;
}

static CandidateVec list_candidates(const InterpreterSources *sources, Arena *arena) {
    Str active = sources->virtual_environment;
    Str active_python = active.size > 0 ? path_join(arena, active, STR("bin/python")) : STR_EMPTY;
    const Candidate all[] = {
        {"python: of interlace.yaml", sources->configured, true},
        {"INTERLACE_PYTHON", sources->environment, true},
        {"VIRTUAL_ENV", active_python, false},
        {"the project's environment", STR(".venv/bin/python"), false},
        {"the search path", STR("python3"), false},
    };
    CandidateVec candidates = {0};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        if (all[i].name.size > 0) {
            candidate_vec_push(arena, &candidates, all[i]);
        }
    }
    return candidates;
}

static Status refuse(const StrBuf *tried, Error *err) {
    error_set(err, ERROR_CONFIGURATION, "no Python interpreter was found; tried: " STR_FMT, STR_ARG(strbuf_str(tried)));
    error_code(err, STR("python.interpreter"));
    error_hint(err,
               "install Python 3.10 or newer, or name one: `python: <path>` in interlace.yaml, or INTERLACE_PYTHON");
    return FAILED;
}

Status interpreter_choose(const InterpreterSources *sources, Arena *arena, Str *path_out, Error *err) {
    AUTO(strbuf) StrBuf tried = {0};
    CandidateVec candidates = list_candidates(sources, arena);
    for (size_t i = 0; i < candidates.count; i++) {
        const Candidate *candidate = &candidates.items[i];
        Str path = resolve(candidate, sources, arena);
        if (path.size > 0) {
            *path_out = path;
            return OK;
        }
        strbuf_format(&tried, "%s" STR_FMT " (%s)", tried.size > 0 ? ", " : "", STR_ARG(candidate->name),
                      candidate->source);
        if (candidate->is_wish) {
            break;
        }
    }
    return refuse(&tried, err);
}

/* ---- Behind a script */

static Str stamp_of(Arena *arena, Str path) {
    struct stat info;
    if (stat(str_to_c(arena, path), &info) != 0) {
        return STR_EMPTY;
    }
    return str_format(arena, STR_FMT " %lld %lld.%09ld", STR_ARG(path), (long long)info.st_size,
                      (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

static bool is_script(Arena *arena, Str path) {
    FILE *file = fopen(str_to_c(arena, path), "rbe");
    char start[2] = {0};
    bool is_one = file != NULL && fread(start, 1, 2, file) == 2 && start[0] == '#' && start[1] == '!';
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_one;
}

/* What pyenv's shim looks at, besides itself. */
static Str script_key(Str script, Str root, Arena *arena) {
    Str home = str_from(getenv("PYENV_ROOT"));
    if (home.size == 0) {
        home = path_join(arena, str_from(getenv("HOME")), STR(".pyenv"));
    }
    const Str parts[] = {
        stamp_of(arena, script),
        root,
        str_from(getenv("PYENV_VERSION")),
        stamp_of(arena, path_join(arena, root, STR(".python-version"))),
        stamp_of(arena, path_join(arena, home, STR("version"))),
    };
    return fingerprint_of_parts(arena, parts, COUNT_OF(parts));
}

/* The file holds the key and the path, one line each. Empty when it says nothing about this key. */
static Str read_remembered(Str file, Str key, Arena *arena) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    Str text;
    if (!file_exists(file) || failed(file_read(file, 64 << 10, arena, &text, &ignored))) {
        return STR_EMPTY;
    }
    if (!str_starts_with(text, key) || text.size <= key.size || text.ptr[key.size] != '\n') {
        return STR_EMPTY;
    }
    Str path = str_skip(text, key.size + 1);
    return can_run(arena, path) ? path : STR_EMPTY;
}

static void remember(Str file, Str key, Str path, Arena *arena) {
    AUTO(error) Error ignored; /* the next command asks again */
    error_init(&ignored);
    Str text = str_format(arena, STR_FMT "\n" STR_FMT, STR_ARG(key), STR_ARG(path));
    if (!failed(directory_create_all(path_directory(file), &ignored))) {
        (void)failed(file_write_atomic(file, text, false, &ignored));
    }
}

#define ASK_TIMEOUT_MS 30000

static Status ask_script(Str script, Str root, Arena *arena, Str *path_out, Error *err) {
    const char *arguments[] = {str_to_c(arena, script), "-c", "import sys; print(sys.executable)", NULL};
    TRY(process_read_output(arguments, str_to_c(arena, root), ASK_TIMEOUT_MS, arena, path_out, err));
    if (!can_run(arena, *path_out)) {
        return error_set(err, ERROR_CONFIGURATION, "'" STR_FMT "' names no Python interpreter: '" STR_FMT "'",
                         STR_ARG(script), STR_ARG(str_slice(*path_out, 0, 200)));
    }
    return OK;
}

static Status look_behind(const ProjectConfig *config, Str script, Arena *arena, Str *path_out, Error *err) {
    Str file = path_join(arena, config->cache_path, STR("python/interpreter"));
    Str key = script_key(script, config->root, arena);
    *path_out = read_remembered(file, key, arena);
    if (path_out->size == 0) {
        TRY(ask_script(script, config->root, arena, path_out, err));
        remember(file, key, *path_out, arena);
    }
    return OK;
}

Status interpreter_find(const ProjectConfig *config, Arena *arena, Interpreter *interpreter_out, Error *err) {
    InterpreterSources sources = interpreter_sources(config);
    Str path;
    TRY(interpreter_choose(&sources, arena, &path, err));
    if (is_script(arena, path)) {
        TRY(look_behind(config, path, arena, &path, err));
    }
    *interpreter_out = (Interpreter){.path = path, .identity = stamp_of(arena, path)};
    return OK;
}
