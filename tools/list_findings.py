#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the kinds of findings in docs/formats/answer.md: tools/list_findings.py [--check | --answers FILE]

Kinds, ids and templates are read from src/words/finding_table.cc; a template's slots are the numbers
and names that a finding of its kind has. Kinds that no code outside of src/words finds are left out.
--check writes nothing and exits with 1 if the page is not what the sources give. --answers holds the
table to answers of the program, one JSON object a line: exits with 1 if one has a kind, a number or
a name that the table does not list.
"""
import json
import pathlib
import re
import sys

import marked_blocks

PAGE = "docs/formats/answer.md"
ROW = re.compile(r'\{Kind::(\w+), "([^"]*)", Block::\w+,((?:\s*"(?:[^"\\]|\\.)*")+)\}')
SLOT = re.compile(r"\{([a-z_0-9]+)(?:[>-]([a-z_0-9]+))?(?::[^}]*)?\}")
# Slots that hold a text; all others hold a number.
NAMES = {"bounded", "component", "counted", "events", "likelier", "message", "other", "process", "quote",
         "remedy", "source", "unbounded"}
# What a finding has beside the slots of its template.
UNTOLD = {
    "bounded-ruled-out": ["weight"],
    "gpu-memory-grew": ["component"],
    "stopped-with-first-pass": ["mb_per_example"],
}


def without_optional(pattern: str) -> str:
    """The template without its bracketed parts."""
    kept, depth = "", 0
    for letter in pattern:
        depth += letter == "["
        kept += letter if depth == 0 else ""
        depth -= letter == "]"
    return kept


def slots(pattern: str) -> list[str]:
    found = [name for match in SLOT.finditer(pattern) for name in match.groups() if name]
    return list(dict.fromkeys(found))


def findings() -> dict[str, dict]:
    """By id: its wording, its slots, and those of them that it may lack."""
    table = (marked_blocks.ROOT / "src/words/finding_table.cc").read_text()
    sources = [path for path in sorted((marked_blocks.ROOT / "src").rglob("*.cc"))
               if path.parent.name != "words" and not path.name.endswith("_test.cc")]
    code = "\n".join(path.read_text() for path in sources)
    found = {}
    for kind, name, texts in ROW.findall(table):
        pattern = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', texts))
        if not pattern or not re.search(rf"Kind::{kind}\b", code):
            continue
        untold = UNTOLD.get(name, [])
        always = set(slots(without_optional(pattern)))
        found[name] = {"pattern": pattern, "slots": slots(pattern) + untold,
                       "may_lack": {each for each in slots(pattern) + untold if each not in always}}
    return found


def cell(finding: dict, names: bool) -> str:
    return ", ".join(f"`{slot}`" + ("?" if slot in finding["may_lack"] else "")
                     for slot in finding["slots"] if (slot in NAMES) == names)


def table() -> str:
    rows = ["| kind | numbers | names | told as |", "|---|---|---|---|"]
    for name, finding in findings().items():
        told = finding["pattern"].replace("|", "\\|")
        rows.append(f"| `{name}` | {cell(finding, False)} | {cell(finding, True)} | `{told}` |")
    return "\n".join(rows)


def findings_in(value):
    """Every finding anywhere in an answer."""
    if isinstance(value, dict):
        if set(value) == {"kind", "numbers", "names"}:
            yield value
        for each in value.values():
            yield from findings_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from findings_in(each)


def compare_answers(path: str) -> int:
    listed = findings()
    seen, wrong = set(), set()
    for line in pathlib.Path(path).read_text().splitlines():
        for finding in findings_in(json.loads(line)):
            kind = finding["kind"]
            seen.add(kind)
            known = listed.get(kind, {"slots": [], "may_lack": set()})
            has = {*finding["numbers"], *finding["names"]}
            wrong |= {f"{kind}: not listed"} if kind not in listed else set()
            wrong |= {f"{kind}: {each} is not listed" for each in has - set(known["slots"])}
            wrong |= {f"{kind}: lacks {each}" for each in set(known["slots"]) - known["may_lack"] - has}
            wrong |= {f"{kind}: {each} is listed as a name" for each in finding["numbers"] if each in NAMES}
            wrong |= {f"{kind}: {each} is listed as a number" for each in finding["names"] if each not in NAMES}
    for each in sorted(wrong):
        print(f"{PAGE}: {each}", file=sys.stderr)
    print(f"{len(seen)} of {len(listed)} kinds were seen in the answers")
    return 1 if wrong or not seen else 0


def main() -> int:
    if sys.argv[1:2] == ["--answers"]:
        return compare_answers(sys.argv[2])
    return marked_blocks.draw(PAGE, {"findings": table()}, "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
