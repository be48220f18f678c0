# SPDX-License-Identifier: Apache-2.0
"""Checkpoints every so many steps. mode=ratchet: the first one allocates a staging area that later
ones reuse (one jump, then level). mode=leak: each keeps a copy of its state dict in a list of
"recent checkpoints" that nobody trims: a staircase with long, level treads.
named=0 leaves the event out of the trace, as most logs do.
"""
from steps import MIB, Job, fill

job = Job(mode="ratchet", checkpoint_every=25, state_mb=6.0, named=1)
kept, staging = [], None
for step in job:
    if step % job.checkpoint_every:
        continue
    if job.mode == "leak":
        kept.append(fill(job.state_mb * MIB * job.random.uniform(0.8, 1.2)))
        job.leak(len(kept[-1]))
    elif staging is None:
        staging = fill(job.state_mb * MIB)
        job.growth_ends(step)
    job.hold(fill(job.state_mb * MIB * 0.5), "checkpoint" if job.named else "")
