#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a built site: tools/check_site.py FOLDER

Every link leads to a file and every anchor to an element of it, no id stands twice on a page, nothing is
loaded from anywhere else, and every entry of the search index leads somewhere. Prints what does not hold
and exits 1 if anything does not.
"""

import html.parser
import json
import pathlib
import sys
import urllib.parse

# Elements that load what they point at; a link that people follow may lead anywhere.
LOADS = {"img", "script", "link", "source", "iframe", "object"}
WITHOUT_END = {"meta", "link", "img", "br", "hr", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "src"):
                self.links.append((tag, value or ""))
            elif name.startswith("on"):
                self.handlers.append(f"{tag} {name}")


def check(root: pathlib.Path) -> list[str]:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    wrong = []
    if not pages:
        wrong.append(f"{root}: no pages")

    def leads(page: pathlib.Path, address: str) -> str:
        """What is wrong with an address on a page; empty if nothing is."""
        parts = urllib.parse.urlsplit(address)
        target = page if not parts.path else (page.parent / urllib.parse.unquote(parts.path)).resolve()
        if not target.is_file():
            return "leads to no file"
        if parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
            return "leads to no such place on that page"
        return ""

    for path, page in pages.items():
        name = path.relative_to(root)
        wrong += [f"{name}: id '{each}' stands twice" for each in sorted({i for i in page.ids if page.ids.count(i) > 1})]
        wrong += [f"{name}: {each}: script in an attribute" for each in page.handlers]
        for tag, address in page.links:
            if urllib.parse.urlsplit(address).scheme:
                if tag in LOADS and not address.startswith("data:"):
                    wrong.append(f"{name}: {tag} is loaded from {address}")
            elif trouble := leads(path, address):
                wrong.append(f"{name}: {address} {trouble}")
    index = (root / "index.js").read_text(encoding="utf-8")
    for entry in json.loads(index[index.index("["):].rstrip().rstrip(";")):
        if trouble := leads(root / "index.html", entry["u"]):
            wrong.append(f"index.js: {entry['u']} {trouble}")
    return wrong


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: tools/check_site.py FOLDER", file=sys.stderr)
        return 2
    wrong = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
