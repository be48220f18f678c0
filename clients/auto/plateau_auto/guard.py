# SPDX-License-Identifier: Apache-2.0
"""Keeps our failures from the job: what fails three times is switched off, and the watcher is told once.

    watch = guard.hook("the step hook", stepped)     # stepped's exceptions end here
    watch(optimizer)
"""
import functools

_MAX_FAILURES = 3


def complain(what, error):
    """Tells the watcher, in one line, what is missing and why. Nothing of the user's data is in it."""
    try:
        from . import voice
        text = " ".join(str(error).split())[:120]
        voice.note("plateau's module %s: %s: %s" % (what, type(error).__name__, text))
    except Exception:  # pylint: disable=broad-except
        pass


class Fuse:
    """For hooks that are called at every step and catch for themselves:

        try: ...
        except Exception as error: fuse.burn(error)

    `on` becomes false with the third failure."""

    def __init__(self, name):
        self.on = True
        self._name = name
        self._failures = 0

    def burn(self, error):
        self._failures += 1
        if self._failures >= _MAX_FAILURES and self.on:
            self.on = False
            complain("switched off " + self._name, error)


def hook(name, function):
    """`function`, but it never raises, and does nothing any more once it has failed three times."""
    fuse = Fuse(name)

    @functools.wraps(function)
    def call(*args):
        if fuse.on:
            try:
                function(*args)
            except Exception as error:  # pylint: disable=broad-except
                fuse.burn(error)

    return call
