# SPDX-License-Identifier: Apache-2.0
"""transformers.Trainer and what is built on it (TRL's trainers, sentence-transformers): it counts steps itself, and
tells its callbacks. CallbackHandler.call_event is where it does so; no callback is added, because users print and
count the ones they have."""
import functools

from . import guard
from .loop import LOOP

_state = {"evaluating": False}


def _heard(words, named):
    event, args, state = (words + tuple(named[name] for name in ("event", "args", "state") if name in named))[:3]
    if event == "on_step_end":
        LOOP.adopt("transformers", begins_at=state.global_step - 1)  # Again, where we came into a training that had begun.
        LOOP.framework_step(
            state.global_step, state.epoch, accumulation=args.gradient_accumulation_steps,
            total_steps=state.max_steps, rounds_up=True)
    elif event == "on_prediction_step":
        # on_evaluate comes when it is over; its first batch is how an evaluation begins.
        if not _state["evaluating"]:
            _state["evaluating"] = True
            LOOP.event("begin eval")
    elif event in ("on_evaluate", "on_predict"):
        LOOP.event("end eval" if _state["evaluating"] else "mark eval")
        _state["evaluating"] = False
    elif event == "on_save":
        LOOP.saved()
    elif event == "on_epoch_end":
        LOOP.event("mark epoch")
    elif event == "on_train_begin":
        LOOP.adopt("transformers", begins_at=state.global_step)
    elif event == "on_train_end":
        LOOP.release()


def patch(module):
    """`module` is transformers.trainer_callback."""
    handler = module.CallbackHandler
    heard = guard.hook("the Trainer's events", _heard)
    original = handler.call_event

    @functools.wraps(original)
    def call_event(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        heard(args, kwargs)
        return result

    handler.call_event = call_event
