# SPDX-License-Identifier: Apache-2.0
"""Forward hooks that take copies of a layer's output.

mode=kept (leak): every few steps a hook is registered and never removed; each holds the copy that
its first call took.
mode=removed: the hook is removed after its step, and only the last `keep` copies stay.
"""
import collections

from stack_steps import StackJob
import torch

from small_models import bytes_of, perceptron, train_vectors

job = StackJob(mode="removed", width=256, layers=3, rows=64, every_steps=1, keep=30)
torch.manual_seed(job.seed)


class Probe:
    """Keeps a copy of the first output it sees."""

    def __init__(self):
        self.seen = None

    def __call__(self, module, inputs, output):
        if self.seen is None:
            self.seen = output.detach().clone()


model = perceptron(job.width, job.layers)
optimizer = torch.optim.Adam(model.parameters())
recent = collections.deque(maxlen=job.keep)
for step in job:
    if step % job.every_steps == 0:
        probe = Probe()
        handle = model[2].register_forward_hook(probe)
        train_vectors(model, optimizer, job.random.randrange(job.rows // 2, job.rows * 2))
        if job.mode == "kept":
            job.leak(bytes_of([probe.seen]))
        else:
            handle.remove()
            recent.append(probe.seen)
            if len(recent) == job.keep:
                job.growth_ends(step)
        del probe
    else:
        train_vectors(model, optimizer, job.rows)
