#include "base/process_usage.h"

#include "base/files.h"

#define PROC_FILE_MAX (64 * 1024)

/* The number behind `key` in a file of lines `key: number …`. */
static int64_t read_number(Str path, Str key) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    Str text;
    int64_t number = 0;
    if (failed(file_read(path, PROC_FILE_MAX, arena, &text, &err))) {
        return 0;
    }
    size_t at = str_find(text, key);
    if (at == STR_NOT_FOUND) {
        return 0;
    }
    Str rest = str_trim(str_skip(text, at + key.size));
    size_t end = 0;
    while (end < rest.size && rest.ptr[end] >= '0' && rest.ptr[end] <= '9') {
        end++;
    }
    return str_to_int64(str_slice(rest, 0, end), &number) ? number : 0;
}

int64_t process_bytes_read(void) {
    return read_number(STR("/proc/self/io"), STR("rchar:"));
}

int64_t process_peak_memory(void) {
    return read_number(STR("/proc/self/status"), STR("VmHWM:")) * 1024;
}

void process_peak_reset(void) {
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (file != NULL) {
        (void)fputs("5", file); /* the peak alone; where that may not be written, the peak is that of the whole life */
        (void)fclose(file);
    }
}
