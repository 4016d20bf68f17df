"""Runs of programs beside their floors, in rounds, and the lines of the table that come of them."""

import dataclasses
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

TREE = pathlib.Path(__file__).resolve().parents[1]
DUCKDB = TREE / ".deps/duckdb"
PYTHON = TREE / ".deps/venv/bin/python"


@dataclasses.dataclass
class Usage:
    cpu_ms: float
    wall_ms: float
    peak_mb: float
    stdout: str


def measured(args, cwd=None, env=None, code=0):
    """One run that must exit with `code`."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(
            [str(arg) for arg in args], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != code:
            err.seek(0)
            sys.exit(f"bench: {' '.join(map(str, args))} exited {process.returncode}:\n{err.read().decode()}")
        out.seek(0)
        cpu_ms = 1000 * (usage.ru_utime + usage.ru_stime)
        return Usage(cpu_ms, 1000 * wall_s, usage.ru_maxrss / 1024, out.read().decode())


class Bench:
    """Where things are, what was measured so far."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.interlace = pathlib.Path(options.binary).resolve()
        self.lines = []
        self.peak_mb = None  # (for one row through Python, for all)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("INTERLACE_")}
        self.env |= {"INTERLACE_PYTHON": str(PYTHON), "LC_ALL": "C.UTF-8"}

    def run(self, *args, cwd=None, code=0):
        return measured([self.interlace, *args], cwd=cwd, env=self.env, code=code)

    def floor(self, *args, cwd=None):
        program, *rest = args
        return measured([self.folder / program, *rest], cwd=cwd, env=self.env)

    def fresh(self, name):
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def rounds(self, what, budget, run, floor=None, count=None, judge=None, before=None):
        """Runs both `count` times and adds a line. `judge(runs, floors)` gives the figure to hold against the budget."""
        runs, floors = [], []
        for n in range(count or self.options.rounds):
            if before:
                before(n)
            runs.append(run())
            floors.append(floor() if floor else None)
            print(f"\r{what}, round {n + 1} ", end="", file=sys.stderr)
        print("\r" + " " * 100 + "\r", end="", file=sys.stderr)
        floors = [usage for usage in floors if usage]
        self.lines.append(Line(what, runs, floors, budget, judge(runs, floors) if judge else None))
        return runs, floors


@dataclasses.dataclass
class Line:
    what: str
    runs: list
    floors: list
    budget: str
    figure: tuple | None  # (text, whether it is within the budget)

    def cells(self):
        cpu = [usage.cpu_ms for usage in self.runs]
        floor = min((usage.cpu_ms for usage in self.floors), default=None)
        text, within = self.figure or ("", None)
        return [
            self.what,
            ms(min(cpu)),
            ms(statistics.median(cpu)),
            ms(min(usage.wall_ms for usage in self.runs)),
            ms(floor),
            f"{min(cpu) / floor:.2f}" if floor else "—",
            text,
            self.budget,
            {True: "ok", False: "OVER", None: ""}[within],
        ]


def ms(value):
    if value is None:
        return "—"
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def least(usages, field="cpu_ms"):
    return min(getattr(usage, field) for usage in usages)


def cpu_at_most(limit_ms):
    def judge(runs, floors):
        return f"{ms(least(runs))} ms cpu", least(runs) <= limit_ms

    return judge


def wall_at_most(limit_ms):
    def judge(runs, floors):
        wall = least(runs, "wall_ms")
        return f"{wall / 1000:.2f} s", wall <= limit_ms

    return judge


def build_floors(folder):
    compiler = os.environ.get("CC", "cc")
    read, sql = TREE / "bench/floor_read.c", TREE / "bench/floor.c"
    subprocess.run([compiler, "-O2", read, "-o", folder / "floor_read"], check=True)
    library = [f"-I{DUCKDB}/include", f"-L{DUCKDB}/lib", "-lduckdb", f"-Wl,-rpath,{DUCKDB}/lib"]
    subprocess.run([compiler, "-O2", sql, *library, "-o", folder / "floor"], check=True)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path
