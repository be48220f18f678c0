# SPDX-License-Identifier: Apache-2.0
"""The rules by which steps, epochs and evaluations are put together, on loops that are played by hand. The real
frameworks are in tests/stack/."""
import os
import random
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.environ.get("PLATEAU_PYTHON", "../../build/release/python"))

from plateau_auto import guard, voice  # noqa: E402
from plateau_auto.loop import Loop  # noqa: E402


class Examples:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count


class Loader:
    """What the module looks at on a DataLoader."""

    def __init__(self, examples, batch, workers=0, persistent=False, stream=False):
        self.dataset = Examples(examples)
        self.batch = batch
        self.num_workers = workers
        self.persistent_workers = persistent
        self._dataset_kind = 1 if stream else 0
        self._index_sampler = range(-(-examples // batch))

    def batches(self):
        indices = list(range(self.dataset.count))
        return [indices[i:i + self.batch] for i in range(0, len(indices), self.batch)]


class Iterator:
    pass


class LoopTest(unittest.TestCase):
    def setUp(self):
        path = tempfile.mkdtemp() + "/steps"
        self.watcher = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.watcher.close)
        self.watcher.bind(path)
        self.watcher.settimeout(0)
        os.environ["PLATEAU_SOCKET"] = path
        voice.forget()
        self.lines = []
        voice.get().gap_s = 0
        self.addCleanup(setattr, voice, "_GAPS", voice._GAPS)
        voice._GAPS = 1e9  # Each step is said, however slow this machine is.
        self.loop = Loop()

    def heard(self, beginning):
        try:
            while True:
                self.lines += self.watcher.recv(65536).decode().split("\n")
        except BlockingIOError:
            pass
        return [line[:-len(" from=auto")] for line in self.lines if line.startswith(beginning)]

    def play(self, loader, optimizers=("one",), accumulation=1, ahead=0, after_batch=lambda n: None, last=False,
             until=None, quiet=False):
        """One pass; every `accumulation` batches each of `optimizers` steps, with `last` at its end too. `ahead`:
        batches drawn early. `until`: batches after which the loop breaks off. `quiet`: without gradients."""
        iterator = Iterator()
        self.loop.opened(iterator, loader, quiet)
        batches = loader.batches()
        for number in range(len(batches) + ahead):
            if number < len(batches):
                iterator._plateau_pass.draw(batches[number])
            if number < ahead:
                continue
            self.loop.consumed(iterator._plateau_pass)
            done = number - ahead + 1
            if optimizers and (done % accumulation == 0 or last and done == len(batches)):
                for optimizer in optimizers:
                    self.loop.stepped(optimizer)
                self.heard("step")  # So that the queue does not fill.
            after_batch(number)
            if done == until:
                return
        self.loop.ended(iterator)

    def test_a_step_per_batch_and_the_epoch_from_the_sampler(self):
        self.play(Loader(30, 4))
        self.assertEqual(self.heard("step")[-1], "step 8 epoch=1")
        self.assertEqual(self.heard("run"), [
            "run batch=4 epoch_steps=8 examples=30 source=the_DataLoader:_30_examples_/_4_per_step"])
        self.assertEqual(self.heard("mark"), ["mark epoch"])

    def test_accumulation_is_observed(self):
        self.play(Loader(32, 2), accumulation=4)
        self.assertEqual(self.heard("step")[-1], "step 4 epoch=1")
        self.assertIn("run batch=8 epoch_steps=4 examples=32", self.heard("run")[0])

    def test_two_optimizers_on_one_batch_are_one_step(self):
        self.play(Loader(12, 2), optimizers=("generator", "critic"))
        self.assertEqual(self.heard("step")[-1], "step 6 epoch=1")

    def test_one_optimizer_twice_on_one_batch_is_two_steps(self):
        self.play(Loader(12, 2), optimizers=("one", "one"))
        self.assertEqual(self.heard("step")[-1].split()[1], "12")

    def test_an_epoch_of_several_steps_on_each_batch_has_that_many_more(self):
        for times in (2, 3, 7):
            self.play(Loader(40, 2), optimizers=("one",) * times)
            self.assertEqual(self.heard("run")[-1], "run batch=2 epoch_steps=%d examples=40 "
                             "source=the_DataLoader:_20_batches_x_%d_steps_each" % (20 * times, times))
            self.loop = Loop()
            voice.forget()
            voice.get().gap_s = 0

    def test_batches_that_are_loaded_a_few_ahead_make_no_several_steps(self):
        for ahead in (2, 4, 10):
            iterator = Iterator()
            self.loop.opened(iterator, Loader(400, 2))
            for _ in range(200 // ahead):
                for _ in range(ahead):
                    self.loop.consumed(iterator._plateau_pass)
                for _ in range(ahead):
                    self.loop.stepped("one")
            self.assertNotIn("steps_each", str(self.heard("run")))

    def test_a_pass_without_a_step_is_an_evaluation(self):
        train, held_out = Loader(8, 2), Loader(4, 2)
        self.play(train)
        self.play(held_out, optimizers=())
        self.play(train)
        self.assertEqual(self.heard("mark"), ["mark epoch", "mark eval", "mark epoch"])
        self.play(held_out, optimizers=())
        self.assertEqual(self.heard("begin") + self.heard("end"), ["begin eval", "end eval"])

    def test_an_evaluation_within_a_pass_does_not_become_the_training(self):
        held_out = Loader(100, 2)
        self.play(Loader(20, 2), after_batch=lambda n: n == 4 and self.play(held_out, optimizers=()))
        self.assertEqual(self.heard("step")[-1], "step 10 epoch=1")
        self.assertEqual(self.heard("mark"), ["mark eval", "mark epoch"])

    def test_an_evaluation_on_the_training_data_does_not_make_the_next_pass_one(self):
        train = Loader(24, 2)
        again = Loader(24, 8)
        again.dataset = train.dataset
        for _ in range(3):
            self.play(train)
            self.play(again, optimizers=())
        self.play(train)
        self.assertEqual([line for line in self.heard("") if not line.startswith(("gauge", "run", "step"))],
                         ["mark epoch", "mark eval"] * 3 + ["mark epoch"])

    def test_an_evaluation_without_gradients_is_known_at_its_first_batch_and_may_be_broken_off(self):
        train, held_out = Loader(24, 2), Loader(400, 2)
        same = Loader(24, 2)
        same.dataset = train.dataset

        def evaluate(number):
            if number == 4:
                self.play(held_out, optimizers=(), until=3, quiet=True)
                self.play(same, optimizers=(), until=2, quiet=True)

        for _ in range(2):
            self.play(train, after_batch=evaluate)
        self.assertEqual(self.heard("step")[-1], "step 24 epoch=2")
        self.assertEqual([line for line in self.heard("") if line.startswith(("begin", "end", "mark"))],
                         ["begin eval", "end eval", "mark epoch"] * 2)
        self.assertIn("run batch=2 epoch_steps=12 examples=24", self.heard("run")[-1])

    def test_a_loop_that_opens_its_passes_without_gradients_trains_all_the_same(self):
        for _ in range(3):
            self.play(Loader(12, 2), quiet=True)
        self.assertEqual(self.heard("step")[-1], "step 18 epoch=3")
        self.assertEqual(self.heard("mark"), ["mark epoch"] * 3)
        self.assertEqual(self.heard("begin"), [])

    def test_data_that_get_the_place_of_evaluated_ones_are_trained_on(self):
        train, held_out = Loader(24, 2), Loader(8, 2)
        self.play(train)
        self.play(held_out, optimizers=())
        self.play(held_out)  # A new dataset of the same id: folds are made anew.
        self.play(held_out)
        begun = [line for line in self.heard("") if line.startswith(("begin", "end", "mark"))]
        self.assertEqual(begun, ["mark epoch", "mark eval", "begin eval", "end eval", "mark epoch", "mark epoch"])

    def test_a_sampler_without_an_end_is_as_long_as_its_loader_says(self):
        class Endless(Loader):
            def __len__(self):
                return 10

        loader = Endless(20, 2)
        loader._index_sampler = iter(())
        self.play(loader)
        self.assertIn("run batch=2 epoch_steps=10 examples=20", self.heard("run")[0])
        self.assertEqual(self.heard("step")[-1], "step 10 epoch=1")

    def test_new_examples_are_counted_once(self):
        loader = Loader(20, 2)
        self.play(loader, ahead=3)
        self.play(loader)
        gauges = self.heard("gauge examples.seen")
        self.assertEqual(gauges[0], "gauge examples.seen 8")  # Drawn ahead: three batches and one.
        self.assertEqual(gauges[9], "gauge examples.seen 20")
        self.assertEqual(gauges[-1], "gauge examples.seen 20")

    def test_an_example_is_new_to_each_worker_that_lives_on(self):
        loader = Loader(20, 2, workers=2, persistent=True)
        self.play(loader)
        loader.batches = lambda: [[18, 19]] + Loader(18, 2).batches()  # The other worker gets each.
        self.play(loader)
        self.assertEqual(self.heard("gauge examples.seen")[-1], "gauge examples.seen 40")
        self.assertEqual(self.heard("gauge examples.to_see")[-1], "gauge examples.to_see 40")

    def test_data_of_several_kinds_are_counted_together(self):
        before, after = Loader(20, 2), Loader(32, 2)
        self.play(Loader(400, 2), optimizers=())  # An evaluation counts for nothing.
        self.play(before)
        self.play(after)
        self.assertEqual(self.heard("gauge examples.seen")[-1], "gauge examples.seen 52")
        self.assertEqual(self.heard("gauge examples.to_see")[-1], "gauge examples.to_see 52")
        self.play(before)
        self.assertEqual(self.heard("gauge examples.seen")[-1], "gauge examples.seen 52")

    def test_data_that_are_made_anew_for_each_pass_are_counted_anew(self):
        for _ in range(3):
            self.play(Loader(20, 2))
            self.assertEqual(self.heard("gauge examples.seen")[-1], "gauge examples.seen 20")
        self.play(Loader(24, 2))
        self.assertEqual(self.heard("gauge examples.seen")[-1], "gauge examples.seen 44")

    def test_shards_of_one_size_are_told_by_their_paths(self):
        for path in ("shard-0", "shard-1", "shard-2"):
            shard = Loader(20, 2)
            shard.dataset.path = path
            self.play(shard)
        self.assertEqual(self.heard("gauge examples.seen")[-1], "gauge examples.seen 60")

    def test_what_a_pass_drew_before_it_was_left_counts_as_seen(self):
        voice.get().gap_s = 1e9  # A word at the first step alone, as steps of a millisecond have it.
        loader = Loader(20, 2)
        self.play(loader, until=10)
        loader.batches = lambda: [[0, 1]] * 4
        self.play(loader, until=4)
        voice.get().flush()
        self.assertEqual(self.heard("gauge examples.seen"), ["gauge examples.seen 2", "gauge examples.seen 20"])

    def test_a_stream_has_a_length_after_its_first_end(self):
        loader = Loader(20, 2, stream=True)
        self.play(loader)
        self.assertEqual(self.heard("run"), ["run epoch_steps=10 source=the_first_end_of_the_stream"])

    def test_the_end_of_a_stream_that_is_loaded_ahead_is_not_taken_for_the_last_step(self):
        iterator = Iterator()
        self.loop.opened(iterator, Loader(20, 2, stream=True))
        for number in range(10):
            self.loop.consumed(iterator._plateau_pass)
            if number:
                self.loop.stepped("one")
        self.loop.ended(iterator)
        self.loop.stepped("one")
        self.assertEqual(self.heard("run"), ["run epoch_steps=10 source=the_first_end_of_the_stream"])

    def test_a_pass_that_ends_in_a_step_of_fewer_batches_is_rounded_up(self):
        loader = Loader(24, 2)  # 12 batches: steps after 5, 10 and 12.
        for _ in range(2):
            self.play(loader, accumulation=5, last=True)
        self.assertIn("epoch_steps=2.4", self.heard("run")[0])
        self.assertEqual(self.heard("run")[-1], "run epoch_steps=3 source=the_DataLoader:_24_examples_/_10_per_step")

    def test_passes_that_are_broken_off_count_as_far_as_they_went(self):
        loader = Loader(24, 4)
        for _ in range(3):
            self.play(loader, until=3)
        self.assertEqual(self.heard("step")[-1], "step 9 epoch=1.5")

    def test_loaders_that_take_turns_make_one_epoch(self):
        iterators = []
        loaders = Loader(40, 2), Loader(120, 2), Loader(80, 2)
        for loader in loaders:
            iterator = Iterator()
            self.loop.opened(iterator, loader)
            iterators += [(iterator, iter(loader.batches()))] * len(loader.batches())
        random.Random(1).shuffle(iterators)
        for iterator, batches in iterators:
            iterator._plateau_pass.draw(next(batches))
            self.loop.consumed(iterator._plateau_pass)
            self.loop.stepped("one")
            self.heard("step")
        self.assertEqual(self.heard("step")[59], "step 60 epoch=0.5")
        self.assertEqual(self.heard("step")[-1], "step 120 epoch=1")
        self.assertIn("epoch_steps=120 examples=240 source=3_DataLoaders_that_take_turns:_120_batches",
                      self.heard("run")[-1])
        self.assertEqual(self.heard("gauge examples.seen")[-1], "gauge examples.seen 240")
        self.assertEqual(self.heard("mark"), [])

    def test_a_compiled_update_is_clocked_by_batches_until_a_step_is_seen(self):
        loader = Loader(24, 4)
        compiled = []

        def after(_):
            if not compiled:
                compiled.append(self.loop.update_compiled())

        self.play(loader, optimizers=(), after_batch=after)
        self.assertEqual(self.heard("step")[-1], "step 6 epoch=1")
        self.play(loader)
        self.assertEqual(self.heard("step")[-1], "step 12 epoch=2")

    def test_a_compiled_update_is_clocked_by_data_that_are_made_anew_for_each_pass(self):
        self.play(Loader(24, 4), optimizers=(), until=1, after_batch=lambda _: self.loop.update_compiled())
        for quiet in (False, False, True):
            self.play(Loader(24, 4), optimizers=(), quiet=quiet, after_batch=lambda _: self.heard("step"))
        self.assertEqual(self.heard("step")[-1].split()[1], "12")

    def test_a_second_optimizer_after_many_usual_steps_makes_none_of_its_own(self):
        loader = Loader(24, 2)
        self.play(loader)
        self.play(loader, optimizers=("one", "other"))
        self.play(loader)
        self.assertEqual(self.heard("step")[-1], "step 36 epoch=3")

    def test_a_framework_that_counts_outranks_the_optimizer(self):
        self.loop.adopt("framework")
        self.play(Loader(20, 2))
        self.assertEqual(self.heard("step"), [])
        self.loop.framework_step(7, 0.5, accumulation=2, total_steps=70, rounds_up=True)
        self.assertEqual(self.heard("step"), ["step 7 epoch=0.5"])
        self.assertIn("total_steps=70", self.heard("run")[0])

    def test_a_second_training_counts_on(self):
        for _ in range(2):
            self.loop.adopt("framework")
            for number in (1, 2, 3):
                self.loop.framework_step(number)
            self.loop.release()
        self.assertEqual(self.heard("step"), ["step %d" % n for n in (1, 2, 3, 4, 5, 6)])

    def test_a_training_that_goes_on_from_a_checkpoint_counts_on_from_there(self):
        for begins_at in (4, 8):  # The first was begun by another process.
            self.loop.adopt("framework", begins_at=begins_at)
            for number in (1, 2, 3, 4):
                self.loop.framework_step(begins_at + number)
                self.heard("step")  # Steps of no length at all are not all said.
            self.loop.release()
        self.assertEqual(self.heard("step"), ["step %d" % n for n in (5, 6, 7, 8, 9, 10, 11, 12)])

    def test_files_between_two_steps_are_one_checkpoint(self):
        self.play(Loader(8, 2), after_batch=lambda n: [self.loop.saved() for _ in range(n)])
        self.assertEqual(self.heard("mark checkpoint"), ["mark checkpoint"] * 3)

    def test_a_hook_that_fails_three_times_is_switched_off_and_said(self):
        calls = []

        def broken():
            calls.append(1)
            raise KeyError("a word of the user's data")

        hook = guard.hook("the test", broken)
        for _ in range(9):
            hook()
        self.assertEqual(len(calls), 3)
        self.assertEqual(self.heard("mark"),
                         ["mark plateau's module switched off the test: KeyError"])

    def test_what_a_version_lacks_is_named_with_the_line_of_ours_that_asks_for_it(self):
        from plateau_auto import torch_data

        class Lacking:
            pass

        try:
            torch_data.patch(Lacking)
        except AttributeError as error:
            guard.complain("does not know this torch", error)
        (said,) = self.heard("mark")
        missing = " _BaseDataLoaderIter" if sys.version_info >= (3, 10) else ""
        self.assertRegex(said, r"^mark plateau's module does not know this torch: AttributeError%s at torch_data.py:\d+$" % missing)

    def test_a_forked_child_is_silent_until_it_trains(self):
        self.play(Loader(8, 2))
        said = len(self.heard(""))
        child = os.fork()
        if child == 0:
            voice.get().flush()
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(len(self.heard("")), said)


    def test_a_process_of_several_says_which_it_is(self):
        variables = {"RANK": "0", "WORLD_SIZE": "4", "LOCAL_RANK": "0"}
        os.environ.update(variables)
        self.addCleanup(lambda: [os.environ.pop(name) for name in variables])
        self.play(Loader(12, 2))
        self.assertIn("run rank=0 world=4 source=torchrun", self.heard("run"))
        self.assertIn("run batch=8 epoch_steps=6 examples=12 source=the_DataLoader:_6_batches", self.heard("run"))

    def test_a_rank_that_was_told_so_after_torch_was_imported_leaves_steps_to_the_first(self):
        self.assertTrue(voice.get().client)  # It was made before, as when a spawned process imports its main module.
        for variables in ({"LOCAL_RANK": "1"}, {"MASTER_ADDR": "127.0.0.1"}):
            variables.update(RANK="1", WORLD_SIZE="2")
            os.environ.update(variables)
            self.play(Loader(12, 2))
            for name in variables:
                os.environ.pop(name)
            self.assertIn("run rank=1 world=2 source=torchrun", self.heard("run"))
            self.assertEqual(self.heard("step") + self.heard("mark"), [])
            voice.forget()
            voice.get().gap_s = 0
            self.loop = Loop()

    def test_one_process_says_no_rank_and_an_impossible_one_is_not_believed(self):
        self.addCleanup(lambda: [os.environ.pop(name) for name in ("RANK", "WORLD_SIZE")])
        for rank, world in (("0", "1"), ("4", "4"), ("x", "2")):
            os.environ.update(RANK=rank, WORLD_SIZE=world)
            self.play(Loader(12, 2))
            self.assertEqual([line for line in self.heard("run") if "rank" in line], [])
            voice.forget()
            voice.get().gap_s = 0

    def test_no_socket_is_left_open_for_python_to_warn_of(self):
        job = """
import os, sys, warnings
from plateau_auto import voice
import plateau_auto.loop
voice.get()
if os.fork() == 0:
    sys.exit()  # With all that Python does at its end.
os.wait()
"""
        done = subprocess.run([sys.executable, "-X", "dev", "-c", job], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False,
                              env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(voice.__file__))))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
