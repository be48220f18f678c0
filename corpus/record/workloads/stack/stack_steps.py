# SPDX-License-Identifier: Apache-2.0
"""What the workloads on the Python machine-learning stack share: steps, and quiet libraries.

Import this before any library: it sets what they read from the environment. The protocol is that of
../steps.py, but nothing is held or allocated on top: all that moves is what the libraries do.
"""
import logging
import os
import pathlib
import sys
import tempfile
import warnings

# One thread each, as the recorder shares the machine; no network; caches in the trace's own folder.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1",
                  TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1", JAX_PLATFORMS="cpu",
                  HF_DATASETS_DISABLE_PROGRESS_BARS="1", TF_CPP_MIN_LOG_LEVEL="3",
                  HF_HOME=os.path.join(tempfile.gettempdir(), "hf"), PYTHONWARNINGS="ignore",
                  XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

# The folder is on the path for this one import only: its files have names that a library may use.
WORKLOADS = str(pathlib.Path(__file__).resolve().parent.parent)
sys.path.insert(0, WORKLOADS)
from steps import MIB, Job  # noqa: E402
sys.path[:] = [path for path in sys.path if path != WORKLOADS]


class StackJob(Job):
    """A job without the made-up noise of the other workloads.

    The process ends at once with the last step: how a library shuts down is no part of a trace, and
    workers that nobody closes would take seconds.
    """

    def __init__(self, **defaults):
        super().__init__(**({"model_mb": 0, "pace_ms": 2.0, "mode": ""} | defaults))

    def __iter__(self):
        yield from super().__iter__()
        os._exit(0)

    def train(self):
        """Does nothing: the libraries waver by themselves."""


class Driven:
    """Steps of a loop that a framework owns: it calls back, where a workload would iterate.

    A step is sampled when the next one begins or, with an event, while the framework still holds
    what it evaluates; whichever comes first.
    """

    def __init__(self, job):
        self.job, self.steps = job, iter(job)
        self.step = next(self.steps)
        self.waiting = False

    def trained(self):
        """Notes that a training step is over."""
        self.waiting = True

    def report(self, event=""):
        """Has the step that is over sampled, unless it already was."""
        if self.waiting:
            self.waiting = False
            self.job.event = event
            self.step = next(self.steps)
