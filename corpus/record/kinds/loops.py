# SPDX-License-Identifier: Apache-2.0
"""Loops of Python: caches, text, what is flushed; each bounded and as a leak."""
import functools
import math

from kinds import drawn, fills, leaks, one_of, span

loop = functools.partial(drawn, number=5)
bounded = functools.partial(loop, label="plateau")
leak = functools.partial(loop, label="leak")


def kept_beside(draw, period):
    """A leak of a few MB under a rise and fall of drawn height that lasts `period` steps."""
    per_step_kb = draw.grown_mb(5.0, 150.0) * 1024 / period
    return per_step_kb, draw.leaked_mb() * 1024 / draw.steps


# --- caches --------------------------------------------------------------------------------------

cache = functools.partial(bounded, cause="bounded-cache", workload="loops/caches.py")
cache_leak = functools.partial(leak, cause="live-memory", workload="loops/caches.py")


def under_cache(draw, shortest=10, longest=3):
    """A cache that rises and falls several times in the run."""
    life = draw.span(draw.steps // shortest, draw.steps // longest)
    entry_kb, rest_kb = kept_beside(draw, life)
    return {"life": life, "entry_kb": round(entry_kb / draw.entries, 3),
            "rest_kb": round(rest_kb, 3)}


def under_rotation(draw):
    """A generation is kept in part each `life` steps."""
    values = under_cache(draw, 30, 7)
    return values | {"rest_kb": round(values["rest_kb"] * values["life"], 3)}


def distinct(draw, draws):
    """About how many keys of a Pareto distribution that many draws bring."""
    return draws**draw.alpha * math.gamma(1 - draw.alpha)


def zipf_capped(draw):
    capacity = max(8, round(distinct(draw, draw.entries * draw.end_step())))
    return {"capacity": capacity, "entry_kb": round(draw.grown_mb() * 1024 / capacity, 3)}


def zipf_open(draw):
    keys = distinct(draw, draw.entries * draw.steps)
    return {"entry_kb": round(draw.leaked_mb() * 1024 / keys, 3)}


cache("cache_ttl", note="entries are dropped a fixed number of steps after they were made",
      family="ttl", mode="ttl", entries=span(1, 12), given=fills("life", "entry_kb", "entries"))
cache_leak("leak_ttl_index", note="entries expire, but the index keeps its record of each",
           family="ttl", mode="ttl_index", entries=span(1, 12), given=under_cache)
cache("cache_cleared", note="the cache is emptied at fixed intervals", cause="sawtooth",
      family="clear", mode="clear", entries=span(1, 12),
      given=lambda draw: under_cache(draw) | {"rest_kb": None})
cache_leak("leak_clear_index", note="the cache is emptied at intervals, a second table is not",
           family="clear", mode="clear_index", entries=span(1, 12), given=under_cache)
cache("cache_rotated", note="two generations of a cache; the older is dropped at each rotation",
      family="rotation", mode="rotate", entries=span(1, 12),
      given=lambda draw: under_cache(draw) | {"rest_kb": None})
cache_leak("leak_rotation", note="part of each dropped generation hangs on a list",
           family="rotation", mode="rotate_kept", entries=span(1, 12), given=under_rotation)
cache("keys_finite", note="as many keys as a part of the run brings, over and over",
      family="keys", mode="finite", entries=span(1, 30),
      given=fills("life", "entry_kb", "entries"))
cache_leak("leak_keys", note="a dict whose keys never repeat", family="keys", mode="new",
           entries=span(1, 30), given=leaks("entry_kb", "entries"))
cache("zipf_capped", note="few frequent and many rare keys, up to a capacity: a slow, bending fill",
      family="zipf", mode="zipf", entries=span(5, 60), alpha=span(0.4, 0.9), given=zipf_capped)
cache_leak("leak_zipf", note="few frequent and many rare keys without a capacity: ever new ones, "
           "ever more rarely", family="zipf", mode="zipf_open", entries=span(5, 60),
           alpha=span(0.5, 0.9), given=zipf_open)

# --- text ----------------------------------------------------------------------------------------

text = functools.partial(bounded, cause="per-item-cache", workload="loops/text.py")
text_leak = functools.partial(leak, cause="python-objects", workload="loops/text.py")
NGRAM_BYTES = 80  # of a key with its slot


def ngrams(draw, mb, steps):
    return {"words": max(2, round(mb * 2**20 / NGRAM_BYTES / steps / draw.batch))}


text("interned_words", note="a row per word of a finite text; after the first epoch all are known",
     family="intern", mode="intern", words=span(30, 200), vocabulary=10**7,
     row_bytes=span(100, 2000))
text_leak("leak_identifiers", note="a row per identifier, and each occurrence has a new one",
          family="intern", mode="intern_new", words=span(5, 60),
          given=lambda draw: {"row_bytes": max(8, round(
              draw.leaked_mb() * 2**20 / draw.steps / draw.batch / draw.words - 90))})
text("ngram_counts", note="counts of word pairs over a finite text; known after the first epoch",
     family="ngrams", mode="ngrams", vocabulary=60000,
     given=lambda draw: ngrams(draw, draw.grown_mb(high=120.0), draw.epoch_steps))
text_leak("leak_ngrams", note="counts of word pairs over a text without end", family="ngrams",
          mode="ngrams_stream", vocabulary=60000,
          given=lambda draw: ngrams(draw, draw.leaked_mb(high=120.0), draw.steps))
text("ring_log", cause="bounded-cache", note="the last lines are kept, a fixed number",
     family="log", mode="ring_log", lines=span(5, 100),
     given=lambda draw: {"capacity": (end := draw.end_step()) * draw.lines, "line_bytes": max(
         8, round(draw.grown_mb(high=200.0) * 2**20 / end / draw.lines))})
text_leak("leak_log_string", note="all lines are appended to one string in memory", family="log",
          mode="log_string", lines=span(5, 100), given=lambda draw: {"line_bytes": max(
              8, round(draw.leaked_mb(high=120.0) * 2**20 / draw.steps / draw.lines))})
text("regex_cache", cause="bounded-cache", family="regex", mode="regex", words=span(40, 150),
     note="patterns that never repeat; the re module keeps 512", steps=span(120, 300),
     patterns=span(2, 8))
text_leak("leak_patterns", note="a table keeps each compiled pattern", family="regex",
          mode="regex_kept", words=span(60, 200), steps=span(120, 300), patterns=span(2, 6))

# --- what is flushed -----------------------------------------------------------------------------

OWN_OBJECTS = 4000  # that the job makes for a moment at each step, which the collector counts too
flushed = functools.partial(bounded, cause="sawtooth", workload="loops/flushes.py")
flush_leak = functools.partial(leak, cause="live-memory", workload="loops/flushes.py")


def pile(draw):
    interval = draw.span(draw.steps // 10, draw.steps // 2)
    part_kb, rest_kb = kept_beside(draw, interval)
    return {"interval": interval, "part_kb": round(part_kb, 3), "rest_kb": round(rest_kb, 3)}


def pile_and_rest(draw):
    """As pile, with at least six flushes, each of which leaves a part."""
    interval = draw.span(5, max(6, draw.steps // 6))
    part_kb, rest_kb = kept_beside(draw, interval)
    return {"interval": interval, "part_kb": round(part_kb, 3),
            "rest_kb": round(rest_kb * interval, 3)}


def collected(draw):
    """Cycles that the collector finds after some ten thousand objects."""
    found = round(draw.count * draw.span(0.1, 0.6) * draw.steps)
    return {"capacity": found + OWN_OBJECTS,
            "part_kb": round(draw.grown_mb(5.0, 150.0) * 1024 / found, 3)}


flushed("log_flushed", note="records are written out at fixed intervals, then dropped",
        family="flush", mode="flush", given=lambda draw: pile(draw) | {"rest_kb": None})
flush_leak("leak_flush", note="at each flush what could not be sent stays for ever",
           family="flush", mode="flush_kept", given=pile_and_rest)
flushed("memory_handler", note="logging's MemoryHandler hands its records on when it is full",
        family="handler", mode="handler", count=span(5, 60),
        given=fills("capacity", "part_kb", "count", in_parts=True, high=150.0))
flush_leak("leak_handler", note="a MemoryHandler without target never empties its buffer",
           family="handler", mode="handler_alone", count=span(5, 60),
           given=leaks("part_kb", "count"))
flushed("graph_detached", note="each result refers to the one before, up to a cut at intervals",
        family="graph", mode="detach", given=lambda draw: pile(draw) | {"rest_kb": None})
flush_leak("leak_graph", note="each result refers to the one before it, all the way back",
           family="graph", mode="graph", given=leaks("part_kb"))
flushed("cycles_collected", note="reference cycles, found by the collector after so many objects",
        family="cycles", mode="cycles", count=span(20, 200), given=collected)
flush_leak("leak_cycles", note="reference cycles while the collector is off", family="cycles",
           mode="cycles_off", count=span(5, 60), given=leaks("part_kb", "count"))
flushed("backlog", note="bursts fill a queue that takes a fixed number, and the consumer drains it",
        cause="load", family="backlog", mode="held", count=span(4, 30),
        given=lambda draw: {"done": max(1, round(draw.count * draw.random.uniform(0.4, 0.7))),
                            "capacity": (most := draw.count * draw.span(8, 40)),
                            "part_kb": round(draw.grown_mb(5.0) * 1024 / most, 3)})
flush_leak("leak_behind", note="a queue without limit, and work comes faster than it is done",
           family="backlog", mode="behind", count=span(10, 30),
           given=lambda draw: {"done": (done := round(draw.count * draw.random.uniform(0.4, 0.9))),
                               "part_kb": round(draw.leaked_mb() * 1024 / draw.steps
                                                / (draw.count - done), 3)})
