/* Stands in for libFuzzer: runs the target once on each file of a folder (no folder: on the empty input alone) and
 * prints TAP. A fault ends the process, so the plan at the end is missing then. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_bytes(const char *name, const uint8_t *data, size_t size) {
    static int number = 0;
    fprintf(stderr, "running %s\n", name);
    (void)LLVMFuzzerTestOneInput(data, size);
    printf("ok %d - %s\n", ++number, name);
    (void)fflush(stdout);
}

static bool run_file(const char *path, const char *name) {
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        perror(path);
        exit(1);
    }
    if (!S_ISREG(info.st_mode)) {
        (void)fclose(file);
        return false;
    }

    /* Exactly as large as the input: a read behind it is found by the address sanitizer. */
    size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (data == NULL || fread(data, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    (void)fclose(file);
    run_bytes(name, data, size);
    free(data);
    return true;
}

int main(int argument_count, char **arguments) {
    int count = 1;
    run_bytes("empty input", (const uint8_t *)"", 0);

    struct dirent **entries = NULL;
    int entry_count = argument_count > 1 ? scandir(arguments[1], &entries, NULL, alphasort) : 0;
    for (int i = 0; i < entry_count; i++) {
        size_t path_size = strlen(arguments[1]) + strlen(entries[i]->d_name) + 2;
        char *path = malloc(path_size);
        if (path == NULL) {
            return 1;
        }
        (void)snprintf(path, path_size, "%s/%s", arguments[1], entries[i]->d_name);
        count += run_file(path, entries[i]->d_name) ? 1 : 0;
        free(path);
        free(entries[i]);
    }
    free(entries);
    printf("1..%d\n", count);
    return 0;
}
