#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports how large files and functions are, and fails over the caps.

Caps: a source 500 lines, a header 250; a function 60 lines, with at most 3 % of all functions
above. Files over 300 lines are listed as a hint. A function is found by its brace: a line at any
depth that ends in '{' after a ')' opens one, as clang-format lays them out.
"""
import pathlib
import re
import subprocess
import sys

SOURCE_HINT, SOURCE_CAP, HEADER_CAP = 300, 500, 250
FUNCTION_CAP, FUNCTION_SHARE = 60, 0.03
OPENS = re.compile(r"\)\s*(const)?\s*(noexcept)?\s*(override)?\s*(->\s*[\w:<>,&* ]+)?\s*\{\s*$")
ENDS = re.compile(r"(^\s*|[;{}:]|^\s*(//|#).*)$")
CONTROL = re.compile(r"^\s*(\}\s*)?(if|for|while|switch|else|do|catch|namespace|return)\b")


def sources(root: pathlib.Path) -> list[pathlib.Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.cc", "*.h"],
        cwd=root, capture_output=True, text=True, check=True)
    return [root / name for name in listed.stdout.split() if (root / name).exists()]


def functions(lines: list[str]) -> list[tuple[int, int]]:
    """(first line, length) of each function that is not inside another."""
    found = []
    number = 0
    while number < len(lines):
        line = lines[number]
        if OPENS.search(line) and not CONTROL.match(line):
            # A signature may span lines; the closing brace sits at the indent of its first one.
            start = number
            while start > 0 and not ENDS.search(lines[start - 1]):
                start -= 1
            first_indent = len(lines[start]) - len(lines[start].lstrip())
            closing = " " * first_indent + "}"
            end = number + 1
            while end < len(lines) and not lines[end].rstrip().startswith(closing):
                end += 1
            found.append((start + 1, end - start + 1))
            number = end
        number += 1
    return found


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    failures = 0
    total = 0
    long_functions = []
    for path in sources(root):
        lines = path.read_text().splitlines()
        name = path.relative_to(root)
        cap = HEADER_CAP if path.suffix == ".h" else SOURCE_CAP
        if len(lines) > cap:
            print(f"{name}: {len(lines)} lines, the cap is {cap}")
            failures += 1
        elif len(lines) > SOURCE_HINT:
            print(f"{name}: {len(lines)} lines (hint: over {SOURCE_HINT})")
        for start, length in functions(lines):
            total += 1
            if length > FUNCTION_CAP:
                long_functions.append(f"{name}:{start}: function of {length} lines")
    for entry in long_functions:
        print(entry)
    share = len(long_functions) / total if total else 0
    print(f"{total} functions, {len(long_functions)} over {FUNCTION_CAP} lines ({share:.1%})")
    if share > FUNCTION_SHARE:
        print(f"more than {FUNCTION_SHARE:.0%} of the functions are over the cap")
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
