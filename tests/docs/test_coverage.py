"""Every numbered line of the behaviour lists in scope has a test with its number, or a row in docs/development/coverage.md."""

import pathlib
import re

TREE = pathlib.Path(__file__).resolve().parents[2]
# chapter → section → how many lines its "must be shown by" list has
LINES = {
    "01": {1: 6, 2: 7, 3: 5, 4: 4, 5: 4, 6: 5, 7: 5, 8: 7, 9: 4, 10: 4, 11: 3, 12: 7, 13: 4, 14: 5, 15: 3},
    "02": {1: 3, 2: 6, 3: 4, 4: 6, 5: 6, 6: 5, 7: 4, 8: 7, 9: 6, 10: 7, 11: 6, 12: 8, 13: 6, 14: 5},
    "03": {1: 6, 2: 4, 3: 7, 4: 4, 5: 5, 6: 7, 7: 4, 8: 4, 9: 4, 10: 4, 11: 5, 12: 4, 13: 3, 14: 3},
    "05": {1: 5, 2: 5, 3: 4, 4: 1, 5: 5, 6: 1, 7: 7, 8: 6, 9: 1, 10: 7},
    "06": {1: 7, 2: 6, 3: 3, 4: 8, 5: 1, 6: 6},
}
# Chapter 10 has one list for all of its sections.
LINES_10 = 8
NAME = re.compile(r"\b(?:test_)?(\d\d)_(\d+)(?:_(\d+))?((?:_(?:to|and)_\d+)*)_[a-z]")


def numbers(first, more):
    """4 with "_to_6" gives 4, 5, 6; with "_and_6" 4 and 6."""
    found = [first]
    for word, number in re.findall(r"_(to|and)_(\d+)", more):
        found += range(found[-1] + 1, int(number) + 1) if word == "to" else [int(number)]
    return found


def shown_lines():
    sources = [*TREE.glob("tests/**/*.py"), *TREE.glob("tests/**/*.c"), *TREE.glob("src/**/*_test.c")]
    lines = set()
    for path in sources:
        for chapter, section, line, more in NAME.findall(path.read_text(encoding="utf-8")):
            first = int(line) if line else 1
            lines |= {(chapter, int(section), number) for number in numbers(first, more)}
            if chapter == "10":
                lines |= {("10", number, 1) for number in numbers(int(section), more)}
    return lines


def later_lines():
    text = (TREE / "docs/development/coverage.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d\d) (\d+)(?:\.(\d+))? \|", text, re.MULTILINE)
    return {(chapter, int(section), int(line or 1)) for chapter, section, line in rows}


def test_every_line_has_a_test_or_stands_as_later():
    wanted = {(c, s, n) for c, sections in LINES.items() for s, count in sections.items() for n in range(1, count + 1)}
    wanted |= {("10", number, 1) for number in range(1, LINES_10 + 1)}
    missing = wanted - shown_lines() - later_lines()
    assert not missing, "\n".join(f"{c} §{s} line {n}" for c, s, n in sorted(missing))


def test_no_row_of_the_list_is_for_a_line_that_does_not_exist():
    known = {(c, s, n) for c, sections in LINES.items() for s, count in sections.items() for n in range(1, count + 1)}
    known |= {("10", number, 1) for number in range(1, LINES_10 + 1)}
    assert later_lines() <= known
