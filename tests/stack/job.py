# SPDX-License-Identifier: Apache-2.0
"""A training job as users write them, which knows nothing of Plateau: one model, one dataset, five kinds of loops.

    python job.py --loop plain|trainer|sft|lightning|accelerate --fault none|leak|cache --workers 0|2|persistent
                  [--epochs 1.25] [--step-seconds 0.03] [--losses]

--fault leak keeps a tensor per step, cache one per example (in whichever process loads it). --workers 2 forks anew
in each epoch. --losses prints the losses bit by bit: they must not change with us there. The model is tiny, and a
step sleeps for a moment: what is watched is the loop.
"""
import argparse
import os
import sys
import time
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

EXAMPLES, BATCH, ACCUMULATION = 240, 2, 2  # 60 steps an epoch.
KEPT_BYTES = 1 << 20
STEP_S = 0.03
VOCABULARY, LENGTH = 64, 8


class Examples(Dataset):
    """Token ids, drawn once. With `caching` each example is kept decoded once it was loaded."""

    def __init__(self, caching):
        self.ids = torch.randint(0, VOCABULARY, (EXAMPLES, LENGTH))
        self.caching = caching
        self.decoded = {}

    def __len__(self):
        return EXAMPLES

    def __getitem__(self, index):
        if self.caching and index not in self.decoded:
            self.decoded[index] = torch.ones(KEPT_BYTES // 4 // (BATCH * ACCUMULATION))
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


class Fault:
    """Keeps something at every step, and every loss."""

    def __init__(self, leaking, step_s):
        self.leaking = leaking
        self.step_s = step_s
        self.started = None  # A file to make at every step.
        self.kept = []
        self.losses = []

    def step(self, loss):
        if self.started:
            open(self.started, "w").close()
        time.sleep(self.step_s / ACCUMULATION)
        self.losses.append(float(loss.detach()))
        if self.leaking:
            self.kept.append(torch.ones(KEPT_BYTES // 4 // ACCUMULATION))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(VOCABULARY, 16)
        self.head = torch.nn.Linear(16, VOCABULARY)

    def forward(self, input_ids, labels):
        scores = self.head(self.embed(input_ids))
        return torch.nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())


def loader_options(workers):
    if workers == "0":
        return {}
    return {"num_workers": 2, "persistent_workers": workers == "persistent"}


def steps_in(epochs):
    return int(epochs * EXAMPLES / (BATCH * ACCUMULATION))


def train_plain(options, examples, fault):
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(examples, batch_size=BATCH, shuffle=True, **loader_options(options.workers))
    left = steps_in(options.epochs)
    while left:
        for number, batch in enumerate(loader, 1):
            loss = model(**batch)
            (loss / ACCUMULATION).backward()
            fault.step(loss)
            if number % ACCUMULATION == 0:
                optimizer.step()
                optimizer.zero_grad()
                left -= 1
                if not left:
                    return


def train_accelerate(options, examples, fault):
    from accelerate import Accelerator
    accelerator = Accelerator(gradient_accumulation_steps=ACCUMULATION, cpu=True)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(examples, batch_size=BATCH, shuffle=True, **loader_options(options.workers))
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    left = steps_in(options.epochs)
    while left:
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(**batch)
                accelerator.backward(loss)
                fault.step(loss)
                optimizer.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                left -= 1
                if not left:
                    return


def train_lightning(options, examples, fault):
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()

        def training_step(self, batch, _):
            loss = self.model(**batch)
            fault.step(loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    loader = DataLoader(examples, batch_size=BATCH, shuffle=True, **loader_options(options.workers))
    trainer = lightning.Trainer(
        max_steps=steps_in(options.epochs), accumulate_grad_batches=ACCUMULATION, accelerator="cpu",
        logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False)
    trainer.fit(Module(), loader)


def tiny_llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32,
        bos_token_id=1, eos_token_id=2, pad_token_id=0))


def trainer_arguments(kind, options, **more):
    loading = loader_options(options.workers)
    return kind(
        output_dir=options.directory, max_steps=steps_in(options.epochs), use_cpu=True,
        per_device_train_batch_size=BATCH, gradient_accumulation_steps=ACCUMULATION,
        dataloader_num_workers=loading.get("num_workers", 0),
        dataloader_persistent_workers=loading.get("persistent_workers", False),
        report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True, **more)


def leaking_trainer(base, fault):
    class Leaking(base):
        def training_step(self, *args, **kwargs):
            loss = super().training_step(*args, **kwargs)
            fault.step(loss)
            return loss

    return Leaking


def train_trainer(options, examples, fault):
    from transformers import Trainer, TrainingArguments
    leaking_trainer(Trainer, fault)(
        model=tiny_llama(), args=trainer_arguments(TrainingArguments, options),
        train_dataset=examples).train()


def train_sft(options, examples, fault):
    """TRL tokenises and packs for itself; it is handed token ids in a datasets.Dataset whose transform caches."""
    import datasets
    import tokenizers
    from transformers import PreTrainedTokenizerFast
    from trl import SFTConfig, SFTTrainer
    words = {"word%d" % i: i for i in range(3, VOCABULARY)}
    words.update({"<pad>": 0, "<s>": 1, "</s>": 2})
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<pad>")),
        pad_token="<pad>", bos_token="<s>", eos_token="</s>")

    class Caching(SFTTrainer):
        def get_train_dataloader(self):
            rows = self.train_dataset

            class Rows(Dataset):
                def __len__(self):
                    return len(rows)

                def __getitem__(self, index):
                    examples[index]  # pylint: disable=pointless-statement
                    return rows[index]

            self.train_dataset = Rows()
            try:
                return super().get_train_dataloader()
            finally:
                self.train_dataset = rows

    rows = datasets.Dataset.from_dict({"input_ids": examples.ids.tolist()})
    arguments = trainer_arguments(SFTConfig, options, max_length=LENGTH)
    leaking_trainer(Caching, fault)(
        model=tiny_llama(), args=arguments, train_dataset=rows, processing_class=tokenizer).train()


LOOPS = {"plain": train_plain, "trainer": train_trainer, "sft": train_sft,
         "lightning": train_lightning, "accelerate": train_accelerate}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loop", choices=sorted(LOOPS), default="plain")
    parser.add_argument("--fault", choices=("none", "leak", "cache"), default="none")
    parser.add_argument("--workers", choices=("0", "2", "persistent"), default="0")
    parser.add_argument("--epochs", type=float, default=1.25)
    parser.add_argument("--step-seconds", type=float, default=STEP_S)
    parser.add_argument("--started", help="a file to make once it trains")
    parser.add_argument("--losses", action="store_true")
    parser.add_argument("--directory", default=os.environ.get("TMPDIR", "/tmp"))
    options = parser.parse_args()
    torch.manual_seed(7)
    torch.set_num_threads(1)
    fault = Fault(options.fault == "leak", options.step_seconds)
    fault.started = options.started
    LOOPS[options.loop](options, Examples(options.fault == "cache"), fault)
    if options.losses:
        print(" ".join(loss.hex() for loss in fault.losses))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
