#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the module in the job costs per training step, as a share of a step of 10 ms.

    $(tools/stack.sh) bench/auto_cost.py build/release/python

One run, in pairs of epochs: in the one of each pair the module's hooks are in place, in the other torch's own
functions are. Which comes first alternates. A step draws a batch, goes forward and back, steps the optimizer, and
copies 16 MB, so that the caches are as cold as after real work. A socket is bound and read by another process, as the
watcher does it. What is compared is CPU time of this thread: on a shared machine the clock on the wall shows whoever
else runs. For the module a step takes 10 ms: it speaks at most every 50 ms, so at every fifth.
"""
import multiprocessing
import os
import socket
import statistics
import sys
import tempfile
import time
import types

PAIRS, STEPS, BATCH, STEP_S = 20, 100, 16, 0.01


def listen(path, ready):
    watcher = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    watcher.bind(path)
    ready.set()
    while watcher.recv(65536) != b"end":
        pass


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
    from torch.utils.data import DataLoader, TensorDataset
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
    loader = DataLoader(TensorDataset(torch.randn(BATCH * STEPS, 64)), batch_size=BATCH, shuffle=True)
    source, copy = torch.randn(2, 1 << 21).unbind()

    def epoch(state):
        switch.turn(state)
        began = time.thread_time()
        for (batch,) in loader:
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            copy.copy_(source)
        return (time.thread_time() - began) * 1e6 / STEPS

    epoch(on), epoch(switch.off)
    extra, alone = [], []
    for pair in range(PAIRS):
        first, second = (on, switch.off) if pair % 2 else (switch.off, on)
        cost = {id(first): epoch(first), id(second): epoch(second)}
        extra.append(cost[id(on)] - cost[id(switch.off)])
        alone.append(cost[id(switch.off)])
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
        last.sendto(b"end", path)
    middle = statistics.median(extra)
    print("torch %s; a step takes %.0f us of CPU without the module" % (
        torch.__version__, statistics.median(alone)))
    print("with it %.1f us more (median of %d pairs of %d steps; half of them between %.1f and %.1f us)" % (
        (middle, PAIRS, STEPS) + tuple(statistics.quantiles(extra, n=4)[::2])))
    print("share of a step of 10 ms: %.2f %% (at most 0.5 %%)" % (middle / (STEP_S * 1e4)))


if __name__ == "__main__":
    main()
