# SPDX-License-Identifier: Apache-2.0
"""Runs the design of `plateau prove` inside the job: answers the loader when it asks for indices, reads memory between
batches, and tells the watcher.

It begins at the first optimizer step: the loader whose batch came last before it is the training loader, so an
evaluation or a sanity check ahead of training is not taken for it. Other loaders are left alone. What it knows belongs
to the dataset, not to an iterator: frameworks make a new iterator for every pass, some jobs a new loader, which looks
the same. An evaluation on the training loader itself is told by its missing gradients; where it has them, a block in
which the optimizer did not step as often as its batches call for is told to be idle, and counts for nothing.

A loader over a stream has no indices. There the batches themselves are kept and served again, which repeats the step
but not the work of the dataset: growth per step is still told, a cache and a leak in the dataset are not told apart.

Each state goes out as one line, `mark prove at=37 kind=N block=3 place=5 size=12 mb=812.345`: memory after 37 batches
of the training loader, the last of them the 5th of the 12 of block 3. docs/prove.md has the words.
"""
import collections
import copy
import gc
import os
import time
import weakref

from . import design
from .resident import Resident, trim

_MAP = 0  # torch's _DatasetKind.Map.
_SETTLING = 2  # Steps in which a factor that was switched on or off takes effect: a first collection frees much.
_STILL_S = 5.0  # The longest that the job stands still to be looked at.
_STRAYED = 3  # Optimizer steps after which a loader that looks otherwise is the training loader: batches may grow.
_PATIENCE = 24  # Batches of one loader without an optimizer step, after which it counts as the training loader.


class _Pass:
    """One iterator's way through its loader."""

    def __init__(self, iterator):
        self.sampler = getattr(iterator, "_sampler_iter", None)
        self.position = 0                 # Drawn in this pass.
        self.length = _length(getattr(iterator, "_index_sampler", None))
        self.labels = collections.deque()  # Of what is drawn and not yet consumed.
        self.early = []                   # Drawn before anybody knew whether this is the training loader.


class Replay:
    """The `order` of the loader hooks. next_index() and next() stand in for the iterator's own."""

    def __init__(self, steps, tell, factor=None, heard_file=None):
        self._steps = steps
        self._heard_file = heard_file
        self._tell = tell
        self._factor = factor            # Called before each batch with whether it is on; see factors.py.
        self._passes = weakref.WeakKeyDictionary()
        self._dataset = None
        self._looks = None               # Of the training loader: see _looks_of().
        self._strayed = 0                # Optimizer steps in a row on batches of one that looks otherwise.
        self._stream = False
        self._design = design.Arms(steps) if factor else design.Pairs(steps)
        self._kept = {}                  # Batches of a stream by their place, to be served again.
        self._source = None              # The sampler's iterator that new batches come from.
        self._resident = Resident()
        self._consumed = 0
        self._last = None                # The iterator that gave the last batch, and how many it has given.
        self._given = collections.Counter()
        self._steps_at = []              # Batches consumed when each optimizer step ended.
        self._label = design.FILLER
        self._margins = (0, 0)
        self._per_step = 1               # Batches of an optimizer step.
        self._steps_before = 0           # Optimizer steps when the block began.
        self._told_design = False
        self._began_s = time.perf_counter()
        self._over = False

    # ---- what the hooks call -------------------------------------------------------------------

    def stepped(self):
        """An optimizer step has ended."""
        if self._dataset is None:
            if self._last is None or self._last() is None:
                return
            self._adopt(self._last())
        self._steps_at.append(self._consumed)
        last = self._last() if self._last else None
        if last is None or self._mine(last) or not self._same_data(last):
            self._strayed = 0
            return
        self._strayed += 1
        if self._strayed == _STRAYED:
            self._looks = _looks_of(last)

    def next_index(self, iterator, draw):
        """What `_next_index` gives: the sampler's own, unless this is the training loader."""
        this = self._pass_of(iterator)
        if not self._mine(iterator) or self._stream:
            index = draw()
            if self._dataset is None and len(this.early) < 4096:
                this.early.append(_copied(index))
            this.position += 1
            return index
        if this.length is not None and this.position >= this.length:
            raise StopIteration
        left = None if this.length is None else this.length - this.position
        index, label = self._design.deal(this.position, left, self._loop, lambda: self._pull(this, draw))
        this.position += 1
        this.labels.append(label)
        return _copied(index)

    def next(self, iterator, fetch):
        """What `__next__` gives."""
        if os.getpid() != self._pid_of_training():
            return fetch()
        mine = self._mine(iterator)
        if mine:
            self._between()
        if mine and self._stream:
            batch = self._next_of_stream(iterator, fetch)
        else:
            batch = fetch()
        self._last = weakref.ref(iterator)
        if mine:
            this = self._pass_of(iterator)
            self._consumed += 1
            self._label = this.labels.popleft() if this.labels else design.FILLER
            if self._factor:
                self._factor.use(self._label.kind == "B")
        elif self._dataset is None:
            self._given[id(iterator)] += 1
            if self._given[id(iterator)] > _PATIENCE:
                self._adopt(iterator)
        return batch

    # ---- finding the training loader -----------------------------------------------------------

    def _pid_of_training(self):
        # A forked worker inherits this object and must not speak or measure.
        if not hasattr(self, "_pid"):
            self._pid = os.getpid()
        return self._pid

    def _pass_of(self, iterator):
        this = self._passes.get(iterator)
        if this is None or this.sampler is not getattr(iterator, "_sampler_iter", None):
            this = self._passes[iterator] = _Pass(iterator)
            if self._dataset is not None and self._mine(iterator):
                self._design.new_pass(_workers(iterator))
        return this

    def _mine(self, iterator):
        if self._dataset is None:
            return False
        # One that looks otherwise evaluates on the same data, in order or by larger batches.
        return _looks_of(iterator) == self._looks and self._same_data(iterator)

    def _same_data(self, iterator):
        dataset = getattr(iterator, "_dataset", None)
        if dataset is self._dataset:
            return True
        # Made anew for each pass, by a function of the job's.
        return (type(dataset) is type(self._dataset) and _length(dataset) is not None
                and _length(dataset) == _length(self._dataset))

    def _adopt(self, iterator):
        this = self._pass_of(iterator)
        self._dataset = getattr(iterator, "_dataset", iterator)
        self._looks = _looks_of(iterator)
        self._stream = getattr(iterator, "_dataset_kind", _MAP) != _MAP
        if getattr(iterator, "_in_order", True) is False:
            self._tell("refused in_order=False lets workers overtake each other: the same batch would reach another one")
            self._over = True
        self._source = this.sampler
        self._consumed = max(1, self._given[id(iterator)])
        if self._stream:
            # As many batches are kept in the warm-up as a block has, so that keeping adds nothing later.
            self._design.begin(design.USUAL_BLOCK // 2, None)
            return
        ahead = max(0, this.position - self._given[id(iterator)])
        self._design.begin(ahead, this.length)
        for batch in this.early:
            self._design.met(batch)
        this.labels.extend([design.Label("W", 0, i + 1, 0) for i in range(ahead)])
        this.early = []

    # ---- dealing -------------------------------------------------------------------------------

    def _pull(self, this, draw):
        """A batch that is new: from the sampler of the first pass, as long as that lasts."""
        if isinstance(self._design, design.Arms) or this.sampler is self._source:
            return _copied(draw())
        return _copied(next(self._source))

    def _next_of_stream(self, iterator, fetch):
        """A batch of the stream, or one that was kept by its place in the block."""
        this = self._pass_of(iterator)
        index, label = self._design.deal(0, None, self._loop, lambda: self._consumed)
        del index
        this.labels.append(label)
        slot = (label.place if label.size else self._consumed) % max(design.USUAL_BLOCK, label.size)
        if label.kind == "R" and slot in self._kept:
            return _fresh(self._kept[slot])
        try:
            batch = fetch()
        except BaseException:
            this.labels.pop()
            raise
        self._kept[slot] = _fresh(batch)
        return batch

    def _loop(self):
        """What the warm-up has shown of the loop, or None while it has shown too little."""
        steps = self._distances()
        iterator = self._last() if self._last else None
        if iterator is None or (not steps and self._consumed < 2 * design.USUAL_WARMUP):
            return None
        this = self._passes.get(iterator)
        workers = 0 if self._stream else _workers(iterator)
        ahead = _prefetch(iterator) if workers else 0
        per_step = sorted(steps)[len(steps) // 2] if steps else 1
        lag = 0
        if steps:
            lag = min(2 * per_step + 2, max(0, self._steps_at[-1] - per_step * (len(steps) + 1)))
        if self._factor:
            lag = max(lag, _SETTLING)
        self._margins = (lag, ahead)
        self._per_step = per_step
        took = (time.perf_counter() - self._began_s) / max(1, self._consumed)
        self._resident.decide(took)
        return {"workers": workers, "ahead": ahead, "lag": lag, "per_step": per_step,
                "batches_pass": None if self._stream else this.length}

    def _distances(self):
        """Batches between optimizer steps; several optimizers at one batch are one step."""
        pairs = zip(self._steps_at, self._steps_at[1:])
        return [later - earlier for earlier, later in pairs if later > earlier]

    # ---- measuring -----------------------------------------------------------------------------

    def _between(self):
        """The state after the last batch. Before a state that counts, what is already free goes back: the collector
        runs, where the job has it switched on, and the allocator returns free pages. What is asked is what the job
        keeps. Where the collector is off, garbage stays and is kept."""
        label = self._label
        if self._over or not self._consumed:
            return
        lag, ahead = self._margins
        begins = label.size > 0 and not self._told_design
        ends = label.size - ahead
        counts = label.place <= lag + 2 or ends - 2 <= label.place <= ends or label.place == label.size
        if counts and gc.isenabled() and not self._factor:
            gc.collect()
        if counts and not (self._factor and self._factor.is_trim):
            trim()
        if begins:
            self._tell_design(label.size)
        if label.place <= 1:
            self._steps_before = len(self._steps_at)
        elif label.place == label.size and self._is_idle(label.size):
            self._tell("idle block=%d" % label.block)
        self._tell("at=%d kind=%s block=%d place=%d size=%d mb=%.3f" % (
            self._consumed, label.kind, label.block, label.place, label.size, self._resident.mb()))
        if self._consumed >= self._steps:
            self._over = True
            self._tell("over at=%d" % self._consumed)
        if begins or self._over or (label.size and label.place == label.size):
            self._stand_still()

    def _is_idle(self, size):
        """The optimizer has not stepped as it should in the block that ends, one of its steps more or less. The first
        batch of the block was trained on before its steps were counted from."""
        due = (size - 1) // self._per_step
        return bool(self._steps_at) and due > 1 and len(self._steps_at) - self._steps_before < 0.9 * due - 1

    def _stand_still(self):
        """Who holds memory is looked at from outside, when the blocks begin and when one ends; while the collector
        works nothing could be seen. The watcher writes how far it has heard, and looked, into a file."""
        deadline = time.monotonic() + _STILL_S
        while self._heard_file and time.monotonic() < deadline:
            try:
                with open(self._heard_file, "rb") as file:
                    if int(file.read() or b"0") >= self._consumed:
                        return
            except (OSError, ValueError):
                return
            time.sleep(0.002)

    def _tell_design(self, size):
        self._told_design = True
        lag, ahead = self._margins
        seen = self._design.seen
        batch = len(seen[0]) if seen and isinstance(seen[0], (list, tuple)) else 1
        examples = _length(self._dataset)
        self._tell("design mode=%s size=%d lag=%d ahead=%d batch=%d examples=%d read=%s rank=%s" % (
            "stream" if self._stream else "index", size, lag, ahead, batch, examples or 0, self._resident.how,
            os.environ.get("RANK", "-")))


def _length(thing):
    try:
        return len(thing)
    except Exception:  # pylint: disable=broad-except
        return None


def _looks_of(iterator):
    """What a loader of the same data for the same purpose has in common with another: how it draws, and whether it was
    opened with gradients."""
    batches = getattr(iterator, "_index_sampler", None)
    order = getattr(batches, "sampler", None)
    quiet = getattr(getattr(iterator, "_plateau_pass", None), "quiet", False)
    return type(batches), type(order), getattr(batches, "batch_size", None), _workers(iterator), quiet


def _workers(iterator):
    return int(getattr(iterator, "_num_workers", 0) or 0)


def _prefetch(iterator):
    return _workers(iterator) * int(getattr(iterator, "_prefetch_factor", 2) or 2)


def _copied(index):
    return list(index) if isinstance(index, list) else index


def _fresh(batch):
    """The same tensors in containers of their own: loops pop labels out of the batch they are given."""
    if isinstance(batch, dict):
        again = copy.copy(batch)
        for key in list(again):
            again[key] = _fresh(again[key])
        return again
    if isinstance(batch, list):
        return [_fresh(each) for each in batch]
    if type(batch) is tuple:
        return tuple(_fresh(each) for each in batch)
    return batch
