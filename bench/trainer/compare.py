#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trainer beside the same training in Python: tokens a second and peak memory, in one run.

    bench/trainer/compare.py BUILD_DIR [--rounds 3] [--steps 8] [--threads 2]

The Python is the one whose torch the trainer is built with (tools/stack.sh --torch). A model of
middle size and one batch are made (make_case.py); trainer_steps and peer.py then take turns, with the same threads, rank, optimizer and batch, with and without
gradient checkpointing. The first losses must agree: both compute the same. Printed are medians and
ratios; bf16 and NF4 storage, which the Python side does not have, stand below.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = subprocess.run([HERE.parents[1] / "tools/stack.sh", "--torch"], text=True, stdout=subprocess.PIPE,
                        check=True).stdout.strip().split("\t")[2]


def run(command, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, check=True, timeout=1800)
    return json.loads(done.stdout.splitlines()[-1])


def median(samples, field):
    return statistics.median(sample[field] for sample in samples)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--size", nargs="*", default=[], help="options for make_case.py: hidden=512 tokens=640 ...")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        sizes = [word for pair in a.size for word in ("--" + pair.split("=")[0], pair.split("=")[1])]
        subprocess.run([PYTHON, str(HERE / "make_case.py"), scratch, *sizes], check=True)
        case = scratch + "/case.safetensors"
        ours = [str(a.build / "trainer_steps"), scratch, case, str(a.steps), str(a.threads), "16"]
        theirs = [PYTHON, str(HERE / "peer.py"), scratch, case, "--steps", str(a.steps), "--threads", str(a.threads)]
        configurations = {
            "Python": theirs, "ours": [*ours, "fp32"],
            "Python, checkpointing": [*theirs, "--checkpoint"], "ours, checkpointing": [*ours, "fp32", "checkpoint"],
            "ours, bf16, checkpointing": [*ours, "bf16", "checkpoint"],
            "ours, NF4, checkpointing": [*ours, "nf4", "checkpoint"],
        }
        print(f"load before: {os.getloadavg()[0]:.1f}; {a.rounds} rounds of {a.steps} steps, {a.threads} threads")
        got = {name: [] for name in configurations}
        for _ in range(a.rounds):
            for name, command in configurations.items():
                got[name].append(run(command, a.threads))
        print(f"{'':28}{'tokens/s':>10}{'peak MB':>10}{'first loss':>12}")
        for name, samples in got.items():
            print(f"{name:28}{median(samples, 'tokens_per_second'):10.1f}{median(samples, 'peak_mb'):10.0f}"
                  f"{median(samples, 'first_loss'):12.5f}")
        for suffix in ("", ", checkpointing"):
            mine, peer = got["ours" + suffix], got["Python" + suffix]
            print(f"ours / Python{suffix}: speed {median(mine, 'tokens_per_second') / median(peer, 'tokens_per_second'):.2f},"
                  f" peak {median(mine, 'peak_mb') / median(peer, 'peak_mb'):.2f}")
            first = [sample["first_loss"] for sample in mine + peer]
            if max(first) - min(first) > 1e-4 * max(first):
                sys.exit(f"first losses differ: {first}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
