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


def verb_part(plateau: pathlib.Path, verb: str) -> str:
    lines = help_of(plateau, verb).split("\n")
    title = " ".join(lines[: lines.index("")])
    out = f'<h2 id="{verb}">{html.escape(title)}<a class="headerlink" href="#{verb}">#</a></h2>\n'
    name, block = "", []

    def flush() -> str:
        if name in ("", "Usage"):
            return paragraphs(block)
        return section(verb, name, block)

    for line in lines[lines.index("") + 1:]:
        if line.startswith("Usage: "):
            out += f"<pre><code>{html.escape(line[7:])}</code></pre>\n"
        elif line.endswith(":") and line and not line.startswith(" ") and block and not block[-1].strip():
            out += flush()
            name, block = line[:-1], []
        else:
            block.append(line)
    return out + flush()


def reference(plateau: pathlib.Path) -> str:
    """The help of every verb, a section each."""
    overview = help_of(plateau)
    # Those that another program carries out have their help there.
    elsewhere = {"train", "plan"}
    verbs = re.findall(r"^  ([a-z-]+) {2,}\S", overview, re.M)
    here = set(verbs) - elsewhere
    listed = re.sub(r"^  ([a-z-]+)(?= {2,}\S)", lambda m: f'  <a href="#{m[1]}">{m[1]}</a>' if m[1] in here else m[0],
                    html.escape(overview.strip()), flags=re.M)
    body = f"<pre><code>{listed}</code></pre>\n"
    for verb in verbs:
        if verb not in elsewhere:
            body += verb_part(plateau, verb)
    return body
