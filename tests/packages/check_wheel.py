#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks into a wheel: is everything there, is nothing there twice, and does no program ask for more than glibc 2.28?

    check_wheel.py WHEEL VERSION
"""
import json
import re
import subprocess
import sys
import tempfile
import zipfile

NEWEST = (2, 28)
# The C library, in the pieces that it had until 2.34.
ALLOWED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1",
           "ld-linux-x86-64.so.2"}


def expect(holds, text):
    if not holds:
        sys.exit(f"FAILED: {text}")


def check_program(name, data):
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        symbols = subprocess.run(["objdump", "-T", file.name], check=True, text=True, capture_output=True).stdout
        head = subprocess.run(["readelf", "-dWS", file.name], check=True, text=True, capture_output=True).stdout
    versions = {tuple(map(int, number.split("."))) for number in re.findall(r"GLIBC_([0-9.]+)", symbols)}
    expect(versions, f"{name} has no versions of glibc at all")
    asked = ".".join(map(str, max(versions)))
    expect(max(versions) <= NEWEST, f"{name} asks for glibc {asked}: " + " ".join(
        line.split()[-1] for line in symbols.splitlines() if f"GLIBC_{asked})" in line))
    other = {found for found in re.findall(r"\b([A-Z]+[A-Z_]*)_[0-9.]+\)? ", symbols)} - {"GLIBC"}
    expect(not other, f"{name} asks for versions of other libraries: {other}")
    needed = re.findall(r"NEEDED\)[^[]*\[([^]]+)\]", head)
    expect(set(needed) <= ALLOWED, f"{name} needs {sorted(set(needed) - ALLOWED)}")
    # The loaders of old have a malloc of their own, which is not to be found before libc's.
    expect(needed and needed[0] == "libc.so.6", f"{name} needs {needed}, not libc first")
    expect("RUNPATH" not in head and "RPATH" not in head, f"{name} has a search path")
    expect(".debug_info" not in head, f"{name} has debug information")
    # The tracer's own names are needed to take it out of a process again.
    tracer = name.endswith("libplateau_tracer.so")
    expect((".symtab" in head) == tracer, f"{name}: its table of names is {'missing' if tracer else 'still there'}")
    print(f"{name}: {len(data)} bytes, glibc {asked} or later, needs {' '.join(needed)}")


def main():
    wheel, version = sys.argv[1:]
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    expect(len(names) == len(set(names)), "a file is there twice")
    data = f"plateau_judge-{version}.data"
    info = f"plateau_judge-{version}.dist-info"
    wanted = ["plateau.py", "plateau_jupyter.py", "plateau_pytest.py", "plateau_in_tests/plugin.py", f"{data}/scripts/plateau",
              f"{data}/data/lib/plateau/libplateau_tracer.so", f"{data}/data/lib/plateau/python/sitecustomize.py",
              f"{data}/data/lib/plateau/python/plateau_auto/client.py", f"{data}/data/share/man/man1/plateau.1",
              f"{data}/data/share/doc/plateau/third-party-licences.txt", f"{info}/sboms/plateau.spdx.json",
              f"{info}/licenses/LICENSE", f"{info}/entry_points.txt"]
    missing = [name for name in wanted if name not in names]
    expect(not missing, f"missing: {missing}")
    strays = [name for name in names if "__pycache__" in name or re.search(r"_test[.]", name) or "/test_" in name]
    expect(not strays, f"not for users: {strays}")
    for name in names:
        if archive.read(name)[:4] == b"\x7fELF":
            check_program(name, archive.read(name))
    expect(archive.getinfo(f"{data}/scripts/plateau").external_attr >> 16 & 0o111, "the program is not executable")
    parts = json.loads(archive.read(f"{info}/sboms/plateau.spdx.json"))["packages"]
    print("parts:", " ".join(f"{part['name']} {part['versionInfo']}," for part in parts).rstrip(","))


if __name__ == "__main__":
    main()
