# SPDX-License-Identifier: Apache-2.0
"""torch's optimizers: a step of the outermost one has ended, or was attempted.

torch 2 has hooks for all optimizers of a process. Older ones call Optimizer._optimizer_step_code() after each
step; it is wrapped. An optimizer inside another one (ZeroRedundancyOptimizer) is no step of its own. A GradScaler
that finds an overflow leaves the optimizer out: the loop went round all the same, so the attempt counts.
"""
import functools
import sys
import threading

from . import guard, voice
from .loop import LOOP

_steps = threading.local()  # .depth: optimizers within optimizers; .ended: steps seen, for GradScaler.


def _before(_optimizer):
    _steps.depth = getattr(_steps, "depth", 0) + 1


def _after(optimizer):
    _steps.depth = max(0, getattr(_steps, "depth", 1) - 1)
    _steps.ended = getattr(_steps, "ended", 0) + 1
    if _steps.depth == 0:
        LOOP.stepped(optimizer)


def reset_depth():
    """A step that raised has skipped its post hook. Called with each batch."""
    _steps.depth = 0


def patch(module):
    """`module` is torch.optim.optimizer."""
    before = guard.hook("the optimizer's steps", _before)
    after = guard.hook("the optimizer's steps", _after)
    if hasattr(module, "register_optimizer_step_post_hook"):
        compiling = _is_compiling()
        module.register_optimizer_step_pre_hook(
            lambda optimizer, _args, _kwargs: None if compiling() else before(optimizer))
        module.register_optimizer_step_post_hook(
            lambda optimizer, _args, _kwargs: None if compiling() else after(optimizer))
        voice.hello()
        return
    original = module.Optimizer._optimizer_step_code

    @functools.wraps(original)
    def _optimizer_step_code(self):
        original(self)
        before(self)
        after(self)

    module.Optimizer._optimizer_step_code = _optimizer_step_code
    voice.hello()


def _is_compiling():
    """torch.compiler.is_compiling, asked late: a step that is being traced runs no code of ours."""
    asked = []

    def compiling():
        if not asked:
            compiler = getattr(sys.modules.get("torch"), "compiler", None)
            if compiler is None:
                return False  # torch is still being imported, or has none.
            asked.append(compiler.is_compiling)
        return asked[0]()

    return compiling


def patch_scaler(module):
    """`module` is torch.amp.grad_scaler, or torch.cuda.amp.grad_scaler before 2.3."""
    scaler = module.__dict__.get("GradScaler")
    if scaler is None or scaler.__module__ != module.__name__:
        return  # The old place, which hands on to the new one.
    skipped = guard.hook("the GradScaler", LOOP.stepped)
    original = scaler.step

    @functools.wraps(original)
    def step(self, optimizer, *args, **kwargs):
        seen = getattr(_steps, "ended", 0)
        result = original(self, optimizer, *args, **kwargs)
        if getattr(_steps, "ended", 0) == seen:
            skipped(optimizer)
        return result

    scaler.step = step
