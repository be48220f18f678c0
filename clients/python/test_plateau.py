#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python client against real sockets and real processes.

HEAR_STEPS names the program clients/cpp/hear_steps.cc; with it, the words are also read back by
the watcher's own parser. ctest sets it.
"""
import gc
import itertools
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import plateau  # noqa: E402  pylint: disable=wrong-import-position

try:
    import torch
except ImportError:
    torch = None

LINE = re.compile(
    r"(run( (total_steps|examples|batch|epoch_steps)=[0-9.e+]+)+"
    r"|step [0-9]+( epoch=[0-9.e+-]+)?|(begin|end) [^ ]+|gauge [^ ]+ -?[0-9.]+(e[+-][0-9]+)?"
    r"|mark .+)")


class Watcher:
    """A datagram socket at `path`, read without waiting."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.setblocking(False)

    def lines(self):
        found = []
        while True:
            try:
                found += self.socket.recv(1 << 16).decode().split("\n")
            except BlockingIOError:
                return found

    def close(self):
        self.socket.close()
        os.unlink(self.path)


def without_gauges(lines):
    return [line for line in lines if not line.startswith("gauge ")]


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="steps", dir="/tmp")
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "s")
        for name in ("PLATEAU_SOCKET", "LOCAL_RANK"):
            kept = os.environ.pop(name, None)
            if kept is not None:
                self.addCleanup(os.environ.__setitem__, name, kept)

    def watch(self, path=None):
        watcher = Watcher(path or self.path)
        self.addCleanup(watcher.socket.close)
        return watcher

    def start(self, **options):
        client = plateau.start(socket_path=self.path, **options)
        self.addCleanup(client.close)
        return client


class PlainLoop(Case):
    def test_facts_steps_phases_and_marks_arrive_in_order(self):
        watcher = self.watch()
        p = self.start(total_steps=250, examples=663, batch=8)
        p.on_step_end(1, epoch=0.012)
        with p.evaluate():
            p.gauge("queue", 3)
        with p.save():
            pass
        p.mark("checkpoint")
        p.step()
        p.close()
        self.assertEqual(without_gauges(watcher.lines()), [
            "run total_steps=250 examples=663 batch=8",
            "run total_steps=250 examples=663 batch=8", "step 1 epoch=0.012", "begin eval",
            "end eval", "begin save", "end save", "mark checkpoint", "step 2"])

    def test_every_line_is_of_the_grammar(self):
        watcher = self.watch()
        p = self.start(batch=2.5, epoch_steps=0, census=True)
        for step in range(3):
            p.step(step)
        p.mark("two\nlines\x1b[31m and \udcff")
        p.mark("")
        p.gauge("a name with\tspaces", 1e-9)
        p.gauge("none", float("nan"))
        p.gauge("text", "no number")
        p.census()
        p.close()
        lines = watcher.lines()
        self.assertGreater(len(lines), 20)
        for line in lines:
            self.assertTrue(LINE.fullmatch(line), line)
        self.assertEqual(p.cost()["errors"], 2)

    def test_environment_names_the_sockets(self):
        first, second = self.watch(), self.watch(self.path + "2")
        os.environ["PLATEAU_SOCKET"] = "%s:%s" % (first.path, second.path)
        self.addCleanup(os.environ.pop, "PLATEAU_SOCKET")
        with plateau.start() as p:
            p.step()
        self.assertEqual(without_gauges(first.lines()), ["step 1"])
        self.assertEqual(without_gauges(second.lines()), ["step 1"])

    def test_memory_and_cost_come_every_n_steps(self):
        watcher = self.watch()
        p = self.start(every=4)
        by_step = []
        for _ in range(9):
            p.step()
            by_step.append([line.split()[1] for line in watcher.lines() if "gauge" in line])
        self.assertEqual([bool(names) for names in by_step],
                         [True, False, False, False, True, False, False, False, True])
        self.assertIn("ram.rss_mb", by_step[0])
        self.assertIn("ram.anon_mb", by_step[0])
        self.assertIn("gc.collections", by_step[0])
        self.assertIn("client.cost_us", by_step[4])

    def test_memory_is_that_of_this_process(self):
        gauges = dict(plateau._memory_gauges())
        before = gauges["ram.anon_mb"]
        block = bytearray(os.urandom(1 << 16)) * 1024
        after = dict(plateau._memory_gauges())["ram.anon_mb"]
        self.assertAlmostEqual(after - before, len(block) / 1e6, delta=10)

    def test_steps_wraps_an_iterable(self):
        watcher = self.watch()
        seen = []
        for item in plateau.steps("abc", socket_path=self.path, every=100):
            seen.append((item, without_gauges(watcher.lines())[-1:]))
        self.assertEqual(seen, [("a", ["run total_steps=3"]), ("b", ["step 1"]), ("c", ["step 2"])])
        self.assertEqual(without_gauges(watcher.lines()), ["step 3"])

    def test_facts_may_come_later(self):
        watcher = self.watch()
        p = self.start(batch=8)
        p.facts(total_steps=90)
        self.assertEqual(watcher.lines(), ["run batch=8", "run batch=8 total_steps=90"])

    def test_collection_is_never_started(self):
        self.watch()
        gc.disable()
        self.addCleanup(gc.enable)
        before = gc.get_stats()
        p = self.start(every=1, census=True)
        for _ in range(5):
            p.step()
        p.census()
        p.close()
        self.assertEqual([s["collections"] for s in gc.get_stats()],
                         [s["collections"] for s in before])

    def test_other_ranks_send_gauges_but_no_steps(self):
        watcher = self.watch()
        os.environ["LOCAL_RANK"] = "3"
        self.addCleanup(os.environ.pop, "LOCAL_RANK")
        p = self.start()
        p.step()
        names = {line.split()[0] for line in watcher.lines()}
        self.assertEqual(names, {"gauge"})

    def test_a_rank_with_a_watcher_of_its_own_says_steps(self):
        watcher = self.watch()
        os.environ.update(LOCAL_RANK="3", PLATEAU_OWN_RANK="1")
        self.addCleanup(os.environ.pop, "LOCAL_RANK")
        self.addCleanup(os.environ.pop, "PLATEAU_OWN_RANK")
        p = self.start()
        p.step()
        self.assertIn("step 1", watcher.lines())


class Trouble(Case):
    def test_no_watcher_makes_every_call_a_no_op(self):
        p = plateau.start(total_steps=3)
        for _ in range(3):
            p.step()
        with p.evaluate():
            p.mark("unheard")
        p.close()
        p.step()
        cost = p.cost()
        self.assertEqual((cost["steps"], cost["sent"], cost["lost"], cost["errors"]), (3, 0, 0, 0))

    def test_missing_socket_is_counted_and_silent(self):
        p = self.start()
        p.step()
        p.mark("unheard")
        self.assertEqual(p.cost()["sent"], 0)
        self.assertGreater(p.cost()["lost"], 1)
        self.assertEqual(p.cost()["errors"], 0)

    def test_nonsense_for_a_path_is_silent(self):
        for path in ("x" * 300, "a\0b", HERE):
            p = plateau.start(total_steps=3, socket_path=path)
            p.step()
            p.close()
            self.assertEqual(p.cost()["sent"], 0)

    def test_nonsense_for_arguments_is_silent(self):
        self.watch()
        p = self.start(total_steps="many", every=None)
        p.step("third")
        p.on_step_end(4, epoch="late")
        p.on_step_end(object())
        self.assertGreaterEqual(p.cost()["errors"], 3)

    def test_full_queue_does_not_block_and_keeps_events(self):
        watcher = self.watch()
        p = self.start(every=10 ** 9)
        # An alarm ends the test if a send waits for the watcher.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        self.addCleanup(signal.alarm, 0)
        while p.cost()["lost"] == 0:
            p.step()
        p.mark("checkpoint")
        p.begin("eval")
        for _ in range(100):
            p.step()
        watcher.lines()
        p.on_step_end(5000)
        self.assertEqual(watcher.lines(), ["mark checkpoint", "begin eval", "step 5000"])

    def test_events_that_wait_are_bounded(self):
        watcher = self.watch()
        p = self.start(every=10 ** 9)
        while p.cost()["lost"] == 0:
            p.step()
        for i in range(1000):
            p.mark("m%d" % i)
        watcher.lines()
        p.on_step_end(5000)
        self.assertEqual(len(watcher.lines()), 33)

    def test_watcher_that_restarts_hears_the_facts_again(self):
        first = self.watch()
        p = self.start(examples=663, every=10 ** 9)
        p.step()
        first.close()
        p.step()
        second = self.watch()
        p.step()
        p.step()
        self.assertEqual(second.lines(), ["run examples=663", "step 3", "step 4"])

    def test_forked_child_is_silent_and_may_start_its_own(self):
        watcher = self.watch()
        p = self.start()
        p.step()
        watcher.lines()
        child = os.fork()
        if child == 0:
            p.step()
            p.mark("worker")
            p.census()
            p.close()
            with plateau.start(socket_path=self.path, says_steps=False) as own:
                own.mark("own")
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(without_gauges(watcher.lines()), ["mark own"])
        p.step()
        self.assertEqual(without_gauges(watcher.lines()), ["step 2"])

    def test_fork_while_a_thread_speaks_does_not_hang(self):
        self.watch()
        p = self.start(every=10 ** 9)
        stop = threading.Event()

        def chatter():
            while not stop.is_set():
                p.gauge("g", 1)

        thread = threading.Thread(target=chatter)
        thread.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                p.step()
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        stop.set()
        thread.join()

    def test_signal_handler_may_speak(self):
        watcher = self.watch()
        p = self.start(every=10 ** 9)
        signal.signal(signal.SIGUSR1, lambda *_: p.mark("signal"))
        self.addCleanup(signal.signal, signal.SIGUSR1, signal.SIG_DFL)
        with p._lock:  # As if the signal came in the middle of a send.
            os.kill(os.getpid(), signal.SIGUSR1)
        self.assertEqual(watcher.lines(), ["mark signal"])

    def test_interrupt_of_the_user_passes_through(self):
        p = self.start()
        with self.assertRaises(KeyboardInterrupt):
            with p.evaluate():
                raise KeyboardInterrupt


class Thing:
    def __init__(self):
        self.other = self


class Census(Case):
    def test_type_that_grows_is_counted_and_stays_in(self):
        p = self.start()
        p.census()
        kept = [Thing() for _ in range(500)]
        counts = p.census()
        name = "objects.%s.Thing" % __name__
        self.assertEqual(counts[name], len(kept))
        kept += [Thing() for _ in range(500)]
        self.assertEqual(p.census()[name], 1000)

    def test_number_of_gauges_is_bounded(self):
        kinds = [type("Kind%d" % i, (), {"__slots__": ("a",)}) for i in range(200)]
        p = self.start()
        p.census()
        kept = [kind() for kind in kinds for _ in range(50)]
        counts = p.census()
        self.assertGreater(len(kept), 0)
        self.assertLessEqual(len(counts), plateau._MAX_GAUGES)

    def test_census_by_itself_is_spaced_out(self):
        # given a clock that ticks whenever it is looked at, so that a census takes one tick
        ticks = itertools.count()
        real = plateau.time
        plateau.time = types.SimpleNamespace(perf_counter=lambda: next(ticks))
        self.addCleanup(setattr, plateau, "time", real)
        watcher = self.watch()
        p = self.start(every=1, census=True)
        # when
        at = []
        while p.cost()["steps"] < 150:
            p.step()
            if any("gauge gc.objects" in line for line in watcher.lines()):
                at.append(next(ticks))
        # then at least 99 ticks pass before the next one
        self.assertGreaterEqual(len(at), 3)
        self.assertGreaterEqual(min(b - a for a, b in zip(at, at[1:])), 99)

    def test_allocator_is_asked_where_it_can_be(self):
        if plateau._mallinfo() is None:
            self.skipTest("this C library has no mallinfo")
        before = dict(plateau._allocator_gauges())
        block = bytearray(64 << 20)
        after = dict(plateau._allocator_gauges())
        grown = after["malloc.in_use_mb"] - before["malloc.in_use_mb"]
        self.assertAlmostEqual(grown, len(block) / 1e6, delta=1)

    def test_torch_is_not_imported_for_it(self):
        code = ("import sys; sys.path.insert(0, %r); import plateau; p = plateau.start();"
                "p.census(); p.close(); print([m for m in ('torch', 'transformers', 'lightning')"
                " if m in sys.modules])" % HERE)
        out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                             text=True)
        self.assertEqual(out.stdout.strip(), "[]")

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_tensors_are_counted_once_per_storage(self):
        p = self.start()
        before = p.census()
        base = torch.zeros(1000, 1000, dtype=torch.float32)
        views = [base[i] for i in range(10)]
        after = p.census()
        self.assertEqual(after["tensors.cpu"] - before.get("tensors.cpu", 0), 1 + len(views))
        self.assertEqual(after["tensors.cpu.bytes"] - before.get("tensors.cpu.bytes", 0), 4000000)
        self.assertEqual(after["tensors.cpu.float32.1000x1000"], 1)
        self.assertEqual(after["tensors.cpu.float32.1000"], 10)

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_odd_tensors_do_not_stop_the_count(self):
        kept = [torch.zeros(3, 3).to_sparse(), torch.zeros(2, device="meta"),
                torch.nn.Parameter(torch.zeros(5, dtype=torch.float16)), torch.tensor(1)]
        counts = self.start().census()
        self.assertGreaterEqual(counts["tensors"], len(kept))
        self.assertGreaterEqual(counts["tensors.meta"], 1)


class HandWrittenTrainer:
    """Calls a transformers callback as Trainer's CallbackHandler.call_event does: positionally
    args, state, control, then keywords. transformers itself is not at hand."""

    def __init__(self, callback):
        self.callback = callback
        self.args = types.SimpleNamespace(train_batch_size=2, gradient_accumulation_steps=4,
                                          world_size=1, max_steps=-1)
        self.state = types.SimpleNamespace(global_step=0, epoch=0.0, max_steps=4,
                                           is_local_process_zero=True)
        self.loader = types.SimpleNamespace(dataset=range(16))

    def event(self, name, **extra):
        hook = getattr(self.callback, name, None)
        if hook is not None:
            hook(self.args, self.state, types.SimpleNamespace(), model=None, processing_class=None,
                 optimizer=None, lr_scheduler=None, train_dataloader=self.loader,
                 eval_dataloader=None, **extra)

    def train(self):
        self.event("on_train_begin")
        for epoch in range(2):
            self.event("on_epoch_begin")
            for step in range(2):
                self.event("on_step_begin")
                for _ in range(3):
                    self.event("on_substep_end")
                self.state.global_step += 1
                self.state.epoch = epoch + (step + 1) / 2
                self.event("on_step_end")
            self.event("on_epoch_end")
            for _ in range(2):
                self.event("on_prediction_step")
            self.event("on_evaluate", metrics={"eval_loss": 1.0})
            self.event("on_save")
        self.event("on_train_end")


class Callbacks(Case):
    def test_hugging_face_order_of_events(self):
        watcher = self.watch()
        callback = plateau.TrainerCallback(every=10 ** 9)
        os.environ["PLATEAU_SOCKET"] = self.path
        self.addCleanup(os.environ.pop, "PLATEAU_SOCKET")
        epoch = ["mark epoch", "begin eval", "end eval", "mark checkpoint"]
        trainer = HandWrittenTrainer(callback)
        # The queue holds few datagrams, so it is read as the training goes on.
        heard = []
        inner = trainer.event

        def event(name, **extra):
            inner(name, **extra)
            heard.extend(without_gauges(watcher.lines()))

        trainer.event = event
        trainer.train()
        facts = "run total_steps=4 examples=16 batch=8"
        self.assertEqual(heard, [facts, facts, "step 1 epoch=0.5", "step 2 epoch=1"] + epoch +
                         ["step 3 epoch=1.5", "step 4 epoch=2"] + epoch)

    def test_hugging_face_stream_without_length(self):
        watcher = self.watch()
        os.environ["PLATEAU_SOCKET"] = self.path
        self.addCleanup(os.environ.pop, "PLATEAU_SOCKET")
        trainer = HandWrittenTrainer(plateau.TrainerCallback(total_steps=9))
        trainer.loader = types.SimpleNamespace(dataset=iter([1, 2]))
        trainer.event("on_train_begin")
        self.assertEqual(watcher.lines(), ["run total_steps=9 batch=8"])
        trainer.event("on_train_end")

    def test_evaluation_outside_of_training_is_ignored(self):
        trainer = HandWrittenTrainer(plateau.TrainerCallback())
        trainer.event("on_prediction_step")
        trainer.event("on_evaluate", metrics={})
        trainer.event("on_train_end")

    def test_trainer_with_other_attributes_is_not_disturbed(self):
        trainer = HandWrittenTrainer(plateau.TrainerCallback())
        trainer.args = trainer.state = types.SimpleNamespace()
        trainer.train = None
        for name in ("on_train_begin", "on_step_end", "on_evaluate", "on_train_end"):
            trainer.event(name)

    def test_lightning_order_of_events(self):
        watcher = self.watch()
        os.environ["PLATEAU_SOCKET"] = self.path
        self.addCleanup(os.environ.pop, "PLATEAU_SOCKET")
        callback = plateau.LightningCallback(every=10 ** 9)
        trainer = types.SimpleNamespace(
            global_step=0, current_epoch=0, max_steps=-1, max_epochs=1, num_training_batches=4,
            accumulate_grad_batches=2, world_size=1, local_rank=0, sanity_checking=True,
            train_dataloader=types.SimpleNamespace(dataset=range(12), batch_size=3))
        callback.on_validation_start(trainer, None)  # The sanity check, before training starts.
        callback.on_validation_end(trainer, None)
        callback.on_train_start(trainer, None)
        for index in range(4):
            trainer.global_step = (index + 1) // 2
            callback.on_train_batch_end(trainer, None, None, None, index)
        first = without_gauges(watcher.lines())
        callback.on_validation_start(trainer, None)
        callback.on_validation_end(trainer, None)
        callback.on_save_checkpoint(trainer, None, {})
        callback.on_train_epoch_end(trainer, None)
        callback.on_train_end(trainer, None)
        facts = "run total_steps=2 examples=12 batch=6 epoch_steps=2"
        self.assertEqual(first, [facts, facts, "step 0 epoch=0.25", "step 1 epoch=0.5",
                                 "step 2 epoch=1"])
        self.assertEqual(without_gauges(watcher.lines()),
                         ["begin eval", "end eval", "mark checkpoint", "mark epoch"])

    def test_base_class_is_that_of_the_framework(self):
        code = ("import sys, types; sys.path.insert(0, %r)\n"
                "class Base:\n"
                "    def on_log(self, *a, **k): return 'log'\n"
                "for name, cls in (('transformers', 'TrainerCallback'),"
                " ('pytorch_lightning', 'Callback')):\n"
                "    sys.modules[name] = types.ModuleType(name)\n"
                "    setattr(sys.modules[name], cls, Base)\n"
                "import plateau\n"
                "from plateau import TrainerCallback, LightningCallback\n"
                "print(issubclass(TrainerCallback, Base), issubclass(LightningCallback, Base),"
                " TrainerCallback().on_log())" % HERE)
        out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                             text=True)
        self.assertEqual(out.stdout.split(), ["True", "True", "log"])

    def test_callback_can_be_pickled_while_training(self):
        self.watch()
        os.environ["PLATEAU_SOCKET"] = self.path
        self.addCleanup(os.environ.pop, "PLATEAU_SOCKET")
        trainer = HandWrittenTrainer(plateau.TrainerCallback(every=7))
        trainer.event("on_train_begin")
        copy = pickle.loads(pickle.dumps(trainer.callback))
        self.assertEqual(copy._options["every"], 7)
        self.assertIsNone(copy._client)
        trainer.event("on_train_end")


class Program(Case):
    def test_help_teaches(self):
        out = subprocess.run([sys.executable, os.path.join(HERE, "plateau.py"), "--help"],
                             check=True, capture_output=True, text=True)
        self.assertIn("plateau.start(", out.stdout)
        self.assertIn("gc.objects", out.stdout)

    @unittest.skipUnless(os.environ.get("HEAR_STEPS"), "HEAR_STEPS is not set")
    def test_watcher_understands_every_word(self):
        with subprocess.Popen([os.environ["HEAR_STEPS"]], stdout=subprocess.PIPE,
                              text=True) as watcher:
            path = watcher.stdout.readline().strip()
            p = plateau.start(socket_path=path, total_steps=250, examples=663, batch=8)
            p.on_step_end(120, epoch=1.45)
            with p.evaluate():
                p.gauge("queue length", 3.5)
            p.census()
            p.mark("bye")
            heard = watcher.stdout.read().splitlines()
        me = str(os.getpid())
        self.assertEqual(watcher.returncode, 0)
        self.assertEqual(heard[0], me + " run 250 663 8 0")
        self.assertIn(me + " step 120 1.45", heard)
        self.assertIn(me + " begin eval", heard)
        self.assertIn(me + " gauge queue_length 3.5", heard)
        self.assertEqual(heard[-1], "malformed 0")
        self.assertTrue(all(line.startswith(me + " ") for line in heard[:-1]))


if __name__ == "__main__":
    print("torch: %s" % (torch.__version__ if torch else "not installed, its tests are skipped"))
    unittest.main()
