/* Debug log on stderr, off unless --verbose or INTERLACE_LOG=debug. Below run/ and cli/ nothing logs above debug:
 * a failure is returned, not logged. Fixed text and fields, never secrets. Any thread. */
#ifndef INTERLACE_BASE_LOG_H
#define INTERLACE_BASE_LOG_H

#include "base/macros.h"

#include <stdbool.h>

typedef enum LogLevel { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG } LogLevel;
void log_set_level(LogLevel level);
bool log_enabled(LogLevel level);
void log_write(LogLevel level, const char *format, ...) PRINTF_LIKE(2, 3);
#define log_debug(...)                                                                                                 \
    do {                                                                                                               \
        if (log_enabled(LOG_DEBUG)) {                                                                                  \
            log_write(LOG_DEBUG, __VA_ARGS__);                                                                         \
        }                                                                                                              \
    } while (0)

#endif
