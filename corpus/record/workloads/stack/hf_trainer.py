# SPDX-License-Identifier: Apache-2.0
"""transformers.Trainer on a small model with drawn weights, with evaluations.

mode=plain: nothing is kept. The optimizer's state comes at step 1, the first evaluation gathers
logits, and the longest batch is known after the first epoch: then it ends.
mode=logged (leak): a trainer that keeps, of every few steps, the loss and the logits of the last
token for a plot; as views, which hold the logits of the whole batch.
"""
import tempfile

from stack_steps import Driven, StackJob
import torch
from transformers import (GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainerCallback,
                          TrainingArguments)

from small_models import bytes_of, length_of

job = StackJob(mode="plain", vocabulary=800, width=48, layers=2, shortest=12, longest=64,
                      eval_every=40, eval_rows=32, every_steps=1)
torch.manual_seed(job.seed)
driven = Driven(job)


class Examples(torch.utils.data.Dataset):
    """Token ids drawn anew at each access, of a length that belongs to the example."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, item):
        return torch.randint(1, job.vocabulary, (length_of(job, item),))


def collate(rows):
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return {"input_ids": ids, "labels": ids, "attention_mask": (ids > 0).long()}


class Follow(TrainerCallback):
    """Tells the recorder of the steps."""

    def on_step_begin(self, arguments, state, control, **others):
        driven.report()

    def on_step_end(self, arguments, state, control, **others):
        driven.trained()
        if job.mode == "plain" and state.global_step == max(job.epoch_steps, job.eval_every):
            job.growth_ends(state.global_step)

    def on_train_end(self, arguments, state, control, **others):
        driven.report()


class KeepsLogits(Trainer):
    """Keeps the logits of the last token for a plot that is never drawn."""

    plotted = []

    def compute_loss(self, model, inputs, return_outputs=False, **others):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True, **others)
        if job.mode == "logged" and model.training and driven.step % job.every_steps == 0:
            self.plotted.append({"loss": loss.detach(), "last": outputs.logits.detach()[:, -1]})
            job.leak(bytes_of([outputs.logits]))
        return (loss, outputs) if return_outputs else loss


def metrics(predictions):
    """Is called while all logits of the evaluation are alive."""
    driven.report("eval")
    return {"mean": float(predictions.predictions.mean())}


model = GPT2LMHeadModel(GPT2Config(
    vocab_size=job.vocabulary, n_positions=256, n_embd=job.width, n_layer=job.layers, n_head=2,
    bos_token_id=0, eos_token_id=0, pad_token_id=0))
settings = TrainingArguments(
    tempfile.mkdtemp(), max_steps=job.steps, per_device_train_batch_size=job.batch,
    per_device_eval_batch_size=job.batch, gradient_accumulation_steps=1, logging_steps=10,
    eval_strategy="steps", eval_steps=job.eval_every, save_strategy="no", report_to=[],
    disable_tqdm=True, use_cpu=True, seed=job.seed, remove_unused_columns=False,
    prediction_loss_only=False)
trainer = KeepsLogits(model, settings, data_collator=collate, train_dataset=Examples(job.examples),
                      eval_dataset=Examples(job.eval_rows), compute_metrics=metrics,
                      callbacks=[Follow()])
trainer.remove_callback(PrinterCallback)  # it prints where the recorder listens
trainer.train()
