# SPDX-License-Identifier: Apache-2.0
"""peft: a new LoRA adapter for each task, on one base model; an epoch is a task.

mode=added (leak): adapters are only added; each keeps its weights and last gradients.
mode=rotated: beyond `keep` adapters the oldest is deleted.
"""
import collections

from stack_steps import StackJob
import torch
from peft import LoraConfig, get_peft_model
from torch.nn import functional

from small_models import perceptron

job = StackJob(mode="rotated", width=384, layers=4, rank=32, keep=5)
torch.manual_seed(job.seed)


def adapter_of(name):
    """Returns the parameters of one adapter."""
    return [p for key, p in model.named_parameters() if f".{name}." in key]


settings = LoraConfig(r=job.rank, target_modules=[str(2 * i) for i in range(job.layers)])
model = get_peft_model(perceptron(job.width, job.layers), settings, adapter_name="task0")
names = collections.deque(["task0"])
optimizer = torch.optim.AdamW(adapter_of("task0"))
for step in job:
    inputs, labels = torch.randn(job.batch, job.width), torch.randint(0, 10, (job.batch,))
    functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
    if step % job.epoch_steps:
        optimizer.zero_grad()
        continue
    if job.mode == "added":
        job.leak(2 * sum(p.numel() * p.itemsize for p in adapter_of(names[-1])))
    names.append(f"task{step}")
    model.add_adapter(names[-1], settings)
    model.set_adapter(names[-1])
    optimizer = torch.optim.AdamW(adapter_of(names[-1]))
    if job.mode == "rotated" and len(names) > job.keep:
        model.delete_adapter(names.popleft())
        job.growth_ends(step)
