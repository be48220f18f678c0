# SPDX-License-Identifier: Apache-2.0
"""What a job does beside steps: it writes checkpoints (torch.save, safetensors, torch.distributed.checkpoint) and
compiles (torch.compile).

A checkpoint is many files; what is written between two steps is one. torch.save to memory is how objects are copied
and sent, and is none. Of compilations the first twenty are said, all are counted.
"""
import functools
import io

from . import guard
from .loop import LOOP

_MOST_SAID = 20


def patch_save(module):
    """`module` is torch.serialization, safetensors.torch or the saver of torch.distributed.checkpoint: whoever copies
    the name later copies ours."""
    saved = guard.hook("checkpoints", LOOP.saved)
    name = "save" if hasattr(module, "save") and not hasattr(module, "save_file") else "save_file"
    original = getattr(module, name)

    @functools.wraps(original)
    def save(*args, **kwargs):
        result = original(*args, **kwargs)
        target = args[1] if len(args) > 1 else kwargs.get("f", kwargs.get("filename"))
        if not isinstance(target, io.BytesIO):
            saved()
        return result

    setattr(module, name, save)


def _began(*_):
    LOOP.compilations += 1
    if LOOP.compilations <= _MOST_SAID:
        LOOP.event("begin compile")


def _ended(*_):
    if LOOP.compilations <= _MOST_SAID:
        LOOP.event("end compile")


def patch_compile(module):
    """`module` is torch._dynamo.callback. Older ones pass no argument to callbacks."""
    module.callback_handler.register_start_callback(guard.hook("compilations", _began))
    module.callback_handler.register_end_callback(guard.hook("compilations", _ended))
