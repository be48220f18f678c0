# SPDX-License-Identifier: Apache-2.0
"""Factors that `plateau prove --contrast` switches on and off within one run of the job.

    gc            gc.collect() after each step: does cyclic garbage hold it?
    trim          malloc_trim(0) after each step: does the allocator keep what was freed?
    no-backward   Tensor.backward() does nothing
    no-optimizer  Optimizer.step() does nothing
    no-eval       evaluations do nothing (Trainer.evaluate, Lightning's validation)

A factor is on in every second block (B) and off in the others (A). Blocks are told apart by the batch that the loop
has last taken, so a factor acts from the moment its first batch is handed out.

How many calls were left out is told: of a job that never makes such a call (a loop that evaluates by itself, a
framework with a backward of its own) nothing was learnt.
"""
import functools
import gc

from . import finder
from .resident import trim


class _AfterEachStep:
    """Does something before each batch that follows one of a block with the factor."""

    def __init__(self, act):
        self.is_trim = act is trim
        self._act = act
        self._on = False

    def use(self, on):
        if self._on:
            self._act()
        self._on = on


class _Instead:
    """Leaves calls out while it is on."""

    is_trim = False

    def __init__(self):
        self.on = False
        self._left_out = 0

    def use(self, on):
        self.on = on

    def acted(self):
        """A call was left out."""
        self._left_out += 1
        if self._left_out & (self._left_out - 1) == 0:  # 1, 2, 4, 8, as with saves.
            from . import prove
            prove.tell("acted times=%d" % self._left_out)

    def leave_out(self, owner, name, gives=None):
        """Where the caller reads what it is given (`gives` is not None), a call that is left out gives what the
        last one gave: a Trainer that looks for its best metric must find it."""
        original = getattr(owner, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def call(*args, **kwargs):
            nonlocal gives
            if self.on:
                self.acted()
                return gives
            result = original(*args, **kwargs)
            if gives is not None:
                gives = result
            return result

        setattr(owner, name, call)


class _Nothing:
    """For arms that are runs of their own: blocks are measured, nothing is switched."""

    is_trim = False

    def use(self, on):
        pass


_made = {}


def get(name):
    """The factor of that name; None for the plain experiment and for factors that take two runs."""
    if name not in _made:
        makers = {"none": _Nothing, "gc": lambda: _AfterEachStep(gc.collect), "trim": lambda: _AfterEachStep(trim),
                  "no-backward": _Instead, "no-optimizer": _Instead, "no-eval": _Instead}
        if name not in makers:
            return None
        _made[name] = makers[name]()
    return _made[name]


def wait_for(name):
    """Makes ready to leave something out, once the module is there that does it."""
    for module, function in {
            "no-backward": (("torch", "patch_backward"), ("torch.amp.grad_scaler", "patch_scaler"),
                            ("torch.cuda.amp.grad_scaler", "patch_scaler")),
            "no-optimizer": (("torch.optim.optimizer", "patch_optimizer"),),
            "no-eval": (("transformers.trainer", "patch_trainer"),
                        ("lightning.pytorch.loops.evaluation_loop", "patch_lightning"),
                        ("pytorch_lightning.loops.evaluation_loop", "patch_lightning"))}.get(name, ()):
        finder.when_imported(module, "factors", function)


def patch_backward(module):
    get("no-backward").leave_out(module.Tensor, "backward")


def patch_scaler(module):
    """A GradScaler refuses to step, and ends the job, where no gradient was computed. The attempt counts all the same."""
    scaler = module.__dict__.get("GradScaler")
    if scaler is None or scaler.__module__ != module.__name__:
        return  # The old place, which hands on to the new one.
    factor = get("no-backward")
    for name in ("unscale_", "update"):
        factor.leave_out(scaler, name)
    original = scaler.step

    @functools.wraps(original)
    def step(self, optimizer, *args, **kwargs):
        if not factor.on:
            return original(self, optimizer, *args, **kwargs)
        from .loop import LOOP
        LOOP.stepped(optimizer)
        return None

    scaler.step = step


def patch_optimizer(module):
    """Each optimizer class wraps its own step when the first one is made; the update itself is left out there."""
    factor = get("no-optimizer")
    original = module.Optimizer.profile_hook_step

    def profile_hook_step(function):
        wrapped = original(function)
        if getattr(function, "_plateau_left_out", False):
            return wrapped

        @functools.wraps(function)
        def update(self, *args, **kwargs):
            if not factor.on:
                return function(self, *args, **kwargs)
            factor.acted()
            closure = args[0] if args else kwargs.get("closure")
            return closure() if closure else None  # Lightning trains in it.

        update._plateau_left_out = True
        return original(update)

    module.Optimizer.profile_hook_step = staticmethod(profile_hook_step)


def patch_trainer(module):
    """Trainers of the user's own may override evaluate(); what calls it while they train is left out too."""
    get("no-eval").leave_out(module.Trainer, "evaluate", {})
    get("no-eval").leave_out(module.Trainer, "_evaluate", {})


def patch_lightning(module):
    loops = [value for name, value in vars(module).items() if name.endswith("EvaluationLoop")]
    for loop in loops:
        get("no-eval").leave_out(loop, "run", [])
