#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes stand-ins for the machine's C library that offer only what glibc 2.28 had, to link against.

Question: how does a program that was compiled on glibc 2.36 come to run on 2.28?
Method: which version of a function a program asks for is decided by the linker, from the shared library that it
is shown; glibc keeps the old versions beside the new ones for programs of long ago. So the linker is shown
libraries of the same names without code, in which every function has the newest version that is not newer
than 2.28. What came later is missing there, and the link fails on it by name: shims.c supplies it.
Worked number: `exp` is there as 2.29 and as 2.2.5, so 2.2.5 is offered; `pthread_create` is 2.34 and 2.2.5, and
was in libpthread until 2.34, so a stand-in for libpthread offers it; `close_range` is 2.34 only, and left out.
Blind spot: the objects were compiled with the headers of 2.36. A structure that grew since would be passed to an
old library at its new size; none that Plateau uses did (the run in an older Debian, tests/packages, is the check).

    old_glibc.py DIRECTORY      writes libc.so, libm.so, ld.so, libpthread.so, libdl.so, librt.so, libutil.so there
"""
import pathlib
import re
import subprocess
import sys

NEWEST = (2, 28)
LINE = re.compile(r"^[0-9a-f]+\s(?P<flags>.{7})\s(?P<section>\S+)\s+(?P<size>[0-9a-f]+)\s+"
                  r"(?P<version>\(?GLIBC_(?P<number>[0-9.]+)\)?)\s+(?P<name>\S+)$")
# Where a function was that 2.34 moved into libc.so.6.
FORMER_HOMES = (
    ("libpthread", re.compile(r"_?_?(pthread|sem)_")),
    ("libdl", re.compile(r"dl(open|sym|close|error|addr|addr1|info|mopen|vsym)$")),
    ("librt", re.compile(r"(aio|lio|mq|shm|timer)_")),
    ("libutil", re.compile(r"(openpty|forkpty|login_tty|login|logout|logwtmp)$")),
)
SONAMES = {"libc": "libc.so.6", "libm": "libm.so.6", "libpthread": "libpthread.so.0", "libdl": "libdl.so.2",
           "librt": "librt.so.1", "libutil": "libutil.so.1", "ld": "ld-linux-x86-64.so.2"}


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def symbols_of(library):
    """name -> (versions, is it data, its size, its address, is it weak), of a library's dynamic table."""
    path = subprocess.run(["gcc", f"-print-file-name={SONAMES[library]}"], check=True, text=True,
                          capture_output=True).stdout.strip()
    table = subprocess.run(["objdump", "-T", path], check=True, text=True, capture_output=True).stdout
    found = {}
    for line in table.splitlines():
        match = LINE.match(line)
        if match is None or match["section"] in ("*UND*", "*ABS*"):
            continue
        versions = found.setdefault(match["name"], {})
        versions[numbers(match["number"])] = {
            "data": "O" in match["flags"], "size": int(match["size"], 16), "address": int(line.split()[0], 16),
            "weak": "w" in match["flags"]}
    return found


def home_of(library, name, versions):
    """The stand-in that offers it: another than `library` if it moved since 2.28."""
    if library == "libc" and max(versions) > NEWEST:
        for former, pattern in FORMER_HOMES:
            if pattern.match(name):
                return former
    return library


def offered():
    """stand-in -> [(name, version, facts)]."""
    result = {library: [] for library in SONAMES}
    for library in ("libc", "libm", "ld"):
        for name, versions in sorted(symbols_of(library).items()):
            old = [version for version in versions if version <= NEWEST]
            if old:
                best = max(old)
                result[home_of(library, name, versions)].append((name, best, versions[best]))
    return result


def assembler(entries):
    """Functions are one byte each; data has its size, and names of one address stay names of one address."""
    text, data, blocks = [".text"], [".data"], {}
    for number, (name, version, facts) in enumerate(entries):
        label = f"stand_in_{number}"
        dotted = ".".join(map(str, version))
        head = [f".{'weak' if facts['weak'] else 'globl'} {label}", f".symver {label}, {name}@@GLIBC_{dotted}"]
        if facts["data"]:
            blocks.setdefault((facts["address"], facts["size"]), []).append(
                head + [f".type {label}, @object", f".size {label}, {facts['size']}", f"{label}:"])
        else:
            text += head + [f".type {label}, @function", f"{label}: .byte 0"]
    for (_, size), names in sorted(blocks.items()):
        data.append(".balign 32")
        data += [line for lines in names for line in lines]
        data.append(f".skip {max(size, 1)}")
    return "\n".join(text + data + ['.section .note.GNU-stack,"",@progbits', ""])


def version_script(entries):
    nodes, before = [], ""
    for version in sorted({version for _, version, _ in entries}):
        name = "GLIBC_" + ".".join(map(str, version))
        nodes.append(f"{name} {{{' local: stand_in_*;' if not before else ''} }}{before};")
        before = f" {name}"
    return "\n".join(nodes) + "\n"


def write(directory, library, entries):
    source, script = directory / f"{library}.s", directory / f"{library}.map"
    source.write_text(assembler(entries))
    script.write_text(version_script(entries))
    subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{SONAMES[library]}",
                    f"-Wl,--version-script={script}", "-o", str(directory / f"{library}.so"), str(source)], check=True)


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for library, entries in offered().items():
        if entries:
            write(directory, library, entries)


if __name__ == "__main__":
    main()
