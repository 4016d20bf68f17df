/* Files that are built into the program by scripts/embed_files.py: the project templates, and the manual. */
#ifndef INTERLACE_CLI_EMBEDDED_FILES_H
#define INTERLACE_CLI_EMBEDDED_FILES_H

#include <stddef.h>

typedef struct EmbeddedFile {
    const char *path; /* below the folder */
    const char *content;
    size_t size;
} EmbeddedFile;

typedef struct EmbeddedFolder {
    const EmbeddedFile *files; /* sorted by path */
    size_t count;
} EmbeddedFolder;

extern const EmbeddedFolder embedded_templates; /* src/cli/templates */
extern const EmbeddedFolder embedded_manual;    /* docs, without what is for developers */

#endif
