# SPDX-License-Identifier: Apache-2.0
"""Autograd graphs that stay alive because something refers to their end: leaks.

After backward() a graph has given up its activations. These were never run backward, so each keeps
all that its forward saved.
mode=losses: the validation loss, made without no_grad, is appended to a list as a tensor.
mode=hidden: a recurrent network reads an endless stream; its state is carried on undetached.
mode=baseline: a running mean of a critic's values, undetached: each mean refers to the one before.
"""
from stack_steps import StackJob
import torch

from small_models import Saved, LanguageModel, next_token_loss, padded, perceptron, train_tokens, \
    train_vectors

job = StackJob(mode="losses", vocabulary=800, width=48, layers=2, shortest=12, longest=48,
                      every_steps=1, rows=8)
torch.manual_seed(job.seed)


def losses():
    model = LanguageModel(job.vocabulary, job.width, job.layers)
    optimizer = torch.optim.Adam(model.parameters())
    history = []
    for step in job:
        train_tokens(model, optimizer, padded(job, job.items(step)))
        if step % job.every_steps == 0:
            ids = padded(job, job.random.sample(range(job.examples), job.rows))
            with Saved(model) as saved:
                history.append(next_token_loss(model(ids), ids))
            job.leak(saved.bytes)


def hidden():
    network = torch.nn.GRU(job.width, job.width, job.layers)
    model = perceptron(job.width, job.layers)
    optimizer = torch.optim.Adam(model.parameters())
    state = torch.zeros(job.layers, job.rows, job.width)
    for step in job:
        train_vectors(model, optimizer, job.batch)
        length = job.random.randrange(job.shortest, job.longest)
        with Saved(network) as saved:
            _, state = network(torch.randn(length, job.rows, job.width), state)
        job.leak(saved.bytes)


def baseline():
    critic, actor = perceptron(job.width, job.layers, outputs=1), perceptron(job.width, job.layers)
    optimizer = torch.optim.Adam(actor.parameters())
    mean = torch.zeros(())
    for step in job:
        train_vectors(actor, optimizer, job.batch)
        if step % job.every_steps == 0:
            rows = job.random.randrange(job.rows // 2, job.rows * 2)
            with Saved(critic) as saved:
                mean = 0.95 * mean + 0.05 * critic(torch.randn(rows, job.width)).mean()
            job.leak(saved.bytes)


{"losses": losses, "hidden": hidden, "baseline": baseline}[job.mode]()
