# SPDX-License-Identifier: Apache-2.0
"""torch's optimizers: a step has ended, or was attempted.

torch 2 has hooks for all optimizers of a process. Older ones call Optimizer._optimizer_step_code() after each
step; it is wrapped. An optimizer inside another one (ZeroRedundancyOptimizer) steps on the same batch, and makes one
step with it (loop.py). A GradScaler that finds an overflow leaves the optimizer out: the loop went round all the
same, so the attempt counts. A step within torch.compile calls no hook when it runs; that it was compiled is seen, and
from then on the batches of the loader that fed it are the steps.
"""
import functools

from . import guard, voice
from .loop import LOOP


def patch(module):
    """`module` is torch.optim.optimizer."""
    if hasattr(module, "register_optimizer_step_post_hook"):
        module.register_optimizer_step_post_hook(_stepped())
        voice.hello()
        return
    original = module.Optimizer._optimizer_step_code
    guard.expect(original, "self")
    stepped = guard.hook("the optimizer's steps", LOOP.stepped)

    @functools.wraps(original)
    def _optimizer_step_code(self):
        original(self)
        stepped(self)

    module.Optimizer._optimizer_step_code = _optimizer_step_code
    voice.hello()


def _stepped():
    """What is called after each step. A step that is being traced by torch.compile runs no code of ours."""
    compiling = None
    fuse = guard.Fuse("the optimizer's steps")
    counted = LOOP.stepped

    def stepped(optimizer, _args, _kwargs):
        nonlocal compiling
        try:
            if compiling is None:
                import torch  # It is there: one of its optimizers has stepped.
                compiler = getattr(torch, "compiler", None)
                # The first only says False where no trace replaces it; older versions have the second alone.
                compiling = getattr(compiler, "is_dynamo_compiling", getattr(compiler, "is_compiling", bool))
            if not compiling() and fuse.on:
                counted(optimizer)
        except Exception as error:  # pylint: disable=broad-except
            fuse.burn(error)

    return stepped


def patch_scaler(module):
    """`module` is torch.amp.grad_scaler, or torch.cuda.amp.grad_scaler before 2.3."""
    scaler = module.__dict__.get("GradScaler")
    if scaler is None or scaler.__module__ != module.__name__:
        return  # The old place, which hands on to the new one.
    skipped = guard.hook("the GradScaler", LOOP.stepped)
    original = scaler.step

    @functools.wraps(original)
    def step(self, optimizer, *args, **kwargs):
        seen = LOOP.optimizer_steps
        result = original(self, optimizer, *args, **kwargs)
        if LOOP.optimizer_steps == seen:
            skipped(optimizer)
        return result

    scaler.step = step


def patch_compiled(module):
    """`module` is torch._dynamo.variables.optimizer: an optimizer's own update is traced by way of its _init_group()."""
    variable = module.OptimizerVariable
    compiled = guard.hook("compiled steps", LOOP.update_compiled)
    original = variable.call_method

    @functools.wraps(original)
    def call_method(self, tx, name, *args, **kwargs):
        result = original(self, tx, name, *args, **kwargs)
        if name == "_init_group":
            compiled()
        return result

    variable.call_method = call_method
