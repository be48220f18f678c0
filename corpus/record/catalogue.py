# SPDX-License-Identifier: Apache-2.0
"""The list of traces that record.py can make: workload, parameters, and the truth with its reason.

The label follows from the mechanism, never from the look of the curve: `leak` if the workload adds
without end what it never releases, `plateau` if what it may hold is bounded by construction. The
note says why. The workload's own account (bytes leaked, step at which growth ended) must agree with
the label, or record.py refuses the trace. The runs below name their parameters; those of the
folder kinds/ draw them, and are appended at the end.
"""
import functools

from kinds import GLIBC, JEMALLOC, MIMALLOC, ONE_ARENA, TCMALLOC, all_drawn

TRACES = []


def trace(steps, every, epoch_steps, batch, allocator, onset_step=None, **parameters):
    """Describes one run of a kind. Servers have neither epochs nor batches: None."""
    return {"steps": steps, "every": every, "epoch_steps": epoch_steps, "batch": batch,
            "allocator": allocator, "onset_step": onset_step, "parameters": parameters}


def kind(name, label, cause, workload, note, *runs, server=False, folder=None):
    """Adds the runs of one kind, numbered from 1; the number is also the seed. Without a folder the
    hash of the name chooses one."""
    for number, run in enumerate(runs, 1):
        run["parameters"].setdefault("seed", number)
        TRACES.append(run | {"name": f"{name}-{number}", "kind": name, "label": label,
                             "cause": cause, "workload": workload, "note": note,
                             "server": server, "folder": folder, "family": None, "options": "",
                             "runtime": "cc" if workload.endswith(".cc") else "python"})


# --- bounded -------------------------------------------------------------------------------------

kind("lru_epochs", "plateau", "bounded-cache", "cache_lru.py",
     "LRU cache of fixed capacity with keys that never repeat: fills over several epochs, "
     "then evicts",
     trace(400, 1, 40, 8, GLIBC, capacity=720, entry_kb=120, keep=0.5, noise_mb=6),
     trace(600, 5, 50, 4, JEMALLOC, capacity=600, entry_kb=60, keep=0.5, model_mb=80),
     trace(500, 10, 31, 8, TCMALLOC, capacity=1100, entry_kb=200, keep=0.5, noise_mb=12),
     trace(240, 1, 24, 16, GLIBC, capacity=1800, entry_kb=40, keep=0.8, noise_mb=8))
kind("two_stage", "plateau", "per-item-cache", "cache_items.py",
     "per-example cache ends with the first epoch; the staging buffer of the first checkpoint "
     "is reused",
     trace(300, 1, 70, 8, GLIBC, item_kb=150, then="checkpoint", checkpoint_every=120,
           staging_mb=60),
     trace(400, 5, 60, 4, MIMALLOC, item_kb=200, then="checkpoint", checkpoint_every=150,
           staging_mb=25, noise_mb=10),
     trace(200, 2, 110, 4, ONE_ARENA, item_kb=90, then="checkpoint", checkpoint_every=60,
           staging_mb=80))
kind("item_cache_late", "plateau", "per-item-cache", "cache_items.py",
     "per-example cache; the first epoch takes more than half of the run",
     trace(240, 2, 150, 8, GLIBC, item_kb=120),
     trace(300, 5, 210, 4, TCMALLOC, item_kb=60, noise_mb=10))
kind("coupons", "plateau", "bounded-cache", "cache_coupons.py",
     "finite set of keys drawn with replacement: approaches its bound exponentially",
     trace(500, 1, 100, 4, GLIBC, keys=600, draws=10, value_kb=200),
     trace(600, 10, 120, 4, JEMALLOC, keys=600, draws=8, value_kb=120, noise_mb=8),
     trace(300, 2, 60, 4, GLIBC, keys=1500, draws=10, value_kb=100))
kind("highwater_tail", "plateau", "allocator", "highwater.py",
     "workspace kept at the longest batch so far; after the first epoch the longest example "
     "was seen",
     trace(400, 1, 200, 4, GLIBC, unit_kb=150, alpha=1.1, cap_mb=40),
     trace(300, 5, 120, 8, TCMALLOC, unit_kb=150, alpha=1.6, cap_mb=40, noise_mb=8))
kind("highwater_heap", "plateau", "allocator", "highwater.py",
     "batches of heavy-tailed size in many small blocks, all freed by the next step; "
     "the longest is known after the first epoch",
     trace(300, 1, 150, 4, GLIBC, unit_kb=300, alpha=1.2, cap_mb=30, mode="heap", seed=3),
     trace(300, 2, 100, 4, TCMALLOC, unit_kb=200, alpha=1.3, cap_mb=30, mode="heap"))
kind("sawtooth_gc", "plateau", "sawtooth", "gc_cycles.py",
     "cycles freed by the collector every 60 to 130 steps; nothing survives a collection",
     trace(600, 1, 90, 8, GLIBC, nodes=150, payload_kb=200, mapped=40, period=110),
     trace(500, 2, 70, 4, JEMALLOC, nodes=120, payload_kb=300, mapped=60, period=80, noise_mb=8),
     trace(600, 5, 200, 4, GLIBC, nodes=120, payload_kb=100, mapped=30, period=130))
kind("sawtooth_retained", "plateau", "allocator", "gc_cycles.py",
     "cycles of small blocks freed by the collector; live memory is bounded, the allocator "
     "keeps much of it",
     trace(600, 2, 90, 8, GLIBC, nodes=150, payload_kb=6, period=110),
     trace(500, 2, 70, 4, MIMALLOC, nodes=100, payload_kb=8, period=70, noise_mb=8))
kind("sawtooth_coarse", "plateau", "sawtooth", "gc_cycles.py",
     "cycles freed by the collector every few dozen steps, sampled only every tenth",
     trace(500, 10, 80, 4, GLIBC, nodes=200, payload_kb=250, mapped=40, period=37),
     trace(600, 10, 150, 8, JEMALLOC, nodes=120, payload_kb=200, mapped=30, period=64))
kind("eval_capped", "plateau", "spikes", "evaluation.py",
     "evaluation spikes; summaries of the last N evaluations are kept, so the kept part is capped",
     trace(400, 1, 80, 8, GLIBC, eval_every=20, spike_mb=60, keep=6, summary_mb=5),
     trace(500, 5, 100, 4, MIMALLOC, eval_every=30, spike_mb=120, pieces=480, keep=5,
           summary_mb=8, noise_mb=8),
     trace(300, 2, 45, 8, TCMALLOC, eval_every=15, spike_mb=30, pieces=100, keep=8, summary_mb=4))
kind("checkpoint_ratchet", "plateau", "lazy-state", "checkpoints.py",
     "the first checkpoint allocates the staging area, later ones reuse it",
     trace(300, 1, 60, 8, GLIBC, checkpoint_every=80, state_mb=60),
     trace(400, 10, 100, 4, JEMALLOC, checkpoint_every=150, state_mb=35, named=0))
kind("epoch_history", "plateau", "python-objects", "metric_history.py",
     "outputs of an epoch are kept for its mean and dropped at its end: a ramp per epoch",
     trace(400, 1, 80, 8, GLIBC, floats=100000),
     trace(600, 5, 150, 4, JEMALLOC, floats=60000),
     trace(300, 2, 120, 4, GLIBC, floats=50000, noise_mb=8))
kind("lazy_threads", "plateau", "threads", "lazy_threads.py",
     "thread pool of fixed size whose threads start when first needed, each with a buffer",
     trace(300, 1, 60, 8, GLIBC, threads=12, buffer_mb=5, rise_every=12))
kind("lazy_threads_native", "plateau", "threads", "threads.cc",
     "a fixed number of threads started one by one, each with stack and scratch",
     trace(400, 5, 100, 4, GLIBC, limit=24, each=8, stack_kb=512, scratch_kb=1500))
kind("pool_restarted", "plateau", "workers", "workers.py",
     "workers are started at each epoch and end with it; they keep what they read until then",
     trace(300, 1, 40, 8, GLIBC, mode="restart", workers=3, keep_kb=150),
     trace(240, 5, 60, 4, JEMALLOC, mode="restart", workers=2, keep_kb=400, noise_mb=8),
     trace(320, 2, 80, 4, ONE_ARENA, mode="restart", workers=4, keep_kb=60, start_mb=10))
kind("lazy_workers", "plateau", "workers", "workers.py",
     "a fixed number of worker processes started one by one, when first needed",
     trace(300, 2, 75, 4, GLIBC, mode="lazy", workers=6, eval_every=18, start_mb=10, keep_kb=200))
kind("cow_epoch", "plateau", "copy-on-write", "cow_workers.py",
     "forked workers read their shard once an epoch and copy its pages; ends with the first epoch",
     trace(200, 1, 70, 12, GLIBC, mode="shard", workers=3, per_item=250),
     trace(240, 5, 90, 8, TCMALLOC, mode="shard", workers=2, per_item=200))
kind("cow_shuffled", "plateau", "copy-on-write", "cow_workers.py",
     "forked workers read random batches: each needs several epochs to touch all; bounded by "
     "workers x data",
     trace(600, 2, 25, 16, GLIBC, mode="shuffle", workers=3, per_item=250),
     trace(160, 2, 40, 12, GLIBC, mode="shuffle", workers=4, per_item=200))
kind("sqlite_bounded", "plateau", "bounded-cache", "sqlite_rows.py",
     "rows beyond a limit are deleted, oldest first: the database is bounded and churns",
     trace(400, 1, 80, 8, GLIBC, rows=50, row_kb=6, limit=9000),
     trace(500, 5, 100, 4, MIMALLOC, rows=40, row_kb=3, limit=12000))
kind("shm_pool", "plateau", "shared-memory", "shared_segments.py",
     "shared-memory segments are made until the pool is full, then reused in turn",
     trace(300, 1, 50, 8, GLIBC, pool=60, segment_kb=1024, every_steps=2),
     trace(400, 10, 100, 4, JEMALLOC, pool=40, segment_kb=3000, every_steps=5))
kind("map_rehash", "plateau", "per-item-cache", "map_cache.cc",
     "hash map and vector filled in the first epoch, with doubling tables; keys repeat afterwards",
     trace(300, 1, 90, 8, GLIBC, per_item=250, tokens=60),
     trace(400, 5, 150, 4, JEMALLOC, per_item=300, tokens=100),
     trace(250, 2, 120, 8, MIMALLOC, per_item=150, tokens=40))
kind("replay_buffer", "plateau", "bounded-cache", "ring_buffer.cc",
     "replay buffer of fixed capacity: fills with episodes of varying length, then drops the "
     "oldest",
     trace(500, 2, None, None, GLIBC, capacity=20000, bytes=4000, length=100),
     trace(400, 5, None, None, TCMALLOC, capacity=25000, bytes=8000, length=110))
kind("sessions_expire", "plateau", "bounded-cache", "sessions.cc",
     "session records among freed blocks, dropped after a fixed number of steps",
     trace(400, 2, None, None, GLIBC, expire=100, record=1500))
kind("curriculum", "plateau", "phase", "curriculum.py",
     "the batch doubles at known steps; after the last doubling all steps are alike",
     trace(400, 1, 80, 8, GLIBC, first_double=50, doublings=3, base_mb=10),
     trace(300, 5, 100, 4, JEMALLOC, first_double=40, doublings=3, base_mb=16),
     trace(500, 10, 125, 8, GLIBC, first_double=60, doublings=2, base_mb=40))
kind("wavering", "plateau", "none", "wavering.py",
     "live memory follows an AR(1) process clipped to 5 % of its level",
     trace(400, 1, 80, 8, GLIBC, level_mb=250, phi=0.95),
     trace(600, 5, 100, 4, JEMALLOC, level_mb=300, phi=0.985),
     trace(300, 2, 60, 4, GLIBC, level_mb=150, phi=0.9))
kind("redis_lru", "plateau", "server", "redis_keys.py",
     "redis-server with maxmemory and allkeys-lru: evicts when full",
     trace(400, 2, None, None, JEMALLOC, maxmemory_mb=64, sets=250, value=1200),
     trace(300, 5, None, None, JEMALLOC, maxmemory_mb=40, sets=300, value=700), server=True)
kind("redis_stream", "plateau", "server", "redis_keys.py",
     "redis-server with a stream that is trimmed to a number of entries",
     trace(300, 1, None, None, JEMALLOC, maxlen=25000, sets=200, value=1500), server=True)
kind("memcached", "plateau", "server", "memcached_fixed.py",
     "memcached with a fixed memory: evicts when full",
     trace(300, 1, None, None, GLIBC, limit_mb=64, sets=350, value=1500),
     trace(400, 5, None, None, GLIBC, limit_mb=100, sets=150, value=4000), server=True)
kind("nginx_zone", "plateau", "server", "nginx_zone.py",
     "nginx with a request-limit zone of fixed size in shared memory: drops its oldest "
     "records when full",
     trace(300, 2, None, None, GLIBC, zone_mb=24, requests=1200), server=True)
kind("nginx_flat", "plateau", "server", "nginx_zone.py",
     "nginx that answers small pages: nothing is kept",
     trace(200, 1, None, None, GLIBC, zone_mb=0, requests=500), server=True)
kind("postgres_buffers", "plateau", "server", "postgres_session.py",
     "PostgreSQL reading a table larger than shared_buffers: the buffers fill and are reused",
     trace(300, 2, None, None, GLIBC, mode="buffers", buffers_mb=64, queries=80),
     server=True)

# --- leaks ---------------------------------------------------------------------------------------

kind("leak_redis", "leak", "server", "redis_keys.py",
     "redis-server without maxmemory, ever new keys",
     trace(400, 2, None, None, JEMALLOC, sets=200, value=1000),
     trace(300, 5, None, None, JEMALLOC, sets=100, value=800), server=True)
kind("leak_postgres", "leak", "server", "postgres_session.py",
     "PostgreSQL session that prepares statements and never deallocates them",
     trace(250, 2, None, None, GLIBC, mode="prepare", queries=10, statements=10, rows=4000),
           server=True)
kind("leak_exceptions", "leak", "python-objects", "exceptions.py",
     "kept exceptions hold tracebacks, frames and their batches",
     trace(300, 1, 60, 8, GLIBC, failure=0.4, batch_kb=700),
     trace(400, 5, 90, 4, TCMALLOC, failure=0.15, batch_kb=900, noise_mb=8))
kind("leak_calls", "leak", "native-live", "native_leak.cc",
     "32 to 200 bytes forgotten per call of a native function",
     trace(400, 1, 100, 8, GLIBC, calls=2500),
     trace(600, 10, 120, 4, JEMALLOC, calls=600),
     trace(300, 5, 70, 8, TCMALLOC, calls=5000, noise_mb=10))
kind("leak_map", "leak", "native-live", "map_cache.cc",
     "hash map with keys that never repeat and no eviction, with doubling tables",
     trace(300, 2, 75, 8, GLIBC, per_item=60, tokens=60, repeat=0))
kind("leak_after_cache", "leak", "live-memory", "cache_items.py",
     "per-example cache until the end of the first epoch, then a slow leak",
     trace(400, 1, 120, 8, GLIBC, onset_step=120, item_kb=100, then="leak", leak_kb=150),
     trace(300, 5, 110, 4, MIMALLOC, onset_step=110, item_kb=200, then="leak", leak_kb=300),
     trace(500, 10, 150, 4, JEMALLOC, onset_step=150, item_kb=150, then="leak", leak_kb=100))
kind("leak_under_spikes", "leak", "live-memory", "evaluation.py",
     "training leaks at each step, under evaluation spikes that are much larger",
     trace(300, 1, 75, 8, GLIBC, eval_every=20, spike_mb=250, leak_kb=120),
     trace(400, 5, 80, 4, MIMALLOC, eval_every=25, spike_mb=200, pieces=600, leak_kb=200),
     trace(240, 2, 60, 8, GLIBC, eval_every=30, spike_mb=400, leak_kb=300))
kind("leak_checkpoint", "leak", "live-memory", "checkpoints.py",
     "each checkpoint keeps a copy of its state: a rare staircase",
     trace(400, 1, 100, 8, GLIBC, mode="leak", checkpoint_every=25, state_mb=5),
     trace(600, 5, 150, 4, TCMALLOC, mode="leak", checkpoint_every=60, state_mb=12, named=0),
     trace(300, 2, 60, 4, MIMALLOC, mode="leak", checkpoint_every=40, state_mb=9, named=0))
kind("leak_shm", "leak", "shared-memory", "shared_segments.py",
     "shared-memory segments never unmapped nor unlinked",
     trace(300, 1, 60, 8, GLIBC, pool=0, segment_kb=400, every_steps=1),
     trace(400, 10, 90, 4, GLIBC, pool=0, segment_kb=1500, every_steps=10))
kind("leak_pools", "leak", "workers", "workers.py",
     "each evaluation starts further persistent workers that nobody closes",
     trace(300, 2, 60, 8, GLIBC, mode="multiply", workers=2, added=2, eval_every=25, start_mb=5),
     trace(240, 5, 80, 4, JEMALLOC, mode="multiply", workers=3, added=1, eval_every=20,
           start_mb=10))
kind("leak_one_worker", "leak", "child", "workers.py",
     "one of four workers keeps all it decodes",
     trace(300, 1, 75, 8, GLIBC, mode="one_leaks", workers=4, keep_kb=250),
     trace(400, 5, 100, 4, MIMALLOC, mode="one_leaks", workers=4, keep_kb=100))
kind("leak_threads", "leak", "threads", "threads.cc",
     "threads never joined; their stacks and scratch stay",
     trace(300, 1, 60, 8, GLIBC, limit=0, each=3, stack_kb=256, scratch_kb=200),
     trace(400, 5, 100, 4, JEMALLOC, limit=0, each=10, stack_kb=1024, scratch_kb=500))
kind("leak_accelerating", "leak", "python-objects", "histories_copied.py",
     "each log call keeps a copy of the whole history: quadratic",
     trace(400, 1, 80, 8, GLIBC, per_step=250),
     trace(300, 5, 100, 4, GLIBC, per_step=1500, log_every=5))
kind("leak_long_sawtooth", "leak", "live-memory", "gc_cycles.py",
     "cycles freed by the collector every 50 to 110 steps, and a little kept for ever",
     trace(600, 1, 100, 8, GLIBC, nodes=150, payload_kb=200, mapped=40, period=80, leak_kb=80),
     trace(500, 5, 125, 4, JEMALLOC, nodes=100, payload_kb=250, mapped=50, period=60, leak_kb=150),
     trace(600, 10, 120, 4, GLIBC, nodes=120, payload_kb=150, mapped=30, period=110, leak_kb=100))
kind("leak_late", "leak", "live-memory", "late_leak.py",
     "level until half of the run, then a callback keeps something at each step",
     trace(300, 1, 50, 8, GLIBC, onset_step=150, leak_kb=300),
     trace(500, 5, 100, 4, TCMALLOC, onset_step=250, leak_kb=200, item_kb=120))
kind("leak_history", "leak", "python-objects", "metric_history.py",
     "per-step outputs are appended to a list that is never emptied",
     trace(300, 2, 75, 8, GLIBC, release=0, floats=25000),
     trace(500, 5, 100, 4, MIMALLOC, release=0, floats=8000))
kind("leak_memo", "leak", "python-objects", "unbounded_memo.py",
     "lru_cache without a size, keys never the same twice",
     trace(300, 1, 75, 8, GLIBC, calls=20, words=300),
     trace(400, 10, 100, 4, JEMALLOC, calls=6, words=400))
kind("leak_sessions", "leak", "native-live", "sessions.cc",
     "session records never expire and pin pages among freed blocks",
     trace(400, 2, None, None, GLIBC, expire=0, record=250),
     trace(300, 1, None, None, JEMALLOC, expire=0, record=600))
kind("leak_heavy_tail", "leak", "live-memory", "heavy_leak.py",
     "leaks of random, heavy-tailed size at random steps",
     trace(400, 1, 80, 8, GLIBC, chance=0.15, unit_kb=400),
     trace(600, 5, 120, 4, JEMALLOC, chance=0.06, unit_kb=700),
     trace(300, 2, 60, 4, TCMALLOC, chance=0.25, unit_kb=250, alpha=1.1))
kind("leak_sqlite", "leak", "native-live", "sqlite_rows.py",
     "a log table in an SQLite database in memory: rows are only added",
     trace(300, 2, 60, 8, GLIBC, rows=40, row_kb=4, limit=0))

# --- lives and loads -----------------------------------------------------------------------------

lives = functools.partial(kind, folder="lives")
lives("epoch_workers", "plateau", "workers", "lives.py",
     "workers are forked anew at each epoch and end with it; the job itself keeps nothing",
     trace(300, 1, 50, 8, GLIBC, mode="epochs", workers=3, keep_kb=200, model_mb=150),
     trace(320, 2, 80, 4, JEMALLOC, mode="epochs", workers=2, keep_kb=500, model_mb=80),
     trace(240, 1, 120, 4, GLIBC, mode="epochs", workers=4, keep_kb=150, model_mb=200, pause=4),
     trace(400, 5, 45, 8, MIMALLOC, mode="epochs", workers=4, keep_kb=0, start_mb=25, model_mb=120),
     trace(210, 1, 70, 4, ONE_ARENA, mode="epochs", workers=2, keep_kb=800, pause=10),
     trace(600, 10, 100, 4, TCMALLOC, mode="epochs", workers=3, keep_kb=250, model_mb=60))
lives("workers_end_level", "plateau", "workers", "lives.py",
     "workers with a cache that fills end before the job does, which keeps nothing",
     trace(300, 1, 100, 4, GLIBC, mode="end", workers=2, end_step=285, cache_mb=60),
     trace(240, 2, 80, 4, JEMALLOC, mode="end", workers=3, end_step=150, cache_mb=40, model_mb=120),
     trace(300, 1, 100, 4, GLIBC, mode="end", workers=4, end_step=90, cache_mb=30, start_mb=20),
     trace(400, 5, 100, 8, MIMALLOC, mode="end", workers=2, end_step=380, cache_mb=100))
lives("job_restarted", "plateau", "restarts", "lives.py",
     "the job dies and starts anew; in each life a cache fills and is then full",
     trace(400, 1, 400, 4, GLIBC, mode="restart", life=100, cache_mb=80, start_mb=30),
     trace(360, 2, 360, 4, JEMALLOC, mode="restart", life=130, cache_mb=40, start_mb=60),
     trace(500, 5, 500, 4, GLIBC, mode="restart", life=90, cache_mb=120, start_mb=20),
     trace(300, 1, 300, 4, GLIBC, mode="restart", life=160, cache_mb=60, start_mb=40))
lives("load_waves", "plateau", "load", "load.py",
     "memory follows the requests in flight, which come in waves",
     trace(600, 2, None, None, GLIBC, period=150, height_mb=120),
     trace(500, 5, None, None, JEMALLOC, period=240, height_mb=200, low=0.4),
     trace(400, 1, None, None, GLIBC, period=330, height_mb=90, phase=0.6),
     trace(700, 5, None, None, MIMALLOC, period=100, height_mb=60, jitter=0.2),
     trace(300, 1, None, None, GLIBC, period=620, height_mb=150, phase=0.75),
     trace(260, 1, None, None, GLIBC, period=500, height_mb=100, phase=0.8, low=0.1))
lives("large_level", "plateau", "none", "slow_leak.py",
     "a large level that wavers; nothing is kept",
     trace(300, 1, None, None, GLIBC, level_mb=400, leak_kb=0),
     trace(600, 5, 100, 4, JEMALLOC, level_mb=600, leak_kb=0, waver_mb=12.0, phi=0.9),
     trace(200, 2, None, None, GLIBC, level_mb=300, leak_kb=0, waver_mb=4.0))

lives("leak_epoch_workers", "leak", "live-memory", "lives.py",
     "the job keeps something at each step, while workers are forked anew at each epoch",
     trace(300, 1, 50, 8, GLIBC, mode="epochs", workers=3, keep_kb=200, leak_kb=200),
     trace(320, 2, 80, 4, JEMALLOC, mode="epochs", workers=2, keep_kb=500, leak_kb=300),
     trace(360, 1, 120, 4, GLIBC, mode="epochs", workers=4, keep_kb=150, leak_kb=400, pause=4),
     trace(400, 5, 45, 8, MIMALLOC, mode="epochs", workers=4, start_mb=25, leak_kb=150),
     trace(280, 1, 70, 4, ONE_ARENA, mode="epochs", workers=2, keep_kb=800, leak_kb=250, pause=10),
     trace(600, 10, 100, 4, TCMALLOC, mode="epochs", workers=3, keep_kb=250, leak_kb=120))
lives("leak_workers_end", "leak", "live-memory", "lives.py",
     "job and workers keep something at each step; the workers end before the job does",
     trace(300, 1, 60, 4, GLIBC, mode="end", workers=2, end_step=285, leak_kb=300, worker_leak_kb=300),
     trace(240, 2, 80, 4, JEMALLOC, mode="end", workers=3, end_step=150, leak_kb=250, worker_leak_kb=150),
     trace(300, 1, 60, 4, GLIBC, mode="end", workers=4, end_step=90, leak_kb=200, cache_mb=30),
     trace(400, 5, 100, 8, MIMALLOC, mode="end", workers=2, end_step=380, leak_kb=0, worker_leak_kb=250))
lives("leak_restarted", "leak", "live-memory", "lives.py",
     "the job keeps something at each step, dies and starts anew",
     trace(400, 1, 40, 4, GLIBC, mode="restart", life=100, leak_kb=800, start_mb=30),
     trace(360, 2, 40, 4, JEMALLOC, mode="restart", life=130, leak_kb=600, start_mb=60),
     trace(500, 5, 50, 4, GLIBC, mode="restart", life=90, leak_kb=900, start_mb=20),
     trace(300, 1, 40, 4, GLIBC, mode="restart", life=160, leak_kb=500, start_mb=40))
lives("leak_load_waves", "leak", "live-memory", "load.py",
     "memory follows the requests in flight, and a little of each is kept for ever",
     trace(600, 2, None, None, GLIBC, period=150, height_mb=80, leak_kb=150),
     trace(600, 5, None, None, JEMALLOC, period=200, height_mb=120, low=0.4, leak_kb=250),
     trace(700, 5, None, None, MIMALLOC, period=100, height_mb=60, jitter=0.2, leak_kb=120))
lives("leak_slow", "leak", "live-memory", "slow_leak.py",
     "a leak of a few per cent of a large level over the run",
     trace(300, 1, None, None, GLIBC, level_mb=400, leak_kb=60),
     trace(600, 5, 100, 4, JEMALLOC, level_mb=600, leak_kb=60, waver_mb=8.0),
     trace(400, 2, 100, 4, GLIBC, level_mb=300, leak_kb=50, waver_mb=4.0),
     trace(800, 5, 100, 4, GLIBC, level_mb=700, leak_kb=30, waver_mb=4.0))

# --- kinds with drawn parameters -----------------------------------------------------------------

TRACES += all_drawn()
