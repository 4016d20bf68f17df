#!/usr/bin/env python3
"""Checks that a folder of src/ includes only itself and the folders above it (the order is the list in
src/meson.build), that the headers of a library are included in its own folder only, and that no file is too long."""

import pathlib
import re
import sys

FILE_LINES_MAX = 900
ONLY_IN = {
    "duckdb.h": "duck",
    "sqlite3.h": "state",
    "yaml.h": "config",
    "jansson.h": "config",
    "microhttpd.h": "serve",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)


def folder_order(source):
    text = (source / "meson.build").read_text(encoding="utf-8")
    return re.findall(r"'(\w+)'", re.search(r"^folders = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)[1])


def faults_of(path, source, order):
    text = path.read_text(encoding="utf-8")
    place = path.relative_to(source.parent)
    folder = path.relative_to(source).parts[0]
    line_count = text.count("\n")
    if line_count > FILE_LINES_MAX:
        yield f"{place}: {line_count} lines, more than {FILE_LINES_MAX}"
    if folder not in order:
        if path.parent != source:
            yield f"{place}: folder '{folder}' is not in the list of src/meson.build"
        return  # main.c may use all
    for match in INCLUDE.finditer(text):
        included = match[1]
        line = text.count("\n", 0, match.start()) + 1
        owner = included.split("/")[0]
        if "/" in included and owner in order and order.index(owner) > order.index(folder):
            yield f"{place}:{line}: '{folder}' must not include '{included}': '{owner}' is below it"
        if ONLY_IN.get(included, folder) != folder:
            yield f"{place}:{line}: only '{ONLY_IN[included]}' includes {included}"


def main():
    source = pathlib.Path(__file__).resolve().parent.parent / "src"
    order = folder_order(source)
    faults = [fault for path in sorted(source.rglob("*.[ch]")) for fault in faults_of(path, source, order)]
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
