#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trainer beside transformers with peft: CPU time of a step and peak memory, in one run.

    bench/trainer/compare.py BUILD_DIR [--rounds 1] [--steps 5] [--threads 2] [--size hidden=512 tokens=640 ...]

The Python is that with the users' packages (tools/setup.sh stack); the trainer is built with its torch. A model and one
batch with a picture are made (make_case.py); trainer_steps and beside_peft.py then take turns on it: same threads, rank,
layers with adapters, optimizer and batch, in fp32 and bf16, with and without gradient checkpointing; Python also with
blocks mapped from 128 kB on (MALLOC_MMAP_THRESHOLD_), as the trainer maps its own. The first losses must agree. Medians of
the steps after the first; what each program does before its first step stands in a column of its own. Prints the table
of docs/trainer.md.
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
FIELDS = ("step_cpu_seconds", "peak_mb", "start_cpu_seconds", "tokens_per_second", "first_loss")
# fp32: other orders of adding up. bf16: a number has 8 bits, and one rounding of a loss of 10 is 0.03.
MAY_DIFFER = {"fp32": 1e-4, "bf16": 1e-2}


def run(command, threads, **more):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), **more}
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, check=True, timeout=1800)
    return json.loads(done.stdout.splitlines()[-1])


def table_of(python, arguments, scratch):
    """Rows of name, kind and a function that measures once."""
    case = scratch + "/case.safetensors"
    steps, threads = str(arguments.steps), arguments.threads
    ours = [str(arguments.build / "trainer_steps"), scratch, case, steps, str(threads), "16"]
    theirs = [python, str(HERE / "beside_peft.py"), scratch, case, "--steps", steps, "--threads", str(threads)]
    rows = []
    for kind in ("fp32", "bf16"):
        for checkpoints in (False, True):
            suffix = kind + (", checkpointing" if checkpoints else "")
            command = [*theirs, *["--bf16"] * (kind == "bf16"), *["--checkpoint"] * checkpoints]
            rows.append((f"Python, {suffix}", suffix, command, {}))
            rows.append((f"Python, {suffix}, mapped", suffix, command, {"MALLOC_MMAP_THRESHOLD_": "131072"}))
            rows.append((f"trainer, {suffix}", suffix, [*ours, kind, "checkpoint" if checkpoints else "whole", kind], {}))
    return rows


def compare(rows, got):
    for suffix in dict.fromkeys(row[1] for row in rows):
        of = {name: got[name] for name, own, _, _ in rows if own == suffix}
        mine = of.pop(f"trainer, {suffix}")
        time, peak = (mine[field] / min(other[field] for other in of.values()) for field in ("step_cpu_seconds", "peak_mb"))
        print(f"trainer / the better Python, {suffix}: CPU time {time:.2f}, peak {peak:.2f}")
        first = [one["first_loss"] for one in (mine, *of.values())]
        if max(first) - min(first) > MAY_DIFFER[suffix.split(",")[0]] * max(first):
            sys.exit(f"first losses differ: {first}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--size", nargs="*", default=[], help="options for make_case.py: hidden=512 tokens=640 ...")
    a = parser.parse_args()
    python = subprocess.run([HERE.parents[1] / "tools/stack.sh"], text=True, stdout=subprocess.PIPE, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as scratch:
        sizes = [word for pair in a.size for word in ("--" + pair.split("=")[0], pair.split("=")[1])]
        subprocess.run([python, str(HERE / "make_case.py"), scratch, *sizes], check=True)
        rows = table_of(python, a, scratch)
        print(f"load before: {os.getloadavg()[0]:.1f}; {a.rounds} rounds of {a.steps} steps, {a.threads} threads", flush=True)
        samples = {name: [] for name, *_ in rows}
        for _ in range(a.rounds):
            for name, _, command, more in rows:
                samples[name].append(run(command, a.threads, **more))
                print(name, json.dumps(samples[name][-1]), file=sys.stderr, flush=True)
        got = {name: {field: statistics.median(one[field] for one in all) for field in FIELDS} for name, all in samples.items()}
        print("| | CPU seconds a step | peak MB | CPU seconds before step 1 | tokens/s | first loss |\n|---|---|---|---|---|---|")
        for name, one in got.items():
            print(f"| {name} | {one['step_cpu_seconds']:.2f} | {one['peak_mb']:.0f} | {one['start_cpu_seconds']:.1f} |"
                  f" {one['tokens_per_second']:.0f} | {one['first_loss']:.4f} |")
        compare(rows, got)
    return 0


if __name__ == "__main__":
    sys.exit(main())
