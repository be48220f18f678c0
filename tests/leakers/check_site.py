# SPDX-License-Identifier: Apache-2.0
"""check_site.py ROW PROFILE.json: does the first site of the profile match the row of sites.tsv?"""

import json
import re
import sys


def described(frame):
    place = frame["file"] or frame["module"] or ""
    return f"{frame['function'] or ''} {place}"


def chain(site):
    return " <- ".join(described(frame) for frame in site["frames"])


def main():
    name, words, stack = sys.argv[1].split("\t")[:3]
    with open(sys.argv[2], encoding="utf-8") as file:
        profile = json.load(file)
    assert profile["sites"], f"{name}: no site"
    # By the bytes they grew: a mapping that came once, a thread's stack, may stand before the place in question.
    of_interest = [site for site in profile["sites"][:3] if re.search(stack, chain(site))]
    assert of_interest, f"{name}: the first sites are {[chain(site) for site in profile['sites'][:3]]}, not {stack!r}"
    first = of_interest[0]
    assert first["word"] in words.split("|"), f"{name}: {first['word']}: {first['why']}"
    # What is named as the place of growth is one of those listed; where the place in question leads and grows, that one.
    titles = [site["title"] for site in profile["sites"]]
    assert profile["site"] is None or profile["site"] in titles, f"{name}: {profile['site']!r} is not listed"
    leads = first is profile["sites"][0] and first["word"] in ("unbounded", "filling", "grown", "one-off")
    assert not leads or profile["site"] is not None, f"{name}: no place is named"


if __name__ == "__main__":
    main()
