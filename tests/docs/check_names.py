#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what the documentation calls by name exists: check_names.py PLATEAU [PAGE...]

Of every `plateau VERB ... --option` in a line of text or a table, the verb is one of the program's, and the option one of
that verb's. Blocks of commands are run instead (run_commands.py).
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INLINE = re.compile(r"`(plateau [^`]+)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
NO_VERBS = {"recording"}  # The name of a form.


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def main():
    plateau = sys.argv[1]
    pages = [pathlib.Path(page) for page in sys.argv[2:]] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    verbs = set(re.findall(r"^  ([a-z-]+) ", said(plateau, "help"), re.M)) | {"help", "man", "completion"}
    options = {}
    wrong, checked = [], 0
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        for command in INLINE.findall(text):
            # What comes behind the first -- is the job's own.
            words = command.split(" -- ")[0].split()
            verb = words[1]
            if not re.fullmatch(r"[a-z][a-z-]*", verb) or verb in NO_VERBS:
                continue  # An option of the program itself, or a placeholder.
            checked += 1
            if verb not in verbs:
                wrong.append(f"{page.name}: `{command}`: no verb {verb}")
                continue
            if verb not in options:
                options[verb] = set(OPTION.findall(said(plateau, verb, "--help")))
            wrong += [f"{page.name}: `{command}`: {verb} has no {option}" for option in OPTION.findall(" ".join(words[2:]))
                      if option not in options[verb] and option != "--help"]
    if wrong:
        sys.exit("FAILED: " + "\n".join(wrong))
    print(f"{checked} commands in lines of text name verbs and options that exist")


if __name__ == "__main__":
    main()
