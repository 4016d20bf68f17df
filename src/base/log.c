#include "base/log.h"

#include "base/str.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const Str level_names[] = {
    [LOG_ERROR] = STR_INIT("error"),
    [LOG_WARNING] = STR_INIT("warning"),
    [LOG_INFO] = STR_INIT("info"),
    [LOG_DEBUG] = STR_INIT("debug"),
};

static pthread_once_t environment_once = PTHREAD_ONCE_INIT;
static atomic_int level_set = LOG_WARNING;

static void read_environment(void) {
    Str wanted = str_from(getenv("INTERLACE_LOG"));
    for (size_t i = 0; i < COUNT_OF(level_names); i++) {
        if (str_equal(wanted, level_names[i])) {
            atomic_store(&level_set, (int)i);
        }
    }
}

void log_set_level(LogLevel level) {
    pthread_once(&environment_once, read_environment); /* so that a later reading does not undo this */
    atomic_store(&level_set, (int)level);
}

bool log_enabled(LogLevel level) {
    pthread_once(&environment_once, read_environment);
    return (int)level <= atomic_load(&level_set);
}

void log_write(LogLevel level, const char *format, ...) {
    if (!log_enabled(level)) {
        return;
    }
    AUTO(strbuf) StrBuf line = {0};
    strbuf_format(&line, STR_FMT ": ", STR_ARG(level_names[level]));
    va_list arguments;
    va_start(arguments, format);
    strbuf_format_v(&line, format, arguments);
    va_end(arguments);
    strbuf_char(&line, '\n');
    fwrite(line.data, 1, line.size, stderr); /* one call, so that lines of threads do not mix */
}
