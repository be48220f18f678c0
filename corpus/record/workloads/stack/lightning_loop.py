# SPDX-License-Identifier: Apache-2.0
"""A loop that Lightning owns, with a validation every few steps.

Validation collects its outputs in a list of the module, as is usual since version 2.
mode=cleared: the list is emptied after each validation; bounded from the first one on.
mode=outputs (leak): nobody empties the list, and each validation adds to it.
"""
from stack_steps import Driven, StackJob
import lightning
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from small_models import bytes_of, perceptron

job = StackJob(mode="cleared", width=128, layers=3, eval_every=25, eval_rows=256)
torch.manual_seed(job.seed)
driven = Driven(job)


class Module(lightning.LightningModule):
    """A perceptron; what its validation keeps are the logits and the features they come from."""

    def __init__(self):
        super().__init__()
        self.model = perceptron(job.width, job.layers)
        self.outputs = []

    def training_step(self, batch, number):
        inputs, labels = batch
        return functional.cross_entropy(self.model(inputs), labels)

    def validation_step(self, batch, number):
        features = self.model[:-1](batch[0])
        kept = {"features": features, "logits": self.model[-1](features), "labels": batch[1]}
        self.outputs.append(kept)
        if job.mode == "outputs":
            job.leak(bytes_of(kept.values()))

    def on_validation_epoch_end(self):
        if job.mode == "cleared":
            job.growth_ends(driven.step)
        driven.report("eval")
        if job.mode == "cleared":
            self.outputs.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class Follow(lightning.Callback):
    """Tells the recorder of the steps."""

    def on_train_batch_start(self, trainer, module, batch, number):
        driven.report()

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        driven.trained()

    def on_train_end(self, trainer, module):
        driven.report()


def loader(rows, batch, shuffle):
    """Returns a loader over drawn examples."""
    data = TensorDataset(torch.randn(rows, job.width), torch.randint(0, 10, (rows,)))
    return DataLoader(data, batch, shuffle=shuffle)


trainer = lightning.Trainer(
    max_steps=job.steps, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
    val_check_interval=job.eval_every, check_val_every_n_epoch=None, callbacks=[Follow()])
trainer.fit(Module(), loader(job.examples, job.batch, True), loader(job.eval_rows, 256, False))
