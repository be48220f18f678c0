# SPDX-License-Identifier: Apache-2.0
"""The design of `plateau prove` (clients/auto/plateau_auto/design.py): which batch comes next. Needs no torch."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "auto"))

from plateau_auto import design, factors  # noqa: E402


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


if __name__ == "__main__":
    unittest.main()
