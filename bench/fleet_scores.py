#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a score of the verdict is worth in a fleet: recorded traces stretched over six hours, judged one by one.

Leaks are whole traces. Of bounded ones there are two kinds, as in tests/fleet/make_fleet.py: `settled`, the part after
growth ended, which is what a process that has run for days shows; and `new`, the whole trace, warm-up and all. Counts,
for each kind, by the word and by the odds of a leak against everything that is bounded; and how many climb and fall
as src/fleet/drift.h has it.

usage: fleet_scores.py [--folders fit,calibrate] [--program build/release/fleet_scores] [--each]
"""
import argparse
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "fleet"))
sys.dont_write_bytecode = True
from make_fleet import Curve, read_traces  # noqa: E402

SAMPLES = 720
ODDS = [-math.inf, -1, 0, 0.5, 1, 1.5, 2, 3, math.inf]


def lines(folders):
    for trace in read_traces(folders):
        name, label, _, ended = trace
        kinds = [("leak", 0.0)] if label == "leak" else [("new", 0.0)]
        if label == "plateau" and ended <= 0.5:
            kinds.append(("settled", ended + 0.05))
        for kind, begin in kinds:
            curve = Curve(trace, begin, 1.0, 3.0)
            yield f"{kind}:{name}\t" + " ".join(f"{curve(i / (SAMPLES - 1)):.3f}" for i in range(SAMPLES))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", default="fit,calibrate")
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "fleet_scores"))
    parser.add_argument("--each", action="store_true", help="print every score too")
    args = parser.parse_args()
    text = "\n".join(lines(args.folders.split(","))) + "\n"
    said = subprocess.run([args.program], input=text, capture_output=True, text=True, check=True).stdout
    counts = {}
    for row in said.splitlines():
        name, word, against_all, _, _, drift = row.split("\t")
        if args.each:
            print(row)
        kind = name.split(":")[0]
        odds = float(against_all)
        bucket = "called a leak" if word == "leak" else next(
            f"{low:g} to {high:g}" for low, high in zip(ODDS, ODDS[1:]) if low <= odds < high)
        for key in (bucket, {"1": "climbs", "-1": "falls"}.get(drift)):
            if key:
                row_of = counts.setdefault(key, {})
                row_of[kind] = row_of.get(kind, 0) + 1
    order = ["called a leak"] + [f"{low:g} to {high:g}" for low, high in zip(ODDS, ODDS[1:])][::-1]
    print("| | leaks | settled | new |\n|---|---|---|---|")
    for bucket in order:
        row = counts.get(bucket, {})
        print(f"| {bucket} | {row.get('leak', 0)} | {row.get('settled', 0)} | {row.get('new', 0)} |")
    print("| all |" + "".join(f" {sum(counts.get(b, {}).get(kind, 0) for b in order)} |" for kind in ("leak", "settled", "new")))
    for key in ("climbs", "falls"):
        print(f"| {key} |" + "".join(f" {counts.get(key, {}).get(kind, 0)} |" for kind in ("leak", "settled", "new")))


if __name__ == "__main__":
    main()
