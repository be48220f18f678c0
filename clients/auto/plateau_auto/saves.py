# SPDX-License-Identifier: Apache-2.0
"""Checkpoints are not written while `plateau prove` runs: the job sees data in another order than it wanted, so what
it would save is no result. Each call that saves is passed over, counted and told.

What torch.save writes into memory (a buffer) is let through: libraries use that to send objects around. A job that
reads back what it has saved will not find it; it usually has been ended by then.
"""
import functools
import os

_count = 0


def _skipped():
    global _count
    _count += 1
    if _count & (_count - 1) == 0:  # 1, 2, 4, 8: the last figure told is never less than half of it.
        from . import prove
        prove.tell("skipped saves=%d" % _count)


def _passing_over(owner, name, goes_to_disk=lambda args, kwargs: True):
    original = getattr(owner, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def call(*args, **kwargs):
        if not goes_to_disk(args, kwargs):
            return original(*args, **kwargs)
        _skipped()
        return None

    setattr(owner, name, call)


def _to_a_file(args, kwargs):
    target = args[1] if len(args) > 1 else kwargs.get("f")
    if isinstance(target, (str, bytes, os.PathLike)):
        return True
    try:
        target.fileno()
    except Exception:  # pylint: disable=broad-except
        return False  # A buffer in memory.
    return True


def patch_torch(module):
    _passing_over(module, "save", _to_a_file)


def patch_safetensors(module):
    _passing_over(module, "save_file")
    _passing_over(module, "save_model")


def patch_trainer(module):
    _passing_over(module.Trainer, "_save_checkpoint")
    _passing_over(module.Trainer, "save_model")


def patch_pretrained(module):
    _passing_over(module.PreTrainedModel, "save_pretrained")


def patch_lightning(module):
    _passing_over(module.Trainer, "save_checkpoint")
