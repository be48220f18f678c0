# SPDX-License-Identifier: Apache-2.0
"""A leak of random sizes at random steps: a compound Poisson process with a heavy (capped) tail."""
from steps import MIB, Job, fill

job = Job(chance=0.15, alpha=1.3, unit_kb=300.0, cap_mb=16.0)
kept = []
for step in job:
    if job.random.random() < job.chance:
        size = job.unit_kb * 1024 * job.random.paretovariate(job.alpha)
        kept.append(fill(min(size, job.cap_mb * MIB)))
        job.leak(len(kept[-1]))
