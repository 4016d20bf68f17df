"""examples/nycflights: built once, its figures against a second computation in plain Python, what a change rebuilds, and
what is left of an apply that was killed.

The second computation (`Expected`) reads the CSV files with the csv module and shares nothing with the models: no SQL, no
engine, and for the delay that an aircraft takes along another algorithm, which moves single minutes.
"""

import collections
import csv
import datetime
import decimal
import fcntl
import functools
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import TREE, Project, binary

EXAMPLE = TREE / "examples/nycflights"
SANITIZED = os.environ.get("INTERLACE_SANITIZED") == "1"
MODELS = {
    *(f"raw.{name}" for name in ("flights", "weather", "planes", "airports", "airlines")),
    *(f"clean.{name}" for name in ("flights", "weather", "planes", "airports", "departures", "rotations")),
    *(f"mart.{name}" for name in ("flights", "carriers", "days", "routes")),
}
MARTS = {"mart.flights", "mart.carriers", "mart.days", "mart.routes"}
VIEWS = sorted(MODELS - {"clean.departures"})  # which is ephemeral


# --- The example, applied once for all workers of pytest-xdist ---------------------------------------------------------------


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(folder, name, make):
    """The folder `name`, filled by make(folder) in the first worker that asks; the others wait for it."""
    target = folder / name
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / f"{name}.done").exists():
            shutil.rmtree(target, ignore_errors=True)
            make(target)
            (folder / f"{name}.done").touch()
    return target


def copy_sources(target):
    """The example's own files without data/ and without what a run left in the working tree."""
    ignored = shutil.ignore_patterns("data*", ".interlace", "__pycache__")
    shutil.copytree(EXAMPLE, target, ignore=ignored)


def make_year(target):
    subprocess.run([sys.executable, EXAMPLE / "fetch"], check=True)
    copy_sources(target)
    (target / "data").symlink_to(EXAMPLE / "data")


@pytest.fixture(scope="session")
def applied_year(shared_folder):
    """The example with all its data, applied to prod. Read only: tests that write get copies of it by `year`."""

    def make(target):
        make_year(target)
        first = Project(target).ok("apply", "--json")
        (target / "apply.json").write_text(first.stdout)

    return Project(made_once(shared_folder, "nycflights", make))


@pytest.fixture
def year(applied_year, tmp_path):
    return copied(applied_year, tmp_path / "nycflights")


def copied(project, target):
    shutil.copytree(project.root, target, symlinks=True)
    return Project(target)


# --- The second computation --------------------------------------------------------------------------------------------------


def rows_of(table):
    with open(EXAMPLE / "data" / f"{table}.csv", newline="") as file:
        for row in csv.DictReader(file):
            yield {name: None if value == "NA" else value for name, value in row.items()}


def number(text):
    return None if text is None else int(text)


@functools.cache
def instant(text):
    return datetime.datetime.fromisoformat(text.removesuffix("Z"))


class Flight:
    def __init__(self, row):
        hour = instant(row["time_hour"])
        self.id = f"{hour:%Y%m%d%H}-{row['carrier']}{row['flight']}"
        self.carrier, self.tailnum = row["carrier"], row["tailnum"]
        self.origin, self.dest = row["origin"], row["dest"]
        self.day = datetime.date(int(row["year"]), int(row["month"]), int(row["day"]))
        self.hour = hour
        self.scheduled = hour + datetime.timedelta(minutes=int(row["minute"]))
        self.dep_delay, self.arr_delay = number(row["dep_delay"]), number(row["arr_delay"])
        self.distance = int(row["distance"])
        self.flown = int(row["distance"]) // 8 if row["air_time"] is None else int(row["air_time"])
        self.is_cancelled = row["dep_time"] is None
        # What `take_along` finds:
        self.leg = self.slack = self.inherited = self.own = self.delay_origin = None

    @property
    def left_late(self):
        return self.dep_delay is not None and self.dep_delay >= 15

    @property
    def arrived_late(self):
        return self.arr_delay is not None and self.arr_delay >= 15


def take_along(flights):
    """Fills in leg, slack, inherited, own and delay_origin. Each minute of delay is one entry, named after its flight."""
    by_aircraft = collections.defaultdict(list)
    for flight in flights:
        if not flight.is_cancelled:
            by_aircraft[flight.tailnum].append(flight)
    for departures in by_aircraft.values():
        departures.sort(key=lambda flight: (flight.scheduled, flight.id))
        before, minutes = None, collections.deque()
        for flight in departures:
            late = max(flight.dep_delay, 0)
            if before is None or flight.scheduled - before.scheduled > datetime.timedelta(hours=24):
                flight.leg, minutes = 1, collections.deque()
            else:
                flight.leg = before.leg + 1
                gap = int((flight.scheduled - before.scheduled).total_seconds()) // 60
                flight.slack = gap - 2 * before.flown - 60
                for _ in range(min(max(flight.slack, 0), len(minutes))):
                    minutes.popleft()
                while len(minutes) > late:
                    minutes.popleft()
            flight.inherited, flight.own = len(minutes), late - len(minutes)
            flight.delay_origin = minutes[0] if minutes else None
            minutes.extend([flight.id] * flight.own)
            before = flight


def quantile(values, share):
    """Linear between the neighbours, as in the textbook."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def miles_between(a, b):
    """By the angle between the two vectors from the middle of the earth."""

    def vector(airport):
        lat, lon = math.radians(float(airport["lat"])), math.radians(float(airport["lon"]))
        return math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)

    cosine = sum(x * y for x, y in zip(vector(a), vector(b), strict=True))
    return 3958.8 * math.acos(min(1.0, cosine))


class Expected:
    def __init__(self):
        self.flights = [Flight(row) for row in rows_of("flights")]
        take_along(self.flights)
        self.airlines = {row["carrier"]: row["name"] for row in rows_of("airlines")}
        self.airports = {row["faa"]: row for row in rows_of("airports")}
        self.planes = {row["tailnum"] for row in rows_of("planes")}
        self.weather = list(rows_of("weather"))

    def grouped(self, key):
        groups = collections.defaultdict(list)
        for flight in self.flights:
            groups[key(flight)].append(flight)
        return groups


@functools.cache
def expected():
    return Expected()


def assert_rounded(actual, exact, digits):
    """`actual` is `exact` rounded to that many digits, whichever way a tie goes."""
    if exact is None:
        assert actual is None
    else:
        assert abs(float(actual) - exact) <= 0.5 * 10**-digits + 1e-9, (actual, exact)


def percent(part, whole):
    return 100 * part / whole if whole else None


# --- Figures -----------------------------------------------------------------------------------------------------------------


def test_example_builds_all_models_and_promotes_them(applied_year):
    applied = json.loads(applied_year.read("apply.json"))
    assert set(applied["built"]) == set(VIEWS)
    assert applied["promoted"] == len(MODELS)
    assert {model["name"] for model in applied_year.json("models")} == MODELS
    rows = applied_year.sql(
        "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal AND schema_name NOT LIKE 'interlace%'"
    )
    assert sorted(name for (name,) in rows) == VIEWS


def test_example_planned_flights_are_the_files_lines(applied_year):
    [[flights, cancelled, delay, first, last]] = applied_year.query(
        "SELECT count(*), count(*) FILTER (WHERE is_cancelled), sum(dep_delay_min)::BIGINT, min(flight_date)::VARCHAR,"
        " max(flight_date)::VARCHAR FROM mart.flights"
    )
    every = expected().flights
    assert flights == len(every) == 336776
    assert cancelled == sum(flight.is_cancelled for flight in every) == 8255
    assert delay == sum(flight.dep_delay or 0 for flight in every)
    assert (first, last) == ("2013-01-01", "2013-12-31")


def test_example_rotations_agree_with_minutes_moved_one_by_one(applied_year):
    built = applied_year.sql(
        "SELECT flight_id, leg, slack_min, inherited_min, own_min, delay_origin_id FROM clean.rotations ORDER BY flight_id"
    )
    flown = sorted((flight for flight in expected().flights if not flight.is_cancelled), key=lambda flight: flight.id)
    assert len(built) == len(flown)
    for row, flight in zip(built, flown, strict=True):
        assert row == (flight.id, flight.leg, flight.slack, flight.inherited, flight.own, flight.delay_origin)
    assert sum(flight.inherited for flight in flown) > 50_000  # or the comparison would say nothing


def test_example_carriers(applied_year):
    built = applied_year.sql("SELECT * FROM mart.carriers ORDER BY carrier")
    groups = expected().grouped(lambda flight: flight.carrier)
    assert [row[0] for row in built] == sorted(groups)
    for carrier, name, count, cancelled, aircraft, late_share, mean_delay, own, inherited, inherited_share in built:
        flights = groups[carrier]
        flown = [flight for flight in flights if not flight.is_cancelled]
        assert name == expected().airlines[carrier]
        assert (count, cancelled) == (len(flights), len(flights) - len(flown))
        assert aircraft == len({flight.tailnum for flight in flights} - {None})
        assert (own, inherited) == (sum(flight.own for flight in flown), sum(flight.inherited for flight in flown))
        assert_rounded(late_share, percent(sum(flight.left_late for flight in flown), len(flown)), 1)
        assert_rounded(mean_delay, sum(flight.dep_delay for flight in flown) / len(flown), 2)
        assert_rounded(inherited_share, percent(inherited, own + inherited), 1)


def test_example_days(applied_year):
    built = applied_year.sql("SELECT * FROM mart.days ORDER BY day")
    groups = expected().grouped(lambda flight: flight.day)
    readings = collections.defaultdict(list)
    for row in expected().weather:
        readings[datetime.date(int(row["year"]), int(row["month"]), int(row["day"]))].append(row)
    assert [row[0] for row in built] == sorted(groups)
    for day, count, cancelled, late_share, own, inherited, wind, visibility, rain in built:
        flights = groups[day]
        flown = [flight for flight in flights if not flight.is_cancelled]
        assert (count, cancelled) == (len(flights), len(flights) - len(flown))
        assert_rounded(late_share, percent(sum(flight.left_late for flight in flown), len(flown)), 1)
        assert (own, inherited) == (sum(flight.own for flight in flown), sum(flight.inherited for flight in flown))
        winds = [float(row["wind_speed"]) for row in readings[day] if row["wind_speed"]]
        assert_rounded(wind, max((speed for speed in winds if speed <= 150), default=None), 2)
        assert visibility == min((decimal.Decimal(row["visib"]) for row in readings[day]), default=None)
        fallen = [decimal.Decimal(row["precip"]) for row in readings[day]]
        assert rain == (sum(fallen) if fallen else None)


def test_example_routes(applied_year):
    built = applied_year.sql("SELECT * FROM mart.routes ORDER BY origin, dest")
    groups = expected().grouped(lambda flight: (flight.origin, flight.dest))
    airports = expected().airports
    assert [row[:2] for row in built] == sorted(groups)
    for origin, dest, name, count, carriers, distance, globe, median, p90, late_share in built:
        flights = groups[origin, dest]
        delays = [flight.arr_delay for flight in flights if flight.arr_delay is not None]
        assert (count, carriers) == (len(flights), len({flight.carrier for flight in flights}))
        assert distance == max(flight.distance for flight in flights)
        assert_rounded(median, quantile(delays, 0.5) if delays else None, 1)
        assert_rounded(p90, quantile(delays, 0.9) if delays else None, 1)
        assert_rounded(late_share, percent(sum(flight.arrived_late for flight in flights), len(delays)), 1)
        if dest in airports:
            assert name == airports[dest]["name"].strip()
            assert_rounded(globe, miles_between(airports[origin], airports[dest]), 1)
        else:
            assert (name, globe) == (None, None)


def test_example_checks_find_the_known_gaps_of_the_data(applied_year):
    """All checks of severity error pass; the others count what the files really lack."""
    outcomes = applied_year.json("checks", "run")
    found = {(outcome["model"], outcome["name"]): outcome for outcome in outcomes}
    every = expected().flights
    readings = {(row["origin"], instant(row["time_hour"])) for row in expected().weather if usable_wind(row)}
    lacking = {
        ("clean.flights", "relationships_dest"): sum(flight.dest not in expected().airports for flight in every),
        ("clean.flights", "relationships_tailnum"): sum(
            flight.tailnum is not None and flight.tailnum not in expected().planes for flight in every
        ),
        ("clean.flights", "pattern_tailnum"): sum(
            flight.tailnum is not None and not re.search("^N[0-9A-Z]{1,5}$", flight.tailnum) for flight in every
        ),
        ("mart.flights", "not_null_wind_mph"): sum(
            not flight.is_cancelled and (flight.origin, flight.hour) not in readings for flight in every
        ),
        ("mart.routes", "not_null_dest_name"): len(
            {(flight.origin, flight.dest) for flight in every if flight.dest not in expected().airports}
        ),
    }
    failed = {key: outcome["failures"] for key, outcome in found.items() if outcome["status"] != "passed"}
    assert failed == lacking
    assert all(found[key]["severity"] != "error" for key in lacking)
    assert found["clean.rotations", "legs_count_up"]["check_type"] == "python"
    assert len(found) >= 45


def usable_wind(row):
    return row["wind_speed"] is not None and float(row["wind_speed"]) <= 150


# --- What a change rebuilds --------------------------------------------------------------------------------------------------


def edit(project, name, old, new):
    text = project.read(name)
    assert old in text
    project.write({name: text.replace(old, new)})


EDITS = {
    "a mart": (("models/mart/days.sql", "max(wind_mph)", "max(wind_mph) + 0"), {"mart.days"}),
    "a macro of one model": (("macros/flights.sql", "3958.8", "3959.0"), {"mart.routes"}),
    "a macro of three": (("macros/flights.sql", "100.0 *", "100.00 *"), {"mart.carriers", "mart.days", "mart.routes"}),
    "a var of the macro is_late": (("interlace.yaml", "value: 15}", "value: 20}"), MARTS),
    "a var of the Python model": (
        ("interlace.yaml", "value: 30}", "value: 25}"),
        {"clean.rotations"} | MARTS,
    ),
    "a helper class of the Python model": (
        ("models/clean/rotations.py", "late_min = max(delay_min, 0)", "late_min = max(delay_min, 1)"),
        {"clean.rotations"} | MARTS,
    ),
    "the ephemeral model": (
        ("models/clean/departures.sql", "distance_mi // 8", "distance_mi // 7"),
        {"clean.departures", "clean.rotations"} | MARTS,
    ),
    "one branch": (("models/clean/airports.sql", "trim(name)", "upper(name)"), {"clean.airports", "mart.routes"}),
    "a raw view": (("models/raw/airlines.sql", "SELECT *", "SELECT carrier, name"), {"raw.airlines"} | MARTS),
    "a check of the Python file": (("models/clean/rotations.py", "if leg > 1)", "if leg > 2)"), set()),
    "a declared check": (("models/mart/routes.sql", "<= 10}", "<= 11}"), set()),
    "a comment": (("models/clean/flights.sql", "New York's clock", "New York's own clock"), set()),
}


@pytest.mark.parametrize("what", EDITS)
def test_example_change_is_planned_for_what_depends_on_it(applied_year, tmp_path, what):
    (name, old, new), changed = EDITS[what]
    project = copied(applied_year, tmp_path / "nycflights")
    edit(project, name, old, new)
    plan = project.json("plan")
    assert {change["name"] for change in plan["changes"]} == changed
    assert {change["change_type"] for change in plan["changes"]} <= {"modified"}


def relations(project):
    """Physical tables and views with their rows, by name; without the records of what changed."""
    with project.warehouse() as warehouse:
        warehouse.execute(f"SET file_search_path = '{project.root}'")  # of the raw views' files
        names = warehouse.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name <> 'interlace' UNION ALL"
            " SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
        ).fetchall()
        return {f"{schema}.{name}": checksum(warehouse, schema, name) for schema, name in names}


def checksum(warehouse, schema, name):
    """Equal for equal rows in any order."""
    table = f'"{schema}"."{name}"'
    return warehouse.execute(f"SELECT count(*), sum(hash(t)), bit_xor(hash(t)) FROM {table} AS t").fetchone()


def physical(found):
    return {name: rows for name, rows in found.items() if name.startswith("interlace__")}


def test_example_apply_rebuilds_only_what_the_change_reaches(year):
    before = relations(year)
    edit(year, "models/clean/airports.sql", "trim(name)", "upper(name)")
    refused = year.fails("apply")
    assert "clean.airports" in refused.stderr and "--force" in refused.stderr
    assert relations(year) == before

    summary = year.json("apply", "--force")
    assert set(summary["built"]) == {"clean.airports", "mart.routes"}
    after = relations(year)
    assert {name: after[name] for name in physical(before)} == physical(before)
    added = sorted(re.sub("__[0-9a-f]{16}$", "", name) for name in after.keys() - before.keys())
    assert added == ["interlace__clean.airports", "interlace__mart.routes"]
    moved = {name for name in before if after[name] != before[name]}
    assert moved == {"clean.airports", "mart.routes"}


def test_example_second_apply_has_nothing_to_do(year):
    before = relations(year)
    assert "No changes for prod." in year.ok("apply").stdout
    plan = year.json("plan")
    assert plan["changes"] == [] and plan["empty"] is True
    assert relations(year) == before


def test_example_dev_reuses_every_relation(year):
    before = relations(year)
    plan = year.json("plan", "-e", "dev")
    assert {change["name"] for change in plan["changes"]} == MODELS
    assert all(change["reused"] for change in plan["changes"] if change["name"] != "clean.departures")
    assert f"Built 0 model(s); promoted {len(MODELS)} to 'dev'." in year.ok("apply", "-e", "dev").stdout
    after = relations(year)
    assert physical(after) == physical(before)
    for name in VIEWS:
        assert after[f"dev__{name}"] == before[name] == after[name]


# --- kill -9 -----------------------------------------------------------------------------------------------------------------
# An apply of the example with the flights of the first days of January, so that many of them fit into a run, killed at
# random moments: half of them first applies, half applies of a change over a promoted version. What follows must end as if nothing had been.

MOMENTS = int(os.environ.get("INTERLACE_PROPERTY_EXAMPLES", "6" if SANITIZED else "20"))
GROUPS = 3 if SANITIZED else 5
SEED = 20130101


def make_january(target):
    """The example with four days of one month; row counts are relaxed, nothing else."""
    subprocess.run([sys.executable, EXAMPLE / "fetch"], check=True)
    copy_sources(target)
    (target / "data").mkdir()
    for name in ("planes", "airports", "airlines"):
        (target / f"data/{name}.csv").symlink_to(EXAMPLE / f"data/{name}.csv")
    for name in ("flights", "weather"):
        with open(EXAMPLE / f"data/{name}.csv") as source, open(target / f"data/{name}.csv", "w") as month:
            header = source.readline()
            place = header.split(",").index("month")
            month.write(header)
            for line in source:
                cells = line.split(",", place + 2)  # … month, day, …
                if cells[place] == "1" and int(cells[place + 1]) <= 4:
                    month.write(line)
    for path in target.rglob("*.sql"):
        path.write_text(re.sub(r"row_count: \{.*\}", "row_count: {min: 1}", path.read_text()))
    Project(target).ok("plan")  # so that the caches are as warm as they usually are


def change_january(project):
    """Moves most of the marts' figures, and rebuilds a table, the Python model and the marts."""
    edit(project, "interlace.yaml", "value: 30}", "value: 25}")
    edit(project, "interlace.yaml", "value: 15}", "value: 45}")
    edit(project, "models/clean/airports.sql", "trim(name)", "upper(name)")


def promoted_state(project):
    """All that a reader or the next command can see: views with their rows, relations, pointers, what plan says."""
    seen = relations(project)
    views = project.sql("SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL")
    environments = project.json("env", "list")
    for environment in environments:
        environment.pop("promoted_at", None)
    return {
        "relations": seen,
        "views": [(*names, re.sub(r"'[^']*/data/", "'data/", sql)) for *names, sql in views],
        "environments": environments,
        "plan": project.json("plan")["changes"],
    }


class Master:
    """A project as it is before an apply, how long that takes, and what it leaves."""

    def __init__(self, project, args):
        self.before, self.args = project, args

    def measure(self, folder):
        undisturbed = copied(self.before, folder)
        started = time.monotonic()
        undisturbed.ok("apply", *self.args)
        self.seconds = time.monotonic() - started
        self.after = promoted_state(undisturbed)
        self.undisturbed = undisturbed
        return self


@pytest.fixture(scope="session")
def january(shared_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("january")
    fresh = Project(made_once(shared_folder, "january", make_january))
    first = Master(fresh, []).measure(folder / "first")
    changed = copied(first.undisturbed, folder / "changed")
    change_january(changed)
    second = Master(changed, ["--force"]).measure(folder / "second")
    return {"first": first, "change": second}


def views_only(found):
    return {name: rows for name, rows in found.items() if not name.startswith("interlace__")}


def assert_all_old_or_all_new(project, master, old):
    """What readers find right after the kill, before anything has repaired it."""
    exists = project.exists(".interlace/warehouse.duckdb")
    assert (views_only(relations(project)) if exists else {}) in (old, views_only(master.after["relations"]))


def assert_ends_undisturbed(project, master):
    project.ok("apply", *master.args)
    assert promoted_state(project) == master.after
    assert "No changes for prod." in project.ok("apply").stdout


def kill_after(project, args, seconds):
    """True when the process was still at work."""
    process = project.spawn("apply", *args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("group", range(GROUPS))
def test_kill_at_random_moments_leaves_an_apply_that_can_be_finished(january, tmp_path, group):
    moments = random.Random(SEED)
    drawn = [(("first", "change")[i % 2], moments.random()) for i in range(MOMENTS)]
    killed = 0
    for i, (which, share) in list(enumerate(drawn))[group::GROUPS]:
        master = january[which]
        old = {} if which == "first" else views_only(january["first"].after["relations"])
        project = copied(master.before, tmp_path / f"moment-{i}")
        killed += kill_after(project, master.args, share * master.seconds)
        assert_all_old_or_all_new(project, master, old)
        assert_ends_undisturbed(project, master)
        shutil.rmtree(project.root)
    assert killed > 0


def hook_names():
    names = set()
    for path in (TREE / "src").rglob("*.c"):
        if path.stem.endswith("_test"):
            continue
        names.update(re.findall(r'\btest_hook\("([^"]+)"', path.read_text(encoding="utf-8", errors="replace")))
    return sorted(names)


def has_hooks():
    return b"INTERLACE_HOOK" in pathlib.Path(binary()).read_bytes()


PASSAGES = (1,) if SANITIZED else (1, 3, 8, 21)


@pytest.fixture(scope="session")
def reached(january, shared_folder):
    """The (hook, passage) that an apply over a promoted version comes by: at the others nothing can be killed."""
    wanted = [(hook, passage) for hook in hook_names() for passage in PASSAGES]

    def make(target):
        project = copied(january["change"].before, target)
        (target / "reached").mkdir()
        touches = ",".join(f"{hook}=touch:{target}/reached/{hook}@{passage}@{passage}" for hook, passage in wanted)
        project.ok("apply", *january["change"].args, env={"INTERLACE_HOOK": touches})
        assert promoted_state(project) == january["change"].after

    found = {path.name for path in (made_once(shared_folder, "reached", make) / "reached").iterdir()}
    return {(hook, passage) for hook, passage in wanted if f"{hook}@{passage}" in found}


@pytest.mark.parametrize("hook", hook_names())
def test_kill_at_each_step_leaves_an_apply_that_can_be_finished(january, reached, tmp_path, hook):
    """At the n-th passage of each named point, of an apply over a promoted version."""
    if not has_hooks():
        pytest.skip("built without test hooks")
    master = january["change"]
    old = views_only(january["first"].after["relations"])
    for passage in PASSAGES:
        if (hook, passage) not in reached:
            break  # the apply passes this point less often
        project = copied(master.before, tmp_path / f"passage-{passage}")
        died = project.run("apply", *master.args, env={"INTERLACE_HOOK": f"{hook}=kill@{passage}"})
        assert died.code in (0, -signal.SIGKILL), died
        assert_all_old_or_all_new(project, master, old)
        assert_ends_undisturbed(project, master)
        shutil.rmtree(project.root)


def test_kill_at_each_step_has_steps_to_kill_at(reached):
    if not has_hooks():
        pytest.skip("built without test hooks")
    assert len(reached) >= 10
