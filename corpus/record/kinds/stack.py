# SPDX-License-Identifier: Apache-2.0
"""Training loops on the Python stack: torch, transformers, datasets, peft, accelerate, lightning,
JAX, scikit-learn. All weights and data are drawn; nothing is downloaded.

Sizes follow from how much a trace is to add in all and over how many steps or events.
"""
import functools

from . import drawn as drawn_by_name
from . import one_of, span

MIB = 1 << 20

# Few traces of many kinds: what a judge must not learn by heart is the mechanism.
drawn = functools.partial(drawn_by_name, runtime="venv", number=3, steps=span(100, 300))


def within(low, value, high):
    """Returns a whole number within bounds."""
    return int(max(low, min(high, round(value))))


def width(mb, matrices, low=32, high=1400):
    """Returns the width of as many square matrices of floats as make up so many MiB."""
    return within(low, (mb * MIB / 4 / matrices) ** 0.5, high)


def parts(draw, low, high):
    """Returns after how many steps something happens that is to happen so many times."""
    return max(2, draw.steps // draw.span(low, high))


# --- torch: bounded ------------------------------------------------------------------------------

drawn("torch_lengths", "plateau", "allocator", "stack/torch_loop.py",
      "Adam's state comes at step 1; batches are padded to their longest example, and the longest "
      "of all was seen by the end of the first epoch",
      family="stack-lengths", mode="lengths", batch=one_of(4, 8),
      width=one_of(32, 64, 96), vocabulary=span(600, 2500), shortest=span(8, 20),
      longest=span(48, 128))
drawn("torch_finder", "plateau", "bounded-cache", "stack/torch_loop.py",
      "a history of losses and gradients of fixed length, and a copy of the weights that is "
      "dropped after a search for the learning rate",
      family="stack-finder", mode="finder", layers=span(2, 4),
      given=lambda d: {"keep": (keep := d.end_step()), "trials": round(d.steps * d.span(0.2, 0.6)),
                       "width": width(d.grown_mb(8, 200), keep * d.layers)})
drawn("torch_thaw", "plateau", "lazy-state", "stack/torch_loop.py",
      "layers are unfrozen one by one, each brings gradients and Adam's moments; all are, then",
      family="stack-thaw", mode="thaw", layers=span(4, 9),
      given=lambda d: {"thaw_every": max(2, d.end_step() // (d.layers + 1)),
                       "width": width(d.grown_mb(15, 200), 3 * d.layers)})
drawn("torch_save", "plateau", "spikes", "stack/torch_loop.py",
      "torch.save to a buffer in memory, which is dropped after it",
      family="stack-save", mode="save", layers=span(2, 4), named=one_of(0, 1),
      given=lambda d: {"save_every": parts(d, 3, 12),
                       "width": width(d.grown_mb(8, 150), 3 * d.layers)})
drawn("torch_images", "plateau", "native-cache", "stack/images.py",
      "oneDNN keeps programs for each size of picture; the sizes are a fixed set",
      family="stack-images", batch=one_of(4, 8), sizes=span(4, 8), smallest=span(16, 32),
      channels=span(6, 16))

# --- torch: leaks and their twins ----------------------------------------------------------------

graph = functools.partial(drawn, family="stack-graph")
graph("leak_graph_losses", "leak", "autograd", "stack/graph_kept.py",
      "losses of a validation without no_grad are appended with their graphs",
      mode="losses", batch=one_of(4, 8), rows=one_of(1, 2, 4),
      given=lambda d: {"every_steps": within(1, d.steps * d.rows * 0.25 / d.leaked_mb(), 10)})
graph("leak_graph_hidden", "leak", "autograd", "stack/graph_kept.py",
      "the state of a recurrent network is carried on with its graph",
      mode="hidden",
      given=lambda d: {"rows": within(1, d.leaked_mb(20, 200) * MIB / d.steps / 60000, 60)})
graph("leak_graph_mean", "leak", "autograd", "stack/graph_kept.py",
      "a running mean of a critic's values refers to the graphs of all before",
      mode="baseline", width=one_of(64, 128, 256), layers=span(2, 4), every_steps=span(1, 6),
      given=lambda d: {"rows": within(2, d.leaked_mb() * MIB * d.every_steps / d.steps
                                      / (5 * d.width * d.layers), 2000)})
drawn("torch_hooks", "plateau", "bounded-cache", "stack/feature_hooks.py",
      "hooks are removed after their step; the features of the last steps are kept",
      family="stack-hooks", mode="removed", width=one_of(128, 256, 512),
      given=lambda d: {"keep": (keep := d.end_step()),
                       "rows": within(4, d.grown_mb(8, 200) * MIB / keep / d.width / 5, 900)})
drawn("leak_hooks", "leak", "live-memory", "stack/feature_hooks.py",
      "hooks are registered every few steps and never removed; each holds a copy of features",
      family="stack-hooks", mode="kept", width=one_of(128, 256, 512),
      every_steps=span(1, 8),
      given=lambda d: {"rows": within(4, d.leaked_mb() * MIB * d.every_steps / d.steps
                                      / d.width / 5, 900)})
drawn("torch_snapshots", "plateau", "bounded-cache", "stack/snapshots.py",
      "the best few copies of the weights are kept",
      family="stack-snapshots", mode="best", layers=span(2, 4), save_every=span(4, 15),
      given=lambda d: {"keep": (keep := within(2, d.end_step() / d.save_every, 40)),
                       "width": width(d.grown_mb(8, 200), keep * d.layers)})
drawn("leak_snapshots", "leak", "live-memory", "stack/snapshots.py",
      "copies of the weights are kept for an average that is never made",
      family="stack-snapshots", mode="all", layers=span(2, 4), save_every=span(4, 20),
      given=lambda d: {"width": width(d.leaked_mb(), d.steps / d.save_every * d.layers)})
drawn("torch_errors", "plateau", "bounded-cache", "stack/references.py",
      "the last few exceptions are kept, with frames and activations",
      family="stack-errors", mode="last_errors", failure=span(0.1, 0.6), width=one_of(128, 256),
      given=lambda d: {"keep": (keep := within(3, d.end_step() * d.failure, 200)),
                       "rows": within(4, d.grown_mb(8, 150) * MIB / keep / d.width / 10, 2000)})
drawn("leak_torch_errors", "leak", "python-objects", "stack/references.py",
      "caught exceptions are kept; their frames hold batches and activations",
      family="stack-errors", mode="errors", failure=span(0.05, 0.6), width=one_of(128, 256),
      given=lambda d: {"rows": within(4, d.leaked_mb() * MIB / d.steps / d.failure
                                      / d.width / 10, 4000)})
drawn("numpy_reservoir", "plateau", "bounded-cache", "stack/references.py",
      "a reservoir of rows, each a view that holds its array; a new one replaces an old one",
      family="stack-views", mode="reservoir", width=one_of(128, 256),
      given=lambda d: {"keep": (keep := d.end_step()),
                       "rows": within(2, d.grown_mb(8, 200) * MIB / keep / d.width / 10, 2000)})
drawn("leak_numpy_views", "leak", "python-objects", "stack/references.py",
      "a row of each array is kept as a view, which holds the array",
      family="stack-views", mode="views", width=one_of(128, 256),
      given=lambda d: {"rows": within(2, d.leaked_mb() * MIB / d.steps / d.width / 10, 2000)})
drawn("leak_profiler", "leak", "native-live", "stack/profiled.py",
      "torch.profiler is never stopped and keeps an event for each operation",
      family="stack-profiler", batch=4, layers=span(2, 6), shapes=one_of(0, 1))

# --- loaders -------------------------------------------------------------------------------------

drawn("loader_records", "plateau", "copy-on-write", "stack/data_loaders.py",
      "forked workers read records that are Python objects and copy their pages: until each has "
      "read all, or anew in each epoch",
      family="stack-records", mode="records", workers=one_of(2, 2, 3),
      persistent=one_of(0, 1),
      given=lambda d: {"per_item": within(2, d.grown_mb(20, 200) * MIB
                                          / (d.epoch_steps * d.batch * 500 * d.workers), 4000)})
drawn("loader_cached", "plateau", "per-item-cache", "stack/data_loaders.py",
      "__getitem__ keeps what it decoded, in each worker: until each has met all examples",
      family="stack-cached", mode="cached", workers=one_of(0, 2), persistent=one_of(0, 1),
      given=lambda d: {"item_kb": within(4, d.grown_mb(10, 200) * 1024
                                         / (d.epoch_steps * d.batch * max(1, d.workers)), 3000)})
drawn("leak_loaders", "leak", "workers", "stack/data_loaders.py",
      "each epoch makes a loader with persistent workers, and none is ever closed",
      family="stack-loaders", mode="kept", worker_mb=span(1, 6),
      given=lambda d: {"epoch_steps": parts(d, 5, 14)})
drawn("leak_shared_batches", "leak", "shared-memory", "stack/data_loaders.py",
      "masks that workers sent through shared memory are kept",
      family="stack-shared", mode="masks",
      given=lambda d: {"item_kb": within(1, d.leaked_mb() * 1024 / d.steps / d.batch, 400)})

# --- Hugging Face, Lightning ---------------------------------------------------------------------

evaluated = functools.partial(drawn, family="stack-generation", batch=one_of(4, 8),
                              architecture=one_of("gpt2", "llama"), width=one_of(32, 64, 96))
evaluated("hf_generate", "plateau", "spikes", "stack/generation.py",
          "evaluations generate from the same prompts; caches and scores are dropped after each",
          mode="generate", layers=span(2, 4), vocabulary=span(500, 2500),
          rows=span(4, 20), prompt=span(60, 300), new=span(6, 16),
          given=lambda d: {"eval_every": parts(d, 3, 8)})
evaluated("leak_eval_logits", "leak", "live-memory", "stack/generation.py",
          "the logits of every evaluation are kept",
          mode="kept", vocabulary=span(500, 2500), prompt=span(40, 160),
          given=lambda d: {"eval_every": (every := parts(d, 4, 14)),
                           "rows": within(1, d.leaked_mb() * MIB * every / d.steps
                                          / (4 * d.prompt * d.vocabulary), 40)})
evaluated("leak_metric", "leak", "live-memory", "stack/generation.py",
          "a metric object holds the logits of all steps and is never reset",
          mode="metric", vocabulary=span(300, 1200),
          given=lambda d: {"every_steps": within(1, d.steps * d.batch * 140 * d.vocabulary / MIB
                                                 / d.leaked_mb(20, 200), 20)})
trained = functools.partial(drawn, family="stack-trainer", batch=one_of(4, 8), width=one_of(32, 64),
                            vocabulary=span(300, 1500), eval_rows=span(16, 64))
trained("hf_trainer", "plateau", "allocator", "stack/hf_trainer.py",
        "Trainer with evaluations; nothing is kept beyond the longest batch",
        mode="plain", given=lambda d: {"eval_every": parts(d, 3, 8)})
trained("leak_trainer", "leak", "live-memory", "stack/hf_trainer.py",
        "a Trainer keeps views of the logits for a plot",
        mode="logged",
        given=lambda d: {"eval_every": parts(d, 2, 6),
                         "every_steps": within(1, d.steps * d.batch * 140 * d.vocabulary / MIB
                                               / d.leaked_mb(20, 200), 20)})
validated = functools.partial(drawn, family="stack-lightning", width=one_of(64, 128, 256))
validated("lightning_cleared", "plateau", "spikes", "stack/lightning_loop.py",
          "outputs of a validation are collected in the module and cleared at its end",
          mode="cleared", given=lambda d: {
              "eval_every": parts(d, 3, 10),
              "eval_rows": within(64, d.grown_mb(5, 60) * MIB / (4 * d.width + 48), 20000)})
validated("leak_lightning", "leak", "live-memory", "stack/lightning_loop.py",
          "outputs of all validations are collected in the module and never cleared",
          mode="outputs", given=lambda d: {
              "eval_every": (every := parts(d, 4, 14)),
              "eval_rows": within(64, d.leaked_mb() * MIB * every / d.steps
                                  / (4 * d.width + 48), 20000)})
drawn("arrow_mapped", "plateau", "file-backed", "stack/arrow_data.py",
      "rows of a table on disk are mapped as they are read; all were after the first epoch",
      family="stack-mapped", mode="mapped",
      given=lambda d: {"row_kb": within(1, d.grown_mb(10, 150) * 1024
                                        / (d.epoch_steps * d.batch), 400)})
drawn("arrow_shuffle", "plateau", "bounded-cache", "stack/arrow_data.py",
      "the shuffle buffer of a stream fills at the begin of each epoch and runs empty at its end",
      family="stack-shuffle", mode="shuffle",
      given=lambda d: {"buffer": (buffer := within(4, d.epoch_steps * d.batch * d.span(0.2, 0.9),
                                                   3000)),
                       "row_kb": within(1, d.grown_mb(8, 150) * 1024 / buffer, 800)})
rolled = functools.partial(drawn, family="stack-rollouts", row_kb=span(2, 16))
rolled("arrow_window", "plateau", "bounded-cache", "stack/arrow_data.py",
       "tables of the last steps are concatenated anew at each step",
       mode="window",
       given=lambda d: {"keep": (keep := d.end_step()),
                        "rows": within(1, d.grown_mb(8, 150) * 1024 / keep / d.row_kb, 400)})
rolled("leak_rollouts", "leak", "native-live", "stack/arrow_data.py",
       "the table of each step is concatenated to those of all before",
       mode="rollouts",
       given=lambda d: {"rows": within(1, d.leaked_mb() * 1024 / d.steps / d.row_kb, 400)})
adapted = functools.partial(drawn, family="stack-lora", rank=span(32, 128), layers=span(3, 5))
adapted("lora_rotated", "plateau", "bounded-cache", "stack/lora.py",
        "a LoRA adapter for each task; beyond a few the oldest is deleted",
        mode="rotated", width=span(256, 768), keep=span(2, 6),
        given=lambda d: {"epoch_steps": parts(d, 8, 20)})
adapted("leak_lora", "leak", "live-memory", "stack/lora.py",
        "a LoRA adapter for each task, none of which is deleted",
        mode="added",
        given=lambda d: {"epoch_steps": (every := parts(d, 8, 24)),
                         "width": within(128, d.leaked_mb() * MIB * every / d.steps
                                         / (16 * d.layers * d.rank), 800)})
searched = functools.partial(drawn, family="stack-trials", layers=span(2, 4))
searched("trials_freed", "plateau", "sawtooth", "stack/trials.py",
         "each trial has a model of its own; the Accelerator frees it at the end",
         mode="freed", width=span(200, 900), given=lambda d: {"epoch_steps": parts(d, 5, 15)})
searched("leak_trials", "leak", "live-memory", "stack/trials.py",
         "an Accelerator that is used again keeps models and optimizers of all trials",
         mode="kept",
         given=lambda d: {"epoch_steps": (every := parts(d, 5, 18)),
                          "width": width(d.leaked_mb(), 4 * d.layers * d.steps / every)})
encoded = functools.partial(drawn, family="stack-tokenizer", texts=span(3, 12))
encoded("tokenizer_lru", "plateau", "bounded-cache", "stack/tokenizer_cache.py",
        "encodings in a cache of fixed size: it evicts when full",
        mode="bounded",
        given=lambda d: {"size": (size := d.end_step() * d.texts),
                         "words": within(8, d.grown_mb(8, 70) * MIB / size / 180, 250)})
encoded("leak_tokenizer", "leak", "native-live", "stack/tokenizer_cache.py",
        "encodings in a cache without bound, texts never the same twice",
        mode="unbounded",
        given=lambda d: {"words": within(8, d.leaked_mb(10, 70) * MIB / d.steps / d.texts
                                         / 180, 250)})

# --- JAX, scikit-learn ---------------------------------------------------------------------------

compiled = functools.partial(drawn, family="stack-jax-programs", width=span(32, 128),
                             layers=span(2, 5))
compiled("jax_buckets", "plateau", "native-cache", "stack/jax_shapes.py",
         "jit compiles once for each of a fixed number of lengths",
         mode="buckets", lengths=span(6, 24))
compiled("leak_jax_programs", "leak", "native-live", "stack/jax_shapes.py",
         "the compiled program of every length ever seen is kept, and lengths are ever new",
         mode="endless", given=lambda d: {"every_steps": parts(d, 14, 32)})
arrays = functools.partial(drawn, family="stack-jax-arrays", layers=span(2, 5))
arrays("jax_recent", "plateau", "bounded-cache", "stack/jax_shapes.py",
       "the gradients of the last steps are kept",
       mode="recent", given=lambda d: {"keep": (keep := d.end_step()),
                                       "width": width(d.grown_mb(8, 200), keep * d.layers)})
arrays("leak_jax_arrays", "leak", "live-memory", "stack/jax_shapes.py",
       "gradients of every few steps are appended to a list",
       mode="arrays", every_steps=span(1, 8),
       given=lambda d: {"width": width(d.leaked_mb(), d.steps / d.every_steps * d.layers)})
drawn("sklearn_partial", "plateau", "none", "stack/estimators.py",
      "partial_fit on batches of varying size keeps nothing",
      family="stack-partial", mode="partial", rows=span(300, 2000), width=span(50, 250))
forest = functools.partial(drawn, family="stack-forest", added=span(1, 5))
forest("sklearn_forest", "plateau", "bounded-cache", "stack/estimators.py",
       "a forest with warm_start gets trees until it has as many as are asked for",
       mode="capped",
       given=lambda d: {"trees": (trees := d.end_step() * d.added),
                        "rows": within(200, d.grown_mb(8, 60) * MIB / trees / 40, 2500)})
forest("leak_forest", "leak", "native-live", "stack/estimators.py",
       "a forest with warm_start gets further trees in each round, without end",
       mode="endless",
       given=lambda d: {"rows": within(200, d.leaked_mb(10, 80) * MIB / d.steps / d.added
                                       / 40, 2500)})
drawn("leak_sklearn_models", "leak", "python-objects", "stack/estimators.py",
      "the model of each round is kept for a vote",
      family="stack-models", mode="models", added=span(1, 4),
      given=lambda d: {"rows": within(200, d.leaked_mb(10, 80) * MIB / d.steps / d.added
                                      / 40, 2500)})
