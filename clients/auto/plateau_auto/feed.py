# SPDX-License-Identifier: Apache-2.0
"""One pass over the training data: how long it is, how far it is, and what it shows for the first time. Mostly that
of a DataLoader's iterator; frameworks that load by themselves (Keras, fastai) state theirs.

Lengths are asked of the sampler, whose len() has no effects. Where it has none, because it never ends, the loader's own
class may know how long a pass is (the loaders of YOLO and timm, which keep their workers so). A stream (IterableDataset)
is never asked: its loader would remember that it was, and warn later.
"""
import itertools
import math
import weakref

from .ranks import world_size

_MAX_COUNTED = 4 << 20  # Examples; a byte each.
_MAX_WORKERS = 8  # A bit each.
MOST_WAITING = 64  # Batches that are not yet counted.
_MAP = 0  # torch's _DatasetKind.Map

_MOST_GONE = 256
_MOST_SEEN = 512  # Datasets; all of them are asked whenever a count is said.
_seen = {}  # By id of the dataset: Seen. Few: a job has a handful of datasets.
_gone = {}  # By Seen.looks of those that were trained on: (count, to_see).


class Seen:
    """Which examples of a dataset were drawn before, by which worker."""

    def __init__(self, size, looks=None):
        self.size = size
        self.looks = looks
        self.to_see = size  # What the count can come to.
        self.trained_on = False
        self._marks = bytearray(size)
        self.count = 0  # Of pairs of an example and a worker that has met it.
        self.exact = True
        self.full = False  # Every example was drawn by somebody, or nobody can tell.
        self.owner = None  # A weak reference that forgets us with the dataset.

    def add(self, indices, bit=0):
        """`bit` is the worker's, where workers live on; 0 where none does."""
        marks = self._marks
        fresh = 0
        try:
            if not bit:
                for index in indices:  # The same as below, at two thirds of its cost.
                    if not marks[index]:
                        marks[index] = 1
                        fresh += 1
            else:
                for index in indices:
                    if not marks[index] & bit:
                        marks[index] |= bit
                        fresh += 1
        except (TypeError, IndexError):
            self.exact = False  # Indices of the user's own kind.
        self.count += fresh
        self.full = self.count >= self.size or not self.exact


def _seen_of(dataset, size):
    key = id(dataset)
    seen = _seen.get(key)
    if seen is not None and seen.size == size:
        return seen
    if len(_seen) >= _MOST_SEEN:
        return None
    seen = Seen(size, _looks_of(dataset, size))
    try:
        seen.owner = weakref.ref(dataset, lambda _: _forget(key))
    except TypeError:
        return None  # A list or the like cannot be followed; another may get its id.
    _seen[key] = seen
    return seen


def start_anew():
    """Nothing was trained on yet."""
    _gone.clear()
    for seen in list(_seen.values()):
        seen.trained_on = False


def _forget(key):
    seen = _seen.pop(key, None)
    if seen is not None and seen.trained_on and len(_gone) < _MOST_GONE:
        _gone[seen.looks] = (seen.count, seen.to_see)


def _looks_of(dataset, size):
    """What a dataset has in common with itself, made anew for another pass, and not with another shard: kind, size and its
    plain attributes (a path, a number)."""
    try:
        plain = [(name, value) for name, value in list(vars(dataset).items()) if type(value) in (int, str)]
    except Exception:  # pylint: disable=broad-except
        plain = []  # It has no attributes, or a way of its own to give them.
    return type(dataset).__qualname__, size, hash(tuple(plain))


def _others(one):
    """(count, to_see) of each dataset but this that was trained on: tasks that take turns, shards, a pre-training. One that
    looks as another that is gone is that one, made anew for a new pass."""
    # Copies, because a collection may take a dataset away in between.
    living = [seen for seen in list(_seen.values()) if seen.trained_on and seen is not one]
    there = {seen.looks for seen in living + [one]}
    return [(seen.count, seen.to_see) for seen in living if seen.exact] + [
        counts for looks, counts in list(_gone.items()) if looks not in there]


def _length(thing):
    try:
        return len(thing)
    except Exception:  # pylint: disable=broad-except
        return None  # Whatever a user's __len__ does, it is not our failure.


def pass_of_loader(loader):
    """A pass over a DataLoader of torch, which begins."""
    is_stream = loader._dataset_kind != _MAP
    length = None if is_stream else _length(loader._index_sampler)
    one = Pass("the DataLoader", loader.dataset, length if length is not None or is_stream else _length(loader),
               None if is_stream else _length(loader.dataset))
    if is_stream:
        one.drawn = None
    one.workers = loader.num_workers
    one.persistent = bool(getattr(loader, "persistent_workers", False)) and one.workers > 0
    one.count_new(loader.dataset)
    return one


class Pass:
    """`name` is who feeds, for the report. `dataset` is remembered by its id and kind only."""

    def __init__(self, name, dataset, length=None, examples=None, batch=0):
        self.name = name
        self.dataset_id = id(dataset)
        # The same for a dataset that is made anew for each pass, where it can be told.
        self.kind = (type(dataset), examples, length) if examples else self.dataset_id
        self.length = length  # In batches.
        self.examples = examples
        self.workers = 0
        self.persistent = False
        self.drawn = []  # Tuples of indices that were not yet looked at; None: nobody asks for them any more.
        self.seen = None  # Which examples are new is not counted, unless count_new() is called.
        self.batch = batch  # Examples in the largest batch drawn.
        self.batches_in_all = None  # Of all passes, where the framework says so.
        self._draws = self.consumed = self.steps = 0
        self.fresh = False  # A batch came since the last step; kept by loop.py.
        self.over = self.shared = False
        self.quiet = False  # Opened without gradients.
        self.left = False  # Another pass over the same data has taken over before this one ended.
        self.rounds_up = False  # A pass ends in a step of fewer batches: the framework says so, or one was seen to.
        self.facts = []  # What take_facts() gives.
        self._first_step_at = 0  # Batches consumed when the first step of this pass ended.
        self._per_step = None  # Batches per step, as last stated.

    def count_new(self, dataset):
        if self.examples and self.examples <= _MAX_COUNTED and (
                not self.persistent or self.workers <= _MAX_WORKERS):
            self.seen = _seen_of(dataset, self.examples)
        if self.seen is not None and self.persistent:
            self.seen.to_see = self.examples * self.workers  # Each worker that lives on meets each once.

    def draw(self, indices):
        """These are loaded next. They are looked at when somebody asks, or when too many wait: at every step that
        would cost more. torch_data.py does the same without a call."""
        if self.drawn is not None:
            # Without automatic batching the sampler gives single ones. A copy, because samplers may use their list again.
            self.drawn.append((indices,) if type(indices) is int else tuple(indices))
            if len(self.drawn) > MOST_WAITING:
                self.look()

    def look(self):
        """Looks at what was drawn: the largest batch, and which examples are new."""
        if not self.drawn:
            return
        drawn, self.drawn = self.drawn, []
        self.batch = max(self.batch, max(map(len, drawn)))
        seen = self.seen
        if seen is None:
            return
        if not self.persistent:
            seen.add(itertools.chain.from_iterable(drawn))
        else:
            for indices in drawn:
                seen.add(indices, 1 << (self._draws % self.workers))
                self._draws += 1
        # With persistent workers, there is more than one bit to an example.
        if seen.full and not (self.persistent and seen.exact and seen.count < self.examples * self.workers):
            self.drawn = None

    def gauges(self):
        self.look()
        seen = self.seen
        if seen is None or not seen.exact:
            return ()
        count, to_see = seen.count, seen.to_see
        if len(_seen) > 1 or _gone:
            for its_count, its_to_see in _others(seen):
                count += its_count
                to_see += its_to_see
        if to_see > seen.size:  # Else it is said as a fact.
            return ("examples.seen", count), ("examples.to_see", to_see)
        return (("examples.seen", count),)

    def learn(self, known):
        """Called after the first step and whenever `steps` has doubled; states facts once they are known. `known` is
        what the framework says."""
        self.look()
        if self.steps == 1:
            self._first_step_at = self.consumed
        if known.get("length"):
            self.length = known["length"]
        per_step = known.get("accumulation")
        if per_step is None:
            if self.steps < 2 or self.over or self.steps & (self.steps - 1):
                return
            per_step = _batches_per_step(self.consumed - self._first_step_at, self.steps)
        if not per_step or (self._per_step and abs(per_step / self._per_step - 1) < 0.005):
            return
        self._per_step = per_step
        self.rounds_up = known.get("rounds_up", self.rounds_up)
        self._state(per_step, self.rounds_up, known.get("total_steps"))

    def _state(self, per_step, rounds_up, total_steps):
        if total_steps is None and self.batches_in_all:
            total_steps = self.batches_in_all // per_step
        facts = {"total_steps": total_steps}
        source = self.name
        if self.length:
            steps = self.length / per_step
            facts["epoch_steps"] = math.ceil(steps - 1e-9) if rounds_up else steps
            source += ": %s" % _count(self.length, "batch", "batches")
            if per_step > 1:
                source += " / %g per step" % per_step
            elif per_step < 1:
                source += " x %g steps each" % (1 / per_step)
        if self.batch and not self.shared:
            facts["batch"] = self.batch * max(1, per_step) * world_size()
            facts["examples"] = self.examples
            if self.length and self.examples and math.ceil(
                    self.examples / facts["batch"]) == facts.get("epoch_steps"):
                source = "%s: %s / %g per step" % (
                    self.name, _count(self.examples, "example", "examples"), facts["batch"])
        if self.shared:
            source += ", the longer of two"
        self.facts.append((source, facts))

    def observe_end(self):
        """A stream's length is known once it has ended, and whether what is left of a pass makes a step."""
        if self.length is None:
            if self.steps > 1:
                self.facts.append(("the first end of the stream", {"epoch_steps": self._steps_at_end()}))
            return
        exact = self.length / (self._per_step or 1)
        if not self.rounds_up and self.consumed == self.length and exact < self.steps == math.ceil(exact):
            self.rounds_up = True
            self._state(self._per_step, True, None)

    def _steps_at_end(self):
        """Of the whole pass. A loop that loads ahead meets the end before its last steps."""
        per_step = self._per_step
        if per_step is None or self._first_step_at <= per_step:
            return self.steps
        steps = self.consumed / per_step
        return math.ceil(steps - 1e-9) if self.rounds_up else steps

    def take_facts(self):
        facts, self.facts = self.facts, []
        return facts


def _batches_per_step(batches, steps):
    """Of `steps` steps, before the first of which `batches` fewer were consumed than before the last. Where each batch makes
    several steps (truncated backpropagation), 1 / 3; None while that is open, or where a loop loads a few ahead.
    Worked case: at the 8th of 3 steps a batch 2 batches have come since the first: 8 <= k * 3 and k * 2 <= 7 leave k = 3."""
    if batches >= steps - 1:
        return batches / (steps - 1)
    least, most = -(-steps // (batches + 1)), (steps - 1) // batches if batches else 0
    return 1 / least if least == most else None


def _count(number, one, many):
    return "%d %s" % (number, one if number == 1 else many)
