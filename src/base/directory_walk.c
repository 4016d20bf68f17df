/* A walk with a list of folders still to read instead of recursion: one directory is open at a time. */
#include "base/files_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef enum EntryKind { ENTRY_FILE, ENTRY_DIRECTORY, ENTRY_PASSED_OVER } EntryKind;

/* A link that leads nowhere counts as a file: reading it names it, while passing over it would hide a model. */
static EntryKind kind_of_link(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return ENTRY_FILE;
    }
    return S_ISREG(info.st_mode) ? ENTRY_FILE : ENTRY_PASSED_OVER;
}

static EntryKind kind_by_stat(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0) {
        return ENTRY_PASSED_OVER; /* removed since it was listed */
    }
    if (S_ISLNK(info.st_mode)) {
        return kind_of_link(path);
    }
    if (S_ISDIR(info.st_mode)) {
        return ENTRY_DIRECTORY;
    }
    return S_ISREG(info.st_mode) ? ENTRY_FILE : ENTRY_PASSED_OVER;
}

static EntryKind entry_kind(const struct dirent *entry, const char *path) {
    switch (entry->d_type) {
    case DT_REG:
        return ENTRY_FILE;
    case DT_DIR:
        return ENTRY_DIRECTORY;
    case DT_LNK:
        return kind_of_link(path);
    case DT_UNKNOWN: /* the file system does not tell */
        return kind_by_stat(path);
    default: /* sockets, pipes, devices */
        return ENTRY_PASSED_OVER;
    }
}

static bool is_passed_over(Str name) {
    return str_starts_with(name, STR(".")) || str_equal(name, STR("__pycache__"));
}

static Status list_directory(Str root, Str directory, Arena *arena, FileEntryVec *entries, Error *err) {
    Str path = path_join(arena, root, directory);
    AUTO(dir) DIR *dir = opendir(str_to_c(arena, path));
    if (dir == NULL && errno == ENOENT) {
        return OK;
    }
    if (dir == NULL) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot list directory '" STR_FMT "'", STR_ARG(path));
    }
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL && errno != 0) {
            return error_set_errno(err, ERROR_EXECUTION, "cannot list directory '" STR_FMT "'", STR_ARG(path));
        }
        if (entry == NULL) {
            return OK;
        }
        Str name = str_from(entry->d_name);
        if (is_passed_over(name)) {
            continue;
        }
        EntryKind kind = entry_kind(entry, path_join(arena, path, name).ptr);
        if (kind != ENTRY_PASSED_OVER) {
            file_entry_vec_push(
                arena, entries,
                (FileEntry){.path = path_join(arena, directory, name), .is_directory = kind == ENTRY_DIRECTORY});
        }
    }
}

/* "./models/" is written "models", so that paths come out the same however the folder was given. */
static Str plain_directory(Str directory) {
    while (str_starts_with(directory, STR("./"))) {
        directory = str_skip(directory, 2);
        while (str_starts_with(directory, STR("/"))) {
            directory = str_skip(directory, 1);
        }
    }
    while (directory.size > 1 && str_ends_with(directory, STR("/"))) {
        directory.size--;
    }
    return str_equal(directory, STR(".")) ? STR_EMPTY : directory;
}

static int compare_entries(const void *a, const void *b) {
    return str_compare(((const FileEntry *)a)->path, ((const FileEntry *)b)->path);
}

Status directory_walk(Str root, Str directory, Arena *arena, FileEntryVec *entries_out, Error *err) {
    FileEntryVec entries = {0};
    TRY(list_directory(root, plain_directory(directory), arena, &entries, err));
    for (size_t i = 0; i < entries.count; i++) { /* the list grows while it is walked */
        if (entries.items[i].is_directory) {
            TRY(list_directory(root, entries.items[i].path, arena, &entries, err));
        }
    }
    if (entries.count > 1) {
        qsort(entries.items, entries.count, sizeof *entries.items, compare_entries);
    }
    *entries_out = entries;
    return OK;
}
