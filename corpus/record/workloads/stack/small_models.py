# SPDX-License-Identifier: Apache-2.0
"""Small torch models with drawn weights, made-up examples, and how many bytes tensors hold."""
import random

import torch
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)

# What the nodes of a graph take for each tensor they save, beside it: about, as measured.
NODE_BYTES = 1700


class LanguageModel(nn.Module):
    """An encoder with a head over a vocabulary: activations grow with the length of a batch."""

    def __init__(self, vocabulary, width, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0.1, batch_first=True)
            for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        hidden = self.embedding(ids)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)


def perceptron(width, layers, inputs=None, outputs=10):
    """Returns a multi-layer perceptron."""
    parts = [nn.Linear(inputs or width, width), nn.ReLU()]
    for _ in range(layers - 1):
        parts += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(width, outputs))


def length_of(job, item):
    """Returns the length of an example: always the same, most short and few long."""
    tail = random.Random(f"{job.seed} {item}").paretovariate(1.5)
    return min(job.longest, int(job.shortest * tail))


def padded(job, items):
    """Returns the token ids of some examples, padded to the longest of them."""
    lengths = [length_of(job, item) for item in items]
    ids = torch.zeros(len(items), max(lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.randint(1, job.vocabulary, (length,))
    return ids


def next_token_loss(logits, ids):
    """Returns the cross entropy of each next token."""
    return functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def train_tokens(model, optimizer, ids):
    """Makes one training step of a language model and returns the loss as a number."""
    optimizer.zero_grad()
    loss = next_token_loss(model(ids), ids)
    loss.backward()
    optimizer.step()
    return loss.item()


def train_vectors(model, optimizer, batch):
    """Makes one training step of a perceptron on a drawn batch and returns the loss."""
    optimizer.zero_grad()
    inputs = torch.randn(batch, model[0].in_features)
    loss = functional.cross_entropy(model(inputs), torch.randint(0, 10, (batch,)))
    loss.backward()
    optimizer.step()
    return loss.item()


def bytes_of(tensors):
    """Returns the bytes of the storages behind some tensors, each once: a view holds all of it."""
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    return sum(storages.values())


class Saved:
    """Counts the bytes of the graphs made within: nodes, and what they save, each storage once and
    parameters not at all."""

    def __init__(self, model):
        self.known = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.bytes = 0
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda packed: packed)

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        self.bytes += NODE_BYTES
        if storage.data_ptr() not in self.known:
            self.known.add(storage.data_ptr())
            self.bytes += storage.nbytes()
        return tensor

    def __enter__(self):
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)
