#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources named on standard input: tools/tidy.py [CLANG-TIDY-OPTIONS]

Most of what it does with a small source is parsing the same headers again. So the sources of one
directory are included by a few combined files under build/tidy, and the headers are parsed once for each
of those, with the same findings, told at the same lines. The program is the one of tools/stack.sh, which
does not match its checks against the standard library: on src/probe that is 5 CPU seconds, and 21 with
Debian's clang-tidy 19, which does.

Two sources that give one file-local name to two things cannot stand in one file: tools/clashes.py
keeps them apart. Where that was not enough and a combined file does not compile without a warning, its
halves are tried, down to the single source. So a clash costs time, and is never an error. The exit
code is 1 if there is a finding.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

import clashes

ROOT = clashes.ROOT
# Configured without groups: a command for every source.
COMMANDS = ROOT / "build" / "lint"
COMBINED = ROOT / "build" / "tidy"
# More would save little, and the longest group would keep one core waiting for the other.
MOST_LINES = 3500
CHATTER = re.compile(
    r"^(\d+ (warnings?|errors?)|\d+ warnings? and \d+ errors?) generated|^Suppressed |"
    r"^Use -header-filter|^\[\d+/\d+\] Processing|^\s*$")
COMMON = [subprocess.run([ROOT / "tools" / "stack.sh", "--tidy"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip(),
          "--quiet", f"--config-file={ROOT / '.clang-tidy'}",
          # The compile commands are GCC's.
          "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-deprecated-declarations"]


def groups(sources, commands):
    """Of src/, tracer/ and trainer/ each, the sources in groups that do not clash, by name.

    A source with definitions of its own, such as the file of the page, has its own command.
    """
    parts = collections.defaultdict(list)
    for source in sources:
        own = re.findall(r"-D(PLATEAU_(?!VERSION)\w+)", commands[source]["command"])
        parts["_".join([source.relative_to(ROOT).parts[0], *own])].append(source)
    return [(f"{part}_{number}", group) for part, mine in parts.items()
            for number, group in enumerate(clashes.groups(mine, MOST_LINES))]


def combine(name, members, commands):
    """Writes a combined file with its compile command; returns its directory and its path."""
    directory = COMBINED / name
    directory.mkdir(parents=True, exist_ok=True)
    combined = directory / "combined.cc"
    combined.write_text("".join(f'#include "{member}"\n' for member in members))
    # One room is compiled by one command: that of any member will do.
    entry = commands[members[0]]
    (directory / "compile_commands.json").write_text(json.dumps([{
        "directory": entry["directory"], "file": str(combined),
        "command": entry["command"].replace(str(members[0]), str(combined))}]))
    return directory, combined


def findings(options, database, file):
    run = subprocess.run(COMMON + options + ["-p", str(database), str(file)],
                         capture_output=True, text=True, check=False)
    lines = (run.stdout + run.stderr).splitlines()
    return run.returncode, "\n".join(line for line in lines if not CHATTER.match(line))


def check(options, commands, name, members):
    if len(members) == 1:
        return findings(options, COMMANDS, members[0])
    # The combined file includes sources on purpose.
    checks = [option for option in options if option.startswith("--checks=")] or ["--checks="]
    others = [option for option in options if not option.startswith("--checks=")]
    together = others + [checks[-1] + ",-bugprone-suspicious-include"]
    code, text = findings(together, *combine(name, members, commands))
    if code != 0 and "[clang-diagnostic-" in text:
        middle = len(members) // 2
        halves = [check(options, commands, name + "a", members[:middle]),
                  check(options, commands, name + "b", members[middle:])]
        return max(half[0] for half in halves), "\n".join(half[1] for half in halves if half[1])
    return code, text


def main():
    sources = [ROOT / line.strip() for line in sys.stdin if line.strip()]
    commands = {pathlib.Path(entry["file"]): entry
                for entry in json.loads((COMMANDS / "compile_commands.json").read_text())}
    # The largest first, so that no core is left alone with it.
    made = sorted(groups(sources, commands), key=lambda group: -len(group[1]))
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, text in pool.map(lambda group: check(sys.argv[1:], commands, *group), made):
            failed = failed or code != 0
            if text:
                print(text, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
