# SPDX-License-Identifier: Apache-2.0
"""fastai: its Learner has optimizers and loaders of its own, which torch's hooks do not see. A step is a call of
Learner._step, which callbacks that add up gradients leave out. Of its DataLoader the order of a pass is known
(get_idxs), so new examples are counted as they are consumed."""
import functools
import weakref

from . import guard, voice
from .feed import Pass
from .loop import LOOP

_NAME = "fastai"
_orders = weakref.WeakKeyDictionary()  # By DataLoader: the indices of its pass.
_state = {"one": None, "fed": 0, "batches": 0}  # The pass, its batches, and how many of them were stepped on.


def _begin_pass(learner):
    loader = learner.dl
    length = _length(loader)
    one = Pass("the DataLoader", loader.dataset, length, getattr(loader, "n", None), getattr(loader, "bs", None) or 0)
    one.count_new(loader.dataset)
    if length and isinstance(getattr(learner, "n_epoch", None), int):
        one.batches_in_all = length * learner.n_epoch
    _state.update(one=one, fed=0, batches=0)


def _length(thing):
    try:
        return len(thing)
    except TypeError:
        return None  # A stream.


def _take_batch(learner):
    """A batch was handed out, in training."""
    one = _state["one"]
    if one is None:
        return
    place, size = _state["batches"], one.batch
    _state["batches"] += 1
    order = _orders.get(learner.dl)
    if order is not None and size and one.seen is not None:
        one.draw(order[place * size:(place + 1) * size])


def _step_ended(learner):
    LOOP.adopt(_NAME)  # Again, where we came into a training that had begun.
    one = _state["one"]
    if one is None:
        LOOP.step_ended(LOOP.steps + 1)
        return
    LOOP.feed(one, _state["batches"] - _state["fed"])
    _state["fed"] = _state["batches"]
    LOOP.step_ended(LOOP.steps + 1, learner.epoch + one.consumed / one.length if one.length else None)


def _heard(learner, event):
    if event == "before_fit":
        voice.hello()
        LOOP.adopt(_NAME)
    elif event == "before_train":
        _begin_pass(learner)
    elif event == "before_batch":
        if getattr(learner, "training", False):
            _take_batch(learner)
    elif event == "before_validate":
        LOOP.event("begin eval")
    elif event == "after_validate":
        LOOP.event("end eval")
    elif event == "after_train":
        if _state["one"] is not None:
            LOOP.pass_ended(_state["one"])
            _state["one"] = None
        LOOP.event("mark epoch")
    elif event == "after_fit":
        LOOP.release()


def patch(module):
    """`module` is fastai.learner."""
    heard = guard.hook("fastai's events", _heard)
    stepped = guard.hook("fastai's steps", _step_ended)
    learner = module.Learner
    call_one, take_step = learner._call_one, learner._step

    @functools.wraps(call_one)
    def _call_one(self, event_name, *args, **kwargs):
        result = call_one(self, event_name, *args, **kwargs)
        heard(self, event_name)
        return result

    @functools.wraps(take_step)
    def _step(self, *args, **kwargs):
        result = take_step(self, *args, **kwargs)
        stepped(self)
        return result

    learner._call_one, learner._step = _call_one, _step


def patch_loader(module):
    """`module` is fastai.data.load."""
    original = module.DataLoader.get_idxs
    order_of = guard.hook("fastai's order", lambda loader, order: _orders.__setitem__(
        loader, list(order) if isinstance(order, (list, tuple)) else None))

    @functools.wraps(original)
    def get_idxs(self, *args, **kwargs):
        order = original(self, *args, **kwargs)
        order_of(self, order)
        return order

    module.DataLoader.get_idxs = get_idxs
