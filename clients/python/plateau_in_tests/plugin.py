# SPDX-License-Identifier: Apache-2.0
"""The hooks, options and fixture of plateau_pytest.py, which says what they are for."""
import contextlib
import json
import logging
import warnings

import pytest

from plateau_in_tests import growth as growth_of
from plateau_in_tests import words
from plateau_in_tests.loops import LoopGrew, Loops

_CAPTURES = ("capsys", "capfd", "capsysbinary", "capfdbinary")
_ASKED = {"max_growth": "limit of growth where a test names none (100kB)",
          "calls": "calls that are measured, at first (30)",
          "warmup": "calls before those (5)",
          "patience": "seconds after which growth is not looked at again (60)"}
_DEFAULTS = {"max_growth": "100kB", "calls": "30", "warmup": "5", "patience": "60"}


# ---- options --------------------------------------------------------------------------------


def pytest_addoption(parser):
    group = parser.getgroup("plateau", "growing memory")
    group.addoption("--plateau", action="store_true",
                    help="ask of every test, marked or not, whether its memory grows")
    group.addoption("--plateau-off", action="store_true",
                    help="call marked tests once and measure nothing")
    group.addoption("--plateau-summary", action="store_true",
                    help="list what was measured, of passing tests too")
    for name, text in _ASKED.items():
        group.addoption("--plateau-" + name.replace("_", "-"), metavar=name.upper(), help=text)
        parser.addini("plateau_" + name, text)


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "plateau(max_growth='100kB', per='call', calls=30, warmup=5, collect=True, "
        "patience=60): call the test again and again; fail if its memory grows. per: call, step or test")
    config.stash[_CONFIG] = _Plan.from_config(config)


class _Plan:
    """What is asked of one test. Raises ValueError with what to write instead."""

    def __init__(self, max_growth, per, calls, warmup, patience, collect=True):
        if per not in ("call", "step", "test"):
            raise ValueError("per=%r: it is \"call\", \"step\" or \"test\"" % (per,))
        self.max_bytes = growth_of.parse_bytes(max_growth)
        self.per = per
        self.calls, self.warmup = int(calls), int(warmup)
        self.patience, self.collect = float(patience), bool(collect)
        if self.calls < 2 * growth_of.MIN_READINGS:
            raise ValueError("calls=%d: fewer than %d calls show no growth" % (
                self.calls, 2 * growth_of.MIN_READINGS))
        if self.warmup < 1:
            raise ValueError("warmup=%d: the first call always is one, so 1 or more" % self.warmup)

    @classmethod
    def from_config(cls, config):
        def value(name):
            return (config.getoption("plateau_" + name) or config.getini("plateau_" + name)
                    or _DEFAULTS[name])
        try:
            return cls(per="call", **{name: value(name) for name in _DEFAULTS})
        except ValueError as error:
            raise pytest.UsageError("plateau: %s" % error) from None

    def changed(self, max_growth=None, per=None, calls=None, warmup=None, collect=None,
                patience=None):
        def pick(given, known):
            return known if given is None else given
        return _Plan(pick(max_growth, self.max_bytes), pick(per, self.per), pick(calls, self.calls),
                     pick(warmup, self.warmup), pick(patience, self.patience),
                     pick(collect, self.collect))

    def limits(self, measured=None):
        """`measured`: how many calls a limit per test is for."""
        allowed = self.max_bytes / (measured or self.calls) if self.per == "test" else self.max_bytes
        return growth_of.Limits(allowed, self.calls, self.warmup, self.collect, self.patience)


_CONFIG = pytest.StashKey()
_LOOPS = pytest.StashKey()


def _plan_of(item):
    """The plan of a marked test, None if nothing is asked of it."""
    config = item.config
    mark = item.get_closest_marker("plateau")
    if config.getoption("plateau_off") or not isinstance(item, pytest.Function):
        return None
    if mark is None:
        return config.stash[_CONFIG] if config.getoption("plateau") else None
    try:
        if len(mark.args) > 1:
            raise TypeError("only max_growth may stand without its name")
        return config.stash[_CONFIG].changed(*mark.args, **mark.kwargs)
    except (TypeError, ValueError) as error:
        return pytest.fail("mark plateau: %s" % str(error).replace("_Plan.changed() ", ""),
                           pytrace=False)


# ---- tests that are called again ------------------------------------------------------------


class _Ended(Exception):
    """A unittest case has noted its own failure or skip: nothing is left to ask."""


def _fresh(item):
    """Each call finds the captured log and output as the first did; kept, they would grow."""
    for handler in logging.getLogger().handlers:
        if type(handler).__module__ == "_pytest.logging" and hasattr(handler, "reset"):
            handler.reset()
    for name in _CAPTURES:
        if name in getattr(item, "funcargs", None) or {}:
            item.funcargs[name].readouterr()


@contextlib.contextmanager
def _unrecorded_warnings():
    """Warnings still raise where they are errors, but nobody keeps a list of the others."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda *args, **kwargs: None
        yield


class _Again:
    """Calls a test's body once more, by the way that pytest took: async plugins, unittest."""

    def __init__(self, item):
        self.item = item
        self.calls = 1

    def __call__(self):
        _fresh(self.item)
        self.calls += 1
        try:
            self.item.runtest()
        except BaseException:
            self.item.add_report_section("call", "plateau", (
                "The test passed when it was called first; this is call %d. A test that is asked whether its "
                "memory grows has to pass whenever it is called.\n" % self.calls))
            raise
        if getattr(self.item, "_excinfo", None):
            raise _Ended


def _where(call, growth, nodeid):
    """What the second pass finds. It is an addition: its failure must not hide the growth."""
    from plateau_in_tests import sites
    try:
        lines, python_bytes = sites.find(call, growth.noun)
    except Exception as error:  # pylint: disable=broad-except
        return ["where: not known, the second pass ended with %r" % error]
    return lines + words.native_lines(growth, python_bytes, nodeid)


def _ask(item, call, plan, limits):
    """Measures, and fails if it grows."""
    with _unrecorded_warnings():
        growth = growth_of.measure(call, limits)
        growth.asked = limits.calls
        lines = _where(call, growth, item.nodeid) if growth.word == "grows" else []
    words.keep(item, growth)
    if growth.word == "grows":
        pytest.fail(words.failure(words.sentence(growth, plan.per), lines), pytrace=False)
    return growth


def _ask_test(item, plan):
    limits = plan.limits()
    limits.warmup -= 1  # The call that pytest made.
    with contextlib.suppress(_Ended):
        _ask(item, _Again(item), plan, limits)


def _who_grew(item, loops, grew):
    """Runs the test once more, now with an eye on who allocates in the loop that grew."""
    loops.trace(grew.index, grew.steps)
    with _unrecorded_warnings(), contextlib.suppress(Exception, pytest.fail.Exception,
                                                     pytest.skip.Exception):
        _fresh(item)
        item.runtest()
    words.keep(item, grew.growth)
    if loops.lines is None:
        return ["where: not known, the loop did not come as far when the test was run again"]
    return loops.lines + words.native_lines(grew.growth, loops.python_bytes, item.nodeid)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    plan = _plan_of(item)
    loops = item.stash[_LOOPS] = Loops(item, plan, item.config.getoption("plateau_off"))
    try:
        result = yield
        if plan is None or getattr(item, "_excinfo", None):
            return result
        if plan.per == "step":
            loops.judge_marked()
        else:
            _ask_test(item, plan)
        return result
    except LoopGrew as failure:
        grew = failure
    finally:
        loops.close()
    lines = _who_grew(item, loops, grew)
    loops.close()
    pytest.fail(words.failure(grew.msg, lines), pytrace=False)


# ---- the fixture ----------------------------------------------------------------------------


class Plateau:
    """What a test gets."""

    def __init__(self, request):
        self._item = request.node
        self._config = request.config

    def step(self):
        """One turn of the loop of a test that is marked with per="step"."""
        self._item.stash[_LOOPS].step()

    @contextlib.contextmanager
    def growth(self, max=None, per="step", **options):  # pylint: disable=redefined-builtin
        """Around a loop that calls step() on what this gives. `max` is allowed per step, or with per="test" in
        all. Fails at the end of the block; an exception in it goes first. Options as for the mark."""
        plan = self._config.stash[_CONFIG].changed(max, per, **options)
        loop, index = self._item.stash[_LOOPS].open(plan)
        try:
            yield loop
            loop.judge(self._item, index)
        finally:
            loop.close()

    def check(self, call, max_growth=None, **options):
        """Calls `call()` until it is known whether it leaves memory behind; fails if it does, or
        returns the growth: .mid, .low, .high and .hidden, in bytes per call."""
        plan = self._config.stash[_CONFIG].changed(max_growth, **options)
        if self._config.getoption("plateau_off"):
            call()
            return None
        return _ask(self._item, call, plan, plan.limits())


@pytest.fixture
def plateau(request):
    """Fails a test whose loop or call leaves memory behind: growth(), check(), step()."""
    return Plateau(request)


# ---- summary --------------------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("plateau_summary"):
        return
    rows = [words.row(report.nodeid, json.loads(text))
            for reports in terminalreporter.stats.values() for report in reports
            if getattr(report, "when", None) == "call"
            for name, text in report.user_properties if name == "plateau"]
    terminalreporter.section("plateau: does memory grow?")
    for line in rows or ["no test was measured: mark one, or give --plateau"]:
        terminalreporter.line(line)
