"""Declarations in plain code: they register, refuse what they cannot hold, and leave the function alone."""

import datetime
import importlib

import interlace
import pytest
from interlace import CheckSpec, check, model, stream
from interlace.dsl.decorators import REGISTRY, ModelDef
from interlace.exceptions import ConfigurationError, DefinitionError, PlanError


@pytest.fixture(autouse=True)
def registry():
    REGISTRY.begin()
    yield REGISTRY
    REGISTRY.begin()


def test_functions_come_back_unchanged(registry):
    def fn(a):
        return a + 1

    assert model("m")(fn) is fn
    assert check(model="m")(fn) is fn
    assert stream("s")(fn) is fn
    assert fn(1) == 2
    assert [registry.models[0].name, registry.checks[0].name, registry.streams[0].name] == ["m", "fn", "s"]


def test_the_name_is_the_functions_by_default(registry):
    @model
    def bare(): ...

    @model()
    def called(): ...

    @model(name="silver.x")
    def other(): ...

    assert [entry.name for entry in registry.models] == ["bare", "called", "silver.x"]


def test_only_given_keys_are_told_and_plain(registry):
    spec = CheckSpec("range", "amount", severity="warn", params={"min": 0})
    model("m", key=("a",), tags={"y", "x"}, backfill=datetime.date(2026, 1, 2), owner=None, checks=[spec])(len)
    assert registry.models[0].keys == {
        "key": ["a"],
        "tags": ["x", "y"],
        "backfill": "2026-01-02",
        "checks": [{"type": "range", "columns": ["amount"], "min": 0, "severity": "warn"}],
    }


def test_columns_keep_types_that_are_left_open(registry):
    model("m", columns={"a": "BIGINT", "b": None})(len)
    assert registry.models[0].keys["columns"] == {"a": "BIGINT", "b": None}


@pytest.mark.parametrize(
    "keys, message, code",
    [
        ({"stratgy": "merge"}, "model 'm': unknown key 'stratgy'", "key.unknown"),
        ({"export": 1}, "model 'm': 'export' was removed", "key.removed"),
        ({"tags": [object()]}, "model 'm': key 'tags' holds a object", "value.not_plain"),
        ({"columns": {1: "INT"}}, "key 'columns' holds the key 1", "value.not_plain"),
        ({"batch": 2**80}, "beyond 64 bits", "value.not_plain"),
    ],
)
def test_faults_are_raised_at_the_decorator(keys, message, code):
    with pytest.raises(DefinitionError, match=message) as caught:
        model("m", **keys)(len)
    assert caught.value.code == code


def test_an_unknown_key_has_a_hint():
    with pytest.raises(DefinitionError) as caught:
        model("m", stratgy="merge")(len)
    assert caught.value.hint == "did you mean 'strategy'?"


@pytest.mark.parametrize("arguments", [{"name": 5}, {"name": ""}])
def test_odd_names_are_refused(arguments):
    with pytest.raises(DefinitionError, match="must have a text as its name"):
        model(**arguments)(len)


def test_definitions_hold_one_body():
    with pytest.raises(DefinitionError, match="either fn or sql"):
        ModelDef(name="m")
    with pytest.raises(DefinitionError, match="either fn or sql"):
        ModelDef(name="m", fn=len, sql="SELECT 1")
    with pytest.raises(DefinitionError, match="not a function"):
        ModelDef(name="m", fn=5)
    with pytest.raises(DefinitionError, match="takes a ModelDef"):
        REGISTRY.register_model("m")
    assert ModelDef(name="m", sql="SELECT 1").line > 0


def test_what_needs_a_run_says_so():
    from interlace.connections import connection

    with pytest.raises(ConfigurationError, match="only while a model runs"):
        connection("crm")


def test_what_comes_later_says_so():
    import interlace.io
    import interlace.testing

    for use in (lambda: interlace.io.read_csv, lambda: interlace.testing.run_model):
        with pytest.raises(PlanError, match="not part of this version of interlace yet") as caught:
            use()
        assert caught.value.code == "feature.later"


def test_10_1_what_projects_import_is_there():
    names = {
        "interlace": "model stream check CheckSpec __version__ var ctx log",
        "interlace.connections": "connection",
        "interlace.dsl.decorators": "REGISTRY ModelDef StreamDef CheckDef",
        "interlace.exceptions": "ConfigurationError DefinitionError ExecutionError PlanError",
        "interlace.runtime": "session",
        "interlace.runtime.handles": "RelationHandle",
        "interlace.runtime.scratch": "session",
        "interlace.sources": "RestClient SinglePage PageNumber Offset Cursor LinkHeader NoAuth BearerAuth ApiKeyAuth "
        "BasicAuth to_batch batches Paginator",
    }
    for module, wanted in names.items():
        found = importlib.import_module(module)
        assert [name for name in wanted.split() if not hasattr(found, name)] == [], module


def test_every_key_of_python_models_is_taken():
    from interlace.dsl.keys import MODEL_KEYS

    for key in MODEL_KEYS - {"checks"}:
        assert ModelDef(name="m", sql="SELECT 1", **{key: "x"}).keys == {key: "x"}


# --- Models that a running one registers


@pytest.fixture
def run(registry):
    """A model of models/m.py runs."""
    registry.begin_run("models/m.py", may_register=True)
    registry.is_running = True
    yield registry
    registry.is_running = False
    registry.end_run()


def test_what_a_running_model_registers_is_an_entry_of_a_manifest(run):
    run.register_model(ModelDef(name="a.b", sql="SELECT 1", owner="me"))
    (entry,) = run.end_run()
    line = entry.pop("line")
    assert entry == {"name": "a.b", "file": "models/m.py", "sql": "SELECT 1", "owner": "me"}
    assert line > 0
    assert run.models == []


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "../a", "a/b", "1a", "a b", "ä", "a\n"])
def test_names_of_registered_models_are_names_of_files(run, name):
    with pytest.raises(DefinitionError):
        run.register_model(ModelDef(name=name, sql="SELECT 1"))


def test_nothing_is_registered_where_nobody_builds_it(run):
    run.begin_run("models/m.py", may_register=False)
    with pytest.raises(PlanError, match="registering a model while another one runs"):
        run.register_model(ModelDef(name="x", sql="SELECT 1"))
    run.end_run()
    with pytest.raises(DefinitionError, match="only a running model may register"):
        run.register_model(ModelDef(name="x", sql="SELECT 1"))


def test_importing_the_package_imports_nothing_else():
    import pathlib
    import subprocess
    import sys

    code = (
        "import sys, interlace; print([m for m in ('pyarrow', 'numpy', 'dataclasses', 'inspect') if m in sys.modules])"
    )
    environment = {"PYTHONPATH": str(pathlib.Path(interlace.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_log_lines_go_to_stderr_outside_a_worker(capsys):
    interlace.log.info("read %d", 5)
    interlace.log.warning("100%")
    assert capsys.readouterr().err == "info: read 5\nwarning: 100%\n"
