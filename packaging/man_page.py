#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a manual page from what a program says of itself: man_page.py PROGRAM >PROGRAM.1

For plateau-train, whose help is made from the same table that its options are parsed by; `plateau man` prints its own.
`PROGRAM --help` gives name, verbs and exit codes, `PROGRAM VERB --help` the options of each.
"""
import os
import re
import subprocess
import sys


def said(*command):
    # A fixed width: the page is laid out by man.
    return subprocess.run(command, check=True, text=True, capture_output=True,
                          env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}).stdout


def quoted(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def as_printed(text):
    """Text whose columns mean something."""
    return ".nf\n" + quoted(text.strip("\n")) + "\n.fi\n"


def main():
    program = sys.argv[1]
    name = os.path.basename(program)
    overview = said(program, "--help")
    title, _, rest = overview.partition("\n\n")
    tagline = " ".join(title.split()).partition(" - ")[2]
    version = said(program, "--version").split()[1]
    verbs = re.findall(r"^  ([a-z]+) ", re.search(r"^Verbs:\n(.*?)\n\n", rest, re.S | re.M)[1] + "\n", re.M)
    day = said(sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), "version.py"), "--date").strip()
    out = [f'.TH {name.upper()} 1 {day} "{name} {version}" "User Commands"', ".SH NAME",
           f"{quoted(name)} \\- {quoted(tagline)}", ".SH SYNOPSIS", f".B {quoted(name)}", ".I verb",
           "[\\fIoptions\\fR] [\\fIfile\\fR ...]", ".SH DESCRIPTION", as_printed(rest.partition("\n\n")[2])]
    out.append(".SH VERBS")
    for verb in verbs:
        out += [f".SS {verb}", as_printed(said(program, verb, "--help").partition("\n\n")[2])]
    out += [".SH SEE ALSO", ".BR plateau (1)"]
    print("\n".join(line.rstrip("\n") for line in out))


if __name__ == "__main__":
    main()
