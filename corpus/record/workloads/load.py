# SPDX-License-Identifier: Apache-2.0
"""A server whose memory follows the work in flight, which rises and falls with the day.

Each request holds a buffer while it is in flight; the number in flight follows a wave of `period`
steps, from `low` to 1 of its height, with noise, beginning at `phase` of the wave. Nothing outlives
its request but leak_kb at each step. Without a leak growth is bounded by the height of the wave.
"""
import math

from steps import MIB, Job, fill

job = Job(period=200, height_mb=120.0, low=0.2, phase=0.75, leak_kb=0.0, request_kb=256.0, jitter=0.08)
flight, kept = [], []
for step in job:
    wave = 0.5 + 0.5 * math.sin(2 * math.pi * (step / job.period + job.phase))
    share = job.low + (1 - job.low) * wave
    share *= 1 + job.jitter * job.random.gauss(0, 1)
    target = int(max(0.0, share) * job.height_mb * MIB / (job.request_kb * 1024))
    while len(flight) < target:
        flight.append(fill(job.request_kb * 1024))
    del flight[target:]
    if job.leak_kb:
        kept.append(fill(job.leak_kb * 1024 * job.random.uniform(0.5, 1.5)))
        job.leak(len(kept[-1]))
    elif step > job.period:
        job.growth_ends(step)
