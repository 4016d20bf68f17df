/* Files that are built into the program: src/cli/templates, by scripts/embed_templates.py. */
#ifndef INTERLACE_CLI_EMBEDDED_FILES_H
#define INTERLACE_CLI_EMBEDDED_FILES_H

#include <stddef.h>

typedef struct EmbeddedFile {
    const char *path; /* below src/cli/templates */
    const char *content;
    size_t size;
} EmbeddedFile;

extern const EmbeddedFile embedded_files[]; /* sorted by path */
extern const size_t embedded_file_count;

#endif
