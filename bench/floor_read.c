/* The floor of `plan`: reads every file below a folder and hashes it, nothing else. floor_read DIR */
#define _GNU_SOURCE
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t hash_bytes(const unsigned char *bytes, size_t size) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static uint64_t hash_file(const char *path, size_t size) {
    unsigned char *bytes = malloc(size + 1);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (bytes == NULL || file < 0 || read(file, bytes, size) != (ssize_t)size) {
        perror(path);
        exit(1);
    }
    uint64_t hash = hash_bytes(bytes, size);
    close(file);
    free(bytes);
    return hash;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: floor_read DIR\n");
        return 2;
    }
    FTS *walk = fts_open((char *[]){argv[1], NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL) {
        perror(argv[1]);
        return 1;
    }
    uint64_t all = 0;
    for (FTSENT *entry; (entry = fts_read(walk)) != NULL;) {
        if (entry->fts_info == FTS_F) {
            all ^= hash_file(entry->fts_path, (size_t)entry->fts_statp->st_size);
        }
    }
    fts_close(walk);
    printf("%016" PRIx64 "\n", all);
    return 0;
}
