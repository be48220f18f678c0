#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the module says of loops of many kinds, on the real packages: two optimizers, a GradScaler that skips, LBFGS,
streams, workers of every kind, compiled models, evaluations and checkpoints of Trainer, Lightning and accelerate, two ranks.

    PLATEAU_PYTHON=build/release/python $(tools/stack.sh) tests/stack/kinds.py

All but the last run in one interpreter, which forgets what it knows in between. With an older torch and without the
other packages (Debian's python3-torch) what needs them is skipped.
"""
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

sys.path.insert(0, os.environ.get("PLATEAU_PYTHON", "build/release/python"))
warnings.filterwarnings("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
STEPS_PATH = tempfile.mkdtemp() + "/steps"
os.environ["PLATEAU_SOCKET"] = STEPS_PATH

import plateau_auto  # noqa: E402

plateau_auto.start()

import torch  # noqa: E402
from plateau_auto import voice  # noqa: E402
from plateau_auto.loop import LOOP  # noqa: E402
from torch.utils.data import DataLoader, IterableDataset, TensorDataset  # noqa: E402

torch.set_num_threads(1)
# The reader is a thread of this very interpreter and may be late. A job never waits for its watcher and loses a step
# instead; here every step counts, so the sender waits (see setUp).
socket.MSG_DONTWAIT = 0


def needs(package):
    return unittest.skipUnless(importlib.util.find_spec(package), package + " is not installed")


class Watcher:
    """Reads along, as the watcher does: the kernel queues ten datagrams only."""

    def __init__(self, path):
        self.lines = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(path)
        self._path = path
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        while True:
            data = self._socket.recv(65536)
            if data == b"end":
                return
            self.lines += data.decode().split("\n")

    def end(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"end", self._path)
        self._thread.join()
        self._socket.close()
        os.unlink(self._path)
        return self.lines


class KindsTest(unittest.TestCase):
    def setUp(self):
        LOOP.start_anew()
        voice.forget()
        self.watcher = Watcher(STEPS_PATH)
        voice.get().gap_s = 0
        voice.get().client._socket.setblocking(True)
        torch.manual_seed(1)
        self.model = torch.nn.Linear(4, 1)
        self.examples = TensorDataset(torch.randn(24, 4))

    def said(self):
        """What was said, without its mark: [steps, facts, events]."""
        voice.get().flush()
        target = voice.get().client._targets[0]
        while target.kept:  # What found the queue full goes with the next word.
            voice.get().client.say([])
            time.sleep(0.01)
        lines = [line[:-len(" from=auto")] for line in self.watcher.end() if line.endswith(" from=auto")]
        return ([line for line in lines if line.startswith("step")],
                [line for line in lines if line.startswith("run ") and len(line) > 4],
                [line for line in lines if line.startswith(("begin", "end", "mark"))])

    def train(self, loader, step, epochs=1):
        for _ in range(epochs):
            for batch in loader:
                loss = self.model(batch[0] if isinstance(batch, (list, tuple)) else batch).pow(2).mean()
                step(loss)

    def sgd(self, loss):
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def test_every_kind_of_optimizer_of_torch(self):
        for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop):
            self.optimizer = kind(self.model.parameters(), lr=0.01)
            self.train(DataLoader(self.examples, batch_size=4), self.sgd)
        steps, facts, events = self.said()
        self.assertEqual(steps[-1].split()[1], "24")
        self.assertIn("epoch_steps=6", facts[0])
        self.assertEqual(events, ["mark epoch"] * 4)

    def test_a_gan_steps_once_per_batch(self):
        critic = torch.nn.Linear(4, 1)
        both = [torch.optim.SGD(part.parameters(), lr=0.01) for part in (self.model, critic)]

        def step(loss):
            loss.backward()
            for optimizer in both:
                optimizer.step()

        self.train(DataLoader(self.examples, batch_size=4), step)
        self.assertEqual(self.said()[0][-1], "step 6 epoch=1")

    def test_lbfgs_steps_once_however_often_it_looks(self):
        optimizer = torch.optim.LBFGS(self.model.parameters(), max_iter=4)
        for (batch,) in DataLoader(self.examples, batch_size=4):
            def closure(batch=batch):
                optimizer.zero_grad()
                loss = self.model(batch).pow(2).mean()
                loss.backward()
                return loss
            optimizer.step(closure)
        self.assertEqual(self.said()[0][-1], "step 6 epoch=1")

    @unittest.skipUnless(hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"), "needs torch 2.3")
    def test_a_step_that_the_scaler_skips_was_an_attempt(self):
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        for number, (batch,) in enumerate(DataLoader(self.examples, batch_size=4)):
            loss = self.model(batch).pow(2).mean() * (float("inf") if number == 2 else 1.0)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        self.assertEqual(self.said()[0][-1], "step 6 epoch=1")

    def test_a_step_that_raises_does_not_stop_the_clock(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        raising = []

        def step(loss):
            if len(raising) < 2:
                raising.append(1)

                def closure():
                    raise ValueError("mine")

                with self.assertRaises(ValueError):
                    self.optimizer.step(closure)
                return
            self.sgd(loss)

        self.train(DataLoader(self.examples, batch_size=4), step)
        self.assertEqual(self.said()[0][-1].split()[1], "4")

    def test_a_stream_is_not_asked_for_its_length(self):
        class Stream(IterableDataset):
            def __iter__(self):
                return iter(torch.randn(12, 4))

            def __len__(self):
                raise AssertionError("asked")

        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.train(DataLoader(Stream(), batch_size=4), self.sgd, epochs=2)
        steps, facts, events = self.said()
        self.assertEqual(steps[-1].split()[1], "6")
        self.assertEqual(facts[0], "run epoch_steps=3 source=the_first_end_of_the_stream")
        self.assertEqual(events, ["mark epoch"] * 2)

    def test_workers_of_every_kind(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        for options in ({}, {"persistent_workers": True}, {"multiprocessing_context": "spawn"}):
            self.train(DataLoader(self.examples, batch_size=4, num_workers=2, **options), self.sgd, epochs=2)
        steps, facts, events = self.said()
        self.assertEqual(steps[-1].split()[:3], ["step", "36", "epoch=6"])
        self.assertIn("epoch_steps=6", facts[0])
        self.assertEqual(events, ["mark epoch"] * 6)

    def test_a_loop_of_its_own_that_evaluates_and_saves(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        held_out = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4)
        with tempfile.TemporaryDirectory() as directory:
            for epoch in range(2):
                self.train(DataLoader(self.examples, batch_size=4, shuffle=True), self.sgd)
                with torch.no_grad():
                    for (batch,) in held_out:
                        self.model(batch)
                torch.save(self.model.state_dict(), os.path.join(directory, "model.pt"))
                torch.save(self.optimizer.state_dict(), os.path.join(directory, "optimizer.pt"))
        self.assertEqual(self.said()[2], ["mark epoch", "begin eval", "end eval", "mark checkpoint"] * 2)

    def test_an_evaluation_that_is_broken_off_has_ended_with_the_next_batch_of_training(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        for number, (batch,) in enumerate(DataLoader(self.examples, batch_size=2, shuffle=True), 1):
            self.sgd(self.model(batch).pow(2).mean())
            if number == 6:
                with torch.inference_mode():
                    for (held_out,), _ in zip(DataLoader(self.examples, batch_size=2), range(3)):
                        self.model(held_out)
        steps, facts, events = self.said()
        self.assertEqual(steps[-1], "step 12 epoch=1")
        self.assertEqual(len(facts), 1)
        self.assertIn("run batch=2 epoch_steps=12 examples=24", facts[0])
        self.assertEqual(events, ["begin eval", "end eval", "mark epoch"])

    def test_a_loader_that_never_ends_says_how_long_a_pass_is(self):
        class Repeat:
            def __init__(self, batches):
                self.batches = batches

            def __iter__(self):
                while True:
                    yield from self.batches

        class Endless(DataLoader):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                object.__setattr__(self, "batch_sampler", Repeat(self.batch_sampler))
                self.iterator = super().__iter__()

            def __len__(self):
                return len(self.batch_sampler.batches)

            def __iter__(self):
                return (next(self.iterator) for _ in range(len(self)))

        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.train(Endless(self.examples, batch_size=4), self.sgd, epochs=2)
        steps, facts, _ = self.said()
        self.assertEqual(steps[-1], "step 12 epoch=2")
        self.assertIn("epoch_steps=6", facts[0])

    @unittest.skipUnless(hasattr(torch, "compile"), "needs torch 2")
    def test_compilations_are_marked(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        whole = self.model
        loader = DataLoader(self.examples, batch_size=4)
        self.train(loader, self.sgd)
        self.model = torch.compile(whole, backend="eager")
        self.train(loader, self.sgd)
        steps, _, events = self.said()
        self.assertIn("begin compile", events)
        self.assertIn("end compile", events)
        self.assertEqual(steps[-1].split()[1], "12")

    @unittest.skipUnless(hasattr(torch, "compile"), "needs torch 2")
    def test_a_compiled_optimizer_is_clocked_by_the_batches_that_feed_it(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        update = torch.compile(lambda: self.optimizer.step(), backend="eager")  # pylint: disable=unnecessary-lambda

        def step(loss):
            loss.backward()
            update()
            self.optimizer.zero_grad()

        loader, held_out = DataLoader(self.examples, batch_size=4), DataLoader(self.examples.tensors[0], batch_size=8)
        for _ in range(2):
            self.train(loader, step)
            self.train(held_out, lambda loss: None)
        steps, facts, events = self.said()
        self.assertEqual(steps[-1], "step 12 epoch=2")
        self.assertIn("epoch_steps=6", facts[0])
        self.assertEqual([line for line in events if "compile" not in line],
                         ["mark epoch", "mark eval", "mark epoch", "begin eval", "end eval"])

    @needs("transformers")
    def test_a_trainer_that_evaluates_and_saves(self):
        import job
        from transformers import Trainer, TrainingArguments
        job.EXAMPLES = 32
        examples = job.Examples(False)
        with tempfile.TemporaryDirectory() as directory:
            Trainer(model=job.tiny_llama(), train_dataset=examples, eval_dataset=examples, args=TrainingArguments(
                output_dir=directory, num_train_epochs=2, per_device_train_batch_size=2,
                gradient_accumulation_steps=3, use_cpu=True, report_to=[], disable_tqdm=True, eval_strategy="steps",
                eval_steps=4, save_strategy="steps", save_steps=4, logging_strategy="no")).train()
        steps, facts, events = self.said()
        self.assertEqual(steps[-1], "step 12 epoch=2")
        self.assertIn("epoch_steps=6", facts[0])
        self.assertIn("total_steps=12", facts[0])
        self.assertEqual([events.count(line) for line in ("begin eval", "end eval", "mark checkpoint", "mark epoch")],
                         [3, 3, 3, 2])

    @needs("lightning")
    def test_lightning_that_validates_and_saves(self):
        import lightning

        class Module(lightning.LightningModule):
            def __init__(self, model):
                super().__init__()
                self.model = model

            def training_step(self, batch, _):
                return self.model(batch[0]).pow(2).mean()

            def validation_step(self, batch, _):
                self.model(batch[0])

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.01)

        with tempfile.TemporaryDirectory() as directory:
            lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False,
                              enable_model_summary=False, default_root_dir=directory).fit(
                Module(self.model), DataLoader(self.examples, batch_size=4),
                DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4))
        steps, facts, events = self.said()
        self.assertEqual(steps[-1].split()[1], "12")
        self.assertIn("epoch_steps=6", facts[0])
        self.assertEqual([events.count(line) for line in ("begin eval", "end eval", "mark checkpoint", "mark epoch")],
                         [2, 2, 2, 2])

    @needs("accelerate")
    def test_accelerate_rounds_up_at_the_end_of_a_pass(self):
        from accelerate import Accelerator
        accelerator = Accelerator(gradient_accumulation_steps=4, cpu=True)
        model, optimizer, loader = accelerator.prepare(
            self.model, torch.optim.SGD(self.model.parameters(), lr=0.01), DataLoader(self.examples, batch_size=4))
        for _ in range(2):
            for (batch,) in loader:
                with accelerator.accumulate(model):
                    accelerator.backward(model(batch).pow(2).mean())
                    optimizer.step()
                    optimizer.zero_grad()
        steps, facts, events = self.said()
        self.assertEqual(steps[-1].split()[1], "4")
        self.assertIn("epoch_steps=2", facts[0])
        self.assertEqual(events, ["mark epoch"] * 2)

    @unittest.skipUnless(torch.distributed.is_available(), "torch has no distributed")
    def test_of_two_ranks_one_speaks_for_both(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "two_ranks.py")
        variables = dict(os.environ, PYTHONPATH=os.environ.get("PLATEAU_PYTHON", "build/release/python"))
        subprocess.run([sys.executable, script], check=True, env=variables)
        steps, facts, events = self.said()
        self.assertEqual(steps[-1].split()[1], "6")
        self.assertTrue(any(line.startswith("run batch=4 epoch_steps=6 examples=24") for line in facts), facts)
        self.assertLessEqual({"run rank=%d world=2 source=torch.distributed" % rank for rank in (0, 1)}, set(facts))
        self.assertEqual(events, ["mark epoch"])


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    unittest.main(verbosity=1)
