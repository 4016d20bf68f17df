#!/usr/bin/env python3
"""Adds up the reports of several test runners. Arguments, four for each run: NAME KIND REPORT EXIT-CODE.

KIND is build (no report), meson (its testlog.json) or pytest (JUnit XML). A run that failed without a failed test in its
report counts as one failure. The last line is `N passed, N failed`; fails when a test failed or none ran.
"""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

TAP_LINE = re.compile(r"^(not ok|ok)\b[^#]*(#\s*skip)?", re.IGNORECASE)
GOOD_RESULTS = {"OK", "EXPECTEDFAIL", "SKIP"}


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)


def count_tap(name, result, text, count):
    """One test program: its TAP lines, or the program itself where it has none."""
    failed_before = count.failed
    lines = [match for match in map(TAP_LINE.match, text.splitlines()) if match]
    for line in lines:
        if line[2]:
            count.skipped += 1
        elif line[1].lower() == "ok":
            count.passed += 1
        else:
            count.failed += 1
    if result not in GOOD_RESULTS and count.failed == failed_before:
        count.failed += 1
    elif not lines and result == "SKIP":
        count.skipped += 1
    elif not lines and result in GOOD_RESULTS:
        count.passed += 1
    if count.failed > failed_before:
        count.failures.append(f"{name} ({result.lower()})")


def count_meson(path):
    count = Count()
    with open(path, encoding="utf-8") as report:
        for line in report:
            test = json.loads(line)
            count_tap(test["name"], test["result"], test.get("stdout", ""), count)
    return count


def count_pytest(path):
    count = Count()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            count.failed += 1
            count.failures.append(f"{case.get('classname')}::{case.get('name')}")
        elif "skipped" in outcomes:
            count.skipped += 1
        else:
            count.passed += 1
    return count


READERS = {"meson": count_meson, "pytest": count_pytest}


def count_run(name, kind, path, exit_code):
    count = Count()
    try:
        if kind in READERS:
            count = READERS[kind](path)
    except FileNotFoundError:
        pass  # the runner had no tests, or died: the exit code tells
    except (ElementTree.ParseError, ValueError) as error:
        print(f"cannot read {path}: {error}")
        exit_code = exit_code or 1
    if exit_code != 0 and count.failed == 0:
        count.failed += 1
        count.failures.append(f"{name}: exit {exit_code}")
    return count


def main():
    arguments = sys.argv[1:]
    runs = [arguments[i : i + 4] for i in range(0, len(arguments), 4)]
    counts = [(name, count_run(name, kind, path, int(code))) for name, kind, path, code in runs]

    print(f"\n{'':<24}{'passed':>8}{'failed':>8}{'skipped':>9}")
    for name, count in counts:
        print(f"{name:<24}{count.passed:>8}{count.failed:>8}{count.skipped:>9}")
    for name, count in counts:
        for failure in count.failures:
            print(f"FAILED  {name}: {failure}")

    passed = sum(count.passed for _, count in counts)
    failed = sum(count.failed for _, count in counts)
    skipped = sum(count.skipped for _, count in counts)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
