/* Part by part: the paths that the pattern has led to so far are replaced by those that its next part leads to. */
#include "base/files_internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <sys/stat.h>

static bool is_kind(Arena *arena, Str path, mode_t kind, bool follow_link) {
    struct stat info;
    const char *text = str_to_c(arena, path);
    int failure = follow_link ? stat(text, &info) : lstat(text, &info);
    return failure == 0 && (info.st_mode & S_IFMT) == kind;
}

/* What `directory` holds and `pattern` fits; nothing when it is no folder. */
static Status list_matches(Str directory, const char *pattern, Arena *arena, StrVec *paths, Error *err) {
    AUTO(dir) DIR *dir = opendir(str_to_c(arena, directory));
    if (dir == NULL && (errno == ENOENT || errno == ENOTDIR)) {
        return OK;
    }
    if (dir == NULL) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot list directory '" STR_FMT "'", STR_ARG(directory));
    }
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL && errno != 0) {
            return error_set_errno(err, ERROR_EXECUTION, "cannot list directory '" STR_FMT "'", STR_ARG(directory));
        }
        if (entry == NULL) {
            return OK;
        }
        Str name = str_from(entry->d_name);
        bool is_itself = str_equal(name, STR(".")) || str_equal(name, STR(".."));
        if (!is_itself && fnmatch(pattern, entry->d_name, FNM_NOESCAPE) == 0) {
            str_vec_push(arena, paths, path_join(arena, directory, name));
        }
    }
}

/* Adds to folders all that are below them. */
static Status add_folders_below(Arena *arena, StrVec *paths, Error *err) {
    for (size_t i = 0; i < paths->count; i++) { /* the list grows while it is walked */
        StrVec found = {0};
        TRY(list_matches(paths->items[i], "*", arena, &found, err));
        for (size_t k = 0; k < found.count; k++) {
            if (is_kind(arena, found.items[k], S_IFDIR, false)) {
                str_vec_push(arena, paths, found.items[k]);
            }
        }
    }
    return OK;
}

static bool is_pattern(Str part) {
    return str_find_char(part, '*') != STR_NOT_FOUND || str_find_char(part, '?') != STR_NOT_FOUND ||
           str_find_char(part, '[') != STR_NOT_FOUND;
}

static Status take_part(Str part, Arena *arena, StrVec *paths, Error *err) {
    if (str_equal(part, STR("**"))) {
        return add_folders_below(arena, paths, err);
    }
    StrVec next = {0};
    for (size_t i = 0; i < paths->count; i++) {
        if (is_pattern(part)) {
            TRY(list_matches(paths->items[i], str_to_c(arena, part), arena, &next, err));
        } else {
            str_vec_push(arena, &next, path_join(arena, paths->items[i], part));
        }
    }
    *paths = next;
    return OK;
}

/* Folders among `paths` become the files below them. */
static Status keep_files(StrVec *paths, Arena *arena, StrVec *files, Error *err) {
    size_t named_count = paths->count;
    for (size_t i = 0; i < paths->count; i++) { /* the list grows while it is walked */
        Str path = paths->items[i];
        bool is_named = i < named_count;
        if (is_kind(arena, path, S_IFREG, true)) {
            str_vec_push(arena, files, path);
        } else if (is_kind(arena, path, S_IFDIR, is_named)) {
            TRY(list_matches(path, "*", arena, paths, err));
        }
    }
    return OK;
}

static void drop_repeated(StrVec *sorted) {
    size_t kept = 0;
    for (size_t i = 0; i < sorted->count; i++) {
        if (kept == 0 || !str_equal(sorted->items[i], sorted->items[kept - 1])) {
            sorted->items[kept++] = sorted->items[i];
        }
    }
    sorted->count = kept;
}

Status path_glob(Str pattern, Arena *arena, StrVec *paths_out, Error *err) {
    assert(str_starts_with(pattern, STR("/")));
    StrVec paths = {0};
    StrVec files = {0};
    str_vec_push(arena, &paths, STR("/"));
    for (Str rest = pattern; rest.size > 0;) {
        size_t end = str_find_char(rest, '/');
        Str part = str_slice(rest, 0, end);
        rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, end + 1);
        if (part.size > 0) {
            TRY(take_part(part, arena, &paths, err));
        }
    }
    TRY(keep_files(&paths, arena, &files, err));
    str_vec_sort(&files);
    drop_repeated(&files);
    *paths_out = files;
    return OK;
}
