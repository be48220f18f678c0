# SPDX-License-Identifier: Apache-2.0
"""scikit-learn estimators that are trained in rounds.

mode=partial: partial_fit of a perceptron on batches of varying size; keeps nothing.
mode=capped: a forest with warm_start gets further trees each round until it has `trees`; from then
on it only predicts.
mode=endless (leak): the same forest without a cap.
mode=models (leak): each round fits a model of its own, and all are kept for a vote.
"""
from stack_steps import StackJob
import numpy
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

job = StackJob(mode="partial", rows=1500, columns=12, trees=200, added=2, width=128)
draw = numpy.random.default_rng(job.seed)


def data(rows):
    """Returns drawn examples whose labels are half noise, so that trees grow deep."""
    values = draw.standard_normal((rows, job.columns)).astype(numpy.float32)
    return values, (values[:, 0] + draw.standard_normal(rows) > 0).astype(int)


def bytes_of(tree):
    """Returns the bytes of a fitted tree's nodes and values."""
    state = tree.tree_.__getstate__()
    return state["nodes"].nbytes + state["values"].nbytes


def partial():
    model = MLPClassifier((job.width, job.width))
    for step in job:
        values, labels = data(job.random.randrange(job.rows // 4, job.rows))
        model.partial_fit(values, labels, classes=[0, 1])
        job.growth_ends(step)


def forest():
    values, labels = data(job.rows)
    model = RandomForestClassifier(1, warm_start=True, random_state=job.seed).fit(values, labels)
    for step in job:
        if job.mode == "endless" or len(model.estimators_) < job.trees:
            model.n_estimators += job.added
            model.fit(values, labels)
            if job.mode == "endless":
                job.leak(sum(bytes_of(tree) for tree in model.estimators_[-job.added:]))
        else:
            model.predict(values[:8])
            job.growth_ends(step)


def models():
    voters = []
    for step in job:
        for _ in range(job.added):
            voters.append(DecisionTreeClassifier().fit(*data(job.rows)))
            job.leak(bytes_of(voters[-1]))


{"partial": partial, "capped": forest, "endless": forest, "models": models}[job.mode]()
