# SPDX-License-Identifier: Apache-2.0
"""check_answer.py ROW ANSWER AGAIN: holds the JSON of a run, and of its recording, to a row.

Every mismatch is told; the exit code is 1 if there is one.
"""

import json
import sys


def has(process, wanted):
    """`wanted` is "role=part of the name"."""
    role, name = wanted.split("=")
    return bool(process) and process["role"] == role and name in (process["name"] or "")


def mismatches(row, answer, again):
    _, _, verdicts, process, tree, causes, _ = row.split("\t")
    if answer["verdict"] not in verdicts.split("|"):
        yield f"verdict {answer['verdict']} instead of {verdicts}"
    if again["verdict"] != answer["verdict"]:
        yield f"run says {answer['verdict']}, judge on its recording {again['verdict']}"
    if process != "-" and not has(answer["process"], process):
        yield f"process {answer['process']} instead of {process}"
    if tree != "-":
        for wanted in tree.split(", "):
            if not any(has(one, wanted) for one in answer["processes"]):
                yield f"no {wanted} among the processes {answer['processes']}"
    if causes != "-":
        ranked = [cause["name"] for cause in answer["causes"]]
        if not set(ranked[:2]) & set(causes.split("|")):
            yield f"{causes} is not among the first two of {ranked}"


def main():
    row, answer_path, again_path = sys.argv[1:]
    with open(answer_path, encoding="utf-8") as file:
        answer = json.load(file)
    with open(again_path, encoding="utf-8") as file:
        again = json.load(file)
    found = list(mismatches(row, answer, again))
    for line in found:
        print(f"FAILED: {line}", file=sys.stderr)
    if found:
        print(json.dumps(answer, indent=1), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
