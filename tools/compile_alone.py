#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a source includes what it needs and hides no name: tools/compile_alone.py < SOURCES

The build compiles several sources as one, so one that leans on the includes of another would not be
noticed there. Here each is parsed by itself, by clang. That takes seconds for each, so a source is
looked at when it, or a header of the project that it includes, is not what it was when it last passed;
on a machine that remembers nothing, when it was changed in the last COMMITS commits. The exit code is
1 if one does not compile.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

import clashes

COMMANDS = clashes.ROOT / "build" / "lint" / "compile_commands.json"
PASSED = clashes.ROOT / "build" / "lint" / "compiles_alone"
COMMITS = 10
DROPPED = {"-Wno-restrict", "-Wno-subobject-linkage", "-Werror"}


def fingerprint(source):
    digest = hashlib.sha256()
    for path in [source, *sorted(clashes.included(source))]:
        digest.update(path.read_bytes())
    return f"{source.relative_to(clashes.ROOT)} {digest.hexdigest()}"


def changed_lately():
    git = ["git", "-C", str(clashes.ROOT)]
    old = subprocess.run([*git, "rev-list", f"--max-count={COMMITS + 1}", "HEAD"],
                         capture_output=True, text=True, check=True).stdout.split()[-1]
    named = subprocess.run([*git, "diff", "--name-only", old], capture_output=True, text=True, check=True)
    return {clashes.ROOT / line for line in named.stdout.splitlines()}


def compiles(entry):
    words = [word for word in shlex.split(entry["command"]) if word not in DROPPED]
    at = words.index("-o")
    del words[at:at + 2]
    words.remove("-c")
    how = ["-Wno-everything", "-Wshadow", "-Werror", "-fsyntax-only"]
    run = subprocess.run(["clang++-19", *words[1:], *how], cwd=entry["directory"],
                         capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stderr


def main():
    sources = [clashes.ROOT / line.strip() for line in sys.stdin if line.strip()]
    entries = {pathlib.Path(entry["file"]): entry for entry in json.loads(COMMANDS.read_text())}
    marks = {source: fingerprint(source) for source in sources}
    if PASSED.exists():
        known = set(PASSED.read_text().splitlines())
        asked = [source for source in sources if marks[source] not in known]
    else:
        lately = changed_lately()
        asked = [source for source in sources if source in lately]
    failed = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, (good, text) in zip(asked, pool.map(lambda one: compiles(entries[one]), asked)):
            if not good:
                failed.add(source)
                print(f"{source.relative_to(clashes.ROOT)} does not compile by itself:\n{text}", flush=True)
    PASSED.write_text("".join(f"{mark}\n" for source, mark in marks.items() if source not in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
