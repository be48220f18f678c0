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
                  r"(?:alignas\(\w+\) )?(\w+)(?=\s*[{:;=]| final)", re.MULTILINE)
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


def names(source):
    """A source's own file-local names, those that it gets from headers, and its lines."""
    text = source.read_text()
    own = {name for block in NAMELESS.findall(text) for name in declared(block)}
    own |= set(STATIC.findall(text))
    seen = {name for header in included(source) for name in header_names(header)}
    return own, seen, text.count("\n")


class Group:
    """Sources that do not clash, with all their names."""

    def __init__(self):
        self.sources, self.lines, self.alone = [], 0, False
        self._own, self._seen = set(), set()

    def takes(self, own, seen):
        return not (self.alone or own & self._own or own & self._seen or seen & self._own)

    def add(self, source, own, seen, lines):
        self.sources.append(source)
        self.lines += lines
        self._own |= own
        self._seen |= seen


def groups(sources, most_lines):
    """The sources in groups of `most_lines` at most: each joins the first that takes it."""
    made = []
    for source in sources:
        own, seen, lines = names(source)
        alone = KERNEL.search(source.read_text()) is not None
        for group in made:
            if not alone and group.lines + lines <= most_lines and group.takes(own, seen):
                break
        else:
            group = Group()
            group.alone = alone
            made.append(group)
        group.add(source, own, seen, lines)
    return [group.sources for group in made]
