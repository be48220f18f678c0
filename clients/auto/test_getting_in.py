# SPDX-License-Identifier: Apache-2.0
"""How the module gets into an interpreter, and that nobody notices: start-up, the user's own sitecustomize, imports."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.abspath(os.environ.get("PLATEAU_PYTHON", "../../build/release/python"))
IS_IN = "import sys; print('plateau_auto' in sys.modules)"


class GettingInTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_python(self, *words, path=HERE, **environment):
        variables = dict(os.environ, PYTHONPATH=path, PLATEAU_SOCKET="/nowhere", PYTHONDONTWRITEBYTECODE="1")
        variables.update(environment)
        done = subprocess.run([sys.executable] + list(words), env=variables, cwd=self.directory, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout.strip()

    def test_it_is_in_every_interpreter_that_reads_the_path(self):
        self.write("job.py", IS_IN)
        self.assertEqual(self.run_python("-c", IS_IN), "True")
        self.assertEqual(self.run_python("job.py"), "True")
        self.assertEqual(self.run_python("-m", "job"), "True")
        self.assertEqual(self.run_python("-s", "-c", IS_IN), "True")

    def test_interpreters_that_do_not_read_the_path_run_as_before(self):
        for option in ("-I", "-E", "-S"):
            self.assertEqual(self.run_python(option, "-c", IS_IN), "False", option)

    def test_without_a_watcher_or_when_switched_off_it_stays_out(self):
        self.assertEqual(self.run_python("-c", IS_IN, PLATEAU_SOCKET=""), "False")
        self.assertEqual(self.run_python("-c", IS_IN, PLATEAU_AUTO="0"), "False")

    def test_the_users_own_sitecustomize_runs_and_is_the_one_that_is_imported(self):
        self.write("own/sitecustomize.py", "import builtins\nbuiltins.mine = 42\n")
        said = self.run_python("-c", IS_IN + "; import sitecustomize; print(mine, sitecustomize.__file__)",
                               path=HERE + ":" + self.directory + "/own")
        self.assertEqual(said, "True\n42 " + self.directory + "/own/sitecustomize.py")

    def test_a_sitecustomize_of_the_users_that_fails_fails_as_without_us(self):
        self.write("own/sitecustomize.py", "raise ValueError('mine')\n")
        for path in (HERE + ":" + self.directory + "/own", self.directory + "/own"):
            done = subprocess.run([sys.executable, "-c", "print(1)"], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False,
                                  env=dict(os.environ, PYTHONPATH=path, PLATEAU_SOCKET="/nowhere"))
            self.assertEqual((done.stdout, done.returncode), ("1\n", 0))
            self.assertIn("ValueError: mine", done.stderr)

    def test_no_framework_and_little_else_is_imported(self):
        count = "import sys; print(sorted(m for m in sys.modules if m.split('.')[0] == 'plateau_auto'))"
        self.assertEqual(self.run_python("-c", count), "['plateau_auto', 'plateau_auto.finder']")

    def test_no_module_of_a_name_that_users_may_have_is_put_on_their_path(self):
        self.assertEqual(sorted(name for name in os.listdir(HERE) if name != "__pycache__"),
                         ["plateau_auto", "sitecustomize.py"])

    def test_a_patched_module_cannot_be_told_from_another(self):
        self.write("torch/__init__.py", "")
        self.write("torch/optim/__init__.py", "from torch.optim import optimizer")
        self.write("torch/optim/optimizer.py", "class Optimizer:\n    def _optimizer_step_code(self):\n        pass\n")
        said = self.run_python("-c", """
import importlib.machinery, sys, torch.optim.optimizer as module
kind = importlib.machinery.SourceFileLoader
print(type(module.__loader__) is kind, type(module.__spec__.loader) is kind)
print('plateau_auto.torch_steps' in sys.modules, module.Optimizer._optimizer_step_code.__name__)
""")
        self.assertEqual(said, "True True\nTrue _optimizer_step_code")

    def test_an_unknown_version_of_a_framework_imports_and_works(self):
        self.write("torch/__init__.py", "")
        self.write("torch/optim/__init__.py", "")
        self.write("torch/optim/optimizer.py", "VERSION = 9\n")
        self.assertEqual(self.run_python("-c", "import torch.optim.optimizer as m; print(m.VERSION)"), "9")

    def test_a_version_that_passes_more_arguments_keeps_its_own_functions(self):
        self.write("torch/__init__.py", "")
        self.write("torch/utils/__init__.py", "")
        self.write("torch/utils/data/__init__.py", "")
        self.write("torch/utils/data/dataloader.py", "\n".join((
            "class _BaseDataLoaderIter:",
            "    def __init__(self, loader): pass",
            "    def _next_index(self, ahead): return [ahead]",
            "    def __next__(self): return self._next_index(3)",
            "    def _reset(self, loader, first_iter=False): pass")))
        said = self.run_python("-c", "from torch.utils.data.dataloader import _BaseDataLoaderIter; "
                               "print(_BaseDataLoaderIter(1).__next__())")
        self.assertEqual(said, "[3]")

    def test_a_module_that_fails_to_import_fails_as_without_us(self):
        self.write("torch/__init__.py", "")
        self.write("torch/optim/__init__.py", "")
        self.write("torch/optim/optimizer.py", "raise ImportError('broken install')\n")
        said = self.run_python("-c", """
try:
    import torch.optim.optimizer
except ImportError as error:
    print(error)
""")
        self.assertEqual(said, "broken install")


if __name__ == "__main__":
    unittest.main()
