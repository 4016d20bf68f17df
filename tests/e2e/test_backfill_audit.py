"""Spec 04 §6: what a campaign made is compared with what readers see, judged, and only then published."""

import html.parser
import re

import pytest

SALES = """/* interlace: {{strategy: incremental, time_column: day, interval: 1d, backfill: 2026-05-01{more}}} */
SELECT ordered_at::DATE AS day, shop, count(*) AS orders, sum(amount) AS revenue, max(note) AS note FROM src.orders
GROUP BY ALL"""
SHOPS = "/* interlace: {strategy: replace, key: shop} */ SELECT shop, sum(revenue) AS revenue FROM sales GROUP BY ALL"
ORDERS = """CREATE TABLE orders AS SELECT i AS id, TIMESTAMP '2026-05-01' + to_hours(i::INTEGER) AS ordered_at,
chr((65 + i % 3)::INTEGER) AS shop, (i % 7)::DECIMAL(10,2) AS amount, CASE WHEN i % 5 = 0 THEN 'n' END AS note
FROM range(240) AS r(i); CREATE TABLE wrong(id INTEGER);"""
SELECTED = ("-s", "sales+", "--start", "2026-05-01", "--end", "2026-05-11")


@pytest.fixture
def make_sales(make_project):
    """Ten days of three shops, built; the source has then changed: 10 % off from the third day on, and an hour is gone."""

    def make(more="", **models):
        made = make_project(
            {
                "interlace.yaml": "attach: {src: data/src.duckdb}\n",
                "models/sales.sql": SALES.format(more=more),
                "models/shops.sql": SHOPS,
                **models,
            },
            env={"INTERLACE_NOW": "2026-05-11T00:00:00Z"},
        )
        made.load(ORDERS)
        made.ok("apply")
        made.load(
            "UPDATE orders SET amount = amount * 0.9 WHERE ordered_at >= '2026-05-03';"
            "DELETE FROM orders WHERE ordered_at = '2026-05-02 13:00'; UPDATE orders SET note = NULL WHERE id < 24"
        )
        return made

    return make


def model_of(report, name):
    return next(model for model in report["models"] if model["name"] == name)


def counted(project, relation):
    """The figures of a table, counted by the engine's own client."""
    rows, revenue, notes = project.sql(
        f"SELECT count(*), sum(revenue)::DOUBLE, count(*) FILTER (note IS NULL) FROM {relation}"
    )[0]
    return {"rows": rows, "revenue": revenue, "notes": notes}


def audit_relation(project, name):
    return project.sql(
        f"SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE table_name LIKE '{name}\\_\\_%audit%' ESCAPE '\\'"
    )[0][0]


def test_the_report_tells_rows_sums_nulls_and_what_moved(make_sales):
    project = make_sales()
    project.ok("backfill", "start", *SELECTED)
    report = project.json("backfill", "audit", 1)
    old, new = counted(project, "main.sales"), counted(project, audit_relation(project, "sales"))
    sales = model_of(report, "sales")
    assert sales["rows"] == {"old": old["rows"], "new": new["rows"], "change": 0}
    assert (sales["columns"]["revenue"]["sum_old"], sales["columns"]["revenue"]["sum_new"]) == (
        old["revenue"],
        pytest.approx(new["revenue"]),
    )
    assert sales["columns"]["revenue"]["sum_change"] == pytest.approx(100 * (new["revenue"] / old["revenue"] - 1))
    assert (sales["columns"]["note"]["nulls_old"], sales["columns"]["note"]["nulls_new"]) == (
        old["notes"],
        new["notes"],
    )
    assert sales["columns"]["note"]["nulls_new"] == sales["columns"]["note"]["nulls_old"] + 3
    assert sales["columns"]["orders"]["sum_new"] == sales["columns"]["orders"]["sum_old"] - 1 == 239
    assert [window["window"] for window in sales["windows"]] == [f"2026-05-{day:02}" for day in range(1, 11)]
    assert all(window["rows_old"] == 3 for window in sales["windows"])
    assert "2026-05-01" not in [window["window"] for window in sales["moved_windows"]]
    assert report["verdict"] == sales["verdict"] == "accept"


def test_a_key_pairs_rows_and_ranks_them(make_sales):
    project = make_sales()
    project.ok("backfill", "start", *SELECTED)
    shops = model_of(project.json("backfill", "audit", 1), "shops")
    old = dict(project.sql("SELECT shop, revenue::DOUBLE FROM main.shops"))
    new = dict(project.sql(f"SELECT shop, revenue::DOUBLE FROM {audit_relation(project, 'shops')}"))
    assert shops["keys"] == {"by": ["shop"], "added": 0, "removed": 0, "changed": 3, "repeat": False}
    assert shops["columns"]["revenue"]["changed"] == 3
    ranked = sorted(old, key=lambda shop: -abs(new[shop] - old[shop]))
    assert [moved["key"]["shop"] for moved in shops["moved_keys"]] == ranked
    first = shops["moved_keys"][0]["values"]["revenue"]
    assert (float(first["old"]), float(first["new"])) == (old[ranked[0]], pytest.approx(new[ranked[0]]))


def test_04_5_clock_columns_stay_out_of_the_audit(make_project):
    project = make_project(
        {
            "models/m.sql": "/* interlace: {strategy: incremental, time_column: day, interval: 1d, backfill: 2026-05-01,"
            " clock_columns: [loaded_at]} */ SELECT DATE '2026-05-01' + i::INTEGER AS day, i, now() AS loaded_at"
            " FROM range(3) AS r(i)"
        },
        env={"INTERLACE_NOW": "2026-05-04T00:00:00Z"},
    )
    project.ok("apply")
    project.ok("backfill", "start", "-s", "m", "--start", "2026-05-01", "--end", "2026-05-04")
    report = model_of(project.json("backfill", "audit", 1), "m")
    assert list(report["columns"]) == ["day", "i"]
    assert report["keys"] == {"by": [], "added": 0, "removed": 0, "changed": 0, "repeat": False}
    assert report["moved_windows"] == []


def test_the_report_is_text_markdown_and_a_page_of_its_own(make_sales):
    project = make_sales(", audit: {rows: 1%, revenue: 5%}, tags: ['<b>']")
    project.ok("backfill", "start", *SELECTED)
    text = project.ok("backfill", "audit", 1).stdout
    assert "Audit of campaign 1 over 'prod', 2026-05-01 to 2026-05-11" in text
    assert "sales: needs acceptance" in text
    assert "shops: accept" in text
    assert re.search(r"^revenue +5% +-\S+ +-\d\.\d\d % +needs acceptance$", text, re.M)
    markdown = project.ok("backfill", "audit", 1, "--markdown").stdout
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    assert "| Column | Changed | Sum old | Sum new | Change | NULLs old | NULLs new |" in lines
    assert all(
        line.replace("\\|", "").count("|") == lines[i - 1].replace("\\|", "").count("|")
        for i, line in enumerate(lines)
        if line.startswith("|---")
    )
    project.ok("backfill", "audit", 1, "--html", "audit.html")
    page = project.read("audit.html")

    class Reader(html.parser.HTMLParser):
        open_tags, cells = [], []

        def handle_starttag(self, tag, attributes):
            assert not {"src", "href"} & dict(attributes).keys()
            assert tag not in ("script", "link", "img", "iframe")
            if tag != "meta":
                self.open_tags.append(tag)

        def handle_endtag(self, tag):
            assert self.open_tags.pop() == tag

        def handle_data(self, data):
            self.cells.append(data)

    reader = Reader()
    reader.feed(page)
    assert reader.open_tags == []
    assert {"sales: needs acceptance", "Windows that moved most", "Keys that moved most"} <= set(reader.cells)


def test_thresholds_that_do_not_hold_wait_for_acceptance(make_sales):
    project = make_sales(", audit: {rows: 1%, revenue: 5%, keys_removed: 0}")
    before = project.query("SELECT * FROM sales ORDER BY ALL")
    project.ok("backfill", "start", *SELECTED, "--note", "10 % off")
    refused = project.fails("backfill", "publish", 1)
    assert "do not hold and are not accepted: sales.revenue, sales.keys_removed" in refused.stderr
    assert "--accept sales.revenue --accept sales.keys_removed" in refused.stderr
    half = project.fails("backfill", "publish", 1, "--accept", "sales.revenue")
    assert "not accepted: sales.keys_removed" in half.stderr
    wrong = project.fails("backfill", "publish", 1, "--accept", "sales.revenu")
    assert "'sales.revenu' is no threshold" in wrong.stderr
    assert project.query("SELECT * FROM sales ORDER BY ALL") == before
    report = project.json("backfill", "audit", 1)
    project.ok("backfill", "publish", 1, "--accept", "sales.revenue", "--accept", "sales.keys_removed")
    assert project.query("SELECT * FROM sales ORDER BY ALL") != before
    assert project.json("backfill", "audit", 1) == report


def test_auto_publishes_only_what_nothing_speaks_against(make_sales):
    project = make_sales(", audit: {revenue: 5%}")
    stays = project.fails("backfill", "start", *SELECTED, "--publish", "auto", "--note", "10 % off")
    assert "thresholds do not hold" in stays.stderr
    assert project.json("backfill", "status", 1)["state"] == "audited"
    project.ok("backfill", "discard", 1)
    project.load("UPDATE orders SET amount = amount / 0.9 WHERE ordered_at >= '2026-05-03'")
    done = project.json("backfill", "start", *SELECTED, "--publish", "auto", "--note", "an order less")
    assert done["state"] == "published"


def test_a_failing_error_check_cannot_be_accepted_and_a_warning_is_told(make_sales):
    checks = (
        ', checks: [{type: sql, name: none_is_wrong, query: "SELECT 1 FROM src.wrong"},'
        " {type: row_count, name: few, severity: warn, max: 1}]"
    )
    project = make_sales(checks)
    project.ok("backfill", "start", *SELECTED, "--note", "10 % off")
    report = model_of(project.json("backfill", "audit", 1), "sales")
    assert [(check["name"], check["status"]) for check in report["checks"]] == [
        ("none_is_wrong", "passed"),
        ("few", "failed"),
    ]
    assert report["verdict"] == "accept"
    project.load("INSERT INTO wrong VALUES (1)")
    project.ok("backfill", "audit", 1, "--again")
    assert project.json("backfill", "audit", 1)["verdict"] == "blocked"
    refused = project.fails("backfill", "publish", 1)
    assert "these checks fail on what it made: sales.none_is_wrong" in refused.stderr
    project.load("DELETE FROM wrong")
    project.ok("backfill", "audit", 1, "--again")
    project.ok("backfill", "publish", 1)


def test_a_window_that_moved_is_compared_again_and_then_published(make_sales):
    project = make_sales()
    project.ok("backfill", "start", *SELECTED, "--batch", "1", "--note", "10 % off")
    project.ok("restate", "-s", "sales", "--start", "2026-05-04", "--end", "2026-05-05")
    stopped = project.fails("backfill", "publish", 1)
    assert "sales 2026-05-04" in stopped.stderr
    project.ok("backfill", "audit", 1, "--again")
    sales = model_of(project.json("backfill", "audit", 1), "sales")
    assert "2026-05-04" not in [window["window"] for window in sales["moved_windows"]]
    project.ok("backfill", "publish", 1)
    assert project.json("backfill", "status", 1)["state"] == "published"
    again = project.fails("backfill", "audit", 1, "--again")
    assert "campaign 1 is published: it cannot be compared anew" in again.stderr


def test_what_cannot_be_shown_is_said(make_sales):
    project = make_sales()
    assert "there is no campaign 7" in project.fails("backfill", "audit", 7).stderr
    assert "must be the number" in project.fails("backfill", "audit", "x", code=2).stderr
    assert "exclude each other" in project.fails("backfill", "audit", 1, "--json", "--markdown", code=2).stderr
    project.ok("backfill", "start", *SELECTED, "--no-audit")
    assert "--again` makes one" in project.fails("backfill", "audit", 1).stderr
    project.ok("backfill", "audit", 1, "--again")
    assert "none/a.html" in project.fails("backfill", "audit", 1, "--html", "none/a.html").stderr
