#include "state/process_identity.h"

#include "base/files.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define PROC_FILE_SIZE_MAX ((size_t)64 * 1024)

/* Empty when it cannot be read. */
static Str read_proc_file(Arena *arena, const char *path) {
    AUTO(error) Error err;
    error_init(&err);
    Str content;
    return failed(file_read(str_from(path), PROC_FILE_SIZE_MAX, arena, &content, &err)) ? STR_EMPTY : str_trim(content);
}

static Str read_link(Arena *arena, const char *path) {
    char target[64]; /* "pid:[4026531836]" */
    ssize_t size = readlink(path, target, sizeof target);
    return size < 0 ? STR_EMPTY : str_copy(arena, (Str){.ptr = target, .size = (size_t)size});
}

static Str host_name(Arena *arena) {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return str_copy(arena, str_from(name));
}

typedef struct ProcessStat {
    bool is_known;
    char state; /* 'R', 'S', …; 'Z': its first thread has ended, and nobody has asked yet */
    int64_t thread_count;
    int64_t start_time;
} ProcessStat;

/* Field `number` of /proc/PID/stat, counted from 1 as in proc(5). The second one, in parentheses, may hold blanks and
 * parentheses itself: the rest begins behind the last one. */
static Str stat_field(Str stat, size_t number) {
    Str rest = str_skip(stat, str_find_last_char(stat, ')') + 2);
    for (size_t field = 3; field < number; field++) {
        rest = str_skip(rest, str_find_char(rest, ' ') + 1);
    }
    size_t end = str_find_char(rest, ' ');
    return end == STR_NOT_FOUND ? rest : str_slice(rest, 0, end);
}

static ProcessStat process_stat(Arena *arena, int64_t pid) {
    Str stat = read_proc_file(arena, str_format(arena, "/proc/%lld/stat", (long long)pid).ptr);
    ProcessStat process = {0};
    if (str_find_last_char(stat, ')') == STR_NOT_FOUND) {
        return process;
    }
    Str state = stat_field(stat, 3);
    process.state = state.size == 1 ? state.ptr[0] : '?';
    process.is_known = str_to_int64(stat_field(stat, 20), &process.thread_count) &&
                       str_to_int64(stat_field(stat, 22), &process.start_time);
    return process;
}

ProcessIdentity process_identity_self(Arena *arena) {
    int64_t pid = getpid();
    return (ProcessIdentity){
        .host = host_name(arena),
        .boot_id = read_proc_file(arena, "/proc/sys/kernel/random/boot_id"),
        .pid_namespace = read_link(arena, "/proc/self/ns/pid"),
        .pid = pid,
        .start_time = process_stat(arena, pid).start_time,
    };
}

/* Of a process that is being killed the first thread may be gone while others still have its files open. */
static bool is_dead(const ProcessStat *process) {
    return process->state == 'X' || (process->state == 'Z' && process->thread_count <= 1);
}

/* A process of another user may be hidden in /proc: then only the system's own word counts. */
static bool has_ended(const ProcessIdentity *process) {
    AUTO(arena) Arena *scratch = arena_create();
    ProcessStat now = process_stat(scratch, process->pid);
    if (now.is_known) {
        return is_dead(&now) || now.start_time != process->start_time;
    }
    return kill((pid_t)process->pid, 0) != 0 && errno == ESRCH;
}

static bool is_known_and_equal(Str a, Str b) {
    return a.size > 0 && str_equal(a, b);
}

bool process_is_gone(const ProcessIdentity *self, const ProcessIdentity *other) {
    if (is_known_and_equal(self->boot_id, other->boot_id)) {
        return is_known_and_equal(self->pid_namespace, other->pid_namespace) && has_ended(other);
    }
    bool is_this_host = is_known_and_equal(self->host, other->host);
    return is_this_host && self->boot_id.size > 0 && other->boot_id.size > 0;
}
