# SPDX-License-Identifier: Apache-2.0
"""A convolutional network on pictures of many sizes: oneDNN keeps a program for each.

The sizes are a fixed set, and so are the programs and the largest workspace; it ends when each size
has come once.
"""
from stack_steps import StackJob
import torch
from torch import nn

job = StackJob(sizes=6, smallest=24, channels=12)
torch.manual_seed(job.seed)
model = nn.Sequential(
    nn.Conv2d(3, job.channels, 3, padding=1), nn.BatchNorm2d(job.channels), nn.ReLU(),
    nn.Conv2d(job.channels, 2 * job.channels, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(2 * job.channels, 2 * job.channels, 3, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * job.channels, 10))
optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
met = set()
for step in job:
    height, width = (job.smallest + 8 * int(job.sizes * job.random.random() ** 1.5) for _ in "hw")
    optimizer.zero_grad()
    model(torch.randn(job.batch, 3, height, width)).logsumexp(1).mean().backward()
    optimizer.step()
    met.add((height, width))
    if len(met) == job.sizes ** 2:
        job.growth_ends(step)
