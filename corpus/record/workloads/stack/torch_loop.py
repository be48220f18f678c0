# SPDX-License-Identifier: Apache-2.0
"""Plain torch loops that are bounded.

mode=lengths: a language model with Adam on batches padded to their longest example. The optimizer's
state appears at step 1; the allocator's high water is reached when the longest example was seen,
which is at the end of the first epoch at the latest.
mode=finder: a search for the learning rate keeps a copy of the state, and loss and gradient of each
trial; afterwards the state is restored and a history of fixed length goes on.
mode=thaw: layers are unfrozen one by one from the last; with each come its gradients and the two
moments of Adam. It ends when all are trained.
mode=save: torch.save of model and optimizer to a buffer in memory; it is alive when sampled.
"""
import collections
import copy
import io

from stack_steps import StackJob
import torch

from small_models import LanguageModel, perceptron, padded, train_tokens, train_vectors

job = StackJob(mode="lengths", vocabulary=1500, width=64, layers=2, shortest=16, longest=96,
                      trials=60, keep=40, thaw_every=20, save_every=40, named=1)
torch.manual_seed(job.seed)


def lengths():
    model = LanguageModel(job.vocabulary, job.width, job.layers)
    optimizer = torch.optim.Adam(model.parameters())
    for step in job:
        train_tokens(model, optimizer, padded(job, job.items(step)))
        if step == job.epoch_steps:
            job.growth_ends(step)


def finder():
    model = perceptron(job.width, job.layers)
    optimizer = torch.optim.Adam(model.parameters())
    before = copy.deepcopy(model.state_dict())
    history = collections.deque(maxlen=job.keep)
    for step in job:
        loss = train_vectors(model, optimizer, job.batch)
        gradient = torch.cat([p.grad.flatten() for p in model.parameters()])
        history.append({"step": step, "loss": loss, "gradient": gradient})
        if step < job.trials:
            optimizer.param_groups[0]["lr"] *= 1.1
        elif step == job.trials:
            model.load_state_dict(before)
            optimizer = torch.optim.Adam(model.parameters())
            before = None
        if len(history) == job.keep:
            job.growth_ends(step)


def thaw():
    model = perceptron(job.width, job.layers)
    frozen = [layer for layer in model if isinstance(layer, torch.nn.Linear)]
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))])
    for step in job:
        if frozen and step % job.thaw_every == 1:
            layer = frozen.pop()
            for parameter in layer.parameters():
                parameter.requires_grad_(True)
            optimizer.add_param_group({"params": list(layer.parameters())})
        train_vectors(model, optimizer, job.batch)
        if not frozen:
            job.growth_ends(step)


def save():
    model = perceptron(job.width, job.layers)
    optimizer = torch.optim.Adam(model.parameters())
    for step in job:
        train_vectors(model, optimizer, job.batch)
        if step % job.save_every == 0:
            buffer = io.BytesIO()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, buffer)
            job.hold(buffer, "checkpoint" if job.named else "")
            del buffer
            job.growth_ends(step)


{"lengths": lengths, "finder": finder, "thaw": thaw, "save": save}[job.mode]()
