# SPDX-License-Identifier: Apache-2.0
"""Who grew: the lines that allocate, the containers that get longer, the types that get more.

Asked only after a test was found to grow, in a short second pass over a few more calls, so that
passing tests pay nothing. Three looks are taken, at the start, in the middle and at the end. What
grew by about as much in both halves grows per call; what grew in one of them happened once.

Lines come from tracemalloc: of each call stack the innermost frame of the user's own code stands for
it. Containers are found by length: every list, dict, set, deque, bytearray and lru_cache that the
collector reaches is looked at thrice, and the ones that got longer are named by what refers to
them: a module, a class, an instance, a closure, a fixture.

Blind spots: memory that native code allocates has no line here, and containers of extension types
that do not tell the collector what they hold have no name.
"""
import array
import ast
import collections
import functools
import gc
import itertools
import linecache
import sys
import tracemalloc

from plateau_in_tests.growth import format_bytes
from plateau_in_tests.names import OWN_FILES, foreign_places, holder_of, place, short

LOOKS = 10  # Calls between two looks.
SHOWN = 3  # Of lines, containers and types each.
MAX_FRAMES = 16
MAX_EXPANDED = 1000  # Elements of a container up to which it is looked into.
_LENGTHS = {list: list.__len__, dict: dict.__len__, set: set.__len__,
            collections.deque: collections.deque.__len__, bytearray: bytearray.__len__,
            array.array: array.array.__len__}
_LRU = type(functools.lru_cache()(lambda: None))


# ---- containers -----------------------------------------------------------------------------


def _lru_length(cache):
    return cache.cache_info().currsize


def _length_by(kind):
    """How long things of a type are: by the built-in's own method, never by an override, which could
    do anything. None for what is not a container."""
    if kind is _LRU:
        return _lru_length
    return next((_LENGTHS[base] for base in kind.__mro__ if base in _LENGTHS), None)


def _everything():
    """All that the collector tracks, and what only that refers to: dicts of plain values, byte arrays.
    Long containers are not looked into: a list of a million numbers says nothing."""
    tracked = gc.get_objects()
    holders = [thing for thing in tracked
               if type(thing) not in (list, dict, set, tuple) or len(thing) <= MAX_EXPANDED]
    untracked = {}
    for first in range(0, len(holders), 10000):
        for thing in gc.get_referents(*holders[first:first + 10000]):
            if type(thing) in _LENGTHS and not gc.is_tracked(thing):
                untracked[id(thing)] = thing
    return tracked + list(untracked.values())


class _Look:
    """Lengths by identity, and how many there are of each type. Holds no object."""

    def __init__(self):
        gc.collect()
        self.lengths = {}
        everything = _everything()
        self.types = collections.Counter(map(type, everything))
        measured = {kind: _length_by(kind) for kind in self.types}
        for thing in everything:
            length_of = measured.get(type(thing))
            if length_of is not None:
                self.lengths[id(thing)] = length_of(thing)


def _steady(first, second, calls):
    """Growth per call if both halves grew alike, or 0."""
    if min(first, second) * 2 < max(first, second) or min(first, second) * 2 < calls:
        return 0
    return (first + second) / (2 * calls)


def _weight(container):
    """Bytes of what was put in last, about."""
    try:
        if isinstance(container, dict):
            last = container[next(reversed(container))]
        else:
            last = container[-1]
        nbytes = getattr(last, "nbytes", 0)
        return sys.getsizeof(last) + (nbytes if isinstance(nbytes, int) else 0)
    except Exception:  # pylint: disable=broad-except
        return 1  # Empty, a set, or an object with a mind of its own.


# ---- what is said of them -------------------------------------------------------------------


def _container_line(thing, per_call, noun):
    if type(thing) is _LRU:
        info = thing.cache_info()
        end = ("; it stops at its maxsize of %d: warmup=%d fills it first" % (
            info.maxsize, info.maxsize) if info.maxsize else "; it has no maxsize")
        return "the lru_cache of %s got %s longer per %s%s" % (
            place(thing.__wrapped__), _count(per_call), noun, end)
    holder = holder_of(thing)
    if holder is None:
        return None
    unit = " bytes" if isinstance(thing, bytearray) else ""
    return "%s %s grew by %s%s per %s" % (
        type(thing).__name__, holder, _count(per_call), unit, noun)


def _count(number):
    """Whole where it nearly is: the looks themselves make an object or two."""
    return "%d" % round(number) if abs(number - round(number)) < 0.15 else "%.2g" % number


# ---- lines ----------------------------------------------------------------------------------


def _frame_of(traceback):
    """(the frame that stands for a stack, the innermost one), or None for what the harness allocates.
    tracemalloc lists the oldest first."""
    inner = traceback[-1]
    for frame in reversed(traceback):
        if frame.filename in OWN_FILES:
            return None
        if not frame.filename.startswith(foreign_places()):
            return frame, inner
    return inner, inner  # A stack deeper than what is kept of it.


def _function_at(path, number):
    """The name of the function that the line is in, "" at the top."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return ""
    found = ""
    for node in ast.walk(tree):  # Outer functions come first: the last that fits is the innermost.
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.lineno <= number <= node.end_lineno:
                found = node.name
    return found


def _site_line(frame, inner, per_call, noun):
    function = _function_at(frame.filename, frame.lineno)
    source = linecache.getline(frame.filename, frame.lineno).strip()
    text = "%s per %s from %s:%d" % (
        format_bytes(per_call), noun, short(frame.filename), frame.lineno)
    if function:
        text += " in %s" % function
    if inner != frame:
        text += ", by way of %s:%d" % (short(inner.filename), inner.lineno)
    return text + (": %s" % source[:80] if source else "")


def _sites(before, after, calls, noun):
    """Lines of text, the largest first, and the bytes per call that Python's allocators saw."""
    total = 0
    grown = {}
    for change in after.compare_to(before, "traceback"):
        frames = _frame_of(change.traceback)
        if frames is None:
            continue
        frame = frames[0]
        total += change.size_diff
        size, count, _ = grown.get((frame.filename, frame.lineno), (0, 0, None))
        grown[frame.filename, frame.lineno] = (
            size + change.size_diff, count + change.count_diff, frames)
    largest = sorted(grown.values(), key=lambda entry: -entry[0])
    # A tenth of what grew, and about once a call at least.
    kept = [entry for entry in largest[:SHOWN]
            if entry[0] * 10 >= total > 0 and (entry[1] * 2 >= calls or entry[1] <= 1)]
    return [_site_line(*frames, size / calls, noun) for size, _, frames in kept], total / calls


# ---- the pass -------------------------------------------------------------------------------


class Probe:
    """start(), some calls, middle(), as many calls, finish(), which returns lines of text."""

    def __init__(self, noun="call"):
        self.noun = noun
        self.python_bytes = 0.0  # Per call, known after finish().
        self._looks = []
        self._calls = []
        self._running = False
        self._before = None

    def start(self, calls=0):
        self._look(calls)
        self._running = tracemalloc.is_tracing()
        if not self._running:
            tracemalloc.start(MAX_FRAMES)
        self._before = tracemalloc.take_snapshot()

    def middle(self, calls):
        self._look(calls)

    def finish(self, calls):
        gc.collect()
        try:
            after = tracemalloc.take_snapshot()
        finally:
            self.close()
        self._look(calls)
        lines = self._containers()
        half = self._calls[1] - self._calls[0]
        sites, self.python_bytes = _sites(
            self._before, after, self._calls[2] - self._calls[0], self.noun)
        return lines + sites + self._types(half)

    def close(self):
        if self._before is not None and not self._running and tracemalloc.is_tracing():
            tracemalloc.stop()

    def _look(self, calls):
        self._looks.append(_Look())
        self._calls.append(calls)

    def _containers(self):
        """The containers that got longer in both halves, the heaviest first."""
        first, second, third = (look.lengths for look in self._looks)
        calls = self._calls[1] - self._calls[0]
        own = {id(look.lengths) for look in self._looks} | {id(look.types) for look in self._looks}
        own |= {id(self._looks), id(self._calls)}
        rates = {}
        for key, length in third.items():
            if key in first and key in second and key not in own and length > first[key]:
                rate = _steady(second[key] - first[key], length - second[key], calls)
                if rate:
                    rates[key] = rate
        grown = [thing for thing in _everything() if id(thing) in rates] if rates else []
        grown.sort(key=lambda thing: -rates[id(thing)] * _weight(thing))
        lines = (_container_line(thing, rates[id(thing)], self.noun) for thing in grown[:20])
        named = list(itertools.islice(filter(None, lines), SHOWN))
        if grown and not named:
            named = ["a %s that no name was found for grew by %s per %s" % (
                type(grown[0]).__name__, _count(rates[id(grown[0])]), self.noun)]
        return named

    def _types(self, calls):
        first, second, third = (look.types for look in self._looks)
        rates = {kind: _steady(second[kind] - first[kind], third[kind] - second[kind], calls)
                 for kind in third}
        most = sorted((kind for kind in rates if rates[kind]), key=lambda kind: -rates[kind])
        said = ["%s %s" % (_count(rates[kind]), kind.__qualname__) for kind in most[:SHOWN]]
        return ["%s more per %s (Python objects)" % (", ".join(said), self.noun)] if said else []


def find(call, noun="call"):
    """Calls `call` some times more and returns (lines of text, bytes per call that Python saw)."""
    probe = Probe(noun)
    for _ in range(2):
        call()
    try:
        probe.start()
        for done in (LOOKS, 2 * LOOKS):
            for _ in range(LOOKS):
                call()
            if done == LOOKS:
                probe.middle(done)
        return probe.finish(2 * LOOKS), probe.python_bytes
    finally:
        probe.close()
