# SPDX-License-Identifier: Apache-2.0
"""Small objects that hold large ones.

mode=errors (leak): caught exceptions are appended to a list for a report; their tracebacks hold the
frames, and those the batch and the activations.  mode=last_errors: only the last `keep` are.
mode=views (leak): one row of each array is kept as a view, which holds the whole array.
mode=reservoir: a sample of `keep` such views of all arrays so far, as reservoir sampling draws it.
"""
import collections

from stack_steps import StackJob
import numpy
import torch

from small_models import bytes_of, perceptron, train_vectors

job = StackJob(mode="errors", width=256, layers=2, rows=64, failure=0.3, keep=20)
torch.manual_seed(job.seed)
draw = numpy.random.default_rng(job.seed)
model = perceptron(job.width, job.layers)
optimizer = torch.optim.Adam(model.parameters())


def checked(failing):
    """Runs the model forward on a batch and raises if told that its loss is not finite."""
    batch = torch.randn(job.random.randrange(job.rows // 2, 2 * job.rows), job.width)
    with torch.no_grad():
        features = model[:-1](batch)
    if failing:
        raise FloatingPointError("loss is not finite", bytes_of([batch, features]))


def errors():
    caught = [] if job.mode == "errors" else collections.deque(maxlen=job.keep)
    for step in job:
        train_vectors(model, optimizer, job.batch)
        try:
            checked(job.random.random() < job.failure)
        except FloatingPointError as error:
            caught.append(error)
            if job.mode == "errors":
                job.leak(error.args[1])
            elif len(caught) == job.keep:
                job.growth_ends(step)


def views():
    kept = []
    for step in job:
        train_vectors(model, optimizer, job.batch)
        array = draw.standard_normal((job.random.randrange(job.rows // 2, 2 * job.rows), job.width))
        if job.mode == "views":
            kept.append(array[:1])
            job.leak(array.nbytes)
        elif len(kept) < job.keep:
            kept.append(array[:1])
        else:
            job.growth_ends(step)
            place = job.random.randrange(step)
            if place < job.keep:
                kept[place] = array[:1]


{"errors": errors, "last_errors": errors, "views": views, "reservoir": views}[job.mode]()
