# SPDX-License-Identifier: Apache-2.0
"""Learns steps, epochs and events from the training framework of a job that knows nothing of Plateau.

`plateau run` puts the directory above first on PYTHONPATH; sitecustomize.py there calls start(). From then on

    finder       waits for the modules that we know (torch, transformers, lightning, ...) and imports none itself
    torch_data   sees which examples a DataLoader draws and which batches the loop consumes
    torch_steps  sees optimizers step
    torch_events sees checkpoints and compilations
    on_*         listen to frameworks that count steps themselves
    turns        sees several loaders take turns
    loop         makes of all that: step 120, epoch 1.45, an epoch has 83 steps, an evaluation
    voice        says it to the watcher, in the words of docs/formats/step-clock.md, marked from=auto
    prove        stands apart: where `plateau prove` asks for it, it repeats batches (replay, design, resident)
    guard        keeps every failure of ours from the job; what fails three times is switched off and said

A process that imports torch's optimizers says that we are there ("run from=auto"), and no more until it steps:
workers, resource trackers and launchers have nothing to say.
docs/auto.md says what is learnt, from where, what it costs and what cannot be known.
"""
import os

# When the first is imported, the second of this package is, and its function is called with the module.
_PATCHES = (
    ("torch.utils.data.dataloader", "torch_data", "patch"),
    ("torch.optim.optimizer", "torch_steps", "patch"),
    ("torch.amp.grad_scaler", "torch_steps", "patch_scaler"),
    ("torch.cuda.amp.grad_scaler", "torch_steps", "patch_scaler"),  # Where it was before torch 2.3.
    ("torch.serialization", "torch_events", "patch_save"),
    ("safetensors.torch", "torch_events", "patch_save"),
    ("torch.distributed.checkpoint.state_dict_saver", "torch_events", "patch_save"),
    ("torch._dynamo.callback", "torch_events", "patch_compile"),
    ("torch._dynamo.variables.optimizer", "torch_steps", "patch_compiled"),
    ("transformers.trainer_callback", "on_transformers", "patch"),
    ("lightning.pytorch.trainer.call", "on_lightning", "patch"),
    ("pytorch_lightning.trainer.call", "on_lightning", "patch"),
    ("accelerate.state", "on_accelerate", "patch"),
    ("deepspeed.runtime.engine", "on_deepspeed", "patch"),
    ("deepspeed.runtime.pipe.engine", "on_deepspeed", "patch_pipe"),
    ("fastai.learner", "on_fastai", "patch"),
    ("fastai.data.load", "on_fastai", "patch_loader"),
    ("keras.src.callbacks.callback_list", "on_keras", "patch"),
    ("keras.src.callbacks", "on_keras", "patch"),  # Keras 2.13 to 2.15.
    ("tf_keras.src.callbacks", "on_keras", "patch"),
    ("keras.src.trainers.epoch_iterator", "on_keras", "patch_iterator"),
    ("keras.src.saving.saving_api", "on_keras", "patch_saves"),
    ("jax._src.monitoring", "on_jax", "patch_compile"),
    ("optax._src.update", "on_jax", "patch_update"),
    ("grain._src.python.data_loader", "on_jax", "patch_grain"),
    ("orbax.checkpoint.checkpoint_manager", "on_jax", "patch_orbax"),
)

_started = False


def start(socket_path=None):
    """Makes ready; cheap, and harmless if called again. `plateau watch --auto` calls it in a process that runs
    already, with the path of its own socket."""
    global _started
    if socket_path:
        from . import voice
        voice.speak_to(socket_path)
    if _started:
        return
    _started = True
    from . import finder
    for module, ours, function in _PATCHES:
        finder.when_imported(module, ours, function)
    if os.environ.get("PLATEAU_PROVE"):
        from . import prove
        prove.start()
