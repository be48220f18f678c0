# SPDX-License-Identifier: Apache-2.0
"""JAX: a step is one call of compiled code, which no Python sees. Three things around it can be seen.

  compilations  JAX reports them to listeners
  the update    optax.apply_updates is called in Python: once for each step where nothing is compiled, and once while
                a step is being compiled. Then the loader whose batch came last (torch's DataLoader, grain's) feeds
                the training, and each of its batches is a step from there on
  checkpoints   orbax is told the number of the step, which counts where nothing else does

A loop that draws its batches from arrays itself and compiles its step shows none of these but compilations.
"""
import functools

from . import guard, voice
from .feed import Pass
from .loop import LOOP

_COMPILED = "/jax/core/compile/backend_compile_duration"
_MOST_SAID = 20


def _compiled(event, *_):
    if event == _COMPILED:
        LOOP.compiler = "jax"
        LOOP.compilations += 1
        if LOOP.compilations <= _MOST_SAID:
            LOOP.event("mark compile")


def patch_compile(module):
    """`module` is jax._src.monitoring."""
    heard = guard.hook("JAX's compilations", _compiled)
    module.register_event_duration_secs_listener(lambda event, duration, **_: heard(event, duration))


def patch_update(module):
    """`module` is optax._src.update."""
    from jax.core import Tracer
    from jax.tree_util import tree_leaves

    def updated(words, named):
        updates = named["updates"] if "updates" in named else words[1]
        if any(isinstance(leaf, Tracer) for leaf in tree_leaves(updates)[:1]):
            LOOP.update_compiled()
        else:
            voice.hello_once()
            LOOP.stepped(updated)

    updated_guarded = guard.hook("optax's updates", updated)
    original = module.apply_updates

    @functools.wraps(original)
    def apply_updates(*args, **kwargs):
        result = original(*args, **kwargs)
        updated_guarded(args, kwargs)
        return result

    module.apply_updates = apply_updates


def patch_grain(module):
    """`module` is grain._src.python.data_loader."""
    iterator = module.DataLoaderIterator
    original_init, original_next = iterator.__init__, iterator.__next__

    def made(self, loader):
        self._plateau_pass = Pass("grain's DataLoader", loader)

    opened = guard.hook("grain's iterators", made)
    consumed = guard.hook("grain's batches", lambda iterator: LOOP.consumed(iterator._plateau_pass))
    ended = guard.hook("grain's ends", LOOP.ended)

    @functools.wraps(original_init)
    def __init__(self, *args, **kwargs):
        opened(self, args[0] if args else kwargs.get("data_loader"))
        original_init(self, *args, **kwargs)

    @functools.wraps(original_next)
    def __next__(self):
        try:
            batch = original_next(self)
        except StopIteration:
            ended(self)
            raise
        consumed(self)
        return batch

    iterator.__init__, iterator.__next__ = __init__, __next__


def patch_orbax(module):
    """`module` is orbax.checkpoint.checkpoint_manager: save(step) is often called at every step, and decides itself."""
    original = module.CheckpointManager.save

    def told(words, named, saved):
        step = words[0] if words else named["step"]
        if LOOP.framework in (None, "orbax") and not LOOP.counts_itself():
            voice.hello_once()
            LOOP.adopt("orbax", says_passes=False)
            LOOP.framework_step(int(step))
        if saved:
            LOOP.saved()

    told = guard.hook("orbax's steps", told)

    @functools.wraps(original)
    def save(self, *args, **kwargs):
        saved = original(self, *args, **kwargs)
        told(args, kwargs, saved)
        return saved

    module.CheckpointManager.save = save
