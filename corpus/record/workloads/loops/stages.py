# SPDX-License-Identifier: Apache-2.0
"""What changes in the course of a training: layers, phases, first times.

mode=unfreeze: every `interval` steps one layer more trains and gets its state, up to `layers`.
rebuilt: every `interval` steps the optimiser is made anew, and a scheduler keeps the old one.
accumulate: gradients pile up and are dropped every `interval` steps; accumulate_kept: but for a
part of each pile. first_times: the first evaluation, checkpoint and export each make a buffer that
is used again later; each_time: each makes its own and keeps it. profile: records are kept for the
first `interval` steps, then dropped; profile_all: nobody stops the profiler. phases: the second
phase holds more; phase_leaks: something is kept at each of its steps. exponential: at each step a
share of the shards that are still cold is loaded; exponential_leak: and something is kept. lengths:
the sequences of the curriculum lengthen until step `interval`. thinned: snapshots at ever longer
intervals, the last `layers` are kept; thinned_kept: all are, so that growth slows down but never
ends.
"""
import collections
import math

from steps import Job, fill


def around(job, size):
    return size * job.random.uniform(0.5, 1.5)


def unfreeze(job):
    states = []
    for step in job:
        if step % job.interval == 0 and job.mode == "rebuilt":
            job.keep_for_ever(job.part_kb * 1024)
        elif step % job.interval == 0 and len(states) < job.layers:
            states.append(fill(job.part_kb * 1024))
            if len(states) == job.layers:
                job.growth_ends(step)


def accumulate(job):
    pile = []
    for step in job:
        pile.append(fill(around(job, job.part_kb * 1024)))
        if step % job.interval == 0:
            pile.clear()
            if job.mode == "accumulate_kept":
                job.keep_for_ever(around(job, job.rest_kb * 1024))
            else:
                job.growth_ends(step)


def first_times(job):
    """Three kinds of rare work, each with a period of its own."""
    periods = {"eval": job.interval, "checkpoint": int(job.interval * 1.7),
               "": job.interval * 2 + 3}
    buffers = {}
    for step in job:
        for event, period in periods.items():
            if step % period:
                continue
            if job.mode == "each_time":
                job.keep_for_ever(around(job, job.part_kb * 1024))
            elif event not in buffers:
                buffers[event] = fill(job.part_kb * 1024)
                if len(buffers) == len(periods):
                    job.growth_ends(step)
            if job.named:
                job.event = event


def profile(job):
    records = []
    for step in job:
        if job.mode == "profile_all":
            job.keep_for_ever(around(job, job.part_kb * 1024))
        elif step < job.interval:
            records.append(fill(around(job, job.part_kb * 1024)))
        else:
            records.clear()
            job.growth_ends(step)


def phases(job):
    more = []
    for step in job:
        if step > job.interval and len(more) < job.layers:
            more.append(fill(job.part_kb * 1024))
        elif step > job.interval and job.mode == "phases":
            job.growth_ends(step)
        if step > job.interval and job.mode == "phase_leaks":
            job.keep_for_ever(around(job, job.rest_kb * 1024))


def exponential(job):
    warm = []
    for step in job:
        target = round(job.layers * (1 - math.exp(-step / job.interval)))
        while len(warm) < target:
            warm.append(fill(job.part_kb * 1024))
        if job.mode == "exponential_leak":
            job.keep_for_ever(around(job, job.rest_kb * 1024))
        elif target == job.layers:
            job.growth_ends(step)


def lengths(job):
    for step in job:
        share = 0.1 + 0.9 * min(1.0, step / job.interval)
        job.held = fill(share * job.random.uniform(0.8, 1.0) * job.part_kb * 1024)
        if step >= job.interval:
            job.growth_ends(step)


def thinned(job):
    snapshots, number = collections.deque(maxlen=job.layers), 0
    for step in job:
        if step < number**2 / job.interval:
            continue
        number += 1
        if job.mode == "thinned_kept":
            job.keep_for_ever(around(job, job.part_kb * 1024))
        else:
            snapshots.append(fill(around(job, job.part_kb * 1024)))
            if len(snapshots) == job.layers:
                job.growth_ends(step)


MODES = {"unfreeze": unfreeze, "rebuilt": unfreeze, "accumulate": accumulate,
         "accumulate_kept": accumulate, "first_times": first_times, "each_time": first_times,
         "profile": profile, "profile_all": profile, "phases": phases, "phase_leaks": phases,
         "exponential": exponential, "exponential_leak": exponential, "lengths": lengths,
         "thinned": thinned, "thinned_kept": thinned}
this_job = Job(mode="unfreeze", interval=50, layers=12, part_kb=1000.0, rest_kb=0.0, named=1,
               onset_step=0)
MODES[this_job.mode](this_job)
