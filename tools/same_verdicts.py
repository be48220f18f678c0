#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the answers of two builds of plateau on every trace in corpus/.

    tools/same_verdicts.py OLD/plateau NEW/plateau [--every N] [FILE...]

A change of structure must not change an answer: word, confidence, causes and every number of
`judge --json` have to be the same for each trace, at its end and at every Nth moment of its replay
(10 by default; 0: the end only). Texts may differ, and so may keys that only one of the two builds
writes; those are named once at the end. Prints one line per difference; exit code 1 if there is any.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Sentences for a reader. Names, words and units are compared.
TEXTS = {"evidence", "headline", "words", "for", "against", "experiment", "missing", "warnings", "measure",
         "undecided_because", "confirm", "fix", "title", "advice", "site"}
VERSIONS = {"schema"}
# Two builds may add the same figures in another order.
RELATIVE = 1e-9


def judged(binary, trace, replay):
    command = [binary, "judge", "--json", str(trace)]
    if "model-garden" in str(trace):
        command += ["--examples", "663", "--batch", "8", "--limit", "32GB"]
    if replay:
        command.append("--replay")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines, done.returncode


def differences(path, old, new, only):
    """Yields 'path: old -> new' for every value that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            if key in TEXTS | VERSIONS:
                continue
            if key not in old or key not in new:
                only.add(f"{path}.{key}")
                continue
            yield from differences(f"{path}.{key}", old[key], new[key], only)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} entries -> {len(new)}"
        for one, other in zip(old, new):
            yield from differences(f"{path}[]", one, other, only)
    elif isinstance(old, (int, float)) and isinstance(new, (int, float)):
        if not math.isclose(old, new, rel_tol=RELATIVE, abs_tol=1e-9):
            yield f"{path}: {old} -> {new}"
    elif old != new:
        yield f"{path}: {old!r} -> {new!r}"


def traces():
    for path in sorted((ROOT / "corpus").rglob("*")):
        if path.is_file() and path.name.endswith((".csv.gz", ".csv", ".log")):
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    only, found, compared, looks = set(), 0, 0, 0
    for trace in arguments.files or traces():
        compared += 1
        for replay in (False, True) if arguments.every else (False,):
            (old, old_code), (new, new_code) = (judged(b, trace, replay) for b in (arguments.old, arguments.new))
            lines = []
            if old_code != new_code or len(old) != len(new):
                lines.append(f"exit code {old_code} -> {new_code}, {len(old)} objects -> {len(new)}")
            stride = arguments.every if replay else 1
            for one, other in list(zip(old, new))[::stride]:
                looks += 1
                where = f"at {one['steps']['last']}"
                lines += [f"{where} {line}" for line in differences("", one, other, only)]
            found += len(lines)
            for line in lines[:8]:
                print(f"{trace.name}: {line}")
    for key in sorted(only):
        print(f"written by one build only: {key}", file=sys.stderr)
    print(f"{compared} traces, {looks} looks, {found} differences")
    return 1 if found or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
