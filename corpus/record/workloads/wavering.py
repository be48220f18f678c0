# SPDX-License-Identifier: Apache-2.0
"""A level job whose live memory wavers slowly: an AR(1) process, clipped to plus or minus 5 %.

Nothing is kept beyond the clip, so the level is bounded from the first step on.
"""
from steps import Job, fill

job = Job(level_mb=200.0, phi=0.95, share=0.05, block_kb=100.0)
blocks, state = [], 0.0
job.growth_ends(0)
for step in job:
    state = job.phi * state + (1 - job.phi**2) ** 0.5 * job.random.gauss(0, 0.5)
    state = max(-1.0, min(1.0, state))
    target = int(job.level_mb * (1 + job.share * state) * 1024 / job.block_kb)
    while len(blocks) < target:
        blocks.append(fill(job.block_kb * 1024))
    del blocks[target:]
