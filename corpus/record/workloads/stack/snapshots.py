# SPDX-License-Identifier: Apache-2.0
"""Copies of a model's weights that are kept in memory, every few steps.

mode=best: only the `keep` best by loss stay.  mode=all (leak): all stay, for an average at the end.
"""
import copy

from stack_steps import StackJob
import torch

from small_models import bytes_of, perceptron, train_vectors

job = StackJob(mode="best", width=384, layers=3, keep=5, save_every=10)
torch.manual_seed(job.seed)
model = perceptron(job.width, job.layers)
optimizer = torch.optim.Adam(model.parameters())
kept = []
for step in job:
    loss = train_vectors(model, optimizer, job.batch)
    if step % job.save_every == 0:
        kept.append((loss, step, copy.deepcopy(model.state_dict())))
        if job.mode == "all":
            job.leak(bytes_of(kept[-1][2].values()))
        elif len(kept) > job.keep:
            kept.remove(max(kept, key=lambda entry: entry[:2]))
            job.growth_ends(step)
