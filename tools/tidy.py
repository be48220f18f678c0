#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources named on standard input: tools/tidy.py [CLANG-TIDY-OPTIONS]

clang-tidy 19 matches its checks against the standard library too, once for each source: most of its
time goes to the same headers again and again. So the sources of one directory are included by a few
combined files under build/tidy, and the headers are matched once for each of those. On src/probe
that is 14 CPU seconds instead of 68, with the same findings, told at the same lines.

Two sources that give one file-local name to two things cannot stand in one file. They are kept apart
by the names they declare in nameless namespaces; where that was not enough and a combined file does
not compile without a warning, its halves are tried, down to the single source. So a clash costs time, and is never an
error. The exit code is 1 if there is a finding.
"""

import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"
COMBINED = ROOT / "build" / "tidy"
# More would save little, and the longest group would keep one core waiting for the other.
MOST_SOURCES = 14
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
NAMELESS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^(?:struct|class|enum class|enum|using) (\w+)(?= [{:=]| final)", re.MULTILINE)
DECLARES = [TYPE,
            re.compile(r"^(?:constexpr|const)\b.*?\b(k[A-Z]\w*)(?=\s*[=\[{;])", re.MULTILINE),
            re.compile(r"^\w[\w:<>,&* ]*[ &*>](\w+)\(", re.MULTILINE)]
CHATTER = re.compile(
    r"^(\d+ (warnings?|errors?)|\d+ warnings? and \d+ errors?) generated|^Suppressed |"
    r"^Use -header-filter|^\[\d+/\d+\] Processing|^\s*$")
COMMON = ["clang-tidy-19", "--quiet", f"--config-file={ROOT / '.clang-tidy'}",
          # The compile commands are GCC's.
          "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-deprecated-declarations"]


def names_in(text):
    return {name for pattern in DECLARES for name in pattern.findall(text)}


@functools.cache
def included(path):
    """The headers of the project that a file includes, however indirectly, as a set of paths."""
    found = set()
    for name in INCLUDE.findall(path.read_text()):
        for header in (ROOT / "src" / name, ROOT / name, path.parent / name):
            if header.exists():
                found |= {header} | included(header)
                break
    return found


def groups(sources):
    """The sources of src/ and of tracer/ in groups of at most MOST_SOURCES that do not clash."""
    made = collections.defaultdict(list)
    for source in sources:
        own = {name for block in NAMELESS.findall(source.read_text()) for name in names_in(block)}
        # A local overload of a public function is no clash, a local type with a public name is.
        seen = {name for header in included(source) for name in TYPE.findall(header.read_text())}
        parts = made[source.relative_to(ROOT).parts[0]]
        for group, their_own, theirs in parts:
            if len(group) < MOST_SOURCES and not own & theirs and not their_own & seen:
                break
        else:
            group, their_own, theirs = [], set(), set()
            parts.append((group, their_own, theirs))
        group.append(source)
        their_own |= own
        theirs |= own | seen
    return [(f"{part}_{number}", group) for part, parts in made.items()
            for number, (group, _, _) in enumerate(parts)]


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
        return findings(options, RELEASE, members[0])
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
                for entry in json.loads((RELEASE / "compile_commands.json").read_text())}
    # The largest first, so that no core is left alone with it.
    made = sorted(groups(sources), key=lambda group: -len(group[1]))
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, text in pool.map(lambda group: check(sys.argv[1:], commands, *group), made):
            failed = failed or code != 0
            if text:
                print(text, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
