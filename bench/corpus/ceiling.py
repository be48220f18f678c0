#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is there more in the curves than the verdict takes from them?

    build/release/corpus_score --looks corpus/{dev,own,lives,fit,calibrate,heldout} > looks.jsonl
    python3 bench/corpus/ceiling.py looks.jsonl        # needs numpy and scikit-learn

Boosted trees are trained on traits of every look at the traces that constants were chosen by, and draw
their frontier (false alarms at some tenth against recall at the end) beside the verdict's: by
cross-validation with kinds left out, and on `calibrate` and `heldout`. A leak and its bounded twin count
as one kind. A learner that free would use what the verdict leaves lying about; where its frontier is no
better, nothing of the sort is in the memory curve.

Blind spot: traits are of the whole tree's curve. What single processes or page kinds have to say is in
them only as far as the verdict's own weights have it.
"""

import json
import sys

import numpy
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GroupKFold

TRAINED_ON = ("dev", "own", "lives", "fit")
COUNTS_FROM_MB = 10
THRESHOLDS = (0.6, 0.7, 0.8, 0.85, 0.88, 0.9, 0.93, 0.95)


def floors_of(at, mb):
    """An opening over three samples, then the least of up to 24 equal stretches."""
    padded = numpy.pad(mb, 2, mode="edge")
    low = numpy.array([padded[i:i + 3].min() for i in range(len(mb) + 2)])
    opened = numpy.array([low[i:i + 3].max() for i in range(len(mb))])
    count = min(24, max(4, len(mb) // 2))
    stretch = numpy.clip(((at - at[0]) / max(at[-1] - at[0], 1e-9) * count).astype(int), 0, count - 1)
    floors = []
    for i in range(count):
        inside = opened[stretch == i]
        floors.append(inside.min() if len(inside) else floors[-1])
    return numpy.array(floors)


def traits(trace, look, families):
    at, mb = numpy.array(trace["at"]), numpy.array(trace["mb"])
    seen = at <= at[0] + (at[-1] - at[0]) * look["tenth"] / 10 + 1e-9
    at, mb = at[seen], mb[seen]
    floors = floors_of(at, mb)
    span = floors.max() - floors.min() + 1e-6
    rises = numpy.diff(floors) / span
    place = numpy.linspace(0, 1, len(floors))
    late = floors[len(floors) // 2:]
    line = numpy.polyfit(numpy.arange(len(late)), late, 1)
    order = numpy.sign(floors[:, None] - floors[None, :])[numpy.tril_indices(len(floors), -1)]
    epoch = trace["epoch_steps"]
    return [
        look["odds"], look["odds_of_shapes"], look["samples"], look["processes"], len(floors), span,
        span / numpy.median(mb), *(part.sum() for part in numpy.array_split(rises, 4)),
        numpy.median(numpy.abs(rises - numpy.median(rises))), rises.max(), (rises > 0.1).sum(),
        (rises < -0.02).mean(), rises[-3:].sum(), line[0] * len(late) / span,
        numpy.std(late - numpy.polyval(line, numpy.arange(len(late)))) / span, order.mean(),
        *numpy.polyfit(place, (floors - floors[0]) / span, 2),
        (len(floors) - 1 - numpy.argmax(floors >= floors.max() - 0.02 * span)) / len(floors),
        at[-1] / epoch if epoch else -1, at[-1], *(look["weights"].get(name, 0) for name in families),
    ]


class Looks:
    """All looks of all traces, one row each."""

    def __init__(self, path):
        traces = [json.loads(line) for line in open(path)]
        families = sorted({name for trace in traces for look in trace["looks"] for name in look["weights"]})
        rows = [(number, trace, look) for number, trace in enumerate(traces) for look in trace["looks"]]
        self.traits = numpy.array([traits(trace, look, families) for _, trace, look in rows], dtype=float)
        self.trace = numpy.array([number for number, _, _ in rows])
        self.leak = numpy.array([trace["leak"] for _, trace, _ in rows])
        self.counts = numpy.array([trace["added_mb"] >= COUNTS_FROM_MB for _, trace, _ in rows])
        self.part = numpy.array([trace["directory"].rstrip("/").split("/")[-1] for _, trace, _ in rows])
        self.kind = numpy.array([trace["kind"].removeprefix("leak_") for _, trace, _ in rows])
        self.at_end = numpy.array([look["tenth"] == 10 for _, _, look in rows])
        self.verdict = 1 / (1 + numpy.exp(-numpy.array([look["odds"] for _, _, look in rows])))


def print_frontier(looks, name, part, score):
    print(f"\n{name} on {part}:\n\n| at | alarmed at some tenth | precision | recall |\n|---|---|---|---|")
    of_part = looks.part == part
    bounded = numpy.unique(looks.trace[of_part & ~looks.leak])
    for threshold in THRESHOLDS:
        said = of_part & (score >= threshold)
        alarmed = len(numpy.intersect1d(bounded, looks.trace[said]))
        at_end = said & looks.at_end
        right = (at_end & looks.leak).sum() / max(1, at_end.sum())
        found = (at_end & looks.leak & looks.counts).sum()
        of = (of_part & looks.at_end & looks.leak & looks.counts).sum()
        print(f"| {threshold} | {alarmed} of {len(bounded)} | {right:.2f} | {found / of:.2f} |")


def learner():
    return HistGradientBoostingClassifier(max_iter=150, learning_rate=0.05, max_leaf_nodes=12,
                                          min_samples_leaf=60, l2_regularization=5, random_state=0)


def main():
    looks = Looks(sys.argv[1])
    known = numpy.flatnonzero(numpy.isin(looks.part, TRAINED_ON))
    left_out = numpy.zeros(len(looks.leak))
    for fit, rest in GroupKFold(8).split(known, groups=looks.kind[known]):
        model = learner().fit(looks.traits[known[fit]], looks.leak[known[fit]])
        left_out[known[rest]] = model.predict_proba(looks.traits[known[rest]])[:, 1]
    print_frontier(looks, "verdict", "fit", looks.verdict)
    print_frontier(looks, "boosted trees, kinds left out,", "fit", left_out)
    unseen = learner().fit(looks.traits[known], looks.leak[known]).predict_proba(looks.traits)[:, 1]
    for part in ("calibrate", "heldout"):
        print_frontier(looks, "verdict", part, looks.verdict)
        print_frontier(looks, "boosted trees", part, unseen)


if __name__ == "__main__":
    main()
