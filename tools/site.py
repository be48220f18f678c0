#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the documentation site from docs/: tools/site.py [--plateau PROGRAM] [--out FOLDER]

Plain HTML that opens from disk: no server, no network, light and dark, a search over every section.
Each page of docs/ becomes a page; so does every Markdown file of the tree that one of them links to,
and other files that they link to are copied. Charts are made by the program itself from recorded
traces: a line

    <!-- chart: corpus/dev/leak_arrays-4.csv.gz [options of plateau report] -->

in a page stands for the picture of `plateau report --as svg`. The reference of options is made from
the program's own help. tools/check_site.py looks at the result: links, anchors, addresses.
"""

import argparse
import html
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import markdown

from site_parts import help_page, shell

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# What stands where in the contents, by name below docs/; what is named nowhere comes under "More".
CONTENTS = [
    ("Start", ["first-answer", "is-it-a-leak", "verdicts", "causes", "tour"]),
    ("Recipes", ["recipes", "ci", "testing"]),
    ("Watching", ["watching", "auto", "page", "serve", "telling", "ranks", "fleet"]),
    ("A closer look", ["compare", "prove", "profile", "heap", "census", "ledger", "experiments", "symbols"]),
    ("Reference", ["reference", "report-fields", "probe", "doctor"]),
    ("Formats", []),
    ("Can I trust it?", ["how-it-decides", "accuracy", "policy", "security", "design"]),
    ("Training", ["plan", "trainer", "selective-loss"]),
    ("More", []),
]
CHART = re.compile(r"^<!-- chart: (.+?) -->$", re.M)
LINK = re.compile(r'(href|src)="([^"]+)"')
LIST_ITEM = re.compile(r"^([-*]|\d+\.) ")


def slug(text: str, _separator: str = "-") -> str:
    """The anchor of a heading, as code hosts make it: links in the files work in both places."""
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"<[^>]+>", "", text).strip().lower())
    return kept.replace(" ", "-")


def lists_apart(text: str) -> str:
    """A list may follow its paragraph without a blank line; this converter wants one."""
    out, fenced, before = [], False, ""
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if not fenced and LIST_ITEM.match(line) and before.strip() and not LIST_ITEM.match(before) \
                and not before.startswith(" "):
            out.append("")
        out.append(line)
        before = line
    return "\n".join(out)


class Site:
    def __init__(self, plateau: pathlib.Path, out: pathlib.Path) -> None:
        self.plateau = plateau
        self.out = out
        self.pages: dict[pathlib.Path, str] = {}  # Source -> address below the site's root.
        self.titles: dict[pathlib.Path, str] = {}
        self.bodies: dict[pathlib.Path, str] = {}
        self.style = ""  # Of the charts, once for all.
        self.index: list[dict[str, str]] = []

    def address_of(self, source: pathlib.Path) -> str:
        """Where a file is found on the site; pages that are new are queued, other files copied."""
        if source in self.pages:
            return self.pages[source]
        if source.suffix == ".md":
            inside = source.is_relative_to(DOCS)
            place = source.relative_to(DOCS if inside else ROOT).with_suffix(".html")
            self.pages[source] = str(place if inside else pathlib.Path("tree") / place)
            return self.pages[source]
        place = pathlib.Path("files") / source.relative_to(ROOT)
        # As text, so that a browser shows it and never runs it.
        if source.suffix not in (".png", ".svg"):
            place = place.with_name(place.name + ".txt")
        target = self.out / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        self.pages[source] = str(place)
        return str(place)

    def chart(self, words: str) -> str:
        """The program's own picture of a recorded trace, without its style, which all share."""
        arguments = shlex.split(words)
        done = subprocess.run([self.plateau, "report", "--as", "svg", *arguments], cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"site: chart of {words}: {done.stderr.strip()}")
        svg, style = done.stdout, re.search(r"<style>(.*?)</style>\n", done.stdout, re.S)
        self.style = style.group(1)
        svg = svg.replace(style.group(0), "")
        command = html.escape("plateau judge " + words)
        return f'<figure class="chart">{svg.strip()}<figcaption><code>{command}</code></figcaption></figure>'

    def convert(self, source: pathlib.Path) -> None:
        text = source.read_text(encoding="utf-8")
        charts: list[str] = []

        def keep(match: re.Match[str]) -> str:
            charts.append(self.chart(match.group(1)))
            return f"\n\nchart-number-{len(charts) - 1}-\n\n"

        text = lists_apart(CHART.sub(keep, text))
        converter = markdown.Markdown(
            extensions=["tables", "fenced_code", "sane_lists", "toc"],
            extension_configs={"toc": {"slugify": slug, "permalink": "#", "permalink_title": "Link to this section"}})
        body = converter.convert(text)
        for number, chart in enumerate(charts):
            body = body.replace(f"<p>chart-number-{number}-</p>", chart)
        if "<!-- reference -->" in body:
            body = body.replace("<!-- reference -->", help_page.reference(self.plateau))
        body = re.sub(r"<!--.*?-->", "", body, flags=re.S)
        # The name of an option is not broken at its hyphens, not even on a phone.
        body = re.sub(r"<code>(-[^\s<]{1,24})</code>", r'<code class="option">\1</code>', body)
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.S)
        name = re.sub(r"<a class=\"headerlink\".*?</a>|<[^>]+>", "", title.group(1)) if title else source.stem
        self.titles[source] = html.unescape(name)
        self.bodies[source] = body

    def linked(self, source: pathlib.Path, body: str) -> str:
        """Links between files of the tree become links between places of the site."""
        here = pathlib.Path(self.pages[source]).parent

        def there(match: re.Match[str]) -> str:
            kind, address = match.groups()
            if re.match(r"[a-z]+:|#", address):
                return match.group(0)
            path, _, anchor = address.partition("#")
            wanted = (source.parent / html.unescape(path)).resolve()
            if wanted.is_dir() and (wanted / "README.md").exists():
                wanted = wanted / "README.md"
            if not wanted.is_file() or not wanted.is_relative_to(ROOT):
                sys.exit(f"site: {source.relative_to(ROOT)} links to {address}, which is no file of the tree")
            place = shell.relative(self.address_of(wanted), here)
            return f'{kind}="{place}{"#" + anchor if anchor else ""}"'

        return LINK.sub(there, body)

    def add_to_index(self, source: pathlib.Path) -> None:
        """One entry a section: its heading, its text, where it is."""
        parts = re.split(r'(<h[1-3] id="[^"]*">.*?</h[1-3]>)', self.bodies[source], flags=re.S)
        heading, anchor = self.titles[source], ""
        for part in parts:
            found = re.match(r'<h[1-3] id="([^"]*)">(.*?)</h[1-3]>', part, re.S)
            plain = re.sub(r"<style.*?</style>|<svg.*?</svg>|<a class=\"headerlink\".*?</a>", " ", part, flags=re.S)
            plain = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", plain)).split())
            if found:
                anchor, heading = found.group(1), plain
            elif plain:
                self.index.append({"p": self.titles[source], "h": heading, "t": plain,
                                   "u": self.pages[source] + ("#" + anchor if anchor else "")})

    def contents(self) -> list[tuple[str, list[pathlib.Path]]]:
        named = {name for _, names in CONTENTS for name in names}
        groups = []
        for title, names in CONTENTS:
            sources = [DOCS / f"{name}.md" for name in names]
            if title == "Formats":
                sources = sorted((DOCS / "formats").glob("*.md"))
            elif title == "More":
                sources = [s for s in sorted(DOCS.glob("*.md")) if s.stem not in named] + [ROOT / "CHANGELOG.md"]
            groups.append((title, [source for source in sources if source in self.pages]))
        return groups

    def write(self, source: pathlib.Path, groups: list[tuple[str, list[pathlib.Path]]]) -> None:
        address = self.pages[source]
        navigation = [(title, [(self.titles[s], self.pages[s], s == source) for s in sources])
                      for title, sources in groups if sources]
        order = [s for _, sources in groups for s in sources]
        place = order.index(source) if source in order else -1
        after = order[place + 1] if 0 <= place < len(order) - 1 else None
        page = shell.page(title=self.titles[source], body=self.linked(source, self.bodies[source]), address=address,
                          navigation=navigation, following=(self.titles[after], self.pages[after]) if after else None)
        target = self.out / address
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8")

    def build(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        for source in sorted(DOCS.rglob("*.md")) + [ROOT / "CHANGELOG.md"]:
            self.address_of(source)
        waiting = list(self.pages)
        while waiting:
            source = waiting.pop(0)
            if source.suffix == ".md":
                self.convert(source)
                # Finds what it links to, so that those become pages too.
                known = set(self.pages)
                self.linked(source, self.bodies[source])
                waiting += [s for s in self.pages if s not in known and s.suffix == ".md"]
        groups = self.contents()
        sources = [s for s in self.pages if s in self.bodies]
        for source in sources:
            self.add_to_index(source)
            self.write(source, groups)
        first = DOCS / "first-answer.md"
        shutil.copyfile(self.out / self.pages[first], self.out / "index.html")
        shell.write_parts(self.out, self.style, json.dumps(self.index, ensure_ascii=False, separators=(",", ":")))
        size = sum(f.stat().st_size for f in self.out.rglob("*") if f.is_file())
        print(f"{self.out}/index.html: {len(sources)} pages, {size / 1e6:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--plateau", type=pathlib.Path, default=ROOT / "build/release/plateau")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/site")
    arguments = parser.parse_args()
    if not arguments.plateau.exists():
        sys.exit(f"site: {arguments.plateau} is not built; 'make' does it")
    Site(arguments.plateau.resolve(), arguments.out).build()


if __name__ == "__main__":
    main()
