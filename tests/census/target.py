# SPDX-License-Identifier: Apache-2.0
"""A Python process with known numbers of objects, for tests of the census.

Says "ready", then obeys lines on standard input: "ping" is answered with "pong"; "truth" with what
the collector itself tells (TYPE OBJECTS BYTES a line, then "end"); "signals" with the number of
SIGUSR1 handled; "collect" runs a collection that stands still in the middle until the next line;
"epoll" waits in a bare epoll_wait until the next line and tells how that ended; "freeze" moves all
objects to the permanent generation. Runs on Python 3.7 and later. With "busy" as argument threads
make and drop objects, classes and threads all the while.
"""
import collections
import ctypes
import gc
import os
import select
import signal
import sys
import threading
import types

COUNT = int(sys.argv[1])


class Planted:
    def __init__(self, number):
        self.number = number


class PlantedSlots:
    __slots__ = ("x", "y", "__weakref__")


class PlantedList(list):
    pass


class PlantedDict(dict):
    pass


class Outer:
    class Inner:
        pass


def made_for(module, name, base=object):
    return types.new_class(name, (base,), {}, lambda body: body.update(__module__=module))


TensorBase = made_for("torch._C", "TensorBase")
Tensor = made_for("torch", "Tensor", TensorBase)
Parameter = made_for("torch.nn.parameter", "Parameter", Tensor)
NotATensor = made_for("shapes", "Tensor")
Unicode = made_for("größe", "Größe")

kept = [
    [Planted(i) for i in range(COUNT)],
    [PlantedSlots() for _ in range(COUNT + 1)],
    [PlantedList(range(i % 40)) for i in range(COUNT + 2)],
    [PlantedDict((str(k), k) for k in range(i % 40)) for i in range(COUNT + 3)],
    [collections.OrderedDict(a=i) for i in range(COUNT + 4)],
    [set((i, j) for j in range(i % 40)) for i in range(COUNT)],
    [{i: [i]} for i in range(COUNT)],
    [([i], i) for i in range(COUNT)],
    [Outer.Inner() for _ in range(7)],
    [Tensor() for _ in range(11)],
    [Parameter() for _ in range(13)],
    [NotATensor() for _ in range(17)],
    [Unicode() for _ in range(19)],
]


def name_of(kind):
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else "{}.{}".format(module, kind.__qualname__)


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def tell_truth():
    objects = collections.Counter()
    sizes = collections.Counter()
    for item in gc.get_objects():
        objects[type(item)] += 1
        sizes[type(item)] += sys.getsizeof(item)
    by_name = collections.Counter()
    bytes_by_name = collections.Counter()
    for kind, count in objects.items():
        by_name[name_of(kind)] += count
        bytes_by_name[name_of(kind)] += sizes[kind]
    for name, count in by_name.items():
        say("{} {} {}".format(name, count, bytes_by_name[name]))
    say("end")


def churn():
    while True:
        held = [{"a": [i], "b": (i, [])} for i in range(300)]
        cls = types.new_class("Passing", (), {})
        held.append(cls())
        held.append(held)
        held = None


def churn_threads():
    while True:
        thread = threading.Thread(target=lambda: [[i] for i in range(50)])
        thread.start()
        thread.join()


def collect_slowly():
    def during(phase, _info):
        if phase == "start":
            say("collecting")
            sys.stdin.readline()
    gc.callbacks.append(during)
    gc.collect()
    gc.callbacks.remove(during)
    say("collected")


def wait_in_epoll():
    libc = ctypes.CDLL(None, use_errno=True)
    poller = select.epoll()
    poller.register(0, select.EPOLLIN)
    events = ctypes.create_string_buffer(64)
    say("waiting")
    got = libc.epoll_wait(poller.fileno(), events, 1, -1)
    error = ctypes.get_errno() if got < 0 else 0
    sys.stdin.readline()
    say("epoll {} {}".format(got, error))


# 3.12 freezes what start-up made, and gc.get_objects() does not tell of frozen objects.
gc.unfreeze()
signals = [0]


def on_signal(_number, _frame):
    signals[0] += 1


signal.signal(signal.SIGUSR1, on_signal)
# Nothing the test says is read ahead of the wait that is to see it.
sys.stdin = os.fdopen(0, "r", 1)
if "busy" in sys.argv:
    for work in (churn, churn, churn_threads):
        threading.Thread(target=work, daemon=True).start()
say("ready")
while True:
    line = sys.stdin.readline()
    if not line:
        os._exit(0)
    word = line.strip()
    if word == "ping":
        say("pong")
    elif word == "truth":
        tell_truth()
    elif word == "signals":
        say(str(signals[0]))
    elif word == "collect":
        collect_slowly()
    elif word == "epoll":
        wait_in_epoll()
    elif word == "freeze":
        gc.freeze()
        say("frozen")
