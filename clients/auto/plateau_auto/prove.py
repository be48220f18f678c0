# SPDX-License-Identifier: Apache-2.0
"""`plateau prove` inside the job: puts replay.py between the training loader and its loop, and keeps checkpoints from
being written.

Only a job that `plateau prove` has started comes here: PLATEAU_PROVE says how, as words separated by ';', for example
"steps=120;contrast=gc". Unlike the rest of this package it changes what the job does, by design: the order of its
data, and that it saves nothing. Every interpreter of the job reads the variable; one that takes no optimizer step
and draws no batches changes nothing.
"""
import functools
import os

from . import finder, voice

_PATCHES = (
    ("torch.utils.data.dataloader", "prove", "patch_loader"),
    ("torch", "saves", "patch_torch"),
    ("safetensors.torch", "saves", "patch_safetensors"),
    ("transformers.trainer", "saves", "patch_trainer"),
    ("transformers.modeling_utils", "saves", "patch_pretrained"),
    ("lightning.pytorch.trainer.trainer", "saves", "patch_lightning"),
    ("pytorch_lightning.trainer.trainer", "saves", "patch_lightning"),
    ("keras.src.saving.saving_api", "saves", "patch_keras"),
    ("deepspeed.runtime.engine", "saves", "patch_deepspeed"),
    ("orbax.checkpoint.checkpoint_manager", "saves", "patch_orbax"),
    ("orbax.checkpoint._src.checkpointers.checkpointer", "saves", "patch_orbax_checkpointer"),
    ("torch.distributed.checkpoint.state_dict_saver", "saves", "patch_distributed"),
    ("numpy", "saves", "patch_numpy"),
    ("tensorboard.summary.writer.event_file_writer", "saves", "patch_tensorboard"),
)


def wishes():
    """What PLATEAU_PROVE asks for, as {"steps": "120", ...}."""
    return dict(word.partition("=")[::2] for word in os.environ.get("PLATEAU_PROVE", "").split(";") if word)


def start():
    for module, ours, function in _PATCHES:
        finder.when_imported(module, ours, function)
    from . import factors, saves
    factors.wait_for(wishes().get("contrast", ""))
    saves.keep_trackers_off()
    saves.watch_opens()


def tell(text):
    voice.get().client.mark("prove " + text)  # From every rank: each is judged.


def patch_loader(module):
    """`module` is torch.utils.data.dataloader, which torch_data has wrapped before."""
    from . import factors, replay, torch_data
    from .loop import LOOP

    asked = wishes()
    order = replay.Replay(int(asked.get("steps", "120")), tell, factors.get(asked.get("contrast", "")),
                          asked.get("heard"))
    torch_data.order = order
    LOOP.listeners.append(lambda _number: order.stepped())  # Within a hook that is guarded already.
    base = module._BaseDataLoaderIter
    original = base.__next__

    @functools.wraps(original)
    def __next__(self):
        return order.next(self, lambda: original(self))

    base.__next__ = __next__
    _change_loaders(module.DataLoader, asked)


def _change_loaders(loader, asked):
    """For contrasts that take two runs: another number of workers, or batches of half the size."""
    if "workers" not in asked and "halve" not in asked:
        return
    original = loader.__init__

    @functools.wraps(original)
    def __init__(self, dataset, batch_size=1, *args, **kwargs):
        if "halve" in asked and batch_size and kwargs.get("batch_sampler") is None:
            batch_size = max(1, batch_size // 2)
        if "workers" in asked:
            kwargs["num_workers"] = int(asked["workers"])
            if not kwargs["num_workers"]:
                for needs_workers in ("prefetch_factor", "persistent_workers", "multiprocessing_context"):
                    kwargs.pop(needs_workers, None)
        original(self, dataset, batch_size, *args, **kwargs)

    loader.__init__ = __init__
