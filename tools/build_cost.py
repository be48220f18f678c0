#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a build costs: tools/build_cost.py [BUILD_DIR] [--check]

Adds up, by room, the CPU seconds that each command of the build took when it last ran, and names the
ten dearest. Read from cpu_seconds.log, which every command writes (cmake/PlateauCost.cmake), for what
ninja's log says was built; a command that wrote nothing counts with its wall time there. Seconds are
those of the last build: from nothing after `make clean`, with CCACHE_DISABLE=1. A command with several
outputs (a test is linked, then asked for its list) counts once, with its wall time. --check exits with 1
if a budget is exceeded.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

# CPU seconds from nothing, release.
BUDGETS = {"core, without tests": 5 * 60, "everything, with all tests": 15 * 60}
TARGET = re.compile(r"CMakeFiles/([^/]+)\.dir/")


def wall_seconds(build):
    """By output, with a name for the command, from ninja's log; a later line replaces an earlier one."""
    found = {}
    for line in (build / ".ninja_log").read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, output, command = line.split("\t")
            found[output] = ((int(end) - int(begin)) / 1000, command)
    return found


def cpu_seconds(build):
    """By output. One command may be several processes (archiver and ranlib), each with its line."""
    found = {}
    before = None
    for line in (build / "cpu_seconds.log").read_text().splitlines():
        seconds, output = line.split("\t")
        spent = sum(float(part) for part in seconds.split())
        output = output.removeprefix(f"{build.resolve()}/")
        found[output] = spent + (found[output] if output == before else 0)
        before = output
    return found


def costs_of(walls, measured):
    """By output, each command once."""
    outputs = collections.defaultdict(list)
    for output, (_, command) in walls.items():
        outputs[command].append(output)
    return {made[0] if len(made) == 1 else min(made, key=len):
            measured.get(made[0], walls[made[0]][0]) if len(made) == 1 else walls[made[0]][0]
            for made in outputs.values()}


def room_of(output):
    match = TARGET.search(output)
    return match.group(1) if match else "linking"


def outputs_of(build, target):
    """Everything that ninja makes for a target."""
    graph = subprocess.run(["ninja", "-C", str(build), "-t", "inputs", target],
                           capture_output=True, text=True, check=False).stdout
    return set(graph.split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build/release", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if not (asked.build / ".ninja_log").exists():
        sys.exit(f"{asked.build}: nothing was built there")

    walls, measured = wall_seconds(asked.build), cpu_seconds(asked.build)
    costs = costs_of({output: wall for output, wall in walls.items()
                      if (asked.build / output).exists() and not output.endswith(".txt")}, measured)
    core = outputs_of(asked.build, "core") | {"plateau", "libplateau_tracer.so"}
    rooms = collections.Counter()
    for output, seconds in costs.items():
        rooms[room_of(output)] += seconds

    print(f"{'CPU s':>8}  room")
    for room, seconds in rooms.most_common():
        print(f"{seconds:8.1f}  {room}")
    print(f"\n{'CPU s':>8}  dearest")
    for output, seconds in sorted(costs.items(), key=lambda cost: -cost[1])[:10]:
        print(f"{seconds:8.1f}  {output}")

    spent = {"core, without tests": sum(cost for output, cost in costs.items() if output in core),
             "everything, with all tests": sum(costs.values())}
    print(f"\n{'CPU s':>8}  {'budget':>8}")
    for name, budget in BUDGETS.items():
        print(f"{spent[name]:8.1f}  {budget:8d}  {name}{'' if spent[name] <= budget else ': OVER'}")
    over = [name for name, budget in BUDGETS.items() if spent[name] > budget]
    return 1 if asked.check and over else 0


if __name__ == "__main__":
    sys.exit(main())
