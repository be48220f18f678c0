#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Known by the end of the first epoch: `plateau run -- python job.py`, without options, on jobs that know nothing of us.

    PLATEAU=build/release/plateau STACK=$(tools/stack.sh) tests/stack/verdicts.py [LOOP ...] [--all | --cases FAULT/WORKERS ...]

Each job runs for 1.25 epochs. The verdict that follows must have the right word and cause, the right length of the
epoch, and its source; of a cache that is not full yet, also where it ends. The losses must be those of the job alone,
bit by bit. Without --all each loop runs with one or two of the kinds of workers, chosen so that every kind meets every
fault and every loop; --all runs all of them.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LOOPS = ("plain", "trainer", "sft", "lightning", "accelerate")
WORKERS = ("0", "2", "persistent")
EPOCH_STEPS = 60
SOURCE = "the DataLoader: 240 examples / 4 per step"

# What is said then: words and causes, of which one must lead.
KEPT_PER_STEP = (("leak",), ("native-leak", "python-objects"))
KEPT_PER_EXAMPLE = (("plateau",), ("per-example-cache",))
# Each of two workers that live on meets half of the examples in the second epoch for the first time: their caches are
# not full yet, and grow half as fast. They end when each worker has met all examples.
NOT_FULL_YET = (("warming", "plateau"), ("per-example-cache",))
# Half as fast is told from as fast within 15 steps: a step must not be over before memory is looked at.
STEP_SECONDS = {"0": "0.03", "2": "0.03", "persistent": "0.06"}
FULL_MB = 126  # Two workers with 240 examples of a quarter of a MiB each.
EXPECTED = {("leak", workers): KEPT_PER_STEP for workers in WORKERS}
EXPECTED.update({("cache", "0"): KEPT_PER_EXAMPLE, ("cache", "2"): KEPT_PER_EXAMPLE,
                 ("cache", "persistent"): NOT_FULL_YET})


CASES = {
    "plain": (("leak", "0"), ("cache", "0"), ("leak", "persistent"), ("cache", "2"), ("cache", "persistent")),
    "trainer": (("leak", "2"), ("cache", "0")),
    "sft": (("leak", "0"), ("cache", "2")),
    "lightning": (("leak", "persistent"), ("cache", "2")),
    "accelerate": (("leak", "2"), ("cache", "0")),
}


def job(stack, loop, fault, workers, directory):
    return [stack, os.path.join(HERE, "job.py"), "--loop", loop, "--fault", fault, "--workers", workers,
            "--epochs", "1.25", "--step-seconds", STEP_SECONDS[workers], "--directory", directory, "--losses"]


def losses_of(output):
    return [line for line in output.splitlines() if line.startswith(("0x", "-0x"))]


def watched(plateau, command, directory):
    recording = os.path.join(directory, "job.plateau")
    done = subprocess.run([plateau, "run", "--json", "-o", recording, "--"] + command, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, cwd=directory)
    answers = [line for line in done.stderr.splitlines() if line.startswith('{"')]
    if done.returncode != 0 or not answers:
        raise SystemExit("the job failed:\n" + done.stderr[-3000:])
    return json.loads(answers[-1]), losses_of(done.stdout)


def complaints(answer, fault, workers):
    words, causes = EXPECTED[fault, workers]
    first = answer["causes"][0]["name"] if answer["causes"] else "none"
    found = []
    if answer["verdict"] not in words:
        found.append("%s instead of %s" % (answer["verdict"], " or ".join(words)))
    if causes and first not in causes:
        found.append("because of %s instead of %s" % (first, " or ".join(causes)))
    forecast = answer["forecast"]
    if EXPECTED[fault, workers] is NOT_FULL_YET and answer["verdict"] == "warming":
        rise = forecast["plateau_mb"] - answer["first_mb"] if forecast else 0
        if not 0.8 * FULL_MB < rise < 1.2 * FULL_MB:
            found.append("which ends %.0f MB above its beginning instead of %d" % (rise, FULL_MB))
    if answer["epoch_steps"] != EPOCH_STEPS:
        found.append("an epoch of %s steps instead of %d" % (answer["epoch_steps"], EPOCH_STEPS))
    if causes and SOURCE not in json.dumps(answer):
        found.append("without the epoch's source")
    return found


def run_loop(loop, cases, plateau, stack):
    failed = 0
    alone = {}
    for fault, workers in cases:
        with tempfile.TemporaryDirectory() as directory:
            command = job(stack, loop, fault, workers, directory)
            answer, losses = watched(plateau, command, directory)
            # The fault is not in the losses; workers that live on draw other seeds than those that do not.
            kind = workers == "persistent"
            if kind not in alone:
                bare = subprocess.run(command + ["--step-seconds", "0"], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, check=True, cwd=directory)
                alone[kind] = losses_of(bare.stdout)
        found = complaints(answer, fault, workers)
        if losses != alone[kind] or not losses:
            found.append("other losses than the job alone")
        said = "; ".join(found) if found else "ok"
        print("%-10s %-5s workers %-10s %-9s %-18s %s" % (
            loop, fault, workers, answer["verdict"], answer["causes"][0]["name"] if answer["causes"] else "-",
            said), flush=True)
        failed += bool(found)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loops", nargs="*", default=[])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cases", nargs="*", help="such as leak/0 cache/2, instead of those")
    options = parser.parse_args()
    stack = os.environ.get("STACK", "")
    if not os.access(stack, os.X_OK):
        print("the users' packages are not installed: tools/setup.sh stack")
        return 77
    failed = 0
    for loop in options.loops or LOOPS:
        cases = [(f, w) for f in ("leak", "cache") for w in WORKERS] if options.all else CASES[loop]
        if options.cases:
            cases = [tuple(case.split("/")) for case in options.cases]
        failed += run_loop(loop, cases, os.environ["PLATEAU"], stack)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
