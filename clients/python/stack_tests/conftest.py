# SPDX-License-Identifier: Apache-2.0
"""Tests of the pytest plugin by pytest's own pytester. They take the packages that users have
(tools/stack.sh); ctest runs each by itself."""
import os
import shutil
import sys
import tomllib

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
    """The modules as the wheel leaves them, in a folder of its own on the path, with the entry points of its
    pyproject.toml."""
    place = tmp_path / "site"
    shutil.copytree(CLIENT, place, ignore=shutil.ignore_patterns("__pycache__", "stack_tests", "test_*"))
    with open(os.path.join(CLIENT, "..", "..", "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    about = place / f"{project['name'].replace('-', '_')}-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n")
    (about / "entry_points.txt").write_text("".join(
        f"[{group}]\n" + "".join(f"{name} = {module}\n" for name, module in points.items())
        for group, points in project["entry-points"].items()))
    monkeypatch.setenv("PYTHONPATH", str(place))
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    return place
