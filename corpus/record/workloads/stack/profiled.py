# SPDX-License-Identifier: Apache-2.0
"""torch.profiler left on: it keeps an event for every operation until it is stopped. A leak.

Counted as so many bytes for each event of one step, as a profile of a single step shows them.
"""
from stack_steps import StackJob
import torch
from torch.profiler import ProfilerActivity, profile

from small_models import LanguageModel, padded, train_tokens

EVENT_BYTES = 200, 450  # about, as measured: without and with the shapes of its arguments

job = StackJob(vocabulary=500, width=32, layers=3, shortest=8, longest=24, shapes=1)
torch.manual_seed(job.seed)
model = LanguageModel(job.vocabulary, job.width, job.layers)
optimizer = torch.optim.Adam(model.parameters())
settings = {"activities": [ProfilerActivity.CPU], "record_shapes": bool(job.shapes)}
with profile(**settings) as single:
    train_tokens(model, optimizer, padded(job, job.items(1)))
events = len(single.events())
del single
with profile(**settings):
    for step in job:
        train_tokens(model, optimizer, padded(job, job.items(step)))
        job.leak(events * EVENT_BYTES[job.shapes])
