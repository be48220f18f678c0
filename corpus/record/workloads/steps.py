# SPDX-License-Identifier: Apache-2.0
"""What all Python workloads share: parameters, steps, the noise of a training job, the account.

A job holds a model, and at each step a few prefetched batches of varying size and some short-lived
objects, so that memory wavers as it does in training. With waver_mb it also follows an AR(1) process
of that deviation, clipped at three of them. All of that is bounded; what a workload adds on top is
the mechanism its trace is about.
"""
import collections
import random
import sys
import time

MIB = 1 << 20


def fill(size):
    """Returns a buffer whose pages are really touched."""
    return b"\x5a" * int(size)


class Job:
    """Iterates over the steps of a run; parameters come from the command line as key=value.

    At the end of each step the recorder samples; until it answers, nothing moves. What a workload
    gave to `hold` is still alive at that moment and is released after it: a spike.
    """

    def __init__(self, **defaults):
        shared = {"steps": 200, "epoch_steps": 0, "batch": 1, "seed": 1, "model_mb": 40,
                  "noise_mb": 4.0, "pace_ms": 12.0, "waver_mb": 0.0, "phi": 0.9}
        given = dict(a.split("=", 1) for a in sys.argv[1:])
        for key, value in (shared | defaults).items():
            setattr(self, key, type(value)(given.pop(key, value)))
        if given:
            sys.exit(f"unknown parameters: {given}")
        self.random = random.Random(self.seed)
        self.examples = self.epoch_steps * self.batch
        self.model = [fill(MIB) for _ in range(self.model_mb)]
        self.prefetched = collections.deque(maxlen=4)
        self.wavering, self.waver_place = [], 0.0
        self.waver_random = random.Random(self.seed + 7)
        self.kept = []
        self.event, self.held, self.leaked, self.ended_step = "", None, 0, None

    def __iter__(self):
        for step in range(1, self.steps + 1):
            self.train()
            yield step
            time.sleep(self.pace_ms / 1000)
            say(f"STEP {step} {self.event}")
            sys.stdin.readline()
            self.event, self.held = "", None
        ended = "never" if self.ended_step is None else self.ended_step
        say(f"DONE leaked={self.leaked} ended={ended}")

    def train(self):
        """Makes the temporary allocations of one step."""
        self.prefetched.append(fill(self.random.uniform(0.05, 0.5) * self.noise_mb * MIB))
        blocks = self.random.randrange(20, 120)
        scratch = [fill(self.random.randrange(64, 40000)) for _ in range(blocks)]
        logged = self.random.randrange(100, 2000)
        records = [{"loss": i * 0.5, "tokens": [i] * 8} for i in range(logged)]
        del scratch, records
        if self.waver_mb:
            self.waver()

    def waver(self):
        """Moves the AR(1) part by one step, in blocks of 64 KiB."""
        shock = (1 - self.phi**2) ** 0.5 * self.waver_random.gauss(0, 1)
        self.waver_place = self.phi * self.waver_place + shock
        target = int((3 + max(-3.0, min(3.0, self.waver_place))) * self.waver_mb * 16)
        while len(self.wavering) < target:
            self.wavering.append(fill(MIB / 16))
        del self.wavering[target:]

    def hold(self, payload, event):
        """Keeps a payload alive over this step's sample only, and names the event."""
        self.held, self.event = payload, event

    def leak(self, size):
        """Counts bytes that will never be released."""
        self.leaked += size

    def keep_for_ever(self, size):
        """Keeps a buffer that nothing will release, and counts it."""
        self.kept.append(fill(size))
        self.leak(len(self.kept[-1]))

    def growth_ends(self, step):
        """Notes the step from which on the mechanism cannot add memory. The first call counts."""
        if self.ended_step is None:
            self.ended_step = step

    def epoch_of(self, step):
        """Returns the epoch (from 0) that a step (from 1) belongs to."""
        return (step - 1) // self.epoch_steps

    def items(self, step):
        """Returns the example numbers of a step: a new shuffle of all examples each epoch."""
        order = list(range(self.examples))
        random.Random(self.seed * 1000 + self.epoch_of(step)).shuffle(order)
        first = (step - 1) % self.epoch_steps * self.batch
        return order[first:first + self.batch]


def say(line):
    """Tells the recorder one line."""
    print(line, flush=True)
