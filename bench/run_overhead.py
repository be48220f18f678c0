# SPDX-License-Identifier: Apache-2.0
"""The measuring half of run_overhead.sh; see there."""
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import time

PLATEAU, JOB, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])


def job_times(prefix):
    """One run: the job's CPU and wall-clock seconds, by its own account, and the watcher's line."""
    done = subprocess.run(prefix + [JOB, "1200"], capture_output=True, text=True, check=True)
    cpu_s, wall_s = (float(word) for word in done.stdout.split())
    return cpu_s, wall_s, done.stderr


def watcher_cpu_s(before, after, job_cpu_s):
    """All CPU of the finished children, less the job's: plateau, its relays, start and end."""
    used = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return used - job_cpu_s


def interval(bare, watched, rounds=5000):
    """90 % bootstrap interval of the ratio of medians."""
    source = random.Random(1)
    ratios = sorted(statistics.median(source.choices(watched, k=len(watched))) /
                    statistics.median(source.choices(bare, k=len(bare))) for _ in range(rounds))
    return ratios[rounds // 20], ratios[-rounds // 20]


def report(name, bare, watched):
    low, high = interval(bare, watched)
    ratio = statistics.median(watched) / statistics.median(bare)
    print("%-10s bare %.3f s, watched %.3f s: ratio %.4f (90 %%: %.4f to %.4f)" % (
        name, statistics.median(bare), statistics.median(watched), ratio, low, high))


def one_job():
    watch = [PLATEAU, "run", "--no-recording", "-q", "--"]
    bare, watched, shares, starts = [], [], [], []
    for _ in range(ROUNDS):
        bare.append(job_times([]))
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        watched.append(job_times(watch))
        elapsed = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        shares.append(watcher_cpu_s(before, after, watched[-1][0]) / elapsed)
        starts.append(elapsed - watched[-1][1])
    print("== one CPU-bound job with 1.2 GB, %d runs each, in turns" % ROUNDS)
    report("CPU", [run[0] for run in bare], [run[0] for run in watched])
    report("wall", [run[1] for run in bare], [run[1] for run in watched])
    print("watcher    %.2f %% of one core (median; start, end and verdict of a short run included)"
          % (100 * statistics.median(shares)))


def tree():
    available_kb = int(re.search(r"MemAvailable:\s+(\d+)", open("/proc/meminfo").read()).group(1))
    total_mb = min(8000, int(available_kb / 1024 * 0.7))
    each = total_mb // 21
    print("== 21 processes, %d MB in all, 60 s" % (each * 21))
    done = subprocess.run([PLATEAU, "run", "--no-recording", "--", JOB, str(each), "20", "60"],
                          capture_output=True, text=True, check=True)
    for line in done.stderr.splitlines():
        if "of one core" in line:
            print(line)


if __name__ == "__main__":
    print("load of the machine before: %.2f on %d cores" % (os.getloadavg()[0], os.cpu_count()))
    one_job()
    tree()
