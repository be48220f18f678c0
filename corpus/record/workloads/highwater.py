# SPDX-License-Identifier: Apache-2.0
"""A workspace that grows to the longest batch seen so far; lengths have a heavy tail.

Each example has a fixed length, drawn once from a capped Pareto law; a batch is padded to its
longest. The workspace is replaced when a batch does not fit, never shrunk: new highs become rarer,
as records do. After the first epoch the longest example has been seen: growth has ended.
mode=heap keeps no workspace: the batch is built of many small blocks and freed, and the allocator
keeps what it keeps.
"""
from steps import MIB, Job, fill

job = Job(alpha=1.2, unit_kb=60.0, cap_mb=20.0, mode="workspace")
lengths = [min(job.unit_kb * 1024 * job.random.paretovariate(job.alpha), job.cap_mb * MIB)
           for _ in range(job.examples)]
workspace = b""
for step in job:
    padded = int(max(lengths[i] for i in job.items(step))) * job.batch
    if job.mode == "workspace":
        if padded > len(workspace):
            workspace = b""
            workspace = fill(padded)
    else:
        blocks = [fill(job.random.randrange(2000, 60000)) for _ in range(padded // 31000)]
        kept = blocks[::97]  # a few survive until the next step and pin their pages
        del blocks
    if step == job.epoch_steps:
        job.growth_ends(step)
