# SPDX-License-Identifier: Apache-2.0
"""Marked tests: which fail, which pass, what a failure says, and how the plugin gets along with pytest."""
import json
import xml.etree.ElementTree

LEAK = """
    import pytest

    cache = []

    @pytest.mark.plateau(max_growth="20kB", per="call", warmup=5)
    def test_leak():
        cache.append(bytearray(200000))
"""


def test_a_leak_fails_with_its_rate_its_container_and_its_line(run):
    result = run(LEAK)
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines([
        r"memory grew by 20\d kB per call.* over the last 64 of 112 calls; allowed: 20 kB per call",
        r"  list `cache` in module test_it \(test_it.py:3\) grew by 1 per call",
        r"  200 kB per call from test_it.py:7 in test_leak: cache.append\(bytearray\(200000\)\)"])
    result.stdout.no_fnmatch_line("*native*")


def test_what_ends_is_no_leak(run):
    run("""
        import functools, itertools, pytest

        @functools.lru_cache(maxsize=40)
        def decode(number):
            return bytearray(200000)

        numbers = itertools.count()
        once = []

        @pytest.mark.plateau("20kB")
        def test_a_cache_that_fills():
            decode(next(numbers))

        @pytest.mark.plateau("20kB")
        def test_imports_in_the_first_call():
            import sqlite3, decimal, xml.dom.minidom
            if not once:
                once.append(bytearray(5000000))

        @pytest.mark.plateau("20kB")
        def test_garbage_in_cycles():
            ring = [bytearray(200000)]
            ring.append(ring)

        @pytest.mark.plateau("20kB")
        def test_a_late_import():
            if next(numbers) % 29 == 0:
                once.append(bytearray(1000000))
    """).assert_outcomes(passed=4)


def test_a_cache_without_a_size_is_named(run):
    result = run("""
        import functools, itertools, pytest

        @functools.lru_cache(maxsize=None)
        def decode(number):
            return bytearray(200000)

        numbers = itertools.count()

        @pytest.mark.plateau("20kB")
        def test_decode():
            decode(next(numbers))
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "  the lru_cache of decode (test_it.py:3) got 1 longer per call; it has no maxsize"])


def test_holders_are_named_by_class_instance_closure_default_and_fixture(run):
    result = run("""
        import collections, pytest

        class Loader:
            seen = {}

            def __init__(self):
                self.queue = collections.deque()

        loader = Loader()

        def remembering():
            past = []
            def remember():
                past.append(bytearray(200000))
            return remember

        remember = remembering()

        def keep(kept=[]):
            kept.append(bytearray(200000))

        @pytest.fixture
        def box():
            return {}

        def one(): Loader.seen[len(Loader.seen)] = bytearray(200000)
        def two(): loader.queue.append(bytearray(200000))

        @pytest.mark.parametrize("call", [one, two, remember, keep])
        @pytest.mark.plateau("20kB")
        def test_it(call):
            call()

        @pytest.mark.plateau("20kB")
        def test_box(box):
            box[len(box)] = bytearray(200000)
    """)
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines([
        "  dict `seen` of class test_it.Loader grew by 1 per call",
        "  deque `queue` of a Loader, which is `loader` in module test_it (test_it.py:9) grew by 1 per call",
        "  list `past` in the closure of remembering.<locals>.remember (test_it.py:13) grew by 1 per call",
        "  list the default of `kept` in keep (test_it.py:19) grew by 1 per call",
        "  dict fixture `box` grew by 1 per call"])


def test_native_growth_is_said_to_be_native_with_what_would_tell(run):
    result = run("""
        import ctypes, pytest
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]

        @pytest.mark.plateau("20kB")
        def test_native():
            libc.memset(libc.malloc(200000), 1, 200000)
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "  native: Python's allocators saw * of it per call; *",
        "    plateau run --heap -o growth.plateau -- python -m pytest test_it.py::test_native",
        "    plateau profile growth.plateau"])


def test_tensors_kept_with_their_graphs_are_named(run):
    result = run("""
        import pytest, torch
        model = torch.nn.Linear(256, 256)
        losses = []

        @pytest.mark.plateau("20kB")
        def test_step():
            losses.append((model(torch.ones(64, 256)) ** 2).mean())

        @pytest.mark.plateau("20kB")
        def test_step_that_keeps_a_number():
            (model(torch.ones(64, 256)) ** 2).mean().item()
    """)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["  list `losses` in module test_it (test_it.py:3) grew by 1 per call",
                                 "  [1-9] Tensor more per call (Python objects)", "  native: *"])


def test_the_tests_own_failure_wins_and_later_ones_say_their_call(run):
    result = run("""
        import pytest
        kept = []

        @pytest.mark.plateau
        def test_wrong():
            kept.append(bytearray(1000000))
            assert 1 == 2

        @pytest.mark.plateau
        def test_wrong_later(calls=[]):
            calls.append(1)
            assert len(calls) < 7
    """)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["E       assert 1 == 2", "E       assert 7 < 7", "*this is call 7.*"])
    result.stdout.no_fnmatch_line("*memory grew*")


def test_skips_and_expected_failures_stay_what_they_are(run):
    run("""
        import pytest
        kept = []

        @pytest.mark.plateau
        def test_skipped():
            pytest.skip("not here")

        @pytest.mark.plateau
        @pytest.mark.xfail
        def test_known_leak():
            kept.append(bytearray(500000))
    """).assert_outcomes(skipped=1, xfailed=1)


def test_every_call_finds_output_and_log_as_the_first_did(run):
    run("""
        import logging, pytest, warnings

        @pytest.mark.plateau("2kB")
        def test_output(capsys):
            print("x" * 10000)
            assert len(capsys.readouterr().out) == 10001
            print("y" * 10000)

        @pytest.mark.plateau("2kB")
        def test_log(caplog):
            logging.getLogger("job").warning("z" * 10000)
            assert len(caplog.records) == 1

        @pytest.mark.plateau("2kB")
        def test_log_that_nobody_reads():
            logging.getLogger("job").warning("z" * 10000)

        @pytest.mark.plateau("2kB")
        def test_warnings():
            warnings.warn("w" * 1000)

        @pytest.mark.plateau("2kB")
        @pytest.mark.filterwarnings("error")
        def test_warnings_that_are_errors():
            with pytest.raises(UserWarning):
                warnings.warn("w")
    """, "--plateau-calls=40").assert_outcomes(passed=5, warnings=1)


def test_unittest_cases_are_asked_with_their_set_up(run):
    result = run("""
        import pytest, unittest
        kept = []

        @pytest.mark.plateau("20kB")
        class Case(unittest.TestCase):
            def setUp(self):
                self.box = []

            def test_leak(self):
                kept.append(bytearray(200000))

            def test_level(self):
                self.box.append(bytearray(200000))

            def test_wrong(self):
                self.assertEqual(1, 2)

            def test_skipped(self):
                self.skipTest("not here")
    """)
    result.assert_outcomes(failed=2, passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*list `kept` in module test_it*", "E * AssertionError: 1 != 2"])


def test_coroutines_are_called_again_by_their_plugin(run):
    result = run("""
        import asyncio, pytest
        kept = []

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.mark.anyio
        @pytest.mark.plateau("20kB")
        async def test_leak():
            await asyncio.sleep(0)
            kept.append(bytearray(200000))

        @pytest.mark.anyio
        @pytest.mark.plateau("20kB")
        async def test_level():
            await asyncio.sleep(0)
    """, "-p", "anyio")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["  list `kept` in module test_it (test_it.py:2) grew by 1 per call"])


def test_the_limit_may_be_for_all_calls_together(run):
    result = run("""
        import pytest
        kept = []

        @pytest.mark.plateau("100MB", per="test")
        def test_within(): kept.append(bytearray(200000))

        @pytest.mark.plateau("1MB", per="test")
        def test_above(): kept.append(bytearray(200000))
    """)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["memory grew by *; allowed: 1 MB per test, which is 62.5 kB per call"])


def test_wrong_marks_say_what_to_write(run):
    result = run("""
        import pytest
        @pytest.mark.plateau("much")
        def test_amount(): pass
        @pytest.mark.plateau(per="week")
        def test_per(): pass
        @pytest.mark.plateau(cals=3)
        def test_name(): pass
        @pytest.mark.plateau(calls=3)
        def test_calls(): pass
        @pytest.mark.plateau(per="step")
        def test_no_step(): pass
    """)
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines([
        "mark plateau: 'much' is no amount of memory; try*", "mark plateau: per='week': it is*",
        "mark plateau: *unexpected keyword argument 'cals'*",
        "mark plateau: calls=3: fewer than 12 calls show no growth",
        "mark plateau: per=\"step\", but the test never called plateau.step()"])


def test_every_test_or_none_is_asked_by_an_option(run):
    unmarked = LEAK.replace("@pytest.mark.plateau", "#")
    run(unmarked).assert_outcomes(passed=1)
    run(unmarked, "--plateau").assert_outcomes(failed=1)
    run(unmarked, "--plateau", "--plateau-max-growth=1MB").assert_outcomes(passed=1)
    run(LEAK, "--plateau-off").assert_outcomes(passed=1)
    result = run(LEAK, "--plateau-warmup=some")
    assert result.ret == 4


def test_what_was_measured_is_listed_and_kept_for_programs(run, pytester):
    pytester.makeini("[pytest]\nplateau_max_growth = 1MB\n")
    result = run("""
        import pytest
        kept = []
        @pytest.mark.plateau
        def test_below_the_limit(): kept.append(bytearray(200000))
    """, "--plateau-summary", "--junitxml=out.xml")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["level * 20? kB per call *, allowed 1 MB; 16 calls; under * could hide*"])
    found = xml.etree.ElementTree.parse(pytester.path / "out.xml").find(".//property[@name='plateau']")
    facts = json.loads(found.get("value"))
    assert facts["word"] == "level" and facts["allowed_bytes"] == 1000000 and facts["count"] == 16


def test_a_limit_below_what_can_be_seen_is_said(run):
    result = run("""
        import pytest
        @pytest.mark.plateau("10B")
        def test_level(): pass
    """)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*no growth was seen, but under * per call could hide in 16 calls; *"])


def test_installing_is_all_it_takes_and_an_option_takes_it_away(installed, pytester):
    assert (installed / "plateau.py").exists()
    pytester.makepyfile(test_it=LEAK)
    options = ("-p", "no:cacheprovider")
    pytester.runpytest_subprocess("--plateau-calls=16", *options).assert_outcomes(failed=1)
    pytester.runpytest_subprocess("-p", "no:plateau", *options).assert_outcomes(passed=1, warnings=1)
