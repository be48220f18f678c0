#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the module says of Keras, JAX with optax, fastai, DeepSpeed, grain and orbax, on the real packages, and that the last
loss is the same to the bit without it.

    PLATEAU_PYTHON=build/release/python $(tools/stack.sh) tests/stack/frameworks.py

Keras and optax are in tools/stack.txt. The others are heavy and are skipped where they are not installed;
tools/stack_more.sh makes a virtual environment that has them, on top of the first, and runs this in it.
"""
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

OURS = os.path.abspath(os.environ.get("PLATEAU_PYTHON", "build/release/python"))
# Steps this far apart are all said.
PAUSE_S = 0.06

KERAS = """
import numpy, time
import KERAS as keras
keras.utils.set_random_seed(1)
x = numpy.random.rand(52, 4).astype("float32")
y = x.sum(1)
class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(PAUSE_S)
def some():
    for i in range(5):
        yield x[i:i + 4], y[i:i + 4]
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, batch_size=8, epochs=2, verbose=0, validation_data=(x[:20], y[:20]), callbacks=[
    Slow(), keras.callbacks.ModelCheckpoint("model.weights.h5", save_weights_only=True)])
print(repr(model.fit(some(), epochs=1, verbose=0, callbacks=[Slow()]).history["loss"]))
"""

JAX = """
import jax, optax, numpy, sys, time
import jax.numpy as jnp
x = numpy.random.default_rng(1).normal(size=(32, 4)).astype("float32")
transform = optax.adam(0.01)
weights = {"w": jnp.zeros(4)}
state = transform.init(weights)
def step(weights, state, batch):
    loss, grads = jax.value_and_grad(lambda w: jnp.mean((batch @ w["w"] - batch.sum(1)) ** 2))(weights)
    updates, state = transform.update(grads, state)
    return optax.apply_updates(weights, updates), state, loss
evaluate = jax.jit(lambda w, batch: jnp.mean((batch @ w["w"]) ** 2))
after = lambda number: None
held_out = []
LOADER
for epoch in range(2):
    for number, batch in enumerate(loader, 1):
        weights, state, loss = step(weights, state, batch)
        time.sleep(PAUSE_S)
        after(epoch * 8 + number)
    for batch in held_out:
        evaluate(weights, batch)
print(repr(float(loss)))
"""
LOADERS = {
    "eager": "loader = x.reshape(8, 4, 4)",
    "torch": """
import torch.utils.data
step = jax.jit(step)
class Rows(list): pass
loader = torch.utils.data.DataLoader(Rows(x), batch_size=4, collate_fn=numpy.stack)
held_out = torch.utils.data.DataLoader(Rows(x[:8]), batch_size=4, collate_fn=numpy.stack)
""",
    "grain": """
import grain.python as grain
step = jax.jit(step)
order = grain.IndexSampler(32, shard_options=grain.NoSharding(), shuffle=True, num_epochs=1, seed=1)
loader = grain.DataLoader(data_source=list(x), sampler=order, operations=[grain.Batch(4)], worker_count=0)
""",
    "orbax": """
import orbax.checkpoint, os
step = jax.jit(step)
loader = x.reshape(8, 4, 4)
manager = orbax.checkpoint.CheckpointManager(
    os.getcwd() + "/saved", options=orbax.checkpoint.CheckpointManagerOptions(save_interval_steps=10))
after = lambda number: manager.save(number, args=orbax.checkpoint.args.StandardSave(weights))
""",
}

FASTAI = """
import torch, time, random
from fastai.callback.core import Callback
from fastai.callback.training import GradientAccumulation
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.learner import Learner
torch.manual_seed(1)
random.seed(1)
x = torch.randn(32, 4)
class Slow(Callback):
    def after_step(self):
        time.sleep(PAUSE_S)
class Rows:
    def __len__(self): return 32
    def __getitem__(self, i): return x[i], x[i].sum(0, keepdim=True)
loaders = DataLoaders(DataLoader(Rows(), bs=4, shuffle=True, num_workers=0), DataLoader(Rows(), bs=4, num_workers=0))
learner = Learner(loaders, torch.nn.Linear(4, 1), loss_func=torch.nn.MSELoss(), cbs=[Slow(), GradientAccumulation(8)])
with learner.no_bar(), learner.no_logging():
    learner.fit(2, 0.01)
print(repr(learner.model.weight.tolist()))
"""

DEEPSPEED = """
import os, time
os.environ.update(DS_ACCELERATOR="cpu", MASTER_ADDR="127.0.0.1", MASTER_PORT="29577", RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
import torch, deepspeed
torch.manual_seed(1)
x = torch.randn(32, 4)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
engine, _, loader, _ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), training_data=torch.utils.data.TensorDataset(x), config={
        "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 2, "bf16": {"enabled": True},
        "zero_optimization": {"stage": 2}, "zero_allow_untested_optimizer": True,
        "optimizer": {"type": "Adam", "params": {"lr": 0.01, "torch_adam": True}}})
for _ in range(2):
    for batch, in loader:
        loss = engine(batch.bfloat16()).pow(2).mean()
        engine.backward(loss)
        engine.step()
        time.sleep(PAUSE_S / 2)
engine.save_checkpoint("saved")
print(repr(loss.item()))
"""


def needs(*packages):
    missing = [package for package in packages if not importlib.util.find_spec(package)]
    return unittest.skipIf(missing, ", ".join(missing) + " not installed")


class FrameworksTest(unittest.TestCase):
    def run_job(self, text, **environment):
        """The last line that it prints with the module; what was said goes to self.lines."""
        directory = tempfile.mkdtemp()
        path = directory + "/steps"
        self.lines = []
        heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        heard.bind(path)

        def read():
            while True:
                data = heard.recv(65536)
                if data == b"end":
                    return
                self.lines += [line[:-len(" from=auto")] for line in data.decode().split("\n")
                               if line.endswith(" from=auto")]

        reader = threading.Thread(target=read)
        reader.start()
        last = {}
        for with_module in (True, False):
            variables = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **environment)
            variables["PYTHONPATH"] = OURS if with_module else ""
            variables["PLATEAU_SOCKET"] = path if with_module else ""
            done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", textwrap.dedent(text).replace(
                "PAUSE_S", str(PAUSE_S if with_module else 0))], env=variables, cwd=tempfile.mkdtemp(), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if done.returncode:
                break
            last[with_module] = done.stdout.strip().split("\n")[-1]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b"end", path)
        reader.join()
        heard.close()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(last[True], last[False], "the module has changed the result")

    def said(self, *beginnings):
        return [line for line in self.lines if line.startswith(beginnings) and line != "run"]

    def expect_two_epochs_of_keras(self, facts):
        """7 batches of 8, twice, then a generator of 5."""
        self.assertEqual(self.said("step")[13], "step 14 epoch=2")
        self.assertEqual(self.said("step")[-1], "step 19")
        self.assertEqual(self.said("run")[0], facts)
        self.assertIn("run epoch_steps=5 source=", self.said("run")[-1])
        events = self.said("begin eval", "end eval", "mark epoch", "mark checkpoint")
        self.assertEqual([word.split(maxsplit=1)[1] for word in events if "checkpoint" not in word],
                         ["eval", "eval", "epoch", "eval", "eval", "epoch", "epoch"])

    @needs("keras")
    def test_keras_on_torch(self):
        self.run_job(KERAS.replace("KERAS", "keras"), KERAS_BACKEND="torch")
        self.expect_two_epochs_of_keras(
            "run batch=8 epoch_steps=7 examples=52 total_steps=14 source=Keras:_52_examples_/_8_per_step")
        self.assertEqual(self.said("mark checkpoint"), ["mark checkpoint"] * 2)

    @needs("keras", "jax")
    def test_keras_on_jax(self):
        self.run_job(KERAS.replace("KERAS", "keras"), KERAS_BACKEND="jax")
        self.expect_two_epochs_of_keras(
            "run batch=8 epoch_steps=7 examples=52 total_steps=14 source=Keras:_52_examples_/_8_per_step")
        self.assertTrue(self.said("gauge jax.compilations"))

    @needs("tensorflow")
    def test_keras_on_tensorflow(self):
        self.run_job(KERAS.replace("KERAS", "keras"), KERAS_BACKEND="tensorflow")
        self.expect_two_epochs_of_keras(
            "run batch=8 epoch_steps=7 examples=52 total_steps=14 source=Keras:_52_examples_/_8_per_step")

    @needs("tf_keras")
    def test_keras_2_in_tensorflow(self):
        self.run_job(KERAS.replace("KERAS", "tf_keras"))
        self.expect_two_epochs_of_keras("run epoch_steps=7 total_steps=14 source=Keras:_7_batches")

    @needs("optax")
    def test_jax_that_is_not_compiled(self):
        self.run_job(JAX.replace("LOADER", LOADERS["eager"]))
        self.assertEqual(self.said("step")[-1], "step 16")

    @needs("optax")
    def test_compiled_jax_is_clocked_by_the_loader_that_was_read_when_it_was_traced(self):
        self.run_job(JAX.replace("LOADER", LOADERS["torch"]))
        self.assertEqual(self.said("step")[-1], "step 16 epoch=2")
        self.assertEqual(self.said("run")[0], "run batch=4 epoch_steps=8 examples=32 "
                         "source=the_DataLoader:_32_examples_/_4_per_step")
        self.assertEqual(self.said("mark e", "begin", "end"),
                         ["mark epoch", "mark eval", "mark epoch", "begin eval", "end eval"])

    @needs("optax", "grain")
    def test_compiled_jax_is_clocked_by_grain(self):
        self.run_job(JAX.replace("LOADER", LOADERS["grain"]))
        self.assertEqual(self.said("step")[-1].split()[1], "16")
        self.assertEqual(self.said("run")[0], "run epoch_steps=8 source=the_first_end_of_the_stream")

    @needs("optax", "orbax")
    def test_compiled_jax_that_shows_its_steps_to_orbax_only(self):
        self.run_job(JAX.replace("LOADER", LOADERS["orbax"]))
        self.assertEqual(self.said("step")[-1], "step 16")
        self.assertEqual(self.said("mark ch"), ["mark checkpoint"] * 2)

    @needs("fastai")
    def test_fastai_with_accumulation(self):
        self.run_job(FASTAI)
        self.assertEqual(self.said("step")[-1], "step 8 epoch=2")
        self.assertEqual(self.said("run")[0], "run batch=8 epoch_steps=4 examples=32 total_steps=8 "
                         "source=the_DataLoader:_32_examples_/_8_per_step")
        self.assertEqual(self.said("gauge examples")[3], "gauge examples.seen 32")
        self.assertEqual(self.said("mark", "begin", "end"), ["mark epoch", "begin eval", "end eval"] * 2)

    @needs("deepspeed")
    def test_deepspeed_with_zero_and_accumulation(self):
        self.run_job(DEEPSPEED)
        self.assertEqual(self.said("step")[-1].split()[1], "16")
        self.assertEqual(self.said("run")[0], "run batch=4 epoch_steps=8 examples=32 "
                         "source=the_DataLoader:_32_examples_/_4_per_step")
        self.assertEqual(self.said("mark"), ["mark epoch", "mark epoch", "mark checkpoint"])


if __name__ == "__main__":
    unittest.main()
