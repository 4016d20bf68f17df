/* Models of tiny functions, from the engine through a worker and back. */
#include "python/python_fixture.h"

static void rows_of_a_function_arrive(void **state) {
    PythonFixture *f = *state;
    assert_runs(f, "from interlace import model\n"
                   "import pyarrow as pa\n"
                   "@model()\n"
                   "def m(): return pa.table({'id': [1, 2, 3]})\n");
    assert_str(fixture_query(f, "SELECT sum(id), count(*) FROM output"), "6|3", "rows");
}

static void rows_of_an_upstream_pass_through(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "orders", "SELECT range AS id, 'x' || range AS name FROM range(100000)");
    assert_runs(f, "from interlace import model\n"
                   "@model()\n"
                   "def m(orders):\n"
                   "    for batch in orders.reader():\n"
                   "        print('batch', batch.num_rows)\n"
                   "        yield batch\n");
    assert_str(fixture_query(f, "SELECT count(*), sum(id), max(name) FROM output"), "100000|4999950000|x99999", "rows");
    assert_contains(strbuf_str(&f->log), "stdout: batch");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_of_a_function_arrive, python_fixture_open, python_fixture_close),
        cmocka_unit_test_setup_teardown(rows_of_an_upstream_pass_through, python_fixture_open, python_fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
