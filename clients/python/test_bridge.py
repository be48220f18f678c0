# SPDX-License-Identifier: Apache-2.0
"""The companion of `plateau run --wandb`, with a package that stands in for wandb; the real ones are for
tests/e2e/curves-reach-wandb-and-mlflow.sh."""
import os
import subprocess
import sys
import tempfile
import unittest

BRIDGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plateau_bridge.py")
WANDB = """
class Settings:
    def __init__(self, **_): pass
class Run:
    name, url, dir, summary = "run", None, ".", {}
    def define_metric(self, *_, **__): pass
    def log(self, values): print(values["step"], file=open("logged", "a"))
    def finish(self): print("end", file=open("logged", "a"))
def init(**_): return Run()
"""
POINTS = """{"time": 1, "step": 1, "values": {"memory/main_mb": 5}}
{"time": 2, "step": 2, "values": {"memory/main_mb": 6}}
"""


class BridgeTest(unittest.TestCase):
    def test_points_reach_the_service_after_the_watcher_has_left(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "wandb.py"), "w", encoding="utf-8") as file:
                file.write(WANDB)
            nobody, words = os.pipe()
            os.close(nobody)
            done = subprocess.run([sys.executable, "-B", BRIDGE, "wandb", "name"], input=POINTS, text=True, stdout=words,
                                  stderr=subprocess.PIPE, check=False, cwd=directory,
                                  env=dict(os.environ, PYTHONPATH=directory))
            os.close(words)
            with open(os.path.join(directory, "logged"), encoding="utf-8") as file:
                logged = file.read().split()
        self.assertEqual(logged, ["1", "2", "end"])
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
