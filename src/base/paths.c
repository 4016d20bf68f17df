/* Paths as text: nothing here looks at the disk, except path_absolute for the current directory. */
#include "base/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Str without_trailing_slashes(Str path) {
    while (path.size > 1 && path.ptr[path.size - 1] == '/') {
        path.size--;
    }
    return path;
}

Str path_join(Arena *arena, Str directory, Str name) {
    if (directory.size == 0 || str_starts_with(name, STR("/"))) {
        return str_copy(arena, name);
    }
    if (name.size == 0) {
        return str_copy(arena, directory);
    }
    /* By hand, since a project of thousands of files joins them all. */
    size_t separator_size = str_ends_with(directory, STR("/")) ? 0 : 1;
    size_t size = directory.size + separator_size + name.size;
    char *path = (char *)arena_alloc(arena, size + 1);
    memcpy(path, directory.ptr, directory.size);
    path[directory.size] = '/';
    memcpy(path + directory.size + separator_size, name.ptr, name.size);
    path[size] = '\0';
    return (Str){.ptr = path, .size = size};
}

/* getcwd fails only when the directory was removed or hidden; then nothing relative means anything. */
static Str current_directory(Arena *arena) {
    char *directory = getcwd(NULL, 0);
    if (directory == NULL) {
        perror("error: the current directory cannot be read");
        exit(1);
    }
    Str copy = str_copy(arena, str_from(directory));
    free(directory);
    return copy;
}

/* `parts` without `.`, and without `..` and what it takes back. */
static void fold_part(Arena *arena, StrVec *parts, Str part) {
    if (part.size == 0 || str_equal(part, STR("."))) {
        return;
    }
    if (!str_equal(part, STR(".."))) {
        str_vec_push(arena, parts, part);
    } else if (parts->count > 0) {
        parts->count--;
    }
}

Str path_absolute(Arena *arena, Str path) {
    Str whole = str_starts_with(path, STR("/")) ? path : path_join(arena, current_directory(arena), path);
    StrVec parts = {0};
    for (Str rest = whole; rest.size > 0;) {
        size_t end = str_find_char(rest, '/');
        end = end == STR_NOT_FOUND ? rest.size : end;
        fold_part(arena, &parts, str_slice(rest, 0, end));
        rest = str_skip(rest, end + 1);
    }
    return str_format(arena, "/" STR_FMT, STR_ARG(str_join(arena, parts.items, parts.count, STR("/"))));
}

Str path_base_name(Str path) {
    Str whole = without_trailing_slashes(path);
    size_t slash = str_find_last_char(whole, '/');
    return slash == STR_NOT_FOUND || whole.size == 1 ? whole : str_skip(whole, slash + 1);
}

Str path_directory(Str path) {
    Str whole = without_trailing_slashes(path);
    size_t slash = str_find_last_char(whole, '/');
    if (slash == STR_NOT_FOUND) {
        return STR(".");
    }
    return without_trailing_slashes(str_slice(whole, 0, slash == 0 ? 1 : slash));
}

Str path_extension(Str path) {
    Str name = path_base_name(path);
    size_t dot = str_find_last_char(name, '.');
    return dot == STR_NOT_FOUND || dot == 0 ? STR_EMPTY : str_skip(name, dot);
}
