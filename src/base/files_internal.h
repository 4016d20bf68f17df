/* What the files behind files.h share. */
#ifndef INTERLACE_BASE_FILES_INTERNAL_H
#define INTERLACE_BASE_FILES_INTERNAL_H

#include "base/files.h"

#include <dirent.h>
#include <unistd.h>

static inline void fd_auto(int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
}

static inline void dir_auto(DIR **dir) {
    if (*dir != NULL) {
        closedir(*dir);
    }
}

/* fsync of a file or a folder: a rename is on the disk only when its folder is. */
bool file_sync(const char *path);

#endif
