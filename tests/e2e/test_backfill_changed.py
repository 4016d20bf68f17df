"""Campaigns over models whose definition differs from what the environment serves: computed with the new text, unseen
until publication makes it live (spec 04 §7, 02 §13)."""

import duckdb
import pytest
from test_backfill import ALL, BESIDE, DAYS, INLINED, RANGE, SALES, SHOPS, TABLES, Shop

OLD = SALES.format(keys="")
NEW = OLD.replace("100 - o.discount", "100 - 2 * o.discount")
NOTE = "its definition has changed since 'prod' took it over: publication makes the new version live"


@pytest.fixture
def shop(project):
    shop = Shop(project)
    project.ok("apply")
    return shop


def edit(shop, **texts):
    shop.project.write({f"models/{name}.sql": text for name, text in texts.items()})


def expected(make_project, name="fresh", **texts):
    """What corrected sources and the old text give: the new text counts each discount since August twice."""
    other = Shop(make_project(name=name))
    other.correct()
    edit(other, **texts)
    other.project.ok("apply")
    return other.rows()


def test_04_7_a_changed_definition_goes_live_with_its_windows_and_not_before(shop, make_project):
    old = shop.rows()
    edit(shop, fct_daily_sales=NEW)
    plan = shop.project.ok("backfill", "plan", *ALL, "--json").json
    assert [model["takes_part"] for model in plan["models"]] == ["windowed", "windowed", "view", "whole"]
    assert plan["models"][0]["notes"] == [NOTE + "; rows outside of the windows stay as they are"]
    assert plan["models"][1]["notes"][0].startswith(
        "what it reads ('fct_daily_sales') has changed since 'prod' took it over"
    )
    assert shop.start("--batch", "10", "--note", "x")["state"] == "audited"
    assert shop.rows() == old
    shop.project.ok("backfill", "publish", 1)
    assert shop.rows() == expected(make_project)
    assert shop.project.ok("plan").stdout.strip() == "No changes for prod."
    filled = shop.project.ok("intervals", "fct_daily_sales", "--json").json["intervals"]
    assert filled == [["2026-07-01T00:00:00", "2026-10-29T00:00:00"]]
    shop.project.ok("run")
    assert shop.rows() == expected(make_project, "again")


def test_04_7_readers_see_all_old_or_all_new_of_a_changed_definition(shop):
    seen = shop.project.root / "seen.txt"
    sums = ", ".join(f"(SELECT CAST(sum(revenue) AS BIGINT) FROM {name})" for name in TABLES)
    env = {"INTERLACE_POLL_SQL": f"SELECT {sums}", "INTERLACE_POLL_FILE": str(seen)}
    edit(shop, fct_daily_sales=NEW)
    shop.start("--batch", "10", "--publish", "auto", "--note", "x", env=env)
    answers = [line.split(",") for line in seen.read_text().splitlines()]
    assert len(answers) == 2, answers
    assert all(len(set(answer)) == 1 for answer in answers), answers


def test_04_7_a_lake_does_the_same(project, make_project):
    lake = Shop(project, database="ducklake:data/lake.ducklake")
    project.ok("apply")
    old = lake.rows()
    edit(lake, fct_daily_sales=NEW)
    assert lake.start("--batch", "30", "--note", "x")["state"] == "audited"
    assert lake.rows() == old
    project.ok("backfill", "publish", 1)
    assert lake.is_like(expected(make_project))
    project.ok("backfill", "revert", 1)
    assert lake.rows() == old


def test_04_7_a_revert_makes_the_old_version_live_again(shop, make_project):
    old = shop.rows()
    edit(shop, fct_daily_sales=NEW)
    shop.start("--note", "x")
    shop.project.ok("backfill", "publish", 1)
    new = shop.rows()
    shop.project.ok("backfill", "revert", 1, "--note", "it was right before")
    assert shop.rows() == old
    kinds = [change["kind"] for change in shop.project.ok("changes", "--json", "--model", "top_shops").json]
    assert kinds == ["revert", "publication"]
    assert shop.relations() == []
    changes = shop.project.ok("plan", "--json").json["changes"]
    assert [change["name"] for change in changes] == ["fct_daily_sales", "sales_by_day", "sales_of_shops", "top_shops"]
    # What was taken back is not reused; a campaign over it makes it once more.
    assert not any(change["reused"] for change in changes)
    shop.start("--note", "x")
    shop.project.ok("backfill", "publish", 2)
    assert shop.rows() == new
    # With the old text again, what was made by it is there.
    edit(shop, fct_daily_sales=OLD)
    shop.project.ok("apply", "--force")
    assert shop.rows() == old


def test_04_7_a_rollback_after_publication_shows_the_old_version(shop):
    old = shop.rows()
    edit(shop, fct_daily_sales=NEW)
    shop.start("--note", "x")
    shop.project.ok("backfill", "publish", 1)
    shop.project.ok("env", "rollback", "prod")
    assert shop.rows() == old


HOOKS = ["campaign.publishing", "campaign.replaced@2", "promotion.view@1", "promotion.view@3", "campaign.committed",
         "state.commit@2", "state.commit@3", "state.commit@4"]  # fmt: skip
# A publication passes the view, too; a revert only what has rows.
KILLS = [
    ("publish", "state.snapshot@2"),
    ("publish", "campaign.replaced@4"),
    *((verb, hook) for verb in ("publish", "revert") for hook in HOOKS),
]


@pytest.mark.parametrize(("verb", "hook"), KILLS)
def test_04_7_a_killed_publication_of_a_changed_definition_is_whole_or_undone(shop, make_project, verb, hook):
    old = shop.rows()
    edit(shop, fct_daily_sales=NEW)
    shop.start("--batch", "30", "--note", "x")
    new = expected(make_project)
    shop.survives_a_kill(verb, hook, old, new, is_edited=True)


# ---- What else may have changed.

TAXED = NEW.replace("\nFROM src", ", sum(o.amount) AS gross\nFROM src")
DAYS_TAXED = DAYS.replace("sum(orders) AS orders", "sum(orders) AS orders, sum(gross) AS gross")


def test_04_7_a_column_that_is_new_is_filled_in_the_windows(shop):
    edit(shop, fct_daily_sales=TAXED, sales_by_day=DAYS_TAXED)
    plan = shop.project.ok("backfill", "plan", *ALL, "--probe", "--json").json
    assert [model["takes_part"] for model in plan["models"]] == ["windowed", "windowed", "view", "whole"]
    shop.start("--batch", "10", "--note", "x")
    shop.project.ok("backfill", "publish", 1)
    for table, time in (("fct_daily_sales", "sales_date"), ("sales_by_day", "day")):
        query = f"SELECT {time} >= '2026-08-01' AS is_new, count(*) = count(gross) AS has, count(gross) FROM {table} GROUP BY 1, {time} >= '2026-08-01' ORDER BY 1"
        rows = shop.project.query(query)
        assert [row[:2] for row in rows] == [[False, False], [True, True]]
        assert rows[0][2] == 0
    assert shop.project.ok("plan").stdout.strip() == "No changes for prod."
    shop.project.ok("backfill", "revert", 1)
    assert shop.project.query("SELECT * FROM sales_by_day LIMIT 0") == []


def test_04_7_models_that_are_rebuilt_whole_and_views_may_have_changed_alone(shop):
    old = shop.rows()
    view = (
        "/* interlace: {materialise: view} */\nSELECT shop, sales_date, revenue * 2 AS revenue FROM fct_daily_sales\n"
    )
    edit(shop, sales_of_shops=view)
    select = ("-s", "sales_of_shops+", *RANGE)
    plan = shop.project.ok("backfill", "plan", *select, "--json").json
    assert [model["takes_part"] for model in plan["models"]] == ["view", "whole"]
    shop.project.ok("backfill", "start", *select, "--note", "x")
    assert shop.rows() == old
    shop.project.ok("backfill", "publish", 1)
    new = shop.rows()
    assert new["fct_daily_sales"] == old["fct_daily_sales"]
    assert new["top_shops"] == [(name, revenue * 2) for name, revenue in old["top_shops"]]
    assert new["sales_of_shops"] == [(name, day, revenue * 2) for name, day, revenue in old["sales_of_shops"]]
    assert shop.project.ok("plan").stdout.strip() == "No changes for prod."
    shop.project.ok("backfill", "revert", 1)
    assert shop.rows() == old
    edit(shop, sales_of_shops=view, top_shops=SHOPS.replace("sum(revenue)", "max(revenue)"))
    shop.project.ok("backfill", "start", *select, "--note", "x", "--publish", "auto")
    assert shop.rows()["top_shops"] != new["top_shops"]


def test_04_7_an_inlined_model_may_have_changed(shop):
    edit(shop, yesterday=INLINED, beside=BESIDE)
    shop.project.ok("apply")
    total = "SELECT day >= '2026-08-01', CAST(sum(revenue_before) AS BIGINT) FROM beside GROUP BY 1 ORDER BY 1"
    old = shop.project.query(total)
    edit(shop, yesterday=INLINED.replace("day_after, revenue", "day_after, revenue * 2 AS revenue"))
    shop.project.ok("backfill", "start", "-s", "yesterday+", *RANGE, "--note", "x", "--publish", "auto")
    assert shop.project.query(total) == [old[0], [True, old[1][1] * 2]]
    assert shop.project.ok("plan").stdout.strip() == "No changes for prod."
    shop.project.ok("backfill", "revert", 1)
    assert shop.project.query(total) == old
    assert [change["name"] for change in shop.project.ok("plan", "--json").json["changes"]] == ["yesterday", "beside"]


KEYED = """\
/* interlace: {strategy: %s, key: shop} */
SELECT shop, sum(revenue) AS revenue FROM fct_daily_sales GROUP BY ALL
"""


@pytest.mark.parametrize("strategy", ["merge", "hash_merge", "full_merge"])
def test_04_7_a_changed_model_that_keeps_rows_by_key_goes_on_from_them(shop, strategy):
    edit(shop, by_key=KEYED % strategy)
    shop.project.ok("apply")
    before = shop.project.query("SELECT shop, revenue FROM by_key ORDER BY 1")
    changed = KEYED % strategy
    edit(shop, by_key=changed.replace("GROUP", "WHERE shop > 1 GROUP").replace("sum(revenue)", "sum(revenue) * 2"))
    shop.project.ok("backfill", "start", "-s", "by_key", *RANGE, "--note", "x", "--publish", "auto")
    after = shop.project.query("SELECT shop, revenue FROM by_key ORDER BY 1")
    doubled = [[name, revenue * 2] for name, revenue in before[2:]]
    assert after == ([] if strategy == "full_merge" else before[:2]) + doubled
    shop.project.ok("backfill", "revert", 1)
    assert shop.project.query("SELECT shop, revenue FROM by_key ORDER BY 1") == before


def test_04_2_a_changed_definition_in_another_environment_leaves_prod_alone(shop):
    shop.project.ok("apply", "-e", "dev")
    old = shop.rows()
    edit(shop, fct_daily_sales=NEW)
    shop.project.ok("backfill", "start", *ALL, "-e", "dev", "--note", "x", "--publish", "auto")
    assert shop.rows() == old
    total = "SELECT CAST(sum(revenue) AS BIGINT) FROM fct_daily_sales"
    assert shop.project.query(total, env="dev") != shop.project.query(total)


# ---- What cannot take part.


@pytest.mark.parametrize(
    ("texts", "select", "reason", "hint"),
    [
        (
            {"fct_daily_sales": NEW.replace("sum(o.amount * (100 - 2 * o.discount))", "CAST(sum(o.amount) AS INTEGER)")},
            "fct_daily_sales+",
            "the type of a column changes: revenue",
            "`interlace apply --select fct_daily_sales` builds the table anew",
        ),
        (
            {"sales_by_day": DAYS.replace("time_column: day", "time_column: first").replace(
                "SELECT sales_date AS day", "SELECT sales_date AS day, sales_date AS first")},
            "sales_by_day",
            "time_column was day and is first",
            "`interlace apply --select sales_by_day` builds the table anew",
        ),
        (
            {"top_shops": SHOPS.replace("strategy: replace", "strategy: merge, key: shop")},
            "top_shops",
            "strategy replace kept its rows in another way than merge does",
            "`interlace apply --select top_shops` builds the table anew",
        ),
        (
            {"extra": "SELECT 1 AS one", "top_shops": SHOPS.replace("AS revenue", "AS revenue, (SELECT max(one) FROM extra) AS one")},
            "extra+",
            "it reads 'extra', whose definition has changed, too, and which cannot take part",
            "`interlace apply --select extra` makes its new definition live first",
        ),
    ],
)  # fmt: skip
def test_04_4_a_change_that_cannot_keep_the_past_is_refused_with_its_reason(shop, texts, select, reason, hint):
    edit(shop, **texts)
    refused = shop.project.run("backfill", "plan", "-s", select, *RANGE)
    assert refused.code == 1
    assert reason in refused.stderr
    assert hint in refused.stderr
    assert shop.project.ok("backfill", "list", "--json").json == []


def test_04_4_changed_models_that_a_selected_one_reads_take_part_as_well(shop):
    """Its version has theirs in it."""
    edit(shop, fct_daily_sales=NEW)
    plan = shop.project.ok("backfill", "plan", "-s", "sales_by_day", *RANGE, "--json").json
    assert [model["name"] for model in plan["models"]] == ["fct_daily_sales", "sales_by_day"]
    assert plan["left_stale"] == ["sales_of_shops", "top_shops"]
    shop.project.ok("backfill", "start", "-s", "sales_by_day", *RANGE, "--note", "x", "--publish", "auto")
    changes = shop.project.ok("plan", "--json").json["changes"]
    assert [change["name"] for change in changes] == ["sales_of_shops", "top_shops"]


def test_04_5_a_campaign_whose_models_were_promoted_meanwhile_is_not_published(shop):
    edit(shop, fct_daily_sales=NEW)
    shop.start("--note", "x")
    shop.project.ok("apply", "--force")
    shop.cannot_go_on("model 'fct_daily_sales' has another table by now")


def test_03_10_gc_leaves_the_old_version_as_long_as_it_can_be_shown_again(shop):
    old = shop.rows()
    edit(shop, fct_daily_sales=NEW)
    shop.start("--note", "x")
    shop.publish_and_revert_beside_gc()
    assert shop.rows() == old
    shop.start("--note", "x")
    shop.project.ok("backfill", "publish", 2)
    shop.project.ok("gc", "--grace", "0d")
    new = shop.rows()
    refused = shop.project.run("backfill", "revert", 2)
    assert refused.code == 1
    assert "the rows that campaign 2 replaced are not kept any more" in refused.stderr
    assert shop.rows() == new


# ---- Indexes, and functions.


def test_04_7_the_new_version_has_the_indexes_of_the_model(shop):
    indexed = ", indexes: [shop]"
    edit(shop, fct_daily_sales=SALES.format(keys=indexed))
    shop.project.ok("apply")
    edit(shop, fct_daily_sales=SALES.format(keys=indexed).replace("100 - o.discount", "100 - 2 * o.discount"))
    shop.start("--note", "x", "--publish", "auto")
    assert shop.project.ok("plan").stdout.strip() == "No changes for prod."
    with duckdb.connect(str(shop.project.root / "data/wh.duckdb"), read_only=True) as connection:
        tables = connection.execute("SELECT table_name FROM duckdb_indexes()").fetchall()
    assert len({name for (name,) in tables if name.startswith("fct_daily_sales")}) == 2  # of the old version as well


FUNCTION = """\
from interlace import model
import pyarrow.compute as pc


@model(strategy='incremental', key=['sales_date', 'shop'], time_column='sales_date', interval='1d')
def by_function(fct_daily_sales):
    rows = fct_daily_sales.table()
    return rows.set_column(rows.schema.get_field_index("orders"), "orders", pc.multiply(rows["orders"], {factor}))
"""


def test_04_7_a_changed_function_is_computed_with_its_new_text(shop):
    total = "SELECT sales_date >= '2026-08-01' AS is_new, CAST(sum(orders) AS BIGINT) FROM by_function GROUP BY 1 ORDER BY 1"
    shop.project.write({"models/by_function.py": FUNCTION.format(factor=1)})
    shop.project.ok("apply")
    old = shop.project.query(total)
    shop.project.write({"models/by_function.py": FUNCTION.format(factor=3)})
    shop.project.ok("backfill", "start", "-s", "by_function", *RANGE, "--note", "x", "--publish", "auto")
    assert shop.project.query(total) == [old[0], [True, old[1][1] * 3]]
    assert shop.project.ok("plan").stdout.strip() == "No changes for prod."
    shop.project.ok("backfill", "revert", 1)
    assert shop.project.query(total) == old
