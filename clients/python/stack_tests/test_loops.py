# SPDX-License-Identifier: Apache-2.0
"""The fixture: loops that a test runs itself, and functions that it hands over."""


def test_a_loop_that_keeps_fails_with_the_variable(run):
    result = run("""
        import pytest

        @pytest.mark.plateau("20kB", per="step")
        def test_marked(plateau):
            kept = []
            for number in range(40):
                kept.append(bytearray(200000))
                plateau.step()

        def test_block(plateau):
            kept = []
            with plateau.growth(max="20kB") as loop:
                for number in range(40):
                    loop.step()
            with plateau.growth(max="20kB") as loop:
                for number in range(40):
                    kept.append(bytearray(200000))
                    loop.step()
    """)
    result.assert_outcomes(failed=2)
    for name, first, line in (("test_marked", 3, 7), ("test_block", 10, 17)):
        result.stdout.fnmatch_lines([
            "memory grew by 20? kB per step over the last 35 of 40 steps; allowed: 20 kB per step",
            "  list `kept` in %s (test_it.py:%d) grew by 1 per step" % (name, first),
            "  200 kB per step from test_it.py:%d in %s: kept.append(bytearray(200000))" % (line, name)])
    result.stdout.no_fnmatch_line("*During handling*")


def test_a_loop_that_stops_growing_passes(run):
    run("""
        def test_cache(plateau):
            cache = {}
            with plateau.growth(max="20kB", warmup=3) as loop:
                for number in range(60):
                    cache[number % 20] = bytearray(200000)
                    loop.step()
            assert loop.steps == 60

        def test_in_all(plateau):
            kept = []
            with plateau.growth(max="100MB", per="test") as loop:
                for number in range(40):
                    kept.append(bytearray(200000))
                    loop.step()
    """).assert_outcomes(passed=2)


def test_an_exception_in_the_block_goes_first(run):
    result = run("""
        def test_wrong(plateau):
            kept = []
            with plateau.growth(max="20kB") as loop:
                for number in range(40):
                    kept.append(bytearray(200000))
                    loop.step()
                assert 1 == 2
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*assert 1 == 2"])
    result.stdout.no_fnmatch_line("*memory grew*")


def test_few_steps_are_a_warning_and_steps_without_a_mark_a_failure(run):
    result = run("""
        def test_short(plateau):
            with plateau.growth() as loop:
                loop.step()

        def test_unmarked(plateau):
            plateau.step()
    """)
    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines(["plateau.step() is for tests marked plateau(per=\"step\"); in others: *",
                                 "*cannot tell: 1 steps, and with warmup=5 it takes 17*"])


def test_a_function_is_checked_by_handing_it_over(run):
    result = run("""
        def test_level(plateau):
            growth = plateau.check(lambda: bytearray(200000), calls=20, max_growth="20kB")
            assert growth.word == "level" and growth.hidden < 20000

        def test_leak(plateau):
            held = []
            plateau.check(lambda: held.append(bytearray(200000)), calls=20, max_growth="20kB")
    """)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["  list `held` in test_leak (test_it.py:5) grew by 1 per call"])


def test_a_second_pass_that_comes_less_far_says_so(run):
    result = run("""
        runs = []

        def test_once(plateau):
            runs.append(1)
            assert len(runs) == 1, "may run once only"
            kept = []
            with plateau.growth(max="20kB") as loop:
                for number in range(40):
                    kept.append(bytearray(200000))
                    loop.step()
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["memory grew by 20? kB per step*", "  where: not known, the loop*"])


def test_off_runs_loops_and_functions_once(run):
    run("""
        import pytest

        @pytest.mark.plateau(per="step")
        def test_all(plateau, made=[]):
            plateau.step()
            with plateau.growth() as loop:
                loop.step()
            assert plateau.check(lambda: made.append(bytearray(200000))) is None
            assert len(made) == 1
    """, "--plateau-off").assert_outcomes(passed=1)
