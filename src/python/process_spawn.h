/* Starts a program in a new process, and watches it. No code of ours runs between fork and exec but system calls.
 *
 * Linux ties the parent-death signal to the thread that made the process: Spawner is the long-lived thread for those
 * that must not outlive us (spawner.h). */
#ifndef INTERLACE_PYTHON_PROCESS_SPAWN_H
#define INTERLACE_PYTHON_PROCESS_SPAWN_H

#include "base/error.h"

#include <sys/types.h>

#define PROCESS_FDS 4

typedef struct ProcessOptions {
    const char *const *arguments;   /* NULL-terminated; the first is the path of the program */
    const char *const *environment; /* NULL-terminated KEY=VALUE */
    const char *directory;          /* working directory */
    int fds[PROCESS_FDS];           /* become 0 … 3 there; -1: closed. All others are closed. */
    bool dies_with_thread;          /* SIGKILL when the calling thread ends */
} ProcessOptions;

/* The process leads a group of its own. ConfigurationError naming the program when it cannot be started. */
MUST_CHECK Status process_spawn(const ProcessOptions *options, pid_t *pid_out, Error *err);

/* A descriptor that becomes readable when the process ends. */
MUST_CHECK Status process_watch(pid_t pid, int *fd_out, Error *err);

/* Runs a program to its end and gives what it wrote to stdout, without the final line break. ConfigurationError: it
 * failed, wrote more than 64 KiB, or took longer than `timeout_ms` (it is killed then). */
MUST_CHECK Status process_read_output(const char *const *arguments, const char *directory, int timeout_ms, Arena *arena,
                                      Str *output_out, Error *err);

/* An owned descriptor; -1: none. */
void fd_close(int *fd);
DEFINE_AUTO_VALUE(int, fd, fd_close)

#endif
