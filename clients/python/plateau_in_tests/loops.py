# SPDX-License-Identifier: Apache-2.0
"""The loops of one test: `with plateau.growth() as loop`, or a mark with per="step".

A loop belongs to the test, so it cannot be made longer, and not be run again by itself. If it grew,
the whole test is run once more; the loop that grew is known by its number, and in its last steps
somebody looks at who allocates. Other loops are left alone then.
"""
import pytest

from plateau_in_tests import growth as growth_of
from plateau_in_tests import words


class LoopGrew(pytest.fail.Exception):
    """A loop grew; the plugin adds where."""

    def __init__(self, growth, per, index, steps):
        super().__init__(words.sentence(growth, per), pytrace=False)
        self.growth, self.index, self.steps = growth, index, steps


class _Watched:
    """What a test calls step() on."""

    def __init__(self, plan):
        self.plan = plan
        self.loop = growth_of.Loop(plan.limits())

    @property
    def steps(self):
        return self.loop.steps

    def step(self):
        self.loop.step()

    def judge(self, item, index):
        measured = max(1, self.steps - self.plan.warmup)
        self.loop.limits = self.plan.limits(measured)
        growth = self.loop.judge()
        if growth is None:
            words.warn(item, "cannot tell: %d steps, and with warmup=%d it takes %d" % (
                self.steps, self.plan.warmup, self.loop.wanted_steps()))
            return
        growth.asked = measured
        if growth.word == "grows":
            raise LoopGrew(growth, self.plan.per, index, self.steps)
        words.keep(item, growth)

    def close(self):
        self.loop.close()


class _Traced:
    """The same loop in the second pass: looks at who allocates in its last steps."""

    def __init__(self, plan, steps, loops):
        from plateau_in_tests import sites
        self.steps = 0
        self.loops = loops
        self.probe = sites.Probe("step")
        half = max(1, min(sites.LOOKS, (steps - plan.warmup) // 2))
        self.looks = (steps - 2 * half, steps - half, steps)

    def step(self):
        self.steps += 1
        if self.steps == self.looks[0]:
            self.probe.start(self.steps)
        elif self.steps == self.looks[1]:
            self.probe.middle(self.steps)
        elif self.steps == self.looks[2]:
            self.loops.lines = self.probe.finish(self.steps)
            self.loops.python_bytes = self.probe.python_bytes

    def judge(self, item, index):
        pass

    def close(self):
        self.probe.close()


class _Unwatched:
    """With --plateau-off, and every loop but one in the second pass."""

    steps = 0

    def step(self):
        self.steps += 1

    def judge(self, item, index):
        pass

    def close(self):
        pass


class Loops:
    """In the order in which the test opens them. `plan` is that of its mark, or None."""

    def __init__(self, item, plan, off):
        self.item = item
        self.lines = None  # Who grew, once the second pass found it.
        self.python_bytes = 0.0
        self._plan = plan
        self._off = off
        self._traced = None
        self._open = []
        self._opened = 0
        self._marked = None

    def open(self, plan):
        """(the loop, its number)"""
        index = self._opened
        self._opened += 1
        if self._off:
            loop = _Unwatched()
        elif self._traced is None:
            loop = _Watched(plan)
        elif index == self._traced[0]:
            loop = _Traced(plan, self._traced[1], self)
        else:
            loop = _Unwatched()
        self._open.append(loop)
        return loop, index

    def step(self):
        """Of a test that is marked with per="step"."""
        if self._marked is None:
            if not self._off and (self._plan is None or self._plan.per != "step"):
                pytest.fail("plateau.step() is for tests marked plateau(per=\"step\"); in others: "
                            "with plateau.growth() as loop: ... loop.step()", pytrace=False)
            self._marked = self.open(self._plan)
        self._marked[0].step()

    def judge_marked(self):
        if self._marked is None:
            pytest.fail("mark plateau: per=\"step\", but the test never called plateau.step()",
                        pytrace=False)
        loop, index = self._marked
        loop.judge(self.item, index)

    def trace(self, index, steps):
        """From now on the test is run again, for the loop with this number."""
        self.close()
        self._traced, self._opened, self._marked = (index, steps), 0, None

    def close(self):
        for loop in self._open:
            loop.close()
        self._open = []
