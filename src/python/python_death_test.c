/* However user code ends, hangs or misbehaves: one failed model with a fitting line, nothing left behind, and the next
 * model runs (spec 10, "Must be shown by" 3). */
#include "python/python_fixture.h"

#define ANSWER_US (INT64_C(12) * 1000000)

static void next_model_runs(PythonFixture *f) {
    assert_runs(f, HEAD "def m(): return pa.table({'id': [7]})\n");
    assert_str(fixture_query(f, "SELECT id FROM output"), "7", "the next model");
}

typedef struct DeathCase {
    const char *body, *message;
} DeathCase;

static const DeathCase deaths[] = {
    {"def m(): os._exit(3)\n", "model 'm' failed: its Python worker ended with exit code 3"},
    {"def m(): os._exit(0)\n", "ended with exit code 0"},
    {"def m(): os.kill(os.getpid(), signal.SIGKILL)\n", "was killed by SIGKILL; perhaps memory ran out"},
    {"def m():\n    import ctypes\n    ctypes.string_at(0)\n", "was killed by SIGSEGV: a fault in native code"},
    {"def m(): os.abort()\n", "was killed by SIGABRT"},
    {"def m(): sys.exit(4)\n", "model 'm' failed: SystemExit: sys.exit(4) was called"},
    {"def m(): raise KeyboardInterrupt\n", "KeyboardInterrupt"},
    {"def m():\n    sys.stdout.close()\n    print('x')\n", "ValueError: I/O operation on closed file"},
    {"def m(): os.closerange(0, 256)\n", "its Python worker"},
    {"def m():\n    os.write(3, b'\\xff\\xff\\xff\\xff')\n    time.sleep(60)\n",
     "protocol error: a frame of 4294967295 bytes"},
    {"def m():\n    import json\n    f = sys._getframe()\n    while 'frame' not in f.f_locals: f = f.f_back\n"
     "    f = json.dumps({'t': 'result', 'task': f.f_locals['frame']['task'], 'rows': 0}).encode()\n"
     "    os.write(3, len(f).to_bytes(4, 'little') + f)\n    time.sleep(60)\n",
     "model 'm' failed: its worker gave no output"},
    {"def m():\n    os.write(3, b'\\x05\\0\\0\\0hello')\n    time.sleep(60)\n", "protocol error"},
    {"def m():\n    os.write(3, b'\\x0d\\0\\0\\0{\"t\":\"stale\"}')\n    time.sleep(60)\n",
     "protocol error: a frame 'stale'"},
    {"def m():\n    for i in range(20): yield one\n    os.kill(os.getpid(), signal.SIGKILL)\n",
     "was killed by SIGKILL"},
    {"def m():\n    for i in range(20): yield one\n    os._exit(0)\n", "ended with exit code 0"},
    {"def m():\n    yield one\n    raise RuntimeError('late')\n", "model 'm' failed: RuntimeError: late"},
    {"def m():\n    yield one\n    sys.exit()\n", "SystemExit"},
    {"def m():\n    print('x' * 200 + chr(10), end='')\n    for i in range(1000): print('y' * 100000)\n    raise "
     "ValueError('talked')\n",
     "ValueError: talked"},
    {"def m():\n    for i in range(10):\n        if os.fork() == 0:\n            os.write(1, b'pid %d\\n' % "
     "os.getpid())\n            "
     "time.sleep(600)\n    time.sleep(0.3)\n    os._exit(5)\n",
     "ended with exit code 5"},
    {"def m():\n    offsets = pa.array([0, 2, 1, 3], pa.int32()).buffers()[1]\n"
     "    bad = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b'abc')])\n"
     "    yield pa.record_batch([bad], names=['s'])\n",
     "is no sound Arrow stream"},
};

static void check_death(PythonFixture *f, const DeathCase *death) {
    AUTO(strbuf) StrBuf source = {0};
    strbuf_text(&source, HEAD);
    strbuf_text(&source, death->body);
    int64_t started_us = clock_monotonic_us();
    if (!failed(fixture_run(f, strbuf_c(&source)))) {
        fail_msg("no failure: %s", death->body);
    }
    assert_contains(f->err.message, death->message);
    if (clock_monotonic_us() - started_us >= ANSWER_US) {
        fail_msg("it took too long: %s", death->body);
    }
}

static void test_10_3_a_dead_worker_fails_only_its_model(void **state) {
    PythonFixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(deaths); i++) {
        check_death(f, &deaths[i]);
    }
    next_model_runs(f);
    python_runtime_destroy(f->runtime);
    f->runtime = NULL;
    assert_int_equal(fixture_living_processes(f, 2000), 0);
    assert_true(f->log.size < COUNT_OF(deaths) * ((size_t)2 << 20));
    assert_contains(strbuf_str(&f->log), "more bytes of output are not shown");
    assert_contains(strbuf_str(&f->log), "stderr: Fatal Python error: Segmentation fault");
}

/* ---- What a model leaves behind when it succeeds */

static const char *const survivors[] = {
    "def m():\n    sys.stdout.close()\n    return pa.table({'id': [1]})\n",
    "def m():\n    os.close(1)\n    os.close(2)\n    return pa.table({'id': [1]})\n",
    "def m():\n    threading.Thread(target=time.sleep, args=(600,)).start()\n    return pa.table({'id': [1]})\n",
    "def m():\n    if os.fork() == 0:\n        os.write(1, b'pid %d\\n' % os.getpid())\n        time.sleep(600)\n"
    "    return pa.table({'id': [1]})\n",
    "def m():\n    for i in range(1000): print('y' * 100000)\n    return pa.table({'id': [1]})\n",
};

static void what_a_model_leaves_behind_hangs_nothing(void **state) {
    PythonFixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(survivors); i++) {
        AUTO(strbuf) StrBuf source = {0};
        strbuf_text(&source, HEAD);
        strbuf_text(&source, survivors[i]);
        assert_runs(f, strbuf_c(&source));
    }
    next_model_runs(f);
    int64_t started_us = clock_monotonic_us();
    python_runtime_destroy(f->runtime);
    f->runtime = NULL;
    assert_true(clock_monotonic_us() - started_us < 2000000);
    assert_int_equal(fixture_living_processes(f, 2000), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(test_10_3_a_dead_worker_fails_only_its_model),
        PYTHON_TEST(what_a_model_leaves_behind_hangs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
