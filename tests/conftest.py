"""What the end-to-end tests share: a project in a folder of its own, and the real binary run in it.

    def test_something(project):
        project.write({"models/a.sql": "SELECT 1 AS id"})
        project.ok("apply")
        assert project.query("SELECT * FROM a") == [[1]]

The binary is INTERLACE_BIN, else build-test/interlace, else build/interlace. Each test has its own folder and its own
environment variables, so that all of them may run side by side. Waiting is for an event with a deadline.
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import json_schemas
import pytest
from postgres_server import PostgresServer, binary_folder
from terminal import Terminal

TREE = pathlib.Path(__file__).resolve().parents[1]
DEADLINE_S = float(os.environ.get("INTERLACE_TEST_DEADLINE", "120"))
# What a test's own run of the binary still sees of the caller's environment.
KEPT_VARIABLES = ("INTERLACE_DUCKDB_LIB", "INTERLACE_DUCKDB_FORCE", "PATH", "LD_LIBRARY_PATH", "TMPDIR")
KEPT_PREFIXES = ("ASAN_", "UBSAN_", "LSAN_", "TSAN_")
TRACE_WORDS = ("Traceback (most recent call last)", "AddressSanitizer", "runtime error:", "Assertion `")


def binary():
    named = os.environ.get("INTERLACE_BIN")
    if named:
        return pathlib.Path(named).resolve()
    for folder in ("build-test", "build"):
        path = TREE / folder / "interlace"
        if path.exists():
            return path
    pytest.exit("no binary to test: run make, or set INTERLACE_BIN", returncode=2)
    return None


def clean_environment(home, extra=None):
    """A known environment: UTF-8, UTC, no terminal settings, this Python for Python models. None in `extra` removes."""
    kept = {
        name: value for name, value in os.environ.items() if name in KEPT_VARIABLES or name.startswith(KEPT_PREFIXES)
    }
    kept |= {
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "INTERLACE_PYTHON": sys.executable,
    }
    for name, value in (extra or {}).items():
        if value is None:
            kept.pop(name, None)
        else:
            kept[name] = str(value)
    return kept


@dataclasses.dataclass
class Result:
    """What one run of the binary left. `code` is negative for a signal that ended it (-9 for SIGKILL)."""

    args: list
    code: int
    stdout: str
    stderr: str

    def __str__(self):
        return f"interlace {' '.join(self.args)}\n--- exit {self.code}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"

    @property
    def json(self):
        """The document that was printed, which is of the published shape."""
        document = json.loads(self.stdout)
        if "--json" in self.args or "--json=full" in self.args:
            json_schemas.check(self.args, document)
        return document

    @property
    def error_lines(self):
        return [line for line in self.stderr.splitlines() if line.startswith("error: ")]


class Project:
    """A project folder. Nothing is in it before `write`."""

    def __init__(self, root, env=None):
        self.root = pathlib.Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        self.env = dict(env or {})

    # --- Files

    def write(self, files=None, **more):
        """Writes files by their path in the project; None removes one."""
        for name, text in {**(files or {}), **more}.items():
            path = self.root / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(text, bytes):
                path.write_bytes(text)
            else:
                path.write_text(text, encoding="utf-8")
        return self

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def exists(self, name):
        return (self.root / name).exists()

    def files(self):
        """All paths below the folder, as text, sorted."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())

    # --- Runs

    def environment(self, env=None):
        return clean_environment(self.root.parent, {**self.env, **(env or {})})

    def spawn(self, *args, env=None, cwd=None, **options):
        """Starts the binary and gives its Popen; text pipes for stdout and stderr unless `options` says otherwise."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
        return subprocess.Popen(
            [str(binary()), *map(str, args)],
            cwd=cwd or self.root,
            env=self.environment(env),
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            **options,
        )

    def run(self, *args, env=None, input=None, cwd=None, timeout=DEADLINE_S):
        """Runs the binary to its end. No trace of a crash or of Python may ever reach the user."""
        stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
        process = self.spawn(*args, env=env, cwd=cwd, stdin=stdin)
        try:
            stdout, stderr = process.communicate(input=input, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            pytest.fail(f"not done after {timeout} s: interlace {' '.join(map(str, args))}\n{stdout}\n{stderr}")
        result = Result([str(arg) for arg in args], process.returncode, stdout, stderr)
        if "--debug" not in args:
            assert not [word for word in TRACE_WORDS if word in stderr + stdout], result
        assert process.returncode not in (-6, -11), result
        return result

    def ok(self, *args, **options):
        """A run that must exit 0."""
        result = self.run(*args, **options)
        assert result.code == 0, result
        return result

    def fails(self, *args, code=1, **options):
        """A run that must fail with `code`, and say why."""
        result = self.run(*args, **options)
        assert result.code == code, result
        assert result.stderr.strip(), f"nothing was said\n{result}"
        return result

    def json(self, *args, code=0, **options):
        """The document of a run with --json."""
        result = self.run(*args, "--json", **options)
        assert result.code == code, result
        return result.json

    def query(self, sql, env=None):
        """Rows of `interlace query`; `env` names the environment of views."""
        selected = ("-e", env) if env else ()
        return self.json("query", sql, "--limit", "10000", *selected)["rows"]

    def terminal(self, *args, env=None, rows=24, columns=100, stdout=None):
        """Starts the binary on a pseudo-terminal; `stdout` names a file of the project that takes its output instead."""
        target = self.root / stdout if stdout else None
        return Terminal(
            [str(binary()), *map(str, args)],
            cwd=self.root,
            env=self.environment(env),
            rows=rows,
            columns=columns,
            stdout=target,
            deadline_s=DEADLINE_S,
        )

    # --- The warehouse from outside, while no command holds it

    def warehouse(self, name=".interlace/warehouse.duckdb", read_only=True):
        import duckdb

        return duckdb.connect(str(self.root / name), read_only=read_only)

    def sql(self, sql, name=".interlace/warehouse.duckdb"):
        """Rows of a statement in a database file, opened for reading by the engine's own client."""
        with self.warehouse(name) as connection:
            return connection.execute(sql).fetchall()

    def load(self, sql, name="data/src.duckdb"):
        """Runs statements in a database file of its own: "the source system changed"."""
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        with self.warehouse(name, read_only=False) as connection:
            connection.execute(sql)


@pytest.fixture(scope="session")
def project_class():
    """Project itself, for fixtures that outlive a test. (Several folders have a conftest, so none can be imported.)"""
    return Project


@pytest.fixture(scope="session")
def binary_path():
    return binary()


@pytest.fixture
def project(tmp_path):
    """An empty project folder."""
    return Project(tmp_path / "project")


@pytest.fixture
def make_project(tmp_path):
    """make_project({"models/a.sql": …}, name="other"): further projects in the test's own folder."""

    def make(files=None, name="project", env=None):
        return Project(tmp_path / name, env).write(files or {})

    return make


@pytest.fixture(scope="session")
def applied_quickstart(tmp_path_factory):
    """The quickstart project, applied to prod once. Read only: tests get copies of it by `quickstart`."""
    master = Project(tmp_path_factory.mktemp("quickstart") / "shop")
    master.ok("init", "--name", "shop")
    master.ok("apply")
    return master


@pytest.fixture
def quickstart(applied_quickstart, tmp_path):
    """A copy of the quickstart project, applied to prod."""
    shutil.copytree(applied_quickstart.root, tmp_path / "shop")
    return Project(tmp_path / "shop")


@pytest.fixture
def fresh_quickstart(tmp_path):
    """The quickstart project before its first apply."""
    fresh = Project(tmp_path / "shop")
    fresh.ok("init", "--name", "shop")
    return fresh


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this session's own: postgres.dsn, postgres.sql("SELECT 1")."""
    if binary_folder() is None:
        pytest.skip("no PostgreSQL server is installed")
    with PostgresServer() as server:
        yield server


# --- Golden texts ---------------------------------------------------------------------------------------------------------

VOLATILE = (
    (re.compile(r" *\b\d+\.\d\ds\b"), " 0.00s"),
    (re.compile(r" +Time$", re.MULTILINE), " Time"),
    (re.compile("─+"), "───"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?"), "2026-01-01T00:00:00Z"),
    (re.compile(r'"(seconds|elapsed_ms|at|ts)": [\d.]+'), r'"\1": 0'),
    (re.compile(r"(?<![0-9a-z])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{16}(?![0-9a-z])"), "0123456789abcdef"),
    (re.compile(r"v\d+\.\d+\.\d+\b"), "v0.0.0"),
)


def normalised(text):
    """`text` without what differs from run to run: times, durations, fingerprints."""
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


@pytest.fixture
def golden():
    """golden("plan", text): equal to tests/golden/plan.txt, which INTERLACE_GOLDEN=write (make golden) rewrites."""

    def compare(name, text):
        path = TREE / "tests" / "golden" / f"{name}.txt"
        actual = normalised(text)
        if os.environ.get("INTERLACE_GOLDEN") == "write":
            path.write_text(actual, encoding="utf-8")
        assert path.exists(), f"{path.name} is missing: make golden writes it"
        assert actual == path.read_text(encoding="utf-8"), (
            f"differs from tests/golden/{path.name} (make golden rewrites)"
        )

    return compare


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MB; tests that need it are skipped where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)
