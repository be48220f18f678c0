# SPDX-License-Identifier: Apache-2.0
"""Which sources can be compiled as one: those that give no file-local name to two things.

Most of what a compiler does with a small source is reading the same headers again. So the build
(tools/unity_groups.py) and clang-tidy (tools/tidy.py) put several sources of a room into one. Two
sources clash if one declares, in a nameless namespace or as static, a name that the other declares
too or gets from a header: at best that does not compile, at worst a call finds another function.
"""

import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
NAMELESS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^(?:template <.*>\s)?(?:struct|class|enum class|enum|using|union) "
                  r"(?:alignas\(\w+\) )?(\w+)(?=\s*(?:[{;=]|:(?!:))| final)", re.MULTILINE)
# `using testing::Not;`: another source may say the same. A name alone is what it means to this one.
USING = re.compile(r"^using (?:::)?((?:\w+::)+)(\w+);$", re.MULTILINE)
CONSTANT = re.compile(r"^(?:inline |static |thread_local )*(?:constexpr|constinit|const|static|thread_local|std::)"
                      r"[^()\n]*?\b(\w+)(?=\s*(?:=|\[|\{|;))", re.MULTILINE)
# The kernel's headers and libc's define the same structures; who includes the former stays alone.
KERNEL = re.compile(r"^#include <(?:linux|asm)/", re.MULTILINE)
FUNCTION = re.compile(r"^[A-Za-z_][\w:<>,&*\[\] ]*[ &*>](\w+)\(", re.MULTILINE)
STATIC = re.compile(r"^(?:static|#define) .*?\b(\w+)(?=[(=;\[ ])", re.MULTILINE)


def declared(text):
    """Names of types, constants and functions that stand at the left edge of the text."""
    return {name for pattern in (TYPE, CONSTANT, FUNCTION) for name in pattern.findall(text)}


@functools.cache
def included(path):
    """The headers of the project that a file includes, however indirectly, as a set of paths."""
    found = set()
    for name in INCLUDE.findall(path.read_text()):
        for header in (ROOT / "src" / name, ROOT / name, path.parent / name):
            if header.exists():
                found |= {header} | included(header)
                break
    return found


@functools.cache
def header_names(path):
    return frozenset(declared(path.read_text()))


class Names:
    """What a source, or several, gives names to: `own` in the file alone, `seen` through headers, `borrowed` by `using a::b;`."""

    def __init__(self, source=None):
        self.own, self.seen, self.borrowed = set(), set(), {}
        if source is None:
            return
        text = source.read_text()
        self.own = {name for block in NAMELESS.findall(text) for name in declared(block)} | set(STATIC.findall(text))
        self.seen = {name for header in included(source) for name in header_names(header)}
        self.borrowed = {name: scope for scope, name in USING.findall(text)}

    def clash(self, other):
        return self._hides(other) or other._hides(self)

    def _hides(self, other):
        there = other.own | other.seen
        return bool(self.own & there) or any(name in there or other.borrowed.get(name, scope) != scope
                                             for name, scope in self.borrowed.items())

    def add(self, other):
        self.own |= other.own
        self.seen |= other.seen
        self.borrowed |= other.borrowed


class Group:
    """Sources that do not clash, with all their names."""

    def __init__(self, alone):
        self.sources, self.lines, self.alone = [], 0, alone
        self._names = Names()

    def takes(self, names):
        return not (self.alone or self._names.clash(names))

    def add(self, source, names, lines):
        self.sources.append(source)
        self.lines += lines
        self._names.add(names)


def groups(sources, most_lines):
    """The sources in groups of `most_lines` at most: each joins the first that takes it."""
    made = []
    for source in sources:
        text = source.read_text()
        names, lines, alone = Names(source), text.count("\n"), KERNEL.search(text) is not None
        for group in made:
            if not alone and group.lines + lines <= most_lines and group.takes(names):
                break
        else:
            group = Group(alone)
            made.append(group)
        group.add(source, names, lines)
    return [group.sources for group in made]
