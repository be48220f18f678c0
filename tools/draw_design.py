#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the rooms in docs/design.md from the include lines: tools/draw_design.py [--check]

Who includes whom is read from the sources, without tests; what a room is for is JOBS in
check_layers.py. A room stands one layer above the highest that it includes. --check writes nothing
and exits with 1 if the page is not what the sources give.
"""
import pathlib
import sys
import textwrap

import check_layers
import marked_blocks

TOPS = {"src": check_layers.JOBS, "trainer": check_layers.TRAINER_JOBS}
WIDTH = 108


def is_test(path: pathlib.Path) -> bool:
    return "_test." in path.name or "_for_test." in path.name or "testing" in path.parts


def name_of(top: str, included: str) -> str:
    """The room of an include line, as it is called in `top`: rooms of src/ in trainer/ are "src/base"."""
    parts = included.split("/")
    if top == "src":
        return parts[0]
    return parts[1] if parts[0] == "trainer" else parts[0] if parts[0] == "clients" else f"src/{parts[0]}"


def includes(top: str) -> dict[str, set[str]]:
    """By room, the others that its production code includes."""
    found = {}
    for room in TOPS[top]:
        found[room] = set()
        for path in sorted((marked_blocks.ROOT / top / room).rglob("*.[ch]*")):
            if is_test(path):
                continue
            for line in path.read_text().splitlines():
                if match := check_layers.INCLUDE.match(line):
                    found[room].add(name_of(top, match[1]))
        found[room].discard(room)
    return found


def layers(edges: dict[str, set[str]]) -> list[list[str]]:
    """Rooms by height, the lowest first. What is no room of this table (the tracer) has none."""
    height = {}

    def height_of(room: str, path: tuple[str, ...] = ()) -> int:
        if room in path:
            sys.exit(f"rooms include each other in a circle: {' -> '.join((*path, room))}")
        if room not in height:
            below = [height_of(each, (*path, room)) for each in edges[room] if each in edges]
            height[room] = 1 + max(below, default=-1)
        return height[room]

    rows = [[] for _ in range(1 + max(map(height_of, edges)))]
    for room in edges:
        rows[height[room]].append(room)
    return rows


def in_order(edges: dict[str, set[str]]) -> list[str]:
    return [room for row in layers(edges) for room in row]


def job_table(top: str, edges: dict[str, set[str]]) -> str:
    rows = [f"| `{top}/{room}` | {TOPS[top][room]} |" for room in in_order(edges)]
    return "\n".join(["| room | job |", "|---|---|", *rows])


def include_table(edges: dict[str, set[str]]) -> str:
    place = {room: number for number, room in enumerate(in_order(edges))}
    rows = []
    for room in place:
        others = sorted(edges[room], key=lambda each: (each not in place, place.get(each, 0), each))
        rows.append(f"| {room} | {', '.join(others) or '—'} |")
    return "\n".join(["| room | includes |", "|---|---|", *rows])


def picture(edges: dict[str, set[str]]) -> str:
    """Layers from the top down; an arrow says that includes point downwards only."""
    lines = []
    for row in reversed(layers(edges)):
        lines += textwrap.wrap("   ".join(row), WIDTH, initial_indent="  ", subsequent_indent="  ")
        lines.append("      │")
    return "\n".join(["```", *lines[:-1], "```"])


def main() -> int:
    for top, jobs in TOPS.items():
        for room in sorted((marked_blocks.ROOT / top).iterdir()):
            if room.is_dir() and room.name not in jobs and room.name != "testdata":
                sys.exit(f"{top}/{room.name}: a room without a job in tools/check_layers.py")
    blocks = {}
    for top in TOPS:
        edges = includes(top)
        blocks |= {f"{top} rooms": job_table(top, edges), f"{top} layers": picture(edges),
                   f"{top} includes": include_table(edges)}
    return marked_blocks.draw("docs/design.md", blocks, "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
