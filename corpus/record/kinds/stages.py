# SPDX-License-Identifier: Apache-2.0
"""Stages of a training, and small things that a loop registers; each bounded and as a leak."""
import functools

from kinds import drawn, fills, leaks, one_of, span

loop = functools.partial(drawn, number=5)
bounded = functools.partial(loop, label="plateau")
leak = functools.partial(loop, label="leak", cause="live-memory")
stage = functools.partial(bounded, cause="phase", workload="loops/stages.py")
stage_leak = functools.partial(leak, workload="loops/stages.py")


def stairs(draw, count):
    """So many equal parts, the last at the end of growth."""
    return {"interval": max(1, draw.end_step() // count),
            "part_kb": round(draw.grown_mb() * 1024 / count, 3)}


def rare_leak(draw, key="part_kb", fewest=6, most=25, times=1.0):
    """A leak in few large parts, `times` of them per interval."""
    interval = max(2, draw.steps // draw.span(fewest, most))
    part_kb = draw.leaked_mb() * 1024 * interval / draw.steps / times
    return {"interval": interval, key: round(part_kb, 3)}


def piles(draw, shortest, longest):
    interval = draw.span(draw.steps // shortest, draw.steps // longest)
    return {"interval": interval, "part_kb": round(draw.grown_mb(5.0, 150.0) * 1024 / interval, 3)}


def piles_and_rest(draw):
    values = piles(draw, 30, 7)
    rest_kb = draw.leaked_mb() * 1024 / draw.steps * values["interval"]
    return values | {"rest_kb": round(rest_kb, 3)}


def second_phase(draw):
    """The run's second part begins somewhere in its middle and holds more."""
    switch = round(draw.random.uniform(0.15, 0.7) * draw.steps)
    return {"interval": switch, "part_kb": round(draw.grown_mb() * 1024 / draw.layers, 3)}


def second_phase_leaks(draw):
    values = second_phase(draw)
    rest_kb = draw.leaked_mb() * 1024 / (draw.steps - values["interval"])
    return values | {"onset_step": values["interval"], "rest_kb": round(rest_kb, 3)}


def warm_up(draw, longest):
    interval = max(2, round(draw.span(0.03, longest) * draw.steps))
    return {"interval": interval, "part_kb": round(draw.grown_mb() * 1024 / draw.layers, 3)}


def thinned_kept(draw):
    """The n-th snapshot is taken at step n * n / interval."""
    snapshots = (draw.steps * draw.interval) ** 0.5
    return {"part_kb": round(draw.leaked_mb() * 1024 / snapshots, 3)}


def thinned(draw):
    count = max(3, round((draw.end_step() * draw.interval) ** 0.5))
    return {"layers": count, "part_kb": round(draw.grown_mb() * 1024 / count, 3)}


stage("layers_unfrozen", note="the state of a layer is made when it begins to train; all do in the "
      "end", family="unfreeze", mode="unfreeze", layers=span(3, 24),
      given=lambda draw: stairs(draw, draw.layers))
stage_leak("leak_optimisers", note="the optimiser is made anew at intervals and the old one kept",
           family="unfreeze", mode="rebuilt", given=rare_leak)
stage("gradients_accumulated", cause="sawtooth", family="accumulate", mode="accumulate",
      note="gradients pile up over some steps and are dropped together",
      given=lambda draw: piles(draw, 30, 3))
stage_leak("leak_accumulated", note="of each pile of gradients a part is kept for ever",
           family="accumulate", mode="accumulate_kept", given=piles_and_rest)
stage("first_times", note="the first evaluation, checkpoint and export each make a buffer that is "
      "used again", family="first-times", mode="first_times", named=one_of(0, 1),
      given=lambda draw: {"interval": max(3, draw.end_step() // 2),
                          "part_kb": round(draw.grown_mb() * 1024 / 3, 3)})
stage_leak("leak_each_time", note="each evaluation, checkpoint and export keeps its own buffer",
           family="first-times", mode="each_time", named=one_of(0, 1),
           given=lambda draw: rare_leak(draw, times=2.1))
stage("profile_dropped", note="profile records of the first steps are kept, then dropped",
      family="profile", mode="profile", given=fills("interval", "part_kb", high=200.0))
stage_leak("leak_profile", note="nobody stops the profiler, which keeps a record of each step",
           family="profile", mode="profile_all", given=leaks("part_kb"))
stage("second_phase", note="the second phase holds more than the first, which is all",
      family="phases", mode="phases", layers=span(1, 20), given=second_phase)
stage_leak("leak_second_phase", note="something is kept at each step of the second phase",
           family="phases", mode="phase_leaks", layers=span(1, 20), given=second_phase_leaks)
stage("warm_exponential", cause="warm-up", family="exponential", mode="exponential",
      layers=span(20, 300), note="at each step a share of what is still cold is loaded",
      given=lambda draw: warm_up(draw, 0.4))
stage_leak("leak_warm", note="a warm-up, and something kept at each step", family="exponential",
           mode="exponential_leak", layers=span(20, 300), given=lambda draw: warm_up(draw, 0.25)
           | {"rest_kb": round(draw.leaked_mb() * 1024 / draw.steps, 3)})
stage("lengths_rise", note="sequences lengthen up to the end of the curriculum",
      family="lengths", mode="lengths", given=lambda draw: {
          "interval": draw.end_step(), "part_kb": round(draw.grown_mb(5.0, 200.0) * 1024, 3)})
stage("snapshots_thinned", cause="bounded-cache", family="thinned", mode="thinned",
      interval=span(2, 8), note="snapshots at ever longer intervals, the last of which are kept",
      given=thinned)
stage_leak("leak_thinned", note="snapshots at ever longer intervals, all of which are kept: growth "
           "slows down and never ends", family="thinned", mode="thinned_kept",
           interval=span(2, 8), given=thinned_kept)

# --- what a loop registers, starts or opens ------------------------------------------------------

held = functools.partial(bounded, cause="bounded-cache", workload="loops/holders.py")
held_leak = functools.partial(leak, workload="loops/holders.py")
several_epochs = {"steps": span(200, 600), "epoch_steps": lambda rng: rng.randrange(12, 34)}

held("records_ring", note="the last records of the run, a fixed number", family="append",
     mode="append", count=span(2, 200),
     given=fills("limit", "part_kb", "count", in_parts=True, high=200.0))
held_leak("leak_append", cause="python-objects", family="append", mode="append_all",
          note="a record of each batch is appended to a list that nothing empties",
          count=span(2, 200), given=leaks("part_kb", "count"))
held("callbacks_named", note="a callback that captures a batch is replaced by the next of its name",
     family="closures", mode="named", count=span(1, 6),
     given=fills("limit", "part_kb", "count", in_parts=True))
held_leak("leak_closures", note="callbacks that capture a batch are registered and never removed",
          family="closures", mode="closures", count=span(1, 6), given=leaks("part_kb", "count"))
held("best_epochs", note="the best epochs are kept, a fixed number", family="epoch-end",
     mode="best", **several_epochs, given=lambda draw: {
         "limit": (count := max(2, draw.end_step() // draw.epoch_steps)),
         "part_kb": round(draw.grown_mb() * 1024 / count, 3)})
held_leak("leak_epoch_end", note="each epoch's end keeps a summary", family="epoch-end",
          mode="epoch_end", **several_epochs, given=lambda draw: {
              "part_kb": round(draw.leaked_mb() * 1024 * draw.epoch_steps / draw.steps, 3)})
held("lazy_imports", note="modules are imported when first needed; there are so many",
     cause="warm-up", family="imports", mode="imports", steps=span(150, 500), given=lambda draw: {
         "interval": max(1, draw.end_step() // 80)})
held_leak("leak_modules", cause="python-objects", family="imports", mode="modules",
          note="generated code is loaded under a new name each time",
          limit=span(40, 200), count=span(1, 3), steps=span(120, 300))
held("client_codecs", note="a compressor per client; those of the last clients are kept",
     cause="native-live", family="codecs", mode="codecs", count=span(1, 3), part_kb=64.0,
     given=lambda draw: {"limit": min(1200, draw.end_step() * draw.count)})
held_leak("leak_codecs", cause="native-live", family="codecs", mode="codecs_all", count=span(1, 2),
          part_kb=64.0, steps=span(120, 400), note="a compressor per request, never dropped")
held("tasks_cancelled", note="tasks that wait in vain are cancelled after some steps",
     family="tasks", mode="tasks", count=span(1, 20), given=fills("limit", "part_kb", "count"))
held_leak("leak_tasks", note="tasks wait for an answer that never comes", family="tasks",
          mode="tasks_waiting", count=span(1, 20), given=leaks("part_kb", "count"))
held("malloc_freed", note="memory of malloc, freed some steps later", cause="native-live",
     family="malloc", mode="freed", count=span(1, 100), given=fills("limit", "part_kb", "count"))
held_leak("leak_malloc", note="memory of malloc that nobody frees", cause="native-live",
          family="malloc", mode="malloc", count=span(1, 100), given=leaks("part_kb", "count"))

# --- files and mappings --------------------------------------------------------------------------

filed = functools.partial(bounded, cause="file-pages", workload="loops/files.py")
filed_leak = functools.partial(leak, workload="loops/files.py")
in_parts = functools.partial(fills, "limit", "part_kb", "count", in_parts=True)


def touched_at_random(draw):
    """All of n parts are touched after about n * (ln n + 0.6) draws."""
    parts = draw.span(60, 400)
    draws = max(1, round(parts * 6.0 / draw.end_step()))
    return {"limit": parts, "count": draws, "part_kb": round(draw.grown_mb() * 1024 / parts, 3)}


filed("mapped_read", note="a mapped file is read once from end to end", family="mapped-file",
      mode="read", count=span(1, 6), given=in_parts())
filed("mapped_private", note="a private mapping of a file is written to from end to end",
      cause="file-copies", family="mapped-file", mode="private", count=span(1, 6), given=in_parts())
filed_leak("leak_mappings", note="one more private mapping at each step, never unmapped",
           family="mapped-file", mode="shards", count=span(1, 4), given=leaks("part_kb", "count"))
filed("sparse_touched", note="parts of a large mapping are touched at random, until all were",
      cause="warm-up", family="sparse", mode="sparse", given=touched_at_random)
filed_leak("leak_sparse", note="ever new parts of a large mapping are touched", family="sparse",
           mode="further", count=span(1, 10), given=leaks("part_kb", "count"))
filed("memfd_ring", note="the last segments of shared memory stay mapped", cause="shared-memory",
      family="memfd", mode="memfd", count=span(1, 6), given=in_parts())
filed_leak("leak_memfd", note="segments of shared memory are never unmapped", cause="shared-memory",
           family="memfd", mode="memfd_kept", count=span(1, 6), given=leaks("part_kb", "count"))
filed("files_open", note="the last files stay open, each with a buffer", cause="native-live",
      family="descriptors", mode="opened", count=span(1, 6), given=in_parts(high=200.0))
filed_leak("leak_descriptors", note="files are opened, each with a buffer, and never closed",
           cause="native-live", family="descriptors", mode="descriptors", count=span(1, 6),
           given=leaks("part_kb", "count"))
filed("sqlite_pages", note="a database is read through a page cache of fixed size",
      cause="native-live", family="sqlite-file", mode="pages", count=span(4, 30),
      given=in_parts(high=150.0))
filed_leak("leak_connections", note="connections to a database are never closed, each with a cache",
           cause="native-live", family="sqlite-file", mode="connections", interval=span(1, 12),
           count=span(4, 20), given=lambda draw: {"part_kb": round(
               draw.leaked_mb() * 1024 * draw.interval / draw.steps / draw.count, 3)})
