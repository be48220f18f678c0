# SPDX-License-Identifier: Apache-2.0
"""Loaders that take turns: tasks or domains of which each step trains on one. A pass over the data is then one over all of
them, and how far it is, is what all have handed out.

They are known by a pass that goes on after another one has fed a step in between. Loaders whose passes follow one another
(shards, a pre-training and a fine-tuning) never show that.

Worked case: loaders of 20, 60 and 40 batches, drawn from at random. After 30 steps, of which the first had 5, a quarter of
the epoch of 120 steps is over, whichever of them ends first.
"""

_MOST = 64  # Loaders; more are shards.


class Turns:
    def __init__(self):
        self.on = False
        self._by = {}  # By id of the dataset: the pass that is under way, batches and steps of those before it.

    def fed(self, one, last):
        """The pass `one` has fed a step, and before it `last` did, or nobody."""
        if last is one:
            return
        entry = self._by.get(one.dataset_id)
        if entry is None:
            if len(self._by) < _MOST:
                self._by[one.dataset_id] = [one, 0, 0]
        elif entry[0] is not one:
            entry[:] = one, entry[1] + entry[0].consumed, entry[2] + entry[0].steps
        elif last is not None and last.dataset_id != one.dataset_id:
            self.on = True

    def place(self):
        """How many passes over all of them are over; None where one has no length."""
        whole = self._batches()
        return sum(before + one.consumed for one, before, _ in self._by.values()) / whole if whole else None

    def facts(self):
        """(source, facts) of a pass over all of them; None while that is not known."""
        whole = self._batches()
        consumed = sum(before + one.consumed for one, before, _ in self._by.values())
        steps = sum(before + one.steps for one, _, before in self._by.values())
        if not whole or not steps:
            return None
        per_step = consumed / steps
        if abs(per_step - round(per_step)) < 0.1:
            per_step = max(1, round(per_step))  # A batch that waits for its step.
        passes = [one for one, _, _ in self._by.values()]
        return "%d DataLoaders that take turns: %d batches" % (len(passes), whole), {
            "epoch_steps": whole / per_step,
            "examples": sum(one.examples for one in passes) if all(one.examples for one in passes) else None}

    def _batches(self):
        lengths = [one.length for one, _, _ in self._by.values()]
        return sum(lengths) if all(lengths) else None
