# SPDX-License-Identifier: Apache-2.0
"""What a training loop does, put together from what its parts are seen to do.

The parts report: an iterator was opened, drew indices, handed a batch out, ended; an optimizer stepped; a framework
says that its step 120 has ended. No part knows the loop. These rules make one of them:

  a step     is the first optimizer step after a batch, and every further step of the same optimizer. Two optimizers
             that take turns on one batch (a GAN, or one within another) make one step. A framework's own count
             outranks this.
  training   is what feeds steps: the batches that were handed out between two of them.
  a pass     over a training iterator that ended is an epoch.
  evaluation is a pass that was opened without gradients (no_grad, inference_mode), from its first batch to its end or to
             the next batch for training; elsewhere a pass that ended without a step inside.
  an epoch   has len(sampler) / (batches per step) steps. Batches per step are observed between the first two steps
             of a pass; where the framework rounds up at the end of a pass, so does this.

Worked case: 663 examples by 2 are 332 batches. The second step comes 4 batches after the first, so an epoch has
83 steps, and batch is 8. A Trainer says accumulation itself and rounds up: 83 too.

New examples are counted exactly: a byte for each example of a dataset of up to 4 million, a bit in it for each
of up to eight workers that live on, because a cache in a worker is filled by what that worker loads.

Blind spots: a stream has no length before its first end; an evaluation with gradients that is broken off; two loaders
that both advance between steps (the longer one is taken, and the source says so). Nothing here touches torch.
"""
import os

from . import feed, turns, voice


class Loop:
    def __init__(self):
        self.listeners = []  # Called with the number of each step: plateau prove measures there.
        self.knows = dict  # What accelerate says of accumulation, once there is an Accelerator.
        self.start_anew()

    def start_anew(self):
        """In a forked child nothing has happened yet."""
        feed.start_anew()
        self._since_step = []  # Passes that handed out batches since the last step.
        self._stepped = set()  # Optimizers that stepped since the last batch.
        # The pass that fed the last step, as long as nothing but its batches and the first steps after them is seen;
        # what has happened since then stands in it alone (fresh) and in _by. See _look_closer().
        self._usual = None
        self._by = None  # The optimizer (by id) that stepped last.
        self._turns = turns.Turns()
        self._ended = None  # A pass that ended before any step: an evaluation, unless a step follows.
        self._training = None  # The pass that fed the last step.
        self._evaluates = set()  # Datasets (by id) known to be evaluated on, which never fed a step.
        self._trained_on = set()  # Datasets (by id) that did.
        self._evaluating = False
        self._quiet_trains = False  # A pass that was opened without gradients fed steps: that tells nothing here.
        self._clocked_by = None  # The data (Pass.kind) whose batches are the steps: see update_compiled().
        self.framework = None  # Whoever counts steps itself: see adopt().
        self._says_passes = False
        self.steps = 0
        self.optimizer_steps = 0  # Of every single optimizer.
        self._base = 0  # Added to a framework's count, which may begin again with every training.
        self.epochs = 0  # Passes that ended, over training iterators, and the parts of those that were left early.
        self._rounds_up = False  # As a pass showed at its end: see Pass.observe_end().
        self.compilations = 0
        self.compiler = "torch"
        self._saved_at = 0  # The step of the last checkpoint.

    # ---- what is seen -------------------------------------------------------------------------

    @staticmethod
    def opened(iterator, loader, quiet=False):
        """`quiet`: without gradients."""
        iterator._plateau_pass = feed.pass_of_loader(loader)
        iterator._plateau_pass.quiet = quiet

    def consumed(self, one):
        """The pass has handed a batch out."""
        if one is self._usual:
            one.consumed += 1
            one.fresh = True
            return
        self._look_closer()
        if self._ended is not None and self._ended is not one:
            self._settle()
        if self._clocked_by is not None:
            self._end_compiled_step(one)
        if not self._says_passes and self._evaluating != self._evaluates_on(one):
            self._turn_evaluating(one)
        one.consumed += 1
        self._stepped.clear()
        if one not in self._since_step:
            self._since_step.append(one)

    def ended(self, iterator):
        one = getattr(iterator, "_plateau_pass", None)
        if one is None or one.over or one.consumed == 0:
            return
        self._look_closer()
        if self._clocked_by is not None:
            self._end_compiled_step(one)
        one.over = True
        if one.steps:
            self._pass_ended(one)
        else:
            self._ended = one
            if self._evaluating:
                self._settle()

    def stepped(self, optimizer):
        """An optimizer's step has ended, or was attempted."""
        self.optimizer_steps += 1
        one = self._usual
        if one is None or not one.fresh:
            if self.framework is None:
                self._clocked_by = None  # Steps are seen after all.
                self.count(optimizer)
            return
        one.fresh = False
        self._by = id(optimizer)
        self.steps = number = self.steps + 1
        one.steps = steps = one.steps + 1
        # What a loop does is looked at when its steps have doubled.
        if not steps & (steps - 1):
            self._learn(one, self.knows())
        (voice.spoken or voice.get()).step(number, None, self._told)

    def count(self, optimizer, **known):
        """A step, unless another optimizer has stepped since the last batch."""
        self._look_closer()
        key = id(optimizer)
        stepped = self._stepped
        if stepped:
            if key not in stepped:
                stepped.add(key)
                return
            stepped.clear()
        stepped.add(key)
        self._by = key
        self.step_ended(self.steps + 1, None, **known)
        # From here on loops of most kinds do the same over and over.
        if self.framework is None and not known and not self.listeners:
            self._usual = self._training

    def update_compiled(self):
        """An update of the weights was traced into compiled code, which calls nothing of ours when it runs. What was
        loaded last feeds it: from here on each of its batches is a step, which has ended when the next is taken."""
        self._look_closer()
        if self.framework is None and self._since_step:
            self._clocked_by = self._since_step[-1].kind

    # ---- what frameworks say ------------------------------------------------------------------

    def adopt(self, name, says_passes=True, begins_at=0):
        """From here on `name` counts the steps and, unless it says none, says evaluations and epochs. Its count begins
        after `begins_at`, where it goes on from a checkpoint or from a training before."""
        if self.framework != name:
            self._look_closer()
            self.framework = name
            self._says_passes = says_passes
            self._since_step = []  # What was loaded before trained nothing: a first look at the shapes.
            if self.steps:
                self._base = self.steps - begins_at

    def release(self):
        """Its training has ended; whatever comes next counts on from there."""
        self.framework = None
        self._says_passes = False

    def feed(self, one, batches=1):
        """The framework loads by itself: `one` has handed out the batches of the step that ends now."""
        self._look_closer()
        one.consumed += batches
        self._since_step = [one]

    def is_fed(self):
        """Whether batches of a loader that knows its dataset were seen since the last step."""
        self._look_closer()
        return any(one.examples for one in self._since_step)

    def counts_itself(self):
        """Whether steps are seen here, so that no framework need be asked."""
        return self.steps > 0 and self.framework is None

    def pass_ended(self, one):
        """The framework's own pass has ended."""
        one.over = True
        if self._turns.on:
            return
        self.epochs += 1
        one.observe_end()
        self._rounds_up = self._rounds_up or (one.rounds_up and self.framework is None)
        self._say_facts(one)

    def framework_step(self, number, epoch=None, **known):
        """`known`: accumulation, total_steps, rounds_up, length in batches."""
        number += self._base
        if number > self.steps:
            self.step_ended(number, epoch, **known)

    def step_ended(self, number, epoch=None, **known):
        self._look_closer()
        self.steps = number
        one, candidates = self._training, self._since_step
        if self._ended is None and len(candidates) == 1 and candidates[0] is one:
            candidates.clear()
        else:
            one = self._feeding()
        if one is not None:
            one.steps = steps = one.steps + 1
            # What a framework says is looked at each time.
            if known or not steps & (steps - 1):
                self._learn(one, known or self.knows())
        (voice.spoken or voice.get()).step(number, epoch, self._told)
        for listener in self.listeners:
            listener(number)

    def saved(self):
        """A file of a checkpoint was written; those between two steps are one."""
        if self._saved_at != self.steps:
            self._saved_at = self.steps
            self.event("mark checkpoint")

    def event(self, line):
        """Before the first step nothing is an event: the watcher may be told of no step at all."""
        if self.steps:
            voice.get().event(line)

    # ---- how it is put together ---------------------------------------------------------------

    def _look_closer(self):
        """Something else happens than batches and steps in turn: from here on all that is known stands in _since_step
        and _stepped again."""
        one, self._usual = self._usual, None
        if one is None:
            return
        self._stepped.clear()
        if one.fresh:
            one.fresh = False
            self._since_step = [one]
        else:
            self._stepped.add(self._by)

    def _learn(self, one, known):
        one.rounds_up = one.rounds_up or self._rounds_up
        one.learn(known)
        self._say_facts(one)

    def _end_compiled_step(self, one):
        if one.kind == self._clocked_by and not one.quiet and one in self._since_step and self.framework is None:
            self.step_ended(self.steps + 1)

    def _feeding(self):
        """The pass that fed the step that has just ended, where it is not the one that fed the last."""
        candidates = self._since_step
        self._since_step = []
        if not candidates:
            # Several steps on one batch, or a step per look-ahead: it is still the same one.
            return self._training
        if not self._quiet_trains:
            candidates = [each for each in candidates if not each.quiet] or candidates
        one = candidates[0]
        if len(candidates) > 1:
            trained_on = self._training.dataset_id if self._training is not None else None
            one = max(candidates, key=lambda each: (
                not each.over, each is self._training, each.dataset_id == trained_on, each.length or 0))
            one.shared = sum(not each.over for each in candidates) > 1
        self._trains(one)
        self._turns.fed(one, self._training)
        self._leave(self._training, one)
        if self._ended is one:
            self._ended = None
            self._training = one
            self._pass_ended(one)
        else:
            self._settle()
        self._training = one
        return one

    def _trains(self, one):
        """What feeds steps is no evaluation, whatever it was taken for: a dataset may have got the id of one that is gone,
        and a loop may open its loaders without gradients."""
        self._trained_on.add(one.dataset_id)
        if one.seen is not None:
            one.seen.trained_on = True
        self._evaluates.discard(one.dataset_id)
        self._quiet_trains = self._quiet_trains or one.quiet
        if self._evaluating and not self._says_passes:
            self._turn_evaluating(one)

    def _evaluates_on(self, one):
        return one.dataset_id in self._evaluates or (one.quiet and not self._quiet_trains)

    def _turn_evaluating(self, one):
        """An evaluation begins with the first batch of its pass, and has ended, be it broken off, when another pass goes on."""
        if self._evaluating:
            self._evaluating = False
            self.event("end eval")
        elif one.consumed == 0 and self.steps:
            self._evaluating = True
            self.event("begin eval")

    def _leave(self, last, one):
        """A loop that breaks off its passes is as many epochs on as it has consumed of them."""
        if last is None or last is one:
            return
        last.look()  # Nobody else will ask it again: what it drew last would never count as seen.
        if not (last.over or last.left or self._turns.on) and last.length and last.dataset_id == one.dataset_id:
            last.left = True
            self.epochs += last.consumed / last.length

    def _say_facts(self, one):
        known = one.take_facts()
        if self._turns.on:
            known = [self._turns.facts()] if self._turns.facts() else []
        for source, facts in known:
            voice.get().facts(source, **facts)

    def _told(self):
        """What goes with a step that is said: its epoch, if no framework says it, and gauges."""
        one = self._training
        if one is None:
            return None, ()
        gauges = one.gauges()
        if self.compilations:
            gauges += ((self.compiler + ".compilations", self.compilations),)
        if self._turns.on:
            return self._turns.place(), gauges
        if one.over:
            return float(self.epochs), gauges
        return self.epochs + one.consumed / one.length if one.length else None, gauges

    def _settle(self):
        """The pass that ended without a step was an evaluation."""
        one, self._ended = self._ended, None
        if one is None or self._says_passes or self.steps == 0:
            return
        if one.dataset_id not in self._trained_on:
            self._evaluates.add(one.dataset_id)
        if self._evaluating:
            self._turn_evaluating(one)
        else:
            self.event("mark eval")

    def _pass_ended(self, one):
        self.pass_ended(one)
        if not (self._says_passes or self._turns.on):
            self.event("mark epoch")


LOOP = Loop()


def _in_forked_child():
    LOOP.start_anew()
    voice.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)
