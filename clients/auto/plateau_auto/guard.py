# SPDX-License-Identifier: Apache-2.0
"""Keeps our failures from the job: what fails three times is switched off, and the watcher is told once.

    watch = guard.hook("the step hook", stepped)     # stepped's exceptions end here
    watch(optimizer)
"""
import functools
import threading

_MAX_FAILURES = 3
_inside = threading.local()  # A hook that is reached from within a hook of ours is no event of the job.


def complain(what, error):
    """Tells the watcher, in one line, what is missing and why. Nothing of the user's data is in it."""
    try:
        from . import voice
        text = " ".join(str(error).split())[:120]
        voice.note("plateau's module %s: %s: %s" % (what, type(error).__name__, text))
    except Exception:  # pylint: disable=broad-except
        pass


def hook(name, function):
    """`function`, but it never raises, and does nothing any more once it has failed three times."""
    state = {"failures": 0}

    @functools.wraps(function)
    def call(*args):
        if state["failures"] >= _MAX_FAILURES or getattr(_inside, "busy", False):
            return
        _inside.busy = True
        try:
            function(*args)
        except Exception as error:  # pylint: disable=broad-except
            state["failures"] += 1
            if state["failures"] == _MAX_FAILURES:
                complain("switched off " + name, error)
        finally:
            _inside.busy = False

    return call
