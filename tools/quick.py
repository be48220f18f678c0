#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For daily work: builds, and runs the tests of what changed: tools/quick.py [REVISION]

What changed since the revision (the last commit, if none is named), committed or not, decides: a room's
own tests; where a header changed, those of the rooms that include it, unless they are more than
MOST_ROOMS, which takes `make test`; scripts under tests/ themselves; for a verb in src/cli, the
end-to-end tests that bear its name. The format of what changed is checked where clang-format is at hand:
a comment one letter too long would else be found by `make test`, after 40 minutes. The leakers, the
sanitizers, the rest of lint and fuzzing are left to `make test`.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import clashes

MOST_ROOMS = 4
FORMATTER = "clang-format-19"
# By the first directory: tests that are no room's.
OTHERS = {"clients": r"clients\.", "corpus": r"corpus\.", "web": r"web\.|repository\.page"}


def changed_files(revision):
    git = ["git", "-C", str(clashes.ROOT)]
    named = subprocess.run([*git, "diff", "--name-only", revision], capture_output=True, text=True, check=True)
    new = subprocess.run([*git, "ls-files", "-o", "--exclude-standard"], capture_output=True, text=True, check=True)
    return sorted({pathlib.PurePath(line) for line in (named.stdout + new.stdout).splitlines()})


def test_program(path):
    """The room's test program, without "_test", or None for what is in no room."""
    if path.parts[0] == "tracer":
        return "tracer"
    if len(path.parts) == 3 and path.parts[0] in ("src", "trainer"):
        return path.parts[1] if path.parts[0] == "src" else f"train_{path.parts[1]}"
    return None


def users(header):
    """Test programs of the rooms with a source that includes the header."""
    found = set()
    for top in ("src", "tracer", "trainer"):
        for source in (clashes.ROOT / top).rglob("*.cc"):
            program = test_program(source.relative_to(clashes.ROOT))
            if program and clashes.ROOT / header in clashes.included(source):
                found.add(program)
    return found


def script_pattern(path):
    """What ctest calls a script under tests/."""
    if len(path.parts) == 3 and path.parts[1] in ("e2e", "train", "leakers"):
        kind = {"leakers": "(leaker|site)"}.get(path.parts[1], path.parts[1])
        return rf"{kind}\.{re.escape(path.stem)}$"
    return None


def what_to_run(files):
    """Test programs to build, and patterns of ctest's names."""
    programs, patterns = set(), set()
    for path in files:
        program = test_program(path)
        if program and path.suffix in (".cc", ".h"):
            programs.add(program)
            patterns.add(rf"{program}\.")
            wider = users(path) - {program} if path.suffix == ".h" else set()
            if len(wider) > MOST_ROOMS:
                print(f"quick: {path} is included by {len(wider)} other rooms; 'make test' tests them all")
            else:
                programs |= wider
                patterns |= {rf"{name}\." for name in wider}
            if path.parts[:2] == ("src", "cli"):
                patterns.add(rf"e2e\.{re.split('[_.]', path.name)[0]}-")
        elif path.parts[0] in OTHERS:
            patterns.add(OTHERS[path.parts[0]])
        elif path.parts[0] == "tests" and script_pattern(path):
            patterns.add(script_pattern(path))
    return programs, patterns


def in_format(files):
    sources = [str(clashes.ROOT / path) for path in files
               if path.suffix in (".cc", ".h") and (clashes.ROOT / path).exists()]
    if not sources or not shutil.which(FORMATTER):
        return True
    check = subprocess.run([FORMATTER, "--dry-run", "-Werror", *sources], check=False)
    if check.returncode != 0:
        print("quick: not in the house format; 'make format' rewrites it")
    return check.returncode == 0


def main():
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    files = changed_files(revision)
    if not in_format(files):
        return 1
    programs, patterns = what_to_run(files)
    if not patterns:
        print(f"quick: nothing that has tests was changed since {revision}")
        return 0
    options = ["--tests"]
    targets = ["core", *(f"{name}_test" for name in sorted(programs))]
    if any(name.startswith("train") for name in programs | patterns):
        options.append("--trainer")
        targets.append("plateau-train")
    if any(not pattern.endswith(r"\.") or pattern.startswith("clients") for pattern in patterns):
        targets += ["live_demo", "heap_demo", "hear_steps", "client_test", "client_example", "corpus_score"]
    if any(pattern.startswith("(leaker") for pattern in patterns):
        targets = []
    if subprocess.run([clashes.ROOT / "tools/build.sh", *options, "release", *targets], check=False).returncode != 0:
        return 1
    return subprocess.run(
        ["ctest", "--preset", "release", "-R", "^(" + "|".join(sorted(patterns)) + ")",
         "--repeat", "until-pass:2"], cwd=clashes.ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
