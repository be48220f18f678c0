# SPDX-License-Identifier: Apache-2.0
"""Tests that fail when memory grows: a plugin for pytest.

    @pytest.mark.plateau(max_growth="1MB", per="call", warmup=5)
    def test_a_request_leaves_nothing_behind(server):
        server.handle(request())

The test is called once, as always. If it passes, it is called again in the same process until it is
known whether a call leaves memory behind (plateau_in_tests/growth.py says how), and fails if that is more
than `max_growth`, with the container that grew and the line that allocates. Fixtures are set up once;
what a test asserts must hold on every call, and its own failure wins.

For loops, with the fixture:

    def test_training_is_level(plateau):
        with plateau.growth(max="1MB", per="step") as loop:
            for batch in batches:
                train(batch)
                loop.step()

    def test_parse(plateau):
        plateau.check(lambda: parse(TEXT), calls=50, max_growth="10kB")

`pip install ./clients/python` is all that it takes. `-p no:plateau` takes it away, `--plateau` asks
for every test. Reference: docs/testing.md.
"""
import pytest

if getattr(pytest, "version_tuple", (0,)) >= (7, 4):
    from plateau_in_tests.plugin import (  # noqa: F401  pylint: disable=unused-import
        Plateau, plateau, pytest_addoption, pytest_configure, pytest_runtest_call,
        pytest_terminal_summary)
    from plateau_in_tests.words import PlateauWarning  # noqa: F401
else:
    # Installed beside an older pytest it must not break the tests that are there.
    def pytest_configure(config):
        config.addinivalue_line("markers", "plateau: not checked, it takes pytest 7.4 or newer")
