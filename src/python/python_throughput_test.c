/* Five million rows through a model and back, in bounded memory (spec 10, "Must be shown by" 2, at a fifth of its size:
 * the figures per row are printed). */
#include "python/python_fixture.h"

#include <sys/resource.h>

#define ROWS 5000000
#define ROW_SIZE 42 /* bytes of Arrow */
#define SOURCE                                                                                                         \
    "SELECT range AS id, (range % 1000)::INTEGER AS k, range / 7.0 AS v, 'name ' || (range % 100000) AS s, "           \
    "TIMESTAMP '2026-01-01' + INTERVAL (range) SECOND AS ts FROM range(5000000)"

/* The address sanitizer keeps up to 256 MB of freed blocks from reuse. */
#ifdef __SANITIZE_ADDRESS__
#define QUARANTINE_MAX ((int64_t)256 << 20)
#else
#define QUARANTINE_MAX 0
#endif
#define CORE_GROWTH_MAX (((int64_t)200 << 20) + QUARANTINE_MAX)
#define WORKER_MAX ((int64_t)500 << 20)

static double cpu_seconds(void) {
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* A value of /proc/self/status in bytes. */
static int64_t memory_of(const char *process, const char *key) {
    AUTO(strbuf) StrBuf path = {0};
    strbuf_format(&path, "/proc/%s/status", process);
    FILE *file = fopen(strbuf_c(&path), "re");
    char line[256];
    int64_t size = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            size = strtoll(line + strlen(key) + 1, NULL, 10) << 10;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return size;
}

/* What the worker printed behind `key`. */
static double printed(PythonFixture *f, const char *key) {
    Str log = strbuf_str(&f->log);
    size_t at = str_find(log, str_from(key));
    assert_int_not_equal(at, STR_NOT_FOUND);
    double value = 0;
    Str rest = str_skip(log, at + strlen(key));
    assert_true(str_to_double(str_slice(rest, 0, str_find_char(rest, '\n')), &value));
    return value;
}

static void run_and_report(PythonFixture *f, const char *what, const char *source, bool only_counts) {
    fixture_input(f, "rows", "SELECT * FROM source");
    f->only_counts = only_counts;
    strbuf_clear(&f->log);
    double cpu = cpu_seconds();
    int64_t started_us = clock_monotonic_us();
    assert_runs(f, source);
    double seconds = (double)(clock_monotonic_us() - started_us) / 1e6;
    cpu = cpu_seconds() - cpu;
    assert_int_equal(f->rows, ROWS);
    double size = (double)ROWS * ROW_SIZE / 1e9;
    (void)fprintf(
        stderr, "%-28s %.2f s wall, core %.2f s cpu (%.2f GB/s), worker %.2f s cpu (%.2f GB/s), worker peak %.0f MB\n",
        what, seconds, cpu, size / cpu, printed(f, "cpu "), size / printed(f, "cpu "), printed(f, "peak ") / 1e3);
    assert_true(printed(f, "peak ") * 1024 < (double)WORKER_MAX);
    f->input_count = 0;
}

#define MEASURED                                                                                                       \
    "import resource, pyarrow as pa\n"                                                                                 \
    "from interlace import model\n"                                                                                    \
    "def usage():\n    u = resource.getrusage(resource.RUSAGE_SELF)\n    return u.ru_utime + u.ru_stime\n"             \
    "def peak():\n    return next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM'))\n"         \
    "def done(start):\n    print('cpu', usage() - start)\n    print('peak', peak())\n"                                 \
    "@model()\n"

static void test_10_2_rows_pass_through_in_bounded_memory(void **state) {
    PythonFixture *f = *state;
    fixture_sql(f, "CREATE TABLE source AS " SOURCE);
    int64_t before = memory_of("self", "VmRSS:");
    run_and_report(f, "pass-through, dropped",
                   MEASURED "def m(rows):\n    start = usage()\n    yield from rows.reader()\n    done(start)\n", true);
    int64_t growth = memory_of("self", "VmHWM:") - before;
    (void)fprintf(stderr, "core grew by %lld MB\n", (long long)(growth >> 20));
    assert_true(growth < CORE_GROWTH_MAX);
    run_and_report(
        f, "read only",
        MEASURED "def m(rows):\n    start = usage()\n    n = sum(b.num_rows for b in rows.reader())\n    done(start)\n"
                 "    one = pa.record_batch({'n': pa.nulls(1000000)})\n    for i in range(n // 1000000): yield one\n",
        true);
    run_and_report(f, "pass-through, stored",
                   MEASURED "def m(rows):\n    start = usage()\n    yield from rows.reader()\n    done(start)\n",
                   false);
    assert_str(
        fixture_query(f, "SELECT count(*) FROM (SELECT id, k, v, s, ts FROM source EXCEPT SELECT * FROM output)"), "0",
        "equal");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(test_10_2_rows_pass_through_in_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
