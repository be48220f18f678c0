# SPDX-License-Identifier: Apache-2.0
"""A search over hyper-parameters: an epoch is a trial with a model of its own, prepared by one
Accelerator, which refers to all that it prepared.

mode=freed: accelerator.free_memory() after each trial.
mode=kept (leak): the Accelerator is used again and keeps the models and optimizers of all trials.
"""
from stack_steps import StackJob
import torch
from accelerate import Accelerator
from torch.nn import functional

from small_models import perceptron

job = StackJob(mode="freed", width=256, layers=3)
torch.manual_seed(job.seed)
accelerator = Accelerator(cpu=True)


def begin():
    """Returns model and optimizer of a new trial."""
    model = perceptron(job.width, job.layers)
    return accelerator.prepare(model, torch.optim.AdamW(model.parameters()))


model, optimizer = begin()
for step in job:
    inputs, labels = torch.randn(job.batch, job.width), torch.randint(0, 10, (job.batch,))
    accelerator.backward(functional.cross_entropy(model(inputs), labels))
    optimizer.step()
    if step % job.epoch_steps:
        optimizer.zero_grad()
        continue
    if job.mode == "freed":
        model, optimizer = accelerator.free_memory(model, optimizer)
        job.growth_ends(step)
    else:  # weights, gradients and the two moments of Adam
        job.leak(4 * sum(p.numel() * p.itemsize for p in model.parameters()))
    model, optimizer = begin()
