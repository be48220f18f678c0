# SPDX-License-Identifier: Apache-2.0
"""What every page of the site has around its text: the contents, the search, light and dark."""

import html
import os
import pathlib
import re
import shutil

HERE = pathlib.Path(__file__).resolve().parent


def relative(address: str, folder: pathlib.Path | str) -> str:
    return os.path.relpath(address, folder).replace(os.sep, "/")


def page(title: str, body: str, address: str, navigation: list[tuple[str, list[tuple[str, str, bool]]]],
         following: tuple[str, str] | None) -> str:
    folder = pathlib.Path(address).parent
    root = relative(".", folder)
    groups = ""
    for name, entries in navigation:
        current = ("", ' aria-current="page"')
        links = "".join(f'<li><a href="{relative(to, folder)}"{current[here]}>{html.escape(text)}</a></li>'
                        for text, to, here in entries)
        opened = " open" if name in ("Start", "Recipes") or any(here for _, _, here in entries) else ""
        groups += f"<details{opened}><summary>{html.escape(name)}</summary><ul>{links}</ul></details>"
    onward = ""
    if following:
        onward = f'<p class="onward">Next: <a href="{relative(following[1], folder)}">{html.escape(following[0])}</a></p>'
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} · Plateau</title>
<link rel="stylesheet" href="{root}/site.css">
<script>document.documentElement.dataset.root = "{root}";</script>
<script src="{root}/site.js"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<button id="menu" aria-label="Contents" aria-expanded="false">☰</button>
<a class="name" href="{root}/index.html">Plateau</a>
<span class="question">is it a leak, or will it plateau?</span>
<div class="search"><input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off"><div id="found" hidden></div></div>
<button id="theme" aria-label="Light or dark">◐</button>
</header>
<div class="frame">
<nav aria-label="Contents">{groups}</nav>
<main id="text">{body}{onward}</main>
</div>
</body>
</html>
"""


def dark_by_switch(style: str) -> str:
    """The charts' dark rules, also where the page was switched to dark by hand, and back to light."""
    light, _, dark = style.partition("@media (prefers-color-scheme:dark){\n")
    dark = dark.rstrip().removesuffix("}")

    def under(rules: str, theme: str) -> str:
        return re.sub(r"^\.plateau-chart", f':root[data-theme="{theme}"] .plateau-chart', rules, flags=re.M)

    return style + under(light, "light") + under(dark, "dark")


def write_parts(out: pathlib.Path, chart_style: str, index: str) -> None:
    css = (HERE / "site.css").read_text(encoding="utf-8")
    (out / "site.css").write_text(css + dark_by_switch(chart_style), encoding="utf-8")
    shutil.copyfile(HERE / "site.js", out / "site.js")
    (out / "index.js").write_text("window.plateauIndex=" + index + ";\n", encoding="utf-8")
