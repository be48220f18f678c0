#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The end of `make test`: tools/test_report.py STAGES.tsv ALLOWED_SKIPS SECONDS

Prints each stage's time beside its budget, every skipped test by its name, and "N passed, N failed,
N skipped" alone on the last line. Where CI=true, a skip that no line of ALLOWED_SKIPS expects is a
failure: a machine that lacks something must not look like one on which everything passed. The exit
code is 1 if anything failed.
"""

import fnmatch
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

BUDGET_COLD, BUDGET_WARM = 35 * 60, 25 * 60
REASON = re.compile(r"Skipped\n(.+)|SKIPPED: (.+)|skipped: (.+)|^(.*skipped, .+)$", re.MULTILINE)


def tests_of(junit):
    """(name, "run" | "fail" | "skip", why) of each test that ctest names."""
    for case in xml.parse(junit).getroot().iter("testcase"):
        said = case.findtext("system-out") or ""
        if case.get("status") == "disabled":
            continue  # A part of another test, which runs it.
        if case.find("failure") is not None or case.get("status") == "fail":
            yield case.get("name"), "fail", ""
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            found = REASON.search(said)
            why = next((part for part in found.groups() if part), "") if found else ""
            yield case.get("name"), "skip", why.strip()
        else:
            yield case.get("name"), "run", ""


def allowed_patterns(path):
    """Lines "PATTERN  REASON"; the reason is for people."""
    lines = [line.split(None, 1) for line in path.read_text().splitlines()
             if line.strip() and not line.startswith("#")]
    unexplained = [line[0] for line in lines if len(line) < 2]
    if unexplained:
        sys.exit(f"{path}: no reason is given for {', '.join(unexplained)}")
    return [line[0] for line in lines]


def main():
    stages, allowed, seconds = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    patterns = allowed_patterns(allowed)
    passed, failed, skipped = 0, [], {}
    print(f"\n{'stage':<16} {'seconds':>8} {'budget':>8} {'passed':>8} {'failed':>8} {'skipped':>8}")
    for line in stages.read_text().splitlines():
        name, took, budget, result, junit = line.split("\t")
        tests = list(tests_of(junit)) if junit != "-" else [(name, "run" if result == "ok" else "fail", "")]
        ran = sum(state == "run" for _, state, _ in tests)
        bad = [test for test, state, _ in tests if state == "fail"]
        # A stage may fail before it could say what failed in it.
        if result != "ok" and not bad:
            bad = [name]
        left_out = {f"{name}: {test}": (test, why) for test, state, why in tests if state == "skip"}
        over = "  over its budget" if int(took) > int(budget) else ""
        print(f"{name:<16} {took:>8} {budget:>8} {ran:8d} {len(bad):8d} {len(left_out):8d}{over}")
        passed += ran
        failed += bad
        skipped |= left_out
    print(f"{'in all':<16} {seconds:8d} {BUDGET_COLD:8d}  ({BUDGET_WARM} with a warm compiler cache)")

    unexpected = []
    if skipped:
        print("\nskipped:")
    for label, (test, why) in skipped.items():
        expected = any(fnmatch.fnmatchcase(test, pattern) for pattern in patterns)
        if not expected:
            unexpected.append(test)
        print(f"  {label}{': ' + why if why else ''}{'' if expected else f'  (not in {allowed})'}")
    if os.environ.get("CI") == "true":
        skipped = {label: entry for label, entry in skipped.items() if entry[0] not in unexpected}
        failed += unexpected
    if failed:
        print("\nfailed:\n  " + "\n  ".join(failed))
    print(f"\n{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
