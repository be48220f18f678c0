# SPDX-License-Identifier: Apache-2.0
"""torch's DataLoader: what it draws, what the loop consumes, when a pass ends.

Every iterator of a DataLoader, with and without workers, and those of torchdata's StatefulDataLoader, asks
`_next_index` for the next batch of indices and hands a batch out in `__next__`. Both are wrapped on the class; no
loader, sampler or dataset is touched and no attribute is set on one; what is known of a pass hangs on torch's own
iterator.

The seam `order` may serve other index batches than the sampler's own: an object with
    next_index(iterator, draw)  ->  indices
where draw() takes the sampler's next ones (and raises StopIteration at the end of a pass). `plateau prove` repeats
batches with it. None, the default, is a pass-through.
"""
import functools

from . import guard
from .feed import MOST_WAITING
from .loop import LOOP

order = None


def patch(module):
    """`module` is torch.utils.data.dataloader."""
    base = module._BaseDataLoaderIter
    # These two are called at every step; all that is not needed then is left out here and in loop.py.
    draws, batches = guard.Fuse("the DataLoader's draws"), guard.Fuse("the DataLoader's batches")
    consumed = LOOP.consumed
    base._plateau_pass = None  # Of iterators that were opened before we came.
    ended = guard.hook("the DataLoader's ends", LOOP.ended)
    has_gradients = getattr(getattr(module, "torch", None), "is_grad_enabled", lambda: True)
    opened = guard.hook("the DataLoader's iterators", lambda iterator, loader: LOOP.opened(
        iterator, loader, quiet=not has_gradients()))
    original_init, original_index = base.__init__, base._next_index
    original_next, original_reset = base.__next__, base._reset
    guard.expect(original_index, "self")

    @functools.wraps(original_init)
    def __init__(self, loader, *args, **kwargs):
        # Before the original: forked workers are made in it, and the first batches drawn.
        opened(self, loader)
        original_init(self, loader, *args, **kwargs)

    @functools.wraps(original_index)
    def _next_index(self):
        if order is None:
            indices = original_index(self)
        else:
            indices = order.next_index(self, lambda: original_index(self))
        try:
            one = self._plateau_pass
            if one is not None and one.drawn is not None and draws.on:
                if type(indices) is list and len(one.drawn) < MOST_WAITING:
                    one.drawn.append(tuple(indices))  # As Pass.draw() does it.
                else:
                    one.draw(indices)
        except Exception as error:  # pylint: disable=broad-except
            draws.burn(error)
        return indices

    @functools.wraps(original_next)
    def __next__(self):
        try:
            batch = original_next(self)
        except StopIteration:
            ended(self)
            raise
        try:
            one = self._plateau_pass
            if one is not None and batches.on:
                consumed(one)
        except Exception as error:  # pylint: disable=broad-except
            batches.burn(error)
        return batch

    @functools.wraps(original_reset)
    def _reset(self, loader, *args, **kwargs):
        # Persistent workers begin a pass here; the first call is part of their making.
        opened(self, loader)
        original_reset(self, loader, *args, **kwargs)

    base.__init__, base._next_index = __init__, _next_index
    base.__next__, base._reset = __next__, _reset
