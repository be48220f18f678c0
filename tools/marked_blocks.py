# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/ that are partly made by a script.

What stands between `<!-- begin NAME: ... -->` and `<!-- end NAME -->` is the script's, all else is
written by hand.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def filled(page: str, blocks: dict[str, str]) -> str:
    """The page with each block's text in its place; a block without a place is an error."""
    for name, text in blocks.items():
        place = re.compile(rf"(<!-- begin {name}: [^\n]*-->\n).*?(<!-- end {name} -->)", re.DOTALL)
        page, count = place.subn(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)
        if count != 1:
            sys.exit(f"the page has {count} places for the block '{name}', not one")
    return page


def draw(path: str, blocks: dict[str, str], check: bool) -> int:
    """Writes the blocks into docs/PATH, or only looks. 1: the page is not what the sources give."""
    page = ROOT / path
    before = page.read_text()
    after = filled(before, blocks)
    if before == after:
        return 0
    if check:
        print(f"{path}: not what the sources give; {pathlib.Path(sys.argv[0]).name} writes it anew", file=sys.stderr)
        return 1
    page.write_text(after)
    return 0
