# SPDX-License-Identifier: Apache-2.0
"""check_site.py ROW PROFILE.json: does the first site of the profile match the row of sites.tsv?"""

import json
import re
import sys


def described(frame):
    place = frame["file"] or frame["module"] or ""
    return f"{frame['function'] or ''} {place}"


def main():
    name, words, stack = sys.argv[1].split("\t")[:3]
    with open(sys.argv[2], encoding="utf-8") as file:
        profile = json.load(file)
    assert profile["sites"], f"{name}: no site"
    first = profile["sites"][0]
    seen = " <- ".join(described(frame) for frame in first["frames"])
    assert re.search(stack, seen), f"{name}: the first site is {seen!r}, not {stack!r}"
    assert first["word"] in words.split("|"), f"{name}: {first['word']}: {first['why']}"
    # Memory that came before the first step, or comes and goes, is listed but is not a place of growth.
    grows = first["word"] not in ("level", "churn", "spike")
    wanted = first["title"] if grows else None
    assert profile["site"] == wanted, f"{name}: {profile['site']!r} is not {wanted!r}"


if __name__ == "__main__":
    main()
