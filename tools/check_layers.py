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
    "ptrace": {"base"},
    "census": {"base", "symbols", "ptrace", "tracer"},
    "inject": {"base", "symbols", "ptrace", "tracer"},
    "ledger": {"base", "recording"},
    "import": {"base", "recording"},
    "probe": {"base", "recording"},
    "verdict": {"base", "recording"},
    "profile": {"base", "recording", "verdict", "words", "symbols"},
    "answer": {"base", "recording", "verdict", "profile"},
    "words": {"base", "recording", "verdict"},
    "report": {"base", "verdict", "words", "recording", "profile", "census", "ledger"},
    "page": {"base", "recording", "verdict", "words", "profile", "answer", "report"},
    "serve": {"base", "recording", "import", "verdict", "words", "answer", "report", "page"},
    "session": {"base", "recording", "import", "probe", "verdict", "heap", "inject", "ledger"},
    # How any program reads its command line; text for a terminal comes from report.
    "command": {"base", "report"},
    "cli": {
        "base", "command", "recording", "import", "probe", "verdict", "words", "profile", "answer", "report", "session",
        "heap", "symbols", "census", "inject", "ledger", "page", "serve",
    },
}
# Of trainer/: rooms of its own by their name, those of src/ as "src:NAME".
TRAINER_MAY_INCLUDE = {
    "quant": {"src:base"},
    "store": {"src:base", "quant"},
    "text": {"src:base"},
    "image": {"src:base"},
    "data": {"src:base", "text", "image"},
    "plan": {"src:base", "store", "data", "text", "image", "quant"},
    "model": {"src:base", "store", "data", "text", "image", "quant"},
    "optim": {"src:base", "model", "quant"},
    "loop": {"src:base", "store", "data", "model", "optim"},
    "cli": {
        "src:base", "src:recording", "src:verdict", "src:words", "src:report", "src:command",
        "store", "quant", "text", "image", "data", "plan", "model", "optim", "loop",
    },
}
# What tests may include beyond their room's rooms: goldens are made from recorded traces.
TESTS_MAY_INCLUDE = {"report": {"import"}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def stray_in_trainer(root: pathlib.Path) -> int:
    stray = 0
    for room in sorted(p for p in (root / "trainer").iterdir() if p.is_dir()):
        if room.name == "testdata":
            continue
        allowed = TRAINER_MAY_INCLUDE.get(room.name)
        if allowed is None:
            print(f"trainer/{room.name}: a room that tools/check_layers.py does not know")
            stray += 1
            continue
        for path in sorted(room.rglob("*.[ch]*")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                parts = match.group(1).split("/") if match else []
                if not parts or parts[0] == "clients":
                    continue
                wanted = parts[1] if parts[0] == "trainer" else f"src:{parts[0]}"
                if wanted != room.name and wanted not in allowed:
                    print(f"{path.relative_to(root)}:{number}: {room.name} may not include {match.group(1)}")
                    stray += 1
    return stray


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
                wanted = match.group(1).split("/")[0] if match else room.name
                if "_test." in path.name and wanted in TESTS_MAY_INCLUDE.get(room.name, set()):
                    continue
                if wanted not in allowed:
                    where = f"{path.relative_to(src.parent)}:{number}"
                    print(f"{where}: {room.name} may not include {match.group(1)}")
                    stray += 1
    stray += stray_in_trainer(src.parent)
    return 1 if stray else 0


if __name__ == "__main__":
    sys.exit(main())
