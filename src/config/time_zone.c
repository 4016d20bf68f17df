#include "config/time_zone.h"

#include "base/files.h"

#include <stdlib.h>

#define ZONE_FILE_SIZE_MAX ((size_t)1024 * 1024)

Str time_zone_directory(void) {
    const char *variable = getenv("TZDIR");
    return variable != NULL && variable[0] == '/' ? str_from(variable) : STR("/usr/share/zoneinfo");
}

bool time_zone_has_shape(Str name) {
    for (size_t i = 0; i < name.size; i++) {
        char c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                     c == '+' || c == '-';
        bool parting = c == '/' && i > 0 && i + 1 < name.size && name.ptr[i - 1] != '/';
        if (!plain && !parting) {
            return false;
        }
    }
    return name.size > 0;
}

/* The folder also holds lists and licences, which are no zones. */
static bool is_zone_file(Str path) {
    AUTO(arena) Arena *scratch = arena_create();
    AUTO(error) Error ignored; /* an unreadable file is no zone */
    error_init(&ignored);
    Str content;
    return file_exists(path) && !file_is_directory(path) &&
           !failed(file_read(path, ZONE_FILE_SIZE_MAX, scratch, &content, &ignored)) &&
           str_starts_with(content, STR("TZif"));
}

Status time_zone_check(Str name, const char *what, SourceSpan place, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    Str directory = time_zone_directory();
    bool known = time_zone_has_shape(name) &&
                 (!file_is_directory(directory) || is_zone_file(path_join(scratch, directory, name)));
    if (known) {
        return OK;
    }
    error_set_at(err, ERROR_CONFIGURATION, place, "%s: there is no time zone '" STR_FMT "'", what, STR_ARG(name));
    error_hint(err, "write an IANA name, such as Europe/Berlin or UTC");
    error_code(err, STR("timezone.unknown"));
    return FAILED;
}
