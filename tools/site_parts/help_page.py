# SPDX-License-Identifier: Apache-2.0
"""The reference of every verb and option, made from the program's own help."""

import html
import pathlib
import re
import subprocess

# "  --limit SIZE              Memory limit ...", and lines that go on with the text.
ROW = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")
COLUMN = 28


def help_of(plateau: pathlib.Path, *words: str) -> str:
    return subprocess.run([plateau, *words, "--help"], capture_output=True, text=True, check=True,
                          env={"LC_ALL": "C.UTF-8", "COLUMNS": "80"}).stdout


def anchor(verb: str, title: str) -> str:
    name = re.search(r"--[a-z0-9-]+", title)
    return f"{verb}{name.group(0)}" if name else f"{verb}-{re.sub(r'[^a-z]+', '-', title.lower()).strip('-')}"


def rows_of(lines: list[str]) -> list[tuple[str, str]]:
    """The titles in the left column, each with its text."""
    rows: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith(" " * COLUMN):
            title, text = rows[-1]
            rows[-1] = (title, f"{text} {line.strip()}".strip())
        elif found := ROW.match(line):
            rows.append((found.group(1), found.group(2) or ""))
    return rows


def paragraphs(lines: list[str]) -> str:
    blocks = "\n".join(lines).strip().split("\n\n")
    return "".join(f"<p>{html.escape(' '.join(block.split()))}</p>\n" for block in blocks if block.strip())


def section(verb: str, title: str, lines: list[str]) -> str:
    if title == "Examples":
        return f"<h3>Examples</h3>\n<pre><code>{html.escape(chr(10).join(line[2:] for line in lines).strip())}</code></pre>\n"
    out = f"<h3>{html.escape(title)}</h3>\n<dl>\n"
    for name, text in rows_of(lines):
        at = "" if title == "Exit code" else f' id="{anchor(verb, name)}"'
        out += f"<dt{at}><code>{html.escape(name)}</code></dt><dd>{html.escape(text)}</dd>\n"
    return out + "</dl>\n"


def verb_part(program: pathlib.Path, verb: str, place: str) -> str:
    """The section of one verb; `place` begins its anchors."""
    lines = help_of(program, verb).split("\n")
    title = " ".join(lines[: lines.index("")])
    out = f'<h2 id="{place}">{html.escape(title)}<a class="headerlink" href="#{place}">#</a></h2>\n'
    name, block = "", []

    def flush() -> str:
        if name in ("", "Usage"):
            return paragraphs(block)
        return section(place, name, block)

    for line in lines[lines.index("") + 1:]:
        if line.startswith("Usage: "):
            out += f"<pre><code>{html.escape(line[7:])}</code></pre>\n"
        elif line.endswith(":") and line and not line.startswith(" ") and block and not block[-1].strip():
            out += flush()
            name, block = line[:-1], []
        else:
            block.append(line)
    return out + flush()


def overview_part(program: pathlib.Path, places: dict[str, str]) -> str:
    """What the program says of itself, its verbs linked to their sections."""
    def linked(match: re.Match[str]) -> str:
        place = places.get(match[1])
        return f'  <a href="#{place}">{match[1]}</a>' if place else match[0]

    text = html.escape(help_of(program).strip())
    return f"<pre><code>{re.sub(r'^  ([a-z-]+)(?= {2,}[^ ])', linked, text, flags=re.M)}</code></pre>\n"


def verbs_of(program: pathlib.Path) -> list[str]:
    return re.findall(r"^  ([a-z-]+) {2,}\S", help_of(program), re.M)


def reference(plateau: pathlib.Path) -> str:
    """The help of every verb, a section each; of plateau-train too, where it is built."""
    # What plateau-train carries out has its help there.
    places = {verb: verb for verb in verbs_of(plateau) if verb != "train"}
    body = overview_part(plateau, places) + "".join(verb_part(plateau, verb, place) for verb, place in places.items())
    trainer = plateau.with_name("plateau-train")
    if not trainer.exists():
        return body + "<p>plateau-train was not built when this page was made: its verbs are left out.</p>\n"
    places = {verb: f"train-{verb}" for verb in verbs_of(trainer)}
    body += '<h1 id="plateau-train">plateau-train</h1>\n' + overview_part(trainer, places)
    return body + "".join(verb_part(trainer, verb, place) for verb, place in places.items())
