# SPDX-License-Identifier: Apache-2.0
"""Does calling a function again and again leave memory behind? The measurement behind
plateau_pytest.

The question is asked in the process of the test, so it may do what a watcher must not: collect
garbage before every reading, and call the function as often as the answer needs.

Method. After `warmup` calls, `calls` calls are made with up to 20 readings between them. The growth
per call is the median slope over all pairs of readings (Theil and Sen), with the interval that
Kendall's rank test gives: one late import or one large jump moves neither. Two things are read:
anonymous memory of the process (smaps_rollup, which is exact where statm is not), and the bytes
that malloc has handed out, which show growth that still fits into free memory of the heap.

Growth that begins is no leak yet: a cache fills, an allocator warms up. So growth above the limit
is looked at again, over twice as many calls, then four times; the test fails only if the last and
longest stretch still grows. A passing test pays for one stretch. A stretch that would take too long,
or more memory than a quarter of what is free, is left out; then both halves of the first must grow.

Small Python objects can grow inside pages that are there already. They are counted in blocks
(sys.getallocatedblocks), at no cost. Only if so many more blocks could be above the limit, their
bytes are measured by tracemalloc over one more stretch.

Worked case: an lru_cache of 100 entries of 50 kB, 30 calls, one new entry a call. Stretch one grows
by 50 kB a call, and so does stretch two (calls 36 to 95). Stretch three, calls 96 to 215, grows for 5
calls and is level for 115: median slope 0, the test passes. Without maxsize all three grow.

Blind spots: a cache that takes longer to fill than seven times `calls` looks like a leak (the
message names it if it is an lru_cache); memory of other processes and of GPUs is not seen; nor is
growth below `hidden` bytes a call, which every answer states.
"""
import array
import contextlib
import gc
import math
import re
import sys
import time

import plateau

READINGS = 20  # Of one stretch: 190 pairs, and the collections between them cost little.
MIN_READINGS = 6  # Below this the interval of the slope has no ends.
STRETCHES = (1, 2, 4)  # Lengths, in units of `calls`.
# Less than this over a whole stretch is noise of the source: pages that an allocator touches when
# it likes, chunks that malloc keeps per thread, caches of the interpreter.
FLOOR_BYTES = {"anon": 64 * 1024, "heap": 16 * 1024, "traced": 4 * 1024}
LARGEST_BLOCK = 512  # Of Python's allocator of small objects; larger ones go to malloc.
MAX_READINGS = 65  # Of a loop, whose length is not known; every second is left out when it is full.
MAX_SPENT_BYTES = 1e9  # A stretch that is expected to leave more behind is not begun.

_UNITS = {"": 1, "b": 1, "byte": 1, "bytes": 1, "k": 1024, "m": 1024 ** 2, "g": 1024 ** 3,
          "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1024, "mib": 1024 ** 2, "gib": 1024 ** 3}


def parse_bytes(text):
    """Bytes of "1MB", "40 kB", "1.5MiB" or a number; as everywhere in Plateau, MB is 1,000,000."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        amount, unit = float(text), 1
    else:
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]*)\s*", str(text))
        unit = _UNITS.get(match.group(2).lower()) if match else None
        if unit is None:
            raise ValueError("%r is no amount of memory; try \"1MB\", \"40kB\" or bytes" % (text,))
        amount = float(match.group(1))
    if not 0 <= amount < math.inf:
        raise ValueError("%r is no amount of memory: it must be 0 or more" % (text,))
    return amount * unit


def format_bytes(count):
    """"312 B", "40.1 kB", "1.05 MB": three digits."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(count) >= scale * 0.9995:
            return "%.3g %s" % (count / scale, unit) if abs(count) < 999.5 * scale else (
                "%.0f %s" % (count / scale, unit))
    return "%.0f B" % count


# ---- readings -------------------------------------------------------------------------------


def _anon_bytes():
    """Anonymous memory of this process that is not given back, swapped pages included."""
    try:
        with open("/proc/self/smaps_rollup", "rb", buffering=0) as file:
            fields = re.findall(rb"^(Anonymous|LazyFree|Swap):\s+(\d+)", file.read(), re.M)
        sizes = {name: int(kb) * 1024 for name, kb in fields}
        return sizes[b"Anonymous"] - sizes.get(b"LazyFree", 0) + sizes.get(b"Swap", 0)
    except (OSError, KeyError, ValueError):
        pass
    gauges = dict(plateau._memory_gauges())  # statm: off by some hundred kB on many cores.
    return int(gauges.get("ram.anon_mb", 0) * 1e6)


def _heap_bytes():
    """Bytes that malloc has handed out and not got back; 0 where glibc does not tell."""
    function = plateau._mallinfo()
    if function is None or function.restype is not plateau._MallInfo2:
        return 0
    info = function()
    return info.uordblks + info.hblkhd


def _blocks():
    return sys.getallocatedblocks() if hasattr(sys, "getallocatedblocks") else 0


def _bytes_to_spend():
    """A quarter of what the machine has left, within reason."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free_kb = int(re.search(r"MemAvailable:\s+(\d+)", file.read()).group(1))
        return min(MAX_SPENT_BYTES, free_kb * 1024 / 4)
    except (OSError, AttributeError, ValueError):
        return MAX_SPENT_BYTES


def _traced_bytes():
    import tracemalloc
    return tracemalloc.get_traced_memory()[0]


class Series:
    """Readings of every source, by how many calls were made before each. Its room is made beforehand:
    a list of numbers would be among the small objects that grow."""

    def __init__(self, sources):
        self.sources = sources
        self.size = 0
        self._calls = array.array("q", bytes(8 * MAX_READINGS))
        self._values = {name: array.array("q", bytes(8 * MAX_READINGS)) for name in sources}

    def read(self, calls, collect):
        if collect:
            gc.collect()
        if self.size < MAX_READINGS:
            self._calls[self.size] = calls
            for name, source in self.sources.items():
                self._values[name][self.size] = source()
            self.size += 1

    def full(self):
        return self.size == MAX_READINGS

    def thin(self):
        """Keeps every second reading, the first among them."""
        for column in [self._calls] + list(self._values.values()):
            for kept in range(0, self.size, 2):
                column[kept // 2] = column[kept]
        self.size = (self.size + 1) // 2

    def calls(self, first=0):
        return list(self._calls[first:self.size])

    def slope(self, name, first=0):
        return Slope(self.calls(first), list(self._values[name][first:self.size]))


SOURCES = {"anon": _anon_bytes, "heap": _heap_bytes, "blocks": _blocks}


@contextlib.contextmanager
def settled_heap():
    """What lives now is left out of the collections inside, so that each costs what the calls made
    and not what was imported. Garbage among it waits until the end."""
    gc.collect()
    freezes = hasattr(gc, "freeze") and gc.get_freeze_count() == 0
    if freezes:
        gc.freeze()
    try:
        yield
    finally:
        if freezes:
            gc.unfreeze()


# ---- statistics -----------------------------------------------------------------------------


class Slope:
    """Growth per call: `mid`, and the ends of its 95 % interval. A reading is taken for independent of the
    others, which memory is not quite; that is why a second stretch must say the same."""

    def __init__(self, calls, values):
        points = list(zip(calls, values))
        self.calls = calls[-1] - calls[0]
        slopes = sorted((y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(points)
                        for x2, y2 in points[i + 1:] if x2 > x1)
        n, pairs = len(points), len(slopes)
        half = 1.96 * math.sqrt(n * (n - 1) * (2 * n + 5) / 18.0)
        self.low = slopes[max(0, int((pairs - half) / 2))]
        self.high = slopes[min(pairs - 1, int(math.ceil((pairs + half) / 2)))]
        middle = pairs // 2
        self.mid = slopes[middle] if pairs % 2 else (slopes[middle - 1] + slopes[middle]) / 2

    def state(self, allowed, floor):
        """"grows" above the limit for sure, "level" below it for sure, or "unclear"."""
        if self.low > allowed and self.mid * self.calls > floor:
            return "grows"
        if self.high <= allowed or self.mid * self.calls <= floor:
            return "level"
        return "unclear"


class Growth:
    """The answer: `word` is "level", "grows" or "undecided"; bytes are per call (or step)."""

    def __init__(self, word, source, slope, allowed, hidden, calls, stretches):
        self.word = word
        self.noun = "call"
        self.source = source
        self.mid, self.low, self.high = slope.mid, slope.low, slope.high
        self.over = slope.calls
        self.allowed = allowed
        self.hidden = hidden
        self.calls = calls
        self.stretches = stretches

    def facts(self):
        """For reports: plain numbers."""
        return {"word": self.word, "growth_bytes": round(self.mid), "low_bytes": round(self.low),
                "high_bytes": round(self.high), "allowed_bytes": round(self.allowed),
                "hidden_bytes": round(self.hidden), "per": self.noun, "count": self.calls,
                "source": self.source}


def _judge(series, names, allowed, calls, stretches, first=0):
    """The worst source decides: growth first, then doubt."""
    rank = {"grows": 2, "unclear": 1, "level": 0}
    answers = []
    for name in names:
        slope = series.slope(name, first)
        state = slope.state(allowed, FLOOR_BYTES[name])
        answers.append((rank[state], slope.mid, name, slope, state))
    _, _, name, slope, state = max(answers, key=lambda answer: answer[:2])
    # What pages do not show yet, malloc does; what both leave open could be there.
    hidden = max(max(slope.high, FLOOR_BYTES[name] / slope.calls)
                 for _, _, name, slope, _ in answers)
    word = "undecided" if state == "unclear" else state
    return Growth(word, name, slope, allowed, hidden, calls, stretches)


# ---- functions ------------------------------------------------------------------------------


class Limits:
    """What is asked. `allowed` in bytes per call; `patience_s` bounds the looking again."""

    def __init__(self, allowed, calls=30, warmup=5, collect=True, patience_s=60.0):
        self.allowed = allowed
        self.calls = calls
        self.warmup = warmup
        self.collect = collect
        self.patience_s = patience_s


def _stretch(call, calls, sources, collect):
    """A series over `calls` calls."""
    series = Series(sources)
    marks = {round(i * calls / READINGS) for i in range(READINGS + 1)}
    with settled_heap():
        for done in range(calls + 1):
            if done:
                call()
            if done in marks:
                series.read(done, collect)
    return series


def _traced_stretch(call, calls, collect):
    import tracemalloc
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start(1)
    try:
        return _stretch(call, calls, {"traced": _traced_bytes, "blocks": _blocks}, collect)
    finally:
        if not running:
            tracemalloc.stop()


def measure(call, limits):
    """Calls `call` as often as it takes and returns the Growth. What it raises is passed on."""
    for _ in range(limits.warmup):
        call()
    began = time.monotonic()
    made = 0
    for stretches, length in enumerate(STRETCHES, 1):
        calls = length * limits.calls
        series = _stretch(call, calls, SOURCES, limits.collect)
        made += calls
        growth = _judge(series, ("anon", "heap"), limits.allowed, made, stretches)
        if growth.word == "level":
            return _with_small_objects(call, series, growth, limits)
        # The next stretch takes twice the time of this one, about all that was spent so far.
        if 3 * (time.monotonic() - began) > limits.patience_s or (
                2 * calls * growth.high > _bytes_to_spend()):
            break
    if stretches == 1:  # Too dear to look again: then the second half has to say the same.
        half = series.size // 2
        if series.size - half >= MIN_READINGS:
            later = _judge(series, ("anon", "heap"), limits.allowed, made, stretches, half)
            growth = later if later.word != "grows" else growth
    return growth


def _more_objects(series, allowed):
    """Whether so many more small objects are there that they could be above the limit."""
    blocks = series.slope("blocks")
    return blocks.low > 0 and blocks.high * LARGEST_BLOCK > allowed


def _with_small_objects(call, series, growth, limits):
    """Level by its pages; but more small objects may sit in them. tracemalloc tells their bytes. It does not
    know what was there before, so a pool that is renewed seems to grow; the count of blocks does not."""
    if not _more_objects(series, limits.allowed):
        return growth
    made, answer = growth.calls, growth
    for length in STRETCHES:
        calls = length * limits.calls
        made += calls
        traced = _traced_stretch(call, calls, limits.collect)
        answer = _judge(traced, ("traced",), limits.allowed, made, growth.stretches + length)
        if answer.word != "grows" or not _more_objects(traced, limits.allowed):
            return growth
    return answer


# ---- loops ----------------------------------------------------------------------------------


class Loop:
    """The same for a loop that somebody else runs: step() after each of its turns, then judge().
    The loop cannot be made longer, so growth has to hold over all steps after the warm-up, and over
    the second half of them."""

    def __init__(self, limits):
        self.limits = limits
        self.steps = 0
        self.series = Series(SOURCES)
        self._stride = 1
        self._heap = contextlib.ExitStack()

    def step(self):
        self.steps += 1
        done = self.steps - self.limits.warmup
        if done == 0 or (done == 1 and self.limits.warmup == 0):
            self._heap.enter_context(settled_heap())
        if done >= 0 and done % self._stride == 0:
            self.series.read(done, self.limits.collect)
            if self.series.full():
                self.series.thin()
                self._stride *= 2

    def close(self):
        self._heap.close()

    def judge(self):
        """The Growth, or None after too few steps to tell."""
        self.close()
        readings = self.series.size
        if readings < 2 * MIN_READINGS:
            return None
        names = ("anon", "heap")
        whole = _judge(self.series, names, self.limits.allowed, self.steps, 1)
        later = _judge(self.series, names, self.limits.allowed, self.steps, 1, readings // 2)
        answer = later if later.word != "grows" else whole
        answer.noun = "step"
        return answer

    def wanted_steps(self):
        return self.limits.warmup + 2 * MIN_READINGS
