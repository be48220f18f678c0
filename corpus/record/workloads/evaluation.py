# SPDX-License-Identifier: Apache-2.0
"""Evaluations that hold all predictions for a while: spikes. What they keep differs.

keep=0: nothing is kept. keep=N: the predictions' summary of the last N evaluations is kept, so the
retained part grows for N evaluations and is then capped. leak_kb > 0: training leaks a little at
each step, far less than the spikes are high.
pieces: in how many blocks the predictions lie; one is a concatenated tensor, which every allocator
gives back; of many the allocator may keep some.
"""
import collections

from steps import MIB, Job, fill

job = Job(eval_every=25, spike_mb=60.0, pieces=1, keep=0, summary_mb=3.0, leak_kb=0.0)
summaries = collections.deque(maxlen=job.keep)
kept = []
for step in job:
    if job.leak_kb:
        kept.append(fill(job.leak_kb * 1024 * job.random.uniform(0.3, 1.7)))
        job.leak(len(kept[-1]))
    if step % job.eval_every == 0:
        height = job.spike_mb * job.random.uniform(0.7, 1.3)
        job.hold([fill(height * MIB / job.pieces) for _ in range(job.pieces)], "eval")
        summaries.append(fill(job.summary_mb * MIB * job.random.uniform(0.9, 1.1)))
        if len(summaries) == job.keep and not job.leak_kb:
            job.growth_ends(step)
