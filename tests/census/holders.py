# SPDX-License-Identifier: Apache-2.0
"""A Python process in which each kind of variable holds something that grows, for tests of the census.

Says "ready", then grows once for every line on standard input that is a number, each holder by its
own multiple of it (RATES), and says "grown". Runs on Python 3.8 and later.
"""
import collections
import functools
import os
import sys
import threading


class Thing:
    pass


class Node:
    __slots__ = ("next", "payload")

    def __init__(self, before):
        self.next = before
        self.payload = [1]


class Dataset:
    seen = []

    def __init__(self):
        self.cache = {}
        self.raw = {}


class History:
    def __init__(self):
        self.records = []
        self.logs = []


class Trainer:
    def __init__(self):
        self.history = History()


class Record:
    __slots__ = ("items", "name")

    def __init__(self):
        self.items = []
        self.name = "x"


@functools.lru_cache(maxsize=None)
def decode(number):
    return [number]


@functools.lru_cache(maxsize=100000)
def decode_some(number):
    return [number]


def make_step():
    remembered = []

    def step(count):
        remembered.extend(Thing() for _ in range(count))
    return step


def produce():
    """A generator that waits, with what it has collected."""
    collected = []
    while True:
        count = yield
        collected.extend(Thing() for _ in range(count))


everything = []
queue = collections.deque()
by_name = collections.defaultdict(list)
unique = set()
state = {"losses": [], "steps": 0}
by_question = {"Where does jane@example.com live?": [], "few": 1}  # Data, as keys may be: no name of it is told.
slotted = Record()
trainer = Trainer()
dataset = Dataset()
step = make_step()
generator = produce()
next(generator)


class SharedCache(dict):
    __module__ = "torch.multiprocessing.reductions"


class Pass:
    """Plateau's own module has one of that name."""
    __module__ = "plateau_auto.feed"

    def __init__(self):
        self.drawn = []


shared_cache = SharedCache()
module_of_plateau = Pass()
head = None
calls = 0
go = threading.Semaphore(0)
done = threading.Semaphore(0)
wanted = [0]


def in_thread():
    of_thread = []
    while True:
        go.acquire()
        of_thread.extend(Thing() for _ in range(wanted[0] * 14))
        done.release()


def train():
    global head, calls
    losses = []
    rebound = []
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        n = int(line)
        losses.extend(Thing() for _ in range(n))
        everything.extend(Thing() for _ in range(n * 2))
        Dataset.seen.extend(Thing() for _ in range(n * 3))
        for _ in range(n * 4):
            calls += 1
            dataset.cache[calls] = Thing()
        for _ in range(n * 5):
            calls += 1
            dataset.raw[calls] = b"bytes that the collector does not track"
        module_of_plateau.drawn.extend((i,) for i in range(n))
        trainer.history.records.extend(Thing() for _ in range(n * 6))
        trainer.history.logs.extend({"loss": 0.5, "lr": [1]} for _ in range(n))
        for _ in range(n * 7):
            calls += 1
            decode(calls)
        for _ in range(n * 8):
            calls += 1
            decode_some(calls)
        step(n * 9)
        generator.send(n * 10)
        queue.extend(Thing() for _ in range(n * 11))
        for key in range(20):
            by_name[key].extend(Thing() for _ in range(n))
        for _ in range(n * 12):
            unique.add(Thing())
        state["losses"].extend(Thing() for _ in range(n * 13))
        by_question["Where does jane@example.com live?"].extend(Thing() for _ in range(n * 19))
        wanted[0] = n
        go.release()
        done.acquire()
        slotted.items.extend(Thing() for _ in range(n * 15))
        rebound = rebound + [Thing() for _ in range(n * 16)]
        for _ in range(n * 17):
            head = Node(head)
        for _ in range(n * 18):
            calls += 1
            shared_cache[calls] = []
        sys.stdout.write("grown\n")
        sys.stdout.flush()


threading.Thread(target=in_thread, daemon=True).start()
train()
os._exit(0)
