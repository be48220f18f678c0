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


def hook(name, function):
    """`function`, but it never raises, and does nothing any more once it has failed three times."""
    failures = 0

    @functools.wraps(function)
    def call(*args):
        nonlocal failures
        if failures >= _MAX_FAILURES:
            return
        try:
            function(*args)
        except Exception as error:  # pylint: disable=broad-except
            failures += 1
            if failures == _MAX_FAILURES:
                complain("switched off " + name, error)

    return call
