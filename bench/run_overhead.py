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


def children_cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def job_times(prefix):
    """One run: the job's CPU and wall-clock seconds by its own account, the CPU that all processes
    took besides, and the seconds of the whole."""
    before_s, began_s = children_cpu_s(), time.monotonic()
    done = subprocess.run(prefix + [JOB, "1200"], capture_output=True, text=True, check=True)
    cpu_s, wall_s = (float(word) for word in done.stdout.split())
    return cpu_s, wall_s, children_cpu_s() - before_s - cpu_s, time.monotonic() - began_s


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
    bare, watched = [], []
    for _ in range(ROUNDS):
        bare.append(job_times([]))
        watched.append(job_times(watch))
    # The kernel's work after the job has read its clock (taking 1.2 GB back) is in both.
    besides_s = (statistics.median(run[2] for run in watched) -
                 statistics.median(run[2] for run in bare))
    print("== one CPU-bound job with 1.2 GB, %d runs each, in turns" % ROUNDS)
    report("CPU", [run[0] for run in bare], [run[0] for run in watched])
    report("wall", [run[1] for run in bare], [run[1] for run in watched])
    print("watcher    %.0f ms CPU, %.2f %% of one core over these %.1f s: start, end and verdict "
          "included" % (1000 * besides_s,
                        100 * besides_s / statistics.median(run[3] for run in watched),
                        statistics.median(run[3] for run in watched)))


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
