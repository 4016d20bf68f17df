/* Reading, writing atomically, making folders. Paths as text are in paths.c, walking is in directory_walk.c. */
#include "base/files_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path with a NUL inside would name another file once it is a C string. */
static Status path_to_c(Str path, Arena *arena, const char **path_out, Error *err) {
    if (str_find_char(path, '\0') != STR_NOT_FOUND) {
        return error_set(err, ERROR_EXECUTION, "path '" STR_FMT "…' holds a NUL byte",
                         STR_ARG(str_slice(path, 0, str_find_char(path, '\0'))));
    }
    *path_out = str_to_c(arena, path);
    return OK;
}

static Status size_error(Str path, size_t size_max, Error *err) {
    return error_set(err, ERROR_EXECUTION, "'" STR_FMT "' is larger than the limit of %zu bytes", STR_ARG(path),
                     size_max);
}

/* Reads until `capacity` bytes are there or the file ends. A read that gave `end` bytes in all and not one more is
 * taken for the end, which saves the read that gives none. */
static bool read_up_to(int fd, char *target, size_t capacity, size_t end, size_t *size_out) {
    size_t size = 0;
    while (size < capacity) {
        ssize_t count = read(fd, target + size, capacity - size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        size += (size_t)count;
        if (count == 0 || size == end) {
            break;
        }
    }
    *size_out = size;
    return true;
}

/* The size that stat tells is a hint: a file may grow, and those of /proc say 0. */
static Status read_open_file(int fd, Str path, size_t size_max, Arena *arena, Str *content_out, Error *err) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot read '" STR_FMT "'", STR_ARG(path));
    }
    if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size > size_max) {
        return size_error(path, size_max, err);
    }
    Str content = STR_EMPTY;
    bool has_size = S_ISREG(info.st_mode) && info.st_size > 0;
    size_t capacity = has_size ? (size_t)info.st_size : 4096, end = has_size ? capacity : STR_NOT_FOUND;
    for (;;) {
        char *block = arena_alloc(arena, capacity + 2); /* one byte more shows whether the file goes on; and a NUL */
        if (content.size > 0) {
            memcpy(block, content.ptr, content.size);
        }
        size_t more;
        if (!read_up_to(fd, block + content.size, capacity + 1 - content.size, end, &more)) {
            return error_set_errno(err, ERROR_EXECUTION, "cannot read '" STR_FMT "'", STR_ARG(path));
        }
        content = (Str){.ptr = block, .size = content.size + more};
        if (content.size > size_max) {
            return size_error(path, size_max, err);
        }
        if (content.size <= capacity) {
            break;
        }
        capacity *= 2;
        end = STR_NOT_FOUND; /* it has grown since */
    }
    *content_out = content;
    return OK;
}

Status file_read(Str path, size_t size_max, Arena *arena, Str *content_out, Error *err) {
    const char *path_c;
    TRY(path_to_c(path, arena, &path_c, err));
    AUTO(fd) int fd = open(path_c, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot open '" STR_FMT "'", STR_ARG(path));
    }
    return read_open_file(fd, path, size_max, arena, content_out, err);
}

static bool write_all(int fd, Str content) {
    while (content.size > 0) {
        ssize_t count = write(fd, content.ptr, content.size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        content = str_skip(content, (size_t)count);
    }
    return true;
}

/* close reports what a network file system could not write, so it is not left to clean-up. */
static bool write_new_file(const char *path, Str content, bool durable) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return false;
    }
    bool written = write_all(fd, content) && (!durable || fsync(fd) == 0);
    int write_errno = errno;
    bool closed = close(fd) == 0;
    errno = written ? errno : write_errno;
    return written && closed;
}

Status file_write_atomic(Str path, Str content, bool durable, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    const char *target;
    TRY(path_to_c(path, scratch, &target, err));
    const char *beside = file_temporary_name(scratch, path).ptr;

    if (!write_new_file(beside, content, durable) || rename(beside, target) != 0) {
        error_set_errno(err, ERROR_EXECUTION, "cannot write '" STR_FMT "'", STR_ARG(path));
        unlink(beside);
        return FAILED;
    }
    if (durable && !file_sync(str_to_c(scratch, path_directory(path)))) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot write '" STR_FMT "' durably", STR_ARG(path));
    }
    return OK;
}

static bool path_stat(Str path, struct stat *info) {
    AUTO(arena) Arena *scratch = arena_create();
    return str_find_char(path, '\0') == STR_NOT_FOUND && stat(str_to_c(scratch, path), info) == 0;
}

bool file_exists(Str path) {
    struct stat info;
    return path_stat(path, &info);
}

bool file_is_directory(Str path) {
    struct stat info;
    return path_stat(path, &info) && S_ISDIR(info.st_mode);
}

/* Another process may make the same folder at the same moment, hence EEXIST is no fault when a folder stands there. */
static Status create_one(Str path, Arena *scratch, Error *err) {
    const char *path_c;
    TRY(path_to_c(path, scratch, &path_c, err));
    if (mkdir(path_c, 0777) == 0 || (errno == EEXIST && file_is_directory(path))) {
        return OK;
    }
    return error_set_errno(err, ERROR_EXECUTION, "cannot create directory '" STR_FMT "'", STR_ARG(path));
}

Status directory_create_all(Str path, Error *err) {
    if (file_is_directory(path)) {
        return OK;
    }
    AUTO(arena) Arena *scratch = arena_create();
    for (size_t end = 1; end < path.size; end++) {
        Str parent = str_slice(path, 0, end);
        if (path.ptr[end] == '/' && !file_is_directory(parent)) {
            TRY(create_one(parent, scratch, err));
        }
    }
    return create_one(path, scratch, err);
}
