#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists what the shipped programs are made of, as SPDX 2.3 JSON, and collects the licences of it.

The linker's own maps say which archives and start-up objects went into the programs; Debian's package manager says which
package a file is of, from which source package, in which version. The page's two libraries come from npm's lock
file. So nothing is listed that is not inside, and a library that somebody adds appears by itself, or stops the
build here until its licence is entered below.

    sbom.py --version V --lock web/package-lock.json --output FILE.json [--licences FILE.txt] MAP...

SOURCE_DATE_EPOCH is the date of the document: the same sources give the same bytes.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

# By Debian's source package: what applies to the parts that are linked, read from its copyright file.
LICENCES = {
    "c-ares": "MIT",
    "cli11": "BSD-3-Clause",
    "curl": "curl",
    "elfutils": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "fmtlib": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libmicrohttpd": "LGPL-2.1-or-later",
    "libzstd": "BSD-3-Clause OR GPL-2.0-only",
    "openssl": "Apache-2.0",
    "simdjson": "Apache-2.0",
    "zlib": "Zlib",
}
# Made from Debian's sources by packaging/portable/libraries.sh; the headers' package names the sources.
MADE_HERE = {"libfmt.a": "libfmt-dev", "libsimdjson.a": "libsimdjson-dev", "libmicrohttpd.a": "libmicrohttpd-dev",
             "libcurl.a": "libcurl4-openssl-dev"}
# Headers only: compiled in, so no map shows it.
COMPILED_IN = ("libcli11-dev",)
COMMON_LICENCES = ("LGPL-2.1", "LGPL-3", "GPL-2", "GPL-3")


def linked_files(maps):
    """Archives and start-up objects that the linker took something from."""
    found = set()
    for path in maps:
        text = pathlib.Path(path).read_text(errors="replace")
        members = text.split("\nMemory Configuration", 1)[0]
        found.update(re.findall(r"^(\S+\.a)\(\S+\.o\)$", members, re.M))
        found.update(re.findall(r"^LOAD (\S+/[rS]?crt\w+\.o)$", text, re.M))
    # The project's own rooms are no parts of others.
    return sorted(path for path in found if not os.path.basename(path).startswith("libroom_"))


def package_of(path):
    name = os.path.basename(path)
    if name in MADE_HERE and not path.startswith("/usr/"):
        return MADE_HERE[name]
    real = os.path.realpath(path)
    for candidate in (real, real.replace("/usr/lib/", "/lib/", 1)):
        answer = subprocess.run(["dpkg", "-S", candidate], text=True, capture_output=True, check=False)
        if answer.returncode == 0:
            return answer.stdout.split(":", 1)[0].split(",")[0]
    sys.exit(f"sbom.py: {path} was linked, but is of no Debian package")


def parts(maps):
    """Source package -> (version, binary packages)."""
    packages = {package_of(path) for path in linked_files(maps)} | set(COMPILED_IN)
    found = {}
    for package in sorted(packages):
        source, version = subprocess.run(
            ["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", package], text=True, check=True,
            capture_output=True).stdout.splitlines()[0].split()
        if source not in LICENCES:
            sys.exit(f"sbom.py: {source} is linked in, but packaging/sbom.py knows no licence of it")
        found.setdefault(source, (version, []))[1].append(package)
    return found


def entry(name, version, licence, purl, supplier):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "supplier": supplier, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": purl}]}


def npm_parts(lock):
    """The page's libraries: what npm does not install for development alone."""
    for path, facts in sorted(json.loads(pathlib.Path(lock).read_text())["packages"].items()):
        if path and not facts.get("dev") and not facts.get("optional"):
            yield path.rsplit("node_modules/", 1)[1], facts["version"], facts["license"]


def document(version, debian, npm):
    packages = [entry("plateau", version, "Apache-2.0", f"pkg:pypi/plateau-judge@{version}", "NOASSERTION")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-plateau")]
    for source, (its_version, _) in debian.items():
        quoted = urllib.parse.quote(its_version, safe="")
        packages.append(entry(source, its_version, LICENCES[source], f"pkg:deb/debian/{source}@{quoted}?arch=source",
                              "Organization: Debian"))
        relations.append(("SPDXRef-plateau", "CONTAINS" if source == "cli11" else "STATIC_LINK",
                          packages[-1]["SPDXID"]))
    # Of the C library start-up code is inside, and in the static program what it uses; the others take the machine's.
    relations.append(("SPDXRef-plateau", "DYNAMIC_LINK", "SPDXRef-glibc"))
    for name, its_version, licence in npm:
        packages.append(entry(name, its_version, licence, f"pkg:npm/{name}@{its_version}", "NOASSERTION"))
        relations.append(("SPDXRef-plateau", "CONTAINS", packages[-1]["SPDXID"]))
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()[:16]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"plateau-{version}", "documentNamespace": f"https://spdx.org/spdxdocs/plateau-{version}-{digest}",
            "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: plateau-sbom.py"]},
            "packages": packages,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}


def licence_texts(debian):
    """What the licences ask to be passed on: Debian's copyright files, and the texts that these refer to."""
    chapters = ["Plateau is under the Apache License 2.0 (LICENSE). Its programs have these parts of others inside:\n"]
    for source, (version, packages) in debian.items():
        text = pathlib.Path(f"/usr/share/doc/{packages[0]}/copyright").read_text(errors="replace")
        chapters.append(f"{source} {version}: {LICENCES[source]}\n\n{text}")
    chapters.append((pathlib.Path(__file__).parent / "page-licences.txt").read_text())
    chapters += [pathlib.Path(f"/usr/share/common-licenses/{name}").read_text() for name in COMMON_LICENCES]
    return ("\n" + "=" * 100 + "\n\n").join(chapters)


def main():
    parser = argparse.ArgumentParser()
    for option in ("--version", "--lock", "--output"):
        parser.add_argument(option, required=True)
    parser.add_argument("--licences")
    parser.add_argument("maps", nargs="+")
    given = parser.parse_args()
    debian = parts(given.maps)
    text = json.dumps(document(given.version, debian, list(npm_parts(given.lock))), indent=2)
    pathlib.Path(given.output).write_text(text + "\n")
    if given.licences:
        pathlib.Path(given.licences).write_text(licence_texts(debian))


if __name__ == "__main__":
    main()
