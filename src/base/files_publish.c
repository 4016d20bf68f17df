/* Files that somebody else writes beside their place, and that then appear there whole. */
#include "base/files_internal.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONCE_DIGITS 16
#define ENDING ".tmp"

Str file_temporary_name(Arena *arena, Str path) {
    uint64_t nonce;
    random_bytes(&nonce, sizeof nonce);
    return str_format(arena, STR_FMT ".%016llx" ENDING, STR_ARG(path), (unsigned long long)nonce);
}

/* ---- Removing. */

static int remove_entry(const char *path, const struct stat *info, int flag, struct FTW *place) {
    (void)info, (void)flag, (void)place;
    (void)remove(path); /* what cannot go is told by whoever needs it gone */
    return 0;
}

void file_remove_tree(Str path) {
    AUTO(arena) Arena *scratch = arena_create();
    const int open_folders_max = 16;
    (void)nftw(str_to_c(scratch, path), remove_entry, open_folders_max, FTW_DEPTH | FTW_PHYS);
}

static bool is_temporary_of(Str name, Str base) {
    if (!str_starts_with(name, base) || name.size != base.size + 1 + NONCE_DIGITS + STR(ENDING).size ||
        name.ptr[base.size] != '.' || !str_ends_with(name, STR(ENDING))) {
        return false;
    }
    for (size_t i = 0; i < NONCE_DIGITS; i++) {
        char c = name.ptr[base.size + 1 + i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }
    return true;
}

void file_remove_temporaries(Str path) {
    AUTO(arena) Arena *scratch = arena_create();
    Str folder = path_directory(path), base = path_base_name(path);
    AUTO(dir) DIR *directory = opendir(str_to_c(scratch, folder));
    if (directory == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (is_temporary_of(str_from(entry->d_name), base)) {
            file_remove_tree(path_join(scratch, folder, str_from(entry->d_name)));
        }
    }
}

/* ---- Publishing. */

bool file_sync(const char *path) {
    AUTO(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && fsync(fd) == 0;
}

static int sync_entry(const char *path, const struct stat *info, int flag, struct FTW *place) {
    (void)info, (void)flag, (void)place;
    return file_sync(path) ? 0 : 1;
}

static bool sync_tree(const char *path) {
    const int open_folders_max = 16;
    return nftw(path, sync_entry, open_folders_max, FTW_DEPTH | FTW_PHYS) == 0;
}

/* Over a folder nothing can be renamed: the two change places, and what was there goes. */
static bool move_over(const char *temporary, const char *target, Str temporary_path) {
    if (rename(temporary, target) == 0) {
        return true;
    }
    bool is_in_the_way = errno == ENOTEMPTY || errno == EEXIST || errno == EISDIR || errno == ENOTDIR;
    if (!is_in_the_way || renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_EXCHANGE) != 0) {
        return false;
    }
    file_remove_tree(temporary_path);
    return true;
}

Status file_publish(Str temporary, Str path, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    const char *source = str_to_c(scratch, temporary);
    if (!sync_tree(source) || !move_over(source, str_to_c(scratch, path), temporary)) {
        error_set_errno(err, ERROR_EXECUTION, "cannot write '" STR_FMT "'", STR_ARG(path));
        file_remove_tree(temporary);
        return FAILED;
    }
    if (!file_sync(str_to_c(scratch, path_directory(path)))) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot write '" STR_FMT "' durably", STR_ARG(path));
    }
    return OK;
}
