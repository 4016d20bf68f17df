/* What this process has used so far, as Linux tells it under /proc. Any thread; 0 where it does not tell. */
#ifndef INTERLACE_BASE_PROCESS_USAGE_H
#define INTERLACE_BASE_PROCESS_USAGE_H

#include <stdint.h>

/* Bytes that were read from files, whether the disk had to be asked or not. */
int64_t process_bytes_read(void);
/* Most memory that it had at once since process_peak_reset, in bytes. */
int64_t process_peak_memory(void);
void process_peak_reset(void);

#endif
