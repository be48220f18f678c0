# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed: the engine decides when weights change, and ZeRO calls an optimizer for each part of them. What counts is
that the engine's own count has moved: after step(), and after train_batch() where layers are a pipeline. Within
transformers.Trainer and Lightning those count; two engines that take turns on one batch (RLHF) make one step."""
import functools

from . import guard
from .loop import LOOP

_NAME = "DeepSpeed"


def _made(_engine):
    if LOOP.framework is None:
        LOOP.adopt(_NAME, says_passes=False)  # Before its first step: ZeRO would make several of it.


def _stepped(engine):
    if LOOP.framework in (None, _NAME):
        LOOP.adopt(_NAME, says_passes=False)
        LOOP.count(engine, accumulation=engine.gradient_accumulation_steps())


def _follow(owner, name):
    original = getattr(owner, name)
    stepped = guard.hook("DeepSpeed's steps", _stepped)

    @functools.wraps(original)
    def call(self, *args, **kwargs):
        before = self.global_steps
        result = original(self, *args, **kwargs)
        if self.global_steps != before:
            stepped(self)
        return result

    setattr(owner, name, call)


def patch(module):
    """`module` is deepspeed.runtime.engine."""
    owner = module.DeepSpeedEngine
    original = owner.__init__
    made = guard.hook("DeepSpeed's engines", _made)
    owner.gradient_accumulation_steps  # An AttributeError here says that we do not know this version.

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        made(self)

    _follow(owner, "step")
    owner.__init__ = __init__
    original_save = owner.save_checkpoint
    saved = guard.hook("DeepSpeed's checkpoints", LOOP.saved)

    @functools.wraps(original_save)
    def save_checkpoint(*args, **kwargs):
        result = original_save(*args, **kwargs)
        saved()
        return result

    owner.save_checkpoint = save_checkpoint


def patch_pipe(module):
    """`module` is deepspeed.runtime.pipe.engine."""
    _follow(module.PipelineEngine, "train_batch")
