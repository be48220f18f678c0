# SPDX-License-Identifier: Apache-2.0
"""What would be written while `plateau prove` runs: the job sees data in another order than it wanted, so what it would
save is no result. Each call of a library that saves is passed over, counted and told: torch.save, safetensors,
Trainer and save_pretrained, Lightning, Keras, DeepSpeed, orbax, NumPy's and torch's distributed savers, TensorBoard's
events; wandb and MLflow are told to stay off.

What torch.save writes into memory (a buffer) is let through: libraries use that to send objects around. A job that
reads back what it has saved will not find it; it usually has been ended by then.

Files that the job opens itself are written: to refuse them would end jobs that need them, to lead them elsewhere would
break those that look for them. They are seen by Python's own audit events, counted and told by name. Not seen is what C
code opens by itself (HDF5, SQLite, a shell command).
"""
import functools
import os
import sys

_count = 0
_written = set()
_MOST_NAMES = 4096
_NOT_FILES = ("/dev/", "/proc/", "/sys/")
_TEMPORARY = (os.environ.get("TMPDIR") or "/tmp").rstrip("/") + "/"  # Libraries' own; not told.
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def _skipped():
    global _count
    _count += 1
    if _count & (_count - 1) == 0:  # 1, 2, 4, 8: the last figure told is never less than half of it.
        from . import prove
        prove.tell("skipped saves=%d" % _count)


def _passing_over(owner, name, goes_to_disk=lambda args, kwargs: True):
    original = getattr(owner, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def call(*args, **kwargs):
        if not goes_to_disk(args, kwargs):
            return original(*args, **kwargs)
        _skipped()
        return None

    setattr(owner, name, call)


def _to_a_file(args, kwargs):
    target = args[1] if len(args) > 1 else kwargs.get("f")
    if isinstance(target, (str, bytes, os.PathLike)):
        return True
    try:
        target.fileno()
    except Exception:  # pylint: disable=broad-except
        return False  # A buffer in memory.
    return True


def patch_torch(module):
    _passing_over(module, "save", _to_a_file)


def patch_safetensors(module):
    _passing_over(module, "save_file")
    _passing_over(module, "save_model")


def patch_trainer(module):
    _passing_over(module.Trainer, "_save_checkpoint")
    _passing_over(module.Trainer, "save_model")


def patch_pretrained(module):
    _passing_over(module.PreTrainedModel, "save_pretrained")


def patch_lightning(module):
    _passing_over(module.Trainer, "save_checkpoint")


def patch_keras(module):
    """`module` is keras.src.saving.saving_api."""
    _passing_over(module, "save_model")
    _passing_over(module, "save_weights")


def patch_deepspeed(module):
    _passing_over(module.DeepSpeedEngine, "save_checkpoint")


def patch_orbax(module):
    _passing_over(module.CheckpointManager, "save")


def patch_orbax_checkpointer(module):
    _passing_over(module.Checkpointer, "save")


def patch_distributed(module):
    """`module` is torch.distributed.checkpoint.state_dict_saver."""
    for name in ("save", "async_save", "save_state_dict"):
        _passing_over(module, name)


def patch_numpy(module):
    """`module` is numpy, once it is whole."""
    for name, place in (("save", 0), ("savez", 0), ("savez_compressed", 0), ("savetxt", 0)):
        _passing_over(module, name, lambda args, kwargs, place=place: _to_a_file(
            (None, args[place] if len(args) > place else kwargs.get("file", kwargs.get("fname"))), {}))


def patch_tensorboard(module):
    """`module` is tensorboard.summary.writer.event_file_writer: its file is made, and stays empty."""
    _passing_over(module.EventFileWriter, "add_event")


def keep_trackers_off():
    """Before they are imported; what the user has set stays."""
    os.environ.setdefault("WANDB_MODE", "disabled")
    os.environ.setdefault("DISABLE_MLFLOW_INTEGRATION", "TRUE")


def _opened(event, args):
    if event != "open":
        return
    try:
        path, mode, flags = args
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or path.startswith(_NOT_FILES) or path.endswith(".pyc") or path in _written:
            return
        writes = any(letter in "wax+" for letter in mode) if isinstance(mode, str) else bool(flags & _WRITES)
        if not writes or "__pycache__" in path or len(_written) >= _MOST_NAMES or path.startswith(_TEMPORARY):
            return
        _written.add(path)
        count = len(_written)
        if count <= 3 or count & (count - 1) == 0:
            from . import prove
            prove.tell("wrote files=%d %s" % (count, path[-200:]))
    except Exception:  # pylint: disable=broad-except
        pass  # An exception here would refuse the file.


def watch_opens():
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(_opened)
