#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions the module in the job executes per training step, counted by valgrind: unlike bench/auto_cost.py
this says the same on a busy machine.

    python3 bench/auto_instructions.py build/release/python

The hooks are put around classes that do nothing, in the shape of torch's iterator and optimizer, so that nothing but
they and the loop is counted; the same loop without them is taken off. A step draws 16 indices of 1,600, hands a batch out and
steps; every fifth says a word to a socket, as steps of 10 ms do. What the kernel does to deliver it is not counted.
"""
import os
import re
import socket
import subprocess
import sys
import tempfile
import types

STEPS = (200, 1200)


class Sampler(list):
    pass


class Dataset:
    def __len__(self):
        return 1600


class Loader:
    """What the module looks at on a DataLoader."""
    num_workers, persistent_workers, _dataset_kind = 0, False, 0

    def __init__(self):
        self.dataset = Dataset()
        self._index_sampler = Sampler(range(100))


class Iterator:
    def __init__(self, loader):
        self.place = 0

    def _reset(self, loader, first_iter=False):
        pass

    def _next_index(self):
        if self.place >= 100:
            raise StopIteration
        self.place += 1
        return list(range(self.place * 16 - 16, self.place * 16))

    def __next__(self):
        return self._next_index()


class Optimizer:
    hooks = []

    def step(self):
        for hook in self.hooks:
            hook(self, (), {})


def loop(steps, with_module):
    if with_module:
        sys.path.insert(0, os.environ["PLATEAU_MODULE"])
        from plateau_auto import torch_data, torch_steps, voice
        from plateau_auto.loop import LOOP
        sys.modules["torch"] = types.SimpleNamespace(compiler=types.SimpleNamespace(is_compiling=lambda: False))
        voice.time = types.SimpleNamespace(monotonic=lambda: LOOP.steps * 0.01)
        torch_data.patch(types.SimpleNamespace(_BaseDataLoaderIter=Iterator))
        torch_steps.patch(types.SimpleNamespace(register_optimizer_step_post_hook=Optimizer.hooks.append))
    loader, optimizer, done = Loader(), Optimizer(), 0
    while done < steps:
        iterator = Iterator(loader)
        for _ in range(100):
            iterator.__next__()
            optimizer.step()
            done += 1
            if done % 5 == 0 and watcher is not None:
                drain()


watcher = None


def drain():
    try:
        while True:
            watcher.recv(65536)
    except BlockingIOError:
        pass


def counted(steps, with_module):
    out = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-S", "-E", __file__, "--loop", str(steps),
         "1" if with_module else ""], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
        env=dict(os.environ, PLATEAU_MODULE=os.path.abspath(sys.argv[1]), PYTHONHASHSEED="0")).stdout
    return int(re.search(r"Collected : (\d+)", out).group(1))


def main():
    if sys.argv[1] == "--loop":
        global watcher
        path = tempfile.mkdtemp() + "/steps"
        watcher = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        watcher.bind(path)
        watcher.setblocking(False)
        os.environ["PLATEAU_SOCKET"] = path
        loop(int(sys.argv[2]), bool(sys.argv[3]))
        return
    per_step = {}
    counted(1, True)  # So that no module is compiled while we count.
    for with_module in (True, False):
        few, many = (counted(steps, with_module) for steps in STEPS)
        per_step[with_module] = (many - few) / (STEPS[1] - STEPS[0])
    print("%.0f instructions per step with the module's hooks, %.0f without: %.0f are ours" % (
        per_step[True], per_step[False], per_step[True] - per_step[False]))


if __name__ == "__main__":
    main()
