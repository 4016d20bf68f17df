#!/usr/bin/env python3
"""Makes a project of N SQL models in layers, for measuring loading and planning.

    make_project.py N DIR [--headers SHARE] [--seed SEED]

Sources (one in twenty) hold rows of their own; the others read one to three models of earlier layers through CTEs and
joins. SHARE of them (0.25) have a header block, and half of those checks. The same arguments give the same files.
"""

import argparse
import pathlib
import random

LAYERS = ("staging", "core", "marts", "reports")
SOURCE_SHARE = 0.05


def source_query(number):
    rows = ", ".join(f"({i}, {(i * 7 + number) % 100}, {i % 5})" for i in range(10))
    return f"SELECT id, amount, kind FROM (VALUES {rows}) t(id, amount, kind)\n"


def reading_query(upstreams):
    first, others = upstreams[0], upstreams[1:]
    ctes = [f"picked AS (\n    SELECT id, amount, kind\n    FROM {first}\n    WHERE amount >= 0 -- all of them\n)"]
    joins = []
    for index, upstream in enumerate(others):
        ctes.append(
            f"other_{index} AS (\n    SELECT id, max(amount) AS amount\n    FROM {upstream}\n    GROUP BY id\n)"
        )
        joins.append(f"LEFT JOIN other_{index} USING (id)")
    total = " + ".join(["picked.amount"] + [f"coalesce(other_{index}.amount, 0)" for index in range(len(others))])
    total = f"({total}) % 1000"  # or it would outgrow its type along the layers
    return (
        f"WITH {', '.join(ctes)}\nSELECT\n    id,\n    {total} AS amount,\n    CASE WHEN kind > 2 THEN kind ELSE 0 END AS kind\n"
        f"FROM picked\n{chr(10).join(joins)}\n"
    )


def header(rng, number):
    lines = ["/* interlace:", f"  owner: team_{number % 7}", f"  tags: [layer, group_{number % 11}]"]
    if rng.random() < 0.2:
        lines.append("  materialise: view")
    if rng.random() < 0.5:
        lines += [
            "  checks:",
            "    - not_null: id",
            "    - range: {column: amount, min: 0}",
            '    - expression: {expression: "kind >= 0", severity: warn}',
        ]
    return "\n".join(lines) + "\n*/\n"


def write_model(folder, name, text):
    path = folder / "models" / (name.replace(".", "/") + ".sql")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_project(count, folder, headers, seed):
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "interlace.yaml").write_text("name: bench\ndatabase: bench.duckdb\ntimezone: UTC\n")
    names = []
    for number in range(count):
        layer = LAYERS[min(number * len(LAYERS) // max(count, 1), len(LAYERS) - 1)]
        name = f"{layer}.model_{number:05}"
        is_source = number == 0 or rng.random() < SOURCE_SHARE
        recent = names[-200:]
        upstreams = [] if is_source else rng.sample(recent, min(rng.randint(1, 3), len(recent)))
        text = source_query(number) if is_source else reading_query(upstreams)
        write_model(folder, name, (header(rng, number) if rng.random() < headers else "") + text)
        names.append(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", metavar="N", type=int)
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--headers", metavar="SHARE", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    make_project(arguments.count, arguments.folder, arguments.headers, arguments.seed)


if __name__ == "__main__":
    main()
