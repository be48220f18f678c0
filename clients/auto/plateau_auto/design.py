# SPDX-License-Identifier: Apache-2.0
"""Which index batch comes next while `plateau prove` runs: the design of the experiment, and nothing else.

The question is whether memory grows because the job meets examples it has not met before, or because it takes
steps. So the training loader's own index batches are served in pairs of blocks: K new ones (N), then the same K
again (R), then K new ones. A cache per example grows in N and stands still in R; what is kept per step grows in both.

With data workers a cache lives in one worker, so the second serving must reach the same one: torch deals batch j of
a pass to worker j mod w, hence K is a multiple of w, blocks begin at multiples of w, and a pair that the end of a
pass would cut is not begun (workers are forked anew there, or dealt to from 0 again). With gradient accumulation K
is also a multiple of the batches of one optimizer step.

Worked case: 663 examples, batch 8, 2 workers that prefetch 2 each: 4 batches are always on their way, so of a block
only the first K - 4 states count, K = 12: 10 of warm-up, then N R N R N R N R in 96: 106 of 120 steps. Two pairs
are usually enough.

Blind spot: a dataset of so few batches that no pair of blocks fits into what has not been seen. Then the same K are
served again and again: growth is still told from none, but nothing is new any more.
"""
import collections
import math

SMALLEST_WINDOW = 4   # States of a block that must be left once margins are off.
USUAL_BLOCK = 12
USUAL_WARMUP = 10
LONGEST_WARMUP = 40   # Where no two optimizer steps come for long.

# One served index batch: `place` counts from 1 to `size` in its block. Kinds: W warm-up, N new, R again, - filler;
# A and B are blocks without and with the factor of a contrast.
Label = collections.namedtuple("Label", "kind block place size")
FILLER = Label("-", 0, 0, 0)


def block_size(workers, ahead, lag, per_step, left, batches_new, batches_pass):
    """K: long enough to see something past the margins, short enough for two pairs in what is left."""
    unit = math.lcm(max(1, workers), per_step) if hasattr(math, "lcm") else _lcm(max(1, workers), per_step)

    def up(n):
        return max(unit, -(-n // unit) * unit)

    least = up(ahead + lag + SMALLEST_WINDOW)
    size = max(up(USUAL_BLOCK), up(ahead + lag + 2 * SMALLEST_WINDOW))
    rooms = [left // 4]
    if batches_new is not None:
        rooms.append(batches_new // 2)
    if batches_pass is not None and workers:
        rooms.append((batches_pass - settling(workers)) // 2)
    room = min(rooms)
    if size > room:
        size = max(least, room // unit * unit)
    return size


def _lcm(a, b):
    return a * b // math.gcd(a, b)


def settling(workers):
    """Batches at the beginning of a pass with fresh workers that nobody measures."""
    return 2 * workers


class Pairs:
    """Deals index batches: warm-up, then pairs of blocks until nobody asks any more."""

    def __init__(self, steps):
        self.steps = steps
        self.size = 0        # K, once warm-up is over.
        self.block = 0       # Number of the block being dealt.
        self.seen = []       # Index batches dealt so far, each once.
        self.dealt = 0
        self._warmup = USUAL_WARMUP
        self._queue = collections.deque()
        self._pair = []      # The N batches that R repeats.
        self._exhausted = False
        self._settle = 0

    def met(self, batch):
        """A batch that was dealt before the design began."""
        self.seen.append(batch)
        self.dealt += 1

    def begin(self, ahead, batches_pass):
        """Fixes the warm-up. `ahead` batches are on their way whenever one is taken."""
        self._warmup = max(USUAL_WARMUP, ahead + USUAL_WARMUP - 2)
        if batches_pass is not None and batches_pass < 4 * USUAL_WARMUP:
            self._warmup = max(3, ahead + 2, batches_pass // 5)

    def new_pass(self, workers):
        """The loader begins again. Without workers nothing of a block is lost by that."""
        if workers and self.size:
            self._queue.clear()
            self._pair = []
            self._settle = settling(workers)

    def deal(self, position, left_in_pass, loop, pull):
        """The next index batch and its label. `position` counts batches of this pass; `pull` draws one that is
        new or raises StopIteration; `loop()` tells what the warm-up has shown, or None if that is too little."""
        self.dealt += 1
        if not self.size:
            shown = loop() if self.dealt > self._warmup else None
            if shown is None and self.dealt <= LONGEST_WARMUP:
                return self._pull(pull), Label("W", 0, self.dealt, 0)
            self._choose(shown or {"workers": 0, "ahead": 0, "lag": 0, "per_step": 1}, left_in_pass)
        if not self._queue:
            self._plan(position, left_in_pass, pull)
        batch, label = self._queue.popleft()
        if batch is None:
            batch = self._pull(pull)
            if self._exhausted:
                # The last new batches are too few for a block.
                self._queue.clear()
                self._pair = []
                return batch, FILLER
            self._pair.append(batch)
        return batch, label

    def _choose(self, shown, left_in_pass):
        self.workers = shown["workers"]
        total = shown.get("batches_pass")
        new = None if total is None else max(0, total - len(self.seen))
        self.size = block_size(self.workers, shown["ahead"], shown["lag"], shown["per_step"],
                               max(1, self.steps - self.dealt), new, total)
        del left_in_pass

    def _pull(self, pull):
        """A new batch; when there is none left, one that was seen."""
        if not self._exhausted:
            try:
                batch = pull()
                self.seen.append(batch)
                return batch
            except StopIteration:
                if not self.seen:
                    raise
                self._exhausted = True
        return self.seen[self.dealt % len(self.seen)]

    def _plan(self, position, left_in_pass, pull):
        del pull
        off_beat = self.workers and position % self.workers
        cut = self.workers and left_in_pass is not None and left_in_pass < self.size * (1 if self._pair else 2)
        if self._settle > 0 or off_beat or cut:
            self._settle -= 1
            self._queue.append((self.seen[-1], FILLER))
            return
        self.block += 1
        places = range(1, self.size + 1)
        if len(self._pair) == self.size:
            again, self._pair = self._pair, []
            if self._exhausted:
                self._pair = again  # Nothing is new any more: the same again.
            self._queue.extend((batch, Label("R", self.block, i, self.size))
                               for i, batch in zip(places, again))
        elif self._exhausted:
            # Served once without being counted: each worker has met its own by then.
            self._pair = [self.seen[i % len(self.seen)] for i in range(self.size)]
            self._queue.extend((batch, FILLER) for batch in self._pair)
        else:
            self._pair = []
            self._queue.extend((None, Label("N", self.block, i, self.size)) for i in places)


class Arms:
    """Deals the sampler's own batches and alternates a factor: blocks A without it, blocks B with it."""

    def __init__(self, steps):
        self.steps = steps
        self.size = 0
        self.block = 0
        self.seen = []
        self.dealt = 0
        self._warmup = USUAL_WARMUP
        self._place = 0

    met = Pairs.met

    def begin(self, ahead, batches_pass):
        del batches_pass
        self._warmup = max(USUAL_WARMUP, ahead + USUAL_WARMUP - 2)

    def new_pass(self, workers):
        pass

    def deal(self, position, left_in_pass, loop, pull):
        del position, left_in_pass
        self.dealt += 1
        batch = pull()
        if not self.size:
            shown = loop() if self.dealt > self._warmup else None
            if shown is None and self.dealt <= LONGEST_WARMUP:
                return batch, Label("W", 0, self.dealt, 0)
            shown = shown or {"workers": 0, "ahead": 0, "lag": 0, "per_step": 1}
            self.size = block_size(1, 0, shown["lag"], shown["per_step"], max(1, self.steps - self.dealt), None, None)
        if self._place == 0:
            self.block += 1
        self._place = self._place % self.size + 1
        label = Label("AB"[(self.block + 1) % 2], self.block, self._place, self.size)
        if self._place == self.size:
            self._place = 0
        return batch, label
