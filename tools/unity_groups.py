#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which sources the build compiles as one: tools/unity_groups.py OUT.cmake

Writes, for each source of a room, the name of its group; cmake/PlateauUnity.cmake reads them. A
source alone in its group is left out and compiled by itself. The file is written only if it changes,
and the build configures itself anew when it does: tools/build.sh calls this before every build, so
that a new file-local name that clashes with another moves its source to another group instead of
failing to compile. What clashes is said in tools/clashes.py.
"""

import pathlib
import sys

import clashes

# More lines would save little, and keep one core waiting for the other.
MOST_LINES = 3000


def rooms():
    # A source distribution has no trainer and no benchmarks.
    for parent in ("src", "trainer"):
        yield from sorted(path for path in (clashes.ROOT / parent).glob("*") if path.is_dir())
    yield clashes.ROOT / "tracer"
    yield clashes.ROOT / "bench" / "corpus"


def main():
    out = pathlib.Path(sys.argv[1])
    lines = []
    for room in rooms():
        sources = sorted(path for path in room.glob("*.cc") if path.name != "main.cc")
        for kind in ("code", "tests"):
            mine = [path for path in sources if path.name.endswith("_test.cc") == (kind == "tests")]
            for number, group in enumerate(clashes.groups(mine, MOST_LINES)):
                lines += [f"set(PLATEAU_GROUP_{path.relative_to(clashes.ROOT)} {kind}_{number})"
                          for path in group if len(group) > 1]
    text = "\n".join(lines) + "\n"
    if not out.exists() or out.read_text() != text:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)


if __name__ == "__main__":
    main()
