# SPDX-License-Identifier: Apache-2.0
"""A large level that wavers, and a leak that is small beside it: a per cent or a few over the run."""
from steps import MIB, Job, fill

job = Job(level_mb=400, waver_mb=6.0, leak_kb=40.0, phi=0.5)
level = [fill(MIB) for _ in range(job.level_mb)]
wavering, kept, state = [], [], 0.0
for step in job:
    state = job.phi * state + (1 - job.phi**2) ** 0.5 * job.random.gauss(0, 1)
    target = int(max(0.0, 3 + state) * job.waver_mb * 8)
    while len(wavering) < target:
        wavering.append(fill(MIB / 8))
    del wavering[target:]
    if job.leak_kb:
        kept.append(fill(job.leak_kb * 1024 * job.random.uniform(0.5, 1.5)))
        job.leak(len(kept[-1]))
    else:
        job.growth_ends(step)
