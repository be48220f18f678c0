#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the measurement behind the pytest plugin, without pytest: its statistics on invented readings, and
its answers on real calls of this process."""
import functools
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from plateau_in_tests import growth  # noqa: E402  pylint: disable=wrong-import-position

PAGE = 4096


def slope(values):
    return growth.Slope(list(range(len(values))), values)


class Amounts(unittest.TestCase):
    def test_units_are_taken_at_their_word(self):
        for text, count in (("1MB", 1e6), ("40 kB", 4e4), ("1.5MiB", 1.5 * 2 ** 20), ("3K", 3072),
                            (512, 512), ("0", 0), ("7 bytes", 7), (".5GB", 5e8)):
            self.assertEqual(growth.parse_bytes(text), count)

    def test_what_is_no_amount_says_what_to_write(self):
        for text in ("", "MB", "1 MBit", "-1MB", "1e3", None, True, float("nan"), -1, "1MB per call"):
            with self.assertRaisesRegex(ValueError, "no amount of memory"):
                growth.parse_bytes(text)

    def test_three_digits_are_shown(self):
        for count, text in ((312, "312 B"), (40123, "40.1 kB"), (1049000, "1.05 MB"), (999.6e3, "1 MB"),
                            (-2.5e6, "-2.5 MB"), (12e9, "12 GB"), (0, "0 B")):
            self.assertEqual(growth.format_bytes(count), text)


class Slopes(unittest.TestCase):
    def test_steady_growth_is_its_rate(self):
        found = slope([100 * i for i in range(21)])
        self.assertEqual((found.low, found.mid, found.high), (100, 100, 100))
        self.assertEqual(found.state(99, 0), "grows")
        self.assertEqual(found.state(100, 0), "level")

    def test_one_jump_is_no_growth(self):
        for at in range(1, 21):
            found = slope([0] * at + [50 * PAGE] * (21 - at))
            self.assertNotEqual(found.state(0, 0), "grows", at)

    def test_pages_in_steps_are_growth(self):
        # 1 kB a call reaches the next page every fourth call.
        found = slope([i * 1024 // PAGE * PAGE for i in range(21)])
        self.assertEqual(found.state(512, PAGE), "grows")
        self.assertAlmostEqual(found.mid, 1024, delta=150)

    def test_a_sawtooth_over_a_level_floor_is_not_above_a_limit(self):
        found = slope([PAGE * (i % 5) for i in range(21)])
        self.assertNotEqual(found.state(PAGE / 10, 0), "grows")

    def test_growth_below_the_floor_is_noise(self):
        self.assertEqual(slope([i * 10 for i in range(21)]).state(0, 64 * 1024), "level")


class Calls(unittest.TestCase):
    """Real memory: limits are an order of magnitude away from what is done, for noise of the machine."""

    def measured(self, call, allowed, **options):
        return growth.measure(call, growth.Limits(growth.parse_bytes(allowed), **options))

    def test_kept_memory_grows_by_what_is_kept(self):
        kept = []
        found = self.measured(lambda: kept.append(bytearray(200000)), "20kB", calls=20)
        self.assertEqual(found.word, "grows")
        self.assertAlmostEqual(found.mid, 200000, delta=20000)
        self.assertEqual(found.stretches, 3)
        self.assertEqual(len(kept), 5 + 20 * 7)

    def test_freed_memory_is_level_after_one_stretch(self):
        found = self.measured(lambda: bytearray(200000), "20kB", calls=20)
        self.assertEqual((found.word, found.stretches), ("level", 1))
        self.assertLess(found.hidden, 20000)

    def test_a_cache_that_fills_is_looked_at_until_it_is_full(self):
        turn = iter(range(10 ** 6))
        decode = functools.lru_cache(maxsize=50)(lambda key: bytearray(200000))
        found = self.measured(lambda: decode(next(turn)), "20kB", calls=20)
        self.assertEqual(found.word, "level")
        self.assertGreater(found.stretches, 1)

    def test_cycles_are_collected_before_they_are_counted(self):
        def call():
            ring = [bytearray(200000)]
            ring.append(ring)
        self.assertEqual(self.measured(call, "20kB", calls=20).word, "level")

    def test_growth_inside_pages_that_are_there_is_found_by_its_objects(self):
        room = [object() for _ in range(200000)]
        del room[::2]  # Holes in every page: what grows now needs no page.
        kept = []
        found = self.measured(lambda: kept.extend([object() for _ in range(50)]), "100B", calls=20)
        self.assertEqual(found.word, "grows")
        self.assertEqual(found.source, "traced")
        self.assertGreater(found.low, 500)

    def test_a_pool_whose_objects_are_renewed_is_level(self):
        # tracemalloc sees the new ones only, for as long as the old ones last.
        turn = iter(range(10 ** 6))
        pool = {}

        def call():
            number = next(turn)
            pool[number % 500] = bytearray(1000)

        for _ in range(500):
            call()
        self.assertEqual(self.measured(call, "0", calls=20).word, "level")

    def test_measuring_leaves_nothing_behind(self):
        series = growth._stretch(lambda: None, 40, growth.SOURCES, True)
        self.assertEqual(series.slope("blocks").mid, 0)

    def test_a_leak_too_large_to_repeat_is_judged_by_its_halves(self):
        kept = []
        limits = growth.Limits(1e6, calls=20)
        limits.patience_s = 0
        found = growth.measure(lambda: kept.append(bytearray(2000000)), limits)
        self.assertEqual((found.word, found.stretches), ("grows", 1))
        self.assertEqual(len(kept), 25)

    def test_what_a_call_raises_is_passed_on(self):
        with self.assertRaises(ZeroDivisionError):
            self.measured(lambda: 1 // 0, "1MB")


class Loops(unittest.TestCase):
    def judged(self, turn, steps, allowed="20kB"):
        loop = growth.Loop(growth.Limits(growth.parse_bytes(allowed)))
        for number in range(steps):
            turn(number)
            loop.step()
        return loop.judge()

    def test_a_loop_that_keeps_grows(self):
        kept = []
        found = self.judged(lambda number: kept.append(bytearray(200000)), 40)
        self.assertEqual(found.word, "grows")
        self.assertAlmostEqual(found.mid, 200000, delta=20000)

    def test_a_loop_that_stops_keeping_is_level(self):
        kept = []
        found = self.judged(lambda number: number < 20 and kept.append(bytearray(200000)), 60)
        self.assertEqual(found.word, "level")

    def test_long_loops_keep_few_readings(self):
        loop = growth.Loop(growth.Limits(1e6))
        for _ in range(1000):
            loop.step()
        self.assertLess(loop.series.size, growth.MAX_READINGS)
        self.assertGreater(loop.series.calls()[-1], 950)
        self.assertEqual(loop.judge().word, "level")

    def test_few_steps_tell_nothing(self):
        self.assertIsNone(self.judged(lambda number: None, 12))


if __name__ == "__main__":
    unittest.main()
