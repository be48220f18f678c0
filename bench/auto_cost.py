#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the module in the job costs per training step, as a share of a step of 10 ms.

    $(tools/stack.sh) bench/auto_cost.py build/release/python

One run: in one step the module's hooks are in place, in the next torch's own functions are, so that whatever else
the machine does meets both alike; the module sees a loop of half as many steps. A step draws 16 examples, most of them
for the first time as in a first epoch, makes a batch, goes forward and back, steps the optimizer, and
copies 16 MB, so that the caches are as cold as after real work. Only what the hooks are in is timed: the fetching of the
batch and the optimizer's step. A socket is bound and read by another process, as the watcher does it. What is
compared is CPU time of this thread: on a shared machine the clock on the wall shows whoever else runs. Of all steps of a
kind the dearest fiftieth is left out, in which somebody else had the core or the collector ran. For the module a step
takes 10 ms: it speaks at most every 50 ms, so at every fifth.
"""
import multiprocessing
import os
import socket
import statistics
import sys
import tempfile
import time
import types

EPOCHS, STEPS, BATCH, STEP_S = 40, 100, 16, 0.01


def listen(path, ready):
    watcher = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    watcher.bind(path)
    ready.set()
    while watcher.recv(65536) != b"end":
        pass


def usual_us(seconds):
    """The mean without the dearest fiftieth."""
    return statistics.fmean(sorted(seconds)[:-len(seconds) // 50]) * 1e6


class Switch:
    """Takes the hooks out and puts them in again."""

    def __init__(self):
        from torch.optim import optimizer
        from torch.utils.data import dataloader
        self.base = dataloader._BaseDataLoaderIter
        self.hooks = (optimizer._global_optimizer_pre_hooks, optimizer._global_optimizer_post_hooks)
        self.names = ("__init__", "_next_index", "__next__", "_reset")
        self.off = self.state()

    def state(self):
        return [getattr(self.base, name) for name in self.names], [dict(hooks) for hooks in self.hooks]

    def turn(self, state):
        for name, function in zip(self.names, state[0]):
            setattr(self.base, name, function)
        for hooks, entries in zip(self.hooks, state[1]):
            hooks.clear()
            hooks.update(entries)


def main():
    path = tempfile.mkdtemp() + "/steps"
    ready = multiprocessing.Event()
    watcher = multiprocessing.Process(target=listen, args=(path, ready), daemon=True)
    watcher.start()
    ready.wait()
    os.environ["PLATEAU_SOCKET"] = path
    import torch
    from torch.utils.data import DataLoader, RandomSampler, TensorDataset
    switch = Switch()
    sys.path.insert(0, sys.argv[1])
    import plateau_auto
    from plateau_auto import voice
    from plateau_auto.loop import LOOP
    voice.time = types.SimpleNamespace(monotonic=lambda: LOOP.steps * STEP_S)
    plateau_auto.start()
    on = switch.state()
    torch.set_num_threads(1)
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.AdamW(model.parameters())
    examples = TensorDataset(torch.randn(BATCH * STEPS * EPOCHS, 64))
    loader = DataLoader(examples, batch_size=BATCH, sampler=RandomSampler(examples, num_samples=BATCH * STEPS))
    clock = time.thread_time
    source, copy = torch.randn(2, 1 << 21).unbind()

    steps = {True: [], False: []}
    for _ in range(EPOCHS):
        switch.turn(on)
        batches = iter(loader)
        for number in range(STEPS):
            with_module = bool(number % 2)
            switch.turn(on if with_module else switch.off)
            copy.copy_(source)
            began = clock()
            (batch,) = next(batches)
            fetched = clock() - began
            model(batch).sum().backward()
            began = clock()
            optimizer.step()
            steps[with_module].append(fetched + clock() - began)
            optimizer.zero_grad()
        switch.turn(on)
        next(batches, None)  # The pass ends.
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
        last.sendto(b"end", path)
    alone, with_it = usual_us(steps[False]), usual_us(steps[True])
    print("torch %s; fetching a batch and the optimizer's step take %.1f us of CPU without the module, %.1f us with it" % (
        torch.__version__, alone, with_it))
    print("%.1f us more, in %d steps of each kind; share of a step of 10 ms: %.2f %% (at most 0.5 %%)" % (
        with_it - alone, len(steps[True]), (with_it - alone) / (STEP_S * 1e4)))


if __name__ == "__main__":
    main()
