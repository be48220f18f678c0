#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version, which stands in CMakeLists.txt.

    version.py              prints it
    version.py --check      fails if the Python client or the first released section of CHANGELOG.md has another
    version.py --notes      prints that section: the notes of the release
    version.py --date       prints its day, which manual pages carry
    version.py --set 0.3.0  writes it to CMakeLists.txt, with today's date, and to the client
"""
import datetime
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACES = {
    ROOT / "CMakeLists.txt": re.compile(r"(project\(plateau VERSION )([0-9.]+)"),
    # One file that users copy, so it carries its version itself.
    ROOT / "clients" / "python" / "plateau.py": re.compile(r'(^__version__ = ")([0-9.]+)', re.M),
}
DATE = re.compile(r"(set\(PLATEAU_RELEASE_DATE )([0-9]{4}-[0-9]{2}-[0-9]{2})\)")


def found(path):
    match = PLACES[path].search(path.read_text())
    if match is None:
        sys.exit(f"version.py: {path.relative_to(ROOT)} has no version")
    return match[2]


def notes():
    """(version, text) of the topmost section of the changelog that is not empty and has a number."""
    text = (ROOT / "CHANGELOG.md").read_text()
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        match = re.match(r"\[?([0-9]+\.[0-9]+\.[0-9]+)\]?[^\n]*\n", section)
        if match:
            return match[1], section[match.end():].strip() + "\n"
    sys.exit("version.py: CHANGELOG.md has no section of a version")


def main():
    version = found(ROOT / "CMakeLists.txt")
    if sys.argv[1:] == []:
        print(version)
    elif sys.argv[1:] == ["--check"]:
        wrong = [f"{path.relative_to(ROOT)} has {found(path)}" for path in PLACES if found(path) != version]
        if notes()[0] != version:
            wrong.append(f"the newest section of CHANGELOG.md is {notes()[0]}")
        if wrong:
            sys.exit(f"version.py: CMakeLists.txt has {version}, but " + ", and ".join(wrong))
    elif sys.argv[1:] == ["--date"]:
        print(DATE.search((ROOT / "CMakeLists.txt").read_text())[2])
    elif sys.argv[1:] == ["--notes"]:
        print(f"# Plateau {version}\n\n{notes()[1]}", end="")
    elif len(sys.argv) == 3 and sys.argv[1] == "--set" and re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", sys.argv[2]):
        for path, pattern in PLACES.items():
            path.write_text(pattern.sub(lambda match: match[1] + sys.argv[2], path.read_text(), count=1))
        place = ROOT / "CMakeLists.txt"
        today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        place.write_text(DATE.sub(lambda match: f"{match[1]}{today})", place.read_text(), count=1))
    else:
        sys.exit("usage: version.py [--check | --notes | --date | --set MAJOR.MINOR.PATCH]")


if __name__ == "__main__":
    main()
