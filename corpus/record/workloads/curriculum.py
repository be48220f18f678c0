# SPDX-License-Identifier: Apache-2.0
"""A curriculum: the batch doubles at known steps and then stays. The step's live buffers follow it.

The last doubling is the last growth: from then on every step does the same.
"""
from steps import MIB, Job, fill

job = Job(first_double=60, doublings=3, base_mb=8.0)
changes = [job.first_double * 2**k for k in range(job.doublings)]
activations = []
for step in job:
    size = job.base_mb * 2 ** sum(step > change for change in changes)
    activations = [fill(MIB * job.random.uniform(0.85, 1.0)) for _ in range(int(size))]
    if step > changes[-1]:
        job.growth_ends(step)
