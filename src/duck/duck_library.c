/* One load for the process, by pthread_once: find the file, dlopen it, check its version, fill the stubs' table.
 * The table and the stubs are made from the header and the library at build time (scripts/duck_stubs.py). */
#include "duck/duck_library.h"

#include "base/str.h"
#include "duck_symbols.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const tried_versions[] = {"v1.5.5"};

/* Entry i is the address that stub i jumps to. Written once, by release stores, while other threads may read it: they
 * see the slow path, which waits for the load, or the function. */
extern void *interlace_duck_table[DUCK_SYMBOL_COUNT];
void *interlace_duck_load(size_t index); /* called by the stubs' slow path */

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
/* Written by the load only. The texts and the error live as long as the process. */
static struct {
    bool loaded;
    const char *path, *version;
    Error error; /* when not loaded */
} library;

static Status set_load_error(Error *err, const char *format, ...) PRINTF_LIKE(2, 3);
static Status set_load_error(Error *err, const char *format, ...) {
    AUTO(strbuf) StrBuf message = {0};
    va_list arguments;
    va_start(arguments, format);
    strbuf_format_v(&message, format, arguments);
    va_end(arguments);
    (void)error_set(err, ERROR_CONFIGURATION, "%s", strbuf_c(&message));
    error_code(err, STR("engine.library"));
    return FAILED;
}

/* Folder of the running binary. */
static Status binary_directory(Arena *arena, Str *directory_out, Error *err) {
    size_t capacity = 256;
    for (;;) {
        char *path = arena_alloc(arena, capacity);
        ssize_t size = readlink("/proc/self/exe", path, capacity);
        if (size < 0) {
            return error_set_errno(err, ERROR_CONFIGURATION,
                                   "cannot read where the running binary lies (/proc/self/exe)");
        }
        if ((size_t)size < capacity) {
            Str binary = {path, (size_t)size};
            *directory_out = str_slice(binary, 0, str_find_last_char(binary, '/'));
            return OK;
        }
        capacity *= 2;
    }
}

static Status find_library(Arena *arena, const char **path_out, Error *err) {
    const char *chosen = getenv("INTERLACE_DUCKDB_LIB");
    if (chosen != NULL && chosen[0] != '\0') {
        if (access(chosen, R_OK) != 0) {
            return set_load_error(err, "INTERLACE_DUCKDB_LIB names '%s', which cannot be read", chosen);
        }
        *path_out = str_to_c(arena, str_from(chosen));
        return OK;
    }

    Str directory;
    TRY(binary_directory(arena, &directory, err));
    static const char *const places[] = {"libduckdb.so", "../lib/interlace/libduckdb.so"};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        const char *path = str_format(arena, STR_FMT "/%s", STR_ARG(directory), places[i]).ptr;
        if (access(path, R_OK) == 0) {
            *path_out = path;
            return OK;
        }
    }
    (void)set_load_error(err,
                         "the engine library libduckdb.so is neither in '" STR_FMT "' nor in ../lib/interlace there",
                         STR_ARG(directory));
    error_hint(err, "run `make` in the source folder, or set INTERLACE_DUCKDB_LIB to the file");
    return FAILED;
}

static Status check_version(const char *path, const char *version, Error *err) {
    for (size_t i = 0; i < COUNT_OF(tried_versions); i++) {
        if (str_equal(str_from(version), str_from(tried_versions[i]))) {
            return OK;
        }
    }
    const char *force = getenv("INTERLACE_DUCKDB_FORCE");
    if (force != NULL && str_equal(str_from(force), STR("1"))) {
        return OK;
    }

    AUTO(strbuf) StrBuf tried = {0};
    for (size_t i = 0; i < COUNT_OF(tried_versions); i++) {
        strbuf_format(&tried, "%s%s", i > 0 ? ", " : "", tried_versions[i]);
    }
    (void)set_load_error(err, "the engine library '%s' is DuckDB %s, which was not tried (tried: %s)", path, version,
                         strbuf_c(&tried));
    error_hint(err, "set INTERLACE_DUCKDB_FORCE=1 to use it all the same");
    return FAILED;
}

static Status find_functions(void *handle, const char *path, void **functions, Error *err) {
    for (size_t i = 0; i < DUCK_SYMBOL_COUNT; i++) {
        functions[i] = dlsym(handle, duck_symbol_names[i]);
        if (functions[i] == NULL) {
            return set_load_error(err, "the engine library '%s' has no function %s", path, duck_symbol_names[i]);
        }
    }
    return OK;
}

static Status load(Arena *arena, Error *err) {
    const char *path;
    TRY(find_library(arena, &path, err));

    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL); /* stays loaded: the table points into it */
    if (handle == NULL) {
        const char *reason = dlerror();
        return set_load_error(err, "cannot load the engine library: %s", reason != NULL ? reason : path);
    }

    const char *(*library_version)(void);
    *(void **)(&library_version) = dlsym(handle, "duckdb_library_version"); /* as POSIX shows it for functions */
    if (library_version == NULL) {
        return set_load_error(err, "'%s' is not the DuckDB library: it has no function duckdb_library_version", path);
    }
    const char *version = library_version();
    TRY(check_version(path, version, err));

    void **functions = ARENA_NEW_ARRAY(arena, void *, DUCK_SYMBOL_COUNT);
    TRY(find_functions(handle, path, functions, err));
    for (size_t i = 0; i < DUCK_SYMBOL_COUNT; i++) {
        __atomic_store_n(&interlace_duck_table[i], functions[i], __ATOMIC_RELEASE);
    }
    library.path = path;
    library.version = version;
    return OK;
}

static void load_for_process(void) {
    static Arena *arena; /* of the process: path and version stay */
    arena = arena_create();
    error_init(&library.error);
    library.loaded = !failed(load(arena, &library.error));
}

Status duck_library_load(Error *err) {
    (void)pthread_once(&load_once, load_for_process);
    if (!library.loaded) {
        error_copy(err, &library.error);
        return FAILED;
    }
    return OK;
}

const char *duck_library_path(void) {
    return library.path;
}

const char *duck_library_version_text(void) {
    return library.version;
}

void *interlace_duck_load(size_t index) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(duck_library_load(&err))) {
        (void)fprintf(stderr, "error: " STR_FMT "\n", STR_ARG(err.message));
        _Exit(70); /* a stub has no way to return a failure */
    }
    return interlace_duck_table[index];
}
