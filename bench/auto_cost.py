#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the module in the job costs per training step, as a share of a step of 10 ms.

    $(tools/stack.sh) bench/auto_cost.py build/release/python

Every hook of the module is timed from within while a real loop runs: a DataLoader, an optimizer, and some 10 ms of
matrix products in between, so that the caches are as cold as in a training. A socket is bound and read by another
process, as the watcher does it. Time is CPU time of this thread, also for the module, which speaks at most every
50 ms: on a shared machine the clock on the wall shows whoever else runs.
"""
import multiprocessing
import os
import socket
import statistics
import sys
import tempfile
import time
import types

STEPS, BATCH = 400, 16


def listen(path, ready):
    watcher = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    watcher.bind(path)
    ready.set()
    while watcher.recv(65536) != b"end":
        pass


def timed_hooks(spent):
    """Puts a clock around every hook that will be made."""
    from plateau_auto import guard
    make = guard.hook

    def hook(name, function):
        inner = make(name, function)

        def call(*args):
            began = time.thread_time()
            inner(*args)
            spent[0] += time.thread_time() - began

        return call

    guard.hook = hook


def main():
    sys.path.insert(0, sys.argv[1])
    path = tempfile.mkdtemp() + "/steps"
    ready = multiprocessing.Event()
    watcher = multiprocessing.Process(target=listen, args=(path, ready), daemon=True)
    watcher.start()
    ready.wait()
    os.environ["PLATEAU_SOCKET"] = path
    spent = [0.0]
    timed_hooks(spent)
    import plateau_auto
    from plateau_auto import voice
    voice.time = types.SimpleNamespace(monotonic=time.thread_time)
    plateau_auto.start()
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    torch.set_num_threads(1)
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(TensorDataset(torch.randn(BATCH * STEPS, 64)), batch_size=BATCH, shuffle=True)
    load = torch.randn(600, 600)
    hooks_us, steps_us = [], []
    before, began = spent[0], time.thread_time()
    for (batch,) in loader:
        until = began + 0.01
        model(batch).sum().backward()
        while time.thread_time() < until:
            load @ load
        optimizer.step()
        optimizer.zero_grad()
        now = time.thread_time()
        hooks_us.append((spent[0] - before) * 1e6)
        steps_us.append((now - began) * 1e6)
        before, began = spent[0], now
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"end", path)
    hook, step = statistics.median(hooks_us), statistics.median(steps_us)
    mean = statistics.fmean(hooks_us)
    print("torch %s, %d steps of %.1f ms, batch %d" % (torch.__version__, STEPS, step / 1000, BATCH))
    print("the module's hooks: median %.1f us a step, mean %.1f us" % (hook, mean))
    print("share of a step of 10 ms: median %.3f %%, mean %.3f %% (at most 0.5 %%)" % (
        hook / 100, mean / 100))


if __name__ == "__main__":
    main()
