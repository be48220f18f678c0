#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores `plateau prove` on 40 programs: prove_score.py PLATEAU PYTHON [--only chosen|unseen|small] [--jobs N]

Each row of PROGRAMS is one training job (tests/prove/job.py with arguments) whose fate is known. `chosen` ones were
looked at while constants were set, `unseen` ones were not. Prints a row per program and the score; exit code 1 if
less than 95 % are right. `undecided` counts as wrong.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
JOB = HERE.parent / "tests" / "prove" / "job.py"
sys.path.insert(0, str(JOB.parent))

CHOSEN = [
    "none", "none --workers 2", "cache", "cache --workers 2", "losses", "losses --workers 2", "call --workers 2",
    "lazy --mb 2", "outputs --mb 0.1", "both", "noise", "cycles --mb 1", "ring", "small-lru", "text",
    "cache --loop trainer", "outputs --loop trainer --accumulate 2", "cache --loop lightning",
    "none --loop trainer --workers 2", "outputs --data stream",
]
UNSEEN = [
    "lazy --workers 2 --persistent --batch 16", "lru --batch 2 --mb 1", "sizes --workers 2 --mb 2",
    "model-cache --mb 1", "log --mb 0.4", "no-gc --mb 1", "eval", "eval-keeps --mb 0.2", "lengths --mb 1 --hidden 2048",
    "small-leak --workers 2", "cache --data grouped --workers 3 --batch 4", "none --data grouped --hidden 4096",
    "both --workers 2 --batch 4", "cache --loop accelerate --accumulate 4 --mb 1", "losses --loop accelerate --workers 2",
    "none --loop lightning --workers 2", "outputs --loop lightning --accumulate 2", "lazy --loop trainer --workers 2 --mb 1",
    "cache --workers 2 --start spawn --mb 1", "none --data stream --workers 2",
]
# A few for every run of the tests: a kind each, quick to start.
SMALL = ["none", "cache --workers 2", "losses", "both", "cache --loop trainer --accumulate 2", "outputs --data stream"]


def prove(plateau, python, arguments, steps):
    with tempfile.TemporaryDirectory() as place:
        command = [plateau, "prove", "--json", "--quiet", "--steps", str(steps), "--", python, str(JOB),
                   "--out", place, "--fault"] + arguments.split()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place, check=False,
                              timeout=900)
        left = sorted(str(path.relative_to(place)) for path in pathlib.Path(place).rglob("*") if path.is_file())
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"proved": "nothing", "odds": 0, "steps": 0, "seconds": 0, "blocks": [],
                  "why": done.stderr.decode(errors="replace")[-400:]}
    answer["left"] = left
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plateau")
    parser.add_argument("python")
    parser.add_argument("--only", choices=["chosen", "unseen", "small"])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    import ast
    tree = ast.parse(JOB.read_text())
    truths = next(ast.literal_eval(node.value) for node in tree.body
                  if isinstance(node, ast.Assign) and node.targets[0].id == "FAULTS")
    programs = {"chosen": CHOSEN, "unseen": UNSEEN, "small": SMALL}.get(options.only, CHOSEN + UNSEEN)
    right = 0
    print("%-62s %-12s %-12s %6s %6s %7s" % ("program", "truth", "proved", "odds", "steps", "seconds"))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = pool.map(lambda words: prove(os.path.abspath(options.plateau), options.python, words, options.steps),
                           programs)
        for words, answer in zip(programs, answers):
            truth = truths[words.split()[0]]
            good = answer["proved"] == truth and not answer["left"]
            right += good
            rates = " ".join("%s%.3f" % (block["kind"], block["mb_per_step"]) for block in answer["blocks"])
            print("%-62s %-12s %-12s %6.0f %6d %7.1f%s" % (
                words, truth, answer["proved"], answer["odds"], answer["steps"], answer["seconds"],
                "" if good else "  WRONG %s %s %s" % (rates, answer["left"] or "", answer.get("why", ""))), flush=True)
    print("%d of %d right" % (right, len(programs)))
    return 0 if right >= 0.95 * len(programs) else 1


if __name__ == "__main__":
    sys.exit(main())
