"""`interlace render`: the query of a model as it would be sent to the engine."""

DAYS = "SELECT DATE '2026-01-01' + (i % 10)::INTEGER AS day, i FROM range(100) AS t(i)"


def incremental(query, keys=""):
    return f"/* interlace: {{strategy: incremental, time_column: day, interval: 1d{keys}}} */\n{query}"


def test_a_rendered_query_runs_as_it_is(project):
    project.write(
        {
            "models/e.sql": "/* interlace: {materialise: ephemeral} */\nSELECT 1 AS id",
            "models/a.sql": "SELECT 2 AS id",
            "models/b.sql": "-- both\nSELECT * FROM e UNION ALL SELECT * FROM a;",
        }
    )
    project.ok("apply")
    text = project.ok("render", "b").stdout
    assert "-- both" in text
    assert '"interlace__main"."a__' in text
    assert sorted(project.sql(text)) == [(1,), (2,)]
    document = project.json("render", "b")
    assert document["model"] == "b"
    assert document["window"] is None
    assert document["sql"] == text.rstrip("\n")


def test_a_changed_model_is_rendered_over_what_it_would_read(project):
    project.write({"models/a.sql": "SELECT 2 AS id", "models/b.sql": "SELECT * FROM a"})
    project.ok("apply")
    before = project.json("render", "b")["sql"]
    project.write({"models/a.sql": "SELECT 3 AS id"})
    after = project.json("render", "b")["sql"]
    assert before != after
    project.ok("apply", "--force")
    assert project.json("render", "b")["sql"] == after
    assert project.sql(after) == [(3,)]


def test_a_window_shows_what_it_cuts(project):
    project.write(
        {"models/days.sql": DAYS, "models/w.sql": incremental("SELECT day, count(*) AS n FROM days GROUP BY day")}
    )
    project.ok("apply")
    document = project.json("render", "w", "--window", "2026-01-03", "2026-01-05")
    assert document["window"] == ["2026-01-03T00:00:00", "2026-01-05T00:00:00"]
    assert document["cuts"] == ["days.day"]
    assert len(project.sql(document["sql"])) == 2
    assert project.json("render", "w", "--window", "2026-01-03 2026-01-05") == document
    text = project.ok("render", "w", "--window", "2026-01-03", "2026-01-05").stdout
    assert text.startswith("-- window 2026-01-03")
    assert len(project.sql(text)) == 2
    assert project.json("render", "w", "--window", "2026-01-03T05:00", "2026-01-04T01:00") == document


def test_a_bound_clock_is_shown_for_the_first_window(project):
    project.write(
        {"models/days.sql": DAYS, "models/w.sql": incremental("SELECT day, now() AS at FROM days", ", clock: window")}
    )
    project.ok("apply")
    document = project.json("render", "w", "--window", "2026-01-03", "2026-01-05")
    assert "TIMESTAMPTZ '2026-01-03 23:59:59.999999+00'" in document["sql"]
    assert document["window"] == ["2026-01-03T00:00:00", "2026-01-04T00:00:00"]
    assert "the first of them" in document["notes"][0]


def test_a_window_over_tables_that_are_not_built_says_what_is_not_known(project):
    project.write({"models/days.sql": DAYS, "models/w.sql": incremental("SELECT day, i FROM days")})
    document = project.json("render", "w", "--window", "2026-01-03", "2026-01-05")
    assert document["cuts"] == []
    assert "not known" in document["notes"][0]
    assert not project.exists(".interlace/warehouse.duckdb")


def test_what_cannot_be_rendered_is_refused(project):
    project.write(
        {
            "models/a.sql": "SELECT 2 AS id",
            "models/p.py": "from interlace import model\n\n\n@model\ndef p(a):\n    return a.table()\n",
        }
    )
    assert (
        "only incremental models have windows"
        in project.fails("render", "a", "--window", "2026-01-01", "2026-01-02").stderr
    )
    assert "has no query" in project.fails("render", "p").stderr
    assert "unknown model 'aa'" in project.fails("render", "aa").stderr
    assert "needs two values" in project.fails("render", "a", "--window", "2026-01-01", code=2).stderr
    assert "needs two values" in project.fails("render", "a", "--window=2026-01-01", code=2).stderr
    assert "--window must be an ISO timestamp" in project.fails("render", "a", "--window", "x", "y", code=2).stderr
