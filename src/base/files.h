/* Files and paths. Paths are UTF-8 text as Str; every error names the path and the reason. */
#ifndef INTERLACE_BASE_FILES_H
#define INTERLACE_BASE_FILES_H

#include "base/error.h"
#include "base/vec.h"

/* Whole file into the arena (NUL behind it). Larger than `size_max`: an error that names the limit. */
MUST_CHECK Status file_read(Str path, size_t size_max, Arena *arena, Str *content_out, Error *err);
/* Writes beside the target and renames over it, with fsync when `durable`: a reader sees the old or the new file whole.
 */
MUST_CHECK Status file_write_atomic(Str path, Str content, bool durable, Error *err);
/* For a file or a folder that another part writes: a name beside `path`, of which no two are alike. */
Str file_temporary_name(Arena *arena, Str path);
/* What stands at `temporary` takes the place of `path`, once it is on the disk; readers see the old or the new one
 * whole. On failure the temporary goes. */
MUST_CHECK Status file_publish(Str temporary, Str path, Error *err);
void file_remove_temporaries(Str path); /* all temporary names of `path` that a dead process left */
void file_remove_tree(Str path);        /* as far as it can be removed */
bool file_exists(Str path);
bool file_is_directory(Str path);
MUST_CHECK Status directory_create_all(Str path, Error *err); /* like mkdir -p */

Str path_join(Arena *arena, Str directory, Str name); /* an absolute `name` stands for itself */
Str path_absolute(Arena *arena, Str path);            /* against the current directory; `.` and `..` are folded */
Str path_base_name(Str path);
Str path_directory(Str path); /* without the last part; "." when there is none */
Str path_extension(Str path); /* with its dot; empty when there is none */

typedef struct FileEntry {
    Str path; /* relative to the walked root, `/` between parts */
    bool is_directory;
} FileEntry;
DEFINE_VEC(FileEntryVec, file_entry_vec, FileEntry)
/* All entries below root/`directory`, in byte order of their paths; follows links to files, not to directories.
 * Names that start with `.` and `__pycache__` are passed over. A missing directory gives nothing. */
MUST_CHECK Status directory_walk(Str root, Str directory, Arena *arena, FileEntryVec *entries_out, Error *err);

/* The regular files that a pattern names, in byte order, each once: `*`, `?` and `[…]` within a part, `**` for folders
 * of any depth (links to folders are not followed there). A folder stands for all files below it. Names that start with
 * `.` count like any others, as they do for the engine's readers. Nothing that matches: an empty list. `pattern` is
 * absolute. */
MUST_CHECK Status path_glob(Str pattern, Arena *arena, StrVec *paths_out, Error *err);

#endif
