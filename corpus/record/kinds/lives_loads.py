# SPDX-License-Identifier: Apache-2.0
"""Processes that come and go, and load that rises and falls; each bounded and as a leak."""
import functools

from kinds import drawn, fills, one_of, span

kind = functools.partial(drawn, number=6)
pool = functools.partial(kind, label="plateau", cause="workers", workload="processes/pools.py")
pool_leak = functools.partial(kind, label="leak", cause="child", workload="processes/pools.py")


def per_step_kb(draw, each=1):
    return round(draw.leaked_mb() * 1024 / draw.steps / each, 3)


# --- processes -----------------------------------------------------------------------------------

def replaced(draw):
    life = draw.span(draw.steps // 10, draw.steps // 3)
    return {"life": life,
            "keep_kb": round(draw.grown_mb(5.0, 150.0) * 1024 / life / draw.workers, 3)}


def snapshots(draw):
    """The state is written all over in about as many steps as the child lasts."""
    life = draw.span(max(12, draw.steps // 12), max(14, draw.steps // 3))
    lasts = max(3, round(life * draw.span(0.1, 0.8)))
    return {"life": life, "lasts": lasts,
            "writes": max(1, round(draw.state_mb * 4 * draw.span(0.3, 2.0) / lasts))}


def killed(draw):
    """The limit is reached two to six times in the run."""
    limit_mb = draw.span(15, 120)
    return {"state_mb": limit_mb,
            "keep_kb": round(limit_mb * draw.span(2.2, 6.5) * 1024 / draw.steps, 3)}


def helpers(draw):
    count = draw.span(2, 8)
    return {"workers": count, "life": max(2, draw.end_step() // count),
            "keep_kb": round(draw.grown_mb(high=200.0) * 1024 / count, 3)}


def helpers_leak(draw):
    count = draw.span(4, 14)
    return {"life": draw.steps // count,
            "keep_kb": round(draw.leaked_mb(high=120.0) * 1024 / count, 3)}


pool("tasks_limited", note="workers keep something of each task and are replaced after some tasks",
     family="max-tasks", mode="tasks", workers=span(1, 4), steps=span(120, 300), given=replaced)
pool_leak("leak_tasks_unlimited", note="workers keep something of each task and are never replaced",
          family="max-tasks", mode="tasks_all", workers=span(1, 4), steps=span(120, 300),
          given=lambda draw: {"keep_kb": per_step_kb(draw, draw.workers)})
pool("snapshots_forked", note="a forked child holds the state for some steps; copies end with it",
     family="snapshot", mode="snapshot", state_mb=span(10, 120), given=snapshots)
pool_leak("leak_snapshot_parent", cause="live-memory", family="snapshot", mode="snapshot_leak",
          note="the job keeps something at each step, while forked children come and go",
          state_mb=span(10, 120),
          given=lambda draw: snapshots(draw) | {"keep_kb": per_step_kb(draw)})
pool_leak("leak_killed_at_limit", note="a leaking child is killed at its limit and started again",
          family="limit", folder="fit", mode="limit", given=killed)
pool("helpers_bounded", note="helper programs, at most a number at a time", family="helpers",
     mode="exec", given=helpers)
pool_leak("leak_helpers", note="helper programs are started and never ended", family="helpers",
          mode="exec_all", given=helpers_leak)

# --- load ----------------------------------------------------------------------------------------

load = functools.partial(kind, label="plateau", cause="load", workload="processes/loads.py",
                         epoch_steps=None, batch=None)
load_leak = functools.partial(kind, label="leak", cause="live-memory", epoch_steps=None, batch=None,
                              workload="processes/loads.py")


def loaded(draw, life, low=10.0, high=300.0):
    """So many MB of requests in flight at full load."""
    mb = draw.span(low, high)
    return {"height": draw.height, "life": life,
            "request_kb": round(mb * 1024 / draw.height, 3)}


def leaking(draw, life, mean_share=1.0):
    """Load of a drawn height, and a leak of a drawn size at its mean."""
    return loaded(draw, life, 10.0, 120.0) | {"leak_kb": round(per_step_kb(draw) / mean_share, 3)}


def in_run(draw, shortest, longest):
    return draw.span(max(2, draw.steps // shortest), draw.steps // longest)


load("load_ramp", note="load rises to its height and stays there", family="ramp", mode="ramp",
     height=span(20, 400), jitter=span(0.01, 0.15),
     given=lambda draw: loaded(draw, draw.end_step()))
load_leak("leak_ramp", note="load rises to its height, and something of each request is kept",
          family="ramp", mode="ramp_leak", height=span(20, 400), jitter=span(0.01, 0.15),
          given=lambda draw: leaking(draw, in_run(draw, 10, 2), 0.8))
load("load_spikes", note="load jumps at random up to its height", family="spikes", mode="spikes",
     height=span(20, 400), given=lambda draw: loaded(draw, 1))
load_leak("leak_spikes", note="load jumps at random, and something of each request is kept",
          family="spikes", mode="spikes_leak", height=span(20, 400),
          given=lambda draw: leaking(draw, 1, 0.25))
load("load_days", note="waves of two periods and noise, of bounded height", family="days",
     mode="days", height=span(20, 400), jitter=span(0.01, 0.2), steps=span(200, 600),
     given=lambda draw: loaded(draw, in_run(draw, 10, 2)))
load_leak("leak_days", note="waves of load, and something of each request is kept", family="days",
          mode="days_leak", height=span(20, 400), jitter=span(0.01, 0.2), steps=span(200, 600),
          given=lambda draw: leaking(draw, in_run(draw, 10, 3), 0.45))
load("load_levels", note="load changes at random between five heights", family="levels",
     mode="steps", height=span(20, 400), given=lambda draw: loaded(draw, in_run(draw, 20, 4)))
load_leak("leak_levels", note="load changes at random, and something of each request is kept",
          family="levels", mode="steps_leak", height=span(20, 400),
          given=lambda draw: leaking(draw, in_run(draw, 20, 5), 0.6))
load("queue_bounded", note="a queue fills because its consumer is slower, then blocks the producer",
     cause="bounded-cache", family="queue", mode="queue", given=fills("life", "request_kb"))
load_leak("leak_beside_queue", note="a queue fills and blocks, and something of each request is "
          "kept", family="queue", mode="queue_leak",
          given=lambda draw: fills("life", "request_kb", high=80.0)(draw)
          | {"leak_kb": per_step_kb(draw)})
load("clients_bounded", note="clients come and stay, each with a buffer, at most a number at once",
     cause="bounded-cache", family="clients", mode="clients", height=span(1, 6),
     given=fills("life", "request_kb", "height", in_parts=True))
load_leak("leak_clients", note="clients come up to a number; those that vanish keep their buffer",
          family="clients", mode="clients_leak", height=span(1, 6),
          given=lambda draw: fills("life", "request_kb", "height", in_parts=True, high=80.0)(draw)
          | {"leak_kb": per_step_kb(draw)})

# --- more traces of kinds that the older folders have ---------------------------------------------

more = functools.partial(drawn, number=6, first=101, folder="fit")

more("epoch_workers", "plateau", "workers", "lives.py",
     "workers are forked anew at each epoch and end with it; the job itself keeps nothing",
     family="epoch-workers", mode="epochs", workers=span(1, 4), steps=span(150, 400),
     start_mb=span(1.0, 20.0), pause=one_of(0, 2, 5),
     given=lambda draw: {"keep_kb": round(draw.grown_mb(5.0, 150.0) * 1024 / draw.epoch_steps
                                          / draw.workers, 3)})
more("leak_epoch_workers", "leak", "live-memory", "lives.py",
     "the job keeps something at each step, while workers are forked anew at each epoch",
     family="epoch-workers", mode="epochs", workers=span(1, 4), steps=span(150, 400),
     start_mb=span(1.0, 20.0), pause=one_of(0, 2, 5),
     given=lambda draw: {"keep_kb": round(draw.grown_mb(5.0, 80.0) * 1024 / draw.epoch_steps
                                          / draw.workers, 3), "leak_kb": per_step_kb(draw)})
more("leak_one_worker", "leak", "child", "workers.py", "one of some workers keeps all it decodes",
     family="one-worker", mode="one_leaks", workers=span(3, 5),
     given=lambda draw: {"keep_kb": per_step_kb(draw)})
more("job_restarted", "plateau", "restarts", "lives.py",
     "the job dies and starts anew; in each life a cache fills and is then full",
     family="restarted", mode="restart", cache_mb=span(5.0, 150.0), start_mb=span(2.0, 60.0),
     model_mb=10, given=lambda draw: {"life": in_run(draw, 6, 2)})
more("load_waves", "plateau", "load", "load.py",
     "memory follows the requests in flight, which come in waves", family="waves", epoch_steps=None,
     batch=None, height_mb=span(20.0, 250.0), low=span(0.05, 0.5), jitter=span(0.02, 0.2),
     phase=one_of(0.0, 0.25, 0.5, 0.75), given=lambda draw: {"period": in_run(draw, 10, 1)})
more("leak_load_waves", "leak", "live-memory", "load.py",
     "memory follows the requests in flight, and a little of each is kept for ever",
     family="waves", epoch_steps=None, batch=None, height_mb=span(20.0, 150.0),
     low=span(0.05, 0.5), jitter=span(0.02, 0.2), phase=one_of(0.0, 0.25, 0.5, 0.75),
     given=lambda draw: {"period": in_run(draw, 10, 3), "leak_kb": per_step_kb(draw)})
more("large_level", "plateau", "none", "wavering.py",
     "live memory follows an AR(1) process clipped to 5 % of its level", family="level", number=10,
     level_mb=span(30, 450), phi=one_of(0.5, 0.8, 0.9, 0.95, 0.98, 0.99), model_mb=10)
more("leak_slow", "leak", "live-memory", "slow_leak.py",
     "a leak of a few per cent of a large level over the run", family="level", number=10,
     level_mb=span(100, 450), phi=one_of(0.3, 0.5, 0.8, 0.9, 0.95), model_mb=10,
     given=lambda draw: {"leak_kb": round(draw.level_mb * draw.span(0.02, 0.1) * 1024
                                          / draw.steps, 3), "waver_mb": draw.span(0.5, 5.0)})
more("leak_heavy_tail", "leak", "live-memory", "heavy_leak.py",
     "leaks of random, heavy-tailed size at random steps", family="heavy-tail",
     chance=span(0.03, 0.4), alpha=span(1.1, 2.0),
     given=lambda draw: {"unit_kb": round(per_step_kb(draw) / draw.chance / 2.5, 3)})
more("lru_epochs", "plateau", "bounded-cache", "cache_lru.py",
     "LRU cache of fixed capacity with keys that never repeat: fills, then evicts", family="lru",
     keep=one_of(0.3, 0.6, 1.0), given=lambda draw: {
         "capacity": (most := max(4, round(draw.end_step() * draw.batch * draw.keep))),
         "entry_kb": round(draw.grown_mb() * 1024 / most, 3)})
more("coupons", "plateau", "bounded-cache", "cache_coupons.py",
     "finite set of keys drawn with replacement: approaches its bound exponentially",
     family="coupons", keys=span(60, 800), given=lambda draw: {
         "draws": max(1, round(draw.keys * 6.0 / draw.end_step())),
         "value_kb": round(draw.grown_mb() * 1024 / draw.keys, 3)})
more("leak_late", "leak", "live-memory", "late_leak.py",
     "level for a while, then a callback keeps something at each step", family="late",
     given=lambda draw: {"onset_step": (onset := round(draw.random.uniform(0.2, 0.7) * draw.steps)),
                         "leak_kb": round(draw.leaked_mb() * 1024 / (draw.steps - onset), 3)})
