# SPDX-License-Identifier: Apache-2.0
"""The design of `plateau prove` (clients/auto/plateau_auto/design.py): which batch comes next. Needs no torch."""
import pathlib
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "auto"))

from plateau_auto import design, factors, loop, prove, replay  # noqa: E402


def shown(**changed):
    facts = {"workers": 0, "ahead": 0, "lag": 0, "per_step": 1, "batches_pass": None}
    facts.update(changed)
    return facts


def deal_all(pairs, count, facts, length=None):
    """`count` (batch, label) as a loader would get them that has `length` batches a pass; batches are numbers."""
    dealt, source, position = [], iter(range(length or 10_000)), 0
    pairs.begin(facts["ahead"], length)
    for _ in range(count):
        if length is not None and position == length:
            position = 0
            pairs.new_pass(facts["workers"])
        left = None if length is None else length - position
        batch, label = pairs.deal(position, left, lambda: facts, lambda: next(source))
        dealt.append((batch, label, position))
        position += 1
    return dealt


def blocks(dealt):
    found = {}
    for batch, label, position in dealt:
        if label.size:
            found.setdefault((label.block, label.kind), []).append((batch, position))
    return found


class DesignTest(unittest.TestCase):
    def test_each_repeated_block_is_the_new_one_before_it(self):
        found = blocks(deal_all(design.Pairs(120), 120, shown()))
        self.assertEqual([kind for _, kind in found][:4], ["N", "R", "N", "R"])
        for (number, kind), items in found.items():
            if kind == "R" and len(items) == 12:
                self.assertEqual([b for b, _ in items], [b for b, _ in found[number - 1, "N"]])

    def test_new_blocks_never_repeat_what_was_seen(self):
        dealt = deal_all(design.Pairs(120), 120, shown())
        seen = set()
        for batch, label, _ in dealt:
            if label.kind in "WN":
                self.assertNotIn(batch, seen)
            seen.add(batch)

    def test_a_batch_reaches_the_same_worker_again(self):
        for workers, length in ((2, None), (3, 40), (4, 77)):
            facts = shown(workers=workers, ahead=2 * workers, batches_pass=length)
            found = blocks(deal_all(design.Pairs(120), 160, facts, length))
            repeated = 0
            for (number, kind), items in found.items():
                if kind != "R" or (number - 1, "N") not in found:
                    continue
                for (batch, place), (again, later) in zip(found[number - 1, "N"], items):
                    self.assertEqual((batch, place % workers), (again, later % workers))
                    repeated += 1
            self.assertGreater(repeated, 0)

    def test_blocks_are_whole_optimizer_steps(self):
        pairs = design.Pairs(120)
        deal_all(pairs, 60, shown(per_step=4, workers=2, ahead=4))
        self.assertEqual(pairs.size % 4, 0)

    def test_a_small_dataset_still_gives_two_pairs(self):
        found = blocks(deal_all(design.Pairs(120), 100, shown(batches_pass=20), 20))
        whole = [kind for (_, kind), items in found.items() if len(items) >= design.SMALLEST_WINDOW]
        self.assertGreaterEqual(whole.count("N"), 2)

    def test_where_nothing_is_new_the_same_comes_again(self):
        found = blocks(deal_all(design.Pairs(120), 120, shown(batches_pass=5), 5))
        kinds = [kind for _, kind in found]
        self.assertGreaterEqual(kinds.count("R"), 3)

    def test_a_contrast_alternates_and_keeps_the_order(self):
        dealt = deal_all(design.Arms(120), 80, shown())
        self.assertEqual([batch for batch, _, _ in dealt], list(range(80)))
        kinds = [kind for _, kind in blocks(dealt)]
        self.assertEqual(kinds[:4], ["A", "B", "A", "B"])


class LeftOut(unittest.TestCase):
    def test_a_call_that_is_left_out_gives_what_the_last_one_gave(self):
        class Trainer:
            calls = 0

            def evaluate(self):
                self.calls += 1
                return {"eval_loss": self.calls}

        told = []
        patched = mock.patch.object(prove, "tell", told.append)
        patched.start()
        self.addCleanup(patched.stop)
        factor = factors._Instead()
        factor.leave_out(Trainer, "evaluate", {})
        factor.leave_out(Trainer, "is_in_no_version")
        trainer = Trainer()
        factor.use(True)
        self.assertEqual(trainer.evaluate(), {})
        factor.use(False)
        self.assertEqual(trainer.evaluate(), {"eval_loss": 1})
        factor.use(True)
        self.assertEqual(trainer.evaluate(), {"eval_loss": 1})
        self.assertEqual(trainer.calls, 1)
        self.assertEqual(told, ["acted times=1", "acted times=2"])


    def test_a_scaler_whose_backward_was_left_out_attempts_its_step_and_does_not_refuse(self):
        class GradScaler:
            def step(self, optimizer):
                raise AssertionError("No inf checks were recorded for this optimizer.")

            update = unscale_ = step

        GradScaler.__module__ = "torch.amp.grad_scaler"
        module = types.ModuleType("torch.amp.grad_scaler")
        module.GradScaler = GradScaler
        factors.patch_scaler(module)
        factor = factors.get("no-backward")
        factor.use(True)
        self.addCleanup(factor.use, False)
        stepped = []
        with mock.patch.object(prove, "tell"), mock.patch.object(loop.LOOP, "stepped", stepped.append):
            scaler = GradScaler()
            scaler.unscale_("one")
            scaler.step("one")
            scaler.update()
        self.assertEqual(stepped, ["one"])
        factor.use(False)
        self.assertRaises(AssertionError, scaler.step, "one")


class Sampler:
    pass


class BatchSampler:
    """As torch's, by what is asked of it."""

    def __init__(self, batches, batch_size=8):
        self.sampler = Sampler()
        self.batches, self.batch_size = batches, batch_size

    def __len__(self):
        return len(self.batches)


class Iterator:
    """A pass over a loader without workers."""

    def __init__(self, dataset, batches):
        self._dataset, self._index_sampler, self._sampler_iter = dataset, batches, iter(batches.batches)
        self._num_workers = 0


def batches_of(count, batch_size=8):
    return BatchSampler([list(range(i * batch_size, (i + 1) * batch_size)) for i in range(count)], batch_size)


class ReplayTest(unittest.TestCase):
    def setUp(self):
        self.told = []
        self.replay = replay.Replay(120, self.told.append)
        self.dataset = list(range(2400))

    def play(self, loader, trains=True, until=None, between=lambda number: None, quiet=False):
        iterator = Iterator(self.dataset, loader)
        iterator._plateau_pass = types.SimpleNamespace(quiet=quiet)
        number = 0
        while number != until:
            def fetch():
                return self.replay.next_index(iterator, lambda: next(iterator._sampler_iter))
            try:
                self.replay.next(iterator, fetch)
            except StopIteration:
                return
            number += 1
            if trains:
                self.replay.stepped()
            between(number)

    def told_of(self, what):
        return [line for line in self.told if line.startswith(what)]

    def test_an_evaluation_on_the_training_data_that_draws_otherwise_is_left_alone(self):
        held_out = batches_of(20, 64)
        self.play(batches_of(300), until=60, between=lambda number: number % 15 or self.play(held_out, trains=False))
        self.assertEqual(len(self.told_of("at=")), 59)
        self.assertEqual(self.told_of("idle"), [])

    def test_blocks_that_an_evaluation_on_the_training_loader_took_are_told_to_be_idle(self):
        loader = batches_of(300)
        self.play(loader, until=60, between=lambda number: number == 24 and self.play(loader, trains=False, until=30))
        # The blocks begin at batch 11: two are trained on, the evaluation takes 30 of the next 36.
        self.assertEqual(self.told_of("idle"), ["idle block=2", "idle block=3", "idle block=4"])

    def test_an_evaluation_without_gradients_on_the_training_loader_is_left_alone(self):
        loader = batches_of(300)
        self.play(loader, until=60, between=lambda number: number % 15 or self.play(
            loader, trains=False, until=10, quiet=True))
        self.assertEqual(len(self.told_of("at=")), 59)
        self.assertEqual(self.told_of("idle"), [])

    def test_an_optimizer_that_steps_at_every_fourth_batch_is_not_idle(self):
        self.play(batches_of(300), trains=False, until=100, between=lambda number: number % 4 or self.replay.stepped())
        self.assertGreater(len(self.told_of("at=")), 80)
        self.assertEqual(self.told_of("idle"), [])

    def test_a_loader_of_larger_batches_that_is_trained_on_takes_over(self):
        self.play(batches_of(300), until=30)
        self.play(batches_of(300, 16), until=40)
        self.assertGreater(len(self.told_of("at=")), 60)


if __name__ == "__main__":
    unittest.main()
