#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What heap tracing costs the traced program and its helpers, ours beside the others', in one run.

    bench/heap/overhead.py BENCH_DIR [--rounds 5] [--only PATTERN] [--tools PATTERN]

BENCH_DIR holds plateau, libplateau_tracer.so and the heap_* programs (build/release). Programs: a malloc
storm with 1, 2 and 4 threads, a realistic C++ program, exceptions, allocation-heavy Python, 2,000 forks. Configurations take
turns within a round, so that a slow minute of the machine hits all of them; printed are ratios of
medians against the bare program: CPU of the target, CPU of the target and all helper processes
("tree"), wall time, and the peak of resident memory beyond the bare one. Peers that change the
allocator are also set against that allocator without sampling. A tool that is not installed is left
out and named; tools that take many times the time of the program run in the first round only.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
JEMALLOC = LIBRARIES / "libjemalloc.so.2"
TCMALLOC = LIBRARIES / "libtcmalloc.so.4"
USAGE = re.compile(r"usage: cpu_s=([\d.]+) peak_kb=(\d+)")


class Tool:
    def __init__(self, name, prefix=(), environment=None, against="none", needs=(), slow=False):
        self.name = name
        self.prefix = list(prefix)
        self.environment = environment or {}
        self.against = against
        self.slow = slow  # Runs in the first round only.
        self.missing = [str(path) for path in needs if not (shutil.which(str(path)) or pathlib.Path(path).exists())]


def tools_of(bench, scratch):
    run = [str(bench / "plateau"), "run", "--quiet", "--force", "-o", str(scratch / "run.plateau")]
    ours = (bench / "plateau", bench / "libplateau_tracer.so")
    preload = {"LD_PRELOAD": str(JEMALLOC)}
    tcmalloc = {"LD_PRELOAD": str(TCMALLOC)}
    return [
        Tool("none"),
        Tool("plateau run", [*run, "--"], needs=ours),
        Tool("plateau --heap", [*run, "--heap", "--"], needs=ours),
        Tool("plateau --heap=exact", [*run, "--heap=exact", "--"], needs=ours),
        Tool("heaptrack", ["heaptrack", "-o", str(scratch / "heaptrack")], needs=("heaptrack",), slow=True),
        Tool("jemalloc", environment=preload, needs=(JEMALLOC,)),
        Tool("jemalloc sampling", environment={**preload, "MALLOC_CONF": "prof:true,lg_prof_sample:19"},
             against="jemalloc", needs=(JEMALLOC,)),
        Tool("tcmalloc", environment=tcmalloc, needs=(TCMALLOC,)),
        Tool("tcmalloc sampling", environment={**tcmalloc, "TCMALLOC_SAMPLE_PARAMETER": "524288"},
             against="tcmalloc", needs=(TCMALLOC,)),
        Tool("gperftools all", environment={**tcmalloc, "HEAPPROFILE": str(scratch / "gperf")},
             against="tcmalloc", needs=(TCMALLOC,), slow=True),
    ]


def programs_of(bench):
    here = pathlib.Path(__file__).resolve().parent
    storm = str(bench / "heap_storm")
    return {
        "storm, 1 thread": [storm, "6000000", "1"],
        "storm, 2 threads": [storm, "3000000", "2"],
        "storm, 4 threads": [storm, "1500000", "4"],
        "realistic C++": [str(bench / "heap_realistic"), "180000"],
        "throws at depth 20": [str(bench / "heap_throws"), "60000"],
        "Python objects": ["/usr/bin/python3", str(here / "objects.py"), "800"],
        "shell that forks": ["/usr/bin/python3", str(here / "forks.py"), "2000"],
    }


def measure(tool, program):
    """CPU of the target, CPU of the whole tree, wall time (s), peak of the target (kB), output."""
    before = os.times()
    begin = time.monotonic()
    done = subprocess.run([*tool.prefix, *program], env={**os.environ, **tool.environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)
    wall = time.monotonic() - begin
    after = os.times()
    tree = after.children_user + after.children_system - before.children_user - before.children_system
    said = USAGE.search(done.stderr)
    if done.returncode != 0 or not said:
        return None
    checksum = [line for line in done.stdout.splitlines() if line.isdigit()][-1]
    return float(said[1]), tree, wall, int(said[2]), checksum


def median_of(measured, field):
    return statistics.median(sample[field] for sample in measured)


def report(name, tools, measured):
    print(f"\n{name}: bare {median_of(measured['none'], 0):.2f} s CPU, {median_of(measured['none'], 3) / 1024:.0f} MiB")
    print(f"  {'':22} {'target':>7} {'tree':>7} {'wall':>7} {'+MiB':>7}   against its own allocator")
    for tool in tools:
        samples = measured.get(tool.name)
        if not samples:
            print(f"  {tool.name:22} failed")
            continue
        bare = measured["none"]
        ratios = [median_of(samples, field) / median_of(bare, field) for field in (0, 1, 2)]
        more = (median_of(samples, 3) - median_of(bare, 3)) / 1024
        own = ""
        if tool.against != "none" and measured.get(tool.against):
            own = f"{median_of(samples, 0) / median_of(measured[tool.against], 0):.2f}"
        print(f"  {tool.name:22} {ratios[0]:7.2f} {ratios[1]:7.2f} {ratios[2]:7.2f} {more:7.1f}   {own}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--tools", default=".", help="regular expression; the bare program is always run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tools = [tool for tool in tools_of(arguments.bench, pathlib.Path(scratch))
                 if tool.name == "none" or re.search(arguments.tools, tool.name)]
        for tool in tools:
            if tool.missing:
                print(f"left out: {tool.name} (not found: {', '.join(tool.missing)})")
        tools = [tool for tool in tools if not tool.missing]
        print(f"load before: {os.getloadavg()[0]:.1f}; {arguments.rounds} rounds")
        for name, program in programs_of(arguments.bench).items():
            if arguments.only not in name:
                continue
            measured = {tool.name: [] for tool in tools}
            for turn in range(arguments.rounds):
                for tool in tools:
                    sample = measure(tool, program) if turn == 0 or not tool.slow else None
                    if sample:
                        measured[tool.name].append(sample)
            if not measured["none"]:
                sys.exit(f"{name}: the bare program failed")
            if len({sample[4] for samples in measured.values() for sample in samples}) != 1:
                sys.exit(f"{name}: the output differs between configurations")
            report(name, tools, measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
