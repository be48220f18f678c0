# SPDX-License-Identifier: Apache-2.0
"""Words and lines: tables over a text, logs, compiled patterns.

mode=intern: a table of words with a row of row_bytes each; the examples hold a finite vocabulary,
all of which is known after the first epoch. intern_new: each occurrence brings an identifier never
seen before. ngrams: counts of word pairs over a finite text; ngrams_stream: over a text without
end. ring_log: the last `capacity` lines are kept; log_string: all lines, in one growing string.
regex: patterns that never repeat go through the cache of the re module, which holds 512 at most;
regex_kept: a table of our own keeps each compiled pattern.
"""
import collections
import io
import random
import re
import sys

from steps import Job, fill

DICT_SLOT_BYTES = 36  # index and entry of a dict at a usual load
RE_CACHE = 512


def words_of(job, item, count):
    """Returns the words of an example, always the same: few frequent, many rare."""
    rng = random.Random(job.seed * 1_000_003 + item)
    return [int(rng.paretovariate(0.6)) % job.vocabulary for _ in range(count)]


def intern(job):
    table = {}
    for step in job:
        for item in job.items(step):
            for word in words_of(job, item, job.words):
                name = f"w{word}" if job.mode == "intern" else f"w{word}-{step}-{item}"
                if name not in table:
                    table[sys.intern(name)] = fill(job.row_bytes)
                    if job.mode == "intern_new":
                        job.leak(job.row_bytes + sys.getsizeof(name) + DICT_SLOT_BYTES)
        if job.mode == "intern" and step == job.epoch_steps:
            job.growth_ends(step)


def ngrams(job):
    counts = collections.Counter()
    for step in job:
        for item in job.items(step):
            source = item if job.mode == "ngrams" else 10**7 + step * 100 + item % 100
            rng = random.Random(source)
            text = [rng.randrange(job.vocabulary) for _ in range(job.words)]
            for pair in zip(text, text[1:]):
                key = f"{pair[0]} {pair[1]}"
                if key not in counts and job.mode == "ngrams_stream":
                    job.leak(sys.getsizeof(key) + DICT_SLOT_BYTES)
                counts[key] += 1
        if job.mode == "ngrams" and step == job.epoch_steps:
            job.growth_ends(step)


def log(job):
    ring, text = collections.deque(maxlen=job.capacity), io.StringIO()
    for step in job:
        for number in range(job.lines):
            line = f"{step} {number} " + "x" * int(job.line_bytes * job.random.uniform(0.3, 1.7))
            if job.mode == "log_string":
                job.leak(text.write(line))
            else:
                ring.append(line)
        if len(ring) == job.capacity:
            job.growth_ends(step)


def regex(job):
    kept = {}
    for step in job:
        for number in range(job.patterns):
            words = (f"{step}{job.random.randrange(10**8)}" for _ in range(job.words))
            pattern = re.compile(f"{number}(?:" + "|".join(words) + ")+")
            if job.mode == "regex_kept":
                kept[pattern.pattern] = pattern
                job.leak(sys.getsizeof(pattern) + sys.getsizeof(pattern.pattern))
        if job.mode == "regex" and step * job.patterns > RE_CACHE:
            job.growth_ends(step)


MODES = {"intern": intern, "intern_new": intern, "ngrams": ngrams, "ngrams_stream": ngrams,
         "ring_log": log, "log_string": log, "regex": regex, "regex_kept": regex}
this_job = Job(mode="intern", words=200, vocabulary=50000, row_bytes=300, capacity=1000, lines=20,
               line_bytes=200, patterns=2)
MODES[this_job.mode](this_job)
