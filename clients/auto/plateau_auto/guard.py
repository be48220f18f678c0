# SPDX-License-Identifier: Apache-2.0
"""Keeps our failures from the job: what fails three times is switched off, and the watcher is told once.

    watch = guard.hook("the step hook", stepped)     # stepped's exceptions end here
    watch(optimizer)
"""
import functools
import inspect
import os

_MAX_FAILURES = 3


def expect(function, *names):
    """Raises unless `function` takes exactly these arguments. For functions that are replaced by ones that hand on no
    others: where a version of the framework passes more, its own stays in place."""
    code = inspect.unwrap(function).__code__
    has = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    if has != names:
        error = AttributeError()
        error.name = "%s(%s)" % (function.__name__, ", ".join(names))
        raise error


def _where(error):
    """What is missing, if that is a name, and the line of ours at which it came up. An exception's own text may hold
    data of the user and stays in the process."""
    name = getattr(error, "name", None)  # Of AttributeError (from Python 3.10 on) and ImportError.
    words = type(error).__name__ + (" %s" % name if isinstance(name, str) else "")
    here, place, trace = os.path.dirname(__file__), "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if os.path.dirname(code.co_filename) == here and code.co_filename != __file__:
            place = " at %s:%d" % (os.path.basename(code.co_filename), trace.tb_lineno)
        trace = trace.tb_next
    return (words + place)[:160]


def complain(what, error):
    """Tells the watcher, in one line, what is missing and why. Nothing of the user's data is in it."""
    try:
        from . import voice
        voice.note("plateau's module %s: %s" % (what, _where(error)))
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
