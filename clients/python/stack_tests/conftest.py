# SPDX-License-Identifier: Apache-2.0
"""Tests of the pytest plugin by pytest's own pytester. They take the packages that users have
(tools/stack.sh); ctest runs each by itself."""
import os
import shutil
import subprocess
import sys

import pytest

CLIENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, CLIENT)
pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs a file of tests with the plugin in a process of its own, and gives its result. Few calls, and
    limits far from what is done: the tests are about the answer, not about the machine's noise."""
    monkeypatch.setenv("PYTHONPATH", CLIENT)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    def call(source, *options):
        pytester.makepyfile(test_it=source)
        return pytester.runpytest_subprocess(
            "-p", "plateau_pytest", "-p", "no:cacheprovider", "--plateau-calls=16", *options)

    return call


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The client as `pip install ./clients/python` leaves it, in a folder of its own on the path."""
    source = shutil.copytree(CLIENT, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__"))
    place = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
         "--no-deps", "--no-build-isolation", "--target", str(place), str(source)], check=True)
    monkeypatch.setenv("PYTHONPATH", str(place))
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    return place
