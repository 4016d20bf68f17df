"""examples/materialisations: a copy of it, applied, applied to dev, and run; its figures are computed here."""

import collections
import csv
import decimal
import pathlib
import shutil

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "materialisations"
CRM = "data/crm.duckdb"


@pytest.fixture
def example(project_class, tmp_path):
    left_out = shutil.ignore_patterns(".interlace", "data", ".tmp")
    shutil.copytree(EXAMPLE, tmp_path / "shop", ignore=left_out)
    return project_class(tmp_path / "shop")


@pytest.fixture
def orders():
    with (EXAMPLE / "seeds" / "orders.csv").open(encoding="utf-8", newline="") as file:
        return [{**row, "amount": decimal.Decimal(row["amount"])} for row in csv.DictReader(file)]


def sums(orders, key):
    found = collections.defaultdict(decimal.Decimal)
    for order in orders:
        found[order[key]] += order["amount"]
    return found


def money(value):
    return decimal.Decimal(str(value)).quantize(decimal.Decimal("0.01"))


def test_dev_delivers_nothing_and_prod_delivers_everything(example, orders):
    terminals = ["out.by_day", "out.customers", "out.log", "out.parts"]
    assert sorted(example.json("apply", "-e", "dev")["gated"]) == terminals
    assert not example.exists("out")
    assert not example.exists(CRM)

    assert example.json("apply")["gated"] == []
    customers = example.sql("SELECT customer, customer_name, amount FROM customers", CRM)
    assert {row[0]: money(row[2]) for row in customers} == sums(orders, "customer")
    assert all(row[1] == row[0].upper() for row in customers)
    log = example.sql("SELECT order_id, amount FROM delivery.order_log ORDER BY order_id", CRM)
    assert [(row[0], money(row[1])) for row in log] == [(int(order["order_id"]), order["amount"]) for order in orders]

    days = list(csv.DictReader(example.read("out/by_day.csv").splitlines()))
    assert {day["ordered_on"]: money(day["amount"]) for day in days} == sums(orders, "ordered_on")
    assert sum(int(day["orders"]) for day in days) == len(orders)
    parts = {path.split("/")[2] for path in example.files() if path.startswith("out/parts/")}
    assert parts == {f"ordered_on={order['ordered_on']}" for order in orders}
    recent = [order for order in orders if order["ordered_on"] >= "2026-06-02"]
    assert example.query("SELECT count(*) FROM shop.recent") == [[len(recent)]]


def test_a_second_run_appends_again_and_merges_into_what_is_there(example, orders):
    example.ok("apply")
    assert sorted(example.json("apply", "-e", "dev")["gated"])[0] == "out.by_day"
    by_day = example.read("out/by_day.csv")
    rows = example.json("run")["rows"]
    assert rows["out.log"] == {"inserted": len(orders), "updated": 0, "deleted": 0}
    assert rows["out.customers"] == {"inserted": 0, "updated": len(sums(orders, "customer")), "deleted": 0}
    assert example.sql("SELECT count(*) FROM delivery.order_log", CRM) == [(2 * len(orders),)]
    assert example.read("out/by_day.csv") == by_day
    assert not [name for name in example.files() if name.endswith(".tmp")]
