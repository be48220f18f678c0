# SPDX-License-Identifier: Apache-2.0
"""Lightning, under both its names: it counts steps itself, and tells its callbacks in trainer/call.py. Its count
rises with every optimizer, so with several of them one step of ours is one batch that moved it."""
import functools
import math

from . import guard
from .loop import LOOP

_state = {"last": -1}


def _finite(number):
    return int(number) if isinstance(number, (int, float)) and 0 < number < math.inf else None


def _facts(trainer):
    batches = _finite(trainer.num_training_batches)
    per_step = trainer.accumulate_grad_batches
    total = _finite(trainer.max_steps)
    if total is None and batches and _finite(trainer.max_epochs):
        total = trainer.max_epochs * math.ceil(batches / per_step)
    return {"accumulation": per_step, "total_steps": total, "rounds_up": True, "length": batches}


def _batch_ended(trainer):
    count = trainer.global_step
    if count == _state["last"]:
        return  # A batch whose gradients were added up.
    _state["last"] = count
    if len(trainer.optimizers) == 1:
        LOOP.framework_step(count, None, **_facts(trainer))
    else:
        LOOP.step_ended(LOOP.steps + 1, None, **_facts(trainer))


def _heard(trainer, hook):
    if hook == "on_train_batch_end":
        LOOP.adopt("lightning", begins_at=trainer.global_step - 1)  # Again, where we came into a training that had begun.
        _batch_ended(trainer)
    elif hook == "on_train_start":
        _state["last"] = trainer.global_step
        LOOP.adopt("lightning", begins_at=trainer.global_step)
    elif hook == "on_validation_start":
        LOOP.event("begin eval")
    elif hook == "on_validation_end":
        LOOP.event("end eval")
    elif hook == "on_train_epoch_end":
        LOOP.event("mark epoch")
    elif hook in ("on_train_end", "on_exception"):
        LOOP.release()


def _once_per_hook(trainer, hook, monitoring):
    # Some hooks are called twice: for the callbacks that monitor, and for the others.
    if not monitoring:
        _heard(trainer, hook)


def patch(module):
    """`module` is lightning.pytorch.trainer.call or pytorch_lightning.trainer.call."""
    heard = guard.hook("Lightning's events", _once_per_hook)
    saved = guard.hook("Lightning's checkpoints", LOOP.saved)
    call_hooks, call_saves = module._call_callback_hooks, module._call_callbacks_on_save_checkpoint

    @functools.wraps(call_hooks)
    def _call_callback_hooks(trainer, hook_name, *args, **kwargs):
        result = call_hooks(trainer, hook_name, *args, **kwargs)
        heard(trainer, hook_name, kwargs.get("monitoring_callbacks"))
        return result

    @functools.wraps(call_saves)
    def _call_callbacks_on_save_checkpoint(*args, **kwargs):
        result = call_saves(*args, **kwargs)
        saved()
        return result

    module._call_callback_hooks = _call_callback_hooks
    module._call_callbacks_on_save_checkpoint = _call_callbacks_on_save_checkpoint
