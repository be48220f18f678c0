# SPDX-License-Identifier: Apache-2.0
"""check_site.py ROW PROFILE.json: does the first site of the profile match the row of sites.tsv?"""

import json
import re
import sys


def described(frame):
    place = frame["file"] or frame["module"] or ""
    return f"{frame['function'] or ''} {place}"


def main():
    name, words, stack = sys.argv[1].split("\t")
    with open(sys.argv[2], encoding="utf-8") as file:
        profile = json.load(file)
    assert profile["sites"], f"{name}: no site"
    first = profile["sites"][0]
    seen = " <- ".join(described(frame) for frame in first["frames"])
    assert re.search(stack, seen), f"{name}: the first site is {seen!r}, not {stack!r}"
    assert first["word"] in words.split("|"), f"{name}: {first['word']}: {first['why']}"
    assert profile["site"] == first["title"], f"{name}: {profile['site']!r} is not the first"


if __name__ == "__main__":
    main()
