#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `plateau run --limit --on-limit checkpoint` saves a job before its limit kills it.

    bench/limit_saves.py PLATEAU [RUNS] [RATE...]

RUNS (50) runs of limit_saves_job.py with a limit of 900 MB, in turns at RATE (1 2 5 10 20 50) MB per
step and at two lengths of a step; where in a step the limit is met is left to chance. A run counts
as saved if the job wrote its checkpoint and exited by itself. One line per rate, then the sum. Exit
code 1 if a job was lost.
"""
import os
import random
import subprocess
import sys
import tempfile

LIMIT_MB = 900
STEP_SECONDS = (0.05, 0.15)
GRACE_SECONDS = 5


def one_run(plateau, rate, step_s, directory):
    """What the job held when it saved, in MB; None if it was lost. And what plateau said."""
    job = os.path.join(os.path.dirname(os.path.abspath(__file__)), "limit_saves_job.py")
    checkpoint = os.path.join(directory, "checkpoint")
    if os.path.exists(checkpoint):
        os.remove(checkpoint)
    # Far enough below the limit for a dozen steps.
    base_mb = LIMIT_MB - max(40, 12 * rate) - random.uniform(0, max(rate, 10))
    command = [plateau, "run", "-q", "--no-recording", "--limit", f"{LIMIT_MB}MB", "--on-limit",
               "checkpoint", "--grace", f"{GRACE_SECONDS}s", "--", "/usr/bin/python3", job,
               str(base_mb), str(rate), str(step_s), checkpoint]
    done = subprocess.run(command, capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if "with a limit of" in line]
    saved = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("saved with")]
    whole = os.path.exists(checkpoint) and os.path.getsize(checkpoint) == 20_000_000
    if done.returncode == 0 and saved and whole:
        return float(saved[0]), said
    return None, said + [f"exit code {done.returncode}"]


def main():
    plateau = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    rates = [float(word) for word in sys.argv[3:]] or [1, 2, 5, 10, 20, 50]
    held = {rate: [] for rate in rates}
    lost = {rate: 0 for rate in rates}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(runs):
            rate = rates[number % len(rates)]
            step_s = STEP_SECONDS[number // len(rates) % len(STEP_SECONDS)]
            mb, said = one_run(plateau, rate, step_s, directory)
            if mb is None:
                lost[rate] += 1
                print(f"lost at {rate:g} MB per step of {step_s} s: {'; '.join(said)}", flush=True)
            else:
                held[rate].append(mb)
    for rate in rates:
        among = f", holding {min(held[rate]):.0f} to {max(held[rate]):.0f} MB" if held[rate] else ""
        print(f"{rate:g} MB per step: saved {len(held[rate])} of {len(held[rate]) + lost[rate]}{among}")
    saved = sum(len(each) for each in held.values())
    print(f"saved {saved} of {runs} with a limit of {LIMIT_MB} MB")
    return 0 if saved == runs else 1


if __name__ == "__main__":
    sys.exit(main())
