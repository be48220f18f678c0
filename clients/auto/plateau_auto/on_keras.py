# SPDX-License-Identifier: Apache-2.0
"""Keras 3 with any backend, and Keras 2 (tf_keras, or inside TensorFlow): Model.fit tells a CallbackList what it does.
The list is listened to; no callback is added, because an added one stops Keras from calling the others in the background.

One batch is one step. With steps_per_execution several are one call, and only the last of them is said. The length of an epoch
is what fit() says to callbacks (params["steps"]), or is known once the first has ended. Loops of one's own around
train_on_batch() or GradientTape tell nobody.
"""
import functools

from . import guard, voice
from .feed import Pass
from .loop import LOOP

_NAME = "Keras"
_data = {"adapter": None}  # What fit() reads, as far as Keras 3 shows it.


class _Fit:
    """One call of fit()."""

    base = epoch = 0  # Steps before this epoch; its number.
    within = 0  # Batches of this epoch.
    one = None  # Its Pass.


_fit = _Fit()


def _number(value):
    return int(value) if isinstance(value, (int, float)) and 0 < value < 1 << 53 else None


def _adapter_facts():
    adapter = _data["adapter"]
    batch = _number(getattr(adapter, "batch_size", None))
    return {"batch": batch or 0, "examples": _number(getattr(adapter, "_num_samples", None)) if batch else None}


def _begin(_callbacks):
    voice.hello()
    LOOP.adopt(_NAME)


def _begin_epoch(callbacks, epoch):
    LOOP.adopt(_NAME)  # Again, where we came into a training that had begun.
    _fit.epoch, _fit.within, _fit.base = int(epoch), 0, LOOP.steps
    steps = _number((callbacks.params or {}).get("steps"))
    _fit.one = Pass(_NAME, callbacks, steps, **_adapter_facts())


def _end_batch(callbacks, batch):
    if LOOP.framework != _NAME or _fit.one is None:
        return
    done = int(batch) + 1
    params = callbacks.params or {}
    steps = _number(params.get("steps"))
    epochs = _number(params.get("epochs"))
    if not LOOP.is_fed():  # Arrays; a DataLoader of the user's own knows more.
        LOOP.feed(_fit.one, max(1, done - _fit.within))
    _fit.within = done
    LOOP.step_ended(_fit.base + done, _fit.epoch + done / steps if steps else None, accumulation=1,
                    length=steps, total_steps=steps * epochs if steps and epochs else None)


def _end_epoch(_callbacks):
    one = _fit.one
    if one is not None and one.length is None and _fit.within > 1:
        voice.get().facts("the first epoch of " + _NAME, epoch_steps=_fit.within)
    LOOP.event("mark epoch")


def _listen(owner, name, heard):
    """After the list has told its callbacks of `name`, so do we."""
    original = getattr(owner, name)
    heard = guard.hook("Keras's events", heard)

    @functools.wraps(original)
    def call(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if name in ("on_epoch_begin", "on_train_batch_end"):
            heard(self, args[0] if args else kwargs["epoch" if name == "on_epoch_begin" else "batch"])
        else:
            heard(self)
        return result

    setattr(owner, name, call)


def patch(module):
    """`module` defines CallbackList: keras.src.callbacks.callback_list (3), [tf_]keras.src.callbacks (2.13 to 2.x)."""
    owner = module.__dict__.get("CallbackList")
    if owner is None or owner.__module__ != module.__name__:
        return  # Keras 3's package of that name, which hands on.
    for name, heard in (
            ("on_train_begin", _begin), ("on_epoch_begin", _begin_epoch), ("on_train_batch_end", _end_batch),
            ("on_epoch_end", _end_epoch), ("on_test_begin", lambda _: LOOP.event("begin eval")),
            ("on_test_end", lambda _: LOOP.event("end eval")), ("on_train_end", lambda _: LOOP.release())):
        _listen(owner, name, heard)


def patch_iterator(module):
    """`module` is keras.src.trainers.epoch_iterator: the first one after a training began or ended is what it reads."""
    original = module.EpochIterator.__init__

    def made(iterator):
        if LOOP.framework != _NAME:  # fit() makes its own before it tells the callbacks; evaluations come later.
            _data["adapter"] = iterator.data_adapter

    made = guard.hook("Keras's data", made)

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        made(self)

    module.EpochIterator.__init__ = __init__


def patch_saves(module):
    """`module` is keras.src.saving.saving_api."""
    saved = guard.hook("Keras's checkpoints", LOOP.saved)
    for name in ("save_model", "save_weights"):
        original = getattr(module, name)

        def save(*args, _original=original, **kwargs):
            result = _original(*args, **kwargs)
            saved()
            return result

        setattr(module, name, functools.wraps(original)(save))
