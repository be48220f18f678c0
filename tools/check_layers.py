#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes follow the arrow probe -> recording -> verdict -> report.

The table below is the whole list: a room may include itself and what stands beside it; anything
else fails. Prints each stray include as file:line, and exits 1 if there is one.
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "base": set(),
    "recording": {"base"},
    "symbols": {"base", "recording"},
    "heap": {"base", "recording", "tracer"},
    "census": {"base", "symbols", "tracer"},
    "inject": {"base", "symbols", "tracer"},
    "ledger": {"base", "recording"},
    "import": {"base", "recording"},
    "probe": {"base", "recording"},
    "verdict": {"base", "recording"},
    "report": {"base", "verdict", "recording", "symbols", "census", "ledger"},
    "session": {"base", "recording", "import", "probe", "verdict", "heap", "inject", "ledger"},
    "cli": {
        "base", "recording", "import", "probe", "verdict", "report", "session",
        "heap", "symbols", "census", "inject", "ledger",
    },
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def main() -> int:
    src = pathlib.Path(__file__).resolve().parent.parent / "src"
    stray = 0
    for room in sorted(p for p in src.iterdir() if p.is_dir()):
        if room.name not in MAY_INCLUDE:
            print(f"src/{room.name}: a room that tools/check_layers.py does not know")
            stray += 1
            continue
        allowed = MAY_INCLUDE[room.name] | {room.name}
        for path in sorted(room.rglob("*.[ch]*")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if match and match.group(1).split("/")[0] not in allowed:
                    where = f"{path.relative_to(src.parent)}:{number}"
                    print(f"{where}: {room.name} may not include {match.group(1)}")
                    stray += 1
    return 1 if stray else 0


if __name__ == "__main__":
    sys.exit(main())
