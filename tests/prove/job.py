# SPDX-License-Identifier: Apache-2.0
"""Training jobs with a known fate of their memory, for `plateau prove`: every fault in every kind of loop.

    python job.py --fault cache --loop trainer --workers 2 --batch 8 ...

The job knows nothing of Plateau. Models are tiny and weights drawn, so that a step takes milliseconds. What each fault
is, and what must be proved of it, stands in FAULTS.
"""
import argparse
import functools
import gc
import os
import random
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler  # noqa: E402

WIDTH = 32

# fault: what `prove` must say.
FAULTS = {
    "none": "level",
    "noise": "level",         # Temporary arrays of random sizes.
    "ring": "level",          # The last eight outputs are kept.
    "small-lru": "level",     # A cache of 64 examples that evicts.
    "cycles": "level",        # Garbage in cycles, with the collector on.
    "lengths": "level",       # Sequences of any length.
    "eval": "level",          # An evaluation over another loader every ten steps.
    "cache": "per-example",   # A dict of decoded tensors.
    "lru": "per-example",     # functools.lru_cache without a bound.
    "lazy": "per-example",    # Objects that keep what they decode.
    "text": "per-example",    # Many small Python objects per example.
    "sizes": "per-example",   # A cache whose entries differ eightfold in size.
    "model-cache": "per-example",  # The model keeps features by example.
    "losses": "per-step",     # Losses kept with their graph.
    "outputs": "per-step",    # Outputs kept.
    "call": "per-step",       # The dataset keeps something per call.
    "log": "per-step",        # A log of small Python objects per step.
    "no-gc": "per-step",      # Garbage in cycles, with the collector off.
    "eval-keeps": "per-step",  # Each evaluation keeps its predictions.
    "both": "per-step",       # A cache and a leak.
    "small-leak": "per-step",  # A twentieth of a megabyte per step.
}


class Lazy:
    """Decodes itself when first asked, and keeps that."""

    def __init__(self):
        self.pixels = None

    def decode(self, floats):
        if self.pixels is None:
            self.pixels = torch.rand(floats)
        return self.pixels


class Node:
    def __init__(self, floats):
        self.me = self
        self.data = torch.ones(floats)


class Examples(Dataset):
    def __init__(self, options):
        self.options = options
        self.kept = {}
        self.calls = []
        self.lazy = [Lazy() for _ in range(options.examples)]
        self.floats = int(options.mb * 250_000 / options.batch)  # Of one example; --mb is per batch.
        if options.fault in ("lru", "small-lru"):  # Which cannot be pickled, for workers that are spawned.
            self.load = functools.lru_cache(maxsize=None if options.fault == "lru" else 64)(self._decode)

    def _decode(self, index):
        return torch.full((self.floats,), float(index))

    def __len__(self):
        return self.options.examples

    def __getitem__(self, index):
        fault = self.options.fault
        if fault in ("cache", "both") and index not in self.kept:
            self.kept[index] = self._decode(index)
        elif fault == "sizes" and index not in self.kept:
            self.kept[index] = torch.ones(int(self.floats * random.Random(index).uniform(0.25, 2)))
        elif fault in ("lru", "small-lru"):
            self.load(index)
        elif fault == "lazy":
            self.lazy[index].decode(self.floats)
        elif fault == "text" and index not in self.kept:
            self.kept[index] = ["word %d of %d" % (i, index) for i in range(self.floats // 20)]
        elif fault == "call":
            self.calls.append(self._decode(index))
        if fault == "noise":
            torch.ones(random.randrange(1, 4 * self.floats + 2))
        return {"x": torch.randn(WIDTH), "index": index, "labels": index % 4}


class Stream(IterableDataset):
    def __init__(self, examples):
        self.examples = examples

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        return (self.examples[i] for i in range(first, len(self.examples), step))


class Grouped(Sampler):
    """A batch sampler of the user's own."""

    def __init__(self, examples, batch):
        self.examples, self.batch = examples, batch

    def __len__(self):
        return self.examples // self.batch

    def __iter__(self):
        order = list(range(self.examples))
        random.shuffle(order)
        return (order[i * self.batch:(i + 1) * self.batch] for i in range(len(self)))


class Model(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        self.options = options
        self.body = torch.nn.Sequential(torch.nn.Linear(WIDTH, options.hidden), torch.nn.ReLU(),
                                        torch.nn.Linear(options.hidden, 4))
        self.kept = []
        self.features = {}
        self.steps = 0
        self.floats = int(options.mb * 250_000)

    def forward(self, x, index=None, labels=None):
        scores = self.body(x)
        loss = torch.nn.functional.cross_entropy(scores, labels)
        if self.training:
            loss = self._keep(loss, index)
        return {"loss": loss, "logits": scores}

    def _keep(self, loss, index):
        fault = self.options.fault
        self.steps += 1
        if fault == "losses":
            weight = torch.ones(self.floats, requires_grad=True)
            loss = loss + (weight * 1e-9).exp().mean()
            self.kept.append(loss)
        elif fault in ("outputs", "both", "ring"):
            self.kept.append(torch.ones(self.floats))
            del self.kept[:-8 if fault == "ring" else 0]
        elif fault == "small-leak":
            self.kept.append(torch.ones(12_500))
        elif fault == "log":
            self.kept.append([{"step": self.steps, "i": i} for i in range(self.floats // 50)])
        elif fault in ("cycles", "no-gc"):
            Node(self.floats)
        elif fault == "lengths":
            torch.ones(random.randrange(1, 2 * self.floats + 2)).exp()
        elif fault == "model-cache":
            for each in index.tolist():
                if each not in self.features:
                    self.features[each] = torch.ones(self.floats // len(index))
        return loss


def loader_of(options, examples):
    common = {"num_workers": options.workers}
    if options.workers:
        common["persistent_workers"] = options.persistent
        common["multiprocessing_context"] = options.start
    if options.data == "stream":
        return DataLoader(Stream(examples), batch_size=options.batch, **common)
    if options.data == "grouped":
        return DataLoader(examples, batch_sampler=Grouped(len(examples), options.batch), **common)
    return DataLoader(examples, batch_size=options.batch, shuffle=True, drop_last=True,
                      generator=torch.Generator().manual_seed(1), **common)


EVAL_STEPS = 2  # Of the Trainer; so often that every block has some.


def evaluate(options, model):
    model.eval()
    held_out = DataLoader(torch.utils.data.TensorDataset(torch.randn(64, WIDTH)), batch_size=16)
    with torch.no_grad():
        for (x,) in held_out:
            model.body(x)
    if options.fault == "eval-keeps":
        model.kept.append(torch.ones(10 * model.floats))
    model.train()


def train_plain(options, model, examples):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    count = 0
    for _ in range(options.epochs):
        for batch in loader_of(options, examples):
            model(**batch)["loss"].backward()
            count += 1
            if count % options.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
            if options.fault.startswith("eval") and count % 10 == 0:
                evaluate(options, model)
            if options.save and count % 5 == 0:
                torch.save(model.state_dict(), options.save)


def train_accelerate(options, model, examples):
    from accelerate import Accelerator
    accelerator = Accelerator(gradient_accumulation_steps=options.accumulate, cpu=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader_of(options, examples))
    for _ in range(options.epochs):
        for batch in loader:
            with accelerator.accumulate(model):
                accelerator.backward(model(**batch)["loss"])
                optimizer.step()
                optimizer.zero_grad()


def train_trainer(options, model, examples):
    import transformers

    class Keeps(transformers.TrainerCallback):
        def on_evaluate(self, *_, **__):
            if options.fault == "eval-keeps":
                model.kept.append(torch.ones(EVAL_STEPS * model.floats))

    evaluates = {}
    if options.fault.startswith("eval"):
        evaluates = {"eval_strategy": "steps", "eval_steps": EVAL_STEPS}
    arguments = transformers.TrainingArguments(
        output_dir=options.out, use_cpu=True, per_device_train_batch_size=options.batch, report_to=[],
        gradient_accumulation_steps=options.accumulate, num_train_epochs=options.epochs, logging_steps=20,
        dataloader_num_workers=options.workers, save_strategy="steps", save_steps=15, disable_tqdm=True,
        remove_unused_columns=False, dataloader_persistent_workers=options.persistent and options.workers > 0,
        **evaluates)
    transformers.Trainer(model=model, args=arguments, train_dataset=examples, callbacks=[Keeps()],
                         eval_dataset=torch.utils.data.Subset(examples, range(16))).train()


def train_lightning(options, model, examples):
    import lightning.pytorch as lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, _):
            return self.model(**batch)["loss"]

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    lightning.Trainer(max_epochs=options.epochs, accumulate_grad_batches=options.accumulate, logger=False,
                      enable_progress_bar=False, accelerator="cpu", default_root_dir=options.out,
                      enable_model_summary=False).fit(Module(), loader_of(options, examples))


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=FAULTS, default="none")
    parser.add_argument("--loop", choices=["plain", "accelerate", "trainer", "lightning"], default="plain")
    parser.add_argument("--data", choices=["map", "grouped", "stream"], default="map")
    parser.add_argument("--start", choices=["fork", "spawn", "forkserver"], default="fork")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--mb", type=float, default=0.5, help="what the fault keeps per batch")
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--save", default="")
    parser.add_argument("--out", default=os.path.join(tempfile.gettempdir(), f"plateau-prove-{os.getpid()}"))
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if options.fault == "no-gc":
        gc.disable()
    model = Model(options)
    globals()["train_" + options.loop](options, model, Examples(options))


if __name__ == "__main__":
    main()
